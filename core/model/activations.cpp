#include "model/activations.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/inspection.h"

namespace attnscope {
namespace {

constexpr std::int64_t trial_length = 16;  // tokens

const char* sublayer_name(Sublayer sublayer) {
  switch (sublayer) {
    case Sublayer::self_attention:
      return "self-attention";
    case Sublayer::cross_attention:
      return "cross-attention";
    case Sublayer::feed_forward:
      return "feed-forward";
  }
  return "";
}

bool is_finite(const torch::Tensor& tensor) {
  return torch::isfinite(tensor).all().item<bool>();
}

}  // namespace

void visit_activations(SequenceModel& model, const torch::Tensor& source, const torch::Tensor& target_in,
                       const std::function<void(const std::string& name, const torch::Tensor& value)>& visit) {
  const torch::NoGradGuard no_grad;
  const ModelConfig& config = model.config();
  Inspection record{.values_wanted = true, .sublayers_wanted = true, .cells_wanted = true};
  Memory memory;
  if (!config.is_language_model()) memory = model.encode(source, {}, &record);
  const bool predicts = !config.is_masked_lm() || config.fills_masks();
  const torch::Tensor features = predicts ? model.decode(target_in, memory, nullptr, &record) : torch::Tensor();
  for (const AttentionPart stack : {AttentionPart::encoder, AttentionPart::decoder}) {
    const std::string name = part_name(stack);
    const auto embedded = record.values.find({ValueKind::state, stack, 0});
    if (embedded != record.values.end()) visit(name + " embedded", embedded->second);
    for (const SublayerTensors& sublayer : record.sublayers) {
      if (sublayer.decoder != (stack == AttentionPart::decoder)) continue;
      const std::string place =
          fmt::format("{} layer {} {}", name, sublayer.layer + 1, sublayer_name(sublayer.sublayer));
      if (sublayer.active.defined()) visit(place + ", hidden units", sublayer.active);
      visit(place + ", added", sublayer.added);
      visit(place + ", out", sublayer.out);
    }
    const auto& cells = stack == AttentionPart::encoder ? record.encoder_cells : record.decoder_cells;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      std::vector<torch::Tensor> states;
      for (const CellState& state : cells[cell]) states.push_back(state.h);
      if (!states.empty()) visit(fmt::format("{} cell {}, h", name, cell + 1), torch::stack(states, 1));
    }
  }
  if (!predicts) return visit("states", memory.states);
  visit("features", features);  // after the final norm: the input of the output matrix
  const torch::Tensor logits = model.logits(features);
  // A classifier predicts only labels, at the end of the vocabulary.
  visit("logits", config.is_classifier() ? logits.slice(2, logits.size(2) - config.num_classes) : logits);
}

std::string overflowing(SequenceModel& model, const torch::Tensor& source, const torch::Tensor& target_in) {
  std::string found;
  visit_activations(model, source, target_in, [&](const std::string& name, const torch::Tensor& value) {
    if (found.empty() && !is_finite(value)) found = fmt::format("the activation “{}”", name);
  });
  if (found.empty()) return {};
  for (const auto& item : model.named_parameters())
    if (!is_finite(item.value())) return "the weight " + item.key();
  return found;
}

std::string overflowing(SequenceModel& model) {
  const std::int64_t length = std::min(trial_length, model.config().max_length);
  const torch::Tensor ids = torch::linspace(0, static_cast<double>(model.vocab_size() - 1), length)
                                .to(torch::TensorOptions(torch::kInt64).device(model.device()))
                                .unsqueeze(0);
  return overflowing(model, ids, ids);
}

}  // namespace attnscope
