// Finds the changed areas between two frames. With software OpenGL, rasterization takes most of a frame's time, so
// unchanged pixels are not redrawn.
#pragma once

#include <imgui.h>

#include <set>
#include <string>
#include <vector>

#include "base/textures.h"

namespace attnscope {

// Pixels of a framebuffer, from its upper left corner; right and bottom are exclusive.
struct PixelArea {
  int left = 0, top = 0, right = 0, bottom = 0;

  bool empty() const { return left >= right || top >= bottom; }
  bool operator==(const PixelArea&) const = default;
};

// Compares every frame with the previous one, triangle by triangle.
class Damage {
 public:
  // The areas in which `data` differs from the previous frame, or uses one of the textures `redrawn`: a few
  // non-overlapping areas. Everything for the first frame, and after the framebuffer's size changed.
  std::vector<PixelArea> since_last(const ImDrawData& data, const std::set<TextureId>& redrawn);

  // Marks the next frame as completely changed, because its target or resources changed.
  void forget() { lists_.clear(); }

 private:
  struct Command {
    PixelArea clip;
    TextureId texture = {};
    std::size_t first_vertex = 0, first_index = 0, triangles = 0;
  };
  // The draw list of one Dear ImGui window.
  struct List {
    std::string name;
    std::vector<Command> commands;
    std::vector<ImDrawVert> vertices;
    std::vector<ImDrawIdx> indices;
  };

  static void copy(const ImDrawList& from, const ImDrawData& data, List& to);

  std::vector<List> lists_;
  std::vector<List> now_;  // scratch, reused to avoid allocations
  PixelArea framebuffer_;

  friend class Comparison;
};

// Reduces `data` to the triangles that touch the areas, which must not overlap, clipped to them.
void limit_to(ImDrawData& data, const std::vector<PixelArea>& areas);

}  // namespace attnscope
