// How long work is watched, interrupted and given up.
#pragma once

#include <functional>
#include <stdexcept>

#include "plain/messages.h"

namespace attnscope {

// Thrown out of long work by a callback when the user gave it up.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
};

// The training loss or its gradient is no longer a finite number; the weights are those before the update. The message
// names what was so first: "the weight decoder.norm.bias".
class NotFinite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using ProgressCallback = std::function<void(const Progress&)>;  // may throw Cancelled
using FractionCallback = std::function<void(double)>;           // 0…1; may throw Cancelled
using YieldCallback = std::function<void()>;                    // lets a probe in; may throw Cancelled

}  // namespace attnscope
