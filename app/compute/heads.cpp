// The heads command: the loss increase on the validation part when each head is ablated.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

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

nlohmann::ordered_json to_json(const HeadsResult& inspection, bool with_fast) {
  nlohmann::ordered_json json = {{"tokens", inspection.tokens}, {"nll", inspection.nll}};
  if (with_fast) json["agreement"] = agreement(inspection);
  json["heads"] = json["pruning"] = nlohmann::ordered_json::array();
  for (const HeadImportance& head : inspection.heads) {
    nlohmann::ordered_json of = place_json(head.place);
    of["exact"] = head.exact;
    if (with_fast) of["fast"] = head.fast;
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
    fmt::print("  without {:<14} {:+.4f} nats/token   E|∂L/∂ξ| {:.4f} nats/sentence\n", head_name(head.place, model),
               head.exact, head.fast);
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
  const HeadsHistory history =
      engine.heads_history([&](double fraction) { line.show("Ablating heads at the recorded steps", fraction); });
  line.clear();
  if (!history.problem.empty()) throw std::runtime_error(history.problem);
  if (!options.json) return print(history, engine.config().model);
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const HeadsPoint& point : history.points) {
    steps.push_back(to_json(point.inspection, false));
    steps.back()["step"] = point.step;
  }
  fmt::print("{}\n", steps.dump());
}

}  // namespace

int heads(const HeadsOptions& options) {
  if (!options.capture.empty()) return heads_capture(options);
  ProgressLine line;
  TorchEngine engine;
  open_run(engine, options.run, line, options.step);
  if (options.recorded) {
    print_history(engine, options, line);
    return 0;
  }
  const HeadsResult inspection =
      engine.heads(engine.model(), [&](double fraction) { line.show("Ablating heads", fraction); });
  line.clear();
  if (!inspection.problem.empty()) throw std::runtime_error(inspection.problem);
  if (options.json) {
    fmt::print("{}\n", to_json(inspection, true).dump());
  } else {
    print(inspection, engine.config().model);
  }
  return 0;
}

}  // namespace attnscope
