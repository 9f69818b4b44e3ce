#include "shell/comparing.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/numbers.h"
#include "base/translation.h"
#include "config/comparison.h"
#include "shell/actions.h"
#include "shell/app_state.h"
#include "shell/timeline/timeline.h"
#include "shell/training.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/compare/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

// The frame in B's history at the step of A's recorded frame; null: nothing of the sentence was recorded there.
const Frame* nearest_frame_of_b(const AppState& scope) {
  const PinnedSentence* sentence = scope.b->history.find(scope.layout.sentence);
  if (!sentence || sentence->frames.empty()) return nullptr;
  return &sentence->frames[nearest_frame(sentence->frames, static_cast<double>(scope.a.past.snapshot->step))];
}

struct ReceiverOfB {
  AppState& scope;

  void operator()(RunOpened& opened) {
    scope.progress.reset();
    RunView b;
    b.status = {.activity = scope.a.status.activity, .step = opened.step, .device = {}, .recorded_weights = {}};
    for (const MetricPoint& point : std::exchange(opened.metrics, {})) b.curves.append(point);
    b.history = History(std::exchange(opened.pinned, {}));
    for (const std::string& warning : opened.warnings) notify(scope, Severity::warning, "B: " + warning);
    scope.saved_to = opened.saved_to;  // a comparison is saved separately from a run
    b.run = std::move(opened);
    const bool first = !scope.b;
    scope.b = std::move(b);
    if (!scope.saved_to.empty()) remember_comparison();
    if (first) show_both();
  }
  // It was opened by its folder, which stands for those of its runs.
  void remember_comparison() {
    std::erase(scope.layout.recent_runs, scope.a.run.folder);
    remember_run(scope, scope.saved_to);
    if (scope.rights != Rights::owner) return;
    scope.layout.last_run = scope.saved_to;
    scope.layout.continue_last_run = false;
  }
  // Switches to a workspace that shows both.
  void show_both() {
    scope.comparing.side = DisplayedSide::difference;
    if (!find_difference_view(scope.layout.workspace->name)) scope.layout.workspace = find_workspace("attention");
  }
  void operator()(const MetricPoint& point) {
    if (!scope.b) return;
    scope.b->curves.append(point);
    scope.b->status.step = point.step;
  }
  void operator()(const Status& status) {
    if (scope.b) scope.b->status = status;
  }
  void operator()(FrameRecorded& recorded) {
    if (scope.b) scope.b->history.add(std::move(recorded.frame));
  }
};

std::vector<FieldDifference> present_differences(const AppState& scope) {
  return differences(scope.a.run.config, scope.b->run.config);
}

// ---- the bar

struct SideText {
  DisplayedSide side;
  std::optional<RunSide> run;
  const char* title;
  const char* help;
};

constexpr std::array side_texts = {
    SideText{DisplayedSide::a, RunSide::a, "A", mark("Every workspace shows A, the current run.")},
    SideText{DisplayedSide::b, RunSide::b, "B", mark("Every workspace shows B, the run that A is compared with.")},
    SideText{DisplayedSide::difference, std::nullopt, "A \u2212 B",
             mark("Every workspace shows both runs side by side, and their difference.")},
};

void draw_sides(AppState& scope, const Skin& skin) {
  for (const SideText& text : side_texts) {
    const std::string name = text.run ? "  " + side_name(scope, *text.run) : "";
    const std::string title = fmt::format("{}{}###side{}", text.title, name, static_cast<int>(text.side));
    if (draw_choice(title.c_str(), scope.comparing.side == text.side,
                    trf("{} Ctrl+Shift+C switches to the next side.", tr(text.help)), skin))
      show_side(scope, text.side);
  }
}

}  // namespace

bool can_compare(const AppState& scope) {
  return may_replace(scope) && has_run(scope) && scope.a.status.activity != Activity::preparing;
}

bool is_comparing(const AppState& scope) {
  return scope.b.has_value();
}

bool can_keep_side(const AppState& scope) {
  return is_comparing(scope) && can_compare(scope);
}

void ask_for_comparison(AppState& scope) {
  if (!can_compare(scope)) return;
  scope.comparing.asked = true;
  scope.comparing.a = scope.a.run.config;
  scope.comparing.b = scope.b ? scope.b->run.config : scope.edited;
}

void compare_with_run(AppState& scope, const std::string& path) {
  if (can_compare(scope)) scope.commands.push_back(Compare{.with = path});
}

void compare_configurations(AppState& scope, const Config& a, const Config& b) {
  if (!can_compare(scope)) return;
  scope.commands.push_back(Compare{.with = b, .anew = a});
  scope.commands.push_back(Train{});
}

void keep_side(AppState& scope, RunSide side) {
  if (can_keep_side(scope)) scope.commands.push_back(EndComparison{.stays = side});
}

void show_side(AppState& scope, DisplayedSide side) {
  scope.comparing.side = side;
  scope.focus_workspace = true;
}

void show_next_side(AppState& scope) {
  show_side(scope, static_cast<DisplayedSide>((static_cast<int>(scope.comparing.side) + 1) %
                                              static_cast<int>(side_texts.size())));
}

std::string side_name(const AppState& scope, RunSide side) {
  const std::vector<FieldDifference> differing = present_differences(scope);
  const bool b = side == RunSide::b;
  return differing.empty() ? (b ? *scope.b : scope.a).run.name : b ? name_of_b(differing) : name_of_a(differing);
}

std::string comparison_title(const AppState& scope) {
  return title_of(present_differences(scope));
}

std::string comparison_note(const AppState& scope) {
  if (std::string why = other_batches(scope.a.run.config, scope.b->run.config); !why.empty()) return why;
  const std::int64_t a = scope.a.status.step, b = scope.b->status.step;
  if (std::abs(a - b) <= 1) return {};
  return trf("{} is {} steps behind; Train will bring it level first.", a < b ? "A" : "B", grouped(std::abs(a - b)));
}

void receive(AppState& scope, OfRunB& event) {
  std::visit(ReceiverOfB{scope}, event.what);
}

void receive(AppState& scope, const ComparisonEnded& ended) {
  if (!scope.b) return;
  RunView b = *std::exchange(scope.b, std::nullopt);
  scope.comparing.side = DisplayedSide::a;
  scope.saved_to.clear();
  if (ended.stays == RunSide::a) return;
  scope.a = std::move(b);
  scope.edited = scope.a.run.config;
  show_present(scope);
}

void receive_b(AppState& scope, std::shared_ptr<const Snapshot> snapshot) {
  if (!scope.b || !snapshot || snapshot->run != scope.b->run.run) return;
  receive(*scope.b, std::move(snapshot), scope.versions);
}

void settle_b(AppState& scope) {
  if (!scope.b) return;
  Shown& past = scope.b->past;
  const Frame* frame = scope.a.past.snapshot ? nearest_frame_of_b(scope) : nullptr;
  if (!frame) {
    past = {};
    return;
  }
  if (past.snapshot != *frame) past = {*frame, ++scope.versions};
  past.inspection_comes = std::ranges::binary_search(scope.b->status.recorded_weights, past.snapshot->step) &&
                          past.snapshot->step == scope.a.past.snapshot->step;
}

void draw_comparison_bar(AppState& scope, const Skin& skin) {
  if (!scope.b) return;
  ImGui::PushID("comparison");
  draw_sides(scope, skin);
  const std::string note = comparison_note(scope);
  const std::string title = comparison_title(scope);
  const float buttons = scope.presentation ? 0 : button_width(tr("Keep A")) + button_width(tr("Keep B")) + skin.px(16);
  const float room = ImGui::GetContentRegionAvail().x - buttons - skin.px(8);
  const std::string text = shortened(skin.fonts.ui, note.empty() ? title : note, room);
  colored_text(note.empty() ? skin.theme.text_dim : skin.theme.warning, text);
  help_tooltip(trf("{}\nA: {}, step {}\nB: {}, step {}{}{}", title, scope.a.run.name, grouped(scope.a.status.step),
                   scope.b->run.name, grouped(scope.b->status.step), note.empty() ? "" : "\n", note),
               skin);
  if (!scope.presentation) {
    ImGui::SameLine(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - buttons + skin.px(8), 0);
    // same height as the choices
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ImGui::GetStyle().FramePadding.x, 0});
    draw_action_button(scope, find_action("keep-a"), skin, tr("Keep A"));
    ImGui::SameLine(0, skin.px(6));
    draw_action_button(scope, find_action("keep-b"), skin, tr("Keep B"));
    ImGui::PopStyleVar();
  }
  ImGui::PopID();
}

void draw_difference(AppState& scope, TextureStore& textures, const Skin& skin) {
  const DifferenceView* view = find_difference_view(scope.layout.workspace->name);
  if (!view) {
    const std::string note =
        trf("A \u2212 B is available for {}. In this workspace, choose A or B above.", difference_titles());
    return draw_quiet_note(note.c_str(), ImGui::GetContentRegionAvail(), skin);
  }
  BothContext context{shown_maps(scope, RunSide::a),
                      shown_maps(scope, RunSide::b),
                      side_name(scope, RunSide::a),
                      side_name(scope, RunSide::b),
                      scope.views,
                      textures,
                      skin};
  view->draw(context);
}

}  // namespace attnscope
