#include "shell/toolbar.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "plain/metrics.h"
#include "shell/actions.h"
#include "widgets/tooltip.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

void draw_workspace_items(Scope& scope) {
  for (const Workspace& workspace : workspaces()) {
    const std::string key = chord_text(group_key(workspace));
    if (ImGui::MenuItem(workspace.title, key.c_str(), scope.layout.workspace == &workspace))
      show_workspace(scope, workspace);
  }
}

void draw_buttons(Scope& scope, const Look& look) {
  const bool training = scope.status.activity == Activity::training;
  draw_action_button(scope, find_action("train"), training ? Icon::pause : Icon::play,
                     training ? look.theme.warning : look.theme.success, look);
  draw_action_button(scope, find_action("step"), Icon::step, look.theme.accent, look);
  draw_action_button(scope, find_action("reset"), Icon::reset, look.theme.accent, look);
}

void draw_status(const Scope& scope, const Look& look) {
  const std::string text = status_line(scope);
  const float room = ImGui::GetContentRegionAvail().x - look.px(20);
  const bool roomy = text_size(look.fonts.mono, text.c_str()).x <= room;
  const WithFont font(roomy ? look.fonts.mono : look.fonts.mono_small);
  const float width = ImGui::CalcTextSize(text.c_str()).x;
  const float x = ImGui::GetWindowWidth() - width - look.px(12);
  // Too narrow: the line stands right after the buttons and is cut off at the window's edge.
  ImGui::SetCursorPosX(std::max(x, ImGui::GetCursorPosX() + look.px(8)));
  ImGui::AlignTextToFramePadding();
  dim_text(text, look);
  const std::string complete = scope.run.name.empty() ? text : scope.run.name + ": " + text;
  help_tooltip(complete +
                   "\nstep: optimizer updates; loss: training objective in nats per target token, label "
                   "smoothing included; tok/s: source and target tokens without padding.",
               look);
}

const char* activity_text(Activity activity) {
  switch (activity) {
    case Activity::idle:
      return "ready";
    case Activity::preparing:
      return "preparing";
    case Activity::training:
      return "training";
    case Activity::paused:
      return "paused";
    case Activity::finished:
      return "finished";
  }
  return "";
}

}  // namespace

std::string status_line(const Scope& scope) {
  if (scope.run.run == 0) return scope.progress ? scope.progress->what : "no run yet";
  std::string line = fmt::format("{} · step {}", activity_text(scope.status.activity), grouped(scope.status.step));
  const std::vector<double>& loss = scope.curves[metric("loss")].y;
  const std::vector<double>& speed = scope.curves[metric("tokens_per_second")].y;
  if (!loss.empty()) line += fmt::format(" · loss {:.2f}", loss.back());
  if (!speed.empty() && scope.status.activity == Activity::training) {
    line += fmt::format(" · {} tok/s", rounded(speed.back()));
  }
  if (!scope.status.device.empty()) line += " · " + scope.status.device;
  return line;
}

void draw_menu_bar(Scope& scope, const Look& look) {
  if (!ImGui::BeginMenuBar()) return;
  for (const auto& [menu, title] : menus) {
    if (!ImGui::BeginMenu(title)) continue;
    if (menu == Menu::view) draw_workspace_items(scope);
    draw_menu_items(scope, menu, look);
    ImGui::EndMenu();
  }
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + look.px(12));
  draw_buttons(scope, look);
  draw_status(scope, look);
  ImGui::EndMenuBar();
}

}  // namespace attnscope
