// A − B: the results of two models on one sentence, side by side and as a difference, for the workspaces that have such
// a view. The workspaces themselves draw A or B.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/workspace.h"

namespace attnscope {

// The snapshots of both; either may be null.
struct BothContext {
  ShownMaps a;
  ShownMaps b;
  std::string name_a;  // names after the settings in which they differ: "rope"
  std::string name_b;
  Views& views;
  TextureStore& textures;
  const Skin& skin;
};

struct DifferenceView {
  std::string_view workspace;  // name of the workspace
  void (*draw)(BothContext&);  // fills the rest of the window
  std::optional<WorkspaceNumbers> (*numbers)(const Views&);
};

// Returns null if that workspace has none.
const DifferenceView* find_difference_view(std::string_view workspace);

// "attention, decoding, positions and embeddings"
std::string difference_titles();

}  // namespace attnscope
