// The table of functions that the program finds in the module.
#include "commands/commands.h"
#include "commands/engine_module.h"
#include "commands/say.h"
#include "engine/device.h"
#include "engine/torch_engine.h"
#include "model/kernels/yielding.h"

namespace attnscope {
namespace {

std::unique_ptr<Engine> make_engine(const std::filesystem::path& autosaves) {
  return autosaves.empty() ? std::make_unique<TorchEngine>() : std::make_unique<TorchEngine>(Autosaves(autosaves));
}

int run(const ComputeOptions& options, bool is_quiet) {
  struct Command {
    int operator()(const TrainOptions& o) const { return train(o); }
    int operator()(const CompareOptions& o) const { return compare(o); }
    int operator()(const TranslateOptions& o) const { return translate(o); }
    int operator()(const FillOptions& o) const { return fill(o); }
    int operator()(const EvaluateOptions& o) const { return evaluate(o); }
    int operator()(const AttendOptions& o) const { return attend(o); }
    int operator()(const PageOptions& o) const { return page(o); }
    int operator()(const ReportOptions& o) const { return report(o); }
    int operator()(const ExplainOptions& o) const { return explain(o); }
    int operator()(const EmbeddingsOptions& o) const { return embeddings(o); }
    int operator()(const BenchOptions& o) const { return bench(o); }
    int operator()(const CostOptions& o) const { return cost(o); }
    int operator()(const HeadsOptions& o) const { return heads(o); }
    int operator()(const TensorsOptions& o) const { return tensors(o); }
    int operator()(const NeuronsOptions& o) const { return neurons(o); }
    int operator()(const LengthOptions& o) const { return length(o); }
    int operator()(const ExportOptions& o) const { return export_run(o); }
    int operator()(const SweepOptions& o) const { return sweep(o); }
  };
  quiet = is_quiet;
  return std::visit(Command(), options);
}

ProcessorFacts processor_facts() {
  return {has_device("cuda"), processor_text()};
}

constexpr EngineModule table{ATTNSCOPE_VERSION, make_engine, run, processor_facts, kernels::hold_yielding};

}  // namespace
}  // namespace attnscope

extern "C" [[gnu::visibility("default")]] const attnscope::EngineModule* attnscope_engine() {
  return &attnscope::table;
}
