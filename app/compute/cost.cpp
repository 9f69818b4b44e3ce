// The cost command: measures self-attention, a recurrent layer and a convolution by length (paper table 1).
#include "messages/cost.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "common/split.h"
#include "files/storage/run_folder.h"
#include "inspect/evaluation/cost.h"

namespace attnscope {
namespace {

ModelConfig model_of(const CostOptions& options) {
  Config config = options.run.empty() ? Config() : load_config(RunFolder{options.run}.config());
  for (const std::string& field : options.set) {
    const auto [key, value] = halves(field, "=");
    set_field(config, key, value);
  }
  check(config);
  return config.model;
}

nlohmann::json to_json(const CostResult& inspection) {
  nlohmann::json json = {{"d_model", inspection.d_model},
                         {"heads", inspection.heads},
                         {"cell", inspection.cell},
                         {"kernel", cost_kernel},
                         {"device", inspection.device},
                         {"crossing", crossing(inspection.d_model)},
                         {"processor_share", inspection.processor_share}};
  for (const CostCurve& curve : inspection.curves) {
    const LayerComplexity& of = complexity(curve.layer);
    nlohmann::json layer = {{"layer", of.name},
                            {"operations", of.operations},
                            {"sequential", of.sequential},
                            {"path", of.path},
                            {"time_exponent", time_exponent(curve)},
                            {"memory_exponent", memory_exponent(curve)},
                            {"points", nlohmann::json::array()}};
    if (!curve.ended.empty()) layer["ended"] = curve.ended;
    for (const CostPoint& point : curve.points)
      layer["points"].push_back({{"length", point.length},
                                 {"forward_ms", point.forward_ms},
                                 {"backward_ms", point.backward_ms},
                                 {"megabytes", point.megabytes}});
    json["layers"].push_back(std::move(layer));
  }
  return json;
}

void print(const CostResult& inspection) {
  fmt::print("d_model {}, {} heads, {}, kernel {}, {}; scores cost as much as projections at n = {}\n",
             inspection.d_model, inspection.heads, inspection.cell, cost_kernel, inspection.device,
             crossing(inspection.d_model));
  for (const CostCurve& curve : inspection.curves) {
    const LayerComplexity& of = complexity(curve.layer);
    fmt::print("{:<15} {} operations, {} sequential, path {}; time ~ n^{:.2f}, memory ~ n^{:.2f}\n", of.name,
               of.operations, of.sequential, of.path, time_exponent(curve), memory_exponent(curve));
    for (const CostPoint& point : curve.points)
      fmt::print("  {:5}  forward {:9.3f} ms  backward {:9.3f} ms  {:9.2f} MB\n", point.length, point.forward_ms,
                 point.backward_ms, point.megabytes);
    if (!curve.ended.empty()) fmt::print("  stopped: {}\n", curve.ended);
  }
}

}  // namespace

int cost(const CostOptions& options) {
  ProgressLine line;
  const CostResult inspection =
      measure_costs(model_of(options), {.longest = options.longest, .seconds = options.seconds},
                    [&](double fraction) { line.show("Measuring", fraction); });
  line.clear();
  if (const std::string warning = disturbed(inspection); !warning.empty()) say("{}", warning);
  if (options.json) {
    fmt::print("{}\n", to_json(inspection).dump());
  } else {
    print(inspection);
  }
  return 0;
}

}  // namespace attnscope
