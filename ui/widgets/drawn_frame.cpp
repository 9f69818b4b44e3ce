#include "widgets/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/shaping.h"
#include "widgets/painter.h"

namespace attnscope {
namespace {

struct Letter {
  const ImFont* font = nullptr;
  const ImFontGlyph* glyph = nullptr;
};

// Glyphs, indexed by their top left corner in the atlas.
class Letters {
 public:
  explicit Letters(const Fonts& fonts) {
    for (const ImFont* font : {fonts.ui, fonts.bold, fonts.large, fonts.small, fonts.mono, fonts.mono_small}) {
      for (const ImFontGlyph& glyph : glyphs_of(font)) {
        if (glyph.Visible) by_corner_.insert({{glyph.U0, glyph.V0}, {font, &glyph}});
      }
    }
  }

  // Finds the glyph that contains that part of the atlas; a clipped glyph shows only part of itself.
  const Letter* find(ImVec2 low, ImVec2 high) const {
    const auto exact = by_corner_.find({low.x, low.y});
    if (exact != by_corner_.end()) return &exact->second;
    for (const auto& [corner, letter] : by_corner_) {
      const ImFontGlyph& glyph = *letter.glyph;
      if (low.x >= glyph.U0 && low.y >= glyph.V0 && high.x <= glyph.U1 && high.y <= glyph.V1) return &letter;
    }
    return nullptr;
  }

 private:
  std::map<std::pair<float, float>, Letter> by_corner_;
};

std::string utf8(unsigned code_point) {
  std::string text;
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800) {
    text += static_cast<char>(0xC0U | code_point >> 6);
  } else {
    text += static_cast<char>(0xE0U | code_point >> 12);
    text += static_cast<char>(0x80U | (code_point >> 6 & 0x3FU));
  }
  return text += static_cast<char>(0x80U | (code_point & 0x3FU));
}

std::string text_of(unsigned code_point) {
  const ShapedGlyph* shaped = shaper().find(code_point);
  return shaped ? shaped->text : utf8(code_point);
}

// Consecutive letters on one line.
struct Run {
  const ImFont* font = nullptr;
  Color32 color = 0;
  ImVec2 position;  // top left corner of the line
  float pen = 0;    // expected position of the next letter
  std::string text;
  PictureArea clip;
};

class FrameReader {
 public:
  FrameReader(const Capture& painted, const ImDrawData& data, const Skin& skin)
      : painted_(painted), skin_(skin), letters_(skin.fonts), white_(ImGui::GetFontTexUvWhitePixel()) {
    result_.area = painted.area;
    for (const ImDrawList* list : std::span(&data.CmdLists[0], static_cast<std::size_t>(data.CmdListsCount))) {
      read(*list);
    }
  }

  Capture result() && { return std::move(result_); }

 private:
  void read(const ImDrawList& list) {
    shape_of_.assign(static_cast<std::size_t>(list.VtxBuffer.Size), nullptr);
    for (const Drawn& drawn : painted_.shapes) {
      if (drawn.vertices.list != &list) continue;
      std::fill(shape_of_.begin() + drawn.vertices.first, shape_of_.begin() + drawn.vertices.end, &drawn);
    }
    last_painted_ = nullptr;
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (!command.UserCallback) read(list, command);
      end_run();
      end_polygon();
    }
  }

  void read(const ImDrawList& list, const ImDrawCmd& command) {
    clip_ = {{command.ClipRect.x, command.ClipRect.y}, {command.ClipRect.z, command.ClipRect.w}};
    const std::span indices(&list.IdxBuffer.Data[command.IdxOffset], command.ElemCount);
    const auto vertex = [&](std::size_t i) { return command.VtxOffset + indices[i]; };
    for (std::size_t i = 0; i + 2 < indices.size();) {
      const ImDrawVert* const all = list.VtxBuffer.Data;
      if (const Drawn* drawn = shape_of_[vertex(i)]) {
        add_painted(*drawn);
        i += 3;
        continue;
      }
      // Two triangles 0 1 2, 0 2 3: a glyph or a rectangle.
      const bool quad = i + 5 < indices.size() && indices[i + 3] == indices[i] && indices[i + 4] == indices[i + 2] &&
                        !shape_of_[vertex(i + 5)];
      if (quad && read_quad({all[vertex(i)], all[vertex(i + 1)], all[vertex(i + 2)], all[vertex(i + 5)]})) {
        i += 6;
        continue;
      }
      read_triangle({all[vertex(i)], all[vertex(i + 1)], all[vertex(i + 2)]}, indices[i], indices[i + 1],
                    indices[i + 2]);
      i += 3;
    }
  }

  void add_painted(const Drawn& drawn) {
    end_run();
    end_polygon();
    if (last_painted_ == &drawn) return;
    last_painted_ = &drawn;
    result_.add(drawn);
  }

  // Returns false if it is neither a glyph nor a rectangle.
  bool read_quad(const std::array<ImDrawVert, 4>& corners) {
    const auto& [a, b, c, d] = corners;
    const bool upright = a.pos.x == d.pos.x && b.pos.x == c.pos.x && a.pos.y == b.pos.y && c.pos.y == d.pos.y;
    if (!upright) return false;
    if (is_white(a) && is_white(c)) {
      end_run();
      end_polygon();
      add(DrawnRect{a.pos, c.pos, a.col}, clip_);
      return true;
    }
    const Letter* letter = letters_.find(a.uv, c.uv);
    if (letter) add_letter(*letter, a, c);
    return letter != nullptr;
  }

  bool is_white(const ImDrawVert& vertex) const { return vertex.uv.x == white_.x && vertex.uv.y == white_.y; }

  void add_letter(const Letter& letter, const ImDrawVert& low, const ImDrawVert& high) {
    end_polygon();
    const ImFontGlyph& glyph = *letter.glyph;
    // Extrapolates the glyph's edge before clipping.
    const auto whole = [](float at, float seen, float first, float last, float size) {
      return last > first ? at - (seen - first) / (last - first) * size : at;
    };
    const float x = whole(low.pos.x, low.uv.x, glyph.U0, glyph.U1, glyph.X1 - glyph.X0) - glyph.X0;
    const float y = whole(low.pos.y, low.uv.y, glyph.V0, glyph.V1, glyph.Y1 - glyph.Y0) - glyph.Y0;
    const bool cut = low.uv.x != glyph.U0 || low.uv.y != glyph.V0 || high.uv.x != glyph.U1 || high.uv.y != glyph.V1;
    const std::optional<std::string> spaces = spaces_before(letter, low.col, {x, y});
    if (!spaces) {
      end_run();
      run_ = {letter.font, low.col, {x, y}, x, "", clip_};
    }
    run_.text += spaces.value_or("") + text_of(glyph.Codepoint);
    run_.pen = x + glyph.AdvanceX;
    if (!cut) return;
    if (high.uv.x < glyph.U1) run_.clip.high.x = std::min(run_.clip.high.x, high.pos.x);
    if (low.uv.x > glyph.U0) run_.clip.low.x = std::max(run_.clip.low.x, low.pos.x);
    if (high.uv.y < glyph.V1) run_.clip.high.y = std::min(run_.clip.high.y, high.pos.y);
    if (low.uv.y > glyph.V0) run_.clip.low.y = std::max(run_.clip.low.y, low.pos.y);
  }

  // Returns nullopt if the letter does not continue the line.
  std::optional<std::string> spaces_before(const Letter& letter, Color32 color, ImVec2 at) const {
    if (run_.text.empty() || run_.font != letter.font || run_.color != color) return std::nullopt;
    if (std::abs(run_.position.y - at.y) > 0.5F) return std::nullopt;
    const float gap = at.x - run_.pen;
    const float space = text_size(letter.font, " ").x;
    const float count = std::round(gap / space);
    constexpr float most_spaces = 2;  // a wider gap means another column
    if (count < 0 || count > most_spaces || std::abs(gap - count * space) > 1) return std::nullopt;
    return std::string(static_cast<std::size_t>(count), ' ');
  }

  void end_run() {
    if (run_.text.empty()) return;
    add(drawn_text(run_.font, run_.position, run_.color, run_.text, skin_), run_.clip);
    run_.text.clear();
  }

  // Convex shapes are triangle fans around their first point; strokes are triangle strips.
  void read_triangle(const std::array<ImDrawVert, 3>& corners, unsigned first, unsigned second, unsigned third) {
    end_run();
    const auto& [a, b, c] = corners;
    const bool goes_on = !polygon_.points.empty() && polygon_.color == a.col && first == fan_ && second == rim_;
    if (goes_on) {
      polygon_.points.push_back(c.pos);
    } else {
      end_polygon();
      polygon_ = {{a.pos, b.pos, c.pos}, a.col};
      fan_ = first;
    }
    rim_ = third;
  }

  void end_polygon() {
    if (polygon_.points.empty()) return;
    add(polygon_, clip_);
    polygon_.points.clear();
  }

  void add(const Shape& shape, PictureArea clip) { result_.add({shape, clip}); }

  const Capture& painted_;
  const Skin& skin_;
  const Letters letters_;
  const ImVec2 white_;
  Capture result_;
  PictureArea clip_;
  Run run_;
  DrawnPolygon polygon_;
  unsigned fan_ = 0;
  unsigned rim_ = 0;
  std::vector<const Drawn*> shape_of_;  // maps each vertex of the current list to its painted shape
  const Drawn* last_painted_ = nullptr;
};

}  // namespace

Capture with_all_drawn(const Capture& painted, const ImDrawData& data, const Skin& skin) {
  return FrameReader(painted, data, skin).result();
}

Capture cropped(Capture capture, PictureArea area) {
  capture.area = area;
  std::erase_if(capture.shapes, [&](const Drawn& drawn) {
    const std::optional<PictureArea> seen = common_area(drawn.clip, area);
    return !seen || !common_area(bounds(drawn.shape), *seen);
  });
  return capture;
}

}  // namespace attnscope
