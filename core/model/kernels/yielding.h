#pragma once

#include "messages/callbacks.h"

namespace attnscope::kernels {

// While it lives, this thread calls the yield callback (may be empty) before every large product, forward and backward,
// so that an urgent inspection need not wait for the rest of the step. An exception from the callback aborts the pass.
class Yielding {
 public:
  explicit Yielding(const YieldCallback& yield);
  ~Yielding();
  Yielding(const Yielding&) = delete;
  Yielding& operator=(const Yielding&) = delete;
};

// While held, threads that yield stay in their next yield and keep calling the callback: a short task that a person
// waits for gets the whole machine. Each hold needs its release; for a thread that computes nothing.
void hold_yielding(bool hold);

// Called before every large product. Does nothing inside a yield callback.
void yield_if_requested();

}  // namespace attnscope::kernels
