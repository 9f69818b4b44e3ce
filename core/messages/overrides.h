// Everything by which the display differs from the unmodified model at the present step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/interventions.h"
#include "messages/snapshot.h"

namespace attnscope {

inline constexpr float largest_steering = 1000;  // factor; numbers overflow beyond it

struct Overrides {
  Interventions interventions;
  std::string prefix;                // the output starts with this text …
  std::vector<int> prefix_ids;       // … followed by these tokens
  bool lifted_mask = false;          // for the numbers of one head only
  std::optional<std::int64_t> step;  // a recorded one
};

enum class OverrideKind {
  head_off,
  layer_off,
  forced_attention,
  replaced_token,
  hidden_keys,
  steered,
  other_scale,
  no_residuals,
  no_positions,
  prefix,
  lifted_mask,
  recorded_step
};

// One override, described in words.
struct Override {
  OverrideKind kind = OverrideKind::head_off;
  std::size_t index = 0;  // among those of its kind
  std::string text;
};

// Lists all overrides; tokens are named as in `seen`, or by position beyond its length. `seen` may be null.
std::vector<Override> listed(const Overrides& overrides, const Snapshot* seen);

}  // namespace attnscope
