#include "shell/panels.h"

#include <fmt/format.h>

#include "base/translation.h"
#include "shell/training.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr std::size_t most_shown = 4;

Color32 severity_color(Severity severity, const Theme& theme) {
  return severity == Severity::info ? theme.accent : severity == Severity::warning ? theme.warning : theme.error;
}

bool expired(const Toast& toast, double now) {
  if (toast.shown_at < 0 || !toast.fades()) return false;
  const bool short_lived = toast.message.severity == Severity::info && !toast.offer;
  return now - toast.shown_at > (short_lived ? info_seconds : warning_seconds);
}

// Returns true if it is to be dismissed.
bool draw_toast(Toast& toast, std::vector<Command>& commands, const Skin& skin) {
  if (toast.shown_at < 0) toast.shown_at = ImGui::GetTime();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float button = ImGui::GetFrameHeight();
  const float left = ImGui::GetCursorPosX();

  ImGui::BeginGroup();
  ImGui::SetCursorPosX(left + skin.px(10));
  ImGui::PushTextWrapPos(left + skin.px(toast_width) - button - skin.px(8));
  plain_text(tr_filled(toast.message.text));  // the worker's messages are in English
  ImGui::PopTextWrapPos();
  bool taken = false;
  if (toast.offer) {
    ImGui::SetCursorPosX(left + skin.px(10));
    taken = text_button(toast.offer->label);
    help_tooltip(toast.offer->help, skin);
    if (taken) commands.push_back(toast.offer->command);
  }
  ImGui::EndGroup();
  const float bottom = ImGui::GetItemRectMax().y;

  ImGui::SameLine(left + skin.px(toast_width) - button);
  const bool dismissed = ImGui::SmallButton("×");
  help_tooltip(tr("Dismisses the message."), skin);
  ImGui::GetWindowDrawList()->AddRectFilled(corner, ImVec2(corner.x + skin.px(3), bottom),
                                            severity_color(toast.message.severity, skin.theme));
  return dismissed || taken;
}

// Returns true if it is to be canceled.
bool draw_progress(const std::string& what, double fraction, const char* cancel_help, const Skin& skin) {
  ImGui::PushID(cancel_help);
  ImGui::TextUnformatted(tr_filled(what).c_str());
  const float cancel_width = ImGui::CalcTextSize(tr("Cancel")).x + skin.px(20);
  const ImVec2 bar(skin.px(toast_width) - cancel_width - skin.px(8), ImGui::GetFrameHeight());
  const bool known = fraction >= 0;  // unknown: a bar without a number
  ImGui::ProgressBar(known ? static_cast<float>(fraction) : 0, bar, known ? nullptr : "…");
  ImGui::SameLine(0, skin.px(8));
  const bool cancelled = ImGui::Button(tr_label("Cancel"), ImVec2(cancel_width, 0));
  help_tooltip(cancel_help, skin);
  ImGui::PopID();
  return cancelled;
}

void draw_work_under_way(AppState& scope, const Skin& skin) {
  if (scope.progress && draw_progress(scope.progress->what, scope.progress->fraction,
                                      tr("Cancels this. The current run does not change."), skin)) {
    scope.commands.push_back(Cancel{});
  }
  if (scope.study && draw_progress(scope.study->what, scope.study->fraction, tr("Cancels this."), skin)) {
    cancel_study(scope);
  }
}

}  // namespace

void draw_toasts(AppState& scope, ImVec2 corner, const Skin& skin) {
  const double now = ImGui::GetTime();
  std::erase_if(scope.toasts, [&](const Toast& toast) { return expired(toast, now); });
  if (scope.toasts.empty() && !scope.progress && !scope.study) return;

  ImGui::SetNextWindowPos(corner, ImGuiCond_Always, ImVec2(1, 1));
  ImGui::PushStyleColor(ImGuiCol_WindowBg, skin.theme.raised);
  ImGui::PushStyleColor(ImGuiCol_Button, skin.theme.hovered);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, skin.theme.background);
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                     ImGuiWindowFlags_NoFocusOnAppearing;
  if (ImGui::Begin("##toasts", nullptr, flags)) {
    const std::size_t hidden = scope.toasts.size() > most_shown ? scope.toasts.size() - most_shown : 0;
    std::size_t gone = scope.toasts.size();
    for (std::size_t index = hidden; index < scope.toasts.size(); ++index) {
      ImGui::PushID(static_cast<int>(index));
      if (draw_toast(scope.toasts[index], scope.commands, skin)) gone = index;
      ImGui::PopID();
    }
    if (gone < scope.toasts.size()) scope.toasts.erase(scope.toasts.begin() + static_cast<std::ptrdiff_t>(gone));
    if (hidden > 0) {
      if (ImGui::SmallButton(trf("{} older; dismiss all", hidden).c_str())) scope.toasts.clear();
      help_tooltip(tr("Dismisses every message."), skin);
    }
    draw_work_under_way(scope, skin);
  }
  ImGui::End();
  ImGui::PopStyleColor(3);
}

}  // namespace attnscope
