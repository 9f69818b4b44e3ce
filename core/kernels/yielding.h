#pragma once

#include "plain/callbacks.h"

namespace attnscope::kernels {

// While it lives, this thread breathes before every large product, forward and backward: a look that is waited for need
// not wait for the rest of the update. What is thrown by `breathe`, which may be empty, ends the pass.
class Yielding {
 public:
  explicit Yielding(const YieldCallback& yield);
  ~Yielding();
  Yielding(const Yielding&) = delete;
  Yielding& operator=(const Yielding&) = delete;
};

// While one lives, the threads that breathe stay at their next breath and go on breathing: what a person waits for, if
// it is short, has the machine for itself. For a thread that computes nothing.
class Quiet {
 public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

// Called before every large product. Does nothing within a breath.
void yield_if_requested();

}  // namespace attnscope::kernels
