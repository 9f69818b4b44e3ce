#include "shell/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "messages/metrics.h"
#include "shell/actions.h"
#include "shell/captures.h"
#include "shell/dialogs/context_menu.h"
#include "shell/lessons/lessons.h"
#include "shell/lessons/writing.h"
#include "shell/overrides.h"
#include "shell/pen.h"
#include "shell/saved_view.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "shell/training.h"
#include "widgets/row.h"
#include "widgets/splitter.h"
#include "widgets/words.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

constexpr SplitterOptions setup_edge = {.min = 200, .max = 460, .standard = 288};
constexpr float lesson_width = 380;
constexpr float widest_lesson = 0.4F;  // share of the window

constexpr SplitterOptions curves_edge = {.min = 200, .max = 900, .standard = 310, .column_is_right = true};

// A tab without ImGui's tab bar, which manages its own selection. Returns true if clicked.
bool draw_tab(const char* title, bool active, const std::string& help, const Skin& skin) {
  break_choices(title);
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  ImGui::PushStyleColor(ImGuiCol_Text, active ? skin.theme.text : skin.theme.text_dim);
  const bool clicked = ImGui::Button(title);
  ImGui::PopStyleColor(2);
  if (active) {
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(low.x, high.y - skin.px(2)), high, skin.theme.accent);
  }
  help_tooltip(help, skin, title);
  ImGui::SameLine(0, skin.px(2));
  return clicked;
}

// Separator between two groups.
void draw_group_edge(const Skin& skin) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float x = at.x + skin.px(3);
  ImGui::GetWindowDrawList()->AddLine({x, at.y + skin.px(5)}, {x, at.y + ImGui::GetFrameHeight() - skin.px(5)},
                                      ImGui::GetColorU32(ImGuiCol_Separator));
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + skin.px(8));
}

bool contains(std::span<const Workspace> group, const Workspace* workspace) {
  return workspace >= group.data() && workspace < group.data() + group.size();
}

// True if the tabs of all workspaces fit into a line of that width.
bool all_fit(float room, const ModelConfig& model, const Skin& skin) {
  float width = 0;
  for (const Workspace& workspace : workspaces()) width += button_width(tr(title_of(workspace, model))) + skin.px(2);
  return width + skin.px(8) * static_cast<float>(workspace_groups().size()) <= room;
}

// If not all tabs fit, an inactive group is one tab, which opens its first workspace.
void draw_group(AppState& scope, std::span<const Workspace> group, bool spread, const Skin& skin) {
  const std::string key = chord_text(group_key(group.front()));
  if (!spread && group.size() > 1 && !contains(group, scope.layout.workspace)) {
    std::string help;
    for (const Workspace& workspace : group) help += fmt::format("{}: {}\n", tr(workspace.title), tr(workspace.help));
    if (draw_tab(tr_label(group.front().group), false, trf("{}Key: {}.", help, key), skin))
      scope.layout.workspace =
          &*std::ranges::find_if(group, [&](const Workspace& workspace) { return !absence(scope, workspace); });
    return;
  }
  for (const Workspace& workspace : group) {
    if (absence(scope, workspace)) continue;
    const bool active = scope.layout.workspace == &workspace;
    if (draw_tab(tr_label(title_of(workspace, scope.a.run.config.model)), active,
                 trf("{} Key: {}.", tr(workspace.help), key), skin))
      scope.layout.workspace = &workspace;
  }
}

// Draws the button that shows or hides a column, in the workspace's own line.
void draw_column_toggle(AppState& scope, const char* label, const Action& action, const Skin& skin) {
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  ImGui::PushStyleColor(ImGuiCol_Text, skin.theme.text_dim);
  draw_action_button(scope, action, skin, label);
  ImGui::PopStyleColor(2);
}

void draw_tabs(AppState& scope, const Skin& skin) {
  const Layout& layout = scope.layout;
  const char* curves = layout.curves_open ? "›##curves" : tr("‹ Curves##curves");
  const float curves_width = has_curves(scope) ? button_width(curves) : 0;
  if (!scope.presentation) {
    draw_column_toggle(scope, layout.setup_open ? "‹##setup" : tr("Setup ›##setup"), find_action("setup"), skin);
    ImGui::SameLine(0, skin.px(6));
  }
  const float tabs = ImGui::GetContentRegionAvail().x - curves_width;
  // Reduces the padding before a group collapses into one tab.
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      {all_fit(tabs, scope.a.run.config.model, skin) ? padding.x : padding.x * 0.5F, padding.y});
  const bool spread = all_fit(tabs, scope.a.run.config.model, skin);
  for (const std::span<const Workspace> group : workspace_groups()) {
    if (std::ranges::all_of(group, [&](const Workspace& workspace) { return absence(scope, workspace) != nullptr; }))
      continue;
    if (group.data() != workspaces().data()) draw_group_edge(skin);
    draw_group(scope, group, spread, skin);
  }
  ImGui::PopStyleVar();
  // In this line if there is room, so that nothing below it moves.
  const float room = ImGui::GetContentRegionAvail().x - curves_width - skin.px(4);
  const float full = overrides_width(scope, OverridesLabel::full, skin);
  const bool beside = overrides_width(scope, OverridesLabel::brief, skin) <= room;
  if (full > 0 && beside) {
    draw_overrides(scope, full <= room ? OverridesLabel::full : OverridesLabel::brief, skin);
    ImGui::SameLine(0, 0);
  }
  if (scope.presentation) {
    draw_training_sign(scope, skin);
  } else if (has_curves(scope)) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, ImGui::GetContentRegionAvail().x - curves_width));
    draw_column_toggle(scope, curves, find_action("curves"), skin);
  } else {
    ImGui::NewLine();
  }
  if (full > 0 && !beside) draw_overrides(scope, OverridesLabel::full, skin);
}

// A click on the window's chrome must not take keyboard focus from the workspace.
void return_focus_after_click(AppState& scope) {
  const bool popup = ImGui::IsPopupOpen(static_cast<const char*>(nullptr), ImGuiPopupFlags_AnyPopup);
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::IsWindowFocused() && !popup &&
      !ImGui::GetIO().WantTextInput) {
    scope.focus_workspace = true;
  }
}

// The text shown while there is nothing to display.
std::string waiting_text(const AppState& scope) {
  if (scope.progress) return tr_filled(scope.progress->what) + std::string("…");
  if (!has_run(scope) && scope.open_refused && scope.a.status.activity != Activity::preparing)
    return tr("No run is open. Open one with File, Open run or File, Example, or train one with Setup, Apply");
  if (!has_run(scope)) return tr("Opening the run…  Or open another with File, Open run");
  return tr("Running the model on the sentence…");
}

// Names what the open workspace requires and lacks; empty: nothing.
std::string what_is_missing(const AppState& scope) {
  const Workspace& workspace = *scope.layout.workspace;
  if (shows_capture(scope)) return scope.a.complete.snapshot ? "" : tr("Reading the capture…");
  if (!workspace.needs.inspection) return "";
  if (workspace.needs.writer && scope.a.run.config.model.is_classifier())
    return tr("This view shows step-by-step decoding, but a classifier predicts one label. See Origins, Classifier.");
  const ShownMaps maps = shown_maps(scope);
  const Snapshot* snapshot = (workspace.needs.decoding ? maps.complete : maps.newest).snapshot.get();
  if (!snapshot) return waiting_text(scope);
  const bool needs_text = workspace.needs.text && !shown_run(scope).run.config.model.is_language_model();
  if (needs_text && is_blank(scope.layout.sentence)) return tr("Type a sentence, or choose one with ▼");
  return workspace.needs.present && is_recorded(*snapshot) ? recorded_note(maps.complete) : "";
}

// The caption of an exported picture; in the window, this information is around the workspace.
void draw_picture_caption(const AppState& scope, const Skin& skin) {
  const Snapshot* snapshot = shown_maps(scope).complete.snapshot.get();
  if (!snapshot) return;
  draw_wrapped_label(skin.fonts.bold, skin.theme.text, one_line(snapshot->source_text), skin);
  if (scope.b && scope.comparing.side == DisplayedSide::difference)
    return draw_wrapped_label(skin.fonts.ui, skin.theme.text, comparison_title(scope), skin);
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, "→ " + one_line(snapshot->output_text), skin);
  draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                     trf("step {}{}{}", grouped(snapshot->step), shown_run(scope).run.name.empty() ? "" : " · ",
                         shown_run(scope).run.name),
                     skin);
  ImGui::Dummy({1, skin.px(4)});
}

// Frames the last item if the open lesson refers to it.
void light_item(const AppState& scope, std::string_view anchor, const Skin& skin) {
  const std::vector<std::string> lit = lit_anchors(scope);
  if (std::ranges::find(lit, anchor) == lit.end()) return;
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const float gap = skin.px(3);  // keeps the frame away from lines at the edge
  ImGui::GetWindowDrawList()->PushClipRectFullScreen();
  ImGui::GetWindowDrawList()->AddRect({low.x - gap, low.y - gap}, {high.x + gap, high.y + gap}, skin.theme.warning,
                                      skin.px(4), 0, skin.px(2));
  ImGui::GetWindowDrawList()->PopClipRect();
}

// A lesson's views are separate from the reader's; distinct IDs keep their textures apart.
std::string workspace_id(const AppState& scope) {
  return scope.lessons.set == 0 ? "workspace" : fmt::format("workspace of lesson {}", scope.lessons.set);
}

void draw_workspace(AppState& scope, TextureStore& textures, const Skin& skin) {
  ImGui::BeginGroup();
  draw_tabs(scope, skin);
  settle_capture(scope);  // a key, a menu or a tab may have chosen what the capture lacks
  ImGui::EndGroup();
  light_item(scope, "tabs", skin);
  draw_comparison_bar(scope, skin);
  return_focus_after_click(scope);
  // Taking the focus would close an open dialog, so it waits until that is closed.
  const bool waits = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
  if (scope.focus_workspace && !waits) ImGui::SetNextWindowFocus();
  scope.focus_workspace &= waits;
  ImGui::BeginChild(workspace_id(scope).c_str(), ImVec2(0, 0), false, view_flags());
  const ImVec2 corner = ImGui::GetWindowPos();
  const ImVec2 size = ImGui::GetWindowSize();
  scope.exports.area = {corner, {corner.x + size.x, corner.y + size.y}};
  if (scope.exports.captioned) draw_picture_caption(scope, skin);
  const std::string note = what_is_missing(scope);
  if (scope.b && scope.comparing.side == DisplayedSide::difference) {
    draw_difference(scope, textures, skin);
  } else if (note.empty()) {
    WorkspaceContext context = context_of(scope, textures, skin);
    scope.layout.workspace->draw(context);
    if (scope.sentence_wanted) set_sentence(scope, *std::exchange(scope.sentence_wanted, std::nullopt));
    if (scope.study_wanted) start_study(scope, *std::exchange(scope.study_wanted, std::nullopt));
    if (scope.path_wanted) drop_path(scope, *std::exchange(scope.path_wanted, std::nullopt), true);
  } else {
    draw_quiet_note(note.c_str(), ImGui::GetContentRegionAvail(), skin);
  }
  ImGui::EndChild();
  light_item(scope, "workspace", skin);
}

void draw_setup_column(AppState& scope, float height, const Skin& skin) {
  ImGui::BeginChild("setup", ImVec2(skin.px(scope.layout.setup_width), height), false, column_flags());
  if (shows_capture(scope))
    draw_capture_facts(scope, skin);
  else
    draw_setup(scope, skin);
  ImGui::EndChild();
  light_item(scope, "setup", skin);
  ImGui::SameLine(0, 0);
  draw_splitter("setup_edge", scope.layout.setup_width, height, setup_edge, skin);
  ImGui::SameLine(0, skin.px(4));
}

// The reason why the training loss is above the validation loss, while it is.
std::string note_on_losses(const AppState& scope) {
  const Config& config = scope.a.run.config;
  const Series& trained = scope.a.curves[metric("loss")].points();
  const Series& validated = scope.a.curves[metric("validation_nll")].points();
  const bool raised = config.training.label_smoothing > 0 || config.model.dropout > 0;
  if (scope.b || !raised || trained.y.empty() || validated.y.empty() || trained.y.back() <= validated.y.back())
    return {};
  std::string note = tr("“train” includes dropout and label smoothing.");
  if (!scope.a.curves[metric("train_nll")].points().y.empty()) note += tr(" Without them it is “train, plain”.");
  return note;
}

void draw_curves_column(AppState& scope, float width, float height, const Skin& skin) {
  ImGui::SameLine(0, 0);
  draw_splitter("curves_edge", scope.layout.curves_width, height, curves_edge, skin);
  ImGui::SameLine(0, skin.px(4));
  ImGui::BeginChild("curves", ImVec2(width, height), false, column_flags());
  scope.curves_view.best_step = scope.b ? std::nullopt : scope.a.status.best_step;
  scope.curves_view.note = note_on_losses(scope);
  draw_curves(scope.a.curves, scope.curves_view, skin, scope.b ? &scope.b->curves : nullptr);
  if (scope.curves_view.copied)
    notify(scope, Severity::info, tr("The curves were copied as CSV. Export, Curves as CSV saves them in a file."));
  ImGui::EndChild();
  light_item(scope, "curves", skin);
}

void draw_columns(AppState& scope, float height, TextureStore& textures, const Skin& skin) {
  Layout& layout = scope.layout;
  const bool setup = layout.setup_open && !scope.presentation;
  const bool curves = layout.curves_open && has_curves(scope) && !scope.presentation;
  const bool lesson = scope.lessons.open;
  if (setup) draw_setup_column(scope, height, skin);
  const float edge = skin.px(splitter_width + 4);
  // The lesson page and the curves shrink when the window is too narrow.
  const float room = ImGui::GetContentRegionAvail().x;
  const float page_width = lesson ? std::min(skin.px(lesson_width), room * widest_lesson) + skin.px(10) : 0;
  const float curves_width = std::min(skin.px(layout.curves_width), (room - page_width) * 0.38F);
  ImGui::BeginChild("middle", ImVec2(curves ? -curves_width - edge - page_width : -page_width, height), false,
                    column_flags());
  draw_workspace(scope, textures, skin);
  ImGui::EndChild();
  if (curves) draw_curves_column(scope, curves_width, height, skin);
  if (!lesson) return;
  ImGui::SameLine(0, skin.px(10));
  ImGui::BeginChild("lesson", ImVec2(0, height), false, ImGuiWindowFlags_AlwaysUseWindowPadding | column_flags());
  draw_lesson_page(scope, skin);
  ImGui::EndChild();
}

void draw_lit_sentence_bar(AppState& scope, const Skin& skin) {
  ImGui::BeginGroup();
  draw_sentence_bar(scope, skin);
  ImGui::EndGroup();
  light_item(scope, "sentence", skin);
}

}  // namespace

void draw_shell(AppState& scope, TextureStore& textures, const Skin& skin) {
  speak_language(scope);
  settle_timeline(scope, ImGui::GetTime());
  settle_b(scope);
  settle_capture(scope);
  settle_menu_keys();
  handle_keys(scope, textures, skin);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.WorkPos);
  ImGui::SetNextWindowSize(viewport.WorkSize);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  constexpr ImGuiWindowFlags standard = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                        ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                        ImGuiWindowFlags_NoScrollWithMouse;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) move_through_controls(false);
  if (std::exchange(scope.focus_window, false)) ImGui::SetNextWindowFocus();
  ImGui::Begin("attnscope", nullptr, standard | (scope.presentation ? 0 : ImGuiWindowFlags_MenuBar));
  ImGui::PopStyleVar(2);
  if (!scope.presentation) draw_menu_bar(scope, skin);
  const bool simple = scope.layout.density == Density::simple;
  if (simple) {
    draw_lit_sentence_bar(scope, skin);
    ImGui::Separator();
  }
  const float bar = (simple ? 0 : sentence_bar_height(skin)) + timeline_height(scope);
  const float height = std::max(skin.px(80), ImGui::GetContentRegionAvail().y - bar - skin.px(10));
  draw_columns(scope, height, textures, skin);
  // The buttons of a lesson are at the bottom right. In a narrow window messages reach over there: they stand above.
  const float right = in_lesson(scope) ? skin.px(toast_width + 36) : viewport.WorkSize.x;
  const bool over_lesson = in_lesson(scope) && right > viewport.WorkSize.x * (1 - widest_lesson);
  const ImVec2 corner(viewport.WorkPos.x + right - skin.px(12),
                      ImGui::GetCursorScreenPos().y - (over_lesson ? 2.5F * ImGui::GetFrameHeightWithSpacing() : 0));
  ImGui::Separator();
  draw_timeline(scope, skin);
  if (!simple) draw_lit_sentence_bar(scope, skin);
  return_focus_after_click(scope);
  draw_dialogs(scope, skin);
  draw_context_menu(scope, skin);
  ImGui::End();
  if (!scope.exports.taking) {
    draw_pen(scope, skin);
    draw_toasts(scope, corner, skin);
  }
  settle_saved_view(scope);
  follow_lesson_file(scope, ImGui::GetTime());
  settle_lesson(scope);
  ask_for_inspection(scope);
  settle_undo(scope);
}

}  // namespace attnscope
