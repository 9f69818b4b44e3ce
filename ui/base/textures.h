// Pictures of numbers on their way to the screen. The window keeps them on the GPU; tests count them.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <functional>
#include <span>

namespace attnscope {

using TextureId = ImTextureID;  // a pointer before Dear ImGui 1.92, an integer after

// A picture's place: a texture, or the part of one that several pictures share.
struct TexturePart {
  TextureId texture = {};
  ImVec2 low{0, 0}, high{1, 1};  // in texture coordinates
};

// Thumbnails, of which there may be hundreds, are sent and drawn sooner in a texture that they share.
enum class Sharing { alone, shared };

class TextureStore {
 public:
  // Writes width × height pixels, row by row from the top, bytes R G B A.
  using Fill = std::function<void(std::span<std::uint32_t> rgba)>;

  virtual ~TextureStore() = default;

  // The picture named `key`, drawn with the nearest filter. `fill` is called, and its pixels sent to the GPU, only when
  // the key is new or its version or size differs from last time. Keys that go unasked for some frames are dropped.
  virtual TexturePart texture(std::uint64_t key, std::uint64_t version, int width, int height, Sharing sharing,
                              const Fill& fill) = 0;

  // Called once after every frame.
  virtual void end_frame() = 0;
};

}  // namespace attnscope
