#pragma once

#include "plain/callbacks.h"

namespace attnscope::kernels {

// While it lives, this thread breathes before every large product, forward and backward: a look that is waited for need
// not wait for the rest of the update. What is thrown by `breathe` ends the pass.
class Breathing {
 public:
  explicit Breathing(const Breath& breathe);
  ~Breathing();
  Breathing(const Breathing&) = delete;
  Breathing& operator=(const Breathing&) = delete;
};

// Called before every large product. Does nothing within a breath.
void breathe_if_wanted();

}  // namespace attnscope::kernels
