// What the window remembers between launches. The app reads and writes the file; here is only its content.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/theme.h"
#include "lessons/lesson.h"
#include "workspaces/workspaces.h"

namespace attnscope {

// How much stands in the window. What is left out is found by the menus, the palette and the columns' own buttons.
enum class Density {
  simple,      // the sentence and what the model makes of it
  standard,    // setup and curves beside it; of the settings those that are changed first
  everything,  // all settings, all numbers
};
std::span<const std::string_view> density_names();  // in settings and on the command line, in the order of Density

struct Layout {
  float setup_width = 288;  // in pixels at scale 1, like every length here
  float curves_width = 310;
  float side_width = 340;  // WorkspaceContext::side_width
  Density density = Density::everything;
  bool setup_open = true;
  bool curves_open = true;
  const Workspace* workspace = find_workspace("attention");
  std::optional<ThemeName> theme;    // none: the system's
  std::optional<Language> language;  // of window and lessons; none: the system's
  float zoom = 1;                    // min_zoom … max_zoom, on top of the display's own scale
  std::string sentence = "The animal didn't cross the street because it was too tired.";
  std::vector<std::string> recent;       // sentences looked at before, newest first
  std::vector<std::string> recent_runs;  // folders opened and saved to, newest first
  std::string offered_run;               // the last that was found kept at a start; it is not offered again
  bool operator==(const Layout&) const = default;
};

// With the columns that belong to it; each can be opened and closed by itself afterwards.
void set_density(Layout& layout, Density density);

// At the very first launch: calm, with one thing to look at.
Layout first_layout();

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
