// What the window remembers between launches. The app reads and writes the file; here is only its content.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/theme.h"
#include "workspaces/workspaces.h"

namespace attnscope {

struct Layout {
  float setup_width = 288;  // in pixels at scale 1, like every length here
  float curves_width = 310;
  float side_width = 340;  // WorkspaceContext::side_width
  bool setup_open = true;
  bool curves_open = true;
  const Workspace* workspace = &workspaces().front();
  ThemeName theme = ThemeName::dark;
  float zoom = 1;  // min_zoom … max_zoom, on top of the display's own scale
  std::string sentence = "The animal didn't cross the street because it was too tired.";
  std::vector<std::string> recent;       // sentences looked at before, newest first
  std::vector<std::string> recent_runs;  // folders opened and saved to, newest first
  std::string offered_run;               // the last that was found kept at a start; it is not offered again
  bool operator==(const Layout&) const = default;
};

inline constexpr float min_zoom = 0.5F;
inline constexpr float max_zoom = 3.0F;
inline constexpr std::size_t max_recent = 30;
inline constexpr std::size_t max_recent_runs = 8;

std::string layout_to_json(const Layout& layout);

// Never throws: what cannot be read or used keeps its default and is named in `complaint` (empty when all was well).
struct LayoutRead {
  Layout layout;
  std::string complaint;
};
LayoutRead layout_from_json(std::string_view text);

}  // namespace attnscope
