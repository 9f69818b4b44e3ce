// What is looked at in the embeddings workspace, and what is asked of the model for it.
#pragma once

#include <imgui.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/theme.h"
#include "plain/embeddings.h"
#include "plain/senses.h"
#include "plain/snapshot.h"
#include "widgets/plot.h"
#include "widgets/scatter.h"

namespace attnscope {

enum class EmbeddingsMode { map, senses, distances };

// What the pieces are coloured by.
enum class TokenColor { frequency, language, kind, gender, number };

// Points on their way from where they stood to where they belong.
struct MovingPoints {
  std::vector<ImVec2> from, to, now;
  double began = -1;  // ImGui::GetTime(); negative: they stand

  // Where as many stand already they go there, turned so that they go the shortest way (orthogonal Procrustes); else
  // they are there at once.
  void go_to(const Matrix& points, double time);
  void advance(double time);
  bool are_moving() const { return began >= 0; }
};

struct SensesView {
  std::string word = "it";
  std::string typed = "it";
  std::shared_ptr<const SenseResult> inspection;  // the newest
  std::vector<MovingPoints> layers;
  std::vector<ScatterView> scatters;
  int pointed = -1;  // occurrence, in all layers
};

struct EmbeddingsView {
  EmbeddingsMode mode = EmbeddingsMode::map;
  EmbeddingsWanted wanted;
  TokenColor color = TokenColor::frequency;
  std::string search;
  bool searching = false;  // the field is to be given the keyboard
  int slot = -1;           // of the analogy, which the next piece clicked fills; −1: clicks choose
  bool begun = false;      // a first piece was chosen

  // ---- what was answered
  std::uint64_t run = 0;  // of all below
  std::shared_ptr<const EmbeddingResult> inspection;
  std::shared_ptr<const EmbeddingMap> map;  // that the points below were made from
  MovingPoints points;
  ScatterView scatter;
  std::vector<Color32> colors;  // one a piece, of these pieces, by that and in that theme
  std::shared_ptr<const Vocabulary> colored;
  TokenColor colored_by = TokenColor::frequency;
  ThemeName colored_in = ThemeName::dark;
  std::vector<int> important;  // pieces, those that are labelled first before the others
  std::vector<int> matches;    // of the search
  std::string matched;         // the search that they are of
  std::uint64_t apart_version = 0;

  // ---- t-SNE
  bool by_tsne = false;
  float perplexity = 30;
  std::optional<TsneMap> tsne;
  std::uint64_t tsne_run = 0;
  std::vector<ImVec2> tsne_points;  // by piece; no number where the map has none
  ScatterView tsne_scatter;

  SensesView senses;
};

// Takes what the newest look has of all this, if anything.
void take_inspection(EmbeddingsView& view, const Snapshot* live, double time);

void take_tsne(EmbeddingsView& view, const TsneMap& map, std::uint64_t run);

// The neighbours of that piece are wanted; −1: of none.
void choose_token(EmbeddingsView& view, int id);

// A click on a piece: fills the analogy's next place, or chooses it.
void click_token(EmbeddingsView& view, int id);

// token_name
std::string name_of(const Vocabulary& vocabulary, int id);

// Pieces that have the text in them, those that begin with it first.
std::vector<int> matching(const Vocabulary& vocabulary, const std::string& text);

}  // namespace attnscope
