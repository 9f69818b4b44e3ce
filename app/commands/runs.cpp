#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/power_fit.h"
#include "commands/commands.h"
#include "commands/say.h"
#include "common/matrix_text.h"
#include "files/storage/file.h"
#include "files/storage/run_list.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

void print_json(const std::vector<ListedRun>& runs, const std::vector<std::string_view>& keys) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ListedRun& run : runs) {
    nlohmann::ordered_json differing = nlohmann::ordered_json::object();
    for (const std::string_view key : keys) differing[std::string(key)] = setting_text(run, key);
    list.push_back({{"run", run.name},
                    {"configuration", differing},
                    {"steps", run.steps},
                    {"loss", number_or_null(run.results[metric("loss")])},
                    {"validation_nll", number_or_null(run.results[metric("validation_nll")])},
                    {"lowest_validation_nll", number_or_null(run.results[lowest_validation])}});
    for (const auto& [key, result] : {std::pair{"validation_accuracy", metric("validation_accuracy")},
                                      {"memorized_step", memorized_step},
                                      {"generalized_step", generalized_step}})
      if (run.results[result]) list.back()[key] = *run.results[result];
  }
  fmt::print("{}\n", list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_table(const std::vector<ListedRun>& runs, const std::vector<std::string_view>& keys, bool csv) {
  std::vector<std::vector<std::string>> rows{{"run", "steps", "loss", "validation", "lowest"}};
  const bool measured = std::ranges::any_of(
      runs, [](const ListedRun& run) { return run.results[metric("validation_accuracy")].has_value(); });
  if (measured) rows.front().insert(rows.front().end(), {"accuracy", "memorized", "generalized"});
  rows.front().insert(rows.front().end(), keys.begin(), keys.end());
  const auto text = [](const std::optional<double>& value) { return value ? fmt::format("{:.4f}", *value) : "–"; };
  for (const ListedRun& run : runs) {
    const auto& results = run.results;
    rows.push_back({run.name, fmt::to_string(run.steps), text(results[metric("loss")]),
                    text(results[metric("validation_nll")]), text(results[lowest_validation])});
    const auto step = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : "–"; };
    if (measured)
      rows.back().insert(rows.back().end(),
                         {text(results[metric("validation_accuracy")]), step(results[memorized_step]),
                          step(results[generalized_step])});
    for (const std::string_view key : keys) rows.back().push_back(setting_text(run, key));
  }
  if (csv) {
    for (std::vector<std::string>& row : rows) {
      std::ranges::transform(row, row.begin(),
                             [](const std::string& cell) { return cell == "–" ? "" : csv_field(cell); });
      fmt::print("{}\n", fmt::join(row, ","));
    }
    return;
  }
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t col = 0; col < row.size(); ++col) {
      std::size_t width = 0;
      for (const std::vector<std::string>& each : rows) width = std::max(width, each[col].size());
      line += fmt::format("{:<{}}  ", row[col], width);
    }
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

// The power of the lowest validation loss in every numeric field.
void print_fits(const std::vector<ListedRun>& runs, const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys) {
    std::vector<double> x, y;
    for (const ListedRun& run : runs) {
      x.push_back(setting_number(run, key).value_or(-1));
      y.push_back(run.results[lowest_validation].value_or(-1));
    }
    if (const auto fit = key == "training.seed" ? std::nullopt : power_fit(x, y))
      fmt::print("lowest = {:.4g} · {}^({:.4f} ± {:.4f}), R² {:.3f}\n", fit->factor, key, fit->exponent, fit->error,
                 fit->r2);
  }
}

}  // namespace

int runs(const RunsOptions& options) {
  if (!fs::is_directory(options.folder)) throw FileError(fmt::format("{} is not a folder", options.folder));
  const RunsListed listed = list_runs(options.folder);
  for (const std::string& complaint : listed.complaints) say("{}", complaint);
  const std::vector<ListedRun>& found = listed.runs;
  const std::vector<std::string_view> keys = differing_keys(found);
  if (options.json) {
    print_json(found, keys);
  } else if (found.empty()) {
    say("no runs found in {}", options.folder);
  } else {
    print_table(found, keys, options.csv);
    if (!options.csv) print_fits(found, keys);
  }
  return 0;
}

}  // namespace attnscope
