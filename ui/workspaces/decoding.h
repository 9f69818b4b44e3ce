// The output built token by token: what the decoder saw, where it looked, what it chose from (paper §3.1, §3.2.3).
#pragma once

#include <string>
#include <vector>

#include "look.h"
#include "plain/probe.h"
#include "shown.h"
#include "textures.h"

namespace attnscope {

struct DecodingView {
  int step = -1;  // 0 … T-1; −1: the first that was chosen, not given
  bool playing = false;
  double step_began = 0;  // ImGui::GetTime() when the present step was reached; meaningful while playing
  int layer = -1;         // whose attention is shown; -1: the last
  int scrolled_to = -1;   // the step a long decoder input was last scrolled to
  int head = -1;          // -1: the mean over the layer's heads

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

// Fills what is left of the window. `shown` holds a snapshot decoded to its end.
void draw_decoding(const Shown& shown, DecodingView& view, TextureStore& textures, const Look& look);

}  // namespace attnscope
