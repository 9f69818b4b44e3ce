// What can be done to the window, as one table: menus, keys, buttons and the list of keys are made from it.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input.h"
#include "base/pointed.h"
#include "base/translation.h"
#include "shell/app_state.h"
#include "widgets/row.h"

namespace attnscope {

// Words that are always the same, and then translated where they are drawn, or that depends on what is the case.
class ActionText {
 public:
  constexpr ActionText(const char* fixed) : fixed_(fixed) {}
  // Its function gives it in the window's language.
  constexpr ActionText(std::string (*made)(const AppState&)) : made_(made) {}
  const char* fixed() const { return fixed_; }  // in English; null: it depends
  std::string operator()(const AppState& scope) const { return made_ ? made_(scope) : tr(fixed_); }

 private:
  const char* fixed_ = nullptr;
  std::string (*made_)(const AppState&) = nullptr;
};

enum class Menu { file, edit, run, exports, view, lessons, help };

inline constexpr std::array menus = {
    std::pair{Menu::file, mark("File")}, std::pair{Menu::edit, mark("Edit")},
    std::pair{Menu::run, mark("Run")},   std::pair{Menu::exports, mark("Export")},
    std::pair{Menu::view, mark("View")}, std::pair{Menu::lessons, mark("Lessons")},
    std::pair{Menu::help, mark("Help")},
};

// How far a key reaches into what else the keyboard is used for.
enum class ShortcutContext {
  everywhere,    // over dialogs too
  typing,        // while text is typed
  window,        // while neither is
  not_pressing,  // nor the keyboard walks through controls, which Space presses
  not_walking,   // nor could it: arrows go from one control to the next
};

struct Shortcut {
  std::optional<Chord> chord = {};  // no two share one
  ShortcutContext reach = ShortcutContext::window;
  std::optional<Chord> also = {};  // another, where the open workspace has no use for it
};

// Where it stands in the menus; there the order is the table's.
struct MenuPlace {
  constexpr MenuPlace() = default;
  constexpr MenuPlace(Menu in, bool apart = false) : menu(in), separated(apart) {}

  std::optional<Menu> menu = {};
  bool separated = false;  // from those before it
};

// On what the right button offers it.
class HoverTargets {
 public:
  constexpr HoverTargets() = default;
  constexpr HoverTargets(std::initializer_list<HoverTarget> things) {
    for (const HoverTarget thing : things) bits_ |= 1U << static_cast<unsigned>(thing);
  }
  constexpr bool has(HoverTarget thing) const { return (bits_ >> static_cast<unsigned>(thing) & 1U) != 0; }
  constexpr bool empty() const { return bits_ == 0; }

 private:
  unsigned bits_ = 0;
};

struct Action {
  std::string_view name;  // no two share one
  ActionText title;       // in its menu and in the list of keys, where neighbours of one title share a line
  ActionText help;        // while the mouse rests on it; also why it does not apply; see help_of
  Shortcut key;
  MenuPlace place;
  void (*act)(AppState&);
  bool (*applies)(const AppState&) = nullptr;  // null: always
  bool (*is_on)(const AppState&) = nullptr;    // of what is switched on and off
  HoverTargets things = {};
};

std::span<const Action> actions();
const Action& find_action(std::string_view name);  // there must be one
bool applies(const Action& action, const AppState& scope);

// Its help, or why the window may not, where the run trains elsewhere.
std::string help_of(const Action& action, const AppState& scope);

// What the keys do; once a frame, before anything is drawn.
void handle_keys(AppState& scope, TextureStore& textures, const Skin& skin);

void draw_menu_items(AppState& scope, Menu menu, const Skin& skin);
void draw_target_items(AppState& scope, HoverTarget thing, const Skin& skin);

// A button that does it, with its help and its key as tooltip; `label` instead of its title, if one is given.
void draw_action_button(AppState& scope, const Action& action, const Skin& skin, const char* label = nullptr);
void draw_action_button(AppState& scope, const Action& action, Icon icon, Color32 icon_color, const Skin& skin,
                        const char* label = nullptr);

struct KeyLine {
  std::string keys;
  std::string what;
};
std::vector<KeyLine> window_keys(const AppState& scope);
std::vector<KeyLine> workspace_keys();

// ---- the workspaces

// The number key of its group: goes to the group's first, then to the next one in it.
Chord group_key(const Workspace& workspace);
void show_workspace(AppState& scope, const Workspace& workspace);

// What the open one is given.
WorkspaceContext context_of(AppState& scope, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
