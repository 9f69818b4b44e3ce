// At a glance: the sentence in large words, the words that one of them attends to, and the translation of both. An
// introduction to attention; shows the head and the query selected in the attention workspace.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/attention_measures.h"
#include "common/matrix.h"
#include "config/heads.h"
#include "messages/recurrent_states.h"
#include "workspaces/workspace.h"

namespace attnscope {

// Words in order, with the spacing of running text.
struct SetText {
  std::vector<WordSpan> words;
  std::vector<bool> apart;    // true: preceded by a space
  std::vector<bool> unknown;  // true: contains characters that the vocabulary lacks
};

// Cached per snapshot and head.
struct Glance {
  HeadPlace place;
  std::uint64_t newest = 0;  // versions of the snapshots it was computed from
  std::uint64_t complete = 0;
  SetText text;  // the queries and keys
  std::vector<UnseenWord> unseen;
  Matrix inspections;          // words × words, of one head
  bool causal = false;         // words attend to no later ones
  std::vector<float> changes;  // recurrent models: how much the encoder's state changes at each word, 0…1
  SetText written;             // the translation; empty for a language model, whose output continues the text
  std::vector<int> read_from;  // per translated word: the source word with the most cross-attention, averaged over
                               // heads; −1: none
};

// ‖h′ − h‖ / (‖h′‖ + ‖h‖) of the state before and after each word, read in order: 0 if it stays, 1 if it is reversed.
std::vector<float> state_changes(const RecurrentStates& states, const std::vector<WordSpan>& words);

// The prediction at a word: of the token after it in a language model, of its own token in a masked one, of the label
// in a classifier; null: none.
const DecodingStep* prediction_at(const Snapshot& complete, const WordSpan& word);

Glance glance_at(const ShownMaps& maps, const HeadPlace& place);

// The word that receives the most weight from this one, excluding itself; −1: none.
int most_attended(const Glance& glance, int word);

// The sentence with one word replaced so that a pronoun refers to something else; nullopt: no suitable word.
struct WordChange {
  std::string from, to;
  std::string sentence;
};
std::optional<WordChange> suggested_change(const std::string& sentence);

struct GlanceView {
  Glance made;
  std::string widest_telling;  // the explanation that needs most room, so that pointing at another word moves nothing
  std::optional<int> pointed;  // the word under the mouse in the last frame
};

void draw_glance(WorkspaceContext& context);
std::span<const WorkspaceKey> glance_keys();
void ask_for_glance(const Views& views, Probe& probe);

}  // namespace attnscope
