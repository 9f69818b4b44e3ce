#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "commands/progress.h"
#include "engine/torch_engine.h"

namespace attnscope {

// Wrap the engine's functions of the same names; all commands report problems of opening (unreadable files, a missing
// corpus) on stderr, and refuse a model whose activations are not finite. `step`: as
// in OpenRun.
RunOpened open_model(TorchEngine& engine, const std::string& path, std::optional<std::int64_t> step = {});
RunOpened open_run(TorchEngine& engine, const std::string& path, ProgressLine& line,
                   std::optional<std::int64_t> step = {});

// With that corpus instead of the run's own; empty: its own.
RunOpened open_run(TorchEngine& engine, const std::string& path, const std::string& corpus, const std::string& target,
                   ProgressLine& line, std::optional<std::int64_t> step = {});

// A forward pass on the text, with the weights recorded at `step`; none: the present ones.
std::shared_ptr<const Snapshot> forward_pass(TorchEngine& engine, const std::string& text,
                                             std::optional<std::int64_t> step = {});

// Throws CorpusError that names --corpus if the open run has no corpus.
void require_corpus(TorchEngine& engine);

// Throws std::runtime_error that names the first weight or activation of the open run that is NaN or infinite, and the
// step.
void check_finite(TorchEngine& engine, const std::string& path);

}  // namespace attnscope
