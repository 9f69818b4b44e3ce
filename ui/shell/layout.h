// Settings that persist between launches. The app reads and writes the file; this is only its content.
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

// The amount of detail in the window. Hidden parts are available through the menus, the palette and the columns'
// buttons.
enum class Density {
  simple,      // the sentence and the model's output
  standard,    // setup and curves as well, with only the most frequently changed settings
  everything,  // all settings, all numbers
};
std::span<const std::string_view> density_names();  // names in settings and on the command line, in the order of
                                                    // Density

struct Layout {
  float setup_width = 310;  // in pixels at scale 1, like all lengths here
  float curves_width = 310;
  float side_width = 340;  // WorkspaceContext::side_width
  Density density = Density::everything;
  bool setup_open = true;
  bool curves_open = true;
  const Workspace* workspace = find_workspace("attention");
  std::optional<ThemeName> theme;    // nullopt: the system's
  std::optional<Language> language;  // of window and lessons; nullopt: the system's
  float zoom = 1;                    // min_zoom … max_zoom, multiplied by the display's scale
  std::string sentence = "The animal didn't cross the street because it was too tired.";
  bool sentence_edited = true;           // false: a hint says that it can be
  std::vector<std::string> recent;       // sentences entered before, newest first
  std::vector<std::string> recent_runs;  // folders opened and saved to, newest first
  std::string last_run;                  // folder of the run that was open at the end; empty: none
  bool continue_last_run = false;        // it is an autosave, which is trained further in its folder
  std::string offered_run;               // the autosave last offered at startup; not offered again
  bool operator==(const Layout&) const = default;
};

// Sets the density and opens or closes its columns, which can be toggled individually afterwards.
void set_density(Layout& layout, Density density);

// The layout of the very first launch: minimal.
Layout first_layout();

inline constexpr float min_zoom = 0.5F;
inline constexpr float max_zoom = 3.0F;
inline constexpr std::size_t max_recent = 30;
inline constexpr std::size_t max_recent_runs = 8;

std::string layout_to_json(const Layout& layout);

// Never throws: settings that cannot be read or used keep their defaults and are named in `complaint` (empty: no
// errors).
struct LayoutRead {
  Layout layout;
  std::string complaint;
};
LayoutRead layout_from_json(std::string_view text);

}  // namespace attnscope
