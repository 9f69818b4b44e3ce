// The files of a run's folder: all their names and text formats are defined here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "config/config.h"
#include "messages/metric_point.h"

namespace attnscope {

inline constexpr std::int64_t largest_step = 1'000'000'000'000;  // beyond it, arithmetic with steps may overflow

// A file of a run with invalid contents. The message names the file, the line and the field.
class RunError : public Error {
 public:
  using Error::Error;
};

// The paths of the parts of a run.
struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path config() const { return path / "config.json"; }
  std::filesystem::path model() const { return path / "model.safetensors"; }
  std::filesystem::path optimizer() const { return path / "optimizer.safetensors"; }
  std::filesystem::path tokenizer() const { return path / "tokenizer.model"; }
  // Replace tokenizer(), or are next to it, in a run initialized from another program's checkpoint, and in a
  // classifier (data/tokenizer/families.h).
  std::vector<std::filesystem::path> other_tokenizer_files() const;
  std::filesystem::path metrics() const { return path / "metrics.jsonl"; }
  std::filesystem::path corpus() const { return path / "corpus.json"; }
  std::filesystem::path history() const { return path / "history.safetensors"; }
  std::filesystem::path best() const { return path / "best.safetensors"; }  // weights of the lowest validation loss
  std::filesystem::path checkpoints() const { return path / "checkpoints"; }
  std::filesystem::path kept_weights(std::int64_t step) const;  // checkpoints/00012000.safetensors
  // The sparse dictionary of activations of a layer, counted from 1: dictionary.encoder.2.hidden.safetensors; without a
  // name of activations, of the layer's output.
  std::filesystem::path dictionary(bool decoder, int layer, const std::string& activations = {}) const;
  std::filesystem::path tuned_lens() const { return path / "tuned_lens.safetensors"; }

  // All except the weights in checkpoints/ and what can be computed again from the weights. Not every run has all of
  // them.
  std::vector<std::filesystem::path> files() const;
};

// The paths of a committed checkpoint's files before their move into the run's folder (locked_run.h).
RunFolder decided_checkpoint(const RunFolder& run);

// Steps of the weights in checkpoints/, ascending; empty if there is no such folder. Other files there are ignored.
std::vector<std::int64_t> kept_steps(const RunFolder& folder);

// Returns true if `path` is a folder with a configuration and weights, also another program's. Never throws.
bool is_run(const std::filesystem::path& path);

// Throws RunError if the folder lacks a required file, and says what to do about it.
void check_is_run(const std::filesystem::path& path);

// Throws FileError if saving a run in the folder would replace another run, or an unrelated file with the name of one
// of a run's files.
void check_free_for_run(const std::filesystem::path& path);

// Creates the folder (and its parents) if needed; throws FileError if it is not a folder or not writable.
void check_writable_run_folder(const std::filesystem::path& path);

// config.json. Loading throws FileError, and RunError naming file and field.
void save_config(const std::filesystem::path& file, const Config& config);
Config load_config(const std::filesystem::path& file);

// A fingerprint of the corpus, to detect changes when a run is opened again.
struct CorpusRecord {
  std::string source;  // as in CorpusConfig
  std::string target;
  std::string name;
  std::string hash;
  std::int64_t seed = 0;   // of generation and split
  std::int64_t train = 0;  // pairs; for running text, characters
  std::int64_t validation = 0;
  std::int64_t test = 0;
  std::int64_t skipped = 0;
  bool operator==(const CorpusRecord&) const = default;
};

// corpus.json. Loading throws FileError, and RunError naming file and field.
void save_corpus_record(const std::filesystem::path& file, const CorpusRecord& record);
CorpusRecord load_corpus_record(const std::filesystem::path& file);

// metrics.jsonl: one point per line, {"step":1,"loss":…,…}, with the metrics (messages/metrics.h) measured at it.
// Numbers are float32 in the fewest digits that round-trip; non-finite ones are null and read back as NaN. Metrics
// missing in a line are absent from the point. Unknown ones are ignored, and lost when the file is rewritten.

// The line of a point, without its line end.
std::string metrics_line(const MetricPoint& point);

// Appends the points with one write, so that a crash damages at most the last line; throws FileError.
void append_metrics(const std::filesystem::path& file, std::span<const MetricPoint> points);

// Replaces the whole file.
void save_metrics(const std::filesystem::path& file, std::span<const MetricPoint> points);

// Returns all points in order. An absent file has none. A last line without line end is dropped. Any other line that is
// not a point, or not of a later step than the previous one, is left out; `unusable` gets file, line and reason.
std::vector<MetricPoint> load_metrics(const std::filesystem::path& file, std::vector<std::string>* unusable = nullptr);

}  // namespace attnscope
