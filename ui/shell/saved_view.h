// A saved view: the contents of the screen as one small file, for example a teacher's starting point. It holds the run,
// the recorded step, the sentence, the view, the selection and the interventions, and opening it restores exactly
// these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/heads.h"
#include "messages/interventions.h"
#include "messages/messages.h"
#include "shell/layout.h"
#include "workspaces/attention/view.h"

namespace attnscope {

struct AppState;

inline constexpr std::string_view saved_view_extension = ".attnscope";
inline constexpr std::string_view shipped_run_name = "shipped";  // for the run that ships with the program

struct SavedView {
  std::string run{shipped_run_name};  // shipped_run_name, or a path; relative to this file's folder
  std::optional<std::int64_t> step;   // recorded step of the sentence; nullopt: the present
  std::string sentence;
  std::string reference;
  const Workspace* workspace = find_workspace("attention");
  std::string view;  // of the workspace; empty: it has only one
  Density density = Density::standard;
  bool presentation = false;
  HeadPlace head;
  HeadPicture picture = HeadPicture::both;
  bool words = false;
  std::optional<int> query, key;  // selected positions
  Interventions interventions;
  bool operator==(const SavedView&) const = default;
};

inline constexpr std::size_t most_view_bytes = 256 * 1024;

std::string to_json(const SavedView& view);

// Parses any bytes: returns a view, or an error that names the field, its value and what is allowed.
struct SavedViewRead {
  SavedView view;
  std::string complaint;  // not empty: the view is invalid
};
SavedViewRead saved_view_from_json(std::string_view text);

// ---- in the window

// False if the run was never saved: another process could not find it.
bool can_save_view(const AppState& scope);
void save_view(AppState& scope, const std::string& path, bool replace);

// A view whose run is still being opened.
struct OpeningView {
  SavedView view;
  std::string folder;  // the run's folder
  std::uint64_t run_before = 0;
};

// Opens the view, after its run if that is another one; `folder` contains the file.
void open_view(AppState& scope, SavedView view, const std::string& folder);

// Handles the result of reading the file.
void receive(AppState& scope, const FileRead& read);

// Applies the pending view once its run is open; call once per frame, before settle_lesson.
void settle_saved_view(AppState& scope);

// Handles that the run could not be opened.
void give_up_view(AppState& scope);

}  // namespace attnscope
