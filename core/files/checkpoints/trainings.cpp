#include "files/checkpoints/trainings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/json_text.h"
#include "common/split.h"
#include "files/checkpoints/checkpoint.h"
#include "files/storage/file.h"
#include "files/storage/mapped_file.h"
#include "files/storage/protobuf.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t largest_text = 64U << 20U;
constexpr const char* state_name = "trainer_state.json";

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// checkpoint-500, step1000, step_1000, global_step1000
std::optional<std::int64_t> step_in(std::string_view name) {
  for (const std::string_view word : {"checkpoint", "global_step", "step"}) {
    if (!name.starts_with(word)) continue;
    name.remove_prefix(word.size());
    if (name.starts_with('-') || name.starts_with('_')) name.remove_prefix(1);
    return whole_number(name);
  }
  return std::nullopt;
}

// The names under which programs record a metric; "/" is read as "_".
struct MetricNames {
  std::size_t metric;
  std::array<std::string_view, 6> names;
};
constexpr std::array metric_names = {
    MetricNames{metric("loss"), {"loss", "train_loss", "training_loss", "Loss_train"}},
    MetricNames{metric("learning_rate"), {"learning_rate", "train_learning_rate", "lr", "train_lr"}},
    MetricNames{metric("gradient_norm"), {"grad_norm", "train_grad_norm", "gradient_norm"}},
    MetricNames{metric("validation_nll"),
                {"eval_loss", "val_loss", "validation_loss", "validation_nll", "Loss_val", "valid_loss"}},
    MetricNames{metric("accuracy"), {"accuracy", "train_accuracy"}},
    MetricNames{metric("validation_accuracy"), {"eval_accuracy", "val_accuracy", "validation_accuracy"}},
};

class Points {
 public:
  void add(std::int64_t step, std::string name, double value) {
    if (name.empty()) return;  // the index column of pandas
    std::ranges::replace(name, '/', '_');
    for (const MetricNames& known : metric_names) {
      if (std::ranges::find(known.names, name) == known.names.end()) continue;
      MetricPoint& point = by_step_[step];
      point.step = step;
      point.set(known.metric, value);
    }
  }

  std::vector<MetricPoint> all() const {
    std::vector<MetricPoint> points;
    for (const auto& [step, point] : by_step_) points.push_back(point);
    return points;
  }

 private:
  std::map<std::int64_t, MetricPoint> by_step_;
};

// Python writes NaN and Infinity, which JSON has not, for a loss that diverged.
std::string without_nan(std::string_view text) {
  constexpr std::array<std::string_view, 3> names = {"-Infinity", "Infinity", "NaN"};
  std::string plain;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto named = std::ranges::find_if(names, [&](auto name) { return text.substr(at).starts_with(name); });
    if (!quoted && named != names.end()) {
      plain += "null";
      at += named->size();
      continue;
    }
    if (text[at] == '\\' && at + 1 < text.size())
      plain += text[at++];
    else
      quoted ^= text[at] == '"';
    plain += text[at++];
  }
  return plain;
}

Json read_state(const fs::path& file) {
  Json state = parse_json(without_nan(read_file(file, largest_text)));
  if (!state.is_object()) throw Error(fmt::format("{}: not a JSON object", file.string()));
  return state;
}

void add_state(const fs::path& file, Points& points) {
  const Json state = read_state(file);
  const Json history = state.value("log_history", Json::array());
  if (!history.is_array()) throw Error(fmt::format("{}: \"log_history\" is not a list", file.string()));
  for (const Json& entry : history) {
    const auto step = entry.is_object() ? entry.find("step") : entry.end();
    if (!entry.is_object() || step == entry.end() || !step->is_number_integer() || *step < 0) continue;
    for (const auto& [name, value] : entry.items())
      if (value.is_number()) points.add(*step, name, value);
  }
}

// A header with the names of the columns, one of them the step.
void add_csv(const fs::path& file, Points& points) {
  const std::string bytes = read_file(file, largest_text);
  const std::vector<std::string_view> lines = split(bytes, "\n");
  const std::vector<std::string_view> names = split(lines.front().substr(0, lines.front().find('\r')), ",");
  const auto column = std::ranges::find_first_of(names, std::array<std::string_view, 3>{"step", "global_step", "iter"});
  if (column == names.end()) throw Error(fmt::format("{}: there is no column \"step\"", file.string()));
  for (const std::string_view line : lines) {
    const std::vector<std::string_view> cells = split(line.substr(0, line.find('\r')), ",");
    if (cells.size() != names.size()) continue;
    const auto step = whole_number(cells[static_cast<std::size_t>(column - names.begin())]);
    for (std::size_t i = 0; step && i < cells.size(); ++i) {
      double value = 0;
      const auto [end, error] = std::from_chars(cells[i].data(), cells[i].data() + cells[i].size(), value);
      if (error == std::errc() && !cells[i].empty()) points.add(*step, std::string(names[i]), value);
    }
  }
}

float float_at(std::string_view bytes) {
  float value = std::nanf("");
  if (bytes.size() >= sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// tensorflow.Summary.Value: a tag, and a number or a tensor of one.
void add_value(std::string_view bytes, std::int64_t step, Points& points) {
  std::string tag;
  float value = std::nanf("");
  protobuf::for_each_field(bytes, [&](int field, std::uint64_t, std::string_view part) {
    if (field == 1) tag = part;
    if (field == 2 && part.size() == sizeof value) value = float_at(part);
    if (field != 8) return;
    protobuf::for_each_field(part, [&](int inner, std::uint64_t, std::string_view content) {
      if ((inner == 4 || inner == 5) && content.size() == sizeof value) value = float_at(content);
    });
  });
  if (std::isfinite(value)) points.add(step, tag, static_cast<double>(value));
}

// Records of tensorflow.Event: their length, a checksum, the event, a checksum. The last may be cut short.
void add_events(const fs::path& file, Points& points) {
  const MappedFile mapped(file);
  std::string_view rest = mapped.bytes();
  constexpr std::size_t before = 12, after = 4;
  while (rest.size() >= before + after) {
    std::uint64_t size = 0;
    std::memcpy(&size, rest.data(), sizeof size);
    if (size > rest.size() - before - after) return;
    std::int64_t step = 0;
    std::vector<std::string_view> summaries;
    protobuf::for_each_field(rest.substr(before, size), [&](int field, std::uint64_t number, std::string_view part) {
      if (field == 2) step = static_cast<std::int64_t>(number);
      if (field == 5) summaries.push_back(part);
    });
    for (const std::string_view summary : summaries)
      protobuf::for_each_field(summary, [&](int field, std::uint64_t, std::string_view part) {
        if (field == 1) add_value(part, step, points);
      });
    rest.remove_prefix(before + size + after);
  }
}

std::vector<fs::path> event_files(const fs::path& folder) {
  constexpr int deepest = 3;
  std::error_code ignored;
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, ignored);
       at != fs::recursive_directory_iterator(); at.increment(ignored)) {
    if (at.depth() >= deepest) at.disable_recursion_pending();
    if (at->path().filename().string().find("tfevents") != std::string::npos) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<TrainingStep> training_steps(const fs::path& folder, std::vector<TrainingStep>* left_out) {
  std::error_code ignored;
  std::vector<TrainingStep> steps;
  for (fs::directory_iterator at(folder, ignored); at != fs::directory_iterator(); at.increment(ignored)) {
    const auto step = step_in(at->path().filename().string());
    if (step && fs::exists(at->path() / "config.json", ignored) && is_checkpoint(at->path()))
      steps.push_back({*step, at->path()});
  }
  std::ranges::sort(steps, {}, &TrainingStep::step);
  const auto repeated = std::ranges::unique(steps, {}, &TrainingStep::step);
  steps.erase(repeated.begin(), repeated.end());
  const auto without = std::ranges::stable_partition(steps, has_weights, &TrainingStep::folder);
  if (without.size() == steps.size()) return steps;  // each says what is wrong with it
  if (left_out) left_out->assign(without.begin(), without.end());
  steps.erase(without.begin(), without.end());
  return steps;
}

std::int64_t training_step_of(const fs::path& folder, std::int64_t absent) {
  try {
    const Json step = read_state(folder / state_name).value("global_step", Json());
    return step.is_number_unsigned() ? step.get<std::int64_t>() : absent;
  } catch (const std::exception&) {
    return absent;
  }
}

TrainingCurves training_curves(const fs::path& folder, const std::vector<TrainingStep>& steps) {
  Points points;
  TrainingCurves curves;
  std::error_code ignored;
  const auto add = [&](const fs::path& file, void (*read)(const fs::path&, Points&)) {
    try {
      if (fs::exists(file, ignored)) read(file, points);
    } catch (const std::exception& error) {
      curves.warnings.push_back(fmt::format("{} was left out of the curves: {}", file.string(), error.what()));
    }
  };
  for (const fs::path& file : event_files(folder)) add(file, add_events);
  add(folder / "metrics.csv", add_csv);
  const bool own = fs::exists(folder / state_name, ignored) || steps.empty();
  add((own ? folder : steps.back().folder) / state_name, add_state);
  curves.points = points.all();
  return curves;
}

}  // namespace attnscope
