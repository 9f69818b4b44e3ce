#include "training/batch_look.h"

#include <algorithm>

#include "kernels/dropout.h"
#include "kernels/embedding.h"

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
    side.pieces.push_back(id[i] == tokenizer.special().padding ? "" : tokenizer.piece(static_cast<int>(id[i])));
  }
  return side;
}

Matrix matrix_of(const torch::Tensor& rows) {
  const torch::Tensor host = rows.contiguous();
  Matrix matrix(static_cast<int>(host.size(0)), static_cast<int>(host.size(1)));
  std::copy_n(host.data_ptr<float>(), matrix.values.size(), matrix.values.begin());
  return matrix;
}

}  // namespace

BatchLooker::BatchLooker(const Config& config, std::shared_ptr<const Dataset> dataset) : batches_(config, dataset) {
  if (config.model.is_language_model()) return;
  const TrainingConfig& training = config.training;
  const auto share = [&](BatchRule rule) {
    return padding_share(dataset->train, epoch_batches(dataset->train, rule, training.seed, 0));
  };
  BatchRule rule = batch_rule(training);
  padding_sorted_ = share(rule);
  rule.order = BatchOrder::chance;
  padding_unsorted_ = share(rule);
}

BatchLook BatchLooker::look(const BatchWanted& wanted, const Config& config, const Tokenizer& tokenizer,
                            std::int64_t step, std::int64_t num_parts) {
  BatchLook look;
  look.step = step + 1;
  look.batch = step * config.training.accumulation_steps;
  const std::vector<Batch> parts = batches_.parts(look.batch, num_parts, torch::kCPU);
  look.parts = static_cast<int>(parts.size());
  look.asked.part = std::clamp(wanted.part, 0, look.parts - 1);
  const Batch& part = parts[static_cast<std::size_t>(look.asked.part)];
  look.source = side_of(part.source, tokenizer);
  look.target_in = side_of(part.target_in, tokenizer);
  look.target_out = side_of(part.target_out, tokenizer);
  look.padding_sorted = padding_sorted_;
  look.padding_unsorted = padding_unsorted_;
  look.label_smoothing = config.training.label_smoothing;
  look.num_outputs = config.model.is_classifier() ? config.model.num_classes : tokenizer.vocab_size();
  look.first_output = tokenizer.vocab_size() - look.num_outputs;
  look.teacher_forcing = config.training.teacher_forcing;
  look.dropout = config.model.dropout;
  look.kept = matrix_of(dropout_of_embedding(part, config, look.batch, look.asked.part));
  return look;
}

torch::Tensor dropout_of_embedding(const Batch& part, const Config& config, std::int64_t number, int part_number) {
  const bool time_first = config.model.is_recurrent();
  const torch::Tensor& ids = part.source.defined() ? part.source : part.target_in;
  const kernels::DropoutScope scope(config.training.seed, number, part_number);
  // A table of ones, whose only row every piece has: what is left is the mask.
  const torch::Tensor rows = torch::zeros_like(time_first ? ids.t() : ids, torch::MemoryFormat::Contiguous);
  const torch::Tensor mask =
      kernels::embed(rows, torch::ones({1, config.model.d_model}), 1, {}, -1, config.model.dropout);
  return mask.select(time_first ? 1 : 0, 0);
}

}  // namespace attnscope
