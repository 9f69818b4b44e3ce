// All in which what is shown is not the plain model at the present step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plain/interventions.h"
#include "plain/snapshot.h"

namespace attnscope {

struct Overrides {
  Interventions interventions;
  std::string prefix;                // the output has to begin with this …
  std::vector<int> prefix_ids;       // … and then with these pieces
  bool lifted_mask = false;          // for one head's numbers alone
  std::optional<std::int64_t> step;  // a recorded one
};

enum class OverrideKind {
  head_off,
  layer_off,
  forced_attention,
  replaced_token,
  hidden_keys,
  other_scale,
  no_residuals,
  no_positions,
  prefix,
  lifted_mask,
  recorded_step
};

// One of them, in words.
struct Override {
  OverrideKind kind = OverrideKind::head_off;
  std::size_t index = 0;  // among those of its kind
  std::string text;
};

// Each of them; pieces are named as in `seen`, or by their numbers where it has not so many. `seen` may be null.
std::vector<Override> listed(const Overrides& overrides, const Snapshot* seen);

}  // namespace attnscope
