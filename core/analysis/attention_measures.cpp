#include "analysis/attention_measures.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numeric>

namespace attnscope {
namespace {

constexpr std::string_view word_begin = "▁";

constexpr float uniform_share = 0.95F;

// Letters and digits. 0xC2 starts the symbols of Latin-1 («, »), 0xE2 punctuation, arrows and other symbols (’, …, ⏎).
bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80) return byte != 0xC2 && byte != 0xE2;
  return std::isalnum(byte) != 0;
}

// The length in bytes of the UTF-8 character that starts with this byte.
std::size_t character_size(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

bool is_word(std::string_view token) {
  return !token.empty() && std::all_of(token.begin(), token.end(), is_word_byte);
}

bool begins_marked(const Token& token) {
  return token.text.starts_with(word_begin);
}

// How the tokens of a sentence are marked. Runs mark the start of a word with "▁"; others may mark it with "Ġ"
// (byte-level), mark continuations instead (WordPiece), or consist of whole words.
struct Marks {
  std::string_view begin = word_begin;
  bool has_continuations = false;
  bool whole_words = false;
};

constexpr std::string_view byte_word_begin = "\u0120", continuation_mark = "##";

bool is_continuation(const Token& token) {
  return token.text.starts_with(continuation_mark) && token.text.size() > continuation_mark.size();
}

Marks marks_of(const std::vector<Token>& tokens) {
  if (tokens.empty() || std::ranges::any_of(tokens, begins_marked)) return {};
  const auto starts = [](const Token& token) { return token.text.starts_with(byte_word_begin); };
  if (std::ranges::any_of(tokens, starts)) return {byte_word_begin};
  const bool continuations = std::ranges::any_of(tokens, is_continuation);
  const bool captured = tokens.front().id < 0;
  if (!captured && !continuations && tokens.front().text != "[CLS]") return {};
  return {word_begin, continuations, !continuations};
}

bool begins_word(const Token& token, const Marks& marks) {
  return marks.whole_words || (marks.has_continuations ? !is_continuation(token) : token.text.starts_with(marks.begin));
}

// Returns true for characters inside a word: didn't, week-end.
bool joins(std::string_view text) {
  return text == "'" || text == "’" || text == "-";
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lowered;
}

bool is_one_of(const WordSpan& word, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), lower(word.text)) != texts.end();
}

// The last word equal to `text`.
const WordSpan* last_of(const std::vector<WordSpan>& words, std::string_view text) {
  const auto found =
      std::find_if(words.rbegin(), words.rend(), [&](const WordSpan& word) { return is_one_of(word, {text}); });
  return found == words.rend() ? nullptr : &*found;
}

// The French translation of `it`: the pronoun at the same index. "il" and "elle" are counted in the translation like
// "he", "she" and "it" in the source.
const WordSpan* written_for(const WordSpan& it, const std::vector<WordSpan>& words,
                            const std::vector<WordSpan>& written) {
  auto before = std::count_if(words.begin(), words.end(), [&](const WordSpan& word) {
    return word.begin < it.begin && is_one_of(word, {"he", "she", "it"});
  });
  for (const WordSpan& word : written)
    if (is_one_of(word, {"il", "elle"}) && before-- == 0) return &word;
  return nullptr;
}

void judge(const AttentionMaps& maps, int row, AntecedentView view, const std::vector<WordSpan>& words,
           std::string_view antecedent, std::vector<HeadFinding>& findings) {
  for (std::size_t layer = 0; layer < maps.size(); ++layer) {
    for (std::size_t head = 0; head < maps[layer].size(); ++head) {
      const bool found = lower(words[strongest_word(maps[layer][head], row, words)].text) == lower(antecedent);
      findings.push_back({view, static_cast<int>(layer), static_cast<int>(head), found});
    }
  }
}

}  // namespace

std::vector<float> row_entropies(const Matrix& map) {
  std::vector<float> entropies(map.rows);
  for (int row = 0; row < map.rows; ++row) {
    for (int col = 0; col < map.cols; ++col) {
      const float p = map.at(row, col);
      if (p > 0) entropies[row] -= p * std::log(p);
    }
  }
  return entropies;
}

float mean_entropy(const Matrix& map) {
  const std::vector<float> entropies = row_entropies(map);
  if (entropies.empty()) return 0;
  return std::accumulate(entropies.begin(), entropies.end(), 0.0F) / static_cast<float>(entropies.size());
}

MapMeasures measures_of(const Matrix& map, bool causal) {
  if (map.empty()) return {};
  double entropy = 0;
  double most = 0;
  double distance = 0;
  MapMeasures measures;
  for (int row = 0; row < map.rows; ++row) {
    const int seen = causal ? std::min(row + 1, map.cols) : map.cols;
    most += std::log(static_cast<double>(seen));
    for (int col = 0; col < seen; ++col) {
      const float weight = map.at(row, col);
      if (weight <= 0) continue;
      entropy -= static_cast<double>(weight * std::log(weight));
      distance += static_cast<double>(weight * static_cast<float>(std::abs(row - col)));
      measures.largest = std::max(measures.largest, weight);
    }
  }
  measures.entropy = static_cast<float>(entropy / map.rows);
  measures.most_entropy = static_cast<float>(most / map.rows);
  measures.distance = static_cast<float>(distance / map.rows);
  return measures;
}

bool near_uniform(const MapMeasures& measures) {
  return measures.most_entropy > 0 && measures.entropy > uniform_share * measures.most_entropy;
}

float received_by(const Matrix& map, int key, bool causal) {
  const int first = causal ? std::min(key, map.rows) : 0;
  float sum = 0;
  for (int row = first; row < map.rows; ++row) sum += map.at(row, key);
  return first < map.rows ? sum / static_cast<float>(map.rows - first) : 0;
}

std::vector<float> received(const Matrix& map, bool causal) {
  std::vector<float> means(static_cast<std::size_t>(map.cols));
  for (int key = 0; key < map.cols; ++key) means[static_cast<std::size_t>(key)] = received_by(map, key, causal);
  return means;
}

std::vector<WordSpan> words_of(const std::vector<Token>& tokens) {
  std::vector<WordSpan> words;
  const Marks marks = marks_of(tokens);
  bool joinable = false;  // the previous word can be continued
  for (int i = 0; i < static_cast<int>(tokens.size()); ++i) {
    std::string_view token = tokens[i].text;
    const bool begins = begins_word(tokens[i], marks);
    if (token.starts_with(marks.begin)) token.remove_prefix(marks.begin.size());
    if (marks.has_continuations && is_continuation(tokens[i])) token.remove_prefix(continuation_mark.size());
    const bool word = is_word(token) || (begins && token.empty());
    if (word && joinable && !begins) {
      words.back().text += token;
      words.back().end = i + 1;
    } else {
      words.push_back({std::string(token), i, i + 1});
    }
    joinable = word;
  }
  return words;
}

std::vector<WordSpan> spaced_words_of(const std::vector<Token>& tokens) {
  const std::vector<WordSpan> words = words_of(tokens);
  std::vector<WordSpan> joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool inside = i > 0 && i + 1 < words.size() && joins(words[i].text) && is_word(words[i - 1].text) &&
                        is_word(words[i + 1].text) && !begins_marked(tokens[words[i].begin]) &&
                        !begins_marked(tokens[words[i + 1].begin]);
    if (!inside) {
      joined.push_back(words[i]);
      continue;
    }
    joined.back().text += words[i].text + words[i + 1].text;
    joined.back().end = words[++i].end;
  }
  return joined;
}

std::vector<std::string_view> spaced_words_in(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = std::string_view::npos;  // start of the current word
  std::size_t end = 0;                         // end of its confirmed part
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view sign = text.substr(at, character_size(text[at]));
    const bool letter = is_word(sign);
    const bool inside = begin != std::string_view::npos;
    if (letter && !inside) begin = at;
    if (letter) end = at + sign.size();
    if (!letter && inside && !(joins(sign) && end == at)) {
      words.push_back(text.substr(begin, end - begin));
      begin = std::string_view::npos;
    }
    at += sign.size();
  }
  if (begin != std::string_view::npos) words.push_back(text.substr(begin, end - begin));
  return words;
}

std::string with_word_replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  std::size_t copied = 0;
  for (const std::string_view word : spaced_words_in(text)) {
    if (word != from) continue;
    const auto at = static_cast<std::size_t>(word.data() - text.data());
    replaced.append(text.substr(copied, at - copied)).append(to);
    copied = at + word.size();
  }
  return replaced.append(text.substr(copied));
}

int strongest_word(const Matrix& map, int row, const std::vector<WordSpan>& keys) {
  int strongest = 0;
  float most = -1;
  for (std::size_t key = 0; key < keys.size(); ++key) {
    float weight = 0;
    for (int col = keys[key].begin; col < keys[key].end; ++col) weight += map.at(row, col);
    if (weight > most) {
      most = weight;
      strongest = static_cast<int>(key);
    }
  }
  return strongest;
}

std::string_view describe(AntecedentView view) {
  constexpr std::array<std::string_view, 3> names = {"encoder, from it", "cross-attention, from il/elle",
                                                     "cross-attention, generating il/elle"};
  return names[static_cast<std::size_t>(view)];
}

std::vector<HeadFinding> find_antecedent(const Snapshot& snapshot, std::string_view antecedent) {
  std::vector<HeadFinding> findings;
  const std::vector<WordSpan> words = words_of(snapshot.source);
  const WordSpan* it = last_of(words, "it");
  const std::string noun = lower(antecedent);
  if (!it || !last_of(words, noun)) return findings;
  judge(snapshot.encoder, it->begin, AntecedentView::encoder_from_it, words, antecedent, findings);
  const std::vector<WordSpan> written = words_of(snapshot.target_out);
  if (const WordSpan* pronoun = written_for(*it, words, written)) {
    judge(snapshot.cross, pronoun->begin, AntecedentView::cross_to_pronoun, words, antecedent, findings);
    const int input_row = std::min(pronoun->end, static_cast<int>(snapshot.target_in.size()) - 1);
    judge(snapshot.cross, input_row, AntecedentView::cross_from_pronoun, words, antecedent, findings);
  }
  return findings;
}

}  // namespace attnscope
