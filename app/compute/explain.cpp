// The explain command: which parts of a model carry the difference between two sentences.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "commands/attention_json.h"
#include "commands/commands.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "common/split.h"
#include "compute/circuit_json.h"
#include "compute/explain_attribution.h"
#include "compute/opening.h"
#include "config/config.h"
#include "engine/torch_engine.h"
#include "inspect/circuit/corpus_contrasts.h"
#include "inspect/circuit/score_split.h"
#include "inspect/circuit/search.h"
#include "inspect/circuit/sweep.h"

namespace attnscope {
namespace {

std::vector<std::string> words_between(const std::string& text) {
  if (text.empty()) return {};
  const auto [one, two] = halves(text, ",");
  if (one.empty() || two.empty())
    throw ConfigError(fmt::format("--between: \"{}\" does not have the form WORD,WORD", text));
  return {std::string(one), std::string(two)};
}

// The slots of the words with this name; at least one must exist.
std::vector<int> slots_named(const ContrastFacts& facts, const std::string& text, const char* option) {
  std::vector<int> slots;
  for (const std::string_view name : split(text, ",")) {
    const std::size_t before = slots.size();
    for (std::size_t i = 0; i < facts.words.size(); ++i)
      if (facts.words[i].name == name) slots.push_back(static_cast<int>(i));
    if (slots.size() == before) throw ConfigError(fmt::format("{}: the sentence has no word \"{}\"", option, name));
  }
  return slots;
}

// The words of --exchange; empty: those of the circuit.
std::vector<int> swapped_words(const ContrastFacts& facts, const std::string& text) {
  if (text.empty()) return {};
  std::vector<int> slots = slots_named(facts, text, "--exchange");
  if (slots.size() != 2) {
    throw ConfigError(fmt::format(
        "--exchange: \"{}\" does not have the form WORD,WORD, with words that occur once in the sentence", text));
  }
  return slots;
}

// The words of --score; empty without the option.
std::vector<int> scored_words(const ContrastFacts& facts, const std::string& text) {
  if (text.empty()) return {};
  if (facts.recurrent) throw ConfigError("--score: a recurrent network has no heads with scores to decompose");
  std::vector<int> slots = slots_named(facts, text, "--score");
  if (slots.size() != 2 && slots.size() != 3) {
    throw ConfigError(fmt::format(
        "--score: \"{}\" does not have the form FROM,TO or FROM,TO,OTHER, with words that occur once in the sentence",
        text));
  }
  return slots;
}

std::vector<ContrastQuestion> pairs_in(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw ConfigError(fmt::format("--pairs: cannot read {}", path));
  std::vector<ContrastQuestion> pairs;
  for (std::string line; std::getline(in, line);) {
    const auto [clean, corrupted] = halves(line, "\t");
    if (!clean.empty()) pairs.push_back({std::string(clean), std::string(corrupted), {}});
  }
  return pairs;
}

// How a pair is counted.
std::string distinguished_means(const ContrastFacts& facts) {
  const std::string difference =
      fmt::format("log p({}) − log p({})", without_mark(facts.a.text), without_mark(facts.b.text));
  return fmt::format(
      "A pair counts as distinguished if {} is at least {} nats for the clean sentence and at most −{} nats for the "
      "corrupted one.",
      difference, least_margin, least_margin);
}

// Many pairs of one kind, with or without the given pair.
CorpusCases counted_over(TorchEngine& engine, const ExplainOptions& options, const ContrastQuestion& question,
                         const ContrastFacts& facts, ProgressLine& line) {
  std::vector<ContrastQuestion> contrasts;
  if (!options.pairs.empty()) {
    contrasts = pairs_in(options.pairs);
  } else {
    if (!engine.corpus())
      throw std::runtime_error("the run's corpus is no longer available: pass the pairs with --pairs");
    contrasts = contrasts_like(*engine.corpus(), question);
  }
  CorpusCases found = cases_like(engine.model(), engine.tokenizer(), facts, contrasts,
                                 [&](double fraction) { line.show("Running the model on the pairs", fraction); });
  if (found.cases.empty()) {
    throw NoDifference(fmt::format("No circuit found: the model distinguishes none of {} similar pairs. {}",
                                   found.tried, distinguished_means(facts)));
  }
  return found;
}

std::string tally_text(const Tally& tally) {
  return fmt::format("{:.3f} of the effect, flips {} of {}", tally.share(), tally.turned(), 2 * tally.cases);
}

void print_edge(const Circuit& circuit, const CircuitEdge& edge) {
  std::vector<std::string> members;
  const bool of_words = edge.part == circuit.reader;
  for (const HeadRow& member : edge.members) {
    const std::string at = of_words ? circuit.slots[static_cast<std::size_t>(member.slot)]
                                    : std::string(member.slot == 0 ? "the step" : "earlier");
    members.push_back(fmt::format("head {} at {}", member.head + 1, at));
  }
  fmt::print("{} layer {}: {} {}\n    {}; all heads of the layer: {}\n", part_name(edge.part), edge.layer + 1,
             fmt::join(members, ", "),
             edge.kind == ChangeKind::exchange ? "— attention weights swapped between " + words_text(circuit, edge.read)
             : edge.read.empty()               ? std::string()
                                               : "— attends to " + words_text(circuit, edge.read),
             tally_text(edge.together), tally_text(edge.all));
  for (const Way& way : edge.ways) {
    if (way.kind == edge.kind) continue;
    const std::string name = way.kind == ChangeKind::zero   ? "zero ablation"
                             : way.kind == ChangeKind::mean ? "mean ablation"
                             : way.kind == ChangeKind::contrast
                                 ? "patched from the other sentence"
                                 : "attention weights swapped between " + words_text(circuit, way.words);
    fmt::print("    {}: {}\n", name, tally_text(way.tally));
  }
  if (const std::string why = why_not_one(edge); !why.empty()) fmt::print("    {}\n", why);
}

// For every input head of the circuit, without duplicates.
std::vector<ScoreSplit> scores_of(const ContrastRuns& runs, const Circuit& circuit, const ContrastQuestion& question,
                                  const std::vector<int>& slots) {
  std::vector<ScoreSplit> splits;
  for (const CircuitEdge& edge : circuit.edges) {
    if (edge.part != circuit.reader) continue;
    for (const int head : edge.heads()) {
      const int other = slots.size() == 3 ? slots[2] : -1;
      splits.push_back(
          split_score(runs, {question, ContrastSide::clean, {edge.part, edge.layer, head}, slots[0], slots[1], other}));
    }
  }
  return splits;
}

void print_score(const ScoreSplit& split) {
  const HeadPlace& place = split.question.place;
  fmt::print("{} {}: ", part_name(place.part), layer_and_head(place.layer, place.head));
  fmt::print("score {:.3f} is the sum of\n{:>16}", split.score, "query \\ key");
  for (const std::string& part : split.key_parts) fmt::print("  {:>14}", part);
  fmt::print("\n");
  for (int row = 0; row < split.terms.rows; ++row) {
    fmt::print("{:>16}", split.parts[static_cast<std::size_t>(row)]);
    for (int col = 0; col < split.terms.cols; ++col) fmt::print("  {:14.3f}", split.terms.at(row, col));
    fmt::print("\n");
  }
}

void print_circuit(const Circuit& circuit) {
  fmt::print("over {} {}, in both directions (denoising and noising)\n", circuit.pairs,
             circuit.pairs == 1 ? "pair" : "pairs");
  if (!circuit.problem.empty()) fmt::print("{}\n", circuit.problem);
  for (const Place& place : circuit.places) {
    fmt::print("position after layer {}: {} — {}; all other positions {:.3f}\n", place.layer,
               words_text(circuit, place.slots), tally_text(place.together), place.rest.share());
  }
  for (const CircuitEdge& edge : circuit.edges) print_edge(circuit, edge);
  for (const Decoy& decoy : circuit.decoys) {
    fmt::print("decoy: {} layer {} head {} attends from {} to {} (weight {:.2f}, for the other sentence {:.2f}) — {}\n",
               part_name(decoy.place.part), decoy.place.layer + 1, decoy.place.head + 1,
               words_text(circuit, {decoy.from}), words_text(circuit, {decoy.to}), decoy.weight, decoy.corrupted_weight,
               tally_text(decoy.effect));
  }
}

void print_facts(const ContrastFacts& facts) {
  for (const ContrastRun* run : {&facts.clean, &facts.corrupted})
    fmt::print("{}\n  → {}\n  log p({}) − log p({}) = {:.4f}\n", run->text, run->output, without_mark(facts.a.text),
               without_mark(facts.b.text), run->margin);
}

// The figures of one pair: each sentence's margin of its own answer under every change, then attention weights.
void print_margins(const nlohmann::ordered_json& figures, const ContrastFacts& facts) {
  const std::string_view a = without_mark(facts.a.text), b = without_mark(facts.b.text);
  fmt::print("margin in nats under each change; clean: log p({0}) − log p({1}), corrupted: log p({1}) − log p({0})\n",
             a, b);
  fmt::print("{:48} {:>10} {:>10}\n", "", "clean", "corrupted");
  for (const auto& [group, values] : figures.at("clean").items()) {
    fmt::print("  {}\n", group == "weights" ? "attention weights without a change" : group);
    for (const auto& [name, value] : values.items())
      fmt::print("    {:44} {:10.3f} {:10.3f}\n", name, value.get<double>(),
                 figures.at("corrupted").at(group).at(name).get<double>());
  }
}

// The figures of many pairs: the effect of every change.
void print_effects(const nlohmann::ordered_json& figures) {
  for (const auto& [group, values] : figures.items()) {
    fmt::print("  {}\n", group);
    for (const auto& [name, tally] : values.items())
      fmt::print("    {:44} {:.3f} of the effect, flips {} of {}\n", name, tally.at("share").get<double>(),
                 tally.at("flipped").get<int>(), tally.at("of").get<int>());
  }
}

void print_figures(const nlohmann::ordered_json& json, bool one_pair, const ContrastFacts& facts) {
  if (!json.contains("figures")) {
    fmt::print("no words to patch: the circuit has none, name them with --at\n");
  } else if (one_pair) {
    print_margins(json["figures"], facts);
  } else {
    print_effects(json["figures"]);
  }
}

void print_formation(const Formation& formation, const ContrastFacts& facts) {
  fmt::print("effect by step, in nats of log p({}) − log p({}):\n{:>8}  {:>10}", without_mark(facts.a.text),
             without_mark(facts.b.text), "", "difference");
  const Circuit& circuit = formation.of;
  if (!circuit.places.empty()) fmt::print("  {:>10}", "position");
  for (const CircuitEdge& edge : circuit.edges)
    fmt::print("  {:>10}", fmt::format("{} {}", part_name(edge.part), edge.layer + 1));
  fmt::print("\n");
  for (const FormationPoint& point : formation.points) {
    fmt::print("{:8}  {:10.2f}", point.step, point.difference);
    for (const double moved : point.moved) fmt::print("  {:10.2f}", moved);
    fmt::print("\n");
  }
}

void print_explanation(const ExplainOptions& options) {
  const ContrastQuestion question{options.clean, options.corrupted, words_between(options.between)};
  ProgressLine line;
  TorchEngine engine;
  open_run(engine, options.run, line, options.step);
  const auto show = [&](double fraction) { line.show("Searching for the circuit", fraction); };
  const auto runs = std::make_shared<const ContrastRuns>(engine.model(), engine.tokenizer(), question);
  const ContrastFacts& facts = runs->facts();
  const std::vector<int> patched = options.at.empty() ? std::vector<int>() : slots_named(facts, options.at, "--at");
  const std::vector<int> swapped = swapped_words(facts, options.exchange);
  const std::vector<int> scored = scored_words(facts, options.score);
  if (!options.json) print_facts(facts);
  nlohmann::ordered_json json = facts_json(facts);
  json["step"] = engine.steps_done();

  const bool over_many = options.corpus || !options.pairs.empty();
  std::vector<ContrastCase> cases;
  if (over_many) {
    CorpusCases found = counted_over(engine, options, question, facts, line);
    json["pairs"] = pairs_json(found);
    if (!options.json)
      fmt::print("the model distinguishes {} of {} pairs. {}\n", found.cases.size(), found.tried,
                 distinguished_means(facts));
    cases = std::move(found.cases);
  } else {
    cases = {case_of(runs)};
    json["sweeps"] = {{"denoising", sweep_json(sweep(*runs, ContrastSide::corrupted, ChangeKind::contrast))},
                      {"noising", sweep_json(sweep(*runs, ContrastSide::clean, ChangeKind::contrast))},
                      {"zero", sweep_json(sweep(*runs, ContrastSide::clean, ChangeKind::zero))},
                      {"mean", sweep_json(sweep(*runs, ContrastSide::clean, ChangeKind::mean))}};
  }
  const Circuit circuit = find_circuit(cases, show);
  json["circuit"] = circuit_json(circuit);
  std::vector<int> at = patched;
  if (at.empty() && !circuit.places.empty()) at = circuit.places.back().slots;
  const std::vector<int> exchanged = swapped.empty() ? circuit.exchanged : swapped;
  if (!over_many && options.json) {
    json["paths"] = paths_json(cases.front(), circuit);
    if (exchanged.size() == 2) json["swap"] = exchange_json(cases.front(), exchanged);
  }
  if (!at.empty()) json["figures"] = figures_json(cases, at, exchanged);
  std::vector<ScoreSplit> scores;
  if (!scored.empty()) scores = scores_of(*runs, circuit, question, scored);
  for (const ScoreSplit& split : scores) json["scores"].push_back(score_json(split, facts));
  std::optional<Formation> formation;
  if (options.formation) {
    formation = engine.formation({question, facts, circuit},
                                 [&](double fraction) { line.show("Evaluating the recorded steps", fraction); });
    json["formation"] = formation_json(*formation);
  }
  line.clear();
  if (options.json) {
    fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    print_circuit(circuit);
    if (!over_many && !tells_apart(facts)) fmt::print("{}\n", distinguished_means(facts));
    if (!patched.empty() || !swapped.empty()) print_figures(json, cases.size() == 1, facts);
    for (const ScoreSplit& split : scores) print_score(split);
    if (formation) print_formation(*formation, facts);
  }
}

// Says which sentences were compared, if the user chose none.
std::string sentences_by_default(const ExplainOptions& options) {
  const ExplainOptions by_default;
  if (!options.pairs.empty() || options.clean != by_default.clean || options.corrupted != by_default.corrupted)
    return "";
  return fmt::format("\nThe sentences are “{}” and “{}”; choose others with --clean and --corrupted", options.clean,
                     options.corrupted);
}

}  // namespace

int explain(const ExplainOptions& options) {
  if (options.attribution) {
    print_attribution(options);
    return 0;
  }
  try {
    print_explanation(options);
  } catch (const NoDifference& found) {
    const std::string problem = fmt::format("{}{}", found.what(), sentences_by_default(options));
    if (options.json) {
      fmt::print("{}\n", json_line({{"circuit", {{"problem", problem}}}}));
    } else {
      fmt::print("{}\n", problem);
    }
  } catch (const NotContrasting& error) {
    throw NotContrasting(error.what() + sentences_by_default(options));
  }
  return 0;
}

}  // namespace attnscope
