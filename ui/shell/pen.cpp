#include "shell/pen.h"

#include <imgui_internal.h>

#include <algorithm>

#include "base/translation.h"
#include "shell/app_state.h"
#include "widgets/painter.h"

namespace attnscope {
namespace {

constexpr std::size_t most_points = 20'000;  // enough for a lesson; beyond it the oldest line is dropped

std::size_t points_of(const Pen& pen) {
  std::size_t points = 0;
  for (const auto& line : pen.lines) points += line.size();
  return points;
}

void follow_mouse(Pen& pen, ImVec2 size) {
  const ImVec2 mouse = ImGui::GetMousePos();
  if (ImGui::IsItemActivated()) pen.lines.emplace_back();
  if (!ImGui::IsItemActive() || pen.lines.empty()) return;
  const ImVec2 point{mouse.x / size.x, mouse.y / size.y};
  auto& line = pen.lines.back();
  if (line.empty() || line.back().x != point.x || line.back().y != point.y) line.push_back(point);
  if (points_of(pen) > most_points && pen.lines.size() > 1) pen.lines.erase(pen.lines.begin());
}

// An invisible window in front of all others that captures the mouse.
void take_mouse(Pen& pen, ImVec2 size) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin("pen", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleVar();
  ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
  ImGui::InvisibleButton("paper", {std::max(1.0F, size.x), std::max(1.0F, size.y)});
  follow_mouse(pen, size);
  ImGui::End();
}

}  // namespace

void toggle_pen(AppState& scope) {
  scope.pen.held = !scope.pen.held;
  if (!scope.pen.held) scope.focus_workspace = true;  // it was taken by the pen's window
  if (scope.pen.held && !scope.presentation)
    notify(scope, Severity::info, tr("The pen draws over the window with the mouse. Escape puts it down."));
}

void wipe(AppState& scope) {
  if (scope.pen.held) toggle_pen(scope);
  scope.pen.lines.clear();
}

void draw_pen(AppState& scope, const Skin& skin) {
  Pen& pen = scope.pen;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  if (pen.held) take_mouse(pen, size);
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  const float thickness = skin.px(3);
  for (const auto& line : pen.lines) {
    std::vector<ImVec2> points;
    for (const ImVec2& point : line) points.push_back({point.x * size.x, point.y * size.y});
    if (points.size() == 1) list.AddCircleFilled(points.front(), thickness, skin.theme.error);
    list.AddPolyline(points.data(), static_cast<int>(points.size()), skin.theme.error, 0, thickness);
  }
  if (!pen.held) return;
  const ImVec2 mouse = ImGui::GetMousePos();
  list.AddCircle(mouse, thickness * 1.5F, skin.theme.error, 0, skin.px(1.5F));
}

}  // namespace attnscope
