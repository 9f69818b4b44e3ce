// The tensors and operators of an exported Transformer (transformer_program.h). Each export format implements them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/feed_forward.h"
#include "model/kernels/libtorch.h"

namespace attnscope {

class Operators {
 public:
  using Value = std::string;  // a tensor's name in the generated program; empty: none
  using Sizes = std::vector<std::int64_t>;

  virtual ~Operators() = default;

  // An int64 B×T input of the program.
  virtual Value input(const std::string& name) = 0;
  // A parameter or buffer of the model, by name.
  virtual Value parameter(const std::string& name) = 0;
  // A tensor that the model does not contain.
  virtual Value constant(const std::string& name, const torch::Tensor& numbers) = 0;
  // The program's output; call last.
  virtual void result(const Value& x) = 0;

  // With the usual broadcasting.
  virtual Value add(const Value& a, const Value& b) = 0;
  virtual Value subtract(const Value& a, const Value& b) = 0;
  virtual Value multiply(const Value& a, const Value& b) = 0;
  virtual Value matmul(const Value& a, const Value& b) = 0;
  virtual Value scaled(const Value& x, double factor) = 0;
  virtual Value linear(const Value& x, const Value& weight, const Value& bias) = 0;  // x Wᵀ + b; b may be empty
  // Over the last dimension, which has this width.
  virtual Value layer_norm(const Value& x, std::int64_t width, const Value& gain, const Value& shift,
                           double epsilon) = 0;
  virtual Value rms_norm(const Value& x, const Value& gain, double epsilon) = 0;
  virtual Value softmax(const Value& x) = 0;
  virtual Value activated(const Value& x, ActivationFunction function) = 0;

  virtual Value permuted(const Value& x, const Sizes& order) = 0;
  virtual Value reshaped(const Value& x, const Sizes& sizes) = 0;  // 0: keeps that dimension
  virtual Value unsqueezed(const Value& x, std::int64_t dim) = 0;
  virtual Value squeezed(const Value& x, std::int64_t dim) = 0;
  virtual std::vector<Value> split(const Value& x, const Sizes& sizes, std::int64_t dim) = 0;
  virtual Value concatenated(const std::vector<Value>& parts, std::int64_t dim) = 0;
  // B×H×T×d → B×(H·times)×T×d; repeats each head in place.
  virtual Value repeated_heads(const Value& x, std::int64_t times) = 0;

  virtual Value rows(const Value& table, const Value& indices) = 0;    // table[indices]
  virtual Value first_rows(const Value& table, const Value& ids) = 0;  // as many rows as ids (B×T) has columns
  virtual Value positions(const Value& ids) = 0;                       // 0 … T − 1
  // Adds `by` to int64 values.
  virtual Value shifted(const Value& x, std::int64_t by) = 0;
  virtual Value clamped(const Value& x, std::int64_t least, std::int64_t largest) = 0;
  virtual Value absolute(const Value& x) = 0;  // |x|, as float
  // Additive masks for scores: −∞ where the condition holds, 0 elsewhere.
  virtual Value mask_above(const Value& x, std::int64_t limit) = 0;
  virtual Value mask_equal(const Value& x, std::int64_t number) = 0;
};

}  // namespace attnscope
