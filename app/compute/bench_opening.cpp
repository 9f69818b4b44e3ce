#include <filesystem>
#include <optional>

#include "compute/bench.h"
#include "common/free_memory.h"
#include "engine/torch_engine.h"
#include "inspect/probe/inspect_model.h"

namespace attnscope {
namespace {

constexpr int opening_rounds = 5;
constexpr int inspection_rounds = 10;

double weights_megabytes(const std::string& run) {
  double bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run))
    if (entry.path().extension() == ".safetensors" && entry.path().filename().string().starts_with("model"))
      bytes += static_cast<double>(entry.file_size());
  return bytes / (1U << 20U);
}

// One step per token: the inspection of a typed sentence, and of one that grows letter by letter.
void measure_inspection_times(TorchEngine& engine, std::vector<Measurement>& out) {
  const std::string sentence = "The animal didn't cross the street because it was too tired.";
  std::vector<double> encoder, whole, each;
  for (int round = -1; round < inspection_rounds; ++round) {
    const auto begin = Clock::now();
    double first = 0;
    std::size_t tokens = 1;
    inspect_model(engine.model(), engine.tokenizer(), {.text = sentence},
                  [&](const Snapshot& snapshot) {
                    if (first == 0) first = milliseconds_since(begin);
                    tokens = std::max<std::size_t>(1, snapshot.target_out.size());
                  },
                  {});
    if (round < 0) continue;  // warm-up
    encoder.push_back(first);
    whole.push_back(milliseconds_since(begin));
    each.push_back((whole.back() - first) / static_cast<double>(tokens));
  }
  out.push_back({"sentence to its first attention map", median(encoder), "ms"});
  out.push_back({"sentence to its complete output", median(whole), "ms"});
  out.push_back({"of which per generated token", median(each), "ms"});
}

}  // namespace

std::vector<Measurement> measure_opening(const std::string& run) {
  std::optional<TorchEngine> engine(std::in_place);
  engine->open_model(run);  // from here on files and libraries are in the page cache
  std::vector<double> times, peaks, kept;
  for (int round = 0; round < opening_rounds; ++round) {
    engine.reset();
    give_back_memory();
    const double before = status_megabytes("VmRSS:");
    forget_peak();
    engine.emplace();
    times.push_back(milliseconds([&] { engine->open_model(run); }));
    peaks.push_back(status_megabytes("VmHWM:") - before);
    kept.push_back(status_megabytes("VmRSS:") - before);
  }
  std::vector<Measurement> measured = {{"opening the run", median(times), "ms"},
                                       {"size of its weights on disk", weights_megabytes(run), "MB"},
                                       {"peak memory while opening", median(peaks), "MB"},
                                       {"memory after opening", median(kept), "MB"}};
  measure_inspection_times(*engine, measured);
  return measured;
}

}  // namespace attnscope
