// The window's content on OpenGL: one Dear ImGui context with its fonts, style and textures, whatever it is shown on.
#pragma once

#include <imgui.h>

#include <functional>
#include <memory>
#include <string>

#include "base/skin.h"
#include "gl_textures.h"
#include "shell/scope.h"

namespace attnscope {

class Renderer {
 public:
  // An OpenGL context must be current from here to the destructor.
  explicit Renderer(FontFiles fonts);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Draws one frame into the bound framebuffer; as a picture to be taken away, if one was ordered. `begin` tells Dear
  // ImGui the size, the time passed and the input (what a windowing backend's NewFrame does). `content_scale` is the
  // display's; theme, zoom and presentation are in `scope`.
  void draw(Scope& scope, float content_scale, const std::function<void()>& begin);

 private:
  void look_as_wanted(const Scope& scope, float content_scale);
  void begin_picture(const PictureOrder& order);
  std::string end_picture(const PictureOrder& order, const PictureArea& workspace);

  struct ContextDeleter {
    void operator()(ImGuiContext* context) const { ImGui::DestroyContext(context); }
  };
  std::unique_ptr<ImGuiContext, ContextDeleter> context_;
  FontFiles font_files_;
  Skin skin_;
  PictureRecorder recorder_;
  std::unique_ptr<GlTextures> textures_;
  bool styled_ = false;
};

}  // namespace attnscope
