// A file dialog that never touches the disk: it asks the worker for listings and shows what comes back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/look.h"
#include "plain/messages.h"

namespace attnscope {

enum class BrowseFor {
  run,     // an existing run's folder
  corpus,  // a text file
  save,    // a run's folder, by a name typed in
  file,    // a file to write, by a name typed in
  film,    // a folder to write into, by a name typed in
};

struct FileBrowser {
  BrowseFor purpose = BrowseFor::run;
  bool open = false;
  bool just_opened = false;
  bool waiting = false;     // a listing was asked for and has not come
  DirectoryListed listing;  // the last that came
  std::string path_text;    // the path as it is being edited
  std::string filter;       // shows only names that contain it, whatever the case
  std::string name;         // of what is to be made
  int selected = -1;        // of listing.entries
  bool take_focus = false;  // the keyboard goes to the list (saving: to the name) with the next frame
};

// Shows the dialog, in `start` (empty: the last folder shown, or the home folder), and asks for its listing.
void open_browser(FileBrowser& browser, BrowseFor purpose, const std::string& start, std::vector<Command>& commands);

// A listing has come.
void receive(FileBrowser& browser, const DirectoryListed& listing);

// Call every frame. The path chosen, once, as the dialog closes.
std::optional<std::string> draw_browser(FileBrowser& browser, std::vector<Command>& commands, const Look& look);

// "812 B", "3.4 kB", "12 MB".
std::string size_text(std::uint64_t bytes);

}  // namespace attnscope
