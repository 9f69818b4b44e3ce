#include "files/storage/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <system_error>

#include "common/mark.h"
#include "files/storage/run_folder.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr double learned = 0.99;

void take_scores(ListedRun& run, const std::vector<MetricPoint>& points) {
  for (const MetricPoint& point : points) {
    run.steps = point.step;
    for (std::size_t i = 0; i < metric_rows.size(); ++i)
      if (point[i]) run.results[i] = *point[i];
    const auto reach = [&](std::size_t accuracy, std::size_t step) {
      if (point[accuracy].value_or(0) >= learned && !run.results[step])
        run.results[step] = static_cast<double>(point.step);
    };
    reach(metric("accuracy"), memorized_step);
    reach(metric("validation_accuracy"), generalized_step);
    const auto validation = point[metric("validation_nll")];
    std::optional<double>& lowest = run.results[lowest_validation];
    if (validation && std::isfinite(*validation))
      lowest = std::min(static_cast<double>(*validation), lowest.value_or(*validation));
  }
}

bool is_of_own_run(const fs::path& folder) {
  std::error_code error;
  return fs::exists(RunFolder{folder}.metrics(), error) && fs::exists(RunFolder{folder}.config(), error);
}

void name_folders_without_run(RunsListed& listed) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(listed.folder, error)) {
    const std::string name = entry.path().filename().string();
    const auto is_in_it = [&](const std::string& text) {  // a run's name, or a complaint, which begins with one
      return text.starts_with(name) &&
             (text.size() == name.size() || std::string_view("/: ").find(text[name.size()]) != std::string_view::npos);
    };
    if (entry.is_directory(error) && std::ranges::none_of(listed.runs, is_in_it, &ListedRun::name) &&
        std::ranges::none_of(listed.complaints, is_in_it))
      listed.complaints.push_back(fmt::format(mark("{}: no run was saved in it yet"), name));
  }
}

}  // namespace

bool is_sweep(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / sweep_file, error);
}

bool has_runs(const fs::path& folder) {
  if (is_sweep(folder)) return true;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    if (is_of_own_run(entries->path())) return true;
  return false;
}

bool is_finished(const TrainingConfig& training, const std::vector<MetricPoint>& points) {
  if (points.empty()) return false;
  std::int64_t since_lowest = 0;  // validations
  double lowest = INFINITY;
  for (const MetricPoint& point : points) {
    const auto validation = point[metric("validation_nll")];
    if (!validation) continue;
    since_lowest = *validation < lowest ? 0 : since_lowest + 1;
    lowest = std::min(lowest, static_cast<double>(*validation));
  }
  const bool stopped = training.patience > 0 && since_lowest >= training.patience;
  return stopped || points.back().step >= training.steps;
}

RunsListed list_runs(const fs::path& folder) {
  RunsListed listed{.folder = fs::absolute(folder / "").lexically_normal().parent_path(), .runs = {}, .complaints = {}};
  for (auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (!entry->is_directory() || !fs::exists(RunFolder{entry->path()}.metrics())) continue;
    entry.disable_recursion_pending();
    ListedRun run;
    run.name = fs::relative(entry->path(), folder).string();
    try {
      run.config = load_config(RunFolder{entry->path()}.config());
      std::vector<std::string> unusable;
      const std::vector<MetricPoint> points = load_metrics(RunFolder{entry->path()}.metrics(), &unusable);
      take_scores(run, points);
      run.finished = is_finished(run.config.training, points);
      if (!unusable.empty()) {
        listed.complaints.push_back(
            fmt::format(mark("{}: {} lines were left out, the first: {}"), run.name, unusable.size(), unusable[0]));
      }
      listed.runs.push_back(std::move(run));
    } catch (const std::runtime_error& error) {
      listed.complaints.push_back(fmt::format(mark("{} was skipped: {}"), run.name, error.what()));
    }
  }
  std::ranges::sort(listed.runs, {}, &ListedRun::name);
  if (is_sweep(folder)) name_folders_without_run(listed);
  return listed;
}

}  // namespace attnscope
