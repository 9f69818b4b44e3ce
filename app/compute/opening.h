#pragma once

#include <string>

#include "commands/progress.h"
#include "messages/engine.h"

namespace attnscope {

// Wrap the engine's functions of the same names; all commands report problems of opening (unreadable files, a missing
// corpus) on stderr.
RunOpened open_model(Engine& engine, const std::string& path);
RunOpened open_run(Engine& engine, const std::string& path, ProgressLine& line);

}  // namespace attnscope
