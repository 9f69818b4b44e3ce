// Pictures of numbers on the GPU. Needs a current OpenGL context from its construction to its destruction.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/textures.h"

namespace attnscope {

class GlTextures : public TextureStore {
 public:
  GlTextures() = default;
  ~GlTextures() override;
  GlTextures(const GlTextures&) = delete;
  GlTextures& operator=(const GlTextures&) = delete;

  TextureId texture(std::uint64_t key, std::uint64_t version, int width, int height, const Fill& fill) override;
  void end_frame() override;

 private:
  struct Entry {
    unsigned name = 0;  // OpenGL's
    std::uint64_t version = 0;
    int width = 0;
    int height = 0;
    std::uint64_t asked = 0;  // the frame that last asked for it
  };

  std::map<std::uint64_t, Entry> entries_;
  std::vector<std::uint32_t> pixels_;  // scratch, kept for its memory
  std::uint64_t frame_ = 0;
};

}  // namespace attnscope
