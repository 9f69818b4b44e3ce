// Signals in a process that computes.
#pragma once

namespace attnscope::kernels {

using SignalHandler = void (*)(int);

// As std::signal, but the main thread handles it on a stack of its own. oneDNN's generated products keep numbers below
// the stack's pointer; where a handler's frame was laid over them they went on with wrong addresses, and wrote over
// what was there. Called by the main thread, which is the one that signals to the process reach. Returns the handler
// before.
SignalHandler on_signal(int signal, SignalHandler handler);

}  // namespace attnscope::kernels
