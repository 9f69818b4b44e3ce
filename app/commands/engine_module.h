// The boundary of LibTorch. Everything that computes with a model is in one shared module, lib/attnscope/
// attnscope_engine.so, which is loaded on first use: commands that compute nothing start without LibTorch, and `attach`
// works where it is not installed. Program and module contain their own copies of core's folders without LibTorch, so
// only plain structs and `Engine` cross the boundary, and no addresses of tables or globals.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include "commands/commands.h"
#include "messages/engine.h"

namespace attnscope {

using ComputeOptions =
    std::variant<TrainOptions, CompareOptions, TranslateOptions, FillOptions, EvaluateOptions, AttendOptions,
                 PageOptions, ReportOptions, ExplainOptions, EmbeddingsOptions, BenchOptions, CostOptions, HeadsOptions,
                 TensorsOptions, NeuronsOptions, LengthOptions, ExportOptions, SweepOptions>;

struct ProcessorFacts {
  bool cuda_available = false;
  std::string processor;  // the CPU code in use: "loops for AVX2, products by oneDNN and BLAS"
};

// The module's only exported symbol, attnscope_engine, is a function that returns its table.
struct EngineModule {
  const char* version;  // first, because a module of another version may have another table
  std::unique_ptr<Engine> (*make_engine)(const std::filesystem::path& autosaves);  // empty path: no autosaves
  int (*run)(const ComputeOptions& options, bool quiet);                           // returns the exit status
  ProcessorFacts (*processor_facts)();
  void (*pause_training)(bool paused);  // see TrainingPause
};
using GetEngineModule = const EngineModule* (*)();

// Loads the module on the first call, which takes about half a second. Throws std::runtime_error if it is missing, does
// not load because LibTorch is missing, or belongs to another version. Callable from any thread.
const EngineModule& engine_module();

// The same for the module in another file.
const EngineModule& load_engine_module(const std::filesystem::path& file);

// Runs a command in the module, and returns its exit status.
int compute_with(const ComputeOptions& options);
template <typename Options>
int compute(const Options& options) {
  return compute_with(options);
}

// While one lives, training waits, so that a short task that a person waits for gets the whole machine. Does nothing
// while the module is not loaded. For a thread that does not train.
class TrainingPause {
 public:
  TrainingPause();
  ~TrainingPause();
  TrainingPause(const TrainingPause&) = delete;
  TrainingPause& operator=(const TrainingPause&) = delete;

 private:
  const EngineModule* module_;
};

}  // namespace attnscope
