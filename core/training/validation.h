// How well a model predicts unseen tokens given the preceding ones (teacher forcing).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "messages/callbacks.h"
#include "messages/evaluation.h"
#include "model/model.h"
#include "training/batches.h"
#include "training/dataset.h"
#include "training/distributed/ranks.h"

namespace attnscope {

// The models are frozen (SequenceModel::freeze). `yield` is called after every batch.
NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, const EncodedPairs& pairs,
                                              std::int64_t batch_size, const YieldCallback& yield);

inline constexpr std::int64_t all_windows = std::numeric_limits<std::int64_t>::max();

// A language model reads a text stream in consecutive windows of max_length tokens; the first begins with eos, as if a
// line had just ended, and every other with the last token of the previous window. So each token is predicted once,
// from the preceding tokens of its window. If there are more than `max_windows` windows, that many evenly spaced ones
// are used, always the same. A masked language model reads the same windows with 15 % of the tokens masked, always the
// same ones.
NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, std::span<const int> stream,
                                              std::int64_t batch_size, std::int64_t max_windows,
                                              const YieldCallback& yield);

// The batches that `validate` uses: the validation part or, if it is large, an evenly spaced sample. The validation
// part must not be empty.
std::vector<Batch> validation_batches(const SequenceModel& model, const Dataset& dataset, std::int64_t batch_size);

// The same of the training part; the sample is at most `times` as large. Empty if training draws its examples.
std::vector<Batch> training_batches(const SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                                    std::int64_t times = 1);

// The share of targets that the model predicts (its most likely token): all targets of a classifier, those of a drawn
// corpus that follow from the context. Empty for any other model, whose accuracy is not measured here.
struct Accuracies {
  std::optional<double> training, validation;
};
Accuracies accuracies(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                      const YieldCallback& yield);

enum class Part { validation, train };

// The loss on the validation part or, if it is large, on an evenly spaced sample. The validation part must not be
// empty. With `ranks`, all ranks must call it and share the work.
// Part::train: the same on as much of the training part; 0 tokens if that is drawn.
NegativeLogLikelihood validate(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                               const YieldCallback& yield, Ranks* ranks = nullptr, Part part = Part::validation);

}  // namespace attnscope
