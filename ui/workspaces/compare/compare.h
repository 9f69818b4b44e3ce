// A − B: what two models make of one sentence, side by side and as their difference, for the workspaces that have such
// a view. A and B alone are drawn by the workspaces themselves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/workspace.h"

namespace attnscope {

// What both show; a snapshot may be null.
struct BothContext {
  ShownMaps a;
  ShownMaps b;
  std::string name_a;  // what each is called for what they differ in: "rope"
  std::string name_b;
  Views& views;
  TextureStore& textures;
  const Skin& skin;
};

struct DifferenceView {
  std::string_view workspace;  // by its name
  void (*draw)(BothContext&);  // fills what is left of the window
  std::optional<WorkspaceNumbers> (*numbers)(const Views&);
};

// Null: that workspace has none.
const DifferenceView* find_difference_view(std::string_view workspace);

// "attention, decoding, positions and embeddings"
std::string difference_titles();

}  // namespace attnscope
