// What of the window differs from the frame before. Under software OpenGL most of a frame's time goes into its pixels:
// those that would come out as they are need not be drawn again.
#pragma once

#include <imgui.h>

#include <set>
#include <string>
#include <vector>

#include "base/textures.h"

namespace attnscope {

// Pixels of a framebuffer, counted from its upper left corner; right and bottom are outside.
struct PixelArea {
  int left = 0, top = 0, right = 0, bottom = 0;

  bool empty() const { return left >= right || top >= bottom; }
  bool operator==(const PixelArea&) const = default;
};

// Compares every frame with the one before, triangle by triangle.
class Damage {
 public:
  // Where `data` draws something else than the frame that was given last, or draws with one of the textures `redrawn`:
  // few areas that do not overlap. Everything at first, and when the framebuffer has another size.
  std::vector<PixelArea> since_last(const ImDrawData& data, const std::set<TextureId>& redrawn);

  // The next frame differs everywhere: what it is drawn on, or with, has changed.
  void forget() { lists_.clear(); }

 private:
  struct Command {
    PixelArea clip;
    TextureId texture = {};
    std::size_t first_vertex = 0, first_index = 0, triangles = 0;
  };
  // What one of Dear ImGui's windows drew.
  struct List {
    std::string name;
    std::vector<Command> commands;
    std::vector<ImDrawVert> vertices;
    std::vector<ImDrawIdx> indices;
  };

  static List copied(const ImDrawList& list, const ImDrawData& data);

  std::vector<List> lists_;
  PixelArea framebuffer_;

  friend class Comparison;
};

// Leaves of `data` what falls into the areas, which must not overlap.
void limit_to(ImDrawData& data, const std::vector<PixelArea>& areas);

}  // namespace attnscope
