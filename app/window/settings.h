// The window's settings between launches, in a JSON file in the user's configuration folder.
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
  std::string complaint;  // unusable content and its handling; empty: no problems
};

// Never throws. A missing file means the first launch. A file that is not JSON is moved aside, so that it can be
// inspected and is not overwritten; in a valid file, unusable values are replaced by their defaults.
SettingsRead read_settings(const std::filesystem::path& file);

// Replaces the file, creating its folder first. Throws FileError or std::filesystem::filesystem_error.
void write_settings(const std::filesystem::path& file, const Settings& settings);

}  // namespace attnscope
