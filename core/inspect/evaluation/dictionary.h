// Sparse autoencoders: vectors as sums of a few directions out of many (Bricken et al. 2023; Gao et al. 2024, arXiv
// 2406.04093).
#pragma once

#include "messages/callbacks.h"
#include "messages/neurons.h"
#include "model/kernels/libtorch.h"
#include "training/adam.h"

namespace attnscope {

struct SparseDictionary {
  torch::Tensor b_dec;      // D, learned; begins at the mean of the vectors
  torch::Tensor w_enc;      // D×M
  torch::Tensor b_enc;      // M
  torch::Tensor w_dec;      // M×D, rows of norm 1
  std::int64_t active = 0;  // see DictionaryOptions
  ActivationSite of = {};   // what the vectors are

  // …×D → …×M, none negative.
  torch::Tensor encode(const torch::Tensor& vectors) const;
  // …×M → …×D
  torch::Tensor decode(const torch::Tensor& features) const;

  SparseDictionary to(torch::Device device) const;

  // By these names it is saved.
  NamedTensors tensors() const {
    return {{"b_dec", b_dec}, {"W_enc", w_enc}, {"b_enc", b_enc}, {"W_dec", w_dec}};
  }
};

// All zero, for vectors of that width.
SparseDictionary empty_dictionary(std::int64_t width, const DictionaryOptions& options);

// Trains on N×D, always with the same random numbers. `progress` may throw to cancel.
SparseDictionary train_dictionary(const torch::Tensor& vectors, const DictionaryOptions& options,
                                  const FractionCallback& progress);

}  // namespace attnscope
