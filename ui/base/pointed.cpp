#include "base/pointed.h"

#include <imgui.h>

#include <utility>

namespace attnscope {
namespace {

// The reports of one frame. They belong to one Dear ImGui context, as its own state does.
class Said {
 public:
  void say(std::optional<Pointed> pointed) {
    pointed_ = std::move(pointed);
    context_ = ImGui::GetCurrentContext();
    frame_ = ImGui::GetFrameCount();
  }

  std::optional<Pointed> heard() const {
    // A new context may have been created at the same address.
    const int age = ImGui::GetFrameCount() - frame_;
    const bool fresh = context_ == ImGui::GetCurrentContext() && age >= 0 && age <= 1;
    return fresh ? pointed_ : std::nullopt;
  }

 private:
  std::optional<Pointed> pointed_;
  ImGuiContext* context_ = nullptr;
  int frame_ = 0;
};

Said pointed_at, focused_on, chosen;

}  // namespace

void point_at(Pointed pointed) {
  pointed_at.say(std::move(pointed));
}

void point_at_nothing() {
  pointed_at.say(std::nullopt);
}

std::optional<Pointed> hovered_target() {
  return pointed_at.heard();
}

void focus_on(Pointed pointed) {
  focused_on.say(std::move(pointed));
}

std::optional<Pointed> focused_target() {
  return focused_on.heard();
}

void choose_target(Pointed pointed) {
  chosen.say(std::move(pointed));
}

std::optional<Pointed> chosen_target() {
  return chosen.heard();
}

}  // namespace attnscope
