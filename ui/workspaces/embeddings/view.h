// View state of the embeddings workspace, and its questions to the model.
#pragma once

#include <imgui.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/theme.h"
#include "messages/embeddings.h"
#include "messages/senses.h"
#include "messages/snapshot.h"
#include "widgets/plot.h"
#include "widgets/scatter.h"

namespace attnscope {

enum class EmbeddingsMode { map, senses, distances, captured };

// The property that colors the tokens.
enum class TokenColor { frequency, language, kind, gender, number };

// Points animated from their old to their new positions.
struct MovingPoints {
  std::vector<ImVec2> from, to, now;
  double began = -1;  // ImGui::GetTime(); negative: not moving

  // Animates to the new points, rotated for the shortest motion (orthogonal Procrustes), if there are equally many;
  // otherwise jumps.
  void go_to(const Matrix& points, double time);
  void advance(double time);
  bool are_moving() const { return began >= 0; }
};

struct SensesView {
  std::string word = "it";
  std::string typed = "it";
  std::shared_ptr<const SenseResult> inspection;  // the newest result
  std::vector<MovingPoints> layers;
  std::vector<ScatterView> scatters;
  int pointed = -1;  // index of the occurrence, in all layers
};

struct CapturedLayersView {
  std::shared_ptr<const Snapshot> snapshot;  // shown last
  std::vector<ScatterView> scatters;
  int pointed = -1;  // index of the token, in all layers
};

struct EmbeddingsView {
  EmbeddingsMode mode = EmbeddingsMode::map;
  EmbeddingsWanted wanted;
  TokenColor color = TokenColor::frequency;
  std::string search;
  bool searching = false;  // request: focus the search field
  int slot = -1;           // the analogy's slot that the next clicked token fills; −1: clicks select
  bool begun = false;      // an initial token was selected

  // ---- results
  std::uint64_t run = 0;  // of everything below
  std::shared_ptr<const EmbeddingResult> inspection;
  std::shared_ptr<const EmbeddingMap> map;  // the map that the points below were computed from
  MovingPoints points;
  ScatterView scatter;
  std::vector<Color32> colors;  // one per token; cached for these tokens, this property and this theme
  std::shared_ptr<const Vocabulary> colored;
  TokenColor colored_by = TokenColor::frequency;
  ThemeName colored_in = ThemeName::dark;
  std::vector<int> important;  // tokens in order of labeling priority
  std::vector<int> matches;    // of the search
  std::string matched;         // the search text that they match
  std::uint64_t apart_version = 0;

  // ---- t-SNE
  bool by_tsne = false;
  float perplexity = 30;
  std::optional<TsneMap> tsne;
  std::uint64_t tsne_run = 0;
  std::vector<ImVec2> tsne_points;  // by token; NaN where the map has none
  ScatterView tsne_scatter;

  SensesView senses;
  CapturedLayersView captured;
};

// Stores what the newest snapshot contains of these results.
void take_inspection(EmbeddingsView& view, const Snapshot* live, double time);

void take_tsne(EmbeddingsView& view, const TsneMap& map, std::uint64_t run);

// Requests the neighbors of that token; −1: none.
void choose_token(EmbeddingsView& view, int id);

// A click on a token: fills the analogy's next slot, or selects the token.
void click_token(EmbeddingsView& view, int id);

// Display name; see token_name.
std::string name_of(const Vocabulary& vocabulary, int id);

// Tokens that contain the text, those that start with it first.
std::vector<int> matching(const Vocabulary& vocabulary, const std::string& text);

}  // namespace attnscope
