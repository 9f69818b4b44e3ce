#include "model/kernels/attention.h"

#include <algorithm>
#include <limits>

#include "model/kernels/fused.h"

namespace attnscope::kernels {
namespace {

// ---- composed implementation, following the formula

// −∞ at masked keys, so that softmax gives exactly zero. B×1×1×K and Q×K broadcast to B×H×Q×K.
torch::Tensor masked(torch::Tensor scores, const AttentionInput& input) {
  const double minus_infinity = -std::numeric_limits<double>::infinity();
  // Finite, because a padding query may have nothing but padding in its window. Its exponential is still 0.
  constexpr double far_below = -1e30;
  if (input.outside.defined()) scores = scores.masked_fill(input.outside, far_below);
  if (input.padding.defined()) scores = scores.masked_fill(input.padding.unsqueeze(1).unsqueeze(2), minus_infinity);
  if (input.look_ahead.defined()) scores = scores.masked_fill(input.look_ahead, minus_infinity);
  return scores;
}

// Σ_j w_ij a^V_ij: the weights are summed by distance first.
torch::Tensor relative_values(const torch::Tensor& weights, const torch::Tensor& relative_v,
                              const torch::Tensor& distances) {
  std::vector<std::int64_t> sizes = weights.sizes().vec();
  sizes[3] = relative_v.size(0);
  const torch::Tensor by_distance =
      torch::zeros(sizes, weights.options()).scatter_add(3, distances.expand(weights.sizes()), weights);
  return torch::matmul(by_distance, relative_v);  // B×H×Q×d
}

std::int64_t padded(std::int64_t keys) {
  return (keys + key_padding - 1) / key_padding * key_padding;
}

torch::Tensor dropped_weights(const torch::Tensor& weights, double p) {
  if (p == 0 || !weights.device().is_cpu()) return torch::dropout(weights, p, true);
  return weights * weights_mask(weights.sizes(), p).to(weights.scalar_type());
}

Attended composed(const AttentionInput& input, const WeightsChange& change) {
  const auto [q, k, v] = heads_of(input);
  const torch::Tensor scaled = q * input.scale;
  torch::Tensor scores = torch::matmul(scaled, k.transpose(2, 3));  // B×H×Q×K
  if (input.relative_k.defined()) scores = scores + relative_scores(scaled, input.relative_k, input.distances);
  if (input.bias.defined()) scores = scores + input.bias;
  if (input.cap > 0) scores = torch::tanh(scores / input.cap) * input.cap;
  torch::Tensor weights = torch::softmax(masked(scores, input), -1);
  if (change) weights = change(weights);
  const torch::Tensor kept = dropped_weights(weights, input.dropout);
  torch::Tensor heads = torch::matmul(kept, v);  // B×H×Q×d
  if (input.relative_v.defined()) heads = heads + relative_values(kept, input.relative_v, input.distances);
  return {heads.transpose(1, 2).flatten(2), weights};
}

// ---- fused

// The non-tensor arguments of attention, saved for the backward pass.
struct AttentionRule : torch::CustomClassHolder {
  explicit AttentionRule(const AttentionInput& input)
      : query_packing(input.query_packing),
        key_packing(input.key_packing),
        num_heads(input.num_heads),
        scale(input.scale),
        look_ahead(input.look_ahead.defined()),
        dropout(next_dropout(input.dropout)) {}

  Packing query_packing, key_packing;
  std::int64_t num_heads;
  double scale;
  bool look_ahead;
  DropoutRule dropout;
};

// The rows of each sequence of queries or keys, packed or not.
class SequenceRows {
 public:
  SequenceRows(const torch::Tensor& x, const Packing& packing) : longest_(packing ? packing.longest : x.size(1)) {
    if (packing) firsts_ = packing.firsts.data_ptr<std::int64_t>();
  }

  std::int64_t longest() const { return longest_; }
  std::int64_t first(std::int64_t pair) const { return firsts_ ? firsts_[pair] : pair * longest_; }
  std::int64_t count(std::int64_t pair) const { return firsts_ ? firsts_[pair + 1] - firsts_[pair] : longest_; }

 private:
  std::int64_t longest_;
  const std::int64_t* firsts_ = nullptr;
};

// Locates the data of each head of each sequence.
class Places {
 public:
  Places(const torch::Tensor& queries, const torch::Tensor& memory, const AttentionRule& rule,
         std::int64_t num_distances)
      : batch_size(rule.query_packing ? rule.query_packing.batch_size() : queries.size(0)),
        num_heads_(rule.num_heads),
        look_ahead_(rule.look_ahead),
        in_queries_(!is_there(memory)),
        queries_(queries, rule.query_packing),
        keys_(in_queries_ ? queries : memory, rule.key_packing) {
    d_model = in_queries_ ? queries.size(2) / 3 : queries.size(2);
    longest.queries = queries_.longest();
    longest.keys = keys_.longest();
    longest.padded_keys = padded(longest.keys);
    longest.d = d_model / num_heads_;
    longest.query_stride = queries.size(2);
    longest.memory_stride = (in_queries_ ? queries : memory).size(2);
    longest.output_stride = d_model;
    longest.bias_stride = longest.keys;
    longest.scale = static_cast<float>(rule.scale);
    longest.first_distance = -(num_distances / 2);
    longest.num_distances = num_distances;
    longest.table_stride = padded(num_distances) + key_padding;  // a shape's distances may end at any index
  }

  // Rows of weights have the stride of the longest sequence, so that dropout draws the same mask whether packed or not.
  HeadShape shape(std::int64_t pair) const {
    HeadShape shape = longest;
    shape.queries = queries_.count(pair);
    shape.keys = keys_.count(pair);
    shape.first_visible = look_ahead_ ? shape.keys - shape.queries : shape.keys;
    if (longest.num_distances > 0) limit_distances(shape);
    return shape;
  }
  // One of Shaw's tables, or a transposed one, from the shape's first distance on; null if absent.
  float* table_of(const HeadShape& shape, float* table) const {
    return table ? table + (shape.first_distance - longest.first_distance) * longest.d : nullptr;
  }
  const float* transposed_table_of(const HeadShape& shape, const float* table) const {
    return table ? table + shape.first_distance - longest.first_distance : nullptr;
  }

  std::int64_t query(std::int64_t pair, std::int64_t head) const {
    return queries_.first(pair) * longest.query_stride + head * longest.d;
  }
  std::int64_t key(std::int64_t pair, std::int64_t head) const {
    return keys_.first(pair) * longest.memory_stride + (in_queries_ ? d_model : 0) + head * longest.d;
  }
  std::int64_t value(std::int64_t pair, std::int64_t head) const { return key(pair, head) + d_model; }
  std::int64_t output(std::int64_t pair, std::int64_t head) const {
    return queries_.first(pair) * d_model + head * longest.d;
  }
  std::int64_t weights(std::int64_t pair, std::int64_t head) const {
    return (pair * num_heads_ + head) * longest.queries * longest.padded_keys;
  }

  HeadInput input(const float* queries, const float* memory, std::int64_t pair, std::int64_t head) const {
    HeadInput input;
    input.q = queries + query(pair, head);
    input.k = (in_queries_ ? queries : memory) + key(pair, head);
    input.v = (in_queries_ ? queries : memory) + value(pair, head);
    input.stream = static_cast<std::uint64_t>(pair * num_heads_ + head);
    return input;
  }

  std::int64_t batch_size, d_model;
  HeadShape longest;

 private:
  // Limits the distances to those that occur and are not masked: most tables reach farther than a sentence.
  void limit_distances(HeadShape& shape) const {
    const std::int64_t farthest = std::min(longest.num_distances / 2, shape.keys - 1);
    shape.first_distance = -farthest;
    shape.num_distances = (look_ahead_ ? 0 : farthest) + farthest + 1;
  }

  std::int64_t num_heads_;
  bool look_ahead_, in_queries_;
  SequenceRows queries_, keys_;
};

// One of Shaw's tables as d×table_stride; undefined if absent.
torch::Tensor transposed_table(const torch::Tensor& table, const HeadShape& shape) {
  return is_there(table) ? transposed(table, shape.table_stride) : table;
}

class Attention : public torch::autograd::Function<Attention> {
 public:
  static tensor_list forward(AutogradContext* context, const torch::Tensor& given_queries,
                             const torch::Tensor& given_memory, const torch::Tensor& given_bias,
                             const torch::Tensor& relative_k, const torch::Tensor& relative_v,
                             const torch::Tensor& given_padding, const c10::intrusive_ptr<AttentionRule>& rule) {
    const torch::Tensor queries = given_queries.contiguous();
    const torch::Tensor memory = given_memory.contiguous(), bias = given_bias.contiguous();
    const torch::Tensor padding = given_padding.contiguous();
    const Places places(queries, memory, *rule, num_distances(relative_k));
    const HeadShape& longest = places.longest;
    torch::Tensor weights =
        torch::empty({places.batch_size, rule->num_heads, longest.queries, longest.padded_keys}, queries.options());
    torch::Tensor heads = torch::empty({queries.size(0), queries.size(1), places.d_model}, queries.options());
    const torch::Tensor transposed_k = transposed_table(relative_k, longest);
    std::vector<float> scratch(loops().head_scratch(longest));
    for (std::int64_t pair = 0; pair < places.batch_size; ++pair) {
      const HeadShape shape = places.shape(pair);
      for (std::int64_t head = 0; head < rule->num_heads; ++head) {
        HeadInput input = head_input(places, queries, memory, bias, padding, pair, head);
        input.transposed_table = places.transposed_table_of(shape, data(transposed_k));
        input.table = places.table_of(shape, data(relative_v));
        loops().head_forward(shape, input, rule->dropout, data(weights) + places.weights(pair, head),
                             data(heads) + places.output(pair, head), scratch.data());
      }
    }
    context->save_for_backward({queries, memory, bias, relative_k, relative_v, padding, weights});
    context->saved_data["rule"] = torch::IValue::make_capsule(rule);
    torch::Tensor seen = weights.slice(3, 0, longest.keys);
    context->mark_non_differentiable({seen});
    context->set_materialize_grads(false);
    return {heads, seen};
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &queries = saved[0], &memory = saved[1], &bias = saved[2], &relative_k = saved[3],
                        &relative_v = saved[4], &padding = saved[5], &weights = saved[6];
    const auto capsule = context->saved_data["rule"].toCapsule();
    const auto& rule = static_cast<const AttentionRule&>(*capsule);
    const Places places(queries, memory, rule, num_distances(relative_k));
    const torch::Tensor above = gradients[0].contiguous();
    const torch::Tensor query_gradient = torch::empty_like(queries);
    const torch::Tensor memory_gradient = is_there(memory) ? torch::empty_like(memory) : torch::Tensor();
    const bool learns_bias = is_there(bias) && context->needs_input_grad(2);
    const torch::Tensor bias_gradient = learns_bias ? torch::zeros_like(bias) : torch::Tensor();
    const ParameterGradient relative_k_gradient(relative_k);
    const ParameterGradient relative_v_gradient(relative_v);
    const torch::Tensor transposed_v = transposed_table(relative_v, places.longest);
    std::vector<float> scratch(loops().head_scratch(places.longest));
    for (std::int64_t pair = 0; pair < places.batch_size; ++pair) {
      const HeadShape shape = places.shape(pair);
      for (std::int64_t head = 0; head < rule.num_heads; ++head) {
        HeadInput input = head_input(places, queries, memory, bias, padding, pair, head);
        input.transposed_table = places.transposed_table_of(shape, data(transposed_v));
        input.table = places.table_of(shape, data(relative_k));
        HeadGradients out;
        float* keys = is_there(memory) ? data(memory_gradient) : data(query_gradient);
        out.q = data(query_gradient) + places.query(pair, head);
        out.k = keys + places.key(pair, head);
        out.v = keys + places.value(pair, head);
        if (learns_bias) out.bias = data(bias_gradient) + head * shape.bias_stride * places.longest.queries;
        out.relative_k = places.table_of(shape, relative_k_gradient.data());
        out.relative_v = places.table_of(shape, relative_v_gradient.data());
        loops().head_backward(shape, input, rule.dropout, data(weights) + places.weights(pair, head),
                              data(above) + places.output(pair, head), out, scratch.data());
      }
    }
    return {query_gradient,
            memory_gradient,
            bias_gradient,
            relative_k_gradient.returned(),
            relative_v_gradient.returned(),
            {},
            {}};
  }

 private:
  static std::int64_t num_distances(const torch::Tensor& relative_k) {
    return is_there(relative_k) ? relative_k.size(0) : 0;
  }

  static HeadInput head_input(const Places& places, const torch::Tensor& queries, const torch::Tensor& memory,
                              const torch::Tensor& bias, const torch::Tensor& padding, std::int64_t pair,
                              std::int64_t head) {
    const HeadShape& longest = places.longest;
    HeadInput input = places.input(data(queries), data(memory), pair, head);
    if (is_there(bias)) input.bias = data(bias) + head * longest.queries * longest.bias_stride;
    if (is_there(padding)) input.padding = padding.data_ptr<bool>() + pair * longest.keys;
    return input;
  }
};

class Rotation : public torch::autograd::Function<Rotation> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& rotations,
                               std::int64_t num_heads, std::int64_t d_model, std::int64_t parts) {
    context->save_for_backward({rotations});
    context->saved_data["sizes"] = std::vector<std::int64_t>{num_heads, d_model, parts};
    return turned(x, rotations, num_heads, d_model, parts, 1);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const std::vector<std::int64_t> sizes = context->saved_data["sizes"].toIntVector();
    return {turned(gradients[0], context->get_saved_variables()[0], sizes[0], sizes[1], sizes[2], -1), {}, {}, {}, {}};
  }

 private:
  static torch::Tensor turned(const torch::Tensor& x, const torch::Tensor& rotations, std::int64_t num_heads,
                              std::int64_t d_model, std::int64_t parts, float sign) {
    const torch::Tensor from = x.contiguous();
    const torch::Tensor turns = rotations.contiguous();
    torch::Tensor y = torch::empty_like(from);
    const std::int64_t d = d_model / num_heads;
    const std::int64_t turned = parts * d_model;
    for (std::int64_t row = 0; row < num_rows(y); ++row) {
      const float* values = data(from) + row * y.size(2);
      float* end = data(y) + row * y.size(2);
      loops().rotate(parts * num_heads, d, data(turns) + row % y.size(1) * d, sign, values, end);
      std::copy(values + turned, values + y.size(2), end + turned);
    }
    return y;
  }
};

torch::Tensor composed_rotation(const torch::Tensor& x, std::int64_t num_heads, std::int64_t d_model,
                                std::int64_t parts, const torch::Tensor& rotations) {
  const std::int64_t width = parts * d_model;
  const torch::Tensor pairs =
      x.slice(2, 0, width).unflatten(2, {parts * num_heads, d_model / num_heads / 2, 2});  // B×L×nH×d/2×2
  const torch::Tensor turns = rotations.unflatten(1, {-1, 2}).unsqueeze(1);                // L×1×d/2×2
  const auto first = pairs.select(-1, 0), second = pairs.select(-1, 1);
  const auto cosine = turns.select(-1, 0), sine = turns.select(-1, 1);
  const torch::Tensor turned =
      torch::stack({first * cosine - second * sine, first * sine + second * cosine}, -1).flatten(2);
  return torch::cat({turned, x.slice(2, width)}, 2);
}

}  // namespace

torch::Tensor weights_mask(at::IntArrayRef sizes, double p) {
  const std::int64_t columns = padded(sizes[3]);
  return dropout_mask(next_dropout(p), sizes[0] * sizes[1], sizes[2] * columns)
      .view({sizes[0], sizes[1], sizes[2], columns})
      .slice(3, 0, sizes[3]);
}

torch::Tensor split_heads(const torch::Tensor& x, std::int64_t num_heads) {
  return x.unflatten(2, {num_heads, x.size(2) / num_heads}).transpose(1, 2);  // B×H×L×d
}

Heads heads_of(const AttentionInput& input) {
  const bool together = !input.memory.defined();
  const auto keys = together ? input.queries.chunk(3, 2) : input.memory.chunk(2, 2);
  const std::size_t first = together ? 1 : 0;
  return {split_heads(together ? keys[0] : input.queries, input.num_heads), split_heads(keys[first], input.num_heads),
          split_heads(keys[first + 1], input.num_heads)};
}

// Multiplies each query with the 2k+1 distances, then gathers by key (1803.02155 §3.3).
torch::Tensor relative_scores(const torch::Tensor& q, const torch::Tensor& relative_k, const torch::Tensor& distances) {
  const torch::Tensor by_distance = torch::matmul(q, relative_k.t());  // B×H×Q×(2k+1)
  return by_distance.gather(3, distances.expand({q.size(0), q.size(1), -1, -1}));
}

Attended attend(const AttentionInput& input, const WeightsChange& change) {
  if (change || input.cap > 0 || input.outside.defined() || !is_fused(input.queries)) return composed(input, change);
  const torch::Tensor padding = input.key_packing ? torch::Tensor() : input.padding;
  const tensor_list results =
      Attention::apply(input.queries, or_empty(input.memory), or_empty(input.bias), or_empty(input.relative_k),
                       or_empty(input.relative_v), or_empty(padding), c10::make_intrusive<AttentionRule>(input));
  return {results[0], results[1]};
}

torch::Tensor rotate_heads(const torch::Tensor& x, std::int64_t num_heads, std::int64_t d_model, std::int64_t parts,
                           const torch::Tensor& rotations) {
  if (!is_fused(x)) return composed_rotation(x, num_heads, d_model, parts, rotations);
  return Rotation::apply(x, rotations, num_heads, d_model, parts);
}

}  // namespace attnscope::kernels
