// The heads command: the loss increase on the validation part when each head is ablated, and for a decoder-only model
// the induction scores.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>

#include "analysis/head_agreement.h"
#include "commands/commands.h"
#include "compute/opening.h"
#include "commands/progress.h"
#include "engine/torch_engine.h"

namespace attnscope {
namespace {

nlohmann::ordered_json place_json(const HeadPlace& place) {
  return {{"part", part_name(place.part)}, {"layer", place.layer + 1}, {"head", place.head + 1}};
}

void add_scores(nlohmann::ordered_json& json, const HeadInduction& head) {
  json["previous_token_score"] = head.previous;
  json["induction_score"] = head.induction;
  json["first_token_score"] = head.first;
  json["copying_score"] = head.copying;
}

nlohmann::ordered_json trial_json(const InductionTrial& trial) {
  nlohmann::ordered_json json = {{"accuracy", trial.accuracy}, {"nll", trial.nll}};
  for (const HeadPlace& place : trial.heads_off) json["heads_off"].push_back(place_json(place));
  return json;
}

void add_trials(nlohmann::ordered_json& json, const InductionResult& result) {
  json["induction"]["first_token_masked"] = trial_json(result.first_masked);
  if (result.without_induction.heads_off.empty()) return;
  json["induction"]["without_induction_heads"] = trial_json(result.without_induction);
  json["induction"]["without_as_many_others"] = trial_json(result.without_others);
}

// The entries of a HeadsResult are in the same order.
void add_induction(nlohmann::ordered_json& json, const InductionPoint& point) {
  json["induction"] = {{"accuracy", point.accuracy}, {"nll", point.nll}, {"in_context_score", point.in_context}};
  nlohmann::ordered_json& heads = json["heads"];
  if (heads.is_null()) {
    for (const HeadInduction& head : point.heads) heads.push_back(place_json(head.place));
  }
  for (std::size_t i = 0; i < point.heads.size(); ++i) add_scores(heads[i], point.heads[i]);
}

nlohmann::ordered_json rows_json(const Matrix& matrix) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (int row = 0; row < matrix.rows; ++row) {
    const auto begin = matrix.values.begin() + static_cast<std::ptrdiff_t>(row) * matrix.cols;
    rows.push_back(std::vector<float>(begin, begin + matrix.cols));
  }
  return rows;
}

void print(const InductionPoint& point, const ModelConfig& model) {
  fmt::print(
      "on random repeated tokens: {:.1f} % of the repeated ones predicted, {:.3f} nats; in-context score {:+.3f}\n",
      100 * point.accuracy, point.nll, point.in_context);
  for (const HeadInduction& head : point.heads)
    fmt::print("  {:<14} previous token {:.3f}   induction {:.3f}   first token {:.3f}   copying {:+.3f}\n",
               head_name(head.place, model), head.previous, head.induction, head.first, head.copying);
}

void print(const InductionResult& result, const ModelConfig& model) {
  print(result.points.back(), model);
  const auto line = [&](const char* change, const InductionTrial& trial) {
    fmt::print("{}{}: {:.1f} % of the repeated ones predicted, {:.3f} nats\n", change,
               fmt::join(trial.heads_off |
                             std::views::transform([&](const HeadPlace& place) { return head_name(place, model); }),
                         ", "),
               100 * trial.accuracy, trial.nll);
  };
  line("first token masked", result.first_masked);
  if (result.without_induction.heads_off.empty()) return;
  line("without the induction heads, ", result.without_induction);
  line("without as many others, ", result.without_others);
}

nlohmann::ordered_json to_json(const HeadsResult& inspection, bool with_fast) {
  nlohmann::ordered_json json = {{"tokens", inspection.tokens}, {"nll", inspection.nll}};
  if (inspection.first_masked_nll) json["first_token_masked_nll"] = *inspection.first_masked_nll;
  if (with_fast) json["agreement"] = agreement(inspection);
  json["heads"] = json["pruning"] = nlohmann::ordered_json::array();
  for (const HeadImportance& head : inspection.heads) {
    nlohmann::ordered_json of = place_json(head.place);
    of["exact"] = head.exact;
    if (with_fast) of["fast"] = head.fast;
    if (inspection.first_masked_nll) of["first_token_share"] = head.first;
    json["heads"].push_back(std::move(of));
  }
  for (std::size_t i = 0; i < inspection.pruning.size(); ++i) {
    nlohmann::ordered_json point = {{"heads_left", inspection.pruning[i].heads_left},
                                    {"nll", inspection.pruning[i].nll}};
    if (i > 0) point["off"] = place_json(inspection.pruning[i].off);
    json["pruning"].push_back(std::move(point));
  }
  return json;
}

void print(const HeadsResult& inspection, const ModelConfig& model) {
  fmt::print("{} held-out tokens, {:.4f} nats per token with all heads\n", inspection.tokens, inspection.nll);
  for (const HeadImportance& head : inspection.heads)
    fmt::print("  without {:<14} {:+.4f} nats/token   E|∂L/∂ξ| {:.4f} nats/sentence{}\n", head_name(head.place, model),
               head.exact, head.fast,
               inspection.first_masked_nll ? fmt::format("   first token {:.3f}", head.first) : "");
  if (inspection.first_masked_nll)
    fmt::print("first token masked: {:.4f} nats per token\n", *inspection.first_masked_nll);
  fmt::print("rank correlation of the two measures: {:.2f} (Spearman)\npruning, least important head first:\n",
             agreement(inspection));
  for (std::size_t i = 0; i < inspection.pruning.size(); ++i)
    fmt::print("  {:3} heads left  {:.4f} nats/token{}\n", inspection.pruning[i].heads_left, inspection.pruning[i].nll,
               i == 0 ? "" : ", without " + head_name(inspection.pruning[i].off, model));
}

// One column per recorded step.
void print(const HeadsHistory& history, const ModelConfig& model) {
  const auto row = [&](const std::string& name, const auto& number) {
    fmt::print("{:<16}", name);
    for (const HeadsPoint& point : history.points) fmt::print(" {:>9}", number(point));
    fmt::print("\n");
  };
  row("step", [](const HeadsPoint& point) { return std::to_string(point.step); });
  row("nats/token", [](const HeadsPoint& point) { return fmt::format("{:.4f}", point.inspection.nll); });
  const std::vector<HeadImportance>& heads = history.points.back().inspection.heads;
  for (std::size_t i = 0; i < heads.size(); ++i)
    row("- " + head_name(heads[i].place, model),
        [&](const HeadsPoint& point) { return fmt::format("{:+.4f}", point.inspection.heads[i].exact); });
}

void print_history(TorchEngine& engine, const HeadsOptions& options, ProgressLine& line) {
  const auto show = [&](double fraction) { line.show("Ablating heads at the recorded steps", fraction); };
  const HeadsHistory history = engine.heads_history(show);
  const InductionResult induction = engine.induction({.over_training = true}, *engine.watch(), show);
  line.clear();
  if (!history.problem.empty()) throw std::runtime_error(history.problem);
  if (!options.json) return print(history, engine.config().model);
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const HeadsPoint& point : history.points) {
    steps.push_back(to_json(point.inspection, false));
    steps.back()["step"] = point.step;
    const auto same = std::ranges::find(induction.points, point.step, &InductionPoint::step);
    if (same != induction.points.end()) add_induction(steps.back(), *same);
  }
  fmt::print("{}\n", steps.dump());
}

}  // namespace

int heads(const HeadsOptions& options) {
  if (!options.capture.empty()) return heads_capture(options);
  ProgressLine line;
  TorchEngine engine;
  open_run(engine, options.run, options.corpus, options.target, line, options.step);
  if (!engine.config().model.is_language_model()) require_corpus(engine);  // induction is measured without one
  if (options.recorded) {
    print_history(engine, options, line);
    return 0;
  }
  const auto show = [&](double fraction) { line.show("Ablating heads", fraction); };
  const InductionResult induction = engine.induction({}, *engine.watch(), show);
  const bool ablates = induction.points.empty() || !engine.config().corpus.source.empty();
  const HeadsResult inspection = ablates ? engine.heads(engine.model(), show) : HeadsResult();
  line.clear();
  if (!inspection.problem.empty()) throw std::runtime_error(inspection.problem);
  nlohmann::ordered_json json = ablates ? to_json(inspection, true) : nlohmann::ordered_json::object();
  if (!induction.points.empty()) {
    add_induction(json, induction.points.back());
    add_trials(json, induction);
  }
  if (const Composition& composition = induction.composition; !composition.q.empty()) {
    json["composition"] = {
        {"q", rows_json(composition.q)}, {"k", rows_json(composition.k)}, {"v", rows_json(composition.v)}};
  }
  if (options.json) {
    fmt::print("{}\n", json.dump());
    return 0;
  }
  if (ablates) print(inspection, engine.config().model);
  if (!induction.points.empty()) print(induction, engine.config().model);
  return 0;
}

}  // namespace attnscope
