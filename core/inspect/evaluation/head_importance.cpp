#include "inspect/evaluation/head_importance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/spread.h"
#include "model/inspection.h"
#include "common/mark.h"
#include "training/validation.h"

namespace attnscope {
namespace {

// The loss of a pass over a batch, summed over its targets.
torch::Tensor cost_of(SequenceModel& model, const Batch& batch, Inspection& inspection) {
  const Memory memory =
      batch.source.defined() ? model.encode(batch.source, batch.source_padding, &inspection) : Memory();
  const torch::Tensor features = model.decode(batch.target_in, memory, nullptr, &inspection);
  return model.loss(features, batch.target_out, 0) * static_cast<double>(batch.targets);
}

std::vector<HeadPlace> heads_of_model(const ModelConfig& config) {
  std::vector<HeadPlace> places;
  for (const AttentionPart part : attention_parts) {
    const PartSize size = part_size(config, part);
    for (int layer = 0; layer < size.layers; ++layer)
      for (int head = 0; head < size.heads; ++head) places.push_back({part, layer, head});
  }
  return places;
}

class HeadsStudy {
 public:
  HeadsStudy(SequenceModel& model, std::vector<Batch> batches, const FractionCallback& progress)
      : model_(model), batches_(std::move(batches)), progress_(progress) {
    for (const Batch& batch : batches_) tokens_ += batch.targets;
  }

  HeadsResult result(bool with_gradients) {
    HeadsResult result{.tokens = tokens_};
    const std::vector<HeadPlace> places = heads_of_model(model_.config());
    passes_ = (with_gradients ? 3 : 2) * places.size() + 4;
    result.nll = nll_without({});
    for (const HeadPlace& place : places)
      result.heads.push_back({.place = place, .exact = nll_without({place}) - result.nll});
    if (model_.config().is_language_model()) add_first(result);
    if (with_gradients) add_gradients(result.heads);
    std::vector<HeadImportance> order = result.heads;
    std::ranges::stable_sort(order, {}, &HeadImportance::exact);
    std::vector<HeadPlace> off;
    result.pruning.push_back({static_cast<int>(order.size()), result.nll});
    for (const HeadImportance& next : order) {
      off.push_back(next.place);
      result.pruning.push_back({static_cast<int>(order.size() - off.size()), nll_without(off), next.place});
    }
    return result;
  }

 private:
  double nll_without(std::vector<HeadPlace> off) {
    const torch::NoGradGuard no_grad;
    Interventions interventions;
    interventions.heads_off = std::move(off);
    double nats = 0;
    for (const Batch& batch : batches_) {
      Inspection inspection{.interventions = &interventions};
      nats += cost_of(model_, batch, inspection).item<double>();
      yield(1.0 / static_cast<double>(batches_.size()));
    }
    return nats / static_cast<double>(tokens_);
  }

  // Attention to the first token, and the loss without it.
  void add_first(HeadsResult& result) {
    const torch::NoGradGuard no_grad;
    const Interventions masked = first_token_masked(model_.config(), model_.config().max_length);
    double nats = 0, queries = 0;
    for (const Batch& batch : batches_) {
      Inspection plain, inspection{.interventions = &masked};
      cost_of(model_, batch, plain);
      nats += cost_of(model_, batch, inspection).item<double>();
      const torch::Tensor later = batch.target_out.ne(model_.config().padding_id).slice(1, 1);  // B×(Q−1)
      queries += later.sum().item<double>();
      for (HeadImportance& head : result.heads) {
        const torch::Tensor& weights = plain.decoder[static_cast<std::size_t>(head.place.layer)];  // B×H×Q×K
        head.first += weights.select(1, head.place.head).slice(1, 1).select(2, 0).mul(later).sum().item<double>();
      }
      yield(2.0 / static_cast<double>(batches_.size()));
    }
    for (HeadImportance& head : result.heads) head.first /= std::max(1.0, queries);
    result.first_masked_nll = nats / static_cast<double>(tokens_);
  }

  // E_x |Σ output · ∂L(x)/∂output| for every head: the expected gradient of a mask on it.
  void add_gradients(std::vector<HeadImportance>& heads) {
    const torch::AutoGradMode with_graph(true);
    std::int64_t rows = 0;
    for (const Batch& batch : batches_) {
      Inspection inspection{.gradients_wanted = true};
      cost_of(model_, batch, inspection).backward();
      rows += batch.target_in.size(0);
      for (HeadImportance& head : heads) {
        const torch::Tensor& output = inspection.values.at({ValueKind::heads, head.place.part, head.place.layer});
        if (!output.grad().defined()) continue;
        const torch::Tensor by_row = (output.detach() * output.grad()).sum({2, 3}).select(1, head.place.head);
        head.fast += by_row.abs().sum().item<double>();
      }
      yield(static_cast<double>(heads.size()) / static_cast<double>(batches_.size()));
    }
    for (HeadImportance& head : heads) head.fast /= static_cast<double>(rows);
  }

  void yield(double passes) {
    done_ += passes;
    if (progress_) progress_(std::min(1.0, done_ / static_cast<double>(passes_)));
  }

  SequenceModel& model_;
  std::vector<Batch> batches_;
  const FractionCallback& progress_;
  std::int64_t tokens_ = 0;
  std::size_t passes_ = 1;
  double done_ = 0;
};

constexpr std::size_t quick_batches = 4;

std::string why_not(const SequenceModel& model, const Dataset& dataset) {
  if (model.config().is_recurrent()) return mark("A recurrent network has no heads to ablate.");
  if (!dataset.can_validate()) return mark("No validation set is held out, so there is no loss to measure.");
  return {};
}

HeadsResult inspect(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size, bool quickly,
                    const FractionCallback& progress) {
  if (HeadsResult none{.problem = why_not(model, dataset)}; !none.problem.empty()) return none;
  model.check_standing_still();
  std::vector<Batch> batches = validation_batches(model, dataset, batch_size);
  if (quickly) batches = spread_evenly(batches, quick_batches);
  return HeadsStudy(model, std::move(batches), progress).result(!quickly);
}

}  // namespace

HeadsResult inspect_heads(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                          const FractionCallback& progress) {
  return inspect(model, dataset, batch_size, false, progress);
}

HeadsResult inspect_heads_quickly(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                                  const FractionCallback& progress) {
  return inspect(model, dataset, batch_size, true, progress);
}

}  // namespace attnscope
