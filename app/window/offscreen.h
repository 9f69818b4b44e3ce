// The whole window without a display: drawn into memory through EGL's surfaceless platform.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shell/app_state.h"

namespace attnscope {

// An OpenGL context of its own with a framebuffer of that size, current from construction to destruction. Throws
// std::runtime_error naming what this machine lacks.
class Offscreen {
 public:
  Offscreen(int width, int height);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  // Waits until everything asked for has been drawn.
  void finish() const;

  // width × height × 4 bytes R G B A, from the top.
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

// Draws the window as `scope` has it at a fixed pace of 60 frames a second, until its layout has settled. Fonts are
// DejaVu, whatever else is installed: the same scope gives the same pixels.
Picture draw_offscreen(AppState& scope, int width, int height, float scale);

// The same as the file that the order is for.
std::string draw_offscreen_as(AppState& scope, const PictureOrder& order, int width, int height, float scale);

// The picture as a PNG file.
std::string png_bytes(const Picture& picture);

}  // namespace attnscope
