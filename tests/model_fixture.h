// Shared by the model tests: small models in which every weight matters, ids, comparisons.
#pragma once

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "common/matrix.h"
#include "model/model.h"

namespace attnscope {

inline constexpr std::int64_t small_vocab_size = 50;
inline constexpr double rounding = 1e-5;  // what floats may differ by that are the same number

inline ModelConfig small_config() {
  ModelConfig config;
  config.d_model = 32;
  config.num_heads = 4;
  config.num_decoder_layers = 2;
  config.d_ff = 64;
  config.max_length = 40;
  return config;
}

inline Model seeded_model(const ModelConfig& config, std::uint64_t seed = 7) {
  torch::manual_seed(seed);
  return make_model(config, small_vocab_size);
}

// Parameters that begin as a constant, so biases and gains, are moved off it: leaving one out then shows.
inline void stir(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : module.parameters()) {
    if (parameter.max().equal(parameter.min())) parameter.add_(torch::randn_like(parameter) * 0.2);
  }
}

// B×L ids from 4 up, so that none is a special piece.
inline torch::Tensor random_ids(std::int64_t rows, std::int64_t length) {
  return torch::randint(4, small_vocab_size, {rows, length}, torch::kInt64);
}

// bool B×L: nothing of the first row is padding, one more piece of every next one.
inline torch::Tensor growing_padding(std::int64_t rows, std::int64_t length) {
  const torch::Tensor tokens = length - torch::arange(rows).unsqueeze(1);
  return torch::arange(length).unsqueeze(0) >= tokens;
}

// The largest; infinite between tensors of different shapes.
inline double difference(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.sizes() != b.sizes()) return std::numeric_limits<double>::infinity();
  return (a - b).abs().max().item<double>();
}

// This file's alone: the program has another of that name.
static inline double difference(const Matrix& a, const Matrix& b) {
  if (a.rows != b.rows || a.cols != b.cols) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    largest = std::max(largest, static_cast<double>(std::abs(a.values[i] - b.values[i])));
  return largest;
}

// The same as a share of b's largest, where that is above 1.
inline double relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return difference(a, b) / std::max(1.0, b.abs().max().item<double>());
}

}  // namespace attnscope
