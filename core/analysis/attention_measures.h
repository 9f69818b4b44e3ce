// Statistics of attention maps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "messages/snapshot.h"

namespace attnscope {

// The entropy of every row (one query's distribution over keys), in nats: 0 for a single key, ln(keys) for uniform
// attention.
std::vector<float> row_entropies(const Matrix& map);
float mean_entropy(const Matrix& map);

// Summary statistics of one head's map. In a causal map a query sees only the keys up to its own position.
struct MapMeasures {
  float entropy = 0;       // mean over the rows, in nats
  float most_entropy = 0;  // of uniform attention over all visible keys
  float distance = 0;      // mean over the rows of Σ w |query − key|
  float largest = 0;       // the largest weight
};
MapMeasures measures_of(const Matrix& map, bool causal);

// Returns true for almost uniform attention: an untrained or idle head.
bool near_uniform(const MapMeasures& measures);

// Returns the mean weight of a key over the queries that see it; the second overload, of every key.
float received_by(const Matrix& map, int key, bool causal);
std::vector<float> received(const Matrix& map, bool causal);

// A word's tokens: [begin, end).
struct WordSpan {
  std::string text;
  int begin = 0;
  int end = 0;
};

// Joins tokens into words: "▁ani" "mal" → "animal". Apostrophes, punctuation and special tokens are separate. In other
// alphabets, everything except the symbols of Latin-1 and the blocks from General Punctuation on counts as a letter.
std::vector<WordSpan> words_of(const std::vector<Token>& tokens);

// Returns words as separated by spaces, without surrounding punctuation: "didn", "'", "t" → "didn't".
std::vector<WordSpan> spaced_words_of(const std::vector<Token>& tokens);

// Returns the words of a text as spaced_words_of finds them in its tokens, without punctuation; views of `text`.
std::vector<std::string_view> spaced_words_in(std::string_view text);

// Replaces every such word equal to `from` with `to`.
std::string with_word_replaced(std::string_view text, std::string_view from, std::string_view to);

// Returns the index in `keys` of the word with the largest weight in the row, summed over its tokens.
int strongest_word(const Matrix& map, int row, const std::vector<WordSpan>& keys);

// The attention row in which a pronoun's antecedent is searched.
enum class AntecedentView {
  encoder_from_it,     // the encoder's row of "it"
  cross_from_pronoun,  // the decoder's row whose input is il/elle
  cross_to_pronoun,    // the decoder's row that generates il/elle
};

// "encoder, from it" …
std::string_view describe(AntecedentView view);

struct HeadFinding {
  AntecedentView view = AntecedentView::encoder_from_it;
  int layer = 0;
  int head = 0;
  bool found = false;  // the antecedent has the largest weight of all source words
};

// For every encoder and cross-attention head: does it attend most to `antecedent`? Empty if the sentence has no "it" or
// no such word, or (for the cross views) the translation has no il/elle. The last "it" and the last il/elle are used.
std::vector<HeadFinding> find_antecedent(const Snapshot& snapshot, std::string_view antecedent);

}  // namespace attnscope
