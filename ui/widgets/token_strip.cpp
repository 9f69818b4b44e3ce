#include "widgets/token_strip.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/pointed.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "messages/snapshot.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

struct Chip {
  ImVec2 low, high;
  Color32 fill;
  Color32 ink;
  bool masked;
};

void draw_chip(Painter& paint, const Chip& chip, const Token& token, const TokenStripOptions& options,
               const Skin& skin) {
  const float rounding = skin.px(3);
  paint.filled_rect(chip.low, chip.high, chip.fill, rounding);
  if (chip.masked) draw_hatching(paint, chip.low, chip.high, skin.theme.border, skin.px(6));
  const std::string_view text = token.text;
  const bool begins_word = text.starts_with(word_mark);
  const std::string_view rest = begins_word ? text.substr(word_mark.size()) : text;
  ImVec2 at{chip.low.x + skin.px(5), chip.low.y + skin.px(2)};
  if (begins_word) {
    paint.text(skin.fonts.mono, at, faded(chip.ink, 0.35F), word_mark);
    at.x += text_size(skin.fonts.mono, word_mark).x;
  }
  if (!rest.empty()) paint.text(skin.fonts.mono, at, chip.ink, rest);
  if (options.show_ids) {
    const std::string id = std::to_string(token.id);
    const float x = (chip.low.x + chip.high.x - text_size(skin.fonts.mono_small, id).x) / 2;
    paint.text(skin.fonts.mono_small, {x, chip.high.y + skin.px(1)}, skin.theme.text_dim, id);
  }
}

bool is_masked(std::size_t index, const TokenStripOptions& options) {
  return options.masked_from >= 0 && static_cast<int>(index) >= options.masked_from;
}

bool is_marked(std::size_t index, const TokenStripOptions& options) {
  return std::ranges::binary_search(options.marked, static_cast<int>(index));
}

// Characters that users type but vocabularies often lack, and the usual substitutes.
constexpr auto likes = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"’", "'"},
    {"‘", "'"},
    {"‚", ","},
    {"“", "\""},
    {"”", "\""},
    {"„", "\""},
    {"«", "\""},
    {"»", "\""},
    {"–", "-"},
    {"—", "-"},
    {"‐", "-"},
    {"…", "..."},
    {"\u00A0", " "},
    {"\u202F", " "},
});

std::string unknown_note(std::string_view token) {
  std::string note = tr("The vocabulary has no token for this text. The model gets <unk>, as for all unknown text.");
  for (const auto& [sign, like] : likes)
    if (without_mark(token) == sign) note += trf("\nTry {} instead.", like);
  return note;
}

const UnseenWord* unseen_at(std::size_t index, const TokenStripOptions& options) {
  const auto place = static_cast<int>(index);
  const auto found =
      std::ranges::find_if(options.unseen, [=](const UnseenWord& it) { return place >= it.begin && place < it.end; });
  return found == options.unseen.end() ? nullptr : &*found;
}

void token_tooltip(const Token& token, std::size_t index, const TokenStripOptions& options, const Skin& skin) {
  ImGui::BeginTooltip();
  mono_text(token.text, skin);
  ImGui::TextDisabled(tr("position %d, token id %d"), static_cast<int>(index), token.id);
  if (!token.raw.empty()) ImGui::TextDisabled(tr("in the vocabulary: %s"), token.raw.c_str());
  if (index < options.weights.size()) {
    const std::string weight = fmt::format("{} {:.4f}", options.weight_name, options.weights[index]);
    ImGui::TextUnformatted(weight.c_str());
  }
  if (token.unknown) ImGui::TextUnformatted(unknown_note(token.text).c_str());
  if (const UnseenWord* word = unseen_at(index, options)) ImGui::TextUnformatted(unseen_note(*word).c_str());
  if (is_marked(index, options))
    ImGui::TextUnformatted(options.marked_note.data(), options.marked_note.data() + options.marked_note.size());
  if (is_masked(index, options) && !options.masked_note.empty())
    ImGui::TextUnformatted(options.masked_note.data(), options.masked_note.data() + options.masked_note.size());
  ImGui::EndTooltip();
}

Pointed hovered_token(const Token& token, std::size_t index, const TokenStripOptions& options) {
  Pointed pointed{.thing = HoverTarget::token, .name = token.text, .value = token.text, .about = "token"};
  if (index >= options.weights.size()) return pointed;
  pointed.value = fmt::format("{:.6g}", options.weights[index]);
  pointed.help = options.weight_name;
  return pointed;
}

void underline(Painter& paint, const Chip& chip, Color32 color, float thickness, const Skin& skin) {
  const float below = chip.high.y + skin.px(1.5F);
  paint.line({chip.low.x, below}, {chip.high.x, below}, color, thickness);
}

// Long and bright for a large weight, short and dark for a small one.
void draw_weight_below(Painter& paint, const Chip& chip, float weight, const Skin& skin) {
  underline(paint, chip, skin.theme.border, skin.px(3), skin);
  const float share = clamped(weight, 0.0F, 1.0F);
  const Chip part{chip.low, {chip.low.x + (chip.high.x - chip.low.x) * share, chip.high.y}, 0, 0, false};
  underline(paint, part, map_color(ColorMap::viridis, weight), skin.px(3), skin);
}

Color32 chip_fill(std::size_t index, bool masked, bool hovered, const TokenStripOptions& options, const Skin& skin) {
  if (masked) return skin.theme.masked;
  if (index < options.weights.size() && !options.weights_below)
    return map_color(ColorMap::viridis, options.weights[index]);
  return hovered ? skin.theme.hovered : skin.theme.raised;
}

// Draws the last item's token.
void paint_token(Painter& paint, const PictureArea& area, const Token& token, std::size_t index,
                 const TokenStripOptions& options, const Skin& skin) {
  const bool hovered = ImGui::IsItemHovered();
  const bool masked = is_masked(index, options);
  const bool weighted = !masked && index < options.weights.size();
  const Color32 fill = chip_fill(index, masked, hovered, options, skin);
  const bool on_weight = weighted && !options.weights_below;
  const Color32 ink = masked ? skin.theme.text_dim : on_weight ? text_on(fill) : skin.theme.text;
  const Chip chip{area.low, area.high, fill, ink, masked};
  draw_chip(paint, chip, token, options, skin);
  const auto place = static_cast<int>(index);
  const bool unseen = unseen_at(index, options) != nullptr;
  if (token.unknown || unseen)
    underline(paint, chip, token.unknown ? skin.theme.error : skin.theme.warning, skin.px(2), skin);
  if (place < options.underlined) underline(paint, chip, skin.theme.success, skin.px(1.5F), skin);
  if (weighted && options.weights_below) draw_weight_below(paint, chip, options.weights[index], skin);
  const bool chosen = place == options.selected || (ImGui::GetIO().NavVisible && ImGui::IsItemFocused());
  const bool marked = is_marked(index, options);
  if (!chosen && !marked && !(hovered && weighted)) return;
  const Color32 outline = chosen ? skin.theme.accent : marked ? skin.theme.warning : skin.theme.text;
  paint.rect(chip.low, chip.high, outline, skin.px(3), skin.px(chosen || marked ? 2 : 1));
}

}  // namespace

std::string unseen_note(const UnseenWord& word) {
  std::string note = trf("“{}” is not in the training data. The model can only know its subword tokens.", word.text);
  if (!word.nearest.empty()) note += trf("\nOther words of the data: {}.", fmt::join(word.nearest, ", "));
  return note;
}

const UnseenWord& first_to_mend(std::span<const UnseenWord> words) {
  const auto mendable = std::ranges::find_if(words, [](const UnseenWord& it) { return !it.nearest.empty(); });
  return mendable == words.end() ? words.front() : *mendable;
}

TokenStripResult draw_token_strip(const char* id, std::span<const Token> tokens, const TokenStripOptions& options,
                                  const Skin& skin) {
  TokenStripResult result;
  ImGui::PushID(id);
  Painter paint(skin);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float right = origin.x + std::max(1.0F, ImGui::GetContentRegionAvail().x);
  const float chip_height = font_size(skin.fonts.mono) + skin.px(5);
  const float row_height =
      chip_height + (options.show_ids ? font_size(skin.fonts.mono_small) + skin.px(3) : skin.px(4));
  ImVec2 at = origin;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const float token_width = text_size(skin.fonts.mono, token.text).x;
    const float id_width = options.show_ids ? text_size(skin.fonts.mono_small, std::to_string(token.id)).x : 0;
    const float width = std::max(token_width + skin.px(10), id_width + skin.px(4));
    if (at.x + width > right && at.x > origin.x) at = {origin.x, at.y + row_height};
    ImGui::PushID(static_cast<int>(i));
    ImGui::SetCursorScreenPos(at);
    if (ImGui::InvisibleButton("piece", {width, chip_height})) result.clicked = static_cast<int>(i);
    const bool hovered = ImGui::IsItemHovered();
    // Skips tokens that are scrolled out of sight.
    if (ImGui::IsItemVisible()) paint_token(paint, {at, {at.x + width, at.y + chip_height}}, token, i, options, skin);
    if (hovered) {
      result.hovered = static_cast<int>(i);
      point_at(hovered_token(token, i, options));
      token_tooltip(token, i, options, skin);
    }
    ImGui::PopID();
    at.x += width + skin.px(4);
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({right - origin.x, tokens.empty() ? row_height : at.y - origin.y + row_height});
  ImGui::PopID();
  return result;
}

}  // namespace attnscope
