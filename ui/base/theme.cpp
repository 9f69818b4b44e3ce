#include "base/theme.h"

#include <imgui.h>

#include <initializer_list>

namespace attnscope {
namespace {

// 0xRRGGBB → bytes R G B A in drawing order.
constexpr Color32 opaque(unsigned hex) {
  return (hex >> 16 & 0xFFU) | (hex & 0xFF00U) | (hex & 0xFFU) << 16 | 0xFF000000U;
}

// Okabe & Ito 2008, "Color Universal Design".
constexpr Color32 orange = opaque(0xE69F00);
constexpr Color32 sky_blue = opaque(0x56B4E9);
constexpr Color32 green = opaque(0x009E73);
constexpr Color32 yellow = opaque(0xF0E442);
constexpr Color32 blue = opaque(0x0072B2);
constexpr Color32 vermillion = opaque(0xD55E00);
constexpr Color32 purple = opaque(0xCC79A7);

constexpr Theme dark_theme{
    .name = ThemeName::dark,
    .background = opaque(0x0F1217),
    .panel = opaque(0x171B22),
    .raised = opaque(0x242A35),
    .hovered = opaque(0x2B3341),
    .border = opaque(0x2B323E),
    .grid = opaque(0x222833),
    .text = opaque(0xDFE5EE),
    .text_dim = opaque(0x909BAD),
    .accent = opaque(0x5AA9E6),
    .success = opaque(0x84DDB4),
    .warning = opaque(0xE9B44C),
    .error = opaque(0xF5827E),
    .masked = opaque(0x1D222B),
    .series = {sky_blue, orange, green, purple, vermillion, yellow, blue},
    .diverging = ColorMap::blue_orange,
};

constexpr Theme light_theme{
    .name = ThemeName::light,
    .background = opaque(0xFFFFFF),
    .panel = opaque(0xF3F5F8),
    .raised = opaque(0xE3E8EF),
    .hovered = opaque(0xD3DBE6),
    .border = opaque(0xC9D1DC),
    .grid = opaque(0xE8ECF1),
    .text = opaque(0x18202C),
    .text_dim = opaque(0x545F70),
    .accent = opaque(0x0F5EA8),
    .success = opaque(0x00695C),
    .warning = opaque(0x7A5000),
    .error = opaque(0xA3003C),
    .masked = opaque(0xE6E9EE),
    .series = {opaque(0x0067C0), opaque(0xA8430F), opaque(0x2E8B78), opaque(0x7A2A70), opaque(0xA98E61),
               opaque(0x3E95C3), opaque(0xA08C00)},  // like the others, but dark enough on white
    .diverging = ColorMap::blue_red,
};

void set_colors(ImGuiStyle& style, const Theme& theme) {
  const auto set = [&](Color32 color, std::initializer_list<ImGuiCol> items) {
    for (const ImGuiCol item : items) style.Colors[item] = ImGui::ColorConvertU32ToFloat4(color);
  };
  if (theme.name == ThemeName::dark)
    ImGui::StyleColorsDark(&style);
  else
    ImGui::StyleColorsLight(&style);
  const Color32 chosen = mixed(theme.hovered, theme.accent, 0.35F);
  set(theme.text, {ImGuiCol_Text});
  set(theme.text_dim, {ImGuiCol_TextDisabled});
  set(theme.panel, {ImGuiCol_WindowBg, ImGuiCol_PopupBg, ImGuiCol_MenuBarBg, ImGuiCol_Tab});
  set(theme.raised, {ImGuiCol_FrameBg, ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed,
                     ImGuiCol_ScrollbarGrab, ImGuiCol_Button, ImGuiCol_TableHeaderBg});
  set(theme.hovered, {ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_ScrollbarGrabHovered,
                      ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered, ImGuiCol_TabHovered});
  set(theme.border, {ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_TableBorderStrong});
  set(theme.grid, {ImGuiCol_TableBorderLight});
  set(theme.accent,
      {ImGuiCol_ScrollbarGrabActive, ImGuiCol_CheckMark, ImGuiCol_SliderGrabActive, ImGuiCol_SeparatorHovered,
       ImGuiCol_SeparatorActive, ImGuiCol_PlotHistogram, ImGuiCol_NavHighlight});
  set(chosen, {ImGuiCol_ButtonActive, ImGuiCol_HeaderActive});
  set(mixed(theme.panel, theme.accent, 0.22F), {ImGuiCol_Header});
  set(mixed(theme.panel, theme.accent, 0.3F), {ImGuiCol_TabActive});
  set(faded(theme.accent, 0.55F), {ImGuiCol_SliderGrab});  // the value is drawn over it
  set(faded(theme.accent, 0.4F), {ImGuiCol_TextSelectedBg});
  set(faded(opaque(0x000000), 0.45F), {ImGuiCol_ModalWindowDimBg});
  set(0, {ImGuiCol_ChildBg, ImGuiCol_BorderShadow, ImGuiCol_ScrollbarBg, ImGuiCol_ResizeGrip, ImGuiCol_TableRowBgAlt});
}

}  // namespace

const Theme& theme(ThemeName name) {
  return name == ThemeName::light ? light_theme : dark_theme;
}

Color32 series_color(const Theme& theme, std::size_t i) {
  const Color32 color = theme.series[i % theme.series.size()];
  return i / theme.series.size() % 2 == 0 ? color : mixed(color, theme.text, 0.5F);
}

Theme projected(const Theme& theme) {
  Theme strong = theme;
  strong.text = theme.name == ThemeName::dark ? opaque(0xFFFFFF) : opaque(0x000000);
  strong.text_dim = mixed(theme.text_dim, strong.text, 0.6F);
  strong.border = mixed(theme.border, theme.text_dim, 0.6F);
  strong.grid = mixed(theme.grid, theme.text_dim, 0.3F);
  return strong;
}

ThemeName theme_from(std::string_view text) {
  return text == "light" ? ThemeName::light : ThemeName::dark;
}

std::string_view theme_text(ThemeName name) {
  return name == ThemeName::light ? "light" : "dark";
}

void apply_theme(const Theme& theme, float scale) {
  ImGuiStyle style;
  style.WindowPadding = {10, 8};
  style.FramePadding = {8, 4};
  style.CellPadding = {6, 3};
  style.ItemSpacing = {8, 6};
  style.ItemInnerSpacing = {6, 4};
  style.IndentSpacing = 16;
  style.ScrollbarSize = 12;
  style.GrabMinSize = 10;
  style.WindowRounding = 0;
  style.ChildRounding = 4;
  style.FrameRounding = 4;
  style.PopupRounding = 6;
  style.ScrollbarRounding = 6;
  style.GrabRounding = 4;
  style.TabRounding = 4;
  style.WindowBorderSize = 1;
  style.FrameBorderSize = 0;
  style.WindowTitleAlign = {0, 0.5F};
  style.DisabledAlpha = 0.45F;
  style.ScaleAllSizes(scale);
  set_colors(style, theme);
  ImGui::GetStyle() = style;
}

}  // namespace attnscope
