// The views of the embeddings workspace, and the controls above them.
#pragma once

#include <optional>
#include <span>

#include "base/shown.h"
#include "workspaces/embeddings/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// ---- for the table of workspaces
void draw_embeddings(WorkspaceContext& context);
std::span<const WorkspaceKey> embedding_keys();
std::span<const WorkspaceView> embedding_modes();
void show_embedding_mode(Views& views, std::size_t mode);
void ask_for_embeddings(const Views& views, Probe& probe);
std::optional<WorkspaceNumbers> embedding_numbers(const Views& views);
bool is_moving(const Views& views);

// ---- one function per view; they require a snapshot
void draw_embedding_map(WorkspaceContext& context, EmbeddingsView& view);
void draw_distances(const ModelConfig& model, EmbeddingsView& view, TextureStore& textures, const Skin& skin);
void draw_senses(WorkspaceContext& context, EmbeddingsView& view);
void draw_captured_layers(WorkspaceContext& context, EmbeddingsView& view);

// "embedding", "layer 1", …
std::vector<std::string> layer_names(std::size_t count);

// ---- the column next to the map: the selected token with its neighbors, now and earlier; analogies; distances
void draw_embedding_side(EmbeddingsView& view, const Skin& skin);

// ---- colors of the tokens

struct ColorKey {  // a line of the legend
  Color32 color = 0;
  std::string name;
};

// One color per token.
std::vector<Color32> token_colors(const Vocabulary& vocabulary, TokenColor by, const Theme& theme);
// Empty for frequency, which is a gradient from rare to frequent.
std::vector<ColorKey> color_keys(TokenColor by, const Theme& theme);
// Returns whether the corpus provides that property.
bool is_known(const Vocabulary& vocabulary, TokenColor by);
Color32 frequency_color(double share, const Theme& theme);

// Known facts about a token, one per line.
std::string facts_text(const EmbeddingResult& inspection, int id);

// The explanation of a cosine: formula, number, and facts about the token.
std::string cosine_text(const EmbeddingResult& inspection, int id, float cosine);

}  // namespace attnscope
