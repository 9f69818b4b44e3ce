// The sweep command: one run per combination of settings and seed, in one folder, and the table of `runs`. Several
// processes may share the runs: those that it starts itself, or the ranks of torchrun.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "commands/commands.h"
#include "commands/say.h"
#include "common/split.h"
#include "config/config.h"
#include "engine/device.h"
#include "files/storage/file.h"
#include "files/storage/run_folder.h"
#include "files/storage/run_list.h"
#include "training/distributed/launch.h"
#include "training/distributed/place.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_settings = 1U << 20U;

// "model.d_model=16,32" → both assignments. Throws ConfigError for an unknown key.
std::vector<std::string> assignments_in(const std::string& list) {
  const auto [key, values] = halves(list, "=");
  config_field(key);
  std::vector<std::string> all;
  for (const std::string_view value : split(values, ",")) all.push_back(fmt::format("{}={}", key, value));
  return all;
}

// Every combination of one value per list.
std::vector<std::vector<std::string>> combinations(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::vector<std::string>> all = {{}};
  for (const std::vector<std::string>& list : lists) {
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& begun : all)
      for (const std::string& next : list) {
        longer.push_back(begun);
        longer.back().push_back(next);
      }
    all = std::move(longer);
  }
  return all;
}

// Runs with other settings must not be continued: their table would mix both.
void check_same_settings(const fs::path& folder, const std::string& settings) {
  const fs::path file = folder / sweep_file;
  if (fs::exists(file) && read_file(file, largest_settings) != settings) {
    throw ConfigError(fmt::format("{} has runs of a sweep with other settings: choose another folder, or see {}",
                                  folder.string(), file.string()));
  }
  fs::create_directories(folder);
  write_file(file, settings);
}

// A run that has ended, also by early stopping, is left without the optimizer's state.
bool is_complete(const fs::path& folder) {
  if (!is_run(folder) || fs::exists(RunFolder{folder}.optimizer())) return false;
  return is_finished(load_config(RunFolder{folder}.config()).training, load_metrics(RunFolder{folder}.metrics()));
}

// This process trains every size-th run from the rank-th on. It is no rank of the runs themselves.
RankPlace taken_place() {
  const RankPlace place = place_from_environment().value_or(RankPlace());
  end_with_launcher();
  share_cores(place.here);
  for (const char* name : {"RANK", "WORLD_SIZE"}) ::unsetenv(name);
  return place;
}

TrainOptions continued(const TrainOptions& base) {
  TrainOptions options;  // the run has its own configuration
  options.threads = base.threads;
  options.resume = true;
  return options;
}

}  // namespace

int sweep(const SweepOptions& options) {
  TrainOptions base = options.train;
  base.set.clear();
  std::vector<std::vector<std::string>> lists;
  for (const std::string& list : options.train.set) {
    std::vector<std::string> all = assignments_in(list);
    all.size() > 1 ? lists.push_back(std::move(all)) : base.set.push_back(list);
  }
  lists.push_back(assignments_in("training.seed=" + options.seeds));
  for (const std::vector<std::string>& list : lists)
    for (Config checked; const std::string& each : list)
      set_field(checked, halves(each, "=").first, halves(each, "=").second);
  check_same_settings(base.out, fmt::format("preset {}\nconfig {}\ncorpus {}\nset {}\n", base.preset, base.config_file,
                                            base.corpus, fmt::join(base.set, " ")));
  const auto print_table = [&] { return runs({.folder = base.out, .json = options.json, .csv = options.csv}); };
  if (options.jobs > 1 && !place_from_environment()) {
    const int status = launch_ranks(static_cast<int>(options.jobs), "the same command continues the sweep");
    return status == 0 ? print_table() : status;
  }
  const RankPlace place = taken_place();
  const std::vector<std::vector<std::string>> all = combinations(lists);
  const bool silent = std::exchange(quiet, quiet || place.size > 1);  // progress of several runs would be mixed
  for (auto i = static_cast<std::size_t>(place.rank); i < all.size(); i += static_cast<std::size_t>(place.size)) {
    std::string name = fmt::format("{}", fmt::join(all[i], ","));
    std::ranges::replace(name, '/', '_');
    const fs::path folder = fs::path(base.out) / name;
    if (is_complete(folder)) continue;
    if (!silent) say("run {} of {}: {}", i + 1, all.size(), name);
    TrainOptions run = is_run(folder) ? continued(base) : base;
    if (!run.resume) run.set.insert(run.set.end(), all[i].begin(), all[i].end());
    run.out = folder.string();
    run.no_optimizer = true;
    if (const int status = train(run); status != 0) return status;
  }
  if (place.size == 1) return print_table();
  if (place.file.empty() && place.rank == 0 && !silent)
    say("rank 0 has trained its runs; when all ranks have ended, attnscope runs {} prints the table", base.out);
  return 0;
}

}  // namespace attnscope
