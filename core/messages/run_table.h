// The runs of a folder side by side, for example of a sweep: the settings in which they differ, and their results.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "messages/metric_point.h"

namespace attnscope {

// The results of a run: the last value of every metric (messages/metrics.h), and then these.
inline constexpr std::size_t lowest_validation = MetricPoint::capacity;  // the minimum of the validation loss
// The first validation at which 99 % of the training examples were right, and of the validation part.
inline constexpr std::size_t memorized_step = lowest_validation + 1, generalized_step = lowest_validation + 2;
inline constexpr std::size_t num_results = lowest_validation + 3;

struct ListedRun {
  std::string name;  // path relative to the folder
  Config config;
  std::int64_t steps = 0;
  bool finished = false;  // at its last step, or stopped early
  std::array<std::optional<double>, num_results> results;
};

// An event: the answer to OpenRun for a folder that is not a run but has runs.
struct RunsListed {
  std::string folder;
  std::vector<ListedRun> runs;          // by name
  std::vector<std::string> complaints;  // what could not be read, and why
};

// Configuration keys that differ between the runs.
std::vector<std::string_view> differing_keys(const std::vector<ListedRun>& runs);

// The value of the field; "–" if the run does not use it.
std::string setting_text(const ListedRun& run, std::string_view key);
std::optional<double> setting_number(const ListedRun& run, std::string_view key);  // empty: it is not a number

}  // namespace attnscope
