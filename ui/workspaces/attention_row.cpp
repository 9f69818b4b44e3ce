#include "workspaces/attention_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <string_view>

namespace attnscope {
namespace {

constexpr std::string_view word_mark = "\u2581";  // ▁, with which SentencePiece begins a word
constexpr std::array<std::string_view, 6> pronouns = {"it", "they", "il", "elle", "ils", "elles"};

// Two heads that look at a word with nearly the same weight are alike to the eye; the first of them is taken.
constexpr float clearly_more = 0.02F;

// Without the mark; after an apostrophe a word has none: qu'il.
std::string_view bare(std::string_view piece) {
  return piece.starts_with(word_mark) ? piece.substr(word_mark.size()) : piece;
}

bool is_pronoun(std::string_view piece) {
  return std::find(pronouns.begin(), pronouns.end(), bare(piece)) != pronouns.end();
}

// Begins with a letter, a digit or whatever other alphabets write in several bytes.
bool begins_word(std::string_view piece) {
  if (!piece.starts_with(word_mark) || piece.size() == word_mark.size()) return false;
  const auto first = static_cast<unsigned char>(piece[word_mark.size()]);
  return first >= 0x80 || std::isalnum(first) != 0;
}

int last_of(std::span<const Token> tokens, bool (*wanted)(std::string_view)) {
  for (std::size_t i = tokens.size(); i-- > 0;) {
    if (wanted(tokens[i].piece)) return static_cast<int>(i);
  }
  return -1;
}

float bar_pitch(const Look& look) {
  return font_size(look.fonts.mono) + look.px(3);
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
      const bool word = begins_word(snapshot.source[static_cast<std::size_t>(col)].piece);
      if (weight < largest + clearly_more || !word) continue;
      largest = weight;
      found = HeadPlace{AttentionPart::encoder, layer, head};
    }
  }
  return found;
}

float row_list_height(int cols, const Look& look) {
  return static_cast<float>(cols) * (bar_pitch(look) + ImGui::GetStyle().ItemSpacing.y);
}

void draw_row_list(const Matrix& map, int row, int visible, const std::vector<std::string>& keys, const Look& look) {
  std::vector<int> order(static_cast<std::size_t>(visible));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return map.at(row, a) > map.at(row, b); });

  ImGui::BeginChild("bars", ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  push_font(look.fonts.mono);
  const float height = bar_pitch(look);
  const float width = ImGui::GetContentRegionAvail().x;
  const float label_width = std::min(width * 0.42F, look.px(130));
  const float value_width = ImGui::CalcTextSize("0.000").x + look.px(8);
  const float bar_width = std::max(look.px(10), width - label_width - value_width - look.px(8));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const int col : order) {
    const float weight = map.at(row, col);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(ImVec2(width, height));
    if (!ImGui::IsItemVisible()) continue;
    const std::string& key = keys[static_cast<std::size_t>(col)];
    const float text_y = at.y + (height - ImGui::GetFontSize()) * 0.5F;
    list.PushClipRect(at, ImVec2(at.x + label_width, at.y + height), true);
    list.AddText(ImVec2(at.x, text_y), look.theme.text, key.c_str());
    list.PopClipRect();
    const ImVec2 low(at.x + label_width + look.px(6), at.y + look.px(2));
    list.AddRectFilled(low, ImVec2(low.x + bar_width * std::clamp(weight, 0.0F, 1.0F), at.y + height - look.px(3)),
                       look.theme.accent, look.px(2));
    list.AddText(ImVec2(low.x + bar_width + look.px(4), text_y), look.theme.text_dim,
                 fmt::format("{:.3f}", weight).c_str());
  }
  pop_font();
  ImGui::EndChild();
}

}  // namespace attnscope
