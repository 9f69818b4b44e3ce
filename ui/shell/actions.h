// The table of user actions, from which menus, shortcuts, buttons and the list of shortcuts are generated.
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

// Either fixed English text, translated where it is drawn, or text that depends on the state.
class ActionText {
 public:
  constexpr ActionText(const char* fixed) : fixed_(fixed) {}
  // The function returns text in the window's language.
  constexpr ActionText(std::string (*made)(const AppState&)) : made_(made) {}
  const char* fixed() const { return fixed_; }  // in English; null: depends on the state
  std::string operator()(const AppState& scope) const { return made_ ? made_(scope) : tr(fixed_); }

 private:
  const char* fixed_ = nullptr;
  std::string (*made_)(const AppState&) = nullptr;
};

enum class Menu { file, edit, run, exports, view, lessons, experiments, help };

inline constexpr std::array menus = {
    std::pair{Menu::file, mark("File")}, std::pair{Menu::edit, mark("Edit")},
    std::pair{Menu::run, mark("Run")},   std::pair{Menu::exports, mark("Export")},
    std::pair{Menu::view, mark("View")}, std::pair{Menu::lessons, mark("Lessons")},
    std::pair{Menu::experiments, mark("Experiments")},
    std::pair{Menu::help, mark("Help")},
};

// The contexts in which a shortcut is active, from the most to the least permissive.
enum class ShortcutContext {
  everywhere,    // also over dialogs
  typing,        // also while text is being typed
  window,        // neither typing nor in a dialog
  not_pressing,  // not during keyboard navigation either, where Space presses controls
  not_walking,   // not where keyboard navigation could start: arrows move from control to control
};

struct Shortcut {
  std::optional<Chord> chord = {};  // unique
  ShortcutContext reach = ShortcutContext::window;
  std::optional<Chord> also = {};  // an alternative, used where the open workspace does not handle it
};

// The position in the menus; within a menu, the order of the table applies.
struct MenuPlace {
  constexpr MenuPlace() = default;
  constexpr MenuPlace(Menu in, bool apart = false) : menu(in), separated(apart) {}

  std::optional<Menu> menu = {};
  bool separated = false;  // by a line from the entries before it
};

// The hover targets whose context menu offers the action.
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
  std::string_view name;  // unique
  ActionText title;       // in its menu and in the list of shortcuts, where neighbors with the same title share a line
  ActionText help;        // tooltip; also the reason why the action does not apply; see help_of
  Shortcut key;
  MenuPlace place;
  void (*act)(AppState&);
  bool (*applies)(const AppState&) = nullptr;  // null: always
  bool (*is_on)(const AppState&) = nullptr;    // null unless it is a toggle
  HoverTargets things = {};
};

std::span<const Action> actions();
const Action& find_action(std::string_view name);  // `name` must exist
bool applies(const Action& action, const AppState& scope);

// The action's help, or the reason why this window may not do it if the run trains elsewhere.
std::string help_of(const Action& action, const AppState& scope);

// Handles shortcuts; call once per frame before anything is drawn.
void handle_keys(AppState& scope, TextureStore& textures, const Skin& skin);

void draw_menu_items(AppState& scope, Menu menu, const Skin& skin);
void draw_target_items(AppState& scope, HoverTarget thing, const Skin& skin);

// Draws a button for the action, with its help and shortcut as the tooltip. A given `label` replaces the title.
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

// The number key of the workspace's group: opens the group's first workspace, then cycles through the group.
Chord group_key(const Workspace& workspace);
void show_workspace(AppState& scope, const Workspace& workspace);

// The context passed to the open workspace.
WorkspaceContext context_of(AppState& scope, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
