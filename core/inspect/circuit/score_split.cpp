#include "inspect/circuit/score_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/mark.h"
#include "config/architecture.h"
#include "config/position_schemes.h"
#include "inspect/probe/tensors.h"
#include "model/kernels/attention.h"
#include "model/norm.h"
#include "model/positions.h"

namespace attnscope {
namespace {

// Applies a norm to terms (P×…×D), the last of which are the biases, with the scale of their sum.
torch::Tensor normalized(torch::Tensor terms, const ContrastRuns& runs, const std::string& name) {
  const ModelConfig& config = runs.config();
  if (!config.has_norms()) return terms;
  if (norm_kind(config) == NormKind::layer) terms = terms - terms.mean(-1, true);
  const torch::Tensor variance = terms.sum(0).square().mean(-1, true);
  terms = terms * (runs.parameter(name + "weight") / (variance + config.norm_epsilon).sqrt());
  if (const torch::Tensor shift = runs.parameter(name + "bias"); shift.defined()) terms[-1] += shift;
  return terms;
}

// The residual stream of the input's stack, as parts that sum to it.
class StreamParts {
 public:
  StreamParts(const ContrastRuns& runs, ContrastSide contrast, AttentionPart stack)
      : runs_(runs), config_(runs.config()), contrast_(contrast), stack_(stack) {
    const torch::Tensor embedded = state(0);
    // After a norm the sum of words and positions cannot be taken apart.
    const torch::Tensor word = config_.embedding_norm ? embedded : words_embedded();
    add(mark("embedding"), word);
    if (!config_.embedding_norm && position_scheme(config_.positions).form == PositionForm::added)
      add(mark("position"), embedded - word);
    biases_ = torch::zeros_like(embedded);
  }

  void pass_layer(int layer) {
    const std::string name = layer_name(layer);
    std::size_t first = parts_.size();
    torch::Tensor biases = add_heads(layer, name + "self_attn.out_proj.");
    if (config_.output_norms) norm(name + "self_attn_output_norm.", first, biases);
    biases_ = biases_ + biases;
    norm_if_post(name + "norm1.");
    if (!config_.has_feed_forward()) return;
    first = parts_.size();
    add(fmt::format(mark("feed-forward {}"), layer + 1),
        runs_.value(contrast_, {ValueKind::feed_forward, stack_, layer}));
    biases = torch::zeros_like(biases_);
    if (config_.output_norms) norm(name + "feed_forward_output_norm.", first, biases);
    biases_ = biases_ + biases;
    norm_if_post(name + "norm2.");
  }

  // Converts the parts to the input of the layer's attention.
  void enter_attention(int layer) {
    if (config_.norm == "pre") norm(layer_name(layer) + "norm1.", 0, biases_);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names = names_;
    names.emplace_back(mark("biases"));
    return names;
  }

  std::int64_t length() const { return biases_.size(0); }

  // int64 N → P×N×D, at these positions
  torch::Tensor at(const torch::Tensor& positions) const {
    std::vector<torch::Tensor> all = parts_;
    all.push_back(biases_);
    return torch::stack(all).index_select(1, positions);
  }

  std::string layer_name(int layer) const {
    return fmt::format("{}.layers.{}.", part_name(stack_), own_layer(config_, stack_ == AttentionPart::decoder, layer));
  }

 private:
  torch::Tensor state(int after) const { return runs_.value(contrast_, {ValueKind::state, stack_, after}); }

  torch::Tensor words_embedded() const {
    const ContrastFacts& facts = runs_.facts();
    std::vector<int> ids = ids_of(facts.of(contrast_).tokens);
    if (facts.language_model)
      for (const Token& token : facts.prefix) ids.push_back(token.id);
    const torch::Tensor table = runs_.parameter(embedding_parameter(EmbeddingMatrix::source, config_));
    const double factor = config_.scaled_embeddings ? std::sqrt(static_cast<double>(config_.d_model)) : 1;
    return table.index_select(0, ids_tensor(ids, table.device()).flatten()) * factor;
  }

  void add(std::string name, torch::Tensor part) {
    names_.push_back(std::move(name));
    parts_.push_back(std::move(part));
  }

  // Returns the bias of the output projection.
  torch::Tensor add_heads(int layer, const std::string& projection) {
    const torch::Tensor heads = runs_.value(contrast_, {ValueKind::heads, stack_, layer});  // H×L×d
    const torch::Tensor weight = runs_.parameter(projection + "weight");                    // D×Hd
    const auto columns = weight.split(heads.size(2), 1);
    for (std::int64_t head = 0; head < heads.size(0); ++head)
      add(layer_and_head(layer, static_cast<int>(head)),
          torch::linear(heads[head], columns[static_cast<std::size_t>(head)]));
    const torch::Tensor bias = runs_.parameter(projection + "bias"), none = torch::zeros_like(biases_);
    return bias.defined() ? none + bias : none;
  }

  void norm_if_post(const std::string& name) {
    if (config_.norm == "post") norm(name, 0, biases_);
  }

  // Applies a norm to the biases and each part from `first` on, with the scale of their sum.
  void norm(const std::string& name, std::size_t first, torch::Tensor& biases) {
    std::vector<torch::Tensor> terms(parts_.begin() + static_cast<std::ptrdiff_t>(first), parts_.end());
    terms.push_back(biases);
    terms = normalized(torch::stack(terms), runs_, name).unbind(0);
    biases = terms.back();
    std::copy(terms.begin(), terms.end() - 1, parts_.begin() + static_cast<std::ptrdiff_t>(first));
  }

  const ContrastRuns& runs_;
  const ModelConfig& config_;
  ContrastSide contrast_;
  AttentionPart stack_;
  std::vector<std::string> names_;
  std::vector<torch::Tensor> parts_;  // L×D each
  torch::Tensor biases_;
};

// Rotates each part as RoPE rotates a vector at its position; parts: P×N×d.
torch::Tensor rotated(const torch::Tensor& parts, const torch::Tensor& positions, const ModelConfig& config,
                      std::int64_t length) {
  const std::int64_t d = parts.size(2);
  const torch::Tensor table = rope_rotations(length, rotary_angles(config, length)).to(parts.device());
  return kernels::rotate_heads(parts, 1, d, 1, table.index_select(0, positions));
}

// Applies the rows of in_proj from `begin` on (one head's queries or keys) to the parts at these positions (int64 N):
// P×N×d. The bias is added to the last part, the biases.
torch::Tensor projected(const ContrastRuns& runs, const std::string& attention, const StreamParts& stream,
                        const torch::Tensor& positions, std::int64_t begin, std::int64_t d, const ModelConfig& layer,
                        const char* norm) {
  const torch::Tensor weight = runs.parameter(attention + "in_proj_weight").slice(0, begin, begin + d);
  torch::Tensor made = torch::linear(stream.at(positions), weight);
  if (const torch::Tensor bias = runs.parameter(attention + "in_proj_bias"); bias.defined())
    made[made.size(0) - 1] += bias.slice(0, begin, begin + d);
  if (layer.query_key_norm) made = normalized(made, runs, attention + norm);
  const bool turns = position_scheme(layer.positions).form == PositionForm::rotation;
  return turns ? rotated(made, positions, layer, stream.length()) : made;
}

// One head's scores for one query word.
class Scores {
 public:
  Scores(const ContrastRuns& runs, const ScoreQuestion& question)
      : runs_(runs), place_(question.place), stream_(runs, question.sentence, question.place.part) {
    for (int layer = 0; layer < place_.layer; ++layer) stream_.pass_layer(layer);
    stream_.enter_attention(place_.layer);
    const ModelConfig& config = layer_ =
        runs.config().of_layer(place_.part == AttentionPart::decoder, place_.layer);
    attention_ = stream_.layer_name(place_.layer) + "self_attn.";
    d_ = runs.parameter(attention_ + "out_proj.weight").size(1) / config.num_heads;
    const std::int64_t key_heads = (parameter("in_proj_weight").size(0) / d_ - config.num_heads) / 2;
    first_key_ = config.num_heads + place_.head / (config.num_heads / key_heads);
    from_ = positions(question.from);
    const double scale = config.scaled_attention ? 1 / std::sqrt(config.scale_width()) : 1;
    queries_ = projected(runs, attention_, stream_, from_, place_.head * d_, d_, layer_, "q_norm.") * scale;
  }

  std::vector<std::string> names() const { return stream_.names(); }

  // The scores with a key word, P×(P + 1): one column for each part of the key, and one for distance if scores depend
  // on it.
  torch::Tensor with(int slot) const {
    const torch::Tensor to = positions(slot);
    const torch::Tensor keys = projected(runs_, attention_, stream_, to, first_key_ * d_, d_, layer_, "k_norm.");
    const torch::Tensor terms = queries_.mean(1).matmul(keys.mean(1).t());
    const torch::Tensor distance = for_distance(to);
    return distance.defined() ? torch::cat({terms, distance.unsqueeze(1)}, 1) : terms;
  }

 private:
  torch::Tensor parameter(const std::string& name) const { return runs_.parameter(attention_ + name); }

  torch::Tensor positions(int slot) const {
    const std::vector<int>& all = runs_.facts().words.at(static_cast<std::size_t>(slot)).positions;
    return torch::tensor(std::vector<std::int64_t>(all.begin(), all.end())).to(parameter("in_proj_weight").device());
  }

  // The distance score of each query part with keys at these positions, averaged over all tokens of both words: P.
  // Relative vectors give the product with a^K; a bias belongs to the row of the biases. Undefined if scores do not
  // depend on distance.
  torch::Tensor for_distance(const torch::Tensor& to) const {
    const RelativePositions relative = runs_.relative_positions(place_.part);
    const auto between = [&](const torch::Tensor& table) { return table.index_select(0, from_).index_select(1, to); };
    if (relative.distances.defined()) {
      const torch::Tensor vectors = torch::embedding(parameter("relative_k"), between(relative.distances));  // N×K×d
      return (queries_.unsqueeze(2) * vectors).sum(-1).flatten(1).mean(1);
    }
    if (!relative.bias.defined()) return {};
    torch::Tensor parts = torch::zeros({queries_.size(0)}, queries_.options());
    parts[-1] = between(relative.bias[place_.head]).mean();
    return parts;
  }

  const ContrastRuns& runs_;
  HeadPlace place_;
  ModelConfig layer_;
  StreamParts stream_;
  std::string attention_;
  std::int64_t d_ = 0;
  std::int64_t first_key_ = 0;  // the key head, as a row offset from the first query head
  torch::Tensor from_;          // int64 N
  torch::Tensor queries_;       // P×N×d, scaled
};

}  // namespace

ScoreSplit split_score(const ContrastRuns& runs, const ScoreQuestion& question) {
  const Scores scores(runs, question);
  torch::Tensor terms = scores.with(question.to);
  if (question.other >= 0) terms = terms - scores.with(question.other);
  ScoreSplit split{.question = question, .parts = scores.names(), .key_parts = scores.names()};
  if (terms.size(1) > terms.size(0)) split.key_parts.emplace_back(mark("distance"));
  split.terms = to_matrix(terms);
  split.score = terms.sum().item<double>();
  return split;
}

}  // namespace attnscope
