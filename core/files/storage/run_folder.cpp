#include "files/storage/run_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "common/json_text.h"
#include "files/storage/comparison_folder.h"
#include "files/storage/file.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::uint64_t max_record_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t max_metrics_bytes = std::uint64_t{1} << 30;  // about five million steps

// Runs `body`; JSON errors become a RunError that starts with `where`.
template <typename Body>
auto reading(const std::string& where, const Body& body) {
  try {
    return body();
  } catch (const nlohmann::json::exception& error) {
    throw RunError(fmt::format("{}: invalid JSON: {}", where, message_of(error)));
  } catch (const JsonTooDeep& error) {
    throw RunError(fmt::format("{}: {}", where, error.what()));
  } catch (const ConfigError& error) {
    throw RunError(fmt::format("{}: {}", where, error.what()));
  } catch (const RunError& error) {
    throw RunError(fmt::format("{}: {}", where, error.what()));
  }
}

const OrderedJson& member(const OrderedJson& json, const char* field) {
  if (!json.is_object()) throw RunError("not a JSON object");
  const auto found = json.find(field);
  if (found == json.end()) throw RunError(fmt::format("there is no \"{}\"", field));
  return *found;
}

std::string text(const OrderedJson& json, const char* field) {
  const OrderedJson& value = member(json, field);
  if (!value.is_string()) throw RunError(fmt::format("\"{}\" is {}, not a string", field, value.dump()));
  return value.get<std::string>();
}

std::int64_t whole(const OrderedJson& json, const char* field) {
  const OrderedJson& value = member(json, field);
  const bool fits =
      value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
  if (!fits && !(value.is_number_integer() && !value.is_number_unsigned())) {
    throw RunError(fmt::format("\"{}\" is {}, not a whole number", field, value.dump()));
  }
  return value.get<std::int64_t>();
}

// JSON has no NaN and no infinity: null represents them.
double number(const OrderedJson& json, const char* field) {
  const OrderedJson& value = member(json, field);
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number()) throw RunError(fmt::format("\"{}\" is {}, not a number", field, value.dump()));
  return value.get<double>();
}

MetricPoint from_line(std::string_view line, std::int64_t last_step) {
  const OrderedJson json = parse_json<OrderedJson>(line);
  MetricPoint point;
  point.step = whole(json, "step");
  if (point.step <= last_step || point.step > largest_step) {
    throw RunError(fmt::format("\"step\" is {}, allowed: {} to {}", point.step, last_step + 1, largest_step));
  }
  for (std::size_t i = 0; i < metric_rows.size(); ++i) {
    const char* const key = metric_rows[i].key;
    if (json.contains(key)) point.set(i, number(json, key));
  }
  return point;
}

std::string to_lines(std::span<const MetricPoint> points) {
  std::string lines;
  for (const MetricPoint& point : points) lines += metrics_line(point) + '\n';
  return lines;
}

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// Returns true if the run has that file, in its place or in a committed checkpoint.
bool has(const RunFolder& run, std::filesystem::path (RunFolder::*file)() const) {
  return is_file((run.*file)()) || is_file((decided_checkpoint(run).*file)());
}

bool has_other_tokenizer(const RunFolder& run) {
  return std::ranges::any_of(run.other_tokenizer_files(), is_file);
}

}  // namespace

std::filesystem::path RunFolder::kept_weights(std::int64_t step) const {
  return checkpoints() / fmt::format("{:08}.safetensors", step);
}

std::filesystem::path RunFolder::dictionary(bool decoder, int layer, const std::string& activations) const {
  return path / fmt::format("dictionary.{}.{}{}{}.safetensors", decoder ? "decoder" : "encoder", layer + 1,
                            activations.empty() ? "" : ".", activations);
}

std::vector<std::filesystem::path> RunFolder::other_tokenizer_files() const {
  std::vector<std::filesystem::path> files;
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "vocab.txt", "merges.txt", "spiece.model",
                           "sentencepiece.bpe.model", "tokenizer_config.json", "tokenizer.json", "labels.txt"})
    files.push_back(path / name);
  return files;
}

std::vector<std::filesystem::path> RunFolder::files() const {
  std::vector<std::filesystem::path> files{config(), corpus(),    tokenizer(), model(),
                                           best(),   optimizer(), history(),   metrics()};
  const std::vector<std::filesystem::path> others = other_tokenizer_files();
  files.insert(files.end(), others.begin(), others.end());
  return files;
}

RunFolder decided_checkpoint(const RunFolder& run) {
  return {run.path / "checkpoint.new"};
}

std::vector<std::int64_t> kept_steps(const RunFolder& folder) {
  std::vector<std::int64_t> steps;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder.checkpoints(), ignored)) {
    const std::string stem = entry.path().stem().string();
    std::int64_t step = 0;
    std::from_chars(stem.data(), stem.data() + stem.size(), step);
    if (step > 0 && entry.path() == folder.kept_weights(step)) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

bool is_run(const std::filesystem::path& path) {
  const RunFolder run{path};
  return has(run, &RunFolder::config) &&
         (has(run, &RunFolder::model) || is_file(path / "model.safetensors.index.json"));
}

// The end of a message that names a folder in `path` that can be opened; empty if there is none.
static std::string runs_below(const std::filesystem::path& path) {
  constexpr std::size_t most_named = 1000;
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator at(path, error);
       at != std::filesystem::directory_iterator() && names.size() < most_named; at.increment(error))
    if (is_run(at->path())) names.push_back(at->path().filename().string());
  if (names.empty()) return {};
  return fmt::format("; open a folder in it, such as {}", *std::ranges::min_element(names));
}

void check_is_run(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw RunError(fmt::format("{} does not exist", path.string()));
  const RunFolder run{path};
  std::vector<std::string> missing;
  constexpr std::array needed = {&RunFolder::config, &RunFolder::corpus, &RunFolder::tokenizer, &RunFolder::model};
  for (const auto file : needed) {
    const bool stands_in = file == &RunFolder::tokenizer && has_other_tokenizer(run);
    if (!has(run, file) && !stands_in) missing.push_back((run.*file)().filename().string());
  }
  if (missing.empty()) return;
  if (missing.size() == needed.size())
    throw RunError(fmt::format("{} does not contain a run{}", path.string(), runs_below(path)));
  throw RunError(fmt::format(
      "{} contains an incomplete run; missing: {}. If its first save was interrupted, train again into another "
      "folder; if it was downloaded, download the rest",
      path.string(), fmt::join(missing, ", ")));
}

void check_free_for_run(const std::filesystem::path& path) {
  if (is_run(path) || is_comparison(path)) {
    throw FileError(fmt::format("{} already contains a {}: continue it with --resume, or choose another folder",
                                path.string(), is_run(path) ? "run" : "comparison"));
  }
  for (const std::filesystem::path& file : RunFolder{path}.files()) {
    std::error_code ignored;
    if (!std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) continue;
    throw FileError(fmt::format("{} contains no run, but a {} that a run would overwrite: choose another folder",
                                path.string(), file.filename().string()));
  }
}

void check_writable_run_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw FileError(fmt::format("cannot create the folder {}: {}", path.string(), error.message()));
  // Writing a file is the only reliable test, given permissions, quotas and read-only mounts.
  const std::filesystem::path probe = path / ".attnscope-probe";
  write_file(probe, "x");
  std::filesystem::remove(probe, error);
}

void save_config(const std::filesystem::path& file, const Config& config) {
  // A path may contain any bytes; U+FFFD replaces invalid UTF-8, so that the run can be saved.
  write_file(file, to_json(config).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
}

Config load_config(const std::filesystem::path& file) {
  const std::string bytes = read_file(file, max_record_bytes);
  return reading(file.string(), [&] { return config_from_json(parse_json(bytes)); });
}

void save_corpus_record(const std::filesystem::path& file, const CorpusRecord& record) {
  const OrderedJson json = {{"source", record.source},
                            {"target", record.target},
                            {"name", record.name},
                            {"hash", record.hash},
                            {"seed", record.seed},
                            {"train", record.train},
                            {"validation", record.validation},
                            {"test", record.test},
                            {"skipped", record.skipped}};
  write_file(file, json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + '\n');
}

CorpusRecord load_corpus_record(const std::filesystem::path& file) {
  const std::string bytes = read_file(file, max_record_bytes);
  return reading(file.string(), [&] {
    const OrderedJson json = parse_json<OrderedJson>(bytes);
    return CorpusRecord{.source = text(json, "source"),
                        .target = text(json, "target"),
                        .name = text(json, "name"),
                        .hash = text(json, "hash"),
                        .seed = whole(json, "seed"),
                        .train = whole(json, "train"),
                        .validation = whole(json, "validation"),
                        .test = whole(json, "test"),
                        .skipped = whole(json, "skipped")};
  });
}

std::string metrics_line(const MetricPoint& point) {
  std::string line = fmt::format("{{\"step\":{}", point.step);
  for (std::size_t i = 0; i < metric_rows.size(); ++i) {
    const std::optional<double> value = point[i];
    if (!value) continue;
    const auto kept = static_cast<float>(*value);
    line += fmt::format(",\"{}\":{}", metric_rows[i].key, std::isfinite(kept) ? fmt::to_string(kept) : "null");
  }
  return line + '}';
}

void append_metrics(const std::filesystem::path& file, std::span<const MetricPoint> points) {
  append_file(file, to_lines(points));
}

void save_metrics(const std::filesystem::path& file, std::span<const MetricPoint> points) {
  write_file(file, to_lines(points));
}

std::vector<MetricPoint> load_metrics(const std::filesystem::path& file, std::vector<std::string>* unusable) {
  std::error_code ignored;
  if (std::filesystem::status(file, ignored).type() == std::filesystem::file_type::not_found) return {};
  const std::string bytes = read_file(file, max_metrics_bytes);
  std::vector<MetricPoint> points;
  std::string_view rest = bytes;
  for (std::int64_t line_number = 1; !rest.empty(); ++line_number) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // truncated by a crash during a write
    const std::int64_t last_step = points.empty() ? 0 : points.back().step;
    try {
      points.push_back(reading(fmt::format("{}, line {}", file.string(), line_number),
                               [&] { return from_line(rest.substr(0, end), last_step); }));
    } catch (const RunError& error) {
      if (unusable) unusable->emplace_back(error.what());
    }
    rest.remove_prefix(end + 1);
  }
  return points;
}

}  // namespace attnscope
