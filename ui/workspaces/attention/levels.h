// The levels of the attention workspace, from far to near. Each fills what is left of the window; the view is settled
// on a part that the model has.
#pragma once

#include <vector>

#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/attention/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// Every layer × head as a thumbnail: the encoder's, the decoder's and the cross-attention's, each in its place or in an
// order.
void draw_model(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// The thumbnails alone, each in its place, beneath each other: the column beside the nearer levels.
void draw_heads(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// One head: its map with labels, and the row that is looked at as a list.
void draw_head(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// One head from the inside: q·k, ÷√d_k, mask, softmax, ×V, W_O, stage after stage (paper §3.2.1).
void draw_inside(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// What every sublayer does to every piece's vector: add & norm, feed-forward (paper §3.1, §3.3).
void draw_sublayers(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// ---- one head as a small picture, which can be chosen

// At the cursor. A click selects the head, with Shift it is shown together with the others; a
// double-click opens the level "Head". Heads that look almost everywhere alike are marked, and those that the look was
// asked for without are hatched.
void draw_head_thumbnail(const Shown& shown, const HeadPlace& place, ImVec2 size, AttentionView& view,
                         TextureStore& textures, const Skin& skin);

// ---- where the norm stands, LayerNorm or RMSNorm: Norm(x + Sublayer(x)) or x + Sublayer(Norm(x))

float norm_diagram_height(const Skin& skin);

// Both ways side by side, the model's own in full colour; where there is no room for both, only that one.
void draw_norm_diagram(const ModelConfig& model, float width, const Skin& skin);

// ---- the units of one feed-forward sublayer: which are active for which piece (paper §3.3)

struct ActiveUnit {
  int unit = 0;
  float value = 0;
};

// One piece's units, the largest values first; only those above 0.
std::vector<ActiveUnit> most_active(const Matrix& active, int token, int count);

// The share of units above 0.
float active_share(const Matrix& active, int token);

// The selected layer's pieces × units, and the most active units of the selected piece. Advances the cursor.
void draw_units(const Shown& shown, AttentionView& view, TextureStore& textures, const Skin& skin);

// ---- the workspace, from the whole model to one head's own numbers, as the table of workspaces has it

void draw_attention(WorkspaceContext& context);

std::span<const WorkspaceKey> attention_keys();

// In the order of AttentionLevel.
std::span<const WorkspaceView> attention_levels();
void show_level(Views& views, std::size_t level);

void ask_for_level(const Views& views, Probe& probe);

// Something about the heads is still being worked out.
bool is_measuring(const Views& views);

}  // namespace attnscope
