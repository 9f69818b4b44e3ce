#pragma once

#include <string>

#include "commands/progress.h"
#include "session/engine.h"

namespace attnscope {

// The engine's functions of these names; whatever a run opens with (files of it that cannot be read, a corpus that is
// gone) is said on stderr, by every command alike.
RunOpened open_model(Engine& engine, const std::string& path);
RunOpened open_run(Engine& engine, const std::string& path, ProgressLine& line);

}  // namespace attnscope
