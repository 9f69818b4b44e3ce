// The interface of a workspace: a row of the table in workspaces.cpp.
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

#include "analysis/curves.h"
#include "base/input.h"
#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "common/matrix.h"
#include "config/config.h"
#include "messages/messages.h"
#include "messages/probe.h"
#include "messages/study.h"

namespace attnscope {

// View state that persists between frames (selection, zoom): one value per type, default-constructed on first access.
// References stay valid as long as the store.
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

// The context passed to every workspace.
struct WorkspaceContext {
  ShownMaps maps;
  // The newest snapshot: of the present model, or through the weights of the displayed recorded step if there are any;
  // may be null.
  const Snapshot* live;
  Views& views;
  const RunOpened& run;                         // facts of the run
  const Config& config;                         // of the run; the default configuration if there is none
  const Curves& curves;                         // metrics measured so far
  bool has_run;                                 // a run is open
  std::string& reference;                       // expected output for the sentence; empty: unknown
  float& side_width;                            // of a side column, in pixels at scale 1; persists between launches
  std::optional<StudyQuestion>& study;          // a study to start, replacing the running one
  bool studying;                                // a study is running
  std::optional<std::string>& sentence_wanted;  // requests another sentence
  bool& experiments_wanted;                     // requests the gallery of experiments
  std::optional<std::string>& path_wanted;      // requests to open a run, or a folder of runs
  TextureStore& textures;
  const Skin& skin;
};

struct WorkspaceKey {
  Chord chord;        // no Shift: it is reserved for the window's own shortcuts
  const char* title;  // in the list of shortcuts, where neighbors with the same title share a line
  void (*act)(WorkspaceContext&);
};

// The keys with that title: "Enter, Backspace".
std::string keys_text(std::span<const WorkspaceKey> keys, std::string_view title);

// The least that a view needs: a writer is a model that generates text token by token; a capture has no model, hidden
// states only if its program recorded them, and weights only if its values are not signed.
enum class ViewNeeds { writer, model, hidden, weights, attention, nothing };

// One of the views of a workspace: a level or mode.
struct WorkspaceView {
  std::string_view name;  // on the command line; unique among the views of all workspaces
  const char* title;
  const char* help;
  const char* short_title = nullptr;  // used if the titles need more than one row; nullptr: the title
  ViewNeeds needs = ViewNeeds::model;
};

// The reason why a view cannot show that snapshot, in one sentence; null: it can.
const char* view_refusal(const WorkspaceView& view, const Snapshot& snapshot);

// Draws the choice of a view, in one row if the short titles fit; returns the index of the chosen view. The row stays
// open: see draw_choice. `more` is appended to every tooltip. Views that cannot show `snapshot` are left out; null: all
// are drawn.
std::size_t draw_view_choices(std::span<const WorkspaceView> views, std::size_t shown, const Skin& skin,
                              const std::string& more = {}, const Snapshot* snapshot = nullptr);

// Numbers to export: a labeled matrix, and the suggested file name.
struct WorkspaceNumbers {
  Matrix matrix;
  std::vector<std::string> rows;
  std::vector<std::string> cols;
  std::string title;
};

// Requirements for showing a workspace.
struct WorkspaceNeeds {
  bool inspection = true;  // a model; false: also shown without one, and snapshots may be null
  bool text = true;        // a sentence; a language model generates without one
  bool decoding = false;   // a complete decoding, not only tokens and encoder
  bool present = false;    // data that recorded frames do not contain
  bool writer = false;     // an autoregressive model, not a classifier
};

struct Workspace {
  std::string_view name;  // in settings and on the command line
  const char* title;      // title of its tab
  const char* group;      // neighbors in the table share a group; each group has a number key
  const char* help;
  WorkspaceNeeds needs = {};
  ViewNeeds least = ViewNeeds::model;         // if it has no views
  void (*draw)(WorkspaceContext&) = nullptr;  // fills the rest of the window
  std::span<const WorkspaceKey> (*keys)() = nullptr;
  std::span<const WorkspaceView> (*views)() = nullptr;
  void (*show)(Views&, std::size_t view) = nullptr;  // by index of the view
  std::size_t (*shown)(const Views&) = nullptr;      // same
  void (*ask)(const Views&, Probe&) = nullptr;       // for data other than attention maps and the decoding
  std::optional<WorkspaceNumbers> (*numbers)(const Views&) = nullptr;  // numbers other than an attention map; nullopt:
                                                                       // none at present
  const char* title_of_masks = nullptr;     // title for a masked language model; null: the same
  bool (*is_busy)(const Views&) = nullptr;  // playing or computing: needs frames without input
};

}  // namespace attnscope
