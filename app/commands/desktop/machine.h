// What this machine offers: the real engine, and what the window should know about where it runs; and what the window
// and the worker say to each other.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "session/engine.h"
#include "session/session.h"
#include "shell/app_state.h"

namespace attnscope {

// The engine that trains behind a window: its threads, of which the caller is the first, give way to drawing.
// It keeps runs without a folder in `kept`, if one is given.
std::unique_ptr<Engine> make_window_engine(const std::filesystem::path& kept = {});

// May take a moment: it asks for a CUDA device. Any thread.
Facts machine_facts();

// Posts what the window wants done.
void post_commands(AppState& scope, Conversation& session);

// The first error that the worker reported, as std::runtime_error; nothing if there is none.
void throw_errors(const std::vector<Event>& events);

}  // namespace attnscope
