// The neurons command: what the hidden units of a feed-forward sublayer respond to.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "commands/commands.h"
#include "commands/interventions_text.h"
#include "commands/progress.h"
#include "compute/opening.h"
#include "engine/torch_engine.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t printed = 20;  // rows of the table

Json contexts_json(const std::vector<NeuronContext>& contexts) {
  Json list = Json::array();
  for (const NeuronContext& context : contexts)
    list.push_back({{"tokens", context.tokens},
                    {"activations", context.activations},
                    {"at", context.at},
                    {"value", context.value}});
  return list;
}

Json effects_json(const std::vector<NeuronEffect>& effects) {
  Json list = Json::array();
  for (const NeuronEffect& effect : effects) list.push_back({{"token", effect.token}, {"logit", effect.value}});
  return list;
}

Json card_json(int neuron, const NeuronCard& card) {
  Json points = Json::array();
  for (const NeuronPoint& point : card.points)
    points.push_back(
        {{"step", point.step}, {"largest", point.largest}, {"mean", point.mean}, {"active", point.active}});
  return {{"neuron", neuron},
          {"strongest", contexts_json(card.strongest)},
          {"deciles", contexts_json(card.deciles)},
          {"histogram", {{"least", card.least}, {"counts", card.histogram}}},
          {"promoted", effects_json(card.promoted)},
          {"suppressed", effects_json(card.suppressed)},
          {"nll", card.nll},
          {"zero_ablation", card.zero},
          {"mean_ablation", card.mean},
          {"loss_without", contexts_json(card.hurt)},
          {"points", points}};
}

Json json_of(const NeuronsResult& result) {
  Json json = {{"stack", result.question.place.decoder ? "decoder" : "encoder"},
               {"layer", result.question.place.layer + 1},
               {"tokens", result.tokens},
               {"sentences", result.sentences},
               {"neurons", Json::array()},
               {"card", card_json(result.question.neuron, result.card)}};
  if (result.question.dictionary)
    json["dictionary"] = {{"features", result.dictionary.features},   {"dead", result.dictionary.dead},
                          {"of", site_text(result.question.dictionary->of)},
                          {"active", result.dictionary.active},       {"unexplained", result.dictionary.unexplained},
                          {"recovered", result.dictionary.recovered}, {"sharper", result.dictionary.sharper}};
  for (const NeuronFacts& facts : result.neurons) {
    Json row = {{"largest", facts.largest}, {"mean", facts.mean},       {"active", facts.active},
                {"token", facts.token},     {"token_r", facts.token_r}, {"position_r", facts.position_r}};
    if (!facts.sense.empty()) row.update({{"sense", facts.sense}, {"sense_r", facts.sense_r}});
    if (!facts.promoted.empty()) row["promoted"] = facts.promoted;
    if (facts.duplicate >= 0) row["duplicate"] = facts.duplicate;
    json["neurons"].push_back(std::move(row));
  }
  return json;
}

void print_dictionary(const DictionaryFacts& facts) {
  fmt::print(
      "{} features, {} dead; {:.1f} active per token; {:.1f} % of the variance unexplained; {:.1f} % of the loss "
      "recovered; {:.0f} % of the features correlate more with their token than any neuron does\n",
      facts.features, facts.dead, facts.active, 100 * facts.unexplained, 100 * facts.recovered, 100 * facts.sharper);
}

const char* unit_of(const NeuronsResult& result) {
  return result.question.dictionary ? "feature" : "neuron";
}

void print_list(const NeuronsResult& result) {
  fmt::print("{} tokens of {} sentences, {} {}s; the {} with the largest activations:\n", result.tokens,
             result.sentences, result.neurons.size(), unit_of(result), std::min(printed, result.neurons.size()));
  // No stack has both: the senses known are those of the words that enter.
  const bool senses = std::ranges::any_of(result.neurons, [](const NeuronFacts& of) { return !of.sense.empty(); });
  fmt::print("{:>7} {:>9} {:>8}  {:<20} {:>6} {:>7}  {}\n", unit_of(result), "largest", "active", "token", "r",
             "pos. r", senses ? "sense, r" : "promotes");
  std::vector<std::size_t> order(result.neurons.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return result.neurons[i].largest; });
  order.resize(std::min(printed, order.size()));
  for (const std::size_t i : order) {
    const NeuronFacts& facts = result.neurons[i];
    fmt::print("{:>7} {:>9.3f} {:>7.1f}%  {:<20} {:>6.2f} {:>7.2f}  {}\n", i, facts.largest, 100 * facts.active,
               facts.token, facts.token_r, facts.position_r,
               facts.sense.empty() ? facts.promoted : fmt::format("{}, {:.2f}", facts.sense, facts.sense_r));
  }
}

void print_contexts(const char* title, const std::vector<NeuronContext>& contexts) {
  if (!contexts.empty()) fmt::print("{}\n", title);
  for (const NeuronContext& context : contexts) {
    std::vector<std::string> tokens = context.tokens;
    std::string& marked = tokens[static_cast<std::size_t>(context.at)];
    marked = "[" + marked + "]";
    fmt::print("{:>9.3f}  {}\n", context.value, fmt::join(tokens, " "));
  }
}

void print_card(const NeuronsResult& result) {
  const NeuronCard& card = result.card;
  const auto effects = [](const char* title, const std::vector<NeuronEffect>& list) {
    fmt::print("{}", title);
    for (const NeuronEffect& effect : list) fmt::print("  {} {:+.3f}", effect.token, effect.value);
    fmt::print("\n");
  };
  fmt::print("\n{} {}\n", unit_of(result), result.question.neuron);
  fmt::print("loss {:.4f} nats/token; with the activation at 0 {:+.4f}, at its mean {:+.4f}\n", card.nll, card.zero,
             card.mean);
  if (!card.promoted.empty()) effects("promotes", card.promoted);
  if (!card.suppressed.empty()) effects("suppresses", card.suppressed);
  print_contexts("strongest", card.strongest);
  print_contexts("by decile", card.deciles);
  print_contexts("loss without it", card.hurt);
  for (const NeuronPoint& point : card.points)
    fmt::print("step {:>8}: largest {:.3f}, mean {:.3f}, active {:.1f} %\n", point.step, point.largest, point.mean,
               100 * point.active);
}

Json json_of(const Carriers& carriers) {
  Json json = {{"answers", carriers.answers}, {"flipped_by_mean_vector", carriers.exact}};
  for (const Carrier& of : carriers.features)
    json["features"].push_back({{"feature", of.feature}, {"clean", of.clean}, {"corrupted", of.corrupted}});
  for (const CarriersAblated& of : carriers.ablated)
    json["ablations"].push_back(
        {{"features", of.features}, {"flipped_by_zero", of.zero}, {"flipped_by_other_mean", of.other}});
  return json;
}

void print(const Carriers& carriers, const std::string& word) {
  fmt::print("{} features at \"{}\" differ between the clean and the corrupted sentences; the {} that differ most:\n",
             carriers.features.size(), word, std::min(printed, carriers.features.size()));
  fmt::print("{:>7} {:>12} {:>15}\n", "feature", "clean, mean", "corrupted, mean");
  for (const Carrier& of : std::span(carriers.features).first(std::min(printed, carriers.features.size())))
    fmt::print("{:>7} {:>12.3f} {:>15.3f}\n", of.feature, of.clean, of.corrupted);
  const auto share = [&](int flips) {
    return fmt::format("{} of {} ({:.1f} %)", flips, carriers.answers, 100.0 * flips / carriers.answers);
  };
  fmt::print("\nanswers flipped by ablating them at \"{}\"\n{:>8}  {:<20}  {}\n", word, "features", "zero ablation",
             "set to their mean in the other sentences");
  for (const CarriersAblated& of : carriers.ablated)
    fmt::print("{:>8}  {:<20}  {}\n", of.features, share(of.zero), share(of.other));
  fmt::print("the whole vector set to its mean in the other sentences: {}\n", share(carriers.exact));
}

Json json_of(const ProbingResult& result) {
  Json json = {{"label", token_label_names[static_cast<std::size_t>(result.question.label)]},
               {"stack", result.question.decoder ? "decoder" : "encoder"},
               {"layers", result.layers},
               {"classes", Json::array()},
               {"points", Json::array()}};
  for (std::size_t i = 0; i < result.classes.size(); ++i)
    json["classes"].push_back({{"name", result.classes[i]}, {"tokens", result.counts[i]}});
  for (const ProbingPoint& point : result.points)
    json["points"].push_back({{"step", point.step}, {"accuracy", point.accuracy}, {"control", point.control}});
  return json;
}

void print(const ProbingResult& result) {
  const std::int64_t tokens = std::reduce(result.counts.begin(), result.counts.end());
  fmt::print("{} tokens, {} classes; the most frequent, {}, is {:.1f} %. Accuracy of five held-out folds, %:\n", tokens,
             result.classes.size(), result.classes.front(),
             100.0 * static_cast<double>(result.counts.front()) / static_cast<double>(tokens));
  for (const ProbingPoint& point : result.points)
    for (std::size_t i = 0; i < result.layers.size(); ++i)
      fmt::print("step {:>8}  {:<22} {:>6.1f}  control {:>6.1f}\n", point.step, result.layers[i],
                 100 * point.accuracy[i], 100 * point.control[i]);
}

int probes(TorchEngine& engine, const NeuronsOptions& options, bool decoder, ProgressLine& line) {
  const auto label = std::ranges::find(token_label_names, options.probe) - token_label_names.begin();
  const ProbingQuestion question{decoder, static_cast<TokenLabel>(label), options.word, options.over_training};
  const ProbingResult result =
      engine.probing(question, *engine.watch(), [&](double done) { line.show("Fitting the probes", done); });
  line.clear();
  if (!result.problem.empty()) throw std::runtime_error(result.problem);
  if (options.json) {
    fmt::print("{}\n", json_of(result).dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    print(result);
  }
  return 0;
}

}  // namespace

int neurons(const NeuronsOptions& options) {
  ProgressLine line;
  TorchEngine engine;
  open_run(engine, options.run, options.corpus, options.target, line);
  const ModelConfig& model = engine.config().model;
  const LayerPlace place{!options.encoder && model.has_decoder(), static_cast<int>(options.layer) - 1};
  if (!options.probe.empty()) return probes(engine, options, place.decoder, line);
  const NeuronsQuestion question{
      .place = place,
      .dictionary = options.dictionary
                        ? std::optional(DictionaryOptions{.width = static_cast<int>(options.width),
                                                          .active = static_cast<int>(options.active),
                                                          .l1 = options.l1,
                                                          .steps = static_cast<int>(options.dictionary_steps),
                                                          .of = site_from(options.of, place, model)})
                        : std::nullopt,
      .neuron = static_cast<int>(options.neuron),
      .over_training = options.over_training};
  const auto show = [&](double done) {
    line.show(options.dictionary ? "Training the dictionary" : "Measuring neurons", done);
  };
  if (options.carriers) {
    const Carriers carriers = engine.carriers(question, {options.clean, options.corrupted}, options.at, show);
    line.clear();
    if (options.json) {
      fmt::print("{}\n", json_of(carriers).dump());
    } else {
      print(carriers, options.at);
    }
    return 0;
  }
  require_corpus(engine);
  const NeuronsResult result = engine.neurons(question, *engine.watch(), show);
  line.clear();
  if (!result.problem.empty()) throw std::runtime_error(result.problem);
  if (options.neuron != result.question.neuron)
    throw std::runtime_error(fmt::format("--neuron: {}, allowed: 0 to {}", options.neuron, result.neurons.size() - 1));
  if (options.json) {
    fmt::print("{}\n", json_of(result).dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    if (options.dictionary) print_dictionary(result.dictionary);
    print_list(result);
    print_card(result);
  }
  return 0;
}

}  // namespace attnscope
