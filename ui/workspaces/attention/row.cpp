#include "workspaces/attention/row.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/input.h"
#include "base/numbers.h"
#include "common/clamped.h"
#include "messages/snapshot.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr std::array<std::string_view, 6> pronouns = {"it", "they", "il", "elle", "ils", "elles"};

// Smaller differences between two heads are not visible; the first head is taken then.
constexpr float clearly_more = 0.02F;

// After an apostrophe, a word has no word mark: qu'il.
bool is_pronoun(std::string_view token) {
  return std::find(pronouns.begin(), pronouns.end(), without_mark(token)) != pronouns.end();
}

// True if it starts with a letter, a digit, or a multi-byte character of another alphabet.
bool begins_word(std::string_view token) {
  if (!token.starts_with(word_mark) || token.size() == word_mark.size()) return false;
  const auto first = static_cast<unsigned char>(token[word_mark.size()]);
  return first >= 0x80 || std::isalnum(first) != 0;
}

int last_of(std::span<const Token> tokens, bool (*wanted)(std::string_view)) {
  for (std::size_t i = tokens.size(); i-- > 0;) {
    if (wanted(tokens[i].text)) return static_cast<int>(i);
  }
  return -1;
}

float bar_pitch(const Skin& skin) {
  return font_size(skin.fonts.mono) + skin.px(3);
}

// Width of the longest key, within limits.
float label_width(const std::vector<std::string>& keys, float width, const Skin& skin) {
  float longest = 0;
  for (const std::string& key : keys) longest = std::max(longest, text_size(skin.fonts.mono, key).x);
  return std::min({longest, width * 0.42F, skin.px(130)});
}

void draw_bar(ImVec2 at, ImVec2 size, float label, const std::string& key, float value, bool selected,
              const RowBars& bars, const Skin& skin) {
  Painter paint(skin);
  ImFont* font = skin.fonts.mono;
  const std::string number = number_text(static_cast<double>(value));
  const float number_width = text_size(font, number_text(-static_cast<double>(bars.high))).x;
  const float full = std::max(skin.px(10), size.x - label - number_width - skin.px(16));
  const float text_y = at.y + (size.y - font_size(font)) * 0.5F;
  paint.text(font, {at.x, text_y}, selected ? skin.theme.accent : skin.theme.text, shortened(font, key, label));
  const float left = at.x + label + skin.px(6);
  const Color32 color = value < 0 ? bars.negative : bars.positive;
  const float length = std::isinf(value) ? 0 : full * clamped(std::abs(value) / bars.high, 0.0F, 1.0F);
  if (length >= 0.5F)
    paint.filled_rect({left, at.y + skin.px(2)}, {left + length, at.y + size.y - skin.px(3)}, color, skin.px(2));
  paint.text(font, {left + full + skin.px(4), text_y}, skin.theme.text_dim, number);
}

}  // namespace

int telling_row(std::span<const Token> tokens) {
  const int pronoun = last_of(tokens, is_pronoun);
  return pronoun >= 0 ? pronoun : last_of(tokens, begins_word);
}

std::optional<HeadPlace> telling_head(const Snapshot& snapshot) {
  const int row = last_of(snapshot.source, is_pronoun);
  if (row < 0 || snapshot.encoder.empty()) return std::nullopt;
  const int layer = static_cast<int>(snapshot.encoder.size()) - 1;
  const std::vector<Matrix>& heads = snapshot.encoder.back();
  std::optional<HeadPlace> found;
  float largest = 0;
  for (int head = 0; head < static_cast<int>(heads.size()); ++head) {
    for (int col = 0; col < row; ++col) {
      const float weight = heads[static_cast<std::size_t>(head)].at(row, col);
      const bool word = begins_word(snapshot.source[static_cast<std::size_t>(col)].text);
      if (weight < largest + clearly_more || !word) continue;
      largest = weight;
      found = HeadPlace{AttentionPart::encoder, layer, head};
    }
  }
  return found;
}

RowListResult draw_row_list(const Matrix& map, int row, int visible, const std::vector<std::string>& keys, int selected,
                            const RowBars& bars, const Skin& skin) {
  std::vector<int> order(static_cast<std::size_t>(visible));
  std::iota(order.begin(), order.end(), 0);
  const auto size_of = [&](int col) { return std::isinf(map.at(row, col)) ? -1 : std::abs(map.at(row, col)); };
  std::ranges::stable_sort(order, std::ranges::greater(), size_of);

  RowListResult result;
  ImGui::BeginChild("bars", ImVec2(0, 0), false, view_flags());
  const ImVec2 size{std::max(1.0F, ImGui::GetContentRegionAvail().x), bar_pitch(skin)};
  const float label = label_width(keys, size.x, skin);
  for (const int col : order) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(col);
    if (ImGui::InvisibleButton("key", size)) result.clicked = col;
    ImGui::PopID();
    if (!ImGui::IsItemVisible()) continue;
    if (ImGui::IsItemHovered()) result.hovered = col;
    draw_bar(at, size, label, keys[static_cast<std::size_t>(col)], map.at(row, col), col == selected, bars,
             skin);
  }
  ImGui::EndChild();
  return result;
}

}  // namespace attnscope
