#include "analysis/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <unordered_map>

namespace attnscope {
namespace {

constexpr std::size_t max_order = 4;

// ---- white space as in Python's str.split() and str.rstrip()

bool is_ascii_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f');
}

// U+0085, U+00A0, U+1680, U+2000 … U+200A, U+2028, U+2029, U+202F, U+205F, U+3000
bool is_wide_space(std::string_view bytes) {
  if (bytes == "\xc2\x85" || bytes == "\xc2\xa0") return true;
  if (bytes.size() != 3) return false;
  if (bytes.starts_with("\xe2\x80")) {
    const auto last = static_cast<unsigned char>(bytes[2]);
    return (last >= 0x80 && last <= 0x8a) || last == 0xa8 || last == 0xa9 || last == 0xaf;
  }
  return bytes == "\xe1\x9a\x80" || bytes == "\xe2\x81\x9f" || bytes == "\xe3\x80\x80";
}

// The length in bytes of the white-space character at `at`; 0 if there is none.
std::size_t space_length(std::string_view text, std::size_t at) {
  if (is_ascii_space(text[at])) return 1;
  if (is_wide_space(text.substr(at, 2))) return 2;
  return is_wide_space(text.substr(at, 3)) ? 3 : 0;
}

std::string_view without_trailing_space(std::string_view text) {
  for (;;) {
    const std::size_t size = text.size();
    if (size >= 1 && is_ascii_space(text.back())) {
      text.remove_suffix(1);
    } else if (size >= 2 && is_wide_space(text.substr(size - 2))) {
      text.remove_suffix(2);
    } else if (size >= 3 && is_wide_space(text.substr(size - 3))) {
      text.remove_suffix(3);
    } else {
      return text;
    }
  }
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  std::size_t begin = 0;  // of the current word
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t space = space_length(text, at);
    if (space == 0) {
      ++at;
      continue;
    }
    if (at > begin) words.emplace_back(text.substr(begin, at - begin));
    at += space;
    begin = at;
  }
  if (at > begin) words.emplace_back(text.substr(begin));
  return words;
}

// ---- the substitutions of mteval-v13a, in order. All their character classes are ASCII, so bytes suffice.

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_no_digit(char c) {
  return !is_digit(c);
}
bool is_stop(char c) {
  return c == '.' || c == ',';
}
bool is_dash(char c) {
  return c == '-';
}

// [\{-\~\[-\` -\&\(-\+\:-\@\/]: excludes apostrophe, comma, hyphen and full stop
bool is_symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

std::string with_symbols_apart(std::string_view text) {
  std::string apart;
  for (const char c : text) {
    if (is_symbol(c)) {
      apart.append({' ', c, ' '});
    } else {
      apart.push_back(c);
    }
  }
  return apart;
}

// Replaces every pair of characters of these classes, from left to right, inserting the texts between and after them.
std::string with_pairs_apart(std::string_view text, bool (*first)(char), bool (*second)(char), std::string_view before,
                             std::string_view between, std::string_view after) {
  std::string apart;
  std::size_t at = 0;
  while (at < text.size()) {
    if (at + 1 < text.size() && first(text[at]) && second(text[at + 1])) {
      apart.append(before).append(1, text[at]).append(between).append(1, text[at + 1]).append(after);
      at += 2;
    } else {
      apart.push_back(text[at++]);
    }
  }
  return apart;
}

// ---- n-grams

using Counts = std::unordered_map<std::string, std::int64_t>;

// Counts the n-grams of `order` words; joined by a space, which no word contains.
Counts count_ngrams(const std::vector<std::string>& words, std::size_t order) {
  Counts counts;
  for (std::size_t begin = 0; begin + order <= words.size(); ++begin) {
    std::string ngram = words[begin];
    for (std::size_t i = 1; i < order; ++i) ngram.append(" ").append(words[begin + i]);
    ++counts[ngram];
  }
  return counts;
}

using Segment = std::vector<std::string>;

// For each n-gram the maximum count in any one reference (§2.1).
Counts count_most(const std::vector<Segment>& references, std::size_t order) {
  Counts most;
  for (const Segment& reference : references) {
    for (const auto& [ngram, count] : count_ngrams(reference, order)) most[ngram] = std::max(most[ngram], count);
  }
  return most;
}

std::int64_t closest_length(const std::vector<Segment>& references, std::int64_t length) {
  const auto distance = [&](const Segment& reference) {
    const auto size = static_cast<std::int64_t>(reference.size());
    return std::pair(std::abs(size - length), size);
  };
  const auto closest = std::min_element(references.begin(), references.end(),
                                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return static_cast<std::int64_t>(closest->size());
}

void add_segment(BleuStatistics& statistics, const Segment& hypothesis, const std::vector<Segment>& references) {
  const auto length = static_cast<std::int64_t>(hypothesis.size());
  statistics.hyp_length += length;
  statistics.ref_length += closest_length(references, length);
  for (std::size_t n = 0; n < max_order; ++n) {
    const Counts most = count_most(references, n + 1);
    for (const auto& [ngram, count] : count_ngrams(hypothesis, n + 1)) {
      statistics.total[n] += count;
      const auto found = most.find(ngram);
      if (found != most.end()) statistics.correct[n] += std::min(count, found->second);
    }
  }
}

}  // namespace

std::vector<std::string> tokenize_13a(std::string_view segment) {
  std::string text(without_trailing_space(segment));
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
  text = with_symbols_apart(fmt::format(" {} ", text));
  text = with_pairs_apart(text, is_no_digit, is_stop, "", " ", " ");
  text = with_pairs_apart(text, is_stop, is_no_digit, " ", " ", "");
  text = with_pairs_apart(text, is_digit, is_dash, "", " ", " ");
  return split(text);
}

BleuStatistics bleu_statistics(std::span<const std::string> hypotheses,
                               std::span<const std::vector<std::string>> references) {
  if (references.empty()) throw std::invalid_argument("BLEU needs at least one reference for each hypothesis");
  for (const std::vector<std::string>& stream : references) {
    if (stream.size() == hypotheses.size()) continue;
    throw std::invalid_argument(
        fmt::format("BLEU compares {} hypotheses with {} references; it needs the same number of both",
                    hypotheses.size(), stream.size()));
  }
  BleuStatistics statistics;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    std::vector<Segment> of_this;
    for (const std::vector<std::string>& stream : references) of_this.push_back(tokenize_13a(stream[i]));
    add_segment(statistics, tokenize_13a(hypotheses[i]), of_this);
  }
  return statistics;
}

double bleu(const BleuStatistics& statistics) {
  const auto& [correct, total, hyp_length, ref_length] = statistics;
  if (std::all_of(correct.begin(), correct.end(), [](std::int64_t count) { return count == 0; })) return 0;
  double log_sum = 0;
  double smoothing = 1;  // the k-th order without a match counts as 1/2^k matches
  for (std::size_t n = 0; n < max_order; ++n) {
    if (total[n] == 0) return 0;  // no hypothesis is that long
    if (correct[n] == 0) smoothing *= 2;
    const double matches = correct[n] > 0 ? static_cast<double>(correct[n]) : 1 / smoothing;
    log_sum += std::log(100 * matches / static_cast<double>(total[n]));
  }
  const double shortness = static_cast<double>(ref_length) / static_cast<double>(hyp_length);
  const double brevity_penalty = hyp_length < ref_length ? std::exp(1 - shortness) : 1;
  return brevity_penalty * std::exp(log_sum / max_order);
}

double bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references) {
  return bleu(bleu_statistics(hypotheses, references));
}

}  // namespace attnscope
