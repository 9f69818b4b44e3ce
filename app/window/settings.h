// What the window remembers from one launch to the next, in a JSON file of the user's configuration folder.
#pragma once

#include <filesystem>
#include <string>

#include "shell/layout.h"
#include "window/place.h"

namespace attnscope {

struct Settings {
  Layout layout;
  WindowPlace window = {};
};

struct SettingsRead {
  Settings settings;
  std::string complaint;  // what could not be used, and what became of it; empty when all was well
};

// Never throws. No file: the first launch. A file that is not JSON is moved aside, so that it can be looked at and is
// not written over; of one that is, single values that cannot be used are replaced by their defaults.
SettingsRead read_settings(const std::filesystem::path& file);

// Replaces the file, making its folder first. Throws FileError or std::filesystem::filesystem_error.
void write_settings(const std::filesystem::path& file, const Settings& settings);

}  // namespace attnscope
