// Callbacks that report the progress of long work, interrupt it and cancel it.
#pragma once

#include <functional>
#include <stdexcept>

namespace attnscope {

struct Progress;

// Thrown out of long work by a callback after the user canceled it.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
};

// The training loss or its gradient is no longer finite; the weights are those before the step. The message names the
// first non-finite tensor: "the weight decoder.norm.bias".
class NotFinite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using ProgressCallback = std::function<void(const Progress&)>;  // may throw Cancelled
using FractionCallback = std::function<void(double)>;           // 0…1; may throw Cancelled
using YieldCallback = std::function<void()>;                    // lets a probe run; may throw Cancelled

}  // namespace attnscope
