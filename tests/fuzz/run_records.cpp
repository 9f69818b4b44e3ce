// metrics.jsonl and corpus.json of a run.
#include "files/storage/file.h"
#include "files/storage/run_folder.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  const std::string_view bytes = fuzz::view(data, size);
  fuzz::reading<FileError, RunError, ConfigError>([&] {
    const auto metrics = fuzz::file("metrics.jsonl", bytes);
    std::int64_t before = -1;
    for (const MetricPoint& point : load_metrics(metrics)) {
      fuzz::require(point.step > before);
      before = point.step;
    }
  });
  fuzz::reading<FileError, RunError, ConfigError>([&] { load_corpus_record(fuzz::file("corpus.json", bytes)); });
  return 0;
}
