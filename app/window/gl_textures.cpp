#include "window/gl_textures.h"

#include <GL/gl.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <iterator>
#include <utility>

namespace attnscope {
namespace {

// Long enough to switch to another workspace and back without redrawing everything.
constexpr std::uint64_t kept_frames = 240;

// Slot sizes of shared textures. Larger pictures have their own texture.
constexpr int small_place = 64, large_place = 128, shared_columns = 8;

unsigned make_texture(int width, int height) {
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  // Interpolation at an edge must not blend in the color of the opposite edge.
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  return name;
}

// Fraction of a pixel: if the center of a screen pixel lies on a picture's edge, the neighboring picture in the texture
// must not show.
constexpr float inward = 1.0F / 1024;

// Dear ImGui's texture identifiers are pointers before 1.92 and integers afterwards.
TextureId texture_id(unsigned name) {
  return (TextureId)(std::uintptr_t)name;
}  // NOLINT

}  // namespace

GlTextures::~GlTextures() {
  for (const auto& [name, sheet] : sheets_) glDeleteTextures(1, &name);
}

TexturePart GlTextures::texture(std::uint64_t key, std::uint64_t version, int width, int height, Sharing sharing,
                                const Fill& fill) {
  Entry& entry = entries_[key];
  entry.asked = frame_;
  const bool resized = entry.width != width || entry.height != height;
  if (resized) settle(entry, width, height, sharing);
  if (resized || entry.version != version) {
    entry.version = version;
    send(entry, fill);
  }
  return part_of(entry);
}

// A texture with a free slot for pictures of that size.
GlTextures::Sheet GlTextures::sheet_for(int width, int height, Sharing sharing) {
  const int side = std::max(width, height);
  if (sharing == Sharing::alone || side > large_place) return {width, height, 1, {0}, {}};
  const int place = side <= small_place ? small_place : large_place;
  Sheet sheet{place, place, shared_columns, {}, {}};
  for (int i = 0; i < shared_columns * shared_columns; ++i) sheet.free.insert(i);
  return sheet;
}

// Assigns the entry a slot of its new size.
void GlTextures::settle(Entry& entry, int width, int height, Sharing sharing) {
  if (entry.sheet != 0) leave(entry);
  entry.width = width;
  entry.height = height;
  Sheet wanted = sheet_for(width, height, sharing);
  auto found = std::ranges::find_if(sheets_, [&](const auto& item) {
    const Sheet& sheet = item.second;
    return sheet.columns == wanted.columns && sheet.width == wanted.width && sheet.height == wanted.height &&
           !sheet.free.empty();
  });
  if (found == sheets_.end()) {
    const unsigned name = make_texture(wanted.width * wanted.columns, wanted.height * wanted.columns);
    found = sheets_.emplace(name, std::move(wanted)).first;
  }
  Sheet& sheet = found->second;
  entry.sheet = found->first;
  entry.place = *sheet.free.begin();
  sheet.free.erase(entry.place);
}

void GlTextures::leave(const Entry& entry) {
  Sheet& sheet = sheets_[entry.sheet];
  sheet.free.insert(entry.place);
  if (std::ssize(sheet.free) < sheet.columns * sheet.columns) return;
  glDeleteTextures(1, &entry.sheet);
  sheets_.erase(entry.sheet);
}

void GlTextures::send(const Entry& entry, const Fill& fill) {
  Sheet& sheet = sheets_[entry.sheet];
  redrawn_.insert(texture_id(entry.sheet));
  const int columns = sheet.width * sheet.columns;
  const int left = entry.place % sheet.columns * sheet.width, top = entry.place / sheet.columns * sheet.height;
  sheet.pixels.resize(static_cast<std::size_t>(columns) * static_cast<std::size_t>(sheet.height * sheet.columns));
  sheet.first_changed = std::min(sheet.first_changed, top);
  sheet.end_changed = std::max(sheet.end_changed, top + entry.height);
  const std::span all(sheet.pixels);
  if (sheet.columns == 1) return fill(all);
  pixels_.resize(static_cast<std::size_t>(entry.width) * static_cast<std::size_t>(entry.height));
  fill(pixels_);
  for (int row = 0; row < entry.height; ++row)
    std::copy_n(pixels_.begin() + std::ptrdiff_t{row} * entry.width, entry.width,
                all.begin() + std::ptrdiff_t{top + row} * columns + left);
}

void GlTextures::upload() {
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  for (auto& [name, sheet] : sheets_) {
    if (sheet.end_changed == 0) continue;
    const int width = sheet.width * sheet.columns;
    glBindTexture(GL_TEXTURE_2D, name);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, sheet.first_changed, width, sheet.end_changed - sheet.first_changed, GL_RGBA,
                    GL_UNSIGNED_BYTE, sheet.pixels.data() + std::ptrdiff_t{sheet.first_changed} * width);
    sheet.first_changed = INT_MAX;
    sheet.end_changed = 0;
    if (sheet.columns == 1) std::vector<std::uint32_t>().swap(sheet.pixels);  // it is always written as a whole
  }
}

TexturePart GlTextures::part_of(const Entry& entry) const {
  const Sheet& sheet = sheets_.at(entry.sheet);
  if (sheet.columns == 1) return {texture_id(entry.sheet)};
  const ImVec2 whole{static_cast<float>(sheet.width * sheet.columns), static_cast<float>(sheet.height * sheet.columns)};
  const auto left = static_cast<float>(entry.place % sheet.columns * sheet.width);
  const auto top = static_cast<float>(entry.place / sheet.columns * sheet.height);
  const float right = left + static_cast<float>(entry.width), bottom = top + static_cast<float>(entry.height);
  return {texture_id(entry.sheet),
          {(left + inward) / whole.x, (top + inward) / whole.y},
          {(right - inward) / whole.x, (bottom - inward) / whole.y}};
}

void GlTextures::end_frame() {
  std::erase_if(entries_, [this](const auto& item) {
    const bool old = frame_ - item.second.asked > kept_frames;
    if (old) leave(item.second);
    return old;
  });
  redrawn_.clear();
  ++frame_;
}

}  // namespace attnscope
