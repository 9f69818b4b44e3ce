// A file dialog without disk access: it requests directory listings from the worker and shows the results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/skin.h"
#include "messages/messages.h"

namespace attnscope {

// The kind of file or folder to choose, and the dialog's wording.
struct FileChoice {
  const char* title;
  const char* accept;  // label of the accept button
  const char* advice;
  const char* thing = nullptr;      // the kind of item to create under a new name; null: an existing one is chosen
  bool files = false;               // choose a file, not a folder
  bool runs = false;                // choose a run's folder
  const char* extension = nullptr;  // of files: only these; of runs: or such a file
};

// A path suggested to the user.
struct PathOffer {
  std::string label;
  std::string help;
  std::string path;
};

struct FileBrowser {
  const FileChoice* choice = nullptr;  // null while closed
  bool open = false;
  bool just_opened = false;
  bool waiting = false;           // a listing was requested and has not arrived
  DirectoryListed listing;        // the latest listing
  std::string path_text;          // contents of the path field
  std::string filter;             // only names that contain it are shown; ignores case
  std::string name;               // of the item to create
  std::vector<PathOffer> offers;  // listed above the folder; chosen by a click
  int selected = -1;              // index into listing.entries
  bool entered = false;           // Enter was pressed in the name or path field before the listing arrived
  bool take_focus = false;        // move keyboard focus to the list (saving: to the name) in the next frame
  // The field that gets what is typed while none has the keyboard: a path begins with a slash.
  enum class TypingInto { none, path, filter };
  TypingInto typing = TypingInto::none;
  bool caret_to_end = false;
};

// Opens the dialog in `start` (empty: the last folder shown, or the home folder) and requests its listing. `choice`
// must outlive the browser.
void open_browser(FileBrowser& browser, const FileChoice& choice, const std::string& start,
                  std::vector<Command>& commands);

// Handles an arrived listing.
void receive(FileBrowser& browser, const DirectoryListed& listing);

// Call every frame. Returns the chosen path once, in the frame in which the dialog closes.
std::optional<std::string> draw_browser(FileBrowser& browser, std::vector<Command>& commands, const Skin& skin);

// "812 B", "3.4 kB", "12 MB".
std::string size_text(std::uint64_t bytes);

}  // namespace attnscope
