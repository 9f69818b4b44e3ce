// What the window remembers between launches. The app reads and writes the file; here is only its content.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/theme.h"

namespace attnscope {

enum class Workspace { attention, decoding, positions };

// Everything that names a workspace is made from this: tabs, menu, keys (by the order), settings, the command line.
struct WorkspaceText {
  Workspace workspace;
  std::string_view name;  // in settings and on the command line
  const char* title;      // on its tab
  std::string_view help;
};
std::span<const WorkspaceText> workspaces();

std::string_view workspace_name(Workspace workspace);
std::optional<Workspace> workspace_from(std::string_view name);
std::vector<std::string> workspace_names();

struct Layout {
  float setup_width = 288;  // in pixels at scale 1, like every length here
  float curves_width = 310;
  float heads_width = 340;  // the grid of all heads in the attention workspace
  bool setup_open = true;
  bool curves_open = true;
  Workspace workspace = Workspace::attention;
  ThemeName theme = ThemeName::dark;
  float zoom = 1;  // min_zoom … max_zoom, on top of the display's own scale
  std::string sentence = "The animal didn't cross the street because it was too tired.";
  std::vector<std::string> history;  // sentences looked at before, newest first
  bool operator==(const Layout&) const = default;
};

inline constexpr float min_zoom = 0.5F;
inline constexpr float max_zoom = 3.0F;
inline constexpr std::size_t max_history = 30;

std::string layout_to_json(const Layout& layout);

// Never throws: what cannot be read or used keeps its default and is named in `complaint` (empty when all was well).
struct LayoutRead {
  Layout layout;
  std::string complaint;
};
LayoutRead layout_from_json(std::string_view text);

}  // namespace attnscope
