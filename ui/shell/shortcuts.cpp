#include "shell/shortcuts.h"

#include <imgui.h>

#include "base/input.h"
#include "shell/timeline.h"
#include "shell/toolbar.h"
#include "workspaces/decoding/view.h"

namespace attnscope {
namespace {

void handle_zoom(Layout& layout) {
  if (ctrl_pressed(Key::plus)) set_zoom(layout, layout.zoom * 1.1F);
  if (ctrl_pressed(Key::minus)) set_zoom(layout, layout.zoom / 1.1F);
  if (ctrl_pressed(Key::digit_0)) set_zoom(layout, 1);
}

void show_workspace(Scope& scope, Workspace workspace) {
  scope.layout.workspace = workspace;
  scope.focus_workspace = true;
}

void handle_workspaces(Scope& scope) {
  for (const WorkspaceText& text : workspaces()) {
    const auto digit = static_cast<Key>(static_cast<int>(Key::digit_1) + static_cast<int>(text.workspace));
    if (key_pressed(digit)) show_workspace(scope, text.workspace);
  }
}

void next_workspace(Scope& scope, int by) {
  const auto count = static_cast<int>(workspaces().size());
  show_workspace(scope, static_cast<Workspace>((static_cast<int>(scope.layout.workspace) + by + count) % count));
}

void handle_attention(Scope& scope) {
  const ShownMaps maps = shown_maps(scope);
  const Shown& shown = maps.of(scope.attention.part);
  if (!shown.snapshot) return;
  // Whole snapshots have all parts that there are, so that the selection can go from one to the next.
  const Snapshot& snapshot = maps.complete.snapshot ? *maps.complete.snapshot : *shown.snapshot;
  AttentionView& view = scope.attention;
  if (key_pressed(Key::left, true)) move_selection(view, snapshot, -1, 0);
  if (key_pressed(Key::right, true)) move_selection(view, snapshot, 1, 0);
  if (key_pressed(Key::up, true)) move_selection(view, snapshot, 0, -1);
  if (key_pressed(Key::down, true)) move_selection(view, snapshot, 0, 1);
  if (key_pressed(Key::page_up, true)) move_pinned_row(view, snapshot, -1);
  if (key_pressed(Key::page_down, true)) move_pinned_row(view, snapshot, 1);
  if (key_pressed(Key::enter)) move_level(view, snapshot.model, 1);
  if (key_pressed(Key::backspace)) move_level(view, snapshot.model, -1);
}

void handle_decoding(Scope& scope) {
  const Shown& shown = shown_maps(scope).complete;
  if (!shown.snapshot) return;
  const Snapshot& snapshot = *shown.snapshot;
  const auto all = static_cast<int>(snapshot.decoding.size());
  DecodingView& view = scope.decoding;
  if (view.mode != DecodingMode::steps) return;
  if (key_pressed(Key::left, true)) move_step(view, snapshot, -1);
  if (key_pressed(Key::right, true)) move_step(view, snapshot, 1);
  if (key_pressed(Key::home)) move_step(view, snapshot, -all);
  if (key_pressed(Key::end)) move_step(view, snapshot, all);
  if (key_pressed(Key::up, true)) move_candidate(view, snapshot, -1);
  if (key_pressed(Key::down, true)) move_candidate(view, snapshot, 1);
  if (key_pressed(Key::enter) && !force_candidate(view, snapshot)) toggle_play(view, snapshot, ImGui::GetTime());
  if (key_pressed(Key::backspace)) rewind_to(view, snapshot, view.step);
  if (key_pressed(Key::del)) let_go(view);
}

void handle_timeline(Scope& scope) {
  if (key_pressed(Key::left, true)) move_frame(scope, -1);
  if (key_pressed(Key::right, true)) move_frame(scope, 1);
  if (key_pressed(Key::home)) show_frame(scope, 0);
  if (key_pressed(Key::end)) show_present(scope);
  if (key_pressed(Key::enter)) toggle_film(scope, ImGui::GetTime());
}

void handle_workspace_keys(Scope& scope) {
  switch (scope.layout.workspace) {
    case Workspace::attention:
      return handle_attention(scope);
    case Workspace::decoding:
      return handle_decoding(scope);
    case Workspace::positions:
      if (key_pressed(Key::right)) step_once(scope);
      return;
  }
}

void handle_escape(Scope& scope) {
  scope.focus_workspace = true;
  if (ImGui::GetIO().NavVisible) return;  // back from walking through controls is enough for one press
  if (scope.presentation) {
    set_presentation(scope, false);
  } else if (scope.timeline.focused) {
    show_present(scope);
  } else {
    let_go(scope.attention);
  }
}

// The keys go into a text field. Dear ImGui still says so in the frame after Enter or Escape left it, and a key typed
// quickly on a slow machine would be lost there.
bool typing() {
  return ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive();
}

void handle_ctrl(Scope& scope) {
  if (ctrl_pressed(Key::o)) browse(scope, Browsing::open_run);
  if (ctrl_pressed(Key::s)) save(scope, modifiers().shift ? SaveTo::chosen : SaveTo::same);
  if (ctrl_pressed(Key::q)) scope.requests.quit = true;
  if (ctrl_pressed(Key::t)) scope.focus_sentence = true;
  if (ctrl_pressed(Key::p)) toggle_pin(scope);
  if (ctrl_pressed(Key::e)) scope.exports.menu_asked = true;
  if (ctrl_pressed(Key::right) && !typing()) step_once(scope);
  if (ctrl_pressed(Key::tab)) next_workspace(scope, modifiers().shift ? -1 : 1);
}

}  // namespace

void handle_shortcuts(Scope& scope) {
  const ImGuiIO& io = ImGui::GetIO();
  if (key_pressed(Key::f11)) set_presentation(scope, !scope.presentation);
  handle_zoom(scope.layout);
  if (ImGui::IsPopupOpen(static_cast<const char*>(nullptr), ImGuiPopupFlags_AnyPopup)) return;
  if (key_pressed(Key::f1)) scope.show_help = true;
  handle_ctrl(scope);
  const Modifiers held = modifiers();
  if (typing() || held.ctrl || held.alt) return;
  handle_workspaces(scope);
  if (key_pressed(Key::escape)) handle_escape(scope);
  // While the keyboard walks through controls, Space presses them and arrows go on. The workspace takes no part in
  // that: while it has the keyboard, navigation is not active.
  if (!io.NavVisible && key_pressed(Key::space)) play_or_pause(scope);
  if (io.NavActive) return;
  if (scope.timeline.focused || held.shift) {
    handle_timeline(scope);
  } else {
    handle_workspace_keys(scope);
  }
}

}  // namespace attnscope
