#include "window/damage.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

namespace attnscope {

namespace {

// More areas fit the changes more closely, but multiply the frame's draw commands.
constexpr std::size_t most_areas = 8;
// Two areas are merged if that adds no more than this factor of pixels.
constexpr double worth_joining = 1.15;

double size_of(const PixelArea& area) {
  return area.empty() ? 0 : static_cast<double>(area.right - area.left) * (area.bottom - area.top);
}

PixelArea common(const PixelArea& a, const PixelArea& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right), std::min(a.bottom, b.bottom)};
}

PixelArea around(const PixelArea& a, const PixelArea& b) {
  return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right), std::max(a.bottom, b.bottom)};
}

bool belong_together(const PixelArea& a, const PixelArea& b) {
  return !common(a, b).empty() || size_of(around(a, b)) <= worth_joining * (size_of(a) + size_of(b));
}

// A few non-overlapping areas that cover everything added.
class Areas {
 public:
  void add(PixelArea area) {
    if (area.empty()) return;
    for (std::size_t i = 0; i < areas_.size();) {
      if (!belong_together(areas_[i], area)) {
        ++i;
        continue;
      }
      area = around(take(i), area);  // the larger area may now overlap others
      i = 0;
    }
    areas_.push_back(area);
    if (areas_.size() > most_areas) join_nearest();
  }

  std::vector<PixelArea> taken() { return std::move(areas_); }

 private:
  PixelArea take(std::size_t i) {
    const PixelArea area = areas_[i];
    areas_.erase(areas_.begin() + static_cast<std::ptrdiff_t>(i));
    return area;
  }

  // Merges the two areas that cost the fewest additional pixels.
  void join_nearest() {
    std::size_t first = 0, second = 1;
    double least = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < areas_.size(); ++i) {
      for (std::size_t j = i + 1; j < areas_.size(); ++j) {
        const double more = size_of(around(areas_[i], areas_[j])) - size_of(areas_[i]) - size_of(areas_[j]);
        if (more < least) std::tie(least, first, second) = std::tuple(more, i, j);
      }
    }
    const PixelArea joined = around(take(second), areas_[first]);
    take(first);
    add(joined);
  }

  std::vector<PixelArea> areas_;
};

// The lengths of the common prefix and, of the rest, the common suffix of two sequences.
template <typename Same>
std::pair<std::size_t, std::size_t> same_ends(std::size_t before, std::size_t now, const Same& same) {
  const std::size_t most = std::min(before, now);
  std::size_t first = 0;
  while (first < most && same(first, first)) ++first;
  std::size_t last = 0;
  while (last < most - first && same(before - 1 - last, now - 1 - last)) ++last;
  return {first, last};
}

PixelArea framebuffer_of(const ImDrawData& data) {
  return {0, 0, static_cast<int>(data.DisplaySize.x * data.FramebufferScale.x),
          static_cast<int>(data.DisplaySize.y * data.FramebufferScale.y)};
}

// The pixels that Dear ImGui's OpenGL backend clips a command to, with the same rounding, so that no pixel is gained or
// lost.
PixelArea clip_of(const ImDrawCmd& command, const ImDrawData& data) {
  const ImVec2 scale = data.FramebufferScale;
  const float left = (command.ClipRect.x - data.DisplayPos.x) * scale.x;
  const float top = (command.ClipRect.y - data.DisplayPos.y) * scale.y;
  const float right = (command.ClipRect.z - data.DisplayPos.x) * scale.x;
  const float bottom = (command.ClipRect.w - data.DisplayPos.y) * scale.y;
  const PixelArea all = framebuffer_of(data);
  const int low = static_cast<int>(static_cast<float>(all.bottom) - bottom);  // from the bottom, as in OpenGL
  const PixelArea clip{static_cast<int>(left), all.bottom - low - static_cast<int>(bottom - top),
                       static_cast<int>(left) + static_cast<int>(right - left), all.bottom - low};
  return common(clip, all);
}

// The clip rectangle that the same rounding maps to `area`.
ImVec4 clip_rect_of(const PixelArea& area, const ImDrawData& data) {
  constexpr float within = 0.01F;  // absorbs rounding errors of the division
  const ImVec2 scale = data.FramebufferScale;
  return {(static_cast<float>(area.left) + within) / scale.x + data.DisplayPos.x,
          (static_cast<float>(area.top) - 2 * within) / scale.y + data.DisplayPos.y,
          (static_cast<float>(area.right) + 2 * within) / scale.x + data.DisplayPos.x,
          (static_cast<float>(area.bottom) - within) / scale.y + data.DisplayPos.y};
}

// From Dear ImGui 1.92 on a texture may have to be created or updated before the frame is drawn.
bool textures_stand([[maybe_unused]] const ImDrawData& data) {
#if IMGUI_VERSION_NUM >= 19200
  return data.Textures == nullptr || std::ranges::all_of(*data.Textures, [](const ImTextureData* texture) {
           return texture->Status == ImTextureStatus_OK;
         });
#else
  return true;
#endif
}

}  // namespace

// Compares one frame with the previous one.
class Comparison {
 public:
  Comparison(const ImDrawData& data, const std::set<TextureId>& redrawn) : data_(data), redrawn_(redrawn) {}

  // A window that appeared or disappeared differs completely.
  void compare(const std::vector<Damage::List>& before, const std::vector<Damage::List>& now) {
    const auto [first, last] = same_ends(before.size(), now.size(),
                                         [&](std::size_t i, std::size_t j) { return before[i].name == now[j].name; });
    for (std::size_t i = 0; i < first; ++i) compare(before[i], now[i]);
    for (std::size_t i = 0; i < last; ++i) compare(before[before.size() - 1 - i], now[now.size() - 1 - i]);
    for (std::size_t i = first; i < before.size() - last; ++i) add_all(before[i]);
    for (std::size_t i = first; i < now.size() - last; ++i) add_all(now[i]);
  }

  std::vector<PixelArea> areas() { return areas_.taken(); }

 private:
  struct Triangles {
    const Damage::List& list;
    const Damage::Command& command;

    std::size_t count() const { return command.triangles; }
    const ImDrawVert& corner(std::size_t triangle, std::size_t i) const {
      return list.vertices[command.first_vertex + list.indices[command.first_index + triangle * 3 + i]];
    }
  };

  static bool same(const Triangles& a, std::size_t i, const Triangles& b, std::size_t j) {
    for (std::size_t corner = 0; corner < 3; ++corner)
      if (std::memcmp(&a.corner(i, corner), &b.corner(j, corner), sizeof(ImDrawVert)) != 0) return false;
    return true;
  }

  static bool drawn_alike(const Damage::Command& a, const Damage::Command& b) {
    return a.clip == b.clip && a.texture == b.texture;
  }

  void compare(const Damage::List& before, const Damage::List& now) {
    const auto [first, last] =
        same_ends(before.commands.size(), now.commands.size(),
                  [&](std::size_t i, std::size_t j) { return drawn_alike(before.commands[i], now.commands[j]); });
    const auto from_end = [](const Damage::List& list, std::size_t i) -> Triangles {
      return {list, list.commands[list.commands.size() - 1 - i]};
    };
    for (std::size_t i = 0; i < first; ++i) compare(Triangles{before, before.commands[i]}, {now, now.commands[i]});
    for (std::size_t i = 0; i < last; ++i) compare(from_end(before, i), from_end(now, i));
    for (const Damage::List* list : {&before, &now})
      for (std::size_t i = first; i < list->commands.size() - last; ++i) add_all({*list, list->commands[i]});
  }

  void compare(const Triangles& before, const Triangles& now) {
    if (redrawn_.contains(now.command.texture)) {
      add_all(before);
      return add_all(now);
    }
    const auto [first, last] =
        same_ends(before.count(), now.count(), [&](std::size_t i, std::size_t j) { return same(before, i, now, j); });
    add(before, first, before.count() - last);
    add(now, first, now.count() - last);
  }

  void add_all(const Damage::List& list) {
    for (const Damage::Command& command : list.commands) add_all(Triangles{list, command});
  }

  void add_all(const Triangles& triangles) { add(triangles, 0, triangles.count()); }

  // A rectangle is two triangles, and a line of text is many: adjacent triangles form one area.
  void add(const Triangles& triangles, std::size_t begin, std::size_t end) {
    PixelArea run;
    for (std::size_t i = begin; i < end; ++i) {
      const PixelArea area = common(bounds(triangles, i), triangles.command.clip);
      if (area.empty()) continue;
      if (!run.empty() && !belong_together(run, area)) areas_.add(std::exchange(run, {}));
      run = run.empty() ? area : around(run, area);
    }
    areas_.add(run);
  }

  PixelArea bounds(const Triangles& triangles, std::size_t i) const {
    const ImVec2 a = triangles.corner(i, 0).pos, b = triangles.corner(i, 1).pos, c = triangles.corner(i, 2).pos;
    const auto pixels = [](float units, float origin, float scale) { return (units - origin) * scale; };
    const auto low = [&](float x, float y, float z, float origin, float scale) {
      return static_cast<int>(std::floor(pixels(std::min({x, y, z}), origin, scale)));
    };
    const auto high = [&](float x, float y, float z, float origin, float scale) {
      return static_cast<int>(std::ceil(pixels(std::max({x, y, z}), origin, scale)));
    };
    const ImVec2 origin = data_.DisplayPos, scale = data_.FramebufferScale;
    return {low(a.x, b.x, c.x, origin.x, scale.x), low(a.y, b.y, c.y, origin.y, scale.y),
            high(a.x, b.x, c.x, origin.x, scale.x), high(a.y, b.y, c.y, origin.y, scale.y)};
  }

  const ImDrawData& data_;
  const std::set<TextureId>& redrawn_;
  Areas areas_;
};

void Damage::copy(const ImDrawList& from, const ImDrawData& data, List& to) {
  to.name = from._OwnerName == nullptr ? "" : from._OwnerName;
  to.commands.clear();
  for (const ImDrawCmd& command : from.CmdBuffer)
    to.commands.push_back(
        {clip_of(command, data), command.GetTexID(), command.VtxOffset, command.IdxOffset, command.ElemCount / 3});
  to.vertices.assign(from.VtxBuffer.begin(), from.VtxBuffer.end());
  to.indices.assign(from.IdxBuffer.begin(), from.IdxBuffer.end());
}

std::vector<PixelArea> Damage::since_last(const ImDrawData& data, const std::set<TextureId>& redrawn) {
  std::vector<PixelArea> areas = {framebuffer_of(data)};
  now_.resize(textures_stand(data) ? static_cast<std::size_t>(data.CmdListsCount) : 0);
  for (std::size_t i = 0; i < now_.size(); ++i) copy(*data.CmdLists[static_cast<int>(i)], data, now_[i]);
  if (!now_.empty() && !lists_.empty() && framebuffer_ == areas.front()) {
    Comparison comparison(data, redrawn);
    comparison.compare(lists_, now_);
    areas = comparison.areas();
  }
  framebuffer_ = framebuffer_of(data);
  std::swap(lists_, now_);
  return areas;
}

namespace {

// Adds the command's triangles that touch the area.
void add_reaching(const ImDrawList& list, const ImDrawCmd& command, const ImVec4& area, ImVector<ImDrawIdx>& indices) {
  const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
  const ImDrawIdx* end = list.IdxBuffer.Data + command.IdxOffset + command.ElemCount;
  for (const ImDrawIdx* i = end - command.ElemCount; i != end; i += 3) {
    const ImVec2 a = vertices[i[0]].pos, b = vertices[i[1]].pos, c = vertices[i[2]].pos;
    if (std::max({a.x, b.x, c.x}) < area.x || std::min({a.x, b.x, c.x}) > area.z) continue;
    if (std::max({a.y, b.y, c.y}) < area.y || std::min({a.y, b.y, c.y}) > area.w) continue;
    for (int corner = 0; corner < 3; ++corner) indices.push_back(i[corner]);
  }
}

void limit_to(ImDrawList& list, const ImDrawData& data, const std::vector<PixelArea>& areas) {
  ImVector<ImDrawCmd> commands;
  ImVector<ImDrawIdx> indices;
  for (const ImDrawCmd& command : list.CmdBuffer) {
    for (const PixelArea& area : areas) {
      const PixelArea part = common(clip_of(command, data), area);
      if (part.empty()) continue;
      ImDrawCmd limited = command;
      limited.ClipRect = clip_rect_of(part, data);
      limited.IdxOffset = static_cast<unsigned>(indices.Size);
      add_reaching(list, command, limited.ClipRect, indices);
      limited.ElemCount = static_cast<unsigned>(indices.Size) - limited.IdxOffset;
      if (limited.ElemCount > 0) commands.push_back(limited);
    }
  }
  list.CmdBuffer.swap(commands);
  list.IdxBuffer.swap(indices);
  if (list.CmdBuffer.empty()) list.VtxBuffer.resize(0);  // otherwise the backend would upload them to the GPU
}

}  // namespace

void limit_to(ImDrawData& data, const std::vector<PixelArea>& areas) {
  for (int i = 0; i < data.CmdListsCount; ++i) limit_to(*data.CmdLists[i], data, areas);
}

}  // namespace attnscope
