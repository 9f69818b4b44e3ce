// What is on the screen as one small file, a teacher's starting point: which run, which of its recorded steps, the
// sentence, the view, what is selected in it, and what was changed in the model. Opening it brings exactly that back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plain/heads.h"
#include "plain/interventions.h"
#include "plain/messages.h"
#include "shell/layout.h"
#include "workspaces/attention/view.h"

namespace attnscope {

struct AppState;

inline constexpr std::string_view saved_view_extension = ".attnscope";
inline constexpr std::string_view shipped_run_name = "shipped";  // for the run that comes with the program

struct SavedView {
  std::string run{shipped_run_name};  // else its folder, from the file's own folder on if it is not absolute
  std::optional<std::int64_t> step;   // that was recorded of the sentence; none: the present
  std::string sentence;
  std::string reference;
  const Workspace* workspace = find_workspace("attention");
  std::string view;  // of the workspace; empty: it has but one
  Density density = Density::standard;
  bool presentation = false;
  HeadPlace head;
  HeadPicture picture = HeadPicture::both;
  bool words = false;
  std::optional<int> query, key;  // that are selected
  Interventions interventions;
  bool operator==(const SavedView&) const = default;
};

inline constexpr std::size_t most_view_bytes = 256 * 1024;

std::string to_json(const SavedView& view);

// Whatever bytes are given: a view, or what is wrong with them, naming the field, its value and what is allowed.
struct SavedViewRead {
  SavedView view;
  std::string complaint;  // not empty: it cannot be used
};
SavedViewRead saved_view_from_json(std::string_view text);

// ---- the window's

// Another process could not find the run again: it was never saved.
bool can_save_view(const AppState& scope);
void save_view(AppState& scope, const std::string& path, bool replace);

// A view whose run is being opened.
struct OpeningView {
  SavedView view;
  std::string folder;  // of the run
  std::uint64_t run_before = 0;
};

// Opens the run first, if it is another; `folder` is the file's.
void open_view(AppState& scope, SavedView view, const std::string& folder);

// The file was read, or could not be.
void receive(AppState& scope, const FileRead& read);

// Brings the view that waits for its run, once the run is there; once a frame, before the lesson is looked after.
void settle_saved_view(AppState& scope);

// The run could not be opened.
void give_up_view(AppState& scope);

}  // namespace attnscope
