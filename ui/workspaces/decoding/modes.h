// The modes of the decoding workspace, and the pictures of a single step. Each fills the rest of the window.
#pragma once

#include <vector>

#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/decoding/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// The output token by token: the decoder's input, its attention, its candidates (paper §3.1, §3.2.3).
void draw_steps(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// All hypotheses that the beam search considered, as a tree: continued, finished or pruned.
void draw_tree(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// Greedy, beam and sampled outputs of one model for one sentence, side by side with their scores.
void draw_readings(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// Teacher forcing against free running: the probabilities of the reference, and the first divergence from it.
void draw_forcing(const Shown& shown, DecodingView& view, const Skin& skin);

// Instead of all modes, for a masked language model: its predictions at any position of the sentence.
void draw_fill(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// ---- mode "Step by step"

// The attention of every head at this step, or a recurrent decoder's alignment; a note if there is none.
void draw_step_heads(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// The positions that the look-ahead mask lets a Transformer's decoder attend to (paper §3.2.3).
void draw_look_ahead_mask(const Snapshot& snapshot, DecodingView& view, TextureStore& textures, const Skin& skin);

// The logit lens: each layer's prediction at each step if decoding stopped there. `decodings` is null until available.
// A click goes to that step.
void draw_lens(const Shown& shown, DecodingView& view, const Decodings* decodings, const Skin& skin);

// The tree of steered outputs. A click on a row returns to that output.
void draw_branches(const Shown& shown, DecodingView& view, const Skin& skin);

// ---- shared by the views of all outputs at once

// Returns `shown` if its decodings are available, else the last ones of the same sentence and run, to avoid flicker
// until the next arrive. If there are none, draws a note and returns a null snapshot.
const Shown& settled(const Shown& shown, DecodingView& view, const Skin& skin);

// Text and attention of the selected output, with a button that forces it. `shown` must be settled. Fills the rest of
// the window.
void draw_hypothesis(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// ---- the workspace for the table of workspaces: every choice of the decoder (paper §3.1, §3.2.3)

// The reference can be edited here.
void draw_decoding(WorkspaceContext& context);

std::span<const WorkspaceKey> decoding_keys();

// Same order as DecodingMode.
std::span<const WorkspaceView> decoding_modes();
void show_mode(Views& views, std::size_t mode);

void ask_for_decodings(const Views& views, Probe& probe);

bool is_playing(const Views& views);

}  // namespace attnscope
