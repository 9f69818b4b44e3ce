// Numbers that say what an attention map does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plain/snapshot.h"

namespace attnscope {

// The entropy of every row (one query's distribution over keys), in nats: 0 looks at one key, ln(keys) at all alike.
std::vector<float> row_entropies(const Matrix& map);
float mean_entropy(const Matrix& map);

// What one head's map is like, on the whole. In a causal map a query sees the keys up to its own place.
struct MapMeasures {
  float entropy = 0;       // mean over the rows, in nats
  float most_entropy = 0;  // what it would be if every query looked at all keys it sees alike
  float distance = 0;      // mean over the rows of Σ w |query − key|
  float largest = 0;       // weight
};
MapMeasures measures_of(const Matrix& map, bool causal);

// Looks almost everywhere alike: untrained, or idle.
bool near_uniform(const MapMeasures& measures);

// What a key gets, averaged over the queries that see it; and so of every key.
float received_by(const Matrix& map, int key, bool causal);
std::vector<float> received(const Matrix& map, bool causal);

// A word as SentencePiece cut it: pieces [begin, end).
struct WordSpan {
  std::string text;
  int begin = 0;
  int end = 0;
};

// The pieces put together again into words: "▁ani" "mal" → "animal". Apostrophes, punctuation and marks stand alone;
// of other alphabets everything but the signs of Latin-1 and the blocks from General Punctuation on counts as a letter.
std::vector<WordSpan> words_of(const std::vector<Token>& tokens);

// Words as they stand between spaces, without the punctuation around them: "didn", "'", "t" → "didn't".
std::vector<WordSpan> spaced_words_of(const std::vector<Token>& tokens);

// The words of a text as spaced_words_of finds them in its pieces, without the signs between; views of `text`.
std::vector<std::string_view> spaced_words_in(std::string_view text);

// The text with `to` in place of every such word that is `from`.
std::string with_word_replaced(std::string_view text, std::string_view from, std::string_view to);

// Which word of `keys` gets most of the row's weight, pieces summed; an index into `keys`.
int strongest_word(const Matrix& map, int row, const std::vector<WordSpan>& keys);

// From where the antecedent of a pronoun is looked for.
enum class AntecedentView {
  encoder_from_it,     // the encoder's row of "it"
  cross_from_pronoun,  // the decoder's row whose input is il/elle
  cross_to_pronoun,    // the decoder's row that writes il/elle
};

// "encoder, from it" …
std::string_view describe(AntecedentView view);

struct HeadFinding {
  AntecedentView view = AntecedentView::encoder_from_it;
  int layer = 0;
  int head = 0;
  bool found = false;  // the antecedent has the largest weight of all source words
};

// For every encoder and cross-attention head: does it find `antecedent`? Empty when the sentence has no "it", no such
// word, or (for the cross views) the translation no il/elle. The last "it" and the last il/elle count.
std::vector<HeadFinding> find_antecedent(const Snapshot& snapshot, std::string_view antecedent);

}  // namespace attnscope
