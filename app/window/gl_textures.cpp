#include "window/gl_textures.h"

#include <GL/gl.h>

#include <cstddef>

namespace attnscope {
namespace {

// Long enough to switch to another workspace and back without drawing everything anew.
constexpr std::uint64_t kept_frames = 240;

unsigned make_texture() {
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  // Between pixels the edge must not take the colour of the opposite edge.
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return name;
}

// Dear ImGui's texture identifiers are pointers before 1.92 and integers after.
TextureId texture_id(unsigned name) {
  return (TextureId)(std::uintptr_t)name;
}  // NOLINT

}  // namespace

GlTextures::~GlTextures() {
  for (const auto& [key, entry] : entries_) glDeleteTextures(1, &entry.name);
}

TextureId GlTextures::texture(std::uint64_t key, std::uint64_t version, int width, int height, const Fill& fill) {
  Entry& entry = entries_[key];
  entry.asked = frame_;
  if (entry.name != 0 && entry.version == version && entry.width == width && entry.height == height) {
    return texture_id(entry.name);
  }
  if (entry.name == 0) entry.name = make_texture();
  const bool resized = entry.width != width || entry.height != height;
  entry = {entry.name, version, width, height, frame_};
  pixels_.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0);
  fill(pixels_);
  glBindTexture(GL_TEXTURE_2D, entry.name);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  if (resized)
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels_.data());
  else
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels_.data());
  return texture_id(entry.name);
}

void GlTextures::end_frame() {
  std::erase_if(entries_, [this](const auto& item) {
    const bool old = frame_ - item.second.asked > kept_frames;
    if (old) glDeleteTextures(1, &item.second.name);
    return old;
  });
  ++frame_;
}

}  // namespace attnscope
