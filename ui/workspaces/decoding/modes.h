// The modes of the decoding workspace, and the pictures of one of its steps. Each fills what is left of the window.
#pragma once

#include <vector>

#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/decoding/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// The output built token by token: what the decoder saw, where it looked, what it chose from (paper §3.1, §3.2.3).
void draw_steps(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// All that the beam search considered, as a tree: where each hypothesis went on, ended or was pruned.
void draw_tree(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// Greedy, beam and samples of one model on one sentence, side by side with their scores.
void draw_readings(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// Teacher forcing against free running: what the decoder thinks of the reference, and where it leaves it.
void draw_forcing(const Shown& shown, DecodingView& view, const Skin& skin);

// ---- step by step

// Where every head looked in this step, or a recurrent decoder's alignment; why there is none, where there is none.
void draw_step_heads(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// What the look-ahead mask lets a Transformer's decoder see (paper §3.2.3).
void draw_look_ahead_mask(const Snapshot& snapshot, DecodingView& view, TextureStore& textures, const Skin& skin);

// The logit lens: what each layer would already say at each step, if it were the last. `decodings` is null while they
// are on their way. A click goes to that step.
void draw_lens(const Shown& shown, DecodingView& view, const Decodings* decodings, const Skin& skin);

// The tree of what was steered to. A click on a row returns to that output.
void draw_branches(const Shown& shown, DecodingView& view, const Skin& skin);

// ---- what the views of all outputs at once share

// What to show: `shown` if its decodings are there, else the last that were of the same sentence and run, so that
// nothing flickers while those of the next look are on their way. Without any, draws a word about it and returns a null
// snapshot.
const Shown& settled(const Shown& shown, DecodingView& view, const Skin& skin);

// Text and attention of the output that is looked at, with a button that steers the decoder along it. `shown` is
// settled. Fills what is left of the window.
void draw_hypothesis(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// ---- the workspace, every choice the decoder had (paper §3.1, §3.2.3), as the table of workspaces has it

// What the sentence should become can be edited here.
void draw_decoding(WorkspaceContext& context);

std::span<const WorkspaceKey> decoding_keys();

// In the order of DecodingMode.
std::span<const WorkspaceView> decoding_modes();
void show_mode(Views& views, std::size_t mode);

void ask_for_decodings(const Views& views, Probe& probe);

bool is_playing(const Views& views);

}  // namespace attnscope
