#include "inspect/attribution/logit_parts.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

// The residual stream at one position as a sum: one row per part, N×D in double precision.
class Stream {
 public:
  Stream(SequenceModel& model, const torch::Tensor& embedded) : model_(model), parameters_(model.named_parameters()) {
    add({LogitPartKind::biases}, torch::zeros_like(embedded));
  }

  void add(LogitPart part, const torch::Tensor& vector) {
    parts_.push_back(part);
    vectors_.push_back(vector);
  }

  void add_bias(const torch::Tensor& vector) { vectors_.front() = vectors_.front() + vector; }

  void add(const Stream& other) {
    add_bias(other.vectors_.front());
    for (std::size_t i = 1; i < other.parts_.size(); ++i) add(other.parts_[i], other.vectors_[i]);
  }

  // Applies the named norm, if it exists, with the scale of the whole sum.
  void normalise(const std::string& name) {
    if (!parameters_.contains(name + ".weight")) return;
    const torch::Tensor gain = parameters_[name + ".weight"].to(torch::kCPU, torch::kFloat64);
    const bool centred = parameters_.contains(name + ".bias");  // LayerNorm, not RMSNorm
    torch::Tensor rows = torch::stack(vectors_);
    if (centred) rows = rows - rows.mean(1, /*keepdim=*/true);
    const torch::Tensor scale = (rows.sum(0).square().mean() + model_.config().norm_epsilon).sqrt();
    vectors_ = (rows * gain / scale).unbind(0);
    if (centred) add_bias(parameters_[name + ".bias"].to(torch::kCPU, torch::kFloat64));
  }

  // Each part's contribution to the token's logit before model.logit_cap; the output bias counts as one of the biases.
  std::vector<LogitPart> logits_of(int token) {
    vectors_.push_back(torch::zeros_like(vectors_.front()));  // constant part of the output
    const torch::Tensor features = torch::stack(vectors_).to(model_.device(), torch::kFloat32);
    const torch::Tensor logits = model_.uncapped_logits(features).select(1, token).to(torch::kCPU, torch::kFloat64);
    const double nothing = logits[-1].item<double>();
    for (std::size_t i = 0; i < parts_.size(); ++i)
      parts_[i].logit = logits[static_cast<std::int64_t>(i)].item<double>() - (i == 0 ? 0 : nothing);
    return std::move(parts_);
  }

 private:
  SequenceModel& model_;
  torch::OrderedDict<std::string, torch::Tensor> parameters_;
  std::vector<LogitPart> parts_;  // the biases first
  std::vector<torch::Tensor> vectors_;
};

// B×L×D → D, at the last position
torch::Tensor at_the_end(const torch::Tensor& value) {
  return value[0][-1].to(torch::kCPU, torch::kFloat64);
}

void add_heads(Stream& stream, const HeadTensors& tensors, const HeadPlace& place, std::int64_t heads) {
  const torch::Tensor outputs = at_the_end(tensors.heads_output).view({heads, -1});                           // H×d
  const torch::Tensor w_o = tensors.w_o.to(torch::kCPU, torch::kFloat64).view({-1, heads, outputs.size(1)});  // D×H×d
  for (std::int64_t head = 0; head < heads; ++head)
    stream.add({LogitPartKind::head, {place.part, place.layer, static_cast<int>(head)}},
               torch::mv(w_o.select(1, head), outputs[head]));
  stream.add_bias(tensors.b_o.to(torch::kCPU, torch::kFloat64));
}

}  // namespace

std::vector<LogitPart> logit_parts(SequenceModel& model, const Memory& memory, std::span<const int> target_in,
                                   int wanted) {
  const ModelConfig& config = model.config();
  const torch::Tensor read = ids_tensor(target_in, model.device());
  // Each pass records one attention's tensors.
  const auto attention_of = [&](AttentionPart part, int layer) {
    Inspection inspection{.head_wanted = HeadPlace{part, layer, 0}};
    model.decode(read, memory, nullptr, &inspection);
    return *std::move(inspection.head);
  };
  Inspection pass{.values_wanted = true, .sublayers_wanted = true};
  model.decode(read, memory, nullptr, &pass);
  const torch::Tensor embedded = at_the_end(pass.values.at({ValueKind::state, AttentionPart::decoder, 0}));
  Stream stream(model, embedded);
  stream.add({LogitPartKind::embedding}, embedded);
  int norm = 0;
  for (const SublayerTensors& sublayer : pass.sublayers) {
    norm = sublayer.sublayer == Sublayer::self_attention ? 1 : norm + 1;
    const AttentionPart part =
        sublayer.sublayer == Sublayer::cross_attention ? AttentionPart::cross : AttentionPart::decoder;
    if (sublayer.sublayer == Sublayer::feed_forward) {
      stream.add({LogitPartKind::feed_forward, {part, sublayer.layer, 0}}, at_the_end(sublayer.added));
    } else {
      Stream heads(model, embedded);
      add_heads(heads, attention_of(part, sublayer.layer), {part, sublayer.layer, 0}, part_size(config, part).heads);
      heads.normalise(fmt::format("decoder.layers.{}.{}_output_norm", sublayer.layer,
                                  part == AttentionPart::cross ? "multihead_attn" : "self_attn"));
      stream.add(heads);
    }
    if (config.norm == "post") stream.normalise(fmt::format("decoder.layers.{}.norm{}", sublayer.layer, norm));
  }
  stream.normalise("decoder.norm");
  return stream.logits_of(wanted);
}

}  // namespace attnscope
