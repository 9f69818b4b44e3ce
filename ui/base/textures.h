// Images of numeric data as textures. The window keeps them on the GPU; tests count them.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <functional>
#include <span>

namespace attnscope {

using TextureId = ImTextureID;  // a pointer before Dear ImGui 1.92, an integer after

// The location of an image: a texture, or part of a shared one.
struct TexturePart {
  TextureId texture = {};
  ImVec2 low{0, 0}, high{1, 1};  // in texture coordinates
};

// Thumbnails, of which there may be hundreds, are uploaded and drawn faster in a shared texture.
enum class Sharing { alone, shared };

class TextureStore {
 public:
  // Writes width × height pixels, row by row from the top, bytes R G B A.
  using Fill = std::function<void(std::span<std::uint32_t> rgba)>;

  virtual ~TextureStore() = default;

  // Returns the image named `key`, drawn with nearest-neighbor sampling. `fill` is called and its pixels are uploaded
  // only if the key is new or its version or size changed. Keys that are not requested for some frames are dropped.
  virtual TexturePart texture(std::uint64_t key, std::uint64_t version, int width, int height, Sharing sharing,
                              const Fill& fill) = 0;

  // Call once after every frame.
  virtual void end_frame() = 0;
};

}  // namespace attnscope
