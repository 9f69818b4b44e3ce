// A run is a folder anyone can open; every name and text format in it is defined here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "plain/config.h"
#include "plain/error.h"
#include "plain/metric_point.h"

namespace attnscope {

inline constexpr std::int64_t largest_step = 1'000'000'000'000;  // beyond it, what is counted with steps may overflow

// A file of a run that is there but does not hold what it should. The message names the file, the line and the field.
class RunError : public Error {
 public:
  using Error::Error;
};

// Where the parts of a run are.
struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path config() const { return path / "config.json"; }
  std::filesystem::path model() const { return path / "model.safetensors"; }
  std::filesystem::path optimizer() const { return path / "optimizer.safetensors"; }
  std::filesystem::path tokenizer() const { return path / "tokenizer.model"; }
  // Instead of it, or beside it, of a run that began as another program's checkpoint, and of a classifier
  // (tokenizer/families.h).
  std::vector<std::filesystem::path> other_tokenizer_files() const;
  std::filesystem::path metrics() const { return path / "metrics.jsonl"; }
  std::filesystem::path corpus() const { return path / "corpus.json"; }
  std::filesystem::path history() const { return path / "history.safetensors"; }
  std::filesystem::path checkpoints() const { return path / "checkpoints"; }
  std::filesystem::path kept_weights(std::int64_t step) const;  // checkpoints/00012000.safetensors

  // All but the kept weights. Not every run has all of them.
  std::vector<std::filesystem::path> files() const;
};

// Where the files of a checkpoint lie between its decision and their move into the run's folder (held_run.h).
RunFolder decided_checkpoint(const RunFolder& run);

// Steps of the weights kept in checkpoints/, in order; none if there is no such folder. Other files there are ignored.
std::vector<std::int64_t> kept_steps(const RunFolder& folder);

// True if `path` is a folder with a configuration and weights, another program's too. Never throws.
bool is_run(const std::filesystem::path& path);

// Throws RunError if the folder lacks something that every run has, and says what to do about it.
void check_is_run(const std::filesystem::path& path);

// Throws FileError if a run saved in the folder would replace something: another run, or a file of somebody else's that
// is called like one of a run's.
void check_free_for_run(const std::filesystem::path& path);

// Makes the folder (and its parents) if need be; throws FileError if it is no folder or nothing can be written in it.
void check_writable_run_folder(const std::filesystem::path& path);

// config.json. Loading throws FileError, and RunError naming file and field.
void save_config(const std::filesystem::path& file, const Config& config);
Config load_config(const std::filesystem::path& file);

// What was read as the corpus, so that a run opened again can tell whether it is still the same.
struct CorpusRecord {
  std::string source;  // as CorpusConfig
  std::string target;
  std::string name;
  std::string hash;
  std::int64_t seed = 0;   // of generation and split
  std::int64_t train = 0;  // pairs; characters of running text
  std::int64_t validation = 0;
  std::int64_t test = 0;
  std::int64_t skipped = 0;
  bool operator==(const CorpusRecord&) const = default;
};

// corpus.json. Loading throws FileError, and RunError naming file and field.
void save_corpus_record(const std::filesystem::path& file, const CorpusRecord& record);
CorpusRecord load_corpus_record(const std::filesystem::path& file);

// metrics.jsonl: one point a line, {"step":1,"loss":…,…}, with the metrics (plain/metrics.h) that were measured of it,
// as float32 in the fewest digits that tell it apart; a number that is not finite is null and read back as NaN. Metrics
// that a line lacks are absent from the point; those that are not in the table are passed over, and gone when the file
// is written anew.

// The line of a point, without its line end.
std::string metrics_line(const MetricPoint& point);

// Adds the points with one write, so that a crash tears the last line at most; throws FileError.
void append_metrics(const std::filesystem::path& file, std::span<const MetricPoint> points);

// The file as a whole, replaced.
void save_metrics(const std::filesystem::path& file, std::span<const MetricPoint> points);

// All points, in order. An absent file has none. A last line without its line end is dropped; any other line that is
// not a point, or not of a later step than the one before it, throws RunError naming file and line.
std::vector<MetricPoint> load_metrics(const std::filesystem::path& file);

}  // namespace attnscope
