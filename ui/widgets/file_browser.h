// A file dialog that never touches the disk: it asks the worker for listings and shows what comes back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/skin.h"
#include "plain/messages.h"

namespace attnscope {

// What is to be chosen, and how the dialog says it.
struct FileChoice {
  const char* title;
  const char* accept;  // on the button
  const char* advice;
  const char* thing = nullptr;  // what is given a name and made; none: what is there is chosen
  bool files = false;           // it is a file, not a folder
  bool runs = false;            // it is a run's folder
};

// One that may be wanted again.
struct PathOffer {
  std::string label;
  std::string help;
  std::string path;
};

struct FileBrowser {
  const FileChoice* choice = nullptr;  // while it is open
  bool open = false;
  bool just_opened = false;
  bool waiting = false;           // a listing was asked for and has not come
  DirectoryListed listing;        // the last that came
  std::string path_text;          // the path as it is being edited
  std::string filter;             // shows only names that contain it, whatever the case
  std::string name;               // of what is to be made
  std::vector<PathOffer> offers;  // above the folder, to be chosen by a click
  int selected = -1;              // of listing.entries
  bool entered = false;           // Enter, in the name, before the listing was there
  bool take_focus = false;        // the keyboard goes to the list (saving: to the name) with the next frame
};

// Shows the dialog, in `start` (empty: the last folder shown, or the home folder), and asks for its listing. `choice`
// outlives it.
void open_browser(FileBrowser& browser, const FileChoice& choice, const std::string& start,
                  std::vector<Command>& commands);

// A listing has come.
void receive(FileBrowser& browser, const DirectoryListed& listing);

// Call every frame. The path chosen, once, as the dialog closes.
std::optional<std::string> draw_browser(FileBrowser& browser, std::vector<Command>& commands, const Skin& skin);

// "812 B", "3.4 kB", "12 MB".
std::string size_text(std::uint64_t bytes);

}  // namespace attnscope
