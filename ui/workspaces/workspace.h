// What a workspace is to the window: a row of the table in workspaces.cpp.
#pragma once

#include <any>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "base/input.h"
#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "plain/config.h"
#include "plain/curves.h"
#include "plain/matrix.h"
#include "plain/probe.h"
#include "plain/study.h"

namespace attnscope {

// What the workspaces remember from frame to frame (selection, zoom): one value of each type, as its type begins until
// somebody changes it. A reference holds as long as the store.
class Views {
 public:
  template <typename View>
  View& of() {
    return stored<View>();
  }
  template <typename View>
  const View& of() const {
    return stored<View>();
  }

 private:
  template <typename View>
  View& stored() const {
    std::any& view = views_[typeid(View)];
    if (!view.has_value()) view.emplace<View>();
    return *std::any_cast<View>(&view);
  }

  mutable std::map<std::type_index, std::any> views_;
};

// All that a workspace is given, the same for each.
struct WorkspaceContext {
  ShownMaps maps;
  // The newest look of the window: at the present model, or through the weights of the recorded step that is shown,
  // where there are any; may be null.
  const Snapshot* live;
  Views& views;
  const Config& config;    // of the run; as a configuration begins while there is none
  const Curves& curves;    // what was measured of it so far
  bool has_run;            // one is open
  std::string& reference;  // what the sentence should become; empty: not known
  float& side_width;       // of a column beside the picture, in pixels at scale 1: kept from launch to launch
  std::optional<StudyQuestion>& study;          // to be begun, in place of the one under way
  bool studying;                                // there is one under way
  std::optional<std::string>& sentence_wanted;  // instead of the present one
  TextureStore& textures;
  const Skin& skin;
};

struct WorkspaceKey {
  Chord chord;        // Shift belongs to the window's own keys
  const char* title;  // in the list of keys, where neighbours of one title share a line
  void (*act)(WorkspaceContext&);
};

// The keys of that title, "Enter, Backspace".
std::string keys_text(std::span<const WorkspaceKey> keys, std::string_view title);

// One of several things to look at inside a workspace: a level, a mode.
struct WorkspaceView {
  std::string_view name;  // on the command line; no two views of all workspaces share one
  const char* title;
  const char* help;
};

// What a workspace shows, to be taken away: a matrix with its labels, and what the file may be called.
struct WorkspaceNumbers {
  Matrix matrix;
  std::vector<std::string> rows;
  std::vector<std::string> cols;
  std::string title;
};

// To be shown.
struct WorkspaceNeeds {
  bool inspection = true;  // at a model; else it is shown before there is one, and the snapshots may be null
  bool text = true;        // a sentence; a language model writes without one
  bool decoding = false;   // a decoding that came to its end, not the sentence's pieces and encoder alone
  bool present = false;    // what recorded frames do not hold
  bool writer = false;     // a model that writes piece by piece: no classifier
};

struct Workspace {
  std::string_view name;  // in settings and on the command line
  const char* title;      // on its tab
  const char* group;      // neighbours of one group stand together; each group has a number key
  const char* help;
  WorkspaceNeeds needs = {};
  void (*draw)(WorkspaceContext&) = nullptr;  // fills what is left of the window
  std::span<const WorkspaceKey> (*keys)() = nullptr;
  std::span<const WorkspaceView> (*views)() = nullptr;
  void (*show)(Views&, std::size_t view) = nullptr;  // by its place among the views
  std::size_t (*shown)(const Views&) = nullptr;      // likewise
  void (*ask)(const Views&, Probe&) = nullptr;       // for what it shows besides the maps and the decoding
  std::optional<WorkspaceNumbers> (*numbers)(const Views&) = nullptr;  // besides an attention map; none now: nothing
  bool (*is_busy)(const Views&) = nullptr;  // plays, or works something out: wants frames without input
};

}  // namespace attnscope
