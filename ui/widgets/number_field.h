// Fields and sliders for numbers. Typed text takes effect when typing ends, not at each key: half of “0.001” is 0. A
// decimal comma is read as a point. Text that is no number within the limits is refused with a note, and the value in
// effect stays visible.
#pragma once

#include <imgui.h>

#include <cstdint>

#include "base/skin.h"

namespace attnscope {

// Like ImGui::SliderScalar, for int, std::int64_t, float and double; Ctrl+click on a slider types into it.
template <typename Number>
bool number_slider(const char* label, Number& value, Number low, Number high, const char* format,
                   ImGuiSliderFlags flags, const Skin& skin);

// A text field, with step buttons if `steps`.
bool number_input(const char* label, std::int64_t& value, std::int64_t low, std::int64_t high, bool steps,
                  const Skin& skin);

// A text field for a real number.
bool real_input(const char* label, float& value, float low, float high, const Skin& skin);

}  // namespace attnscope
