#include "training/batch_inspection.h"

#include <algorithm>

#include "common/clamped.h"
#include "model/dropout_places.h"

namespace attnscope {
namespace {

BatchSide side_of(const torch::Tensor& ids, const Tokenizer& tokenizer) {
  BatchSide side;
  if (!ids.defined()) return side;
  const torch::Tensor host = ids.cpu().contiguous();
  side.rows = static_cast<int>(host.size(0));
  side.cols = static_cast<int>(host.size(1));
  const auto* id = host.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < host.numel(); ++i) {
    side.ids.push_back(static_cast<int>(id[i]));
    side.tokens.push_back(id[i] == tokenizer.special().padding ? "" : tokenizer.token(static_cast<int>(id[i])));
  }
  return side;
}

Matrix matrix_of(const torch::Tensor& rows) {
  const torch::Tensor host = rows.contiguous();
  Matrix matrix(static_cast<int>(host.size(0)), static_cast<int>(host.size(1)));
  std::copy_n(host.data_ptr<float>(), matrix.values.size(), matrix.values.begin());
  return matrix;
}

// The decoder's steps that generate its own input (training/teacher_forcing.h).
std::int64_t free_steps(const Batch& part, const Config& config) {
  const bool writes = part.source.defined() && config.model.has_decoder() && config.training.teacher_forcing < 1;
  return writes ? part.target_in.size(1) - 1 : 0;
}

// The mask of that row at real tokens. The first row of a batch draws the same mask with and without padding.
torch::Tensor without_padding(const torch::Tensor& mask, const DropoutPlace& place, const BatchInspection& inspection) {
  using Columns = DropoutPlace::Columns;
  const BatchSide& side = place.of_target ? inspection.target_in : inspection.source;
  if (place.columns != Columns::source && place.columns != Columns::target) return mask.slice(0, 0, side.length(0));
  const BatchSide& keys = place.columns == Columns::source ? inspection.source : inspection.target_in;
  const torch::Tensor heads = mask.unflatten(0, {-1, side.cols}).slice(1, 0, side.length(0));
  return heads.slice(2, 0, keys.length(0)).flatten(0, 1);
}

void add_dropout(BatchInspection& inspection, const Batch& part, int wanted, const Config& config) {
  const DroppedPass pass{part.target_in.size(0), part.source.defined() ? part.source.size(1) : 0,
                         part.target_in.size(1), free_steps(part, config)};
  const std::vector<PlacedDropout> places = dropout_places(config.model, pass);
  for (const PlacedDropout& dropout : places) inspection.dropout_places.push_back(dropout.place);
  inspection.asked.dropout_place = clamped(wanted, 0, static_cast<int>(places.size()) - 1);
  const PlacedDropout& asked = places[static_cast<std::size_t>(inspection.asked.dropout_place)];
  const torch::Tensor mask =
      dropout_of_row(asked, config.model, pass, {config.training.seed, inspection.batch, inspection.asked.part});
  inspection.kept = matrix_of(without_padding(mask, asked.place, inspection));
}

}  // namespace

BatchInspector::BatchInspector(const Config& config, std::shared_ptr<const Dataset> dataset)
    : batches_(config, dataset) {
  if (config.model.reads_text()) return;
  const TrainingConfig& training = config.training;
  const auto share = [&](BatchRule rule) {
    return padding_share(dataset->train, epoch_batches(dataset->train, rule, training.seed, 0));
  };
  BatchRule rule = batch_rule(training);
  padding_made_ = share(rule);
  rule.order = BatchOrder::both;
  padding_sorted_ = share(rule);
}

BatchInspection BatchInspector::inspect(const BatchWanted& wanted, const Config& config, const Tokenizer& tokenizer,
                                        std::int64_t step, std::int64_t num_parts) {
  BatchInspection inspection;
  inspection.step = step + 1;
  inspection.batch = step * config.training.accumulation_steps;
  const std::vector<Batch> parts = batches_.parts(inspection.batch, num_parts, torch::kCPU);
  inspection.parts = static_cast<int>(parts.size());
  inspection.asked.part = clamped(wanted.part, 0, inspection.parts - 1);
  const Batch& part = parts[static_cast<std::size_t>(inspection.asked.part)];
  inspection.source = side_of(part.source, tokenizer);
  inspection.target_in = side_of(part.target_in, tokenizer);
  inspection.target_out = side_of(part.target_out, tokenizer);
  inspection.padding_made = padding_made_;
  inspection.padding_sorted = padding_sorted_;
  inspection.label_smoothing = config.training.label_smoothing;
  inspection.num_outputs = config.model.is_classifier() ? config.model.num_classes : tokenizer.vocab_size();
  inspection.first_output = tokenizer.vocab_size() - inspection.num_outputs;
  inspection.teacher_forcing = config.training.teacher_forcing;
  inspection.dropout = config.model.dropout;
  add_dropout(inspection, part, wanted.dropout_place, config);
  return inspection;
}

}  // namespace attnscope
