// The length command: quality by input length, including lengths beyond training.
#include "messages/length.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "commands/progress.h"
#include "compute/opening.h"
#include "engine/torch_engine.h"
#include "inspect/evaluation/length.h"

namespace attnscope {
namespace {

nlohmann::json to_json(const LengthResult& inspection) {
  nlohmann::json json = {
      {"model", inspection.model}, {"trained", inspection.trained}, {"points", nlohmann::json::array()}};
  if (!inspection.problem.empty()) json["problem"] = inspection.problem;
  for (const LengthPoint& point : inspection.points) {
    nlohmann::json of = {{"length", point.length}, {"nll", point.nll.per_token()}};
    if (point.pairs > 0) {
      of[inspection.text ? "tokens" : "pairs"] = point.pairs;
      of[inspection.text ? "accuracy" : "exact_match"] = point.exact_share();
    }
    json["points"].push_back(std::move(of));
  }
  return json;
}

void print(const LengthResult& inspection) {
  fmt::print("{}; trained on lengths up to {} {}\n", inspection.model, inspection.trained,
             inspection.text ? "tokens" : "words");
  for (const LengthPoint& point : inspection.points) {
    fmt::print("  {:4}  NLL {:8.4f} nats/token", point.length, point.nll.per_token());
    if (point.pairs > 0)
      fmt::print("  {} {:6.2f} % of {}", inspection.text ? "correct" : "exact", 100 * point.exact_share(), point.pairs);
    fmt::print("\n");
  }
  if (!inspection.problem.empty()) fmt::print("{}\n", inspection.problem);
}

}  // namespace

int length(const LengthOptions& options) {
  ProgressLine line;
  TorchEngine engine;
  open_run(engine, options.run, options.corpus, "", line);
  require_corpus(engine);
  const LengthResult inspection =
      measure_lengths(engine.model(), engine.tokenizer(), *engine.corpus(), {.pairs_a_length = options.pairs},
                      [&](double fraction) { line.show("Trying", fraction); });
  line.clear();
  if (options.json) {
    fmt::print("{}\n", to_json(inspection).dump());
  } else {
    print(inspection);
  }
  return 0;
}

}  // namespace attnscope
