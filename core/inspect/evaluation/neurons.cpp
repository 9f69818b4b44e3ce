#include "inspect/evaluation/neurons.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/mark.h"
#include "inspect/evaluation/senses.h"
#include "inspect/probe/readout.h"
#include "inspect/probe/tensors.h"
#include "model/inspection.h"

namespace attnscope {
namespace {

constexpr std::size_t num_contexts = 8;
constexpr std::int64_t num_deciles = 10, num_bins = 24, num_effects = 8;
constexpr std::int64_t rarest = 3;       // tokens that occur less often correlate by chance
constexpr std::size_t rarest_sense = 10;
constexpr double duplicate_from = 0.99;  // correlation
constexpr std::int64_t dictionary_tokens = 32'768, dictionary_numbers = std::int64_t{1} << 25;
constexpr std::int64_t columns_at_once = 1024;             // of F×F correlations
constexpr std::int64_t logits_at_once = std::int64_t{1} << 26;  // 256 MiB

// The layer's feed-forward sublayer; null if the pass skipped it.
const SublayerTensors* feed_forward_of(const Inspection& inspection, const LayerPlace& place) {
  for (const SublayerTensors& sublayer : inspection.sublayers)
    if (sublayer.sublayer == Sublayer::feed_forward && sublayer.decoder == place.decoder &&
        sublayer.layer == place.layer)
      return &sublayer;
  return nullptr;
}

constexpr ActivationSite hidden_units{ActivationKind::hidden};

Inspection pass_for(const LayerPlace& place, const ActivationSite& of) {
  Inspection pass{.sublayers_wanted = true, .layer_wanted = place};
  if (of.kind == ActivationKind::head) pass.head_wanted = HeadPlace{part_of(place, of), place.layer, of.head};
  return pass;
}

ActivationSite site_of(const SparseDictionary* dictionary) {
  return dictionary ? dictionary->of : hidden_units;
}

// B×L×W; undefined if the pass skipped the layer.
torch::Tensor activations_in(const Inspection& pass, const LayerPlace& place, const ActivationSite& of) {
  const SublayerTensors* sublayer = feed_forward_of(pass, place);
  if (!sublayer) return {};
  if (of.kind != ActivationKind::head) return of.kind == ActivationKind::hidden ? sublayer->active : sublayer->out;
  return pass.head->heads_output.chunk(pass.head->q.size(1), -1)[static_cast<std::size_t>(of.head)];
}

torch::Tensor active_of(const Inspection& pass, const LayerPlace& place, const SparseDictionary* dictionary) {
  const torch::Tensor found = activations_in(pass, place, site_of(dictionary));
  return dictionary && found.defined() ? dictionary->encode(found) : found;
}

// N×F → each column minus its mean, divided by its norm; a column that does not vary becomes 0.
torch::Tensor standardized(const torch::Tensor& columns) {
  const torch::Tensor centered = columns - columns.mean(0, true);
  const torch::Tensor norm = centered.norm(2, 0, true);
  return torch::where(norm > 1e-6 * columns.abs().amax(0, true).clamp_min(1e-12), centered / norm.clamp_min(1e-12),
                      torch::zeros_like(centered));
}

// Per column of N×F the first earlier one that correlates by at least duplicate_from; −1: none. int64 F.
torch::Tensor earlier_duplicates(const torch::Tensor& standard, const YieldCallback& yield) {
  std::vector<torch::Tensor> found = {torch::zeros({0}, torch::kInt64)};
  for (std::int64_t begin = 0; begin < standard.size(1); begin += columns_at_once) {
    const std::int64_t end = std::min(begin + columns_at_once, standard.size(1));
    const torch::Tensor r = standard.slice(1, begin, end).t().matmul(standard.slice(1, 0, end));
    const torch::Tensor same = r.tril(begin - 1).ge(duplicate_from);
    found.push_back(torch::where(same.any(1), same.to(torch::kInt32).argmax(1), -1));
    if (yield) yield();
  }
  return torch::cat(found);
}

std::vector<std::int64_t> to_integers(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.to(torch::kInt64).contiguous();
  return {flat.data_ptr<std::int64_t>(), flat.data_ptr<std::int64_t>() + flat.numel()};
}

// −ln p of the targets, N: N×D and int64 N. A few rows at a time, because N×V may be gigabytes.
torch::Tensor target_losses(SequenceModel& model, const torch::Tensor& features, const torch::Tensor& targets) {
  const std::int64_t rows = std::max<std::int64_t>(1, logits_at_once / model.vocab_size());
  std::vector<torch::Tensor> losses = {torch::zeros({0})};
  for (std::int64_t begin = 0; begin < features.size(0); begin += rows) {
    const torch::Tensor logits = model.logits(features.slice(0, begin, begin + rows)).to(torch::kFloat32);
    const torch::Tensor wanted = logits.gather(1, targets.slice(0, begin, begin + rows).unsqueeze(1)).squeeze(1);
    losses.push_back((logits.logsumexp(1) - wanted).cpu());
  }
  return torch::cat(losses);
}

std::vector<NeuronEffect> effects(const torch::Tensor& logits, bool largest, const Tokenizer& tokenizer) {
  const auto [values, ids] = logits.topk(std::min(num_effects, logits.size(0)), 0, largest);
  std::vector<NeuronEffect> found;
  for (std::int64_t i = 0; i < ids.size(0); ++i)
    found.push_back({tokenizer.token(static_cast<int>(ids[i].item<std::int64_t>())), values[i].item<float>()});
  return found;
}

}  // namespace

std::string neurons_problem(const ModelConfig& config, const NeuronsQuestion& question) {
  const LayerPlace& place = question.place;
  const std::int64_t layers = place.decoder ? config.num_decoder_layers : config.num_encoder_layers;
  if (config.is_recurrent() || config.is_capture() || !config.has_feed_forward())
    return mark("This model has no feed-forward sublayers, so it has no neurons to list.");
  if (place.decoder && !config.has_decoder()) return mark("The model has no decoder.");
  if (!place.decoder && config.is_language_model()) return mark("The model has no encoder.");
  if (place.layer < 0 || place.layer >= layers)
    return fmt::format(mark("Layer {} does not exist; layers of the {}: {}."), place.layer + 1,
                       place.decoder ? "decoder" : "encoder", layers);
  const ActivationSite of = question.dictionary ? question.dictionary->of : hidden_units;
  if (std::ranges::count(activation_sites(config, place), of) == 0)
    return fmt::format(mark("The layer has no activations {}."), site_text(of));
  return {};
}

torch::Tensor added_rows(const SequenceModel& model, const LayerPlace& place, const ActivationSite& of) {
  if (of.kind == ActivationKind::stream) return torch::eye(model.config().d_model);
  const std::string layer = fmt::format("{}.layers.{}.", place.decoder ? "decoder" : "encoder", place.layer);
  const bool hidden = of.kind == ActivationKind::hidden;
  const std::string attention = of.cross ? "multihead_attn" : "self_attn";
  torch::Tensor rows = parameter_named(model, layer + (hidden ? "linear2" : attention + ".out_proj") + ".weight").t();
  if (!hidden)
    rows = rows.chunk(part_size(model.config(), part_of(place, of)).heads)[static_cast<std::size_t>(of.head)];
  const std::string norm = (hidden ? "feed_forward" : attention) + "_output_norm.weight";
  const torch::Tensor gain = parameter_named(model, layer + norm);
  return gain.defined() ? rows * gain : rows;
}

torch::Tensor written_rows(const SequenceModel& model, const LayerPlace& place, const SparseDictionary* dictionary) {
  const torch::Tensor rows = added_rows(model, place, site_of(dictionary));
  return dictionary ? dictionary->w_dec.cpu().matmul(rows) : rows;
}

TokenSample activation_sample(SequenceModel& model, const std::vector<Batch>& batches, const LayerPlace& place,
                              const ActivationSite& of, const YieldCallback& yield) {
  const std::int64_t most = std::min(dictionary_tokens, dictionary_numbers / added_rows(model, place, of).size(0));
  return TokenSample(
      model, batches, place.decoder, pass_for(place, of),
      [&](const Inspection& pass) { return activations_in(pass, place, of); }, yield, most);
}

Matrix sentence_features(SequenceModel& model, const Snapshot& snapshot, const LayerPlace& place,
                         const SparseDictionary& dictionary) {
  const torch::NoGradGuard no_gradients;
  Inspection inspection = pass_for(place, dictionary.of);
  inspection.interventions = &snapshot.interventions;
  const auto ids = [&](const std::vector<Token>& tokens) { return ids_tensor(ids_of(tokens), model.device()); };
  const Memory memory = snapshot.source.empty() ? Memory() : model.encode(ids(snapshot.source), {}, &inspection);
  if (place.decoder) model.decode(ids(snapshot.target_in), memory, nullptr, &inspection);
  const torch::Tensor active = active_of(inspection, place, &dictionary);  // 1×L×M
  return active.defined() ? to_matrix(active[0]) : Matrix();
}

NeuronSample::NeuronSample(SequenceModel& model, const std::vector<Batch>& batches, const LayerPlace& place,
                           std::shared_ptr<const SparseDictionary> dictionary, const YieldCallback& yield)
    : place_(place),
      dictionary_(std::move(dictionary)),
      has_signs_(!dictionary_ && model.config().is_gated()),
      sample_(
          model, batches, place.decoder, pass_for(place, site_of(dictionary_.get())),
          [&](const Inspection& inspection) { return active_of(inspection, place, dictionary_.get()); }, yield) {}

torch::Tensor NeuronSample::strength(const torch::Tensor& activations) const {
  return has_signs_ ? activations.abs() : activations;
}

// Pearson's r of every distinct token's presence with every neuron, U×F; −2 for rare tokens: the mean over the token's
// occurrences, in standard deviations, times √(n / (N − n)).
torch::Tensor NeuronSample::correlations(const torch::Tensor& standard, const torch::Tensor& inverse,
                                         const torch::Tensor& counts) const {
  const torch::Tensor sums = torch::zeros({counts.size(0), standard.size(1)}).index_add(0, inverse, standard);
  const torch::Tensor n = counts.to(torch::kFloat32).unsqueeze(1);
  const auto all = static_cast<double>(tokens());
  return (sums * (all / (n * (all - n).clamp_min(1))).sqrt()).masked_fill(n < rarest, -2);
}

// Among the occurrences of each word, the correlation with the presence of each of its senses.
void NeuronSample::add_senses(const std::vector<std::string>& senses, std::vector<NeuronFacts>& facts) const {
  std::map<std::string, std::map<std::string, std::vector<std::int64_t>>> words;
  for (std::size_t row = 0; row < senses.size(); ++row)
    if (!senses[row].empty())
      words[senses[row].substr(0, senses[row].find(':'))][senses[row]].push_back(static_cast<std::int64_t>(row));
  for (auto& [word, rows_of] : words) {
    std::erase_if(rows_of, [](const auto& sense) { return sense.second.size() < rarest_sense; });
    if (rows_of.size() < 2) continue;
    std::vector<std::int64_t> all;
    for (const auto& [sense, rows] : rows_of) all.insert(all.end(), rows.begin(), rows.end());
    const torch::Tensor row_of = torch::tensor(all), here = standardized(sample_.values.index_select(0, row_of));
    std::int64_t begin = 0;
    for (const auto& [sense, rows] : rows_of) {
      torch::Tensor present = torch::zeros({row_of.size(0), 1});
      present.slice(0, begin, begin + std::ssize(rows)).fill_(1);
      begin += std::ssize(rows);
      const std::vector<float> r = to_values(standardized(present).t().matmul(here));
      for (std::size_t i = 0; i < facts.size(); ++i)
        if (r[i] > facts[i].sense_r) facts[i].sense = sense, facts[i].sense_r = r[i];
    }
  }
}

std::vector<NeuronFacts> NeuronSample::facts(const SequenceModel& model, const Tokenizer& tokenizer,
                                             const PairList& pairs, const YieldCallback& yield) const {
  std::vector<NeuronFacts> facts(static_cast<std::size_t>(sample_.values.size(1)));
  if (tokens() == 0) return facts;
  const torch::Tensor standard = standardized(sample_.values);
  const auto [distinct, inverse, counts] = torch::_unique2(sample_.ids, true, true, true);
  const auto [r, row] = correlations(standard, inverse, counts).max(0);
  const torch::Tensor positions = standardized(sample_.positions.to(torch::kFloat32).unsqueeze(1));
  const std::vector<float> largest = to_values(strength(sample_.values).amax(0)),
                           mean = to_values(sample_.values.mean(0)),
                           active = to_values(sample_.values.gt(0).to(torch::kFloat32).mean(0)), token_r = to_values(r),
                           position_r = to_values(positions.t().matmul(standard));
  const std::vector<std::int64_t> token = to_integers(distinct.index_select(0, row)),
                                  duplicate = to_integers(earlier_duplicates(standard, yield));
  std::vector<std::int64_t> promoted;
  if (const torch::Tensor read = readout(model, place_.decoder); read.defined())
    promoted = to_integers(written_rows(model, place_, dictionary_.get()).matmul(read.t()).argmax(1));
  for (std::size_t i = 0; i < facts.size(); ++i) {
    facts[i] = {.largest = largest[i],
                .mean = mean[i],
                .active = active[i],
                .token = token_r[i] > 0 ? tokenizer.token(static_cast<int>(token[i])) : "",
                .token_r = std::max(0.0F, token_r[i]),
                .position_r = position_r[i],
                .promoted = promoted.empty() ? "" : tokenizer.token(static_cast<int>(promoted[i])),
                .duplicate = static_cast<int>(duplicate[i])};
  }
  if (!place_.decoder && !pairs.empty()) add_senses(token_senses(sample_, tokenizer, pairs), facts);
  return facts;
}

// A pass in which the neuron has that activation at every token.
Inspection NeuronSample::held(int neuron, double activation) const {
  const auto change = [this, neuron, activation](const torch::Tensor& x) {
    if (!dictionary_) return x.index_fill(-1, torch::full({1}, neuron, x.options().dtype(torch::kInt64)), activation);
    const torch::Tensor now = dictionary_->encode(x).select(-1, neuron).unsqueeze(-1);
    return x + (activation - now) * dictionary_->w_dec[neuron];
  };
  return {.changes = {{place_, change, site_of(dictionary_.get())}}};
}

// Per target of the sample, its loss.
torch::Tensor NeuronSample::losses(SequenceModel& model, const Inspection& changed, const YieldCallback& yield) const {
  std::vector<torch::Tensor> losses;
  for (const Batch& batch : sample_.batches) {
    Inspection inspection = changed;
    const torch::Tensor features = features_of(model, batch, inspection);
    const torch::Tensor kept = target_positions(batch, model.config());
    losses.push_back(target_losses(model, features.index({kept}), batch.target_out.index({kept})));
    if (yield) yield();
  }
  return torch::cat(losses);
}

DictionaryFacts NeuronSample::dictionary_facts(SequenceModel& model, const NeuronSample& neurons, double nll,
                                               const YieldCallback& yield) const {
  const torch::NoGradGuard no_gradients;
  const torch::Tensor& features = sample_.values;
  const torch::Tensor live = features.amax(0).gt(0);
  const auto num_live = live.sum().item<std::int64_t>();
  DictionaryFacts facts{.features = static_cast<int>(features.size(1)),
                        .dead = static_cast<int>(features.size(1) - num_live)};
  facts.active = features.gt(0).sum(1).to(torch::kFloat64).mean().item<double>();
  const torch::Tensor outputs = activation_sample(model, sample_.batches, place_, dictionary_->of, yield).values,
                      mean = outputs.mean(0);
  const SparseDictionary here = dictionary_->to(torch::kCPU);
  const double variance = (outputs - mean).square().sum().item<double>();
  const double error = (outputs - here.decode(here.encode(outputs))).square().sum().item<double>();
  facts.unexplained = variance > 0 ? error / variance : 0;
  const auto loss = [&](const std::function<torch::Tensor(const torch::Tensor&)>& change) {
    return losses(model, {.changes = {{place_, change, dictionary_->of}}}, yield).mean().item<double>();
  };
  const double rebuilt =
      loss([&](const torch::Tensor& x) { return dictionary_->decode(dictionary_->encode(x)); });
  const double ablated =
      loss([&](const torch::Tensor& x) { return mean.to(x.device(), x.scalar_type()).expand_as(x); });
  facts.recovered = ablated > nll ? (ablated - rebuilt) / (ablated - nll) : 0;
  const auto [distinct, inverse, counts] = torch::_unique2(sample_.ids, true, true, true);
  const torch::Tensor of_neurons =
      std::get<0>(neurons.correlations(standardized(neurons.sample_.values), inverse, counts).max(1));
  const auto [r, token] = correlations(standardized(features), inverse, counts).max(0);
  const torch::Tensor sharper = r.gt(of_neurons.index_select(0, token)).logical_and(live);
  facts.sharper = num_live > 0 ? sharper.sum().item<double>() / static_cast<double>(num_live) : 0;
  return facts;
}

NeuronCard NeuronSample::card(SequenceModel& model, const Tokenizer& tokenizer, int neuron,
                              const YieldCallback& yield) const {
  const torch::NoGradGuard no_gradients;
  NeuronCard card;
  if (tokens() == 0) return card;
  const torch::Tensor values = sample_.values.select(1, neuron).contiguous();
  const torch::Tensor strong = strength(values);
  card.strongest = contexts(tokenizer, values, strong, num_contexts);
  // Only of the tokens on which it is active: sparse neurons are 0 almost everywhere.
  const torch::Tensor order = strong.argsort().slice(0, strong.le(0).sum().item<std::int64_t>());
  for (std::int64_t i = 0; i < num_deciles && order.size(0) > 0; ++i) {
    const std::int64_t row = (2 * i + 1) * (order.size(0) - 1) / (2 * num_deciles);
    card.deciles.push_back(context(tokenizer, values, order[row].item<std::int64_t>()));
  }
  card.least = values.min().item<float>();
  const float largest = strong.max().item<float>();
  card.histogram = to_values(largest > card.least ? torch::histc(values, num_bins, card.least, largest)
                                                  : torch::full({1}, static_cast<float>(tokens())));
  const torch::Tensor written = written_rows(model, place_, dictionary_.get())[neuron];
  card.direction = to_values(written);
  if (const torch::Tensor read = readout(model, place_.decoder); read.defined()) {
    const torch::Tensor logits = read.mv(written);
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
  return {step, strength(values).max().item<double>(), values.mean().item<double>(),
          values.gt(0).to(torch::kFloat64).mean().item<double>()};
}

NeuronContext NeuronSample::context(const Tokenizer& tokenizer, const torch::Tensor& activations,
                                    std::int64_t row) const {
  const TokenSample::Rows rows = sample_.around(row);
  return {sample_.texts(tokenizer, rows), to_values(activations.slice(0, rows.first, rows.end)),
          static_cast<int>(row - rows.first), activations[row].item<float>()};
}

// The contexts with the highest `values` above 0; the same tokens around the same token are shown once.
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
