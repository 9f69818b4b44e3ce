#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "commands/progress.h"
#include "messages/engine.h"

namespace attnscope {

// Wrap the engine's functions of the same names; all commands report problems of opening (unreadable files, a missing
// corpus) on stderr. `step`: as in OpenRun.
RunOpened open_model(Engine& engine, const std::string& path, std::optional<std::int64_t> step = {});
RunOpened open_run(Engine& engine, const std::string& path, ProgressLine& line, std::optional<std::int64_t> step = {});

}  // namespace attnscope
