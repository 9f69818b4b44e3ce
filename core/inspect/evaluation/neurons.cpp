#include "inspect/evaluation/neurons.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/mark.h"
#include "inspect/probe/readout.h"
#include "inspect/probe/tensors.h"
#include "model/inspection.h"

namespace attnscope {
namespace {

constexpr std::size_t num_contexts = 8;
constexpr std::int64_t num_deciles = 10, num_bins = 24, num_effects = 8;
constexpr std::int64_t rarest = 3;       // tokens that occur less often correlate by chance
constexpr double duplicate_from = 0.99;  // correlation
constexpr std::int64_t dictionary_tokens = 32'768;

// The layer's feed-forward sublayer; null if the pass skipped it.
const SublayerTensors* feed_forward_of(const Inspection& inspection, const LayerPlace& place) {
  for (const SublayerTensors& sublayer : inspection.sublayers)
    if (sublayer.sublayer == Sublayer::feed_forward && sublayer.decoder == place.decoder &&
        sublayer.layer == place.layer)
      return &sublayer;
  return nullptr;
}

torch::Tensor active_of(const Inspection& inspection, const LayerPlace& place, const SparseDictionary* dictionary) {
  const SublayerTensors* sublayer = feed_forward_of(inspection, place);
  if (!sublayer) return {};
  return dictionary ? dictionary->encode(sublayer->out) : sublayer->active;
}

// Rows minus their mean, divided by their norm; rows that do not vary become 0. N×F, over N.
torch::Tensor standardized(const torch::Tensor& columns) {
  const torch::Tensor centered = columns - columns.mean(0, true);
  const torch::Tensor norm = centered.norm(2, 0, true);
  return torch::where(norm > 1e-6 * columns.abs().amax(0, true).clamp_min(1e-12), centered / norm.clamp_min(1e-12),
                      torch::zeros_like(centered));
}

std::vector<NeuronEffect> effects(const torch::Tensor& logits, bool largest, const Tokenizer& tokenizer) {
  const auto [values, ids] = logits.topk(std::min(num_effects, logits.size(0)), 0, largest);
  std::vector<NeuronEffect> found;
  for (std::int64_t i = 0; i < ids.size(0); ++i)
    found.push_back({tokenizer.token(static_cast<int>(ids[i].item<std::int64_t>())), values[i].item<float>()});
  return found;
}

}  // namespace

std::string neurons_problem(const ModelConfig& config, const LayerPlace& place) {
  const std::int64_t layers = place.decoder ? config.num_decoder_layers : config.num_encoder_layers;
  if (config.is_recurrent() || config.is_capture() || !config.has_feed_forward())
    return mark("This model has no feed-forward sublayers, so it has no neurons to list.");
  if (place.decoder && !config.has_decoder()) return mark("The model has no decoder.");
  if (!place.decoder && config.is_language_model()) return mark("The model has no encoder.");
  if (place.layer < 0 || place.layer >= layers)
    return fmt::format(mark("Layer {} does not exist; layers of the {}: {}."), place.layer + 1,
                       place.decoder ? "decoder" : "encoder", layers);
  return {};
}

TokenSample layer_outputs(SequenceModel& model, const std::vector<Batch>& batches, const LayerPlace& place,
                          const YieldCallback& yield) {
  const auto read = [&](const Inspection& inspection) {
    const SublayerTensors* sublayer = feed_forward_of(inspection, place);
    return sublayer ? sublayer->out : torch::Tensor();
  };
  return TokenSample(model, batches, place.decoder, {.sublayers_wanted = true}, read, yield, dictionary_tokens);
}

NeuronSample::NeuronSample(SequenceModel& model, const std::vector<Batch>& batches, const LayerPlace& place,
                           std::shared_ptr<const SparseDictionary> dictionary, const YieldCallback& yield)
    : place_(place),
      dictionary_(std::move(dictionary)),
      sample_(
          model, batches, place.decoder, {.sublayers_wanted = true},
          [&](const Inspection& inspection) { return active_of(inspection, place, dictionary_.get()); }, yield) {}

// The vector that each neuron adds to the stream, F×D.
torch::Tensor NeuronSample::written_rows(const SequenceModel& model) const {
  if (dictionary_) return dictionary_->writing.cpu();
  const std::string stack = place_.decoder ? "decoder" : "encoder";
  return parameter_named(model, fmt::format("{}.layers.{}.linear2.weight", stack, place_.layer)).t();
}

// Pearson's r of every distinct token's presence with every neuron, U×F; −2 for rare tokens: the mean over the token's
// occurrences, in standard deviations, times √(n / (N − n)).
torch::Tensor NeuronSample::correlations(const torch::Tensor& distinct, const torch::Tensor& inverse,
                                         const torch::Tensor& counts) const {
  const torch::Tensor standard = standardized(sample_.values);
  const torch::Tensor sums = torch::zeros({distinct.size(0), standard.size(1)}).index_add(0, inverse, standard);
  const torch::Tensor n = counts.to(torch::kFloat32).unsqueeze(1);
  const auto all = static_cast<double>(tokens());
  return (sums * (all / (n * (all - n).clamp_min(1))).sqrt()).masked_fill(n < rarest, -2);
}

std::vector<NeuronFacts> NeuronSample::facts(const SequenceModel& model, const Tokenizer& tokenizer) const {
  const std::int64_t count = tokens(), neurons = sample_.values.size(1);
  std::vector<NeuronFacts> facts(static_cast<std::size_t>(neurons));
  if (count == 0) return facts;
  const torch::Tensor standard = standardized(sample_.values);
  const auto [distinct, inverse, counts] = torch::_unique2(sample_.ids, true, true, true);
  const auto [token_r, token] = correlations(distinct, inverse, counts).max(0);
  const torch::Tensor position_r =
      standardized(sample_.positions.to(torch::kFloat32).unsqueeze(1)).t().matmul(standard)[0];
  const torch::Tensor largest = sample_.values.amax(0), mean = sample_.values.mean(0),
                      share = sample_.values.gt(0).to(torch::kFloat32).mean(0);
  const torch::Tensor same = standard.t().matmul(standard).tril(-1).ge(duplicate_from);
  const torch::Tensor read = readout(model, place_.decoder);
  const torch::Tensor best = read.defined() ? written_rows(model).matmul(read.t()).argmax(1) : torch::Tensor();
  for (std::int64_t i = 0; i < neurons; ++i) {
    NeuronFacts& of = facts[static_cast<std::size_t>(i)];
    of.largest = largest[i].item<float>();
    of.mean = mean[i].item<float>();
    of.active = share[i].item<float>();
    of.position_r = position_r[i].item<float>();
    of.token_r = std::max(0.0F, token_r[i].item<float>());
    if (of.token_r > 0) of.token = tokenizer.token(static_cast<int>(distinct[token[i]].item<std::int64_t>()));
    if (best.defined()) of.promoted = tokenizer.token(static_cast<int>(best[i].item<std::int64_t>()));
    if (same[i].any().item<bool>())
      of.duplicate = static_cast<int>(same[i].to(torch::kInt32).argmax().item<std::int64_t>());
  }
  return facts;
}

// A pass in which the neuron has that activation at every token.
Inspection NeuronSample::held(int neuron, double activation) const {
  if (!dictionary_) return {.held = {{place_, neuron, activation}}};
  const auto change = [this, neuron, activation](const torch::Tensor& x) {
    const torch::Tensor now = dictionary_->encode(x).select(-1, neuron).unsqueeze(-1);
    return x + (activation - now) * dictionary_->writing[neuron];
  };
  return {.streams = {{place_, change}}};
}

// Per target of the sample, its loss.
torch::Tensor NeuronSample::losses(SequenceModel& model, const Inspection& changed, const YieldCallback& yield) const {
  std::vector<torch::Tensor> losses;
  for (const Batch& batch : sample_.batches) {
    Inspection inspection = changed;
    const torch::Tensor scores = model.logits(features_of(model, batch, inspection)).log_softmax(-1);
    const torch::Tensor kept = batch.target_out.ne(model.config().padding_id);
    const torch::Tensor targets = batch.target_out.clamp_min(0).unsqueeze(-1);
    losses.push_back(-scores.gather(-1, targets).squeeze(-1).index({kept}).to(torch::kCPU, torch::kFloat32));
    if (yield) yield();
  }
  return torch::cat(losses);
}

DictionaryFacts NeuronSample::dictionary_facts(SequenceModel& model, const NeuronSample& neurons,
                                               const YieldCallback& yield) const {
  const torch::NoGradGuard no_gradients;
  const torch::Tensor& features = sample_.values;
  const torch::Tensor live = features.amax(0).gt(0);
  DictionaryFacts facts{.features = static_cast<int>(features.size(1)),
                        .dead = static_cast<int>(features.size(1) - live.sum().item<std::int64_t>())};
  facts.active = features.gt(0).sum(1).to(torch::kFloat64).mean().item<double>();
  double error = 0, variance = 0;
  const auto through = [&](const torch::Tensor& x) {
    const torch::Tensor made = dictionary_->decode(dictionary_->encode(x));
    error += (x - made).square().sum().item<double>();
    variance += (x - dictionary_->center).square().sum().item<double>();
    return made;
  };
  const auto mean = [&](const torch::Tensor& x) { return dictionary_->center.expand_as(x); };
  const auto loss = [&](const Inspection& changed) { return losses(model, changed, yield).mean().item<double>(); };
  const double whole = loss({}), rebuilt = loss({.streams = {{place_, through}}}),
               ablated = loss({.streams = {{place_, mean}}});
  facts.unexplained = variance > 0 ? error / variance : 0;
  facts.recovered = ablated > whole ? (ablated - rebuilt) / (ablated - whole) : 0;
  const auto [distinct, inverse, counts] = torch::_unique2(sample_.ids, true, true, true);
  const torch::Tensor of_neurons = std::get<0>(neurons.correlations(distinct, inverse, counts).max(1));
  const auto [r, token] = correlations(distinct, inverse, counts).max(0);
  const torch::Tensor sharper = r.gt(of_neurons.index_select(0, token)).logical_and(live);
  const auto num_live = live.sum().item<std::int64_t>();
  facts.sharper = num_live > 0 ? sharper.sum().item<double>() / static_cast<double>(num_live) : 0;
  return facts;
}

NeuronCard NeuronSample::card(SequenceModel& model, const Tokenizer& tokenizer, int neuron,
                              const YieldCallback& yield) const {
  const torch::NoGradGuard no_gradients;
  NeuronCard card;
  if (tokens() == 0) return card;
  const torch::Tensor values = sample_.values.select(1, neuron).contiguous();
  card.strongest = contexts(tokenizer, values, values, num_contexts);
  // Only of the tokens on which it is active: sparse neurons are 0 almost everywhere.
  const torch::Tensor order = values.argsort().slice(0, values.le(0).sum().item<std::int64_t>());
  for (std::int64_t i = 0; i < num_deciles && order.size(0) > 0; ++i) {
    const std::int64_t row = (2 * i + 1) * (order.size(0) - 1) / (2 * num_deciles);
    card.deciles.push_back(context(tokenizer, values, order[row].item<std::int64_t>()));
  }
  card.least = values.min().item<float>();
  const float largest = values.max().item<float>();
  card.histogram = to_values(largest > card.least ? torch::histc(values, num_bins, card.least, largest)
                                                  : torch::full({1}, static_cast<float>(tokens())));
  if (const torch::Tensor read = readout(model, place_.decoder); read.defined()) {
    const torch::Tensor logits = read.mv(written_rows(model)[neuron]);
    card.promoted = effects(logits, true, tokenizer);
    card.suppressed = effects(logits, false, tokenizer);
  }
  const torch::Tensor whole = losses(model, {}, yield);
  const torch::Tensor zero = losses(model, held(neuron, 0), yield) - whole;
  const double mean = values.mean().item<double>();
  card.nll = whole.mean().item<double>();
  card.zero = zero.mean().item<double>();
  card.mean = (losses(model, held(neuron, mean), yield) - whole).mean().item<double>();
  // Every token of a decoder has a target.
  if (place_.decoder) card.hurt = contexts(tokenizer, values, zero, num_contexts);
  return card;
}

NeuronPoint NeuronSample::point(int neuron, std::int64_t step) const {
  if (tokens() == 0) return {.step = step};
  const torch::Tensor values = sample_.values.select(1, neuron);
  return {step, values.max().item<double>(), values.mean().item<double>(),
          values.gt(0).to(torch::kFloat64).mean().item<double>()};
}

NeuronContext NeuronSample::context(const Tokenizer& tokenizer, const torch::Tensor& activations,
                                    std::int64_t row) const {
  const TokenSample::Rows rows = sample_.around(row);
  return {sample_.texts(tokenizer, rows), to_values(activations.slice(0, rows.first, rows.end)),
          static_cast<int>(row - rows.first), activations[row].item<float>()};
}

// The contexts with the highest `values`; the same tokens around the same token are shown once.
std::vector<NeuronContext> NeuronSample::contexts(const Tokenizer& tokenizer, const torch::Tensor& activations,
                                                  const torch::Tensor& values, std::size_t most) const {
  const torch::Tensor order = values.argsort(0, true);
  std::vector<NeuronContext> found;
  std::set<std::int64_t> sentences;
  std::set<std::vector<std::string>> texts;
  for (std::int64_t i = 0; i < order.size(0) && found.size() < most; ++i) {
    const auto row = order[i].item<std::int64_t>();
    if (values[row].item<float>() <= 0) break;
    if (!sentences.insert(*(std::ranges::upper_bound(sample_.sentences, row) - 1)).second) continue;
    NeuronContext next = context(tokenizer, activations, row);
    next.value = values[row].item<float>();
    if (texts.insert(next.tokens).second) found.push_back(std::move(next));
  }
  return found;
}

}  // namespace attnscope
