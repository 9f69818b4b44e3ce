#include "widgets/painter.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace attnscope {
namespace {

// ImDrawList strokes lines and outlines through pixel centers, but takes a polyline's points as they are.
ImVec2 pixel_middle(ImVec2 at) {
  return {at.x + 0.5F, at.y + 0.5F};
}

Typeface typeface_of(const ImFont* font, const Fonts& fonts) {
  if (font == fonts.mono || font == fonts.mono_small) return Typeface::mono;
  return font == fonts.bold ? Typeface::bold : Typeface::ui;
}

constexpr std::size_t few_corners = 400;  // upper bound for a line, a rectangle or a circle

float em_share(Typeface face, const Fonts& fonts) {
  return face == Typeface::ui ? fonts.ui_em : face == Typeface::bold ? fonts.bold_em : fonts.mono_em;
}

}  // namespace

DrawnText drawn_text(const ImFont* font, ImVec2 position, Color32 color, std::string_view text, const Skin& skin) {
  const Typeface face = typeface_of(font, skin.fonts);
  const float ascent = font_ascent(font);
  // Dear ImGui starts text at integer pixels.
  const ImVec2 baseline{std::floor(position.x), std::floor(position.y) + ascent};
  return {.text = std::string(text),
          .face = face,
          .family = face == Typeface::mono ? skin.fonts.mono_family : skin.fonts.ui_family,
          .em = font_size(font) * em_share(face, skin.fonts),
          .baseline = baseline,
          .extent = text_size(font, text),
          .ascent = ascent,
          .pivot = position,
          .color = color};
}

Painter::Painter(const Skin& skin) : skin_(skin), list_(*ImGui::GetWindowDrawList()) {}

bool Painter::begin(std::size_t corners) {
  constexpr std::size_t most = 60'000;  // of 65,536: leaves room for what is not painted here
  first_ = list_.VtxBuffer.Size;
  const bool recounts = (ImGui::GetIO().BackendFlags & ImGuiBackendFlags_RendererHasVtxOffset) != 0;
  return recounts || list_._VtxCurrentIdx + corners < most;
}

void Painter::line(ImVec2 from, ImVec2 to, Color32 color, float thickness) {
  if (!begin(few_corners)) return;
  thickness = skin_.stroke(thickness);
  list_.AddLine(from, to, color, thickness);
  if (recording()) record(DrawnLine{{pixel_middle(from), pixel_middle(to)}, color, thickness});
}

void Painter::polyline(std::span<const ImVec2> points, Color32 color, float thickness, Joints joints) {
  if (points.size() < 2 || !begin(8 * points.size())) return;
  thickness = skin_.stroke(thickness);
  if (joints == Joints::apart)
    for (std::size_t i = 1; i < points.size(); ++i) list_.AddLine(points[i - 1], points[i], color, thickness);
  else
    list_.AddPolyline(points.data(), static_cast<int>(points.size()), color, 0, thickness);
  if (!recording()) return;
  DrawnLine line{{points.begin(), points.end()}, color, thickness};
  if (joints == Joints::apart)
    for (ImVec2& at : line.points) at = pixel_middle(at);
  record(std::move(line));
}

void Painter::rect(ImVec2 low, ImVec2 high, Color32 color, float rounding, float thickness) {
  if (!begin(few_corners)) return;
  thickness = skin_.stroke(thickness);
  list_.AddRect(low, high, color, rounding, 0, thickness);
  if (recording()) record(DrawnRect{pixel_middle(low), {high.x - 0.5F, high.y - 0.5F}, color, rounding, thickness});
}

void Painter::filled_rect(ImVec2 low, ImVec2 high, Color32 color, float rounding) {
  if (!begin(few_corners)) return;
  list_.AddRectFilled(low, high, color, rounding);
  if (recording()) record(DrawnRect{low, high, color, rounding});
}

void Painter::filled_circle(ImVec2 center, float radius, Color32 color, int segments) {
  if (!begin(few_corners)) return;
  list_.AddCircleFilled(center, radius, color, segments);
  if (recording()) record(DrawnCircle{center, radius, color});
}

void Painter::dots(std::span<const ImVec2> centers, std::span<const Color32> colors, float radius) {
  constexpr std::size_t most_round = 4000;
  if (centers.size() <= most_round || recording()) {
    for (std::size_t i = 0; i < centers.size(); ++i) filled_circle(centers[i], radius, colors[i], 10);
    return;
  }
  constexpr std::size_t chunk = 4096;  // a draw call has 16-bit vertex indices
  for (std::size_t first = 0; first < centers.size(); first += chunk) {
    const std::size_t last = std::min(first + chunk, centers.size());
    const auto count = static_cast<int>(last - first);
    if (!begin(4 * (last - first))) return;
    list_.PrimReserve(6 * count, 4 * count);
    for (std::size_t i = first; i < last; ++i) {
      const ImVec2 at = centers[i];
      list_.PrimRect({at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}, colors[i]);
    }
  }
}

void Painter::gradient(ImVec2 low, ImVec2 high, std::span<const Color32> stops, bool upright) {
  if (!begin(4 * stops.size())) return;
  const float length = upright ? high.y - low.y : high.x - low.x;
  const auto at = [&](std::size_t stop) {
    return length * static_cast<float>(stop) / static_cast<float>(stops.size() - 1);
  };
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    const Color32 first = stops[i];
    const Color32 last = stops[i + 1];
    if (upright)
      list_.AddRectFilledMultiColor({low.x, low.y + length - at(i + 1)}, {high.x, low.y + length - at(i)}, last, last,
                                    first, first);
    else
      list_.AddRectFilledMultiColor({low.x + at(i), low.y}, {low.x + at(i + 1), high.y}, first, last, last, first);
  }
  if (recording()) record(DrawnGradient{low, high, {stops.begin(), stops.end()}, upright});
}

void Painter::text(ImFont* font, ImVec2 position, Color32 color, std::string_view text) {
  if (text.empty() || !begin(4 * text.size())) return;
  draw_text(list_, font, position, color, text.data(), text.data() + text.size());
  if (recording()) record_text(font, position, color, text, position, 0);
}

void Painter::slanted_text(ImFont* font, ImVec2 anchor, float degrees, Color32 color, std::string_view text) {
  if (text.empty() || !begin(4 * text.size())) return;
  const ImVec2 position{anchor.x, anchor.y - text_size(font, text).y / 2};
  const ImVec2 low = list_.GetClipRectMin();
  const ImVec2 high = list_.GetClipRectMax();
  // Dear ImGui draws only horizontal text, so its vertices are rotated afterwards. Text outside the clip rectangle
  // would be skipped before the rotation moves it inside; the rectangle is therefore set after drawing.
  list_.PushClipRectFullScreen();
  draw_text(list_, font, position, color, text.data(), text.data() + text.size());
  list_.CmdBuffer.back().ClipRect = {low.x, low.y, high.x, high.y};
  list_.PopClipRect();
  for (int i = first_; i < list_.VtxBuffer.Size; ++i)
    list_.VtxBuffer[i].pos = turned(list_.VtxBuffer[i].pos, anchor, degrees);
  if (recording()) record_text(font, position, color, text, anchor, degrees);  // with the vertices generated so far
}

void Painter::cells(const TexturePart& part, ImVec2 low, ImVec2 high, int cols, int rows,
                    const TextureStore::Fill& fill) {
  if (!begin(few_corners)) return;
  list_.AddImage(part.texture, low, high, part.low, part.high);
  if (!recording()) return;
  DrawnCells cells{low, high, cols, rows, {}};
  cells.colors.resize(static_cast<std::size_t>(cols) * static_cast<std::size_t>(rows));
  fill(cells.colors);
  record(std::move(cells));
}

void Painter::push_clip(ImVec2 low, ImVec2 high) {
  list_.PushClipRect(low, high, true);
}

void Painter::pop_clip() {
  list_.PopClipRect();
}

void Painter::record(Shape shape) {
  skin_.recorder->record(std::move(shape), {list_.GetClipRectMin(), list_.GetClipRectMax()},
                         {&list_, first_, list_.VtxBuffer.Size});
}

void Painter::record_text(ImFont* font, ImVec2 position, Color32 color, std::string_view text, ImVec2 pivot,
                          float degrees) {
  DrawnText drawn = drawn_text(font, position, color, text, skin_);
  drawn.pivot = pivot;
  drawn.degrees = degrees;
  record(std::move(drawn));
}

void draw_hatching(Painter& paint, ImVec2 low, ImVec2 high, Color32 color, float gap) {
  paint.push_clip(low, high);
  const float height = high.y - low.y;
  for (float x = low.x - height; x < high.x; x += gap) paint.line({x, high.y}, {x + height, low.y}, color);
  paint.pop_clip();
}

}  // namespace attnscope
