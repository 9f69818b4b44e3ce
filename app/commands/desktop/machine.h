// What this machine offers: the real engine, and what the window should know about where it runs.
#pragma once

#include <cstdint>
#include <memory>

#include "session/engine.h"
#include "shell/scope.h"

namespace attnscope {

// The engine that trains. `spare_cores` are left to the window when the configuration asks for all of them.
std::unique_ptr<Engine> make_torch_engine(std::int64_t spare_cores);

// May take a moment: it asks for a CUDA device. Any thread.
Facts machine_facts();

}  // namespace attnscope
