// The window's content on OpenGL: one Dear ImGui context with its fonts, style and textures, whatever it is shown on.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/skin.h"
#include "base/textures.h"
#include "shell/scope.h"
#include "shell/signs.h"
#include "window/damage.h"
#include "window/kept_picture.h"

namespace attnscope {

// Pictures of numbers on the GPU. Needs a current OpenGL context from its construction to its destruction.
class GlTextures : public TextureStore {
 public:
  GlTextures() = default;
  ~GlTextures() override;
  GlTextures(const GlTextures&) = delete;
  GlTextures& operator=(const GlTextures&) = delete;

  TextureId texture(std::uint64_t key, std::uint64_t version, int width, int height, const Fill& fill) override;
  void end_frame() override;

  // The textures that were made or changed in this frame.
  const std::set<TextureId>& redrawn() const { return redrawn_; }

 private:
  struct Entry {
    unsigned name = 0;  // OpenGL's
    std::uint64_t version = 0;
    int width = 0;
    int height = 0;
    std::uint64_t asked = 0;  // the frame that last asked for it
  };

  std::map<std::uint64_t, Entry> entries_;
  std::set<TextureId> redrawn_;
  std::vector<std::uint32_t> pixels_;  // scratch, kept for its memory
  std::uint64_t frame_ = 0;
};

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
  void draw(Scope& scope, float content_scale, const std::function<void()>& begin);

 private:
  void look_as_wanted(const Scope& scope, float content_scale, ThemeName name);  // a handout is for paper: light
  bool find_signs(const Scope& scope);
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
  Signs signs_;
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
