#include "inspect/circuit/induction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/mark.h"
#include "data/corpus/drawn.h"
#include "inspect/probe/readout.h"
#include "inspect/probe/tensors.h"
#include "model/inspection.h"

namespace attnscope {
namespace {

constexpr std::int64_t num_sequences = 16;
constexpr std::int64_t longest_sequence = 64;
constexpr std::int64_t most_composed_heads = 256;
constexpr int most_circuit_tokens = 256;
constexpr double least_induction = 0.5;  // score of an induction head

// The linear maps of a head, with the gain of the norm before them folded in (Elhage et al. 2021, "LayerNorm").
struct HeadMaps {
  torch::Tensor q, k, v;  // d×D
  torch::Tensor o;        // D×d
};

class Weights {
 public:
  explicit Weights(const SequenceModel& model) : model_(model), parameters_(model.named_parameters()) {}

  std::int64_t layers() const { return model_.config().num_decoder_layers; }
  std::int64_t heads() const { return model_.config().num_heads; }

  HeadMaps of(std::int64_t layer, std::int64_t head) const {
    const ModelConfig& config = model_.config();
    const std::string name = fmt::format("decoder.layers.{}.", layer);
    const std::int64_t d = config.head_width(), groups = config.key_heads();
    const std::int64_t key = head / (config.num_heads / groups);
    const torch::Tensor stacked = folded(parameter(name + "self_attn.in_proj_weight"),
                                         config.norm == "pre" ? name + "norm1" : std::string());
    const auto rows = [&](std::int64_t first) { return stacked.slice(0, first * d, (first + 1) * d); };
    const auto normed = [&](const torch::Tensor& map, const std::string& norm) {
      const std::string gain = name + "self_attn." + norm + ".weight";
      return parameters_.contains(gain) ? map * parameter(gain).unsqueeze(1) : map;
    };
    return {normed(rows(head), "q_norm"), normed(rows(config.num_heads + key), "k_norm"),
            rows(config.num_heads + groups + key),
            parameter(name + "self_attn.out_proj.weight").slice(1, head * d, (head + 1) * d)};
  }

  // V×D
  torch::Tensor embedding() const {
    const ModelConfig& config = model_.config();
    const double factor = config.scaled_embeddings ? std::sqrt(config.d_model) : 1;
    const torch::Tensor rows = model_.embedding_rows(EmbeddingMatrix::source).to(torch::kCPU, torch::kFloat32) * factor;
    if (!parameters_.contains("embedding_norm.bias")) return rows;
    return torch::layer_norm(rows, {rows.size(1)}, parameter("embedding_norm.weight"),
                             parameter("embedding_norm.bias"), config.norm_epsilon);
  }

  torch::Tensor unembedding() const { return readout(model_, true); }

 private:
  torch::Tensor parameter(const std::string& name) const {
    return parameters_[name].detach().to(torch::kCPU, torch::kFloat32);
  }

  // The map that, applied to the vector before the norm and divided by its scale, gives that of the vector after it.
  torch::Tensor folded(torch::Tensor map, const std::string& norm) const {
    if (!parameters_.contains(norm + ".weight")) return map;
    map = map * parameter(norm + ".weight");
    return parameters_.contains(norm + ".bias") ? map - map.mean(1, true) : map;
  }

  const SequenceModel& model_;
  torch::OrderedDict<std::string, torch::Tensor> parameters_;
};

// The eigenvalues of W_E W_V W_O W_U, V×V, other than 0 are those of a d×d matrix with the factors in another order.
torch::Tensor ov_eigenvalues(const HeadMaps& maps, const torch::Tensor& through_tokens) {
  const torch::Tensor small = maps.o.t().matmul(through_tokens).matmul(maps.v.t());
  return torch::linalg_eigvals(small.to(torch::kFloat64));
}

double copying_score(const torch::Tensor& eigenvalues) {
  const double size = eigenvalues.abs().sum().item<double>();
  return size > 0 ? torch::real(eigenvalues).sum().item<double>() / size : 0;
}

// Tokens that a text may contain.
std::vector<int> ordinary_tokens(const Tokenizer& tokenizer) {
  const SpecialTokens& special = tokenizer.special();
  std::vector<int> ids;
  for (int id = 0; id < tokenizer.vocab_size(); ++id) {
    const bool is_special = id == special.padding || id == special.start || id == special.end ||
                            id == special.unknown || id == tokenizer.opening();
    if (!is_special) ids.push_back(id);
  }
  return ids;
}

struct RepeatedTokens {
  torch::Tensor ids;                  // int64 B×(L+1); the first token is the start of a text
  std::vector<std::int64_t> periods;  // of every row
};

RepeatedTokens repeated_tokens(const Tokenizer& tokenizer, std::int64_t length) {
  const std::vector<int> ordinary = ordinary_tokens(tokenizer);
  const int first = prompt_ids(tokenizer, "").front();
  Random random(1);
  RepeatedTokens repeated{torch::full({num_sequences, length + 1}, first, torch::kInt64), {}};
  for (std::int64_t row = 0; row < num_sequences; ++row) {
    std::size_t period = 0;
    auto* next = repeated.ids[row].data_ptr<std::int64_t>() + 1;
    for (const int word : draw_repeated(random, static_cast<std::size_t>(length), ordinary.size(), period))
      *next++ = ordinary[static_cast<std::size_t>(word)];
    repeated.periods.push_back(static_cast<std::int64_t>(period));
  }
  return repeated;
}

// Adds the attention scores of the layer's heads: weights B×H×L×L.
void add_attention(const torch::Tensor& weights, std::span<const std::int64_t> periods, HeadInduction* heads) {
  const torch::Tensor previous = weights.diagonal(-1, 2, 3).mean(torch::IntArrayRef{0, 2});
  const torch::Tensor first = weights.select(3, 0).slice(2, 1).mean(torch::IntArrayRef{0, 2});
  torch::Tensor induction = torch::zeros_like(previous);
  for (std::size_t row = 0; row < periods.size(); ++row) {
    // From query i to keys i − period + 1, i − 2 period + 1, …; query 0 is the start of the text, and query `period` +
    // 1 the first repeated one.
    const std::int64_t length = weights.size(2), queries = length - periods[row] - 1;
    for (std::int64_t back = periods[row]; back + 1 < length; back += periods[row]) {
      const torch::Tensor after = weights[static_cast<std::int64_t>(row)].diagonal(1 - back, 1, 2).slice(1, 2);
      induction += after.sum(1) / static_cast<double>(queries * static_cast<std::int64_t>(periods.size()));
    }
  }
  for (std::int64_t head = 0; head < weights.size(1); ++head) {
    heads[head].previous = previous[head].item<double>();
    heads[head].induction = induction[head].item<double>();
    heads[head].first = first[head].item<double>();
  }
}

void add_losses(const torch::Tensor& logits, const RepeatedTokens& tokens, InductionPoint& point) {
  const std::int64_t length = logits.size(1), quarter = std::max<std::int64_t>(1, length / 4);
  const torch::Tensor targets = tokens.ids.slice(1, 1).to(logits.device());
  const torch::Tensor nll = -logits.log_softmax(-1).gather(2, targets.unsqueeze(2)).squeeze(2);  // B×L
  const torch::Tensor right = logits.argmax(-1).eq(targets).to(torch::kFloat32);
  point.in_context = (nll.slice(1, length - quarter).mean() - nll.slice(1, 0, quarter).mean()).item<double>();
  double repeated = 0;
  for (std::size_t row = 0; row < tokens.periods.size(); ++row) {
    const std::int64_t first = tokens.periods[row] + 1;  // where the repetition begins cannot be known
    const auto of_row = [&](const torch::Tensor& values) {
      return values[static_cast<std::int64_t>(row)].slice(0, first);
    };
    repeated += static_cast<double>(length - first);
    point.accuracy += of_row(right).sum().item<double>();
    point.nll += of_row(nll).sum().item<double>();
  }
  point.accuracy /= repeated;
  point.nll /= repeated;
}

void add_copying(const SequenceModel& model, InductionPoint& point) {
  const Weights weights(model);
  const torch::Tensor through_tokens = weights.unembedding().t().matmul(weights.embedding());  // D×D
  for (HeadInduction& head : point.heads)
    head.copying = copying_score(ov_eigenvalues(weights.of(head.place.layer, head.place.head), through_tokens));
}

// The last target of a full context is the line end in the corpus repeats.
std::int64_t sequence_length(const ModelConfig& config) {
  return std::min(longest_sequence, config.max_length - 1);
}

torch::Tensor logits_of(SequenceModel& model, const RepeatedTokens& tokens, Inspection& inspection) {
  const torch::Tensor ids = tokens.ids.slice(1, 0, -1).to(model.device());
  return model.logits(model.decode(ids, Memory(), nullptr, &inspection));
}

}  // namespace

std::string induction_problem(const ModelConfig& config) {
  if (!config.is_language_model() || config.is_capture())
    return mark("Induction heads are measured in decoder-only models.");
  if (config.max_length < 8) return mark("The context is too short to repeat tokens in it.");
  return {};
}

InductionPoint induction_point(SequenceModel& model, const Tokenizer& tokenizer, std::int64_t step,
                               InductionResult& result, const YieldCallback& yield) {
  const torch::NoGradGuard no_gradients;
  model.check_standing_still();
  const std::int64_t length = sequence_length(model.config());
  const RepeatedTokens tokens = repeated_tokens(tokenizer, length);
  result.sequences = num_sequences;
  result.length = static_cast<int>(length);
  InductionPoint point{.step = step};
  Inspection inspection;
  const torch::Tensor logits = logits_of(model, tokens, inspection);
  if (yield) yield();
  for (std::size_t layer = 0; layer < inspection.decoder.size(); ++layer) {
    const torch::Tensor& weights = inspection.decoder[layer];
    const std::size_t first = point.heads.size();
    for (int head = 0; head < static_cast<int>(weights.size(1)); ++head)
      point.heads.push_back({.place = {AttentionPart::decoder, static_cast<int>(layer), head}});
    add_attention(weights, tokens.periods, &point.heads[first]);
  }
  add_losses(logits, tokens, point);
  if (yield) yield();
  add_copying(model, point);
  return point;
}

void add_trials(SequenceModel& model, const Tokenizer& tokenizer, InductionResult& result) {
  const torch::NoGradGuard no_gradients;
  const RepeatedTokens tokens = repeated_tokens(tokenizer, result.length);
  const auto trial = [&](const Interventions& interventions) {
    Inspection inspection{.interventions = &interventions};
    InductionPoint point;
    add_losses(logits_of(model, tokens, inspection), tokens, point);
    return InductionTrial{interventions.heads_off, point.accuracy, point.nll};
  };
  std::vector<HeadPlace> induction, others;
  for (const HeadInduction& head : result.points.back().heads)
    (head.induction >= least_induction ? induction : others).push_back(head.place);
  Random(1).shuffle(others);
  others.resize(std::min(others.size(), induction.size()));
  result.first_masked = trial(first_token_masked(model.config(), result.length));
  if (induction.empty()) return;
  Interventions off;
  off.heads_off = std::move(induction);
  result.without_induction = trial(off);
  off.heads_off = std::move(others);
  result.without_others = trial(off);
}

Composition composition(const SequenceModel& model) {
  const torch::NoGradGuard no_gradients;
  const Weights weights(model);
  const std::int64_t heads = weights.heads(), all = weights.layers() * heads;
  if (all > most_composed_heads) return {};
  std::vector<HeadMaps> maps;
  for (std::int64_t i = 0; i < all; ++i) maps.push_back(weights.of(i / heads, i % heads));
  // ‖left · middle · right‖ for tall left and wide right: only d×d products of their Gram matrices.
  const auto norm = [](const torch::Tensor& left, const torch::Tensor& middle, const torch::Tensor& right) {
    const torch::Tensor inner = left.t().matmul(left).matmul(middle).matmul(right.matmul(right.t()));
    return std::sqrt(std::max(0.0, (inner * middle).sum().item<double>()));
  };
  const torch::Tensor one = torch::eye(maps.front().q.size(0));
  const int size = static_cast<int>(all);
  Composition found{Matrix(size, size), Matrix(size, size), Matrix(size, size)};
  std::vector<double> qk, ov;
  for (const HeadMaps& head : maps) {
    qk.push_back(norm(head.q.t(), one, head.k));
    ov.push_back(norm(head.o, one, head.v));
  }
  for (int later = static_cast<int>(heads); later < size; ++later) {
    for (int earlier = 0; earlier / heads < later / heads; ++earlier) {
      const HeadMaps &to = maps[static_cast<std::size_t>(later)], &from = maps[static_cast<std::size_t>(earlier)];
      const auto share = [&](double product, double own) {
        const double both = own * ov[static_cast<std::size_t>(earlier)];
        return static_cast<float>(both > 0 ? product / both : 0);
      };
      const double score = qk[static_cast<std::size_t>(later)], output = ov[static_cast<std::size_t>(later)];
      found.q.at(later, earlier) = share(norm(to.k.t(), to.q.matmul(from.o), from.v), score);
      found.k.at(later, earlier) = share(norm(to.q.t(), to.k.matmul(from.o), from.v), score);
      found.v.at(later, earlier) = share(norm(to.o, to.v.matmul(from.o), from.v), output);
    }
  }
  return found;
}

TokenCircuits token_circuits(const SequenceModel& model, const Tokenizer& tokenizer, const HeadPlace& place) {
  const torch::NoGradGuard no_gradients;
  const Weights weights(model);
  const HeadMaps maps = weights.of(place.layer, place.head);
  std::vector<int> ids = ordinary_tokens(tokenizer);
  TokenCircuits circuits{.place = place, .tokens = {}, .qk = {}, .ov = {}};
  const torch::Tensor values = torch::real(ov_eigenvalues(maps, weights.unembedding().t().matmul(weights.embedding())));
  const double least = 1e-6 * values.abs().max().item<double>();  // smaller ones are 0 but for rounding
  const double nonzero = values.abs().gt(least).sum().item<double>();
  circuits.positive = nonzero > 0 ? values.gt(least).sum().item<double>() / nonzero : 0;
  if (std::cmp_greater(ids.size(), most_circuit_tokens)) ids.resize(most_circuit_tokens);
  for (const int id : ids) circuits.tokens.push_back(tokenizer.token(id));
  const torch::Tensor rows = ids_tensor(ids, torch::kCPU).squeeze(0);
  const torch::Tensor embedded = weights.embedding().index_select(0, rows);
  const double scale = model.config().scaled_attention ? 1 / std::sqrt(model.config().scale_width()) : 1;
  circuits.qk = to_matrix(embedded.matmul(maps.q.t()).matmul(maps.k).matmul(embedded.t()) * scale);
  circuits.ov = to_matrix(embedded.matmul(maps.v.t()).matmul(maps.o.t()).matmul(
      weights.unembedding().index_select(0, rows).t()));
  return circuits;
}

}  // namespace attnscope
