#include "inspect/evaluation/seen_words.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "analysis/attention_measures.h"
#include "common/edit_distance.h"

namespace attnscope {
namespace {

constexpr std::size_t most_bytes = 32 << 20;  // scanned in about half a second
constexpr std::size_t bytes_per_yield = 1 << 16;
constexpr std::size_t most_nearest = 3;
constexpr std::size_t pair_slots = 1 << 24;
constexpr std::size_t longest_word = 64;  // longer strings are not misspelled words

std::size_t bytes_of(const Corpus& corpus) {
  std::size_t bytes = corpus.text.train.size();
  for (const Pair& pair : corpus.train) bytes += pair.source.size();
  return bytes;
}

// Latin, Greek, Cyrillic, Hebrew, Arabic and neighboring Unicode blocks separate words by spaces; most later scripts do
// not, except for the Latin letters of Vietnamese.
bool is_written_apart(std::string_view word) {
  for (std::size_t at = 0; at < word.size(); ++at) {
    const auto byte = static_cast<unsigned char>(word[at]);
    const bool vietnamese = byte == 0xE1 && at + 1 < word.size() && static_cast<unsigned char>(word[at + 1]) >= 0xB8;
    if (byte >= 0xE0 && !vietnamese) return false;
  }
  return !word.empty();
}

// The maximum edit distance at which the other word is still likely to be meant.
std::size_t most_different(std::string_view word) {
  return std::min<std::size_t>(3, (word.size() + 1) / 3);
}

std::string with_small_beginning(std::string_view word) {
  std::string small(word);
  if (small.front() >= 'A' && small.front() <= 'Z') small.front() += 'a' - 'A';
  return small;
}

// "Did" for "did", and "Paris" for "paris".
bool is_capitalised(std::string_view seen, std::string_view word) {
  return seen != word && with_small_beginning(seen) == word;
}

// Replacing a letter of a short word usually gives an unrelated word: "hid" is not a typo of "did", but "teh" may be
// one of "the".
bool may_be_meant(std::string_view seen, std::string_view word) {
  constexpr std::size_t shortest_misspelt = 4;
  return word.size() >= shortest_misspelt ||
         std::ranges::is_permutation(with_small_beginning(seen), with_small_beginning(word));
}

std::size_t slot_of(std::string_view word, std::string_view next) {
  const std::hash<std::string_view> hash;
  return (hash(word) * 31 + hash(next)) % pair_slots;
}

}  // namespace

SeenWords::SeenWords(const Corpus& corpus, const YieldCallback& yield) {
  if (bytes_of(corpus) > most_bytes) return;
  pairs_.resize(pair_slots);
  std::size_t since_yield = 0;
  const auto read = [&](std::string_view text) {
    add(text);
    since_yield += text.size();
    if (since_yield < bytes_per_yield) return;
    since_yield = 0;
    if (yield) yield();
  };
  for (const Pair& pair : corpus.train) read(pair.source);
  for (const std::string& line : lines_of(corpus.text.train)) read(line);
}

void SeenWords::add(std::string_view text) {
  std::string_view before;
  for (const std::string_view word : spaced_words_in(text)) {
    Seen& seen = seen_[std::string(word)];
    ++seen.count;
    seen.within |= !before.empty();
    pairs_[slot_of(std::exchange(before, word), word)] = true;
  }
  if (!before.empty()) pairs_[slot_of(before, {})] = true;
}

// Words of similar spelling that occur next to one of the neighbors, or else the most frequent ones that occur next to
// both.
std::vector<std::string> SeenWords::suggestions(std::string_view word, std::string_view before,
                                                std::string_view after) const {
  const std::size_t most = word.size() > longest_word ? 0 : most_different(word);
  std::vector<std::tuple<std::size_t, std::int64_t, std::string_view>> found;  // distance, −count, word
  constexpr std::size_t other_word = longest_word;                             // instead of a distance
  for (const auto& [seen, as] : seen_) {
    if (!before.empty() && !as.within && is_capitalised(seen, word)) continue;
    const bool follows = pairs_[slot_of(before, seen)], precedes = pairs_[slot_of(seen, after)];
    const std::size_t difference = seen.size() > word.size() ? seen.size() - word.size() : word.size() - seen.size();
    const bool fits =
        follows || (!before.empty() && precedes) || with_small_beginning(word) == with_small_beginning(seen);
    if (fits && difference <= most && may_be_meant(seen, word)) {
      if (const std::size_t distance = edit_distance(seen, word); distance <= most) {
        found.emplace_back(distance, -as.count, seen);
        continue;
      }
    }
    if (follows && precedes) found.emplace_back(other_word, -as.count, seen);
  }
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(most_nearest, found.size()));
  std::ranges::partial_sort(found, end);
  std::vector<std::string> words;
  for (auto it = found.begin(); it != end; ++it) {
    if (std::get<0>(*it) == other_word && std::get<0>(found.front()) != other_word) break;
    words.emplace_back(std::get<std::string_view>(*it));
  }
  return words;
}

std::vector<UnseenWord> SeenWords::unseen_in(const std::vector<Token>& tokens) const {
  std::vector<UnseenWord> unseen;
  if (seen_.empty()) return unseen;
  std::vector<WordSpan> words;
  for (WordSpan& span : spaced_words_of(tokens)) {
    const std::vector<std::string_view> within = spaced_words_in(span.text);  // empty: punctuation, or a special token
    if (within.size() == 1 && within.front() == span.text) words.push_back(std::move(span));
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const WordSpan& word = words[i];
    if (!is_written_apart(word.text) || seen_.contains(word.text)) continue;
    const std::string_view before = i > 0 ? words[i - 1].text : std::string_view();
    const std::string_view after = i + 1 < words.size() ? words[i + 1].text : std::string_view();
    unseen.push_back({word.begin, word.end, word.text, suggestions(word.text, before, after)});
  }
  return unseen;
}

}  // namespace attnscope
