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

// While one lives, threads that yield stay in their next yield and keep calling the callback: a short task that a
// person waits for gets the whole machine. For a thread that computes nothing.
class Quiet {
 public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

// Called before every large product. Does nothing inside a yield callback.
void yield_if_requested();

}  // namespace attnscope::kernels
