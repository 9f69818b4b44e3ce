#include "window/renderer.h"

#include <GL/gl.h>
#include <backends/imgui_impl_opengl3.h>
#include <dlfcn.h>

#include <algorithm>
#include <cfloat>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/input.h"
#include "shell/export.h"
#include "shell/panels.h"
#include "widgets/png.h"
#include "widgets/svg.h"
#include "window/font_files.h"

namespace attnscope {
namespace {

// To be read from the last row: no type smaller than 24 pixels where the picture is 1920 × 1080, in proportion
// elsewhere.
float presentation_scale(float content_scale) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float share = std::min(size.x / 1920, size.y / 1080);
  return std::max(content_scale, share * 24 / least_projected_type);
}

// `areas` of a framebuffer of that height.
void clear(const std::vector<PixelArea>& areas, int height, const Theme& theme) {
  const ImVec4 color = ImGui::ColorConvertU32ToFloat4(theme.background);
  glClearColor(color.x, color.y, color.z, 1);
  glEnable(GL_SCISSOR_TEST);
  for (const PixelArea& area : areas) {
    glScissor(area.left, height - area.bottom, area.right - area.left, area.bottom - area.top);
    glClear(GL_COLOR_BUFFER_BIT);
  }
  glDisable(GL_SCISSOR_TEST);
}

// Dear ImGui's standard is on.
void smooth_edges(bool on) {
  ImGuiStyle& style = ImGui::GetStyle();
  style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = on;
}

// That part of the framebuffer, as a PNG file.
std::string pixels_of(const PictureArea& area, const ImDrawData& data) {
  const int left = static_cast<int>(area.low.x * data.FramebufferScale.x);
  const int right = static_cast<int>(area.high.x * data.FramebufferScale.x);
  const int top = static_cast<int>(area.low.y * data.FramebufferScale.y);
  const int bottom = static_cast<int>(area.high.y * data.FramebufferScale.y);
  const int full_height = static_cast<int>(data.DisplaySize.y * data.FramebufferScale.y);
  return encode_png(read_pixels(left, full_height - bottom, right - left, bottom - top), right - left, bottom - top);
}

}  // namespace

std::vector<Color32> read_pixels(int left, int bottom, int width, int height) {
  std::vector<Color32> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(left, bottom, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  // OpenGL's first row is the lowest.
  for (int top = 0, low = height - 1; top < low; ++top, --low)
    std::swap_ranges(pixels.begin() + std::ptrdiff_t{top} * width, pixels.begin() + std::ptrdiff_t{top + 1} * width,
                     pixels.begin() + std::ptrdiff_t{low} * width);
  for (Color32& pixel : pixels) pixel |= 0xFF000000U;
  return pixels;
}

Renderer::Renderer(FontFiles fonts)
    : context_(ImGui::CreateContext()),
      font_files_(std::move(fonts)),
      textures_(std::make_unique<GlTextures>()),
      picture_(std::make_unique<KeptPicture>()) {
  ImGuiIO& io = ImGui::GetIO();
  skin_.recorder = &recorder_;
  io.IniFilename = nullptr;  // the layout is ours, and nothing is written into the working directory
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  if (!ImGui_ImplOpenGL3_Init("#version 130")) {
    throw std::runtime_error("the window needs OpenGL 3, which could not be initialized");
  }
}

Renderer::~Renderer() {
  picture_.reset();
  textures_.reset();
  ImGui_ImplOpenGL3_Shutdown();
}

void Renderer::draw(AppState& scope, float content_scale, const std::function<void()>& begin) {
  const std::optional<PictureOrder> order = next_picture(scope);
  inspect_as_requested(scope, content_scale, order && order->handout ? ThemeName::light : theme_of(scope));
  ImGui_ImplOpenGL3_NewFrame();
  free_uploaded_fonts();
  begin();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (order) begin_picture(*order);
  ImGui::NewFrame();
  draw_shell(scope, *textures_, skin_);
  ImGui::Render();
  draw_changes(*ImGui::GetDrawData(), order.has_value());
  textures_->end_frame();
  if (!order) return;
  deliver(scope, *order, end_picture(*order, scope.exports.area));
  feed_mouse(ImGui::GetIO(), mouse);
}

// A picture to be taken away is made of all that is drawn.
void Renderer::draw_changes(ImDrawData& data, bool whole) {
  const int width = static_cast<int>(data.DisplaySize.x * data.FramebufferScale.x);
  const int height = static_cast<int>(data.DisplaySize.y * data.FramebufferScale.y);
  if (width <= 0 || height <= 0) return;
  if (!picture_->begin(width, height) || whole) damage_.forget();
  const std::vector<PixelArea> areas = damage_.since_last(data, textures_->redrawn());
  clear(areas, height, skin_.theme);
  if (!whole) limit_to(data, areas);
  ImGui_ImplOpenGL3_RenderDrawData(&data);
  picture_->show();
}

// Nothing under the mouse: what it points at would be lit, and explained over the picture. A vector picture is made of
// what is drawn, where the fringes that smooth edges are shapes too.
void Renderer::begin_picture(const PictureOrder& order) {
  feed_mouse(ImGui::GetIO(), {-FLT_MAX, -FLT_MAX});
  if (!order.vector) return;
  smooth_edges(false);
  recorder_.begin({{0, 0}, ImGui::GetIO().DisplaySize});
}

std::string Renderer::end_picture(const PictureOrder& order, const PictureArea& workspace) {
  const ImDrawData& data = *ImGui::GetDrawData();
  const PictureArea window{{0, 0}, data.DisplaySize};
  const PictureArea area = order.whole_window ? window : common_area(workspace, window).value_or(window);
  if (!order.vector) return pixels_of(area, data);
  smooth_edges(true);
  return to_svg(cropped(with_all_drawn(recorder_.end(), data, skin_), area), skin_.theme.background);
}

// Fonts and style are made anew when the scale or the theme has changed, and only then.
void Renderer::inspect_as_requested(const AppState& scope, float content_scale, ThemeName name) {
  const float scale = scope.layout.zoom * (scope.presentation ? presentation_scale(content_scale) : content_scale);
  const bool resized = !styled_ || scale != skin_.scale || scope.presentation != skin_.presentation;
  const bool new_glyphs = find_glyphs(scope);
  skin_.presentation = scope.presentation;
  if (!resized && !new_glyphs && skin_.theme.name == name) return;
  damage_.forget();
  skin_.theme = scope.presentation ? projected(theme(name)) : theme(name);
  skin_.scale = scale;
  apply_theme(skin_.theme, scale);
  if (resized || new_glyphs) make_fonts();
  styled_ = true;
}

// True when the text has signs that are in no font yet, and were found in others of the system.
bool Renderer::find_glyphs(const AppState& scope) {
  if (font_files_.ui.empty()) return false;  // Dear ImGui's own font is no file to be merged with
  const std::set<char32_t> missing = signs_.new_in(scope);
  if (missing.empty()) return false;
  std::vector<ScriptFont> found = find_script_fonts(missing);
  for (ScriptFont& script : found) font_files_.scripts.push_back(std::move(script));
  return !found.empty();
}

#if IMGUI_VERSION_NUM < 19200
void Renderer::make_fonts() {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  const bool has_texture = atlas.TexID != 0;  // which the atlas forgets as it is built
  skin_.fonts = add_fonts(atlas, font_files_, skin_.scale, skin_.presentation);
  if (!has_texture) return;  // the first one is made by the first frame
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

// The pixels are the driver's by now. With the fonts' files they are fifteen megabytes.
void Renderer::free_uploaded_fonts() {
  ImGui::GetIO().Fonts->ClearInputData();
  ImGui::GetIO().Fonts->ClearTexData();
}
#else  // these keep the texture up to date by themselves, out of pixels that they keep
void Renderer::make_fonts() {
  skin_.fonts = add_fonts(*ImGui::GetIO().Fonts, font_files_, skin_.scale, skin_.presentation);
}

void Renderer::free_uploaded_fonts() {}
#endif

// ---- drivers

void keep_gl_drivers_apart_from_torch() {
  if (dlsym(RTLD_DEFAULT, "LLVMInitializeX86Target") == nullptr) return;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int apart = 0;  // what watches the memory refuses it
#else
  constexpr int apart = RTLD_DEEPBIND;
#endif
  // Loaded now, the drivers look into their own libraries before the program's; whoever opens them later gets these.
  for (const char* driver : {"libGLX_mesa.so.0", "libEGL_mesa.so.0"}) dlopen(driver, RTLD_NOW | apart);
}

}  // namespace attnscope
