#include "shell/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/numbers.h"
#include "base/translation.h"
#include "messages/metrics.h"
#include "shell/actions.h"
#include "shell/captures.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

void draw_workspace_items(AppState& scope, const Skin& skin) {
  for (const Workspace& workspace : workspaces()) {
    const std::string key = chord_text(group_key(workspace));
    const char* absent = absence(scope, workspace);
    if (ImGui::MenuItem(tr_label(title_of(workspace, scope.a.run.config.model)), key.c_str(),
                        scope.layout.workspace == &workspace, !absent))
      show_workspace(scope, workspace);
    if (absent) help_tooltip(absent, skin);
  }
}

void draw_buttons(AppState& scope, const Skin& skin) {
  const bool training = scope.a.status.activity == Activity::training;
  draw_action_button(scope, find_action("train"), training ? Icon::pause : Icon::play,
                     training ? skin.theme.warning : skin.theme.success, skin);
  draw_action_button(scope, find_action("step"), Icon::step, skin.theme.accent, skin);
  draw_action_button(scope, find_action("reset"), Icon::reset, skin.theme.accent, skin);
}

void draw_status(const AppState& scope, const Skin& skin) {
  const std::string text = status_line(scope);
  const float room = ImGui::GetContentRegionAvail().x - skin.px(20);
  const bool roomy = text_size(skin.fonts.mono, text).x <= room;
  const WithFont font(roomy ? skin.fonts.mono : skin.fonts.mono_small);
  std::string shown = text;  // as many whole facts as fit
  for (std::size_t end = 0; text_size(ImGui::GetFont(), shown).x > room && (end = shown.rfind(" · ")) < text.size();)
    shown.resize(end);
  shown = shortened(ImGui::GetFont(), shown, room);
  const float width = ImGui::CalcTextSize(shown.c_str()).x;
  const float x = ImGui::GetWindowWidth() - width - skin.px(12);
  ImGui::SetCursorPosX(std::max(x, ImGui::GetCursorPosX() + skin.px(8)));
  ImGui::AlignTextToFramePadding();
  dim_text(shown, skin);
  const std::string complete = scope.a.run.name.empty() ? text : scope.a.run.name + ": " + text;
  help_tooltip(complete + tr("\nstep: optimizer steps; loss: training loss in nats per target token, with label "
                             "smoothing; tok/s: source and target tokens per second, without padding."),
               skin);
}

// Scales the curve from its minimum to its maximum.
void draw_small_curve(const std::vector<double>& values, ImVec2 size, const Skin& skin) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  double low = 1e300, high = -1e300;  // of the finite values
  for (const double value : values)
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  const double span = std::max(high - low, 1e-9);
  const auto last = static_cast<float>(std::max<std::size_t>(1, values.size() - 1));
  const float pad = skin.px(4);
  const std::size_t stride = std::max<std::size_t>(1, values.size() / 200);
  std::vector<ImVec2> points;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    if (!std::isfinite(values[i])) continue;
    points.push_back({corner.x + size.x * static_cast<float>(i) / last,
                      corner.y + pad + (size.y - 2 * pad) * static_cast<float>((high - values[i]) / span)});
  }
  Painter(skin).polyline(points, skin.theme.series[0], skin.px(1.5F), Joints::apart);
}

// Same order as Activity.
constexpr std::array activity_texts = {mark("ready"), mark("preparing"), mark("training"), mark("paused"),
                                       mark("finished")};
static_assert(activity_texts.size() == static_cast<std::size_t>(Activity::finished) + 1);

}  // namespace

std::string status_line(const AppState& scope) {
  if (!has_run(scope)) return scope.progress ? tr_filled(scope.progress->what) : tr("no run yet");
  const char* activity =
      scope.pausing ? tr("pausing…") : tr(activity_texts[static_cast<std::size_t>(scope.a.status.activity)]);
  std::string line = trf("{} · step {}", activity, grouped(scope.a.status.step));
  const std::vector<double>& loss = scope.a.curves[metric("loss")].points().y;
  const std::vector<double>& speed = scope.a.curves[metric("tokens_per_second")].points().y;
  if (!loss.empty()) line += trf(" · loss {:.2f}", loss.back());
  if (!speed.empty() && scope.a.status.activity == Activity::training) {
    line += trf(" · {} tok/s", rounded(speed.back()));
  }
  if (!scope.a.status.device.empty()) line += " · " + scope.a.status.device;
  if (scope.service) line += trf(" · served, {} watching", scope.service->clients);
  return line;
}

void draw_training_sign(const AppState& scope, const Skin& skin) {
  const std::vector<double>& loss = scope.a.curves[metric("loss")].points().y;
  if (scope.a.status.activity == Activity::idle || loss.empty()) return ImGui::NewLine();
  const std::string text =
      trf("{} · step {} · loss {:.2f}", tr(activity_texts[static_cast<std::size_t>(scope.a.status.activity)]),
          grouped(scope.a.status.step), loss.back());
  const float width = text_size(skin.fonts.ui, text).x, room = ImGui::GetContentRegionAvail().x;
  const float curve = std::min(skin.px(120), room - width - skin.px(24));
  if (width > room) return ImGui::NewLine();
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width - std::max(0.0F, curve + skin.px(8)));
  if (curve > skin.px(30)) {
    draw_small_curve(loss, {curve, ImGui::GetFrameHeight()}, skin);
    ImGui::SameLine(0, skin.px(8));
  }
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(text.c_str());
}

void draw_menu_bar(AppState& scope, const Skin& skin) {
  if (!ImGui::BeginMenuBar()) return;
  for (const auto& [menu, title] : menus) {
    if (!ImGui::BeginMenu(tr_label(title))) continue;
    if (menu == Menu::view) draw_workspace_items(scope, skin);
    draw_menu_items(scope, menu, skin);
    ImGui::EndMenu();
  }
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + skin.px(12));
  draw_buttons(scope, skin);
  draw_status(scope, skin);
  ImGui::EndMenuBar();
}

}  // namespace attnscope
