// The whole window without a display: rendered through EGL's surfaceless platform.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shell/app_state.h"

namespace attnscope {

// Owns an OpenGL context with a framebuffer of that size, current from construction to destruction. Throws
// std::runtime_error naming what this machine lacks.
class Offscreen {
 public:
  Offscreen(int width, int height);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  // Waits until all drawing commands are complete.
  void finish() const;

  // width × height × 4 bytes R G B A, top row first.
  std::vector<std::uint8_t> read() const;

 private:
  void open_context();
  void close();

  int width_;
  int height_;
  void* display_ = nullptr;
  void* context_ = nullptr;
};

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;
};

// Draws the window for `scope` at a fixed 60 frames per second, until the layout has settled. Only DejaVu fonts are
// used, so that the same AppState gives the same pixels.
Picture draw_offscreen(AppState& scope, int width, int height, float scale);

// The same, encoded as the requested file type.
std::string draw_offscreen_as(AppState& scope, const PictureOrder& order, int width, int height, float scale);

// Encodes the picture as a PNG file.
std::string png_bytes(const Picture& picture);

}  // namespace attnscope
