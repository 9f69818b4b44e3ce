// BLEU (Papineni et al. 2002) as in sacrebleu: 13a tokenization, mixed case, exponential smoothing (signature
// nrefs:N|case:mixed|eff:no|tok:13a|smooth:exp).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// Counts over a whole corpus, for n-grams of 1 to 4 words.
struct BleuStatistics {
  std::array<std::int64_t, 4> correct{};  // hypothesis n-grams found in a reference, clipped (§2.1)
  std::array<std::int64_t, 4> total{};    // hypothesis n-grams
  std::int64_t hyp_length = 0;            // words
  std::int64_t ref_length = 0;            // words of the references closest in length; in a tie, of the shorter one
  bool operator==(const BleuStatistics&) const = default;
};

// Splits a segment into words like mteval-v13a. Input and output are UTF-8.
std::vector<std::string> tokenize_13a(std::string_view segment);

// `references` holds one stream per set of references; stream[i] is a reference of hypotheses[i]. Throws
// std::invalid_argument without a stream, or if a stream's length differs from that of `hypotheses`.
BleuStatistics bleu_statistics(std::span<const std::string> hypotheses,
                               std::span<const std::vector<std::string>> references);

// 0 to 100.
double bleu(const BleuStatistics& statistics);
double bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references);

}  // namespace attnscope
