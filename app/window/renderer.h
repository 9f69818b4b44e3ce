// Renders the window with OpenGL: one Dear ImGui context with its fonts, style and textures, independent of the display
// target.
#pragma once

#include <imgui.h>
#include <set>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/skin.h"
#include "shell/app_state.h"
#include "shell/glyphs.h"
#include "window/damage.h"
#include "window/gl_textures.h"
#include "window/kept_picture.h"

namespace attnscope {

// A part of the current framebuffer from the top row on, opaque, because the window's alpha channel is irrelevant.
std::vector<Color32> read_pixels(int left, int bottom, int width, int height);

class Renderer {
 public:
  // An OpenGL context must be current from here to the destructor.
  explicit Renderer(FontFiles fonts);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Draws one frame into the bound framebuffer, recomputing only what changed; writes it to a picture if one was
  // ordered. `begin` passes size, elapsed time and input to Dear ImGui (like a windowing backend's NewFrame).
  // `content_scale` is the display's; theme, zoom and presentation mode are in `scope`.
  void draw(AppState& scope, float content_scale, const std::function<void()>& begin);

  // The two halves of draw(). A frame that is laid out has taken its input; it may be left undrawn when the next one
  // follows at once, unless a picture of it was ordered: then lay_out() returns false.
  bool lay_out(AppState& scope, float content_scale, const std::function<void()>& begin);
  void draw_laid_out(AppState& scope);

 private:
  void inspect_as_requested(AppState& scope, float content_scale,
                            ThemeName name);  // light for handouts, which are printed
  bool find_glyphs(AppState& scope);
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
  std::set<std::string> named_packages_;  // of missing fonts
  Skin skin_;
  PictureRecorder recorder_;
  std::unique_ptr<GlTextures> textures_;
  std::unique_ptr<KeptPicture> picture_;
  Damage damage_;
  std::optional<PictureOrder> order_;  // of the frame that is laid out
  ImVec2 mouse_{};                     // in that frame
  bool styled_ = false;
};

// Call before EGL or GLX is first used. Debian 13's LibTorch contains an LLVM and exports its symbols
// (LLVMInitializeX86Target and others); Mesa's software renderer has its own LLVM, but would bind to Torch's and crash.
// Does nothing without such a LibTorch or without Mesa.
void keep_gl_drivers_apart_from_torch();

}  // namespace attnscope
