#include "widgets/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "base/drawable_text.h"
#include "base/pointed.h"
#include "base/terms.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"

namespace attnscope {
namespace {

// Breaks lines as Dear ImGui would, except inside numbers.
std::string broken_into_lines(std::string_view text) {
  const float wrap = ImGui::GetCurrentWindow()->DC.TextWrapPos;
  const float width = ImGui::CalcWrapWidthForPos(ImGui::GetCursorScreenPos(), wrap);
  return fmt::format("{}", fmt::join(wrapped_lines(ImGui::GetFont(), text, width), "\n"));
}

void draw_any_text(ImDrawList& list, ImVec2 at, Color32 color, const std::string& text) {
  const DrawableText drawable(text);
  list.AddText(at, color, drawable.begin(), drawable.end());
}

bool any_button(const std::string& text, float padding_y, ImGuiButtonFlags flags) {
  const ImVec2 padding{ImGui::GetStyle().FramePadding.x, padding_y};
  const ImVec2 size = text_size(ImGui::GetFont(), text);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, padding);
  ImGui::PushID(text.c_str());
  const bool pressed = ImGui::ButtonEx("##button", {size.x + 2 * padding.x, size.y + 2 * padding.y}, flags);
  ImGui::PopID();
  ImGui::PopStyleVar();
  const ImVec2 corner = ImGui::GetItemRectMin();
  draw_any_text(*ImGui::GetWindowDrawList(), {corner.x + padding.x, corner.y + padding.y},
                ImGui::GetColorU32(ImGuiCol_Text), text);
  return pressed;
}

constexpr float tooltip_width = 360;

// Places the next tooltip below the last item, or above it if there is no room, so that it does not cover the item.
void beside_item(const Skin& skin) {
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  // For a tall item, such as a picture, that would be far from the mouse.
  if (high.y - low.y > 4 * ImGui::GetFrameHeight()) return;
  const bool above = high.y > viewport.WorkPos.y + viewport.WorkSize.y * 0.75F;
  const ImGuiWindow& window = *ImGui::GetCurrentWindow();
  if ((window.Flags & ImGuiWindowFlags_Popup) != 0 && (window.Flags & ImGuiWindowFlags_Modal) == 0) {
    // Next to the whole menu: below the item it would cover the others.
    const float right = window.Pos.x + window.Size.x + gap;
    const bool left = right + skin.px(tooltip_width + 24) > viewport.WorkPos.x + viewport.WorkSize.x;
    const ImVec2 place{left ? window.Pos.x - gap : right, above ? high.y : low.y};
    return ImGui::SetNextWindowPos(place, ImGuiCond_Always, {left ? 1.0F : 0.0F, above ? 1.0F : 0.0F});
  }
  // The tooltip extends equally to both sides of the mouse, so it is not clipped at an edge.
  const float x = ImGui::GetIO().MousePos.x;
  const float pivot = clamped((x - viewport.WorkPos.x) / viewport.WorkSize.x, 0.0F, 1.0F);
  ImGui::SetNextWindowPos({x, above ? low.y - gap : high.y + gap}, ImGuiCond_Always, {pivot, above ? 1.0F : 0.0F});
}

}  // namespace

void plain_text(std::string_view text) {
  if (changes_when_drawn(text) && ImGui::GetCurrentWindow()->DC.TextWrapPos >= 0) {  // lines are broken first
    const std::string lines = broken_into_lines(text);
    const DrawableText drawable(lines);
    ImGui::PushTextWrapPos(-1);
    ImGui::TextUnformatted(drawable.begin(), drawable.end());
    return ImGui::PopTextWrapPos();
  }
  const DrawableText drawable(text);
  if (ImGui::GetCurrentWindow()->DC.TextWrapPos < 0) return ImGui::TextUnformatted(drawable.begin(), drawable.end());
  const std::string lines = broken_into_lines({drawable.begin(), drawable.end()});
  ImGui::PushTextWrapPos(-1);
  ImGui::TextUnformatted(lines.c_str());
  ImGui::PopTextWrapPos();
}

void bold_text(std::string_view text, const Skin& skin) {
  const WithFont bold(skin.fonts.bold);
  plain_text(text);
}

void mono_text(std::string_view text, const Skin& skin) {
  const WithFont mono(skin.fonts.mono);
  plain_text(text);
}

void dim_text(std::string_view text, const Skin& skin) {
  colored_text(skin.theme.text_dim, text);
}

void colored_text(Color32 color, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  plain_text(text);
  ImGui::PopStyleColor();
}

void quiet_words(std::string_view words, std::string_view help, const Skin& skin) {
  dim_text(words, skin);
  help_tooltip(help, skin, words);
}

void wrapped_text(Color32 color, std::string_view text) {
  ImGui::PushTextWrapPos(0);
  colored_text(color, text);
  ImGui::PopTextWrapPos();
}

void small_text(Color32 color, std::string_view text, const Skin& skin) {
  const WithFont small(skin.fonts.small);
  wrapped_text(color, text);
}

void draw_caption(const char* title, const std::string& words, std::string_view help, const Skin& skin) {
  const std::string shown = shortened(skin.fonts.bold, title, ImGui::GetContentRegionAvail().x);
  bold_text(shown, skin);
  help_tooltip(shown == title ? std::string(help) : fmt::format("{}\n{}", title, help), skin, title);
  ImGui::SameLine(0, skin.px(8));
  // A truncated word does not help, and the title's tooltip has the full text.
  if (ImGui::CalcTextSize(words.c_str()).x > ImGui::GetContentRegionAvail().x) return ImGui::NewLine();
  quiet_words(words, help, skin);
}

void draw_quiet_note(const char* text, ImVec2 size, const Skin& skin) {
  if (size.x <= 0) size.x = ImGui::GetContentRegionAvail().x;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImFont* font = skin.fonts.ui;
  const float wrap = std::max(1.0F, std::min(size.x, skin.px(560)));
  const std::vector<std::string_view> lines = wrapped_lines(font, text, wrap);
  ImVec2 extent{0, font_size(font) * static_cast<float>(lines.size())};
  for (const std::string_view line : lines) extent.x = std::max(extent.x, text_size(font, line).x);
  ImVec2 at{origin.x + std::max(0.0F, std::floor((size.x - extent.x) / 2)),
            origin.y + std::max(0.0F, std::floor((size.y - extent.y) / 2))};
  Painter paint(skin);
  for (const std::string_view line : lines) {
    paint.text(font, at, skin.theme.text_dim, line);
    at.y += font_size(font);
  }
  ImGui::Dummy(size);
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? std::string(" ⏎ ") : std::string(1, c);
  return line;
}

std::string letters_that_fit(const ImFont* font, const std::string& text, float width) {
  if (text_size(font, text).x <= width) return text;
  std::size_t fitting = 0;
  for (std::size_t too_long = text.size(); too_long - fitting > 1;) {
    const std::size_t middle = fitting + (too_long - fitting) / 2;
    (text_size(font, text.substr(0, middle)).x <= width ? fitting : too_long) = middle;
  }
  // not in the middle of a UTF-8 character
  while (fitting > 0 && (static_cast<unsigned char>(text[fitting]) & 0xC0U) == 0x80U) --fitting;
  return text.substr(0, fitting);
}

std::string shortened(const ImFont* font, const std::string& whole, float width) {
  const std::string text = one_line(whole);
  if (text_size(font, text).x <= width) return text;
  return letters_that_fit(font, text, width - text_size(font, "…").x) + "…";
}

std::string shortened_at_start(const ImFont* font, const std::string& text, float width) {
  if (text_size(font, text).x <= width) return text;
  std::size_t from = 0;
  const auto is_inside = [&] {
    return from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0U) == 0x80U;
  };
  do {
    ++from;
    while (is_inside()) ++from;
  } while (from < text.size() && text_size(font, "…" + text.substr(from)).x > width);
  return "…" + text.substr(from);
}

bool begin_combo(const char* id, const std::string& shown, ImGuiComboFlags flags) {
  const ImVec2 corner = ImGui::GetCursorScreenPos(), padding = ImGui::GetStyle().FramePadding;
  const float room = ImGui::CalcItemWidth() - ImGui::GetFrameHeight() - padding.x;
  const std::string text = shortened(ImGui::GetFont(), shown, room);
  const Color32 color = ImGui::GetColorU32(ImGuiCol_Text);
  ImDrawList& list = *ImGui::GetWindowDrawList();  // an open one leaves another window current
  const bool open = ImGui::BeginCombo(id, "", flags);
  draw_any_text(list, {corner.x + padding.x, corner.y + padding.y}, color, text);
  return open;
}

bool selectable_text(const std::string& text, bool chosen, ImGuiSelectableFlags flags) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float baseline = ImGui::GetCurrentWindow()->DC.CurrLineTextBaseOffset;
  const float width = text_size(ImGui::GetFont(), text).x;
  ImGui::PushID(text.c_str());
  const bool pressed = ImGui::Selectable("##text", chosen, flags | ImGuiSelectableFlags_SpanAvailWidth, {width, 0});
  ImGui::PopID();
  draw_any_text(*ImGui::GetWindowDrawList(), {corner.x, corner.y + baseline}, ImGui::GetColorU32(ImGuiCol_Text), text);
  return pressed;
}

bool text_button(const std::string& text) {
  return any_button(text, ImGui::GetStyle().FramePadding.y, ImGuiButtonFlags_None);
}

bool small_text_button(const std::string& text) {
  return any_button(text, 0, ImGuiButtonFlags_AlignTextBaseLine);
}

void help_tooltip(std::string_view text, const Skin& skin, std::string_view about) {
  constexpr float delay = 0.45F;  // seconds without mouse motion
  const auto label = [&](ImVec2 place) {
    return Pointed{.about = std::string(about), .help = std::string(text), .place = place};
  };
  if (!about.empty() && ImGui::IsItemFocused()) focus_on(label({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y}));
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  point_at(label({}));
  const Term* term = term_of(about);
  if (text.empty() && !term) return;
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  if (context.HoveredId != 0 && context.HoveredIdTimer < delay) return;
  beside_item(skin);
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(skin.px(tooltip_width));
  plain_text(text);
  if (term) dim_text(fmt::format("F1: {}", tr(term->name)), skin);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void draw_label(ImFont* font, Color32 color, std::string_view text, const Skin& skin) {
  Painter paint(skin);
  paint.text(font, ImGui::GetCursorScreenPos(), color, text);
  ImGui::Dummy(text_size(font, text));
}

void draw_wrapped_label(ImFont* font, Color32 color, std::string_view text, const Skin& skin) {
  Painter paint(skin);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0F, ImGui::GetContentRegionAvail().x);
  float y = origin.y;
  for (const std::string_view line : wrapped_lines(font, text, width)) {
    paint.text(font, {origin.x, y}, color, line);
    y += font_size(font);
  }
  ImGui::Dummy({width, y - origin.y});
}

}  // namespace attnscope
