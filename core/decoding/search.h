// From a model to a sentence: greedy and beam search, without a cache.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <vector>

#include "model/model.h"

namespace attnscope {

struct SearchOptions {
  std::int64_t beam = 1;        // hypotheses kept at each step; 1 is greedy
  double length_penalty = 0.6;  // α of GNMT (1609.08144 §7); 0 compares plain log-probabilities
  std::int64_t limit = 0;       // pieces at most, </s> included; 0: the model's own, see output_limit
};

struct Hypothesis {
  std::vector<int> ids;   // without <s> and </s>
  double log_prob = 0;    // of the ids and </s>
  double score = 0;       // log_prob / ((5 + |Y|) / 6)^α, |Y| counting </s>
  bool finished = false;  // ended by </s>, not by the limit
};

// Log-probabilities of the next piece, N×V on the CPU, after each of N prefixes of equal length (int64 N×t, <s> first).
using NextLogProbs = std::function<torch::Tensor(const torch::Tensor& prefixes)>;

// The beam's hypotheses, best score first; at least one.
std::vector<Hypothesis> beam_search(const NextLogProbs& next, const SearchOptions& options);

// source: int64 1×S
std::vector<Hypothesis> beam_search(SequenceModel& model, const torch::Tensor& source, SearchOptions options);

// Many at once. source: int64 B×S; padding: bool B×S or undefined. Ids without marks.
std::vector<std::vector<int>> greedy_search(SequenceModel& model, const torch::Tensor& source,
                                            const torch::Tensor& source_padding);

// The longest output for a source of this many pieces: source + 50 (§6.1), and no more than the model has positions.
std::int64_t output_limit(const ModelConfig& config, std::int64_t source_length);

}  // namespace attnscope
