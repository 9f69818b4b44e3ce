#include "widgets/button.h"

#include <imgui.h>

namespace attnscope {

float button_width(const char* label) {
  return ImGui::CalcTextSize(label, nullptr, true).x + ImGui::GetStyle().FramePadding.x * 2;
}

}  // namespace attnscope
