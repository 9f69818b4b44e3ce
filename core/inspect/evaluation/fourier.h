// Fourier analysis of a model that computes modulo p.
#pragma once

#include <span>
#include <vector>

#include "config/config.h"
#include "data/corpus/corpus.h"
#include "data/tokenizer/tokenizer.h"
#include "messages/fourier.h"
#include "model/model.h"

namespace attnscope {

// n×D, one row per number in cyclic order → the share of each frequency 1 … n / 2 in the variance.
std::vector<double> fourier_power(const torch::Tensor& rows);

// The frequencies with more than three times the mean power.
std::vector<int> key_frequencies(std::span<const double> power);

// Logits n×n×C of all pairs, as the part that depends on the sum of both numbers (minus: on their difference) with
// these frequencies, and the rest. Both contain the mean over all pairs.
struct FrequencySplit {
  torch::Tensor restricted, excluded;
};
FrequencySplit split_by_frequency(const torch::Tensor& logits, std::span<const int> frequencies, bool minus);

// Why a run cannot be analyzed; empty: it can.
std::string fourier_problem(const Config& config);

class FourierAnalysis {
 public:
  FourierAnalysis(const Config& config, const Tokenizer& tokenizer, const Corpus& corpus, FourierQuestion question);

  // Adds the frozen model of a step; the last one added is the present one.
  void add(SequenceModel& model, std::int64_t step);

  FourierResult take() { return std::move(result_); }

 private:
  Config config_;
  FourierResult result_;
  std::vector<std::int64_t> rows_;  // of the embedding, by number in cyclic order
  torch::Tensor inputs_;            // int64 n²×S: the texts of all pairs
  torch::Tensor targets_;           // int64 n²: the label's index
  torch::Tensor trained_;           // bool n²
  std::int64_t first_label_ = 0;
};

}  // namespace attnscope
