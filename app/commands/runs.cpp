#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
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
#include "config/comparison.h"
#include "files/storage/file.h"
#include "files/storage/run_folder.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

struct ListedRun {
  std::string name;  // path relative to the folder
  Config config;
  std::int64_t steps = 0;
  std::optional<double> loss;               // at the last step
  std::optional<double> validation;         // the last value
  std::optional<double> lowest_validation;  // the minimum
  std::optional<double> accuracy;           // the last value on the validation part, of runs that measure it
  // The first validation with 99 % of the training examples right, and of the validation part.
  std::optional<double> memorized, generalized;
};

constexpr double learned = 0.99;

void take_scores(ListedRun& run, const std::vector<MetricPoint>& points) {
  for (const MetricPoint& point : points) {
    run.steps = point.step;
    if (const auto loss = point[metric("loss")]) run.loss = loss;
    if (point[metric("accuracy")].value_or(0) >= learned && !run.memorized) run.memorized = point.step;
    if (const auto accuracy = point[metric("validation_accuracy")]) run.accuracy = accuracy;
    if (run.accuracy.value_or(0) >= learned && !run.generalized) run.generalized = point.step;
    const auto validation = point[metric("validation_nll")];
    if (!validation) continue;
    run.validation = validation;
    if (std::isfinite(*validation))
      run.lowest_validation = std::min(*validation, run.lowest_validation.value_or(*validation));
  }
}

// The runs in the folder, including those inside comparisons; unreadable ones are reported and skipped.
std::vector<ListedRun> runs_in(const fs::path& folder) {
  std::vector<ListedRun> runs;
  for (auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (!entry->is_directory() || !fs::exists(RunFolder{entry->path()}.metrics())) continue;
    entry.disable_recursion_pending();
    ListedRun run;
    run.name = fs::relative(entry->path(), folder).string();
    try {
      run.config = load_config(RunFolder{entry->path()}.config());
      std::vector<std::string> unusable;
      take_scores(run, load_metrics(RunFolder{entry->path()}.metrics(), &unusable));
      if (!unusable.empty()) say("{}: {} lines were left out, the first: {}", run.name, unusable.size(), unusable[0]);
      runs.push_back(std::move(run));
    } catch (const std::runtime_error& error) {
      say("{} was skipped: {}", run.name, error.what());
    }
  }
  std::ranges::sort(runs, {}, &ListedRun::name);
  return runs;
}

// Configuration keys that differ between the runs.
std::vector<std::string_view> differing_keys(const std::vector<ListedRun>& runs) {
  std::vector<std::string_view> keys;
  for (const ConfigField& field : config_fields()) {
    const auto text = [&](const ListedRun& run) { return field_text(run.config, field); };
    const bool used = std::ranges::any_of(runs, [&](const ListedRun& run) { return is_used(run.config, field); });
    const bool alike = std::ranges::all_of(runs, [&](const ListedRun& run) { return text(run) == text(runs.front()); });
    if (used && !alike) keys.push_back(field.key);
  }
  return keys;
}

std::string value_of(const ListedRun& run, std::string_view key) {
  const ConfigField& field = config_field(key);
  return is_used(run.config, field) ? field_text(run.config, field) : "–";
}

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

void print_json(const std::vector<ListedRun>& runs, const std::vector<std::string_view>& keys) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ListedRun& run : runs) {
    nlohmann::ordered_json differing = nlohmann::ordered_json::object();
    for (const std::string_view key : keys) differing[std::string(key)] = value_of(run, key);
    list.push_back({{"run", run.name},
                    {"configuration", differing},
                    {"steps", run.steps},
                    {"loss", number_or_null(run.loss)},
                    {"validation_nll", number_or_null(run.validation)},
                    {"lowest_validation_nll", number_or_null(run.lowest_validation)}});
    for (const auto& [key, value] : {std::pair{"validation_accuracy", run.accuracy},
                                     {"memorized_step", run.memorized},
                                     {"generalized_step", run.generalized}})
      if (value) list.back()[key] = *value;
  }
  fmt::print("{}\n", list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_table(const std::vector<ListedRun>& runs, const std::vector<std::string_view>& keys, bool csv) {
  std::vector<std::vector<std::string>> rows{{"run", "steps", "loss", "validation", "lowest"}};
  const bool measured = std::ranges::any_of(runs, [](const ListedRun& run) { return run.accuracy.has_value(); });
  if (measured) rows.front().insert(rows.front().end(), {"accuracy", "memorized", "generalized"});
  rows.front().insert(rows.front().end(), keys.begin(), keys.end());
  const auto text = [](const std::optional<double>& value) { return value ? fmt::format("{:.4f}", *value) : "–"; };
  for (const ListedRun& run : runs) {
    rows.push_back(
        {run.name, fmt::to_string(run.steps), text(run.loss), text(run.validation), text(run.lowest_validation)});
    const auto step = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : "–"; };
    if (measured)
      rows.back().insert(rows.back().end(), {text(run.accuracy), step(run.memorized), step(run.generalized)});
    for (const std::string_view key : keys) rows.back().push_back(value_of(run, key));
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
      const std::string text = field_text(run.config, config_field(key));
      char* end = nullptr;
      x.push_back(std::strtod(text.c_str(), &end));
      if (*end != '\0') x.back() = -1;  // no number
      y.push_back(run.lowest_validation.value_or(-1));
    }
    if (const auto fit = key == "training.seed" ? std::nullopt : power_fit(x, y))
      fmt::print("lowest = {:.4g} · {}^{:.4f}, R² {:.3f}\n", fit->factor, key, fit->exponent, fit->r2);
  }
}

}  // namespace

int runs(const RunsOptions& options) {
  if (!fs::is_directory(options.folder)) throw FileError(fmt::format("{} is not a folder", options.folder));
  const std::vector<ListedRun> found = runs_in(options.folder);
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
