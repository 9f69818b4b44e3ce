#include "widgets/heatmap_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "common/clamped.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"

namespace attnscope {
namespace {

std::uint64_t mixed_hash(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 29);
}

std::uint64_t stamp_of(std::uint64_t version, const Coloring& coloring, int shrink) {
  std::uint64_t stamp = mixed_hash(version, static_cast<std::uint64_t>(coloring.map));
  stamp = mixed_hash(stamp, std::hash<float>{}(coloring.low));
  stamp = mixed_hash(stamp, std::hash<float>{}(coloring.high));
  stamp = mixed_hash(stamp, static_cast<std::uint64_t>(shrink));
  return mixed_hash(mixed_hash(stamp, coloring.mask_upper ? 1 : 0), coloring.masked);
}

// NaN, or a masked score: −∞.
bool is_hidden(float value) {
  return !(value > -std::numeric_limits<float>::infinity());
}

// Precomputes what all cells share: 192 thumbnails have 800,000 cells.
class CellColors {
 public:
  explicit CellColors(const Coloring& coloring)
      : table_(color_table(coloring.map).data()), low_(coloring.low), masked_(coloring.masked) {
    const float range = coloring.high - coloring.low;
    const auto last = static_cast<float>(color_table(coloring.map).size() - 1);
    scale_ = range > 0 ? last / range : 0;
    offset_ = 0.5F + (range > 0 ? 0 : last / 2);  // for rounding; the middle if the range is empty
    last_ = last + 0.5F;
  }

  // Computes all table indices first: compilers vectorize this loop, but not one with lookups. Uses pointers because
  // bounds checks on so many cells are measurable.
  void paint(const float* values, std::size_t count, Color32* pixels) const {
    int hidden = 0;
    for (std::size_t i = 0; i < count; ++i) {
      pixels[i] = static_cast<Color32>(
          static_cast<int>(clamped((values[i] - low_) * scale_ + offset_, 0.0F, last_)));  // NaN becomes 0
      hidden += is_hidden(values[i]);
    }
    const Color32* table = table_;
    for (std::size_t i = 0; i < count; ++i) pixels[i] = table[pixels[i]];
    if (hidden == 0) return;
    for (std::size_t i = 0; i < count; ++i)
      if (is_hidden(values[i])) pixels[i] = masked_;
  }

 private:
  const Color32* table_;
  float low_ = 0, scale_ = 0, offset_ = 0, last_ = 0;
  Color32 masked_ = 0;
};

float magnitude(float value) {
  return is_hidden(value) ? -1 : std::abs(value);
}

// The value of largest magnitude in the block of cells of one pixel; hidden only if all are.
float largest_in(const Matrix& matrix, int pixel_row, int pixel_col, int shrink) {
  const int last_row = std::min(matrix.rows, (pixel_row + 1) * shrink);
  const int first_col = pixel_col * shrink;
  const int last_col = std::min(matrix.cols, first_col + shrink);
  float largest = matrix.at(pixel_row * shrink, first_col);
  for (int row = pixel_row * shrink; row < last_row; ++row) {
    for (int col = first_col; col < last_col; ++col)
      if (magnitude(matrix.at(row, col)) > magnitude(largest)) largest = matrix.at(row, col);
  }
  return largest;
}

// Computes the first `count` pixels of a row; `values` is a reused scratch buffer.
void color_row(const Matrix& matrix, int row, std::size_t count, int shrink, const CellColors& colors,
               std::vector<float>& values, Color32* pixels) {
  if (shrink == 1) return colors.paint(matrix.values.data() + std::ptrdiff_t{row} * matrix.cols, count, pixels);
  values.resize(count);
  for (std::size_t col = 0; col < count; ++col) values[col] = largest_in(matrix, row, static_cast<int>(col), shrink);
  colors.paint(values.data(), count, pixels);
}

// ---- the legend

std::string end_text(float value) {
  return fmt::format("{:.3g}", value);
}

// ---- small pictures

// Cells per pixel side: a thumbnail needs no more pixels than can be resolved.
int shrink_of(const Matrix& matrix, float side, const Skin& skin) {
  const int most = side > skin.px(128) ? 128 : 64;
  return std::max(1, (std::max(matrix.rows, matrix.cols) + most - 1) / most);
}

void draw_frame(Painter& paint, ImVec2 low, ImVec2 high, const ThumbnailOptions& options, const Skin& skin) {
  const bool focused = ImGui::GetIO().NavVisible && ImGui::IsItemFocused();
  const float out = skin.px(2);
  const ImVec2 outer_low{low.x - out, low.y - out};
  const ImVec2 outer_high{high.x + out, high.y + out};
  if (options.selected || focused)
    paint.rect(outer_low, outer_high, options.frame != 0 ? options.frame : skin.theme.accent, skin.px(2), skin.px(2));
  else if (ImGui::IsItemHovered())
    paint.rect({low.x - 1, low.y - 1}, {high.x + 1, high.y + 1}, skin.theme.text);
}

}  // namespace

Color32 cell_color(const Coloring& coloring, float value) {
  Color32 color = 0;
  CellColors(coloring).paint(&value, 1, &color);
  return color;
}

void paint_matrix(Painter& paint, ImVec2 low, ImVec2 high, const Matrix& matrix, std::uint64_t version,
                  const Coloring& coloring, TextureStore& textures, int shrink, Sharing sharing) {
  const int rows = (matrix.rows + shrink - 1) / shrink;
  const int cols = (matrix.cols + shrink - 1) / shrink;
  const CellColors colors(coloring);
  const TextureStore::Fill fill = [&](std::span<std::uint32_t> rgba) {
    std::vector<float> scratch;
    for (int row = 0; row < rows; ++row) {
      std::uint32_t* pixels = rgba.data() + static_cast<std::ptrdiff_t>(row) * cols;
      // A block to the right of the diagonal is entirely hidden.
      const int shown = coloring.mask_upper ? std::min(cols, row + 1) : cols;
      color_row(matrix, row, static_cast<std::size_t>(shown), shrink, colors, scratch, pixels);
      std::fill(pixels + shown, pixels + cols, coloring.masked);
    }
  };
  const std::uint64_t stamp = stamp_of(version, coloring, shrink);
  const TexturePart part = textures.texture(ImGui::GetID("picture"), stamp, cols, rows, sharing, fill);
  paint.cells(part, low, high, cols, rows, fill);
}

// ---- the legend

void draw_legend(ColorMap map, float low, float high, ImVec2 size, const Skin& skin) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  Painter paint(skin);
  const std::string low_text = end_text(low);
  const std::string high_text = end_text(high);
  ImFont* font = skin.fonts.small;
  const float line = font_size(font);
  const bool upright = size.y > size.x;
  const float bar = skin.px(10);
  const float length = upright ? size.y : size.x;
  std::array<Color32, 49> stops;
  for (std::size_t i = 0; i < stops.size(); ++i)
    stops[i] = map_color(map, static_cast<float>(i) / static_cast<float>(stops.size() - 1));
  const ImVec2 end = upright ? ImVec2{origin.x + bar, origin.y + length} : ImVec2{origin.x + length, origin.y + bar};
  paint.gradient(origin, end, stops, upright);
  const Color32 ink = skin.theme.text_dim;
  if (upright) {
    const float x = origin.x + bar + skin.px(4);
    paint.text(font, {x, origin.y - line * 0.15F}, ink, high_text);
    paint.text(font, {x, origin.y + length - line * 0.9F}, ink, low_text);
  } else {
    const float y = origin.y + bar + skin.px(1);
    paint.text(font, {origin.x, y}, ink, low_text);
    paint.text(font, {origin.x + length - text_size(font, high_text).x, y}, ink, high_text);
  }
  ImGui::Dummy(size);
}

// ---- small pictures

bool draw_thumbnail(const char* id, const Matrix& matrix, std::uint64_t version, ImVec2 size,
                    const ThumbnailOptions& options, TextureStore& textures, const Skin& skin) {
  size = room_for(size);
  ImGui::PushID(id);
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 high{low.x + size.x, low.y + size.y};
  const bool pressed = ImGui::InvisibleButton("thumbnail", size);
  Painter paint(skin);
  if (matrix.empty()) {
    paint.filled_rect(low, high, skin.theme.masked);
  } else if (ImGui::IsItemVisible()) {
    const Coloring coloring{options.map, options.low, options.high, options.mask_upper, skin.theme.masked};
    paint_matrix(paint, low, high, matrix, version, coloring, textures,
                 shrink_of(matrix, std::max(size.x, size.y), skin), Sharing::shared);
  }
  draw_frame(paint, low, high, options, skin);
  ImGui::PopID();
  return pressed;
}

}  // namespace attnscope
