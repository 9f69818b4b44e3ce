#include "shell/actions.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "shell/export.h"
#include "shell/purposes.h"
#include "shell/timeline.h"
#include "shell/training.h"
#include "shell/weight_choice.h"
#include "widgets/tooltip.h"
#include "workspaces/attention/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

bool is_training(const Scope& scope) {
  return scope.status.activity == Activity::training;
}

bool has_run(const Scope& scope) {
  return scope.run.run != 0;
}

template <Purpose purpose>
bool can_choose_it(const Scope& scope) {
  return can_choose(scope, purpose);
}

template <Purpose purpose>
void choose_it(Scope& scope) {
  choose(scope, purpose);
}

// ---- the run

std::string train_title(const Scope& scope) {
  return is_training(scope) ? "Pause" : "Train";
}

std::string train_help(const Scope& scope) {
  switch (scope.status.activity) {
    case Activity::training:
      return "Pauses the training after this update.";
    case Activity::finished:
      return fmt::format("All {} steps are done. Goes on training beyond them.",
                         grouped(scope.run.config.training.steps));
    case Activity::preparing:
      return "The run is being prepared.";
    case Activity::idle:
    case Activity::paused:
      break;
  }
  return "Trains the model in the background, as the setup says (paper §5); every view follows.";
}

bool can_train_or_pause(const Scope& scope) {
  return is_training(scope) || can_train(scope);
}

std::string reset_help(const Scope& scope) {
  const std::string complaint = config_complaint(scope.edited);
  if (!complaint.empty()) return complaint;
  return "New random weights under the configuration on the left. Corpus and tokenizer are made anew if theirs "
         "changed. "
         "The present weights are gone unless saved.";
}

constexpr const char* save_help = "Saves configuration, weights, tokenizer and curves as a folder (safetensors, JSON).";

std::string save_title(const Scope& scope) {
  return scope.saved_to.empty() ? "Save run…" : "Save run";
}

std::string save_again_help(const Scope& scope) {
  return scope.saved_to.empty() ? save_help : "Saves again to " + scope.saved_to + ".";
}

void save(Scope& scope) {
  if (scope.saved_to.empty()) return choose(scope, Purpose::save_run);
  scope.commands.push_back(SaveRun{scope.saved_to});
}

// ---- the view

template <int by>
void step_workspace(Scope& scope) {
  const auto all = workspaces();
  const auto count = static_cast<int>(all.size());
  const auto at = static_cast<int>(scope.layout.workspace - all.data());
  show_workspace(scope, all[static_cast<std::size_t>((at + by + count) % count)]);
}

std::string plot_weight_help(const Scope& scope) {
  return "How much the chosen query attends to the chosen key, over the recorded steps: a curve beneath the loss. " +
         weight_problem(scope);
}

bool can_plot_weight(const Scope& scope) {
  return weight_problem(scope).empty();
}

template <bool Layout::*column>
bool is_open(const Scope& scope) {
  return scope.layout.*column;
}

template <bool Layout::*column>
void toggle_column(Scope& scope) {
  scope.layout.*column = !(scope.layout.*column);
}

template <ThemeName theme>
bool is_theme(const Scope& scope) {
  return scope.layout.theme == theme;
}

template <ThemeName theme>
void set_theme(Scope& scope) {
  scope.layout.theme = theme;
}

// Rounded, so that larger and then smaller is where it was.
void set_zoom(Layout& layout, float zoom) {
  layout.zoom = std::clamp(std::round(zoom * 20) / 20, min_zoom, max_zoom);
}

void toggle_presentation(Scope& scope) {
  scope.presentation = !scope.presentation;
  scope.requests.fullscreen_changed = true;
}

bool is_presentation(const Scope& scope) {
  return scope.presentation;
}

// One thing a press.
void escape(Scope& scope) {
  scope.focus_workspace = true;
  if (ImGui::GetIO().NavVisible) return;  // back from walking through controls is enough
  if (scope.presentation) {
    toggle_presentation(scope);
  } else if (scope.timeline.focused) {
    show_present(scope);
  } else {
    let_go(scope.views.of<AttentionView>());
  }
}

// ---- the recorded steps

constexpr const char* frames_title = "pinned sentence: the step recorded before, after";
constexpr const char* ends_title = "pinned sentence: the first recorded step, the present";

std::string film_help(const Scope&) {
  return "Plays what was recorded of this sentence as a film, to the last frame.";
}

bool is_recorded_sentence(const Scope& scope) {
  return recorded_sentence(scope) != nullptr;
}

bool is_in_past(const Scope& scope) {
  return scope.timeline.past.snapshot != nullptr;
}

constexpr std::array table = {
    Action{.name = "open-run",
           .title = "Open run…",
           .help = "Opens the folder of a saved run: weights, tokenizer, curves.",
           .chord = Chord{.key = Key::o, .ctrl = true},
           .reach = Reach::typing,
           .menu = Menu::file,
           .act = choose_it<Purpose::open_run>},
    Action{.name = "open-corpus",
           .title = "Open corpus…",
           .help = "A text file of sentence pairs: source, tab, target. Files can also be dropped on the window.",
           .menu = Menu::file,
           .act = choose_it<Purpose::open_corpus>},
    Action{.name = "save-run",
           .title = save_title,
           .help = save_again_help,
           .chord = Chord{.key = Key::s, .ctrl = true},
           .reach = Reach::typing,
           .menu = Menu::file,
           .applies = has_run,
           .act = save},
    Action{.name = "save-run-as",
           .title = "Save run as…",
           .help = save_help,
           .chord = Chord{.key = Key::s, .ctrl = true, .shift = true},
           .reach = Reach::typing,
           .menu = Menu::file,
           .applies = has_run,
           .act = choose_it<Purpose::save_run>},
    Action{.name = "quit",
           .title = "Quit",
           .chord = Chord{.key = Key::q, .ctrl = true},
           .reach = Reach::typing,
           .menu = Menu::file,
           .separated = true,
           .act = [](Scope& scope) { scope.requests.quit = true; }},
    Action{.name = "train",
           .title = train_title,
           .help = train_help,
           .chord = Chord{.key = Key::space},
           .reach = Reach::not_pressing,
           .menu = Menu::run,
           .applies = can_train_or_pause,
           .act = play_or_pause},
    Action{.name = "step",
           .title = "Step",
           .help = "One optimizer update, then pause.",
           .chord = Chord{.key = Key::right, .ctrl = true},
           .also = Chord{.key = Key::right},
           .menu = Menu::run,
           .applies = can_train,
           .act = step_once},
    Action{
        .name = "reset", .title = "Reset", .help = reset_help, .menu = Menu::run, .applies = can_reset, .act = reset},
    Action{.name = "save-png",
           .title = "Picture of the workspace as PNG…",
           .help = "The workspace as it stands here, as pixels.",
           .menu = Menu::exports,
           .applies = can_choose_it<Purpose::save_png>,
           .act = choose_it<Purpose::save_png>},
    Action{.name = "save-svg",
           .title = "Picture of the workspace as SVG…",
           .help = "The workspace as it stands here, as shapes and text that can be scaled and edited: for papers and "
                   "slides.",
           .menu = Menu::exports,
           .applies = can_choose_it<Purpose::save_svg>,
           .act = choose_it<Purpose::save_svg>},
    Action{.name = "save-csv",
           .title = "Numbers as CSV…",
           .help = "The weights shown, or those of the selected head, with both tokens, as comma-separated values.",
           .menu = Menu::exports,
           .separated = true,
           .applies = can_choose_it<Purpose::save_csv>,
           .act = choose_it<Purpose::save_csv>},
    Action{.name = "save-json",
           .title = "Numbers as JSON…",
           .help = "The weights shown, or those of the selected head, with both tokens, as JSON.",
           .menu = Menu::exports,
           .applies = can_choose_it<Purpose::save_json>,
           .act = choose_it<Purpose::save_json>},
    Action{.name = "copy-numbers",
           .title = "Copy numbers",
           .help = "The weights of the selected head, to be pasted into a spreadsheet.",
           .menu = Menu::exports,
           .applies = has_numbers,
           .act = copy_numbers},
    Action{.name = "save-film",
           .title = "Film as numbered PNGs…",
           .help = "The workspace at every recorded step of the pinned sentence: film-00001.png, film-00002.png and so "
                   "on, in a folder.",
           .menu = Menu::exports,
           .separated = true,
           .applies = can_choose_it<Purpose::save_film>,
           .act = choose_it<Purpose::save_film>},
    Action{.name = "pin",
           .title = "Pin the sentence",
           .help = pin_help,
           .chord = Chord{.key = Key::p, .ctrl = true},
           .reach = Reach::typing,
           .menu = Menu::view,
           .separated = true,
           .applies = can_pin,
           .is_on = is_pinned,
           .act = toggle_pin},
    Action{.name = "plot-weight",
           .title = "Plot the chosen weight",
           .help = plot_weight_help,
           .menu = Menu::view,
           .applies = can_plot_weight,
           .act = plot_weight},
    Action{.name = "setup",
           .title = "Setup",
           .help = "Shows or hides the setup column.",
           .menu = Menu::view,
           .separated = true,
           .is_on = is_open<&Layout::setup_open>,
           .act = toggle_column<&Layout::setup_open>},
    Action{.name = "curves",
           .title = "Curves",
           .help = "Shows or hides the curves.",
           .menu = Menu::view,
           .is_on = is_open<&Layout::curves_open>,
           .act = toggle_column<&Layout::curves_open>},
    Action{.name = "dark-theme",
           .title = "Dark theme",
           .menu = Menu::view,
           .separated = true,
           .is_on = is_theme<ThemeName::dark>,
           .act = set_theme<ThemeName::dark>},
    Action{.name = "light-theme",
           .title = "Light theme, for projectors",
           .menu = Menu::view,
           .is_on = is_theme<ThemeName::light>,
           .act = set_theme<ThemeName::light>},
    Action{.name = "larger",
           .title = "Larger",
           .chord = Chord{.key = Key::plus, .ctrl = true},
           .reach = Reach::everywhere,
           .menu = Menu::view,
           .separated = true,
           .act = [](Scope& scope) { set_zoom(scope.layout, scope.layout.zoom * 1.1F); }},
    Action{.name = "smaller",
           .title = "Smaller",
           .chord = Chord{.key = Key::minus, .ctrl = true},
           .reach = Reach::everywhere,
           .menu = Menu::view,
           .act = [](Scope& scope) { set_zoom(scope.layout, scope.layout.zoom / 1.1F); }},
    Action{.name = "normal-size",
           .title = "Normal size",
           .chord = Chord{.key = Key::digit_0, .ctrl = true},
           .reach = Reach::everywhere,
           .menu = Menu::view,
           .act = [](Scope& scope) { set_zoom(scope.layout, 1); }},
    Action{.name = "presentation",
           .title = "Presentation",
           .help = "Full screen, larger text, only the workspace and the sentence. Escape ends it.",
           .chord = Chord{.key = Key::f11},
           .reach = Reach::everywhere,
           .menu = Menu::view,
           .separated = true,
           .is_on = is_presentation,
           .act = toggle_presentation},
    Action{.name = "keys",
           .title = "Keys and mouse",
           .chord = Chord{.key = Key::f1},
           .reach = Reach::typing,
           .menu = Menu::help,
           .act = [](Scope& scope) { scope.show_help = true; }},
    Action{.name = "type",
           .title = "Type a sentence",
           .chord = Chord{.key = Key::t, .ctrl = true},
           .reach = Reach::typing,
           .act = [](Scope& scope) { scope.focus_sentence = true; }},
    Action{.name = "export",
           .title = "Take a picture or numbers away",
           .chord = Chord{.key = Key::e, .ctrl = true},
           .reach = Reach::typing,
           .act = [](Scope& scope) { scope.exports.menu_asked = true; }},
    Action{.name = "next-workspace",
           .title = "The next workspace, the one before",
           .chord = Chord{.key = Key::tab, .ctrl = true},
           .reach = Reach::typing,
           .act = step_workspace<1>},
    Action{.name = "previous-workspace",
           .title = "The next workspace, the one before",
           .chord = Chord{.key = Key::tab, .ctrl = true, .shift = true},
           .reach = Reach::typing,
           .act = step_workspace<-1>},
    Action{.name = "escape",
           .title = "Ends presentation, closes, unpins",
           .chord = Chord{.key = Key::escape},
           .act = escape},
    Action{.name = "earlier",
           .title = frames_title,
           .chord = Chord{.key = Key::left, .shift = true, .repeats = true},
           .reach = Reach::not_walking,
           .act = [](Scope& scope) { move_frame(scope, -1); }},
    Action{.name = "later",
           .title = frames_title,
           .chord = Chord{.key = Key::right, .shift = true, .repeats = true},
           .reach = Reach::not_walking,
           .act = [](Scope& scope) { move_frame(scope, 1); }},
    Action{.name = "first",
           .title = ends_title,
           .chord = Chord{.key = Key::home, .shift = true},
           .reach = Reach::not_walking,
           .act = [](Scope& scope) { show_frame(scope, 0); }},
    Action{.name = "live",
           .title = ends_title,
           .help = "Returns to the present: all views follow the model again.",
           .chord = Chord{.key = Key::end, .shift = true},
           .reach = Reach::not_walking,
           .applies = is_in_past,
           .act = show_present},
    Action{.name = "film",
           .title = "pinned sentence: plays or stops the film",
           .help = film_help,
           .chord = Chord{.key = Key::enter, .shift = true},
           .reach = Reach::not_walking,
           .applies = is_recorded_sentence,
           .act = [](Scope& scope) { toggle_film(scope, ImGui::GetTime()); }},
};

// The keys go into a text field. Dear ImGui still says so in the frame after Enter or Escape left it, and a key typed
// quickly on a slow machine would be lost there.
bool is_typing() {
  return ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive();
}

bool is_reached(Reach reach) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool dialog = ImGui::IsPopupOpen(static_cast<const char*>(nullptr), ImGuiPopupFlags_AnyPopup);
  switch (reach) {
    case Reach::everywhere:
      return true;
    case Reach::typing:
      return !dialog;
    case Reach::window:
      return !dialog && !is_typing();
    case Reach::not_pressing:
      return !dialog && !is_typing() && !io.NavVisible;
    case Reach::not_walking:
      return !dialog && !is_typing() && !io.NavActive;
  }
  return false;
}

// The timeline's keys have Shift, which may be left out while it has the keyboard.
bool is_pressed(const Action& action, const Scope& scope) {
  if (!action.chord || !is_reached(action.reach)) return false;
  Chord chord = *action.chord;
  if (pressed(chord)) return true;
  const bool of_timeline = chord.shift && !chord.ctrl;
  chord.shift = false;
  return of_timeline && scope.timeline.focused && pressed(chord);
}

void handle_groups(Scope& scope) {
  if (!is_reached(Reach::window)) return;
  for (const std::span<const Workspace> group : workspace_groups()) {
    if (!pressed(group_key(group.front()))) continue;
    const Workspace* open = scope.layout.workspace;
    const bool inside = open >= group.data() && open + 1 < group.data() + group.size();
    show_workspace(scope, inside ? open[1] : group.front());
  }
}

// True when the open workspace has a use for a key that went down.
bool handle_workspace_keys(Scope& scope, TextureStore& textures, const Skin& skin) {
  const Workspace& workspace = *scope.layout.workspace;
  if (!workspace.keys) return false;
  WorkspaceContext context = context_of(scope, textures, skin);
  bool used = false;
  for (const WorkspaceKey& key : workspace.keys()) {
    if (!pressed(key.chord)) continue;
    key.act(context);
    used = true;
  }
  return used;
}

std::string help_with_key(const Action& action, const Scope& scope) {
  const std::string help = action.help(scope);
  return action.chord ? fmt::format("{} Key: {}.", help, chord_text(*action.chord)) : help;
}

void perform(const Action& action, Scope& scope) {
  if (applies(action, scope)) action.act(scope);
}

void add_line(std::vector<KeyLine>& lines, const std::string& key, std::string what) {
  if (!lines.empty() && lines.back().what == what) {
    lines.back().keys += "  " + key;
  } else {
    lines.push_back({key, std::move(what)});
  }
}

}  // namespace

std::span<const Action> actions() {
  return table;
}

const Action& find_action(std::string_view name) {
  return *std::ranges::find(table, name, &Action::name);
}

bool applies(const Action& action, const Scope& scope) {
  return !action.applies || action.applies(scope);
}

void handle_keys(Scope& scope, TextureStore& textures, const Skin& skin) {
  for (const Action& action : table)
    if (is_pressed(action, scope)) perform(action, scope);
  handle_groups(scope);
  if (!is_reached(Reach::not_walking) || scope.timeline.focused) return;
  if (handle_workspace_keys(scope, textures, skin)) return;
  for (const Action& action : table)
    if (action.also && pressed(*action.also)) perform(action, scope);
}

void draw_menu_items(Scope& scope, Menu menu, const Skin& skin) {
  for (const Action& action : table) {
    if (action.menu != menu) continue;
    if (action.separated) ImGui::Separator();
    const std::string key = action.chord ? chord_text(*action.chord) : "";
    const bool on = action.is_on && action.is_on(scope);
    const bool clicked = ImGui::MenuItem(action.title(scope).c_str(), key.c_str(), on, applies(action, scope));
    const std::string help = action.help(scope);
    if (!help.empty()) help_tooltip(help, skin);
    if (clicked) action.act(scope);
  }
}

void draw_action_button(Scope& scope, const Action& action, const Skin& skin, const char* label) {
  ImGui::BeginDisabled(!applies(action, scope));
  const bool clicked = ImGui::Button(label ? label : action.title(scope).c_str());
  ImGui::EndDisabled();
  help_tooltip(help_with_key(action, scope), skin);
  if (clicked) perform(action, scope);
}

void draw_action_button(Scope& scope, const Action& action, Icon icon, Color32 icon_color, const Skin& skin,
                        const char* label) {
  const std::string title = label ? label : action.title(scope);
  const bool enabled = applies(action, scope);
  if (icon_button(title.c_str(), icon, icon_color, enabled, help_with_key(action, scope), skin)) perform(action, scope);
}

std::vector<KeyLine> window_keys(const Scope& scope) {
  std::vector<KeyLine> lines;
  for (const std::span<const Workspace> group : workspace_groups()) {
    std::string titles;
    for (const Workspace& workspace : group) titles += (titles.empty() ? "" : ", then ") + std::string(workspace.title);
    add_line(lines, chord_text(group_key(group.front())), titles);
  }
  for (const Action& action : table)
    if (action.chord) add_line(lines, chord_text(*action.chord), action.title(scope));
  return lines;
}

std::vector<KeyLine> workspace_keys() {
  std::vector<KeyLine> lines;
  for (const Workspace& workspace : workspaces()) {
    if (!workspace.keys) continue;
    for (const WorkspaceKey& key : workspace.keys())
      add_line(lines, chord_text(key.chord), fmt::format("{}: {}", workspace.title, key.title));
  }
  return lines;
}

Chord group_key(const Workspace& workspace) {
  int place = 0;
  for (const std::span<const Workspace> group : workspace_groups()) {
    if (group.data() == group_of(workspace).data()) break;
    ++place;
  }
  return {.key = static_cast<Key>(static_cast<int>(Key::digit_1) + place)};
}

void show_workspace(Scope& scope, const Workspace& workspace) {
  scope.layout.workspace = &workspace;
  scope.focus_workspace = true;
}

WorkspaceContext context_of(Scope& scope, TextureStore& textures, const Skin& skin) {
  return {shown_maps(scope), scope.views, scope.reference, scope.layout.side_width, textures, skin};
}

}  // namespace attnscope
