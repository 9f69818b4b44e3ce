// The levels of the attention workspace, from overview to detail. Each fills the rest of the window; the view must be
// settled on a part that the model has.
#pragma once

#include <vector>

#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/attention/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// Every layer × head as a thumbnail, for encoder, decoder and cross-attention, in model order or sorted.
void draw_model(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// Only the thumbnails, in model order, in one column next to the more detailed levels.
void draw_heads(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// One head: its map with labels, and one row of weights as a list.
void draw_head(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// The computation of one head: q·k, ÷√d_k, mask, softmax, ×V, W_O, stage by stage (paper §3.2.1).
void draw_inside(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// The effect of every sublayer on each token's vector: add & norm, feed-forward (paper §3.1, §3.3).
void draw_sublayers(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// ---- one head as a thumbnail that can be selected

// Draws at the cursor. A click selects the head, Shift+click shows it together with the others, a double-click opens
// the level "Head". Heads with nearly uniform attention are marked; heads ablated in the snapshot are hatched.
void draw_head_thumbnail(const Shown& shown, const HeadPlace& place, ImVec2 size, AttentionView& view,
                         TextureStore& textures, const Skin& skin);

// ---- post-norm or pre-norm (LayerNorm or RMSNorm): Norm(x + Sublayer(x)) or x + Sublayer(Norm(x))

float norm_diagram_height(const Skin& skin);

// Draws both variants side by side, with the model's own in full color; only that one if there is no room for both.
void draw_norm_diagram(const ModelConfig& model, float width, const Skin& skin);

// ---- the units of one feed-forward sublayer: which are active for which token (paper §3.3)

struct ActiveUnit {
  int unit = 0;
  float value = 0;
};

// The units of one token with values above 0, in descending order.
std::vector<ActiveUnit> most_active(const Matrix& active, int token, int count);

// The fraction of units above 0.
float active_share(const Matrix& active, int token);

// Draws the selected layer's tokens × units, and the most active units of the selected token. Advances the cursor.
void draw_units(const Shown& shown, AttentionView& view, TextureStore& textures, const Skin& skin);

// ---- the workspace for the table of workspaces, from the whole model to one head's computation

void draw_attention(WorkspaceContext& context);

std::span<const WorkspaceKey> attention_keys();

// Same order as AttentionLevel.
std::span<const WorkspaceView> attention_levels();
void show_level(Views& views, std::size_t level);

void ask_for_level(const Views& views, Probe& probe);

// True while statistics of heads are still being computed.
bool is_measuring(const Views& views);

}  // namespace attnscope
