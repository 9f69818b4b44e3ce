#include "shell/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/translation.h"
#include "plain/metrics.h"
#include "shell/actions.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

void draw_workspace_items(Scope& scope) {
  for (const Workspace& workspace : workspaces()) {
    const std::string key = chord_text(group_key(workspace));
    if (ImGui::MenuItem(tr_label(workspace.title), key.c_str(), scope.layout.workspace == &workspace))
      show_workspace(scope, workspace);
  }
}

void draw_buttons(Scope& scope, const Skin& skin) {
  const bool training = scope.status.activity == Activity::training;
  draw_action_button(scope, find_action("train"), training ? Icon::pause : Icon::play,
                     training ? skin.theme.warning : skin.theme.success, skin);
  draw_action_button(scope, find_action("step"), Icon::step, skin.theme.accent, skin);
  draw_action_button(scope, find_action("reset"), Icon::reset, skin.theme.accent, skin);
}

void draw_status(const Scope& scope, const Skin& skin) {
  const std::string text = status_line(scope);
  const float room = ImGui::GetContentRegionAvail().x - skin.px(20);
  const bool roomy = text_size(skin.fonts.mono, text).x <= room;
  const WithFont font(roomy ? skin.fonts.mono : skin.fonts.mono_small);
  const float width = ImGui::CalcTextSize(text.c_str()).x;
  const float x = ImGui::GetWindowWidth() - width - skin.px(12);
  // Too narrow: the line stands right after the buttons and is cut off at the window's edge.
  ImGui::SetCursorPosX(std::max(x, ImGui::GetCursorPosX() + skin.px(8)));
  ImGui::AlignTextToFramePadding();
  dim_text(text, skin);
  const std::string complete = scope.run.name.empty() ? text : scope.run.name + ": " + text;
  help_tooltip(complete + tr("\nstep: optimizer updates; loss: training objective in nats per target token, label "
                             "smoothing included; tok/s: source and target tokens without padding."),
               skin);
}

// In the order of Activity.
constexpr std::array activity_texts = {mark("ready"), mark("preparing"), mark("training"), mark("paused"),
                                       mark("finished")};
static_assert(activity_texts.size() == static_cast<std::size_t>(Activity::finished) + 1);

}  // namespace

std::string status_line(const Scope& scope) {
  if (!has_run(scope)) return scope.progress ? tr(scope.progress->what.c_str()) : tr("no run yet");
  const char* activity =
      scope.pausing ? tr("pausing…") : tr(activity_texts[static_cast<std::size_t>(scope.status.activity)]);
  std::string line = trf("{} · step {}", activity, grouped(scope.status.step));
  const std::vector<double>& loss = scope.curves[metric("loss")].y;
  const std::vector<double>& speed = scope.curves[metric("tokens_per_second")].y;
  if (!loss.empty()) line += trf(" · loss {:.2f}", loss.back());
  if (!speed.empty() && scope.status.activity == Activity::training) {
    line += trf(" · {} tok/s", rounded(speed.back()));
  }
  if (!scope.status.device.empty()) line += " · " + scope.status.device;
  return line;
}

void draw_menu_bar(Scope& scope, const Skin& skin) {
  if (!ImGui::BeginMenuBar()) return;
  for (const auto& [menu, title] : menus) {
    if (!ImGui::BeginMenu(tr_label(title))) continue;
    if (menu == Menu::view) draw_workspace_items(scope);
    draw_menu_items(scope, menu, skin);
    ImGui::EndMenu();
  }
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + skin.px(12));
  draw_buttons(scope, skin);
  draw_status(scope, skin);
  ImGui::EndMenuBar();
}

}  // namespace attnscope
