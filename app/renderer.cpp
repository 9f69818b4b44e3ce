#include "renderer.h"

#include <GL/gl.h>
#include <backends/imgui_impl_opengl3.h>

#include <stdexcept>
#include <utility>

#include "shell.h"

namespace attnscope {
namespace {

constexpr float presentation_scale = 1.5F;

void clear_framebuffer(const ImDrawData& data, const Theme& theme) {
  glViewport(0, 0, static_cast<GLsizei>(data.DisplaySize.x * data.FramebufferScale.x),
             static_cast<GLsizei>(data.DisplaySize.y * data.FramebufferScale.y));
  const ImVec4 color = ImGui::ColorConvertU32ToFloat4(theme.background);
  glClearColor(color.x, color.y, color.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

}  // namespace

Renderer::Renderer(FontFiles fonts)
    : context_(ImGui::CreateContext()), font_files_(std::move(fonts)), textures_(std::make_unique<GlTextures>()) {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // the layout is ours, and nothing is written into the working directory
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  if (!ImGui_ImplOpenGL3_Init("#version 130")) {
    throw std::runtime_error("OpenGL 3 is needed to draw the window and could not be used");
  }
}

Renderer::~Renderer() {
  textures_.reset();
  ImGui_ImplOpenGL3_Shutdown();
}

void Renderer::draw(Scope& scope, float content_scale, const std::function<void()>& begin) {
  look_as_wanted(scope, content_scale);
  ImGui_ImplOpenGL3_NewFrame();
  begin();
  ImGui::NewFrame();
  draw_shell(scope, *textures_, look_);
  ImGui::Render();
  clear_framebuffer(*ImGui::GetDrawData(), look_.theme);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  textures_->end_frame();
}

// Fonts and style are made anew when the scale or the theme has changed, and only then.
void Renderer::look_as_wanted(const Scope& scope, float content_scale) {
  const float scale = content_scale * scope.layout.zoom * (scope.presentation ? presentation_scale : 1.F);
  const bool resized = !styled_ || scale != look_.scale;
  look_.presentation = scope.presentation;
  if (!resized && look_.theme.name == scope.layout.theme) return;
  look_.theme = theme(scope.layout.theme);
  look_.scale = scale;
  apply_theme(look_.theme, scale);
  if (!resized) return;
  styled_ = true;
  look_.fonts = add_fonts(*ImGui::GetIO().Fonts, font_files_, scale);
#if IMGUI_VERSION_NUM < 19200  // later releases keep the font texture up to date by themselves
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

}  // namespace attnscope
