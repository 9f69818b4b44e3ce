#include "inspect/attribution/attribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/attention_mix.h"
#include "analysis/attribution_methods.h"
#include "common/mark.h"
#include "inspect/attribution/logit_parts.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"
#include "inspect/probe/written_step.h"

namespace attnscope {
namespace {

constexpr double near_enough = 0.005;  // completeness_error, and
constexpr double near_token = 0.01;    // integration_error: below both the steps are not refined
constexpr int fewest_points = 16, most_points = 1024;
constexpr std::int64_t rows_a_pass = 32;

std::vector<double> to_doubles(const torch::Tensor& tensor) {
  const std::vector<float> values = to_values(tensor);
  return {values.begin(), values.end()};
}

// Computes log p of one token from the input tokens: the source, or a language model's text so far. Shape letters as in
// model.h; L input tokens.
class PieceReader {
 public:
  PieceReader(SequenceModel& model, const WrittenStep& step)
      : model_(model),
        piece_(step.token),
        language_model_(model.config().is_language_model()),
        tokens_(ids_of(language_model_ ? step.read : step.source)),
        target_in_(ids_of(step.read)),
        position_(step.position) {}

  std::int64_t length() const { return std::ssize(tokens_); }
  const std::vector<int>& target_in() const { return target_in_; }

  // ids: R×L′ → the features at the step, R×D
  torch::Tensor features(const torch::Tensor& ids, Inspection* inspection = nullptr) {
    if (language_model_) return model_.decode(ids, {}, nullptr, inspection).select(1, ids.size(1) - 1);
    const Memory memory = model_.encode(ids, {}, inspection);
    const torch::Tensor written = ids_tensor(target_in_, model_.device()).expand({ids.size(0), -1}).contiguous();
    return model_.decode(written, memory, nullptr, inspection).select(1, position_);
  }

  // R×D → R
  torch::Tensor log_probs(const torch::Tensor& features) {
    return torch::log_softmax(model_.logits(features), -1).select(1, piece_);
  }

  torch::Tensor ids() const { return ids_tensor(tokens_, model_.device()); }

  torch::Tensor unknown_ids() const { return torch::full_like(ids(), model_.config().special().unknown); }

  // ids: 1×L → L×D, as embedded
  torch::Tensor embedded(const torch::Tensor& ids) {
    Inspection inspection{.values_wanted = true};
    features(ids, &inspection);
    return inspection.values.at(site())[0];
  }

  // The gradients of log p at other embeddings, R×L×D → R×L×D.
  torch::Tensor gradients(const torch::Tensor& embedded) {
    const torch::AutoGradMode with_graph(true);
    RunValues values = {{site(), embedded.detach().requires_grad_()}};
    Patches patches{.values = &values, .puts = {}, .exchanges = {}};
    const std::int64_t rows = embedded.size(0);
    for (std::int64_t row = 0; row < rows; ++row)
      for (int position = 0; position < length(); ++position) patches.puts.push_back({row, site(), 0, position, row});
    Inspection inspection{.patches = &patches};
    log_probs(features(ids().expand({rows, -1}).contiguous(), &inspection)).sum().backward();
    return values.at(site()).grad();
  }

  // log p without each token, L. A masked language model's token is masked, because the mask must stay in its place.
  torch::Tensor without_each() {
    if (model_.config().is_masked_lm()) {
      torch::Tensor masked = ids().repeat({length(), 1});
      masked.fill_diagonal_(model_.config().special().mask);
      return log_probs(features(masked));
    }
    std::vector<torch::Tensor> rows;
    for (std::int64_t left_out = 0; left_out < length(); ++left_out)
      rows.push_back(torch::cat({ids().slice(1, 0, left_out), ids().slice(1, left_out + 1)}, 1));
    return log_probs(features(torch::cat(rows)));
  }

 private:
  ValueSite site() const {
    return {ValueKind::state, language_model_ ? AttentionPart::decoder : AttentionPart::encoder, 0};
  }

  SequenceModel& model_;
  int piece_;
  bool language_model_;
  std::vector<int> tokens_, target_in_;
  std::int64_t position_;
};

// The mean gradient at `points` midpoints of the straight line from → to, times the difference.
torch::Tensor integrated_at(PieceReader& reader, const torch::Tensor& from, const torch::Tensor& to, int points,
                            const YieldCallback& yield) {
  torch::Tensor sum = torch::zeros_like(to, torch::kFloat64);
  for (std::int64_t first = 0; first < points; first += rows_a_pass) {
    yield();
    const std::int64_t rows = std::min(rows_a_pass, points - first);
    const torch::Tensor share = (torch::arange(first, first + rows, to.options()) + 0.5) / points;
    sum += reader.gradients(from + share.view({-1, 1, 1}) * (to - from)).to(torch::kFloat64).sum(0);
  }
  return (sum / points * (to - from)).sum(1);  // L
}

void integrate(AttributionResult& result, PieceReader& reader, const torch::Tensor& embedded,
               const FractionCallback& progress) {
  const torch::Tensor baseline = reader.embedded(reader.unknown_ids());
  result.baseline_log_prob = reader.log_probs(reader.features(reader.unknown_ids())).item<double>();
  for (int points = fewest_points; points <= most_points; points *= 2) {
    const double done =
        std::log2(static_cast<double>(points) / fewest_points) / std::log2(2.0 * most_points / fewest_points);
    const std::vector<double> coarser = std::exchange(
        result.integrated,
        to_doubles(integrated_at(reader, baseline, embedded, points, [&] { progress(0.3 + 0.7 * done); })));
    result.integrated_at = points;
    if (coarser.empty()) continue;
    result.integrated_errors.clear();
    for (std::size_t i = 0; i < coarser.size(); ++i)
      result.integrated_errors.push_back(std::abs(result.integrated[i] - coarser[i]));
    if (completeness_error(result) <= near_enough && integration_error(result) <= near_token) return;
  }
}

// The attention part that receives the input tokens.
AttentionPart reading_part(const ModelConfig& config) {
  return config.is_language_model() ? AttentionPart::decoder
         : config.is_masked_lm()    ? AttentionPart::encoder
                                    : AttentionPart::cross;
}

const AttentionWeights& weights_of(const Inspection& pass, AttentionPart part) {
  return part == AttentionPart::decoder ? pass.decoder : part == AttentionPart::encoder ? pass.encoder : pass.cross;
}

// 1×H×Q×K per layer → the rows of one query; −1: the last
std::vector<ReadingHead> reading_heads(const AttentionWeights& layers, AttentionPart part, std::int64_t query) {
  std::vector<ReadingHead> heads;
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    for (std::int64_t head = 0; head < layers[layer].size(1); ++head)
      heads.push_back(
          {{part, static_cast<int>(layer), static_cast<int>(head)}, to_doubles(layers[layer][0][head][query]), {}});
  return heads;
}

// ‖α_j v_j W_O‖ of one head, K
std::vector<double> weighted_norms(const HeadTensors& tensors, const ReadingHead& head) {
  const torch::Tensor v = tensors.v[0][head.place.head];  // K×d
  const torch::Tensor w_o = tensors.w_o.slice(1, head.place.head * v.size(1), (head.place.head + 1) * v.size(1));
  std::vector<double> norms = to_doubles(torch::matmul(v, w_o.t()).norm(2, 1));
  for (std::size_t i = 0; i < norms.size(); ++i) norms[i] *= head.weights[i];
  return norms;
}

void add_norms(std::vector<ReadingHead>& heads, PieceReader& reader) {
  std::optional<HeadTensors> tensors;  // of one layer
  for (ReadingHead& head : heads) {
    if (head.place.head == 0) {
      Inspection inspection{.head_wanted = head.place};
      reader.features(reader.ids(), &inspection);
      tensors = std::move(inspection.head);
    }
    head.norms = weighted_norms(*tensors, head);
  }
}

// Rollout to the step: through the decoder of a language model, or through the encoder and then the last layer's mean
// cross-attention.
std::vector<double> rolled_out(const ModelConfig& config, const Inspection& pass, std::int64_t position) {
  const AttentionMaps reading = to_maps(config.is_language_model() ? pass.decoder : pass.encoder);
  const Matrix through = rollout(reading, static_cast<int>(reading.size()) - 1);  // L×L
  const int last = position < 0 ? through.rows - 1 : static_cast<int>(position);
  std::vector<double> reached(static_cast<std::size_t>(through.cols));
  if (config.is_language_model() || config.is_masked_lm()) {
    for (int col = 0; col < through.cols; ++col) reached[static_cast<std::size_t>(col)] = through.at(last, col);
    return reached;
  }
  const std::vector<double> read = to_doubles(pass.cross.back()[0].mean(0)[-1]);  // S
  for (int row = 0; row < through.rows; ++row)
    for (int col = 0; col < through.cols; ++col)
      reached[static_cast<std::size_t>(col)] += read[static_cast<std::size_t>(row)] * through.at(row, col);
  return reached;
}

void take_apart(AttributionResult& result, SequenceModel& model, PieceReader& reader, int token) {
  const ModelConfig& config = model.config();
  if (config.is_recurrent()) {
    result.parts_problem =
        mark("A recurrent network has no residual stream, so its logit is not a sum of heads and layers.");
  } else if (config.is_classifier()) {
    result.parts_problem = mark(
        "A classifier pools over all positions, so the label\u2019s logit does not come from a single residual "
        "stream.");
  } else if (config.is_masked_lm()) {
    result.parts_problem = mark(
        "The head for masked tokens applies an activation to the last state, so the logit is not a sum of heads and "
        "layers.");
  } else {
    Memory memory;
    if (!config.is_language_model()) memory = model.encode(reader.ids(), {});
    result.parts = logit_parts(model, memory, reader.target_in(), token);
  }
}

}  // namespace

AttributionResult inspect_attribution(SequenceModel& model, const Tokenizer& tokenizer,
                                      const AttributionQuestion& question, const FractionCallback& progress) {
  AttributionResult result{.question = question};
  const ModelConfig& config = model.config();
  const WrittenStep step = written_step(model, tokenizer, question.text, question.output, [&] { progress(0); });
  result.written = step.written;
  result.output = step.output;
  result.tokens = texts_of(config.is_language_model() ? step.read : step.source);
  if (result.written.empty())
    result.problem = mark("The model generated no output for this sentence.");
  else if (result.tokens.size() < 2)
    result.problem = mark("The input is a single token, so there is nothing to compare it with.");
  if (!result.problem.empty()) return result;

  PieceReader reader(model, step);
  Inspection pass;
  const torch::Tensor features = reader.features(reader.ids(), &pass);
  result.logit = model.logits(features)[0][step.token].item<double>();
  result.log_prob = reader.log_probs(features).item<double>();
  take_apart(result, model, reader, step.token);
  progress(0.1);
  const AttentionPart part = reading_part(config);
  result.heads = reading_heads(weights_of(pass, part), part, step.position);
  if (!config.is_recurrent()) result.rollout = rolled_out(config, pass, step.position);
  if (result.parts_problem.empty()) add_norms(result.heads, reader);
  progress(0.2);
  result.deletion = to_doubles(result.log_prob - reader.without_each());
  const torch::Tensor embedded = reader.embedded(reader.ids());
  result.gradient_input = to_doubles((reader.gradients(embedded.unsqueeze(0))[0] * embedded).sum(1));
  integrate(result, reader, embedded, progress);
  if (!std::isfinite(result.log_prob)) result.problem = mark("The probability of this token is not a number.");
  return result;
}

}  // namespace attnscope
