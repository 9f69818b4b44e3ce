// What is looked at in the decoding workspace, and what is asked of the model for it.
#pragma once

#include <string>
#include <vector>

#include "base/shown.h"
#include "plain/decodings.h"
#include "plain/probe.h"
#include "plain/snapshot.h"
#include "workspaces/decoding/branches.h"
#include "workspaces/decoding/tree_canvas.h"

namespace attnscope {

// What is seen of the decoding: step by step, or all outputs at once.
enum class DecodingMode { steps, tree, readings, forcing };

// What stands below the pieces, step by step.
enum class StepPicture { heads, lens, mask, branches };

// What the outputs side by side remember from frame to frame.
struct ReadingsView {
  float height = 0;                         // all rows would take, in pixels
  std::uint64_t version = 0;                // Shown::version that the following was made from
  std::vector<std::vector<int>> differing;  // of every reading the pieces that greedy did not write
};

struct DecodingView {
  DecodingMode mode = DecodingMode::steps;
  StepPicture picture = StepPicture::heads;
  int time_step = -1;  // of the output, 0 … T-1; −1: the first that was chosen, not given
  bool playing = false;
  double time_step_began = 0;  // ImGui::GetTime() when it was reached; meaningful while playing
  int layer = -1;              // whose attention is shown; -1: the last
  int head = -1;               // -1: the mean over the layer's heads
  int candidate = -1;          // chosen with the keyboard, to be forced next; -1: none
  int scrolled_to = -1;        // the step a long decoder input was last scrolled to
  int lens_scrolled_to = -1;
  Branches branches;  // every output that was steered

  Shown settled;  // the newest with Snapshot::decodings: shown until those of the next look are there
  TreeView tree;
  ReadingsView readings;

  // ---- asked of the model; see Probe
  DecodingOptions options;
  std::string prefix;           // typed
  int typing = 0;               // how many times the field of the prefix was entered
  std::vector<int> prefix_ids;  // chosen after it, piece by piece
  std::vector<int> hypothesis;  // of the beam's tree, whose attention is shown; none: of the output
};

inline constexpr double seconds_per_step = 0.65;

// Brings the step into what the snapshot has.
void go_to(DecodingView& view, const Snapshot& snapshot, int step);

// As go_to, by a click: what plays stops there.
void visit(DecodingView& view, const Snapshot& snapshot, int step);

// Moves by `steps`, stopping at either end; ends the playing.
void move_step(DecodingView& view, const Snapshot& snapshot, int steps);

// Plays from the present step (from the first that was chosen when at the last), or stops.
void toggle_play(DecodingView& view, const Snapshot& snapshot, double now);

// Goes on when the present step has been seen for long enough; while playing.
void advance(DecodingView& view, const Snapshot& snapshot, double now);

// ---- steering: what the output has to begin with

// These pieces, and from there on free.
void steer(DecodingView& view, std::vector<int> ids);

// The output up to `step` as it is, then that piece. Nothing inside a prompt, which was typed.
void force(DecodingView& view, const Snapshot& snapshot, int step, int id);

// The output before `step` as it is, from there on free.
void rewind_to(DecodingView& view, const Snapshot& snapshot, int step);

// All of it free.
void let_go(DecodingView& view);

// Marks the next candidate of the step, or the one before; before the first: none.
void move_candidate(DecodingView& view, const Snapshot& snapshot, int by);

// Forces the marked candidate; false when none is marked.
bool force_candidate(DecodingView& view, const Snapshot& snapshot);

// What was found out about the output shown. While a newer look's decodings are on their way, those of the one before
// if it wrote the same, so that nothing flickers; else null.
const Decodings* decodings_of(const Shown& shown, DecodingView& view);

}  // namespace attnscope
