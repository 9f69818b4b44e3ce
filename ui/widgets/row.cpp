#include "widgets/row.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <string>

#include "widgets/words.h"

namespace attnscope {
namespace {

// ---- icons

void draw_icon(ImDrawList& list, Icon icon, ImVec2 center, float r, Color32 color) {
  const auto at = [&](float x, float y) { return ImVec2(center.x + x * r, center.y + y * r); };
  switch (icon) {
    case Icon::play:
      list.AddTriangleFilled(at(-0.7F, -0.9F), at(0.9F, 0), at(-0.7F, 0.9F), color);
      break;
    case Icon::pause:
      list.AddRectFilled(at(-0.75F, -0.85F), at(-0.2F, 0.85F), color);
      list.AddRectFilled(at(0.2F, -0.85F), at(0.75F, 0.85F), color);
      break;
    case Icon::step:
      list.AddTriangleFilled(at(-0.85F, -0.85F), at(0.4F, 0), at(-0.85F, 0.85F), color);
      list.AddRectFilled(at(0.45F, -0.85F), at(0.85F, 0.85F), color);
      break;
    case Icon::reset:
      list.PathArcTo(center, r * 0.8F, -0.5F, 4.4F, 20);
      list.PathStroke(color, 0, r * 0.28F);
      list.AddTriangleFilled(at(0.15F, -0.62F), at(1.05F, -0.9F), at(0.95F, 0.15F), color);
      break;
  }
}

}  // namespace

float button_width(const char* label) {
  return ImGui::CalcTextSize(label, nullptr, true).x + ImGui::GetStyle().FramePadding.x * 2;
}

float checkbox_width(const char* label) {
  return ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x + ImGui::CalcTextSize(label, nullptr, true).x;
}

void next_in_row(float width, float gap) {
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  ImGui::SameLine(0, gap);
  if (ImGui::GetCursorPosX() + width > right) ImGui::NewLine();
}

bool draw_choice(const char* title, bool chosen, std::string_view help, const Skin& skin) {
  break_choices(title);
  ImGui::PushStyleColor(ImGuiCol_Button, chosen ? skin.theme.raised : 0);
  ImGui::PushStyleColor(ImGuiCol_Text, chosen ? skin.theme.text : skin.theme.text_dim);
  const bool clicked = ImGui::SmallButton(title);
  ImGui::PopStyleColor(2);
  help_tooltip(help, skin, title);
  ImGui::SameLine(0, skin.px(4));
  return clicked;
}

bool row_button(const char* title) {
  break_choices(title);
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
  const bool clicked = ImGui::SmallButton(title);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  return clicked;
}

void break_choices(const char* title) {
  if (ImGui::GetContentRegionAvail().x < button_width(title)) ImGui::NewLine();
}

void end_choices() {
  ImGui::NewLine();
}

// ---- icons

bool icon_button(const char* label, Icon icon, Color32 icon_color, bool enabled, std::string_view help,
                 const Skin& skin) {
  ImGui::BeginDisabled(!enabled);
  const float height = ImGui::GetFrameHeight();
  const char* shown_end = ImGui::FindRenderedTextEnd(label);
  const float text_width = ImGui::CalcTextSize(label, shown_end).x;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const std::string id = std::string("##") + label;
  const bool clicked = ImGui::Button(id.c_str(), ImVec2(text_width + height + skin.px(8), height));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float alpha = enabled ? 1.0F : 0.45F;
  draw_icon(list, icon, ImVec2(corner.x + height * 0.58F, corner.y + height * 0.5F), height * 0.23F,
            faded(icon_color, alpha));
  list.AddText(ImVec2(corner.x + height * 1.02F, corner.y + (height - ImGui::GetFontSize()) * 0.5F),
               faded(skin.theme.text, alpha), label, shown_end);
  ImGui::EndDisabled();
  help_tooltip(help, skin, label);
  return clicked;
}

}  // namespace attnscope
