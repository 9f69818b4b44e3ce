#include "window/offscreen.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <fmt/format.h>
#include <imgui.h>

#include <cstring>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/input.h"
#include "files/storage/png.h"
#include "window/font_files.h"
#include "window/kept_picture.h"
#include "window/renderer.h"

namespace attnscope {
namespace {

// Dear ImGui sizes some items from the previous frame; columns, tables and scrollbars settle within four.
constexpr int settling_frames = 6;

[[noreturn]] void fail_offscreen(const char* what) {
  throw std::runtime_error(
      fmt::format("cannot draw without a display: {} failed (EGL error {:#x}); install Mesa's software renderer (on "
                  "Debian: libegl1 and libgl1-mesa-dri)",
                  what, eglGetError()));
}

void draw_frame(Renderer& renderer, AppState& scope, int width, int height, float scale) {
  renderer.draw(scope, scale, [width, height] {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DeltaTime = 1.F / 60;
  });
}

}  // namespace

Offscreen::Offscreen(int width, int height) : width_(width), height_(height) {
  try {
    open_context();
    make_framebuffer(width, height);  // freed with the context
  } catch (...) {
    close();
    throw;
  }
}

Offscreen::~Offscreen() {
  close();
}

void Offscreen::open_context() {
  keep_gl_drivers_apart_from_torch();
  const EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  if (display == EGL_NO_DISPLAY) fail_offscreen("eglGetPlatformDisplay for the surfaceless platform");
  if (!eglInitialize(display, nullptr, nullptr)) fail_offscreen("eglInitialize");
  display_ = display;
  if (!eglBindAPI(EGL_OPENGL_API)) fail_offscreen("eglBindAPI for OpenGL");
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0) fail_offscreen("eglChooseConfig");
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE};
  context_ = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  if (context_ == EGL_NO_CONTEXT) fail_offscreen("eglCreateContext for OpenGL 3.0");
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context_))
    fail_offscreen("eglMakeCurrent without a surface");
}

void Offscreen::close() {
  if (display_ == nullptr) return;
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (context_ != nullptr) eglDestroyContext(display_, context_);
  eglTerminate(display_);
}

void Offscreen::finish() const {
  glFinish();
}

std::vector<std::uint8_t> Offscreen::read() const {
  const std::vector<Color32> pixels = read_pixels(0, 0, width_, height_);
  std::vector<std::uint8_t> rgba(pixels.size() * sizeof(Color32));
  std::memcpy(rgba.data(), pixels.data(), rgba.size());
  return rgba;
}

Picture draw_offscreen(AppState& scope, int width, int height, float scale) {
  const Offscreen screen(width, height);
  Renderer renderer(find_pinned_fonts());
  prepare_input(ImGui::GetIO());
  for (int i = 0; i < settling_frames; ++i) draw_frame(renderer, scope, width, height, scale);
  return {width, height, screen.read()};
}

std::string draw_offscreen_as(AppState& scope, const PictureOrder& order, int width, int height, float scale) {
  const Offscreen screen(width, height);
  Renderer renderer(find_pinned_fonts());
  prepare_input(ImGui::GetIO());
  for (int i = 0; i < settling_frames; ++i) draw_frame(renderer, scope, width, height, scale);
  scope.exports.picture = order;
  draw_frame(renderer, scope, width, height, scale);
  std::string bytes = std::move(std::get<WriteFile>(scope.commands.back()).bytes);
  scope.commands.pop_back();
  return bytes;
}

std::string png_bytes(const Picture& picture) {
  std::vector<Color32> pixels(picture.rgba.size() / sizeof(Color32));
  std::memcpy(pixels.data(), picture.rgba.data(), picture.rgba.size());
  return encode_png(pixels, picture.width, picture.height);
}

}  // namespace attnscope
