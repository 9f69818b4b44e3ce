// The engine, facts about this machine for the window, and the exchange of commands and errors between window and
// worker.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "messages/engine.h"
#include "session/session.h"
#include "shell/app_state.h"

namespace attnscope {

// The engine that trains behind a window: its threads, starting with the caller, have lower priority than drawing. It
// autosaves runs in `kept`, if given.
std::unique_ptr<Engine> make_window_engine(const std::filesystem::path& kept = {});

// The facts that need no LibTorch, for a window on a remote training. Callable from any thread.
Facts machine_facts();
// Adds the devices that can train. Takes a moment, because it loads LibTorch and checks for a CUDA device.
void add_processor_facts(Facts& facts);

// Posts the window's requests to the worker.
void post_commands(AppState& scope, Conversation& session);

// Throws the first error that the worker reported, as std::runtime_error, if any.
void throw_errors(const std::vector<Event>& events);

}  // namespace attnscope
