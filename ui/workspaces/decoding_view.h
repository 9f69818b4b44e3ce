// What is looked at in the decoding workspace, and what is asked of the model for it.
#pragma once

#include <string>
#include <vector>

#include "plain/probe.h"
#include "plain/snapshot.h"
#include "shown.h"
#include "workspaces/tree_canvas.h"

namespace attnscope {

// What is seen of the decoding: step by step, or all outputs at once.
enum class DecodingMode { steps, tree, readings, forcing };

struct DecodingView {
  DecodingMode mode = DecodingMode::steps;
  int step = -1;  // 0 … T-1; −1: the first that was chosen, not given
  bool playing = false;
  double step_began = 0;  // ImGui::GetTime() when the present step was reached; meaningful while playing
  int layer = -1;         // whose attention is shown; -1: the last
  int scrolled_to = -1;   // the step a long decoder input was last scrolled to
  int head = -1;          // -1: the mean over the layer's heads

  Shown settled;  // the newest with Snapshot::decodings: shown until those of the next look are there
  TreeView tree;

  // ---- asked of the model; see Probe
  DecodingOptions options;
  std::string prefix;           // typed
  std::vector<int> prefix_ids;  // chosen after it, piece by piece
  std::vector<int> hypothesis;  // of the beam's tree, whose attention is shown; none: of the output
};

inline constexpr double seconds_per_step = 0.65;

// Moves by `steps`, stopping at either end; ends the playing.
void move_step(DecodingView& view, const Snapshot& snapshot, int steps);

// Plays from the present step (from the first that was chosen when at the last), or stops.
void toggle_play(DecodingView& view, const Snapshot& snapshot, double now);

}  // namespace attnscope
