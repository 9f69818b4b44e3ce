// View state of the decoding workspace, and the options it requests from the model.
#pragma once

#include <string>
#include <vector>

#include "base/shown.h"
#include "messages/decodings.h"
#include "messages/probe.h"
#include "messages/snapshot.h"
#include "workspaces/decoding/branches.h"
#include "workspaces/decoding/tree_canvas.h"

namespace attnscope {

// One step at a time, or all outputs at once.
enum class DecodingMode { steps, tree, readings, forcing };

// The picture below the tokens, in the mode "Step by step".
enum class StepPicture { heads, lens, mask, branches };

// State of the outputs shown side by side.
struct ReadingsView {
  float height = 0;                         // of all rows, in pixels
  std::uint64_t version = 0;                // Shown::version that the following was computed from
  std::vector<std::vector<int>> differing;  // per reading, the tokens that differ from the greedy output
};

// The choice between logit lens and tuned lens, which is fitted when it is chosen.
struct LensChoice {
  bool tuned = false;
  std::uint64_t run = 0;  // the one that it was asked for
  std::int64_t step = 0;
  std::optional<TunedLensResult> fitted;
};

struct DecodingView {
  DecodingMode mode = DecodingMode::steps;
  StepPicture picture = StepPicture::heads;
  int time_step = -1;  // of the output, 0 … T-1; −1: the first step after the prefix
  bool playing = false;
  double time_step_began = 0;  // ImGui::GetTime() when the step was reached; valid only while playing
  int layer = -1;              // whose attention is shown; −1: the last
  int head = -1;               // −1: the mean over the layer's heads
  int candidate = -1;          // marked with the keyboard, to be forced next; −1: none
  int scrolled_to = -1;        // the step to which a long decoder input was last scrolled
  int lens_scrolled_to = -1;
  LensChoice lens;
  Branches branches;  // all steered outputs

  Shown settled;  // the newest with Snapshot::decodings; shown until the next arrive
  TreeView tree;
  ReadingsView readings;

  // ---- requested from the model; see Probe
  DecodingOptions options;
  std::string prefix;           // as typed
  int typing = 0;               // number of times the prefix field was entered
  std::vector<int> prefix_ids;  // selected after the typed prefix, token by token
  std::vector<int> masked;      // masked language model: positions masked by a click, ascending
  std::string masked_text;      // the sentence they belong to
  std::vector<int> hypothesis;  // of the beam's tree, whose attention is shown; empty: the output
};

inline constexpr double seconds_per_step = 0.65;

// Clamps the step to the snapshot and goes there.
void go_to(DecodingView& view, const Snapshot& snapshot, int step);

// Like go_to, but after a click: stops playing.
void visit(DecodingView& view, const Snapshot& snapshot, int step);

// Moves by `steps`, clamped to either end; stops playing.
void move_step(DecodingView& view, const Snapshot& snapshot, int steps);

// Starts playing at the present step (at the first free step if at the last), or stops.
void toggle_play(DecodingView& view, const Snapshot& snapshot, double now);

// While playing: advances when the present step has been shown long enough.
void advance(DecodingView& view, const Snapshot& snapshot, double now);

// ---- steering: the forced prefix of the output

// Forces these tokens; decoding is free from there on.
void steer(DecodingView& view, std::vector<int> ids);

// Forces the output up to `step`, then that token. Does nothing inside a prompt, which was typed.
void force(DecodingView& view, const Snapshot& snapshot, int step, int id);

// Forces the output before `step`; decoding is free from there on.
void rewind_to(DecodingView& view, const Snapshot& snapshot, int step);

// Masks the token at that position, or shows it again; a typed mask stays.
void toggle_mask(DecodingView& view, const Snapshot& snapshot, int position);

// Clears the prefix: decoding is free.
void let_go(DecodingView& view);

// Marks the next or previous candidate of the step; before the first: none.
void move_candidate(DecodingView& view, const Snapshot& snapshot, int by);

// Forces the marked candidate; returns false if none is marked.
bool force_candidate(DecodingView& view, const Snapshot& snapshot);

// The decodings of the output on display. Until those of a newer snapshot arrive, returns the previous ones if the
// output is the same, to avoid flicker; else null.
const Decodings* decodings_of(const Shown& shown, DecodingView& view);

}  // namespace attnscope
