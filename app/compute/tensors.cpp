// The tensors command: the distributions of weights, gradients, steps and activations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "compute/opening.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "engine/torch_engine.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

Json spread_json(const TensorSpread& spread) {
  Json quantiles = Json::object();
  for (std::size_t i = 0; i < spread_levels.size(); ++i)
    quantiles[fmt::format("{:g}", spread_levels[i])] = spread.quantiles[i];
  return {{"count", spread.count},   {"norm", spread.norm},          {"mean", spread.mean},
          {"quantiles", quantiles},  {"zeros", spread.zeros},        {"not_finite", spread.not_finite},
          {"silent", spread.silent}, {"histogram", spread.histogram}};
}

Json tensor_json(const TensorHistory& history, bool is_parameter) {
  Json json = {{"name", history.name}, {"shape", history.shape}, {"points", Json::array()}};
  if (history.last_update > 0) json["last_update"] = history.last_update;
  for (const TensorPoint& point : history.points) {
    Json one = {{"step", point.step}, {"values", spread_json(point.values)}};
    if (point.gradient.count > 0) one["gradient"] = spread_json(point.gradient);
    if (is_parameter) one["change_an_update"] = point.change;
    json["points"].push_back(std::move(one));
  }
  return json;
}

void print_header(const char* of, bool is_parameter) {
  fmt::print("{:<52} {:>12} {:>9} {:>10} {:>10} {:>10} {:>7} {:>7}", of, "shape", "norm", "least", "median", "largest",
             "zeros", "NaN");
  if (is_parameter) fmt::print(" {:>10} {:>10}", "gradient", "step");
  fmt::print("\n");
}

void print_tensor(const TensorHistory& history, bool is_parameter) {
  const TensorPoint& point = history.points.back();
  const TensorSpread& values = point.values;
  fmt::print("{:<52} {:>12} {:9.3g} {:10.3g} {:10.3g} {:10.3g} {:6.1f}% {:6.1f}%", history.name,
             fmt::format("{}", fmt::join(history.shape, "x")), values.norm, values.least(), values.quantiles[3],
             values.largest(), 100 * values.zeros, 100 * values.not_finite);
  if (is_parameter) fmt::print(" {:10.3g} {:10.3g}", point.gradient.norm, newest_change(history));
  fmt::print("\n");
}

}  // namespace

int tensors(const TensorsOptions& options) {
  ProgressLine line;
  TorchEngine engine;
  const RunOpened opened =
      engine.open_run(options.run, [&](const Progress& news) { line.show(news.what, news.fraction); });
  for (const std::string& warning : opened.warnings) say("{}", warning);
  const TensorsResult inspection =
      engine.tensors({options.text}, [&](double fraction) { line.show("Reading every tensor", fraction); });
  line.clear();
  if (options.json) {
    Json json = {{"parameters", Json::array()}, {"activations", Json::array()}, {"findings", findings(inspection)}};
    if (!inspection.no_gradients.empty())
      json["no_gradients"] = inspection.no_gradients;
    else
      json["gradient_sample"] = {{"sequences", inspection.gradient_rows},
                                 {"target_tokens", inspection.gradient_tokens}};
    for (const TensorHistory& history : inspection.parameters) json["parameters"].push_back(tensor_json(history, true));
    for (const TensorHistory& history : inspection.activations)
      json["activations"].push_back(tensor_json(history, false));
    fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
    check_finite(engine, options.run);
    return 0;
  }
  print_header("parameter", true);
  for (const TensorHistory& history : inspection.parameters) print_tensor(history, true);
  if (!inspection.no_gradients.empty())
    fmt::print("{}\n", inspection.no_gradients);
  else
    fmt::print(
        "gradient: norm, for the mean loss of one validation batch ({} sequences, {} target tokens), without dropout "
        "and label smoothing\n",
        inspection.gradient_rows, inspection.gradient_tokens);
  const bool newest =
      std::ranges::any_of(inspection.parameters, [](const TensorHistory& it) { return it.last_update > 0; });
  fmt::print("step: size of {}, relative to the tensor\n",
             newest ? "the newest step"
                    : "the net displacement since the previous recorded step, divided by the steps between");
  if (!inspection.activations.empty()) print_header("activation", false);
  for (const TensorHistory& history : inspection.activations) print_tensor(history, false);
  for (const std::string& finding : findings(inspection)) fmt::print("! {}\n", finding);
  check_finite(engine, options.run);
  return 0;
}

}  // namespace attnscope
