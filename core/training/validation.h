// How well a model predicts pieces that it has not seen, when it is given those before them (teacher forcing).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "distributed/ranks.h"
#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/evaluation.h"
#include "training/batches.h"
#include "training/dataset.h"

namespace attnscope {

// The models stand still (SequenceModel::freeze). `breathe` is called after every batch.
NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, std::span<const EncodedPair> pairs,
                                              std::int64_t batch_size, const YieldCallback& yield);

inline constexpr std::int64_t all_windows = std::numeric_limits<std::int64_t>::max();

// A language model reads a stream of text in windows of max_length pieces, one behind the other; the first
// begins with eos, as if a line had just ended, and every other with the last piece of the one before. So each piece is
// predicted once, from what its window holds to its left. Of more than `max_windows` windows, that many are taken,
// spread evenly and always the same.
NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, std::span<const int> stream,
                                              std::int64_t batch_size, std::int64_t max_windows,
                                              const YieldCallback& yield);

// What `validate` goes over: the validation part or, where it is large, some of it, spread evenly. There must be one.
std::vector<Batch> validation_batches(const SequenceModel& model, const Dataset& dataset, std::int64_t batch_size);

// Nats/token of the validation part or, where it is large, of some of it, spread evenly. There must be one. `ranks`,
// of which all must call it, share it out.
double validate(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size, const YieldCallback& yield,
                Ranks* ranks = nullptr);

}  // namespace attnscope
