// The window's content on OpenGL: one Dear ImGui context with its fonts, style and textures, whatever it is shown on.
#pragma once

#include <imgui.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/skin.h"
#include "shell/app_state.h"
#include "shell/glyphs.h"
#include "window/damage.h"
#include "window/gl_textures.h"
#include "window/kept_picture.h"

namespace attnscope {

// That part of the present framebuffer from the top, opaque: what lies behind a window is of no interest.
std::vector<Color32> read_pixels(int left, int bottom, int width, int height);

class Renderer {
 public:
  // An OpenGL context must be current from here to the destructor.
  explicit Renderer(FontFiles fonts);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Draws one frame into the bound framebuffer, all of it, of which only what has changed is computed; as a picture to
  // be taken away, if one was ordered. `begin` tells Dear ImGui the size, the time passed and the input (what a
  // windowing backend's NewFrame does). `content_scale` is the display's; theme, zoom and presentation are in `scope`.
  void draw(AppState& scope, float content_scale, const std::function<void()>& begin);

 private:
  void inspect_as_requested(const AppState& scope, float content_scale,
                            ThemeName name);  // a handout is for paper: light
  bool find_glyphs(const AppState& scope);
  void make_fonts();
  void free_uploaded_fonts();
  void draw_changes(ImDrawData& data, bool whole);
  void begin_picture(const PictureOrder& order);
  std::string end_picture(const PictureOrder& order, const PictureArea& workspace);

  struct ContextDeleter {
    void operator()(ImGuiContext* context) const { ImGui::DestroyContext(context); }
  };
  std::unique_ptr<ImGuiContext, ContextDeleter> context_;
  FontFiles font_files_;
  Glyphs signs_;
  Skin skin_;
  PictureRecorder recorder_;
  std::unique_ptr<GlTextures> textures_;
  std::unique_ptr<KeptPicture> picture_;
  Damage damage_;
  bool styled_ = false;
};

// Call before EGL or GLX is first used. Debian 13's LibTorch has an LLVM inside and exports its entry points
// (LLVMInitializeX86Target and others); Mesa's software renderer, which comes with an LLVM of its own, would find
// Torch's first and crash. Does nothing where there is no such LibTorch, or no Mesa.
void keep_gl_drivers_apart_from_torch();

}  // namespace attnscope
