#include <fmt/format.h>

#include <algorithm>

#include "base/input.h"
#include "base/translation.h"
#include "messages/decodings.h"
#include "widgets/painter.h"
#include "widgets/words.h"
#include "workspaces/decoding/modes.h"

namespace attnscope {
namespace {

struct BranchesPicture {
  const Branches& branches;
  double length_penalty;
  std::int64_t step;                  // present training step
  const std::vector<float>& columns;  // left edge of each token's column, and the right edge of the last
  float row_height;
  const Skin& skin;
};

float token_width(const Token& token, const Skin& skin) {
  return text_size(skin.fonts.mono, token.text).x + skin.px(10);
}

std::vector<float> column_ends(const Branches& branches, const Skin& skin) {
  std::size_t longest = 0;
  for (const Branch& branch : branches.all) longest = std::max(longest, branch.tokens.size());
  std::vector<float> columns(longest + 1, 0.0F);
  for (std::size_t col = 0; col < longest; ++col) {
    float width = 0;
    for (const Branch& branch : branches.all) {
      if (col < branch.tokens.size()) width = std::max(width, token_width(branch.tokens[col], skin));
    }
    columns[col + 1] = columns[col] + width + skin.px(6);
  }
  return columns;
}

// Measured again only when the branches or the font change.
const std::vector<float>& measured_columns(Branches& branches, const Skin& skin) {
  const float size = font_size(skin.fonts.mono);
  if (branches.columns.empty() || branches.measured_size != size) branches.columns = column_ends(branches, skin);
  branches.measured_size = size;
  return branches.columns;
}

double score_of(const Branch& branch, double alpha) {
  return length_penalised(branch.log_prob, branch.tokens.size(), alpha);
}

void branch_tooltip(const BranchesPicture& picture, const Branch& branch, bool current) {
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(picture.skin.px(420));
  plain_text(branch.text);
  const double alpha = picture.length_penalty;
  const std::size_t length = branch.tokens.size();
  plain_text(
      trf("Σ log p = {:.4f} over {} tokens, {} of them forced\nscore = {:.4f} ÷ ((5 + {}) / 6)^{:.2f} = {:.4f}  "
          "(length penalty, arXiv 1609.08144 §7)",
          branch.log_prob, length, branch.given, branch.log_prob, length, alpha, score_of(branch, alpha)));
  if (branch.step != picture.step)
    ImGui::TextUnformatted(trf("Computed at step {}; the model has been trained further since.", branch.step).c_str());
  ImGui::TextDisabled("%s",
                      current ? tr("shown now") : tr("Click to return to this output; its score is then recomputed."));
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void draw_edge(Painter& paint, const BranchesPicture& picture, const BranchRow& row, ImVec2 at) {
  if (row.parent < 0 || row.shared == 0) return;
  const auto& rows = picture.branches.rows;
  const auto index = &row - rows.data();
  const float x = at.x + picture.columns[static_cast<std::size_t>(row.shared)] - picture.skin.px(4);
  const float middle = at.y + font_size(picture.skin.fonts.mono) * 0.5F + picture.skin.px(3);
  const float up = static_cast<float>(index - row.parent) * picture.row_height;
  const Color32 color = picture.skin.theme.border;
  paint.line({x, middle - up}, {x, middle}, color, picture.skin.px(1.5F));
  paint.line({x, middle}, {x + picture.skin.px(4), middle}, color, picture.skin.px(1.5F));
}

void draw_tokens(Painter& paint, const BranchesPicture& picture, const BranchRow& row, ImVec2 at) {
  const Skin& skin = picture.skin;
  const Branch& branch = picture.branches.all[static_cast<std::size_t>(row.branch)];
  const bool current = row.branch == picture.branches.current;
  const float height = font_size(skin.fonts.mono) + skin.px(5);
  for (auto i = static_cast<std::size_t>(row.shared); i < branch.tokens.size(); ++i) {
    const ImVec2 low(at.x + picture.columns[i], at.y);
    if (!ImGui::IsRectVisible(low, {at.x + picture.columns[i + 1], low.y + height})) continue;
    const ImVec2 high(low.x + token_width(branch.tokens[i], skin), low.y + height);
    paint.filled_rect(low, high, current ? skin.theme.hovered : skin.theme.raised, skin.px(3));
    paint.text(skin.fonts.mono, {low.x + skin.px(5), low.y + skin.px(2)},
               current ? skin.theme.text : skin.theme.text_dim, branch.tokens[i].text);
    if (i < branch.given)
      paint.line({low.x, high.y + skin.px(1.5F)}, {high.x, high.y + skin.px(1.5F)}, skin.theme.success, skin.px(1.5F));
  }
}

// Highlights the tokens that the displayed branch shares with rows above it.
void light_shared(Painter& paint, const BranchesPicture& picture, ImVec2 origin) {
  const auto& rows = picture.branches.rows;
  const auto shown = std::ranges::find(rows, picture.branches.current, &BranchRow::branch);
  if (shown == rows.end()) return;
  const Skin& skin = picture.skin;
  const float height = font_size(skin.fonts.mono) + skin.px(5);
  for (int row = static_cast<int>(shown - rows.begin()); row >= 0;) {
    const BranchRow& here = rows[static_cast<std::size_t>(row)];
    const int parent = here.parent;
    if (parent < 0) return;
    const BranchRow& above = rows[static_cast<std::size_t>(parent)];
    const float y = origin.y + static_cast<float>(parent) * picture.row_height;
    for (int i = above.shared; i < here.shared; ++i) {
      const float x = origin.x + picture.columns[static_cast<std::size_t>(i)];
      const Token& token =
          picture.branches.all[static_cast<std::size_t>(above.branch)].tokens[static_cast<std::size_t>(i)];
      paint.rect({x, y}, {x + token_width(token, skin), y + height}, skin.theme.accent, skin.px(3));
    }
    row = parent;
  }
}

struct ScoreColumns {
  float score, total, seen, width;  // left edges of the columns, and the total width
};

ScoreColumns score_columns(const Skin& skin) {
  const float number = text_size(skin.fonts.mono_small, "-000.00").x + skin.px(8);
  return {skin.px(6), skin.px(6) + number, skin.px(6) + number * 2, skin.px(6) + number * 3 + skin.px(6)};
}

void draw_score_titles(const Skin& skin) {
  const ScoreColumns columns = score_columns(skin);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Painter paint(skin);
  paint.text(skin.fonts.small, {at.x + columns.score, at.y}, skin.theme.text_dim, tr("score"));
  paint.text(skin.fonts.small, {at.x + columns.total, at.y}, skin.theme.text_dim, tr("Σ log p"));
  paint.text(skin.fonts.small, {at.x + columns.seen, at.y}, skin.theme.text_dim, tr("at step"));
  ImGui::Dummy(ImVec2(columns.width, font_size(skin.fonts.small)));
  help_tooltip(tr("Score: Σ log p ÷ ((5 + length) / 6)^α, the length penalty of beam search (arXiv 1609.08144 §7; α is "
                  "one of the decoding options). At step: the training step of the weights that gave these numbers."),
               skin);
}

// Stays in place while the tokens scroll.
void draw_scores(Painter& paint, const BranchesPicture& picture, const Branch& branch, bool current, ImVec2 at) {
  const Skin& skin = picture.skin;
  const ScoreColumns columns = score_columns(skin);
  const Color32 color = current ? skin.theme.text : skin.theme.text_dim;
  const auto number = [&](float x, const std::string& text, Color32 ink) {
    paint.text(skin.fonts.mono_small, {at.x + x, at.y + skin.px(3)}, ink, text);
  };
  paint.filled_rect(at, {at.x + columns.width, at.y + picture.row_height}, skin.theme.panel);
  if (current) paint.filled_rect(at, {at.x + skin.px(3), at.y + picture.row_height - skin.px(4)}, skin.theme.accent);
  number(columns.score, fmt::format("{:7.2f}", score_of(branch, picture.length_penalty)), color);
  number(columns.total, fmt::format("{:7.2f}", branch.log_prob), color);
  const bool old = branch.step != picture.step;
  number(columns.seen, old ? fmt::format("{:>7}", branch.step) : tr("    now"), old ? skin.theme.warning : color);
}

bool draw_row(Painter& paint, const BranchesPicture& picture, const BranchRow& row) {
  const Skin& skin = picture.skin;
  const Branch& branch = picture.branches.all[static_cast<std::size_t>(row.branch)];
  const bool current = row.branch == picture.branches.current;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float scores = score_columns(skin).width;
  const ImVec2 visible(ImGui::GetWindowPos().x, at.y);
  const ImVec2 tokens(at.x + scores, at.y);
  ImGui::SetCursorScreenPos(visible);
  ImGui::PushID(row.branch);
  const bool clicked = ImGui::InvisibleButton("branch", ImVec2(ImGui::GetWindowWidth(), picture.row_height));
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  if (hovered) branch_tooltip(picture, branch, current);
  if (ImGui::IsItemVisible()) {
    draw_edge(paint, picture, row, tokens);
    draw_tokens(paint, picture, row, tokens);
    draw_scores(paint, picture, branch, current, visible);
    const ImVec2 text(visible.x + scores, at.y + font_size(skin.fonts.mono) + skin.px(8));
    paint.text(skin.fonts.small, text, current ? skin.theme.text : skin.theme.text_dim, one_line(branch.text));
    if (hovered)
      paint.rect(visible, {visible.x + ImGui::GetWindowWidth(), visible.y + picture.row_height - skin.px(2)},
                 skin.theme.border, skin.px(3));
  }
  ImGui::SetCursorScreenPos({at.x, at.y + picture.row_height});
  return clicked && !current;
}

void return_to(DecodingView& view, const Branch& branch) {
  steer(view, ids_of(given_tokens(branch)));
}

// Scrolls once, when another branch is shown, to its first divergence from the others.
void reveal_current(const BranchesPicture& picture, Branches& branches) {
  if (ImGui::IsWindowAppearing()) branches.revealed = -1;
  const float wide = picture.columns.back() + score_columns(picture.skin).width;
  const bool can_scroll = ImGui::GetScrollMaxX() > 0 || wide <= ImGui::GetWindowWidth();
  if (branches.revealed == branches.current || !can_scroll) return;
  branches.revealed = branches.current;
  const auto row = std::ranges::find(branches.rows, branches.current, &BranchRow::branch);
  if (row == branches.rows.end()) return;
  const float room = ImGui::GetWindowWidth() - score_columns(picture.skin).width;
  ImGui::SetScrollX(std::max(0.0F, picture.columns[static_cast<std::size_t>(row->shared)] - room * 0.4F));
}

void draw_rows(const BranchesPicture& picture, DecodingView& view) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  Painter paint(picture.skin);
  int clicked = -1;
  for (const BranchRow& row : picture.branches.rows) {
    if (draw_row(paint, picture, row)) clicked = row.branch;
  }
  const float scores = score_columns(picture.skin).width;
  paint.push_clip({ImGui::GetWindowPos().x + scores, origin.y},
                  {ImGui::GetWindowPos().x + ImGui::GetWindowWidth(), ImGui::GetCursorScreenPos().y});
  light_shared(paint, picture, {origin.x + scores, origin.y});
  paint.pop_clip();
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(
      ImVec2(scores + picture.columns.back(), static_cast<float>(picture.branches.rows.size()) * picture.row_height));
  if (clicked >= 0) return_to(view, picture.branches.all[static_cast<std::size_t>(clicked)]);
}

void draw_clear_button(Branches& branches, const Skin& skin) {
  if (ImGui::SmallButton(tr_label("Clear"))) clear_branches(branches);
  help_tooltip(tr("Removes every branch except the one shown."), skin);
}

}  // namespace

void draw_branches(const Shown& shown, DecodingView& view, const Skin& skin) {
  Branches& branches = view.branches;
  if (branches.all.size() < 2) {
    return draw_quiet_note(tr("Click a candidate on the right, or type a forced prefix: decoding continues from there. "
                              "Every output that you try becomes a branch here, with its score."),
                           ImGui::GetContentRegionAvail(), skin);
  }
  draw_score_titles(skin);
  ImGui::SameLine(ImGui::GetContentRegionAvail().x - skin.px(44));
  draw_clear_button(branches, skin);
  const float row_height = font_size(skin.fonts.mono) + font_size(skin.fonts.small) + skin.px(14);
  const BranchesPicture picture{
      branches, view.options.length_penalty, shown.snapshot->step, measured_columns(branches, skin), row_height, skin};
  ImGui::BeginChild("tree", ImVec2(0, 0), false, view_flags() | ImGuiWindowFlags_HorizontalScrollbar);
  draw_rows(picture, view);
  reveal_current(picture, branches);
  ImGui::EndChild();
}

}  // namespace attnscope
