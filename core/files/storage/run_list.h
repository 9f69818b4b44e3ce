// The runs in a folder, read for a table (messages/run_table.h).
#pragma once

#include <filesystem>

#include "messages/run_table.h"

namespace attnscope {

// The settings that the runs of a sweep share; its presence makes a folder that of a sweep.
inline constexpr const char* sweep_file = "sweep.txt";
bool is_sweep(const std::filesystem::path& folder);

// Returns true for the folder of a sweep, and for one in which some folder is a run of this program. Never throws.
bool has_runs(const std::filesystem::path& folder);

// Returns true if a run with these recorded points is at its last step, or has stopped early.
bool is_finished(const TrainingConfig& training, const std::vector<MetricPoint>& points);

// Includes the runs inside comparisons. Those that cannot be read are named in the complaints, and in a sweep the
// folders without a run. Throws std::filesystem::filesystem_error if the folder cannot be read.
RunsListed list_runs(const std::filesystem::path& folder);

}  // namespace attnscope
