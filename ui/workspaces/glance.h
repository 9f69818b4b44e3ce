// At a glance: the sentence in large words, where one of them looks, and what was written of both. For whoever sees
// attention for the first time; it shows the head and the query that the attention workspace has chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/attention_measures.h"
#include "plain/heads.h"
#include "plain/matrix.h"
#include "workspaces/workspace.h"

namespace attnscope {

// Words in their order, as a text is set.
struct SetText {
  std::vector<WordSpan> words;
  std::vector<bool> apart;    // a space before it
  std::vector<bool> unknown;  // the vocabulary has no piece for some of it
};

// Made once a look and head.
struct Glance {
  HeadPlace place;
  std::uint64_t newest = 0;  // versions of what it was made of
  std::uint64_t complete = 0;
  SetText text;  // that looks and is looked at
  std::vector<UnseenWord> unseen;
  Matrix inspections;          // words × words, of one head
  SetText written;             // the translation; none of a language model, whose own words go on
  std::vector<int> read_from;  // of each of its words the one that cross-attention, all heads together,
                               // takes most from; −1: none
};

Glance glance_at(const ShownMaps& maps, const HeadPlace& place);

// The word that gets most of what this one has to give, itself left out; −1: none.
int most_attended(const Glance& glance, int word);

// The sentence with one word exchanged for another that changes what a pronoun means; none: no such word stands there.
struct WordChange {
  std::string from, to;
  std::string sentence;
};
std::optional<WordChange> suggested_change(const std::string& sentence);

struct GlanceView {
  Glance made;
  std::optional<int> pointed;  // the word under the mouse in the last frame
};

void draw_glance(WorkspaceContext& context);
std::span<const WorkspaceKey> glance_keys();

}  // namespace attnscope
