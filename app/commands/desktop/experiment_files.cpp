#include "commands/desktop/experiment_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "commands/commands.h"
#include "commands/paths.h"
#include "files/storage/file.h"

namespace attnscope {
namespace {

ExperimentRead read_experiment_file(const std::filesystem::path& file) {
  try {
    return read_experiment(read_file(file, most_experiment_bytes), file.string());
  } catch (const FileError& error) {
    return {{}, error.what()};
  }
}

}  // namespace

ExperimentFiles find_experiments() {
  ExperimentFiles files;
  for (const std::filesystem::path& folder : {asset_folder(), config_folder()}) {
    if (folder.empty()) continue;
    std::error_code error;  // a missing folder has no experiments
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "experiments", error))
      if (std::filesystem::exists(entry.path() / experiment_file, error)) paths.push_back(entry.path());
    std::ranges::sort(paths);
    for (const std::filesystem::path& path : paths) {
      ExperimentRead read = read_experiment_file(path / experiment_file);
      if (read.complaint.empty()) {
        files.experiments.push_back(std::move(read.experiment));
      } else {
        files.complaints.push_back(std::move(read.complaint));
      }
    }
  }
  std::ranges::stable_sort(files.experiments, {}, &Experiment::place);
  return files;
}

int experiments(const ExperimentsOptions&) {
  const ExperimentFiles files = find_experiments();
  for (const Experiment& experiment : files.experiments)
    fmt::print("{}\t{}\t{}\n", experiment.name, experiment.title.in(Language::english),
               experiment.duration.in(Language::english));
  for (const std::string& complaint : files.complaints) fmt::print(stderr, "{}\n", complaint);
  return files.complaints.empty() ? 0 : 1;
}

}  // namespace attnscope
