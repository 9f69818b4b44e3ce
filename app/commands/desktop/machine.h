// What this machine offers: the real engine, and what the window should know about where it runs.
#pragma once

#include <memory>

#include "session/engine.h"
#include "shell/scope.h"

namespace attnscope {

// The engine that trains behind a window: its threads, of which the caller is the first, give way to drawing.
std::unique_ptr<Engine> make_window_engine();

// May take a moment: it asks for a CUDA device. Any thread.
Facts machine_facts();

}  // namespace attnscope
