#include "widgets/number_field.h"

#include <fmt/format.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/translation.h"

namespace attnscope {
namespace {

constexpr double refusal_seconds = 4;

// Dear ImGui has one active text field; so there is one of each.
struct Typing {
  ImGuiID id = 0;
  std::string before, text;
  int frame = 0;  // the last one in which the field was drawn
};
Typing typing;
struct Refusal {
  ImGuiID id = 0;
  std::string text;
  double at = 0;  // ImGui::GetTime()
};
Refusal refusal;

template <typename Number>
constexpr ImGuiDataType data_type = std::is_same_v<Number, double>  ? ImGuiDataType_Double
                                    : std::is_same_v<Number, float> ? ImGuiDataType_Float
                                    : std::is_same_v<Number, int>   ? ImGuiDataType_S32
                                                                    : ImGuiDataType_S64;

template <typename Number>
std::optional<Number> number_in(std::string text, Number low, Number high) {
  std::erase(text, ' ');
  std::ranges::replace(text, ',', '.');
  const char* begin = text.data() + text.starts_with('+');
  const char* end = text.data() + text.size();
  Number value{};
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || !(value >= low && value <= high)) return std::nullopt;
  return value;
}

// Above everything: the tooltip of the field under the mouse would replace another tooltip.
void note_below(const std::string& text, const Skin& skin) {
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const float pad = skin.px(6);
  const ImVec2 low(std::max(0.0F, std::min(ImGui::GetItemRectMin().x, ImGui::GetIO().DisplaySize.x - size.x - 2 * pad)),
                   ImGui::GetItemRectMax().y + skin.px(2));
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  list.AddRectFilled(low, ImVec2(low.x + size.x + 2 * pad, low.y + size.y + 2 * pad), skin.theme.raised, skin.px(3));
  list.AddText(ImVec2(low.x + pad, low.y + pad), skin.theme.text, text.c_str());
}

template <typename Number>
bool end_typing(Number& value, Number low, Number high) {
  const Typing ended = std::exchange(typing, {});
  refusal = {};
  if (ended.text == ended.before || ended.frame + 1 < ImGui::GetFrameCount()) return false;
  if (const auto number = number_in(ended.text, low, high)) return std::exchange(value, *number) != *number;
  refusal = {ended.id, trf("“{}” was not applied. Allowed: {} to {}. In effect: {}", ended.text, low, high, value),
             ImGui::GetTime()};
  return false;
}

// The text field; `before` is its text until it is edited.
template <typename Number>
bool type_number(const char* label, const std::string& before, Number& value, Number low, Number high,
                 const Skin& skin) {
  const ImGuiID id = ImGui::GetID(label);
  std::string text = typing.id == id ? typing.text : before;
  // With this flag the text is up to date also in the frame in which typing ends.
  ImGui::InputText(label, &text, ImGuiInputTextFlags_AutoSelectAll | ImGuiInputTextFlags_EnterReturnsTrue);
  const bool typed_in = typing.id == id;
  if (ImGui::IsItemActive()) {
    if (!typed_in) typing = {id, before, {}, 0};
    typing.text = text;
    typing.frame = ImGui::GetFrameCount();
    if (text != typing.before)
      note_below(number_in(text, low, high) ? trf("Enter applies it. In effect: {}", value)
                                            : trf("Allowed: {} to {}. In effect: {}", low, high, value),
                 skin);
    return false;
  }
  if (typed_in && ImGui::IsItemDeactivated()) typing.text = text;  // otherwise another field took the keyboard
  return typed_in && end_typing(value, low, high);
}

void show_refusal(ImGuiID id, const Skin& skin) {
  if (refusal.id == id && ImGui::GetTime() < refusal.at + refusal_seconds) note_below(refusal.text, skin);
}

}  // namespace

template <typename Number>
bool number_slider(const char* label, Number& value, Number low, Number high, const char* format,
                   ImGuiSliderFlags flags, const Skin& skin) {
  const ImGuiID id = ImGui::GetID(label);
  if (typing.id == id && ImGui::TempInputIsActive(id)) return type_number(label, typing.before, value, low, high, skin);
  bool changed = typing.id == id && end_typing(value, low, high);
  Number moved = value;
  const bool slid = ImGui::SliderScalar(label, data_type<Number>, &moved, &low, &high, format, flags);
  if (ImGui::TempInputIsActive(id)) {
    std::array<char, 32> bare{}, text{};
    ImGui::DataTypeFormatString(text.data(), text.size(), data_type<Number>, &value,
                                ImParseFormatTrimDecorations(format, bare.data(), bare.size()));
    const std::string before = ImStrSkipBlank(text.data());
    typing = {id, before, before, ImGui::GetFrameCount()};
  } else if (slid) {
    value = moved;
    changed = true;
  }
  show_refusal(id, skin);
  return changed;
}

template bool number_slider(const char*, int&, int, int, const char*, ImGuiSliderFlags, const Skin&);
template bool number_slider(const char*, std::int64_t&, std::int64_t, std::int64_t, const char*, ImGuiSliderFlags,
                            const Skin&);
template bool number_slider(const char*, float&, float, float, const char*, ImGuiSliderFlags, const Skin&);
template bool number_slider(const char*, double&, double, double, const char*, ImGuiSliderFlags, const Skin&);

bool number_input(const char* label, std::int64_t& value, std::int64_t low, std::int64_t high, bool steps,
                  const Skin& skin) {
  const float button = ImGui::GetFrameHeight();
  const float gap = ImGui::GetStyle().ItemInnerSpacing.x;
  ImGui::BeginGroup();  // one hover target
  ImGui::PushID(label);
  ImGui::SetNextItemWidth(std::max(1.0F, ImGui::CalcItemWidth() - (steps ? 2 * (button + gap) : 0)));
  bool changed = type_number("##text", std::to_string(value), value, low, high, skin);
  show_refusal(ImGui::GetID("##text"), skin);
  ImGui::PushButtonRepeat(true);
  for (const int step : {-1, 1}) {
    if (!steps) break;
    ImGui::SameLine(0, gap);
    if (!ImGui::Button(step < 0 ? "-" : "+", ImVec2(button, button))) continue;
    changed |= std::exchange(value, std::clamp(value + step, low, high)) != value;
  }
  ImGui::PopButtonRepeat();
  ImGui::PopID();
  ImGui::EndGroup();
  return changed;
}

bool real_input(const char* label, float& value, float low, float high, const Skin& skin) {
  const bool changed = type_number(label, fmt::format("{:.3g}", value), value, low, high, skin);
  show_refusal(ImGui::GetID(label), skin);
  return changed;
}

}  // namespace attnscope
