// Signal handling in a process that computes.
#pragma once

#include <array>
#include <csignal>

namespace attnscope {

using SignalHandler = void (*)(int);

// Same as std::signal, but the main thread runs the handler on an alternate stack. oneDNN's generated code stores data
// below the stack pointer; a handler's frame there overwrote it, and the products continued with wrong addresses and
// corrupted memory. Must be called by the main thread, which receives the process's signals. Returns the previous
// handler.
SignalHandler on_signal(int signal, SignalHandler handler);

// When it ends, all signals are handled as they were when it began: libraries of LibTorch's (UCX) install handlers when
// they are loaded, also for SIGHUP.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers();
  ~KeptSignalHandlers();
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  KeptSignalHandlers& operator=(const KeptSignalHandlers&) = delete;

 private:
  std::array<struct sigaction, 32> before_{};  // by number
};

}  // namespace attnscope
