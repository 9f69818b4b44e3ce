#include "inspect/evaluation/token_sample.h"

#include <algorithm>

#include "common/spread.h"

namespace attnscope {
namespace {

// B×L, true up to and with the last true position of each row.
torch::Tensor up_to_last(const torch::Tensor& marked) {
  return marked.flip(1).cumsum(1).flip(1).gt(0);
}

// The tokens that pass through the stack, B×L, and whether each is none of the padding.
struct StackTokens {
  torch::Tensor ids, kept;
};

StackTokens stack_tokens(const Batch& batch, bool decoder, const ModelConfig& model) {
  if (decoder) return {batch.target_in, target_positions(batch, model)};
  return {batch.source, batch.source_padding.defined() ? up_to_last(batch.source_padding.logical_not())
                                                       : torch::ones_like(batch.source, torch::kBool)};
}

torch::Tensor joined(const std::vector<torch::Tensor>& parts, const torch::Tensor& none) {
  return parts.empty() ? none : torch::cat(parts);
}

}  // namespace

torch::Tensor features_of(SequenceModel& model, const Batch& batch, Inspection& inspection) {
  const Memory memory =
      batch.source.defined() ? model.encode(batch.source, batch.source_padding, &inspection) : Memory();
  return model.decode(batch.target_in, memory, nullptr, &inspection);
}

torch::Tensor target_positions(const Batch& batch, const ModelConfig& model) {
  const torch::Tensor targets = batch.target_out.ne(model.padding_id);
  return model.is_masked_lm() ? targets : up_to_last(targets);
}

TokenSample::TokenSample(SequenceModel& model, const std::vector<Batch>& all, bool decoder, const Inspection& wanted,
                         const Read& read, const YieldCallback& yield, std::int64_t most)
    : sentences{0} {
  const torch::NoGradGuard no_gradients;
  model.check_standing_still();
  std::vector<torch::Tensor> value_parts, id_parts, position_parts;
  for (const std::size_t i : spread_order(all.size())) {
    if (sentences.back() >= most) break;
    Batch batch = all[i];
    if (model.config().is_masked_lm()) batch.source = batch.target_in;
    Inspection inspection = wanted;
    features_of(model, batch, inspection);
    const torch::Tensor vectors = read(inspection);
    if (!vectors.defined()) continue;
    const auto [tokens, kept] = stack_tokens(batch, decoder, model.config());
    batches.push_back(all[i]);
    value_parts.push_back(vectors.index({kept}).to(torch::kCPU, torch::kFloat32));
    id_parts.push_back(tokens.index({kept}).cpu());
    const torch::Tensor along = torch::arange(tokens.size(1), tokens.options());
    position_parts.push_back(along.expand_as(tokens).index({kept}).cpu());
    const torch::Tensor counts = kept.sum(1).cpu();
    for (std::int64_t row = 0; row < counts.size(0); ++row) {
      const auto count = counts[row].item<std::int64_t>();
      if (count == 0) continue;
      sentences.push_back(sentences.back() + count);
      places.emplace_back(batches.size() - 1, row);
    }
    if (yield) yield();
  }
  values = joined(value_parts, torch::zeros({0, 1}));
  ids = joined(id_parts, torch::zeros({0}, torch::kInt64));
  positions = joined(position_parts, torch::zeros({0}, torch::kInt64));
}

TokenSample::Rows TokenSample::around(std::int64_t row) const {
  const auto next = std::ranges::upper_bound(sentences, row);
  return {std::max(*(next - 1), row - neighbors), std::min(*next, row + neighbors + 1)};
}

std::vector<std::string> TokenSample::texts(const Tokenizer& tokenizer, const Rows& rows) const {
  std::vector<std::string> texts;
  for (std::int64_t row = rows.first; row < rows.end; ++row)
    texts.push_back(tokenizer.token(static_cast<int>(ids[row].item<std::int64_t>())));
  return texts;
}

}  // namespace attnscope
