#include "widgets/heatmap_picture.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

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

// What every cell of a picture has in common, looked up once: 192 thumbnails are 800 000 cells.
class CellColors {
 public:
  explicit CellColors(const Coloring& coloring)
      : table_(color_table(coloring.map)), low_(coloring.low), masked_(coloring.masked) {
    const float range = coloring.high - coloring.low;
    const auto last = static_cast<float>(table_.size() - 1);
    scale_ = range > 0 ? last / range : 0;
    offset_ = 0.5F + (range > 0 ? 0 : last / 2);  // rounds; without a range, the middle
    last_ = last + 0.5F;
  }

  Color32 operator()(float value) const {
    if (std::isnan(value)) return masked_;
    return table_[static_cast<std::size_t>(std::clamp((value - low_) * scale_ + offset_, 0.0F, last_))];
  }

 private:
  std::span<const Color32> table_;
  float low_ = 0, scale_ = 0, offset_ = 0, last_ = 0;
  Color32 masked_ = 0;
};

// The value of the block of cells behind a pixel.
float largest_in(const Matrix& matrix, int pixel_row, int pixel_col, int shrink) {
  if (shrink == 1) return matrix.at(pixel_row, pixel_col);
  const int last_row = std::min(matrix.rows, (pixel_row + 1) * shrink);
  const int first_col = pixel_col * shrink;
  const int last_col = std::min(matrix.cols, first_col + shrink);
  float largest = matrix.at(pixel_row * shrink, first_col);
  for (int row = pixel_row * shrink; row < last_row; ++row) {
    for (int col = first_col; col < last_col; ++col) largest = std::max(largest, matrix.at(row, col));
  }
  return largest;
}

}  // namespace

Color32 cell_color(const Coloring& coloring, float value) {
  return CellColors(coloring)(value);
}

void paint_matrix(Painter& paint, ImVec2 low, ImVec2 high, const Matrix& matrix, std::uint64_t version,
                  const Coloring& coloring, TextureStore& textures, int shrink) {
  const int rows = (matrix.rows + shrink - 1) / shrink;
  const int cols = (matrix.cols + shrink - 1) / shrink;
  const CellColors color(coloring);
  const TextureStore::Fill fill = [&](std::span<std::uint32_t> rgba) {
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        // A block right of the diagonal is hidden whole.
        const bool hidden = coloring.mask_upper && col > row;
        rgba[static_cast<std::size_t>(row) * cols + col] =
            hidden ? coloring.masked : color(largest_in(matrix, row, col, shrink));
      }
    }
  };
  const std::uint64_t stamp = stamp_of(version, coloring, shrink);
  paint.cells(textures.texture(ImGui::GetID("picture"), stamp, cols, rows, fill), low, high, cols, rows, fill);
}

}  // namespace attnscope
