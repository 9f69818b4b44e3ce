#include "workspaces/decoding/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/shown.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/plot.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr double least_shown = 1e-12;  // smaller probabilities are rounding errors

// Both axes logarithmic.
struct Axes {
  PlotRange x, y;
  ImVec2 low, high;  // bounds of the plot's body

  ImVec2 at(double rank, double probability) const {
    const auto share = [](double value, const PlotRange& range) {
      const double within = clamped(value, range.low, range.high);
      return static_cast<float>(std::log(within / range.low) / std::log(range.high / range.low));
    };
    return {low.x + (high.x - low.x) * share(rank, x), high.y - (high.y - low.y) * share(probability, y)};
  }
  double rank_at(float screen_x) const {
    const double share = clamped((screen_x - low.x) / (high.x - low.x), 0.0F, 1.0F);
    return x.low * std::pow(x.high / x.low, share);
  }
};

Axes axes_of(const std::vector<int>& ranks, const std::vector<float>& probabilities, ImVec2 low, ImVec2 high) {
  double least = 1;
  for (const float p : probabilities) {
    if (p > 0) least = std::min(least, std::max(static_cast<double>(p), least_shown));
  }
  const double bottom = std::pow(10.0, std::floor(std::log10(least * 0.999)));
  return {{1, std::max(2.0, static_cast<double>(ranks.back()))}, {bottom, 1}, low, high};
}

void draw_grid(Painter& paint, const Axes& axes, const Skin& skin) {
  ImFont* font = skin.fonts.small;
  paint.filled_rect(axes.low, axes.high, skin.theme.background);
  float free_above = axes.high.y + font_size(font);
  for (const double tick : log_ticks(axes.y)) {
    const float y = axes.at(1, tick).y;
    paint.line({axes.low.x, y}, {axes.high.x, y}, skin.theme.grid);
    if (y + font_size(font) * 0.5F > free_above) continue;
    const std::string text = tick_text(tick, tick);
    const ImVec2 extent = text_size(font, text);
    paint.text(font, {axes.low.x - extent.x - skin.px(4), y - extent.y * 0.5F}, skin.theme.text_dim, text);
    free_above = y - font_size(font) * 0.5F;
  }
  for (const double tick : log_ticks(axes.x)) {
    const float x = axes.at(tick, 1).x;
    paint.line({x, axes.low.y}, {x, axes.high.y}, skin.theme.grid);
    const std::string text = tick_text(tick, tick);
    const ImVec2 extent = text_size(font, text);
    paint.text(font, {std::min(x - extent.x * 0.5F, axes.high.x - extent.x), axes.high.y + skin.px(2)},
               skin.theme.text_dim, text);
  }
  paint.rect(axes.low, axes.high, skin.theme.border);
}

void draw_curve(Painter& paint, const Axes& axes, const std::vector<int>& ranks,
                const std::vector<float>& probabilities, const Skin& skin) {
  std::vector<ImVec2> points;
  for (std::size_t i = 0; i < ranks.size() && i < probabilities.size(); ++i) {
    if (probabilities[i] > 0) points.push_back(axes.at(ranks[i], static_cast<double>(probabilities[i])));
  }
  paint.polyline(points, skin.theme.accent, skin.px(1.5F));
}

void draw_mark(Painter& paint, const Axes& axes, const RankMark& mark, Color32 color, bool ring, const Skin& skin) {
  if (!std::isfinite(mark.probability)) return;  // the model diverged
  const ImVec2 at = axes.at(mark.rank, mark.probability);
  if (!ring) return paint.filled_circle(at, skin.px(4), color);
  const float half = skin.px(5);
  paint.rect({at.x - half, at.y - half}, {at.x + half, at.y + half}, color, 0, skin.px(2));
}

std::string rank_text(const RankMark& mark) {
  return fmt::format("{}{}", mark.exact ? "" : "≥ ", mark.rank);
}

// Draws the legend of the two markers, with their ranks.
void draw_key(const Snapshot& snapshot, int step, const RankMark& written, const Skin& skin) {
  const auto index = static_cast<std::size_t>(step);
  Painter paint(skin);
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float middle = at.y + font_size(skin.fonts.mono_small) * 0.5F;
  const auto entry = [&](const std::string& text, Color32 color, bool ring) {
    const float half = skin.px(4);
    if (ring) {
      paint.rect({at.x, middle - half}, {at.x + 2 * half, middle + half}, color, 0, skin.px(2));
    } else {
      paint.filled_circle({at.x + half, middle}, half, color);
    }
    at.x += skin.px(13);
    paint.text(skin.fonts.mono_small, at, skin.theme.text_dim, text);
    at.x += text_size(skin.fonts.mono_small, text).x + skin.px(12);
  };
  entry(trf("{} rank {}", snapshot.target_out[index].text, rank_text(written)), skin.theme.success, false);
  const std::optional<GoldStep>& reference = snapshot.decoding[index].reference;
  if (reference) entry(trf("{} rank {}", reference->token.text, reference->rank), skin.theme.warning, true);
  ImGui::Dummy(ImVec2(1, font_size(skin.fonts.mono_small)));
}

void draw_title(const Skin& skin) {
  draw_caption(tr("Whole vocabulary"), tr("probability by rank"),
               tr("The linear layer and softmax give every token of the vocabulary a probability (paper §3.4). Here "
                  "tokens are ordered by it, the most probable first; both axes are logarithmic."),
               skin);
}

void draw_hover(Painter& paint, const Axes& axes, const std::vector<int>& ranks,
                const std::vector<float>& probabilities, const Skin& skin) {
  if (!ImGui::IsItemHovered()) return;
  const double wanted = axes.rank_at(ImGui::GetIO().MousePos.x);
  const auto after = std::ranges::lower_bound(ranks, wanted);
  auto i = std::min(static_cast<std::size_t>(after - ranks.begin()), ranks.size() - 1);
  if (i > 0 && wanted / ranks[i - 1] < ranks[i] / wanted) --i;
  const ImVec2 at = axes.at(ranks[i], static_cast<double>(probabilities[i]));
  paint.line({at.x, axes.low.y}, {at.x, axes.high.y}, skin.theme.text_dim);
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(trf("rank {} of {}: p = {:.3g}", ranks[i], ranks.back(), probabilities[i]).c_str());
  ImGui::EndTooltip();
}

}  // namespace

RankMark rank_of_written(const Snapshot& snapshot, int step, const Decodings& decodings) {
  const auto index = static_cast<std::size_t>(step);
  const DecodingStep& decided = snapshot.decoding[index];
  const Candidate& written = decided.candidates[static_cast<std::size_t>(decided.chosen)];
  const auto probability = static_cast<double>(written.probability);
  if (!decodings.lens.empty() && index < decodings.lens.back().cells.size())
    return {decodings.lens.back().cells[index].rank, probability, true};
  if (decided.chosen == 0 || decided.chosen + 1 < static_cast<int>(decided.candidates.size()))
    return {decided.chosen + 1, probability, true};
  // The last listed candidate may be there only because it was given.
  const std::vector<float>& ranked = decodings.ranked[index];
  const auto below = std::ranges::find_if(ranked, [&](float p) { return static_cast<double>(p) < probability; });
  const auto at = std::max<std::ptrdiff_t>(0, below - ranked.begin() - 1);
  return {decodings.ranks[static_cast<std::size_t>(at)], probability, false};
}

void draw_ranks(const Snapshot& snapshot, int step, const Decodings* decodings, ImVec2 size, const Skin& skin) {
  const float top = ImGui::GetCursorPosY();
  draw_title(skin);
  const auto index = static_cast<std::size_t>(step);
  const bool known = decodings && index < decodings->ranked.size() && !decodings->ranks.empty();
  if (!known)
    return draw_quiet_note(is_recorded(snapshot) ? tr("not recorded") : "…",
                           {size.x, size.y - (ImGui::GetCursorPosY() - top)}, skin);
  const RankMark written = rank_of_written(snapshot, step, *decodings);
  draw_key(snapshot, step, written, skin);
  const float axis = font_size(skin.fonts.small) + skin.px(4);
  const float gutter = std::max(skin.px(40), text_size(skin.fonts.small, "0.0001").x + skin.px(6));
  const ImVec2 low(ImGui::GetCursorScreenPos().x + gutter, ImGui::GetCursorScreenPos().y + skin.px(4));
  const float body = size.y - (ImGui::GetCursorPosY() - top) - axis - skin.px(8);
  const ImVec2 high(ImGui::GetCursorScreenPos().x + size.x - skin.px(4), low.y + std::max(skin.px(30), body));
  const std::vector<float>& probabilities = decodings->ranked[index];
  const Axes axes = axes_of(decodings->ranks, probabilities, low, high);
  ImGui::SetCursorScreenPos(low);
  ImGui::InvisibleButton("ranks", ImVec2(std::max(1.0F, high.x - low.x), high.y - low.y));
  Painter paint(skin);
  draw_grid(paint, axes, skin);
  draw_curve(paint, axes, decodings->ranks, probabilities, skin);
  const std::optional<GoldStep>& reference = snapshot.decoding[index].reference;
  if (reference)
    draw_mark(paint, axes, {reference->rank, static_cast<double>(reference->probability)}, skin.theme.warning, true,
              skin);
  draw_mark(paint, axes, written, skin.theme.success, false, skin);
  draw_hover(paint, axes, decodings->ranks, probabilities, skin);
  ImGui::Dummy(ImVec2(1, axis));
}

}  // namespace attnscope
