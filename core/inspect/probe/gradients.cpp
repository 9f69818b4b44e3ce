#include "inspect/probe/gradients.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/mark.h"
#include "config/architecture.h"
#include "inspect/probe/tensors.h"
#include "inspect/probe/written_step.h"

namespace attnscope {
namespace {

// …×D → the norm of every row; zeros if there is no gradient.
torch::Tensor row_norms(const torch::Tensor& value) {
  const torch::Tensor gradient = value.grad();
  return gradient.defined() ? gradient.norm(2, -1) : torch::zeros(value.sizes().slice(0, value.dim() - 1));
}

// For one layer's cells, both directions combined: L.
torch::Tensor cell_norms(const std::vector<std::vector<CellState>>& cells, std::size_t layer, std::size_t directions) {
  std::vector<torch::Tensor> squares;
  for (std::size_t direction = 0; direction < directions; ++direction) {
    std::vector<torch::Tensor> norms;
    for (const CellState& state : cells[layer * directions + direction]) norms.push_back(row_norms(state.h));
    squares.push_back(torch::cat(norms).square());
  }
  return torch::stack(squares).sum(0).sqrt();
}

// (layers + 1) × L
Matrix stack_norms(const Inspection& record, const ModelConfig& config, bool decoder) {
  const AttentionPart stack = decoder ? AttentionPart::decoder : AttentionPart::encoder;
  const auto layers = static_cast<std::size_t>(decoder ? config.num_decoder_layers : config.num_encoder_layers);
  std::vector<torch::Tensor> rows = {row_norms(record.values.at({ValueKind::state, stack, 0}))[0]};
  for (std::size_t layer = 0; layer < layers; ++layer)
    rows.push_back(config.is_recurrent()
                       ? cell_norms(decoder ? record.decoder_cells : record.encoder_cells, layer,
                                    config.bidirectional && !decoder ? 2 : 1)
                       : row_norms(record.values.at({ValueKind::state, stack, static_cast<int>(layer) + 1}))[0]);
  return to_matrix(torch::stack(rows));
}

}  // namespace

PassGradients gradients_of(SequenceModel& model, const std::vector<int>& source, const std::vector<int>& target_in,
                           int wanted_id, const Interventions& interventions, std::int64_t position) {
  const torch::AutoGradMode with_graph(true);
  const ModelConfig& config = model.config();
  Inspection record{.interventions = &interventions, .gradients_wanted = true};
  Memory memory;
  if (!config.is_language_model()) memory = model.encode(ids_tensor(source, model.device()), {}, &record);
  const torch::Tensor features = model.decode(ids_tensor(target_in, model.device()), memory, nullptr, &record);
  const torch::Tensor last = model.logits(features.select(1, position));  // 1×V
  const torch::Tensor loss = -torch::log_softmax(last, -1)[0][wanted_id];
  loss.backward();
  PassGradients pass;
  pass.loss = loss.item<double>();
  if (!config.is_language_model()) pass.encoder.norms = stack_norms(record, config, false);
  if (config.has_decoder()) pass.decoder.norms = stack_norms(record, config, true);
  return pass;
}

GradientResult inspect_gradients(SequenceModel& model, const Tokenizer& tokenizer, const GradientQuestion& question,
                                 const FractionCallback& progress) {
  GradientResult inspection{
      .question = question, .written = {}, .model = short_name(model.config()), .plain = {}, .bare = {}};
  const WrittenStep step = written_step(model, tokenizer, question.text, question.output, [&] { progress(0); });
  inspection.written = step.written;
  inspection.output = step.output;
  if (inspection.written.empty()) {
    inspection.problem = mark("The model generated no output for this sentence.");
    return inspection;
  }
  const auto pass = [&](const Interventions& interventions) {
    PassGradients made =
        gradients_of(model, ids_of(step.source), ids_of(step.read), step.token, interventions, step.position);
    made.encoder.tokens = texts_of(step.source);
    if (model.config().has_decoder()) made.decoder.tokens = texts_of(step.read);
    progress(0.5);
    return made;
  };
  inspection.plain = pass({});
  if (!std::isfinite(inspection.plain.loss))
    inspection.problem = mark("The loss of this token is not a number, so it has no gradients.");
  Interventions bare;
  bare.no_residuals = true;
  if (!model.config().is_recurrent()) inspection.bare.push_back(pass(bare));
  return inspection;
}

}  // namespace attnscope
