#include "shell/shell.h"

#include <fmt/format.h>

#include "base/input.h"
#include "shell/dialogs.h"
#include "shell/sentence_bar.h"
#include "shell/setup.h"
#include "shell/shortcuts.h"
#include "shell/timeline.h"
#include "shell/toasts.h"
#include "shell/toolbar.h"
#include "widgets/heatmap.h"
#include "widgets/splitter.h"
#include "widgets/tooltip.h"

namespace attnscope {
namespace {

constexpr SplitterOptions setup_edge = {.min = 200, .max = 460, .standard = 288};
constexpr SplitterOptions curves_edge = {.min = 200, .max = 900, .standard = 310, .column_is_right = true};

// A tab without ImGui's tab bar, which keeps a selection of its own.
void draw_tab(Scope& scope, const WorkspaceText& text, const Look& look) {
  const bool active = scope.layout.workspace == text.workspace;
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  ImGui::PushStyleColor(ImGuiCol_Text, active ? look.theme.text : look.theme.text_dim);
  if (ImGui::Button(text.title)) scope.layout.workspace = text.workspace;
  ImGui::PopStyleColor(2);
  if (active) {
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(low.x, high.y - look.px(2)), high, look.theme.accent);
  }
  help_tooltip(fmt::format("{} Key {}.", text.help, static_cast<int>(text.workspace) + 1), look);
  ImGui::SameLine(0, look.px(2));
}

// Shows or hides a column, from the workspace's own line.
void draw_column_toggle(const char* label, bool& open, std::string_view help, const Look& look) {
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  if (ImGui::Button(label)) open = !open;
  ImGui::PopStyleColor(2);
  help_tooltip(help, look);
}

void draw_tabs(Scope& scope, const Look& look) {
  Layout& layout = scope.layout;
  if (!scope.presentation) {
    draw_column_toggle(layout.setup_open ? "‹##setup" : "Setup ›##setup", layout.setup_open,
                       "Shows or hides the setup column.", look);
    ImGui::SameLine(0, look.px(6));
  }
  for (const WorkspaceText& text : workspaces()) draw_tab(scope, text, look);
  if (scope.presentation) {
    ImGui::NewLine();
    return;
  }
  const char* label = layout.curves_open ? "›##curves" : "‹ Curves##curves";
  const float width = ImGui::CalcTextSize(label, nullptr, true).x + ImGui::GetStyle().FramePadding.x * 2;
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, ImGui::GetContentRegionAvail().x - width));
  draw_column_toggle(label, layout.curves_open, "Shows or hides the curves.", look);
}

// A click on the window's chrome must not take the arrow keys away from the workspace.
void return_focus_after_click(Scope& scope) {
  const bool popup = ImGui::IsPopupOpen(static_cast<const char*>(nullptr), ImGuiPopupFlags_AnyPopup);
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::IsWindowFocused() && !popup &&
      !ImGui::GetIO().WantTextInput) {
    scope.focus_workspace = true;
  }
}

// What to say while there is nothing to look at.
std::string waiting_text(const Scope& scope) {
  if (scope.progress) return scope.progress->what + "…";
  if (scope.run.run == 0) return "Opening the run…  Or choose one: File, Open run";
  return "Looking at the sentence…";
}

void draw_workspace(Scope& scope, TextureStore& textures, const Look& look) {
  draw_tabs(scope, look);
  return_focus_after_click(scope);
  if (scope.focus_workspace) ImGui::SetNextWindowFocus();
  scope.focus_workspace = false;
  ImGui::BeginChild("workspace", ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  const ImVec2 corner = ImGui::GetWindowPos();
  const ImVec2 size = ImGui::GetWindowSize();
  scope.exports.area = {corner, {corner.x + size.x, corner.y + size.y}};
  const ShownMaps maps = shown_maps(scope);
  const bool positions = scope.layout.workspace == Workspace::positions;
  const bool empty = scope.layout.workspace == Workspace::decoding ? !maps.complete.snapshot : !maps.newest.snapshot;
  // A language model writes without a prompt too.
  const bool needs_text = !positions && !scope.run.config.model.is_language_model();
  if (!empty && needs_text && is_blank(scope.layout.sentence)) {
    draw_quiet_note("Type a sentence below, or choose one there with ▼", ImGui::GetContentRegionAvail(), look);
  } else if (empty) {
    draw_quiet_note(waiting_text(scope).c_str(), ImGui::GetContentRegionAvail(), look);
  } else if (positions && is_recorded(*maps.newest.snapshot)) {
    draw_quiet_note(recorded_note, ImGui::GetContentRegionAvail(), look);
  } else {
    switch (scope.layout.workspace) {
      case Workspace::attention:
        draw_attention(maps, scope.attention, scope.layout.heads_width, textures, look);
        break;
      case Workspace::decoding:
        draw_decoding(maps.complete, scope.decoding, scope.reference, textures, look);
        break;
      case Workspace::positions:
        draw_positions(maps.newest.snapshot.get(), scope.positions, textures, look);
        break;
    }
  }
  ImGui::EndChild();
}

void draw_columns(Scope& scope, float height, TextureStore& textures, const Look& look) {
  Layout& layout = scope.layout;
  const bool setup = layout.setup_open && !scope.presentation;
  const bool curves = layout.curves_open && !scope.presentation;
  if (setup) {
    ImGui::BeginChild("setup", ImVec2(look.px(layout.setup_width), height));
    draw_setup(scope, look);
    ImGui::EndChild();
    ImGui::SameLine(0, 0);
    draw_splitter("setup_edge", layout.setup_width, height, setup_edge, look);
    ImGui::SameLine(0, look.px(4));
  }
  const float edge = look.px(splitter_width + 4);
  // The curves give way when the window is too narrow for both.
  const float curves_width = std::min(look.px(layout.curves_width), ImGui::GetContentRegionAvail().x * 0.38F);
  ImGui::BeginChild("middle", ImVec2(curves ? -curves_width - edge : 0, height));
  draw_workspace(scope, textures, look);
  ImGui::EndChild();
  if (!curves) return;
  ImGui::SameLine(0, 0);
  draw_splitter("curves_edge", layout.curves_width, height, curves_edge, look);
  ImGui::SameLine(0, look.px(4));
  ImGui::BeginChild("curves", ImVec2(0, height));
  draw_curves(scope.curves, scope.curves_view, look);
  ImGui::EndChild();
}

}  // namespace

void draw_shell(Scope& scope, TextureStore& textures, const Look& look) {
  settle_timeline(scope, ImGui::GetTime());
  handle_shortcuts(scope);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.WorkPos);
  ImGui::SetNextWindowSize(viewport.WorkSize);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  constexpr ImGuiWindowFlags standard = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                        ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                        ImGuiWindowFlags_NoScrollWithMouse;
  ImGui::Begin("attnscope", nullptr, standard | (scope.presentation ? 0 : ImGuiWindowFlags_MenuBar));
  ImGui::PopStyleVar(2);
  if (!scope.presentation) draw_menu_bar(scope, look);

  const float bar = sentence_bar_height(look) + timeline_height(scope, look);
  const float height = std::max(look.px(80), ImGui::GetContentRegionAvail().y - bar - look.px(10));
  draw_columns(scope, height, textures, look);
  const ImVec2 corner(viewport.WorkPos.x + viewport.WorkSize.x - look.px(12), ImGui::GetCursorScreenPos().y);
  ImGui::Separator();
  draw_timeline(scope, look);
  draw_sentence_bar(scope, look);
  return_focus_after_click(scope);
  draw_dialogs(scope, look);
  ImGui::End();
  if (!scope.exports.taking) draw_toasts(scope, corner, look);
  ask_for_look(scope);
}

}  // namespace attnscope
