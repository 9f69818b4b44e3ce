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
#include "base/shaping.h"
#include "shell/export.h"
#include "shell/panels.h"
#include "files/storage/png.h"
#include "widgets/svg.h"
#include "window/font_files.h"

namespace attnscope {
namespace {

// Readable from the last row: no font smaller than 24 pixels at 1920 × 1080, and 20 at 1280 × 720, scaled elsewhere.
float presentation_scale(float content_scale) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float share = std::min(size.x / 1920, size.y / 1080);
  return std::max(content_scale, std::max(share * 24, std::min(share * 30, 20.0F)) / least_projected_type);
}

// Clears `areas` of a framebuffer of that height.
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

// Dear ImGui's default is on.
void smooth_edges(bool on) {
  ImGuiStyle& style = ImGui::GetStyle();
  style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = on;
}

// Encodes that part of the framebuffer as a PNG file.
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
  // OpenGL's first row is the bottom row.
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
  io.IniFilename = nullptr;  // we manage the layout, and nothing is written to the working directory
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
  lay_out(scope, content_scale, begin);
  draw_laid_out(scope);
}

bool Renderer::lay_out(AppState& scope, float content_scale, const std::function<void()>& begin) {
  order_ = next_picture(scope);
  inspect_as_requested(scope, content_scale, order_ && order_->handout ? ThemeName::light : theme_of(scope));
  ImGui_ImplOpenGL3_NewFrame();
  free_uploaded_fonts();
  begin();
  mouse_ = ImGui::GetIO().MousePos;
  if (order_) begin_picture(*order_);
  ImGui::NewFrame();
  draw_shell(scope, *textures_, skin_);
  ImGui::Render();
  return !order_;
}

void Renderer::draw_laid_out(AppState& scope) {
  textures_->upload();
  draw_changes(*ImGui::GetDrawData(), order_.has_value());
  textures_->end_frame();
  if (!order_) return;
  deliver(scope, *order_, end_picture(*order_, scope.exports.area));
  feed_mouse(ImGui::GetIO(), mouse_);
}

// An exported picture needs a complete redraw.
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

// Moves the mouse away: a hovered item would be highlighted, with a tooltip over the picture. In a vector picture
// anti-aliasing is off, because its fringes would become shapes.
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

// Rebuilds fonts and style only if the scale or the theme changed.
void Renderer::inspect_as_requested(AppState& scope, float content_scale, ThemeName name) {
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

// True if the text has glyphs that no loaded font has, and other system fonts provided them. Names the package of a
// missing font once.
bool Renderer::find_glyphs(AppState& scope) {
  if (font_files_.ui.empty()) return false;  // Dear ImGui's own font is not a file to merge with
  const std::set<char32_t> wanted = signs_.new_in(scope, ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup));
  if (wanted.empty()) return shaper().has_new();
  std::set<char32_t> missing;
  std::vector<ScriptFont> found = find_script_fonts(wanted, &missing);
  for (const char32_t sign : missing)
    if (const char* package = font_package(sign); named_packages_.insert(package).second)
      notify(scope, Severity::warning, missing_font_text(sign, package));
  for (ScriptFont& script : found) font_files_.scripts.push_back(std::move(script));
  return !found.empty() || shaper().has_new();
}

#if IMGUI_VERSION_NUM < 19200
void Renderer::make_fonts() {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  const bool has_texture = atlas.TexID != 0;  // the atlas resets it when it is built
  skin_.fonts = add_fonts(atlas, font_files_, skin_.scale, skin_.presentation);
  if (!has_texture) return;  // the first frame creates the first texture
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

// The driver has its own copy of the pixels. With the font files they take fifteen megabytes.
void Renderer::free_uploaded_fonts() {
  ImGui::GetIO().Fonts->ClearInputData();
  ImGui::GetIO().Fonts->ClearTexData();
}
#else  // these versions update the texture themselves and need the pixels
void Renderer::make_fonts() {
  skin_.fonts = add_fonts(*ImGui::GetIO().Fonts, font_files_, skin_.scale, skin_.presentation);
}

void Renderer::free_uploaded_fonts() {}
#endif

// ---- drivers

void keep_gl_drivers_apart_from_torch() {
  if (dlsym(RTLD_DEFAULT, "LLVMInitializeX86Target") == nullptr) return;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int apart = 0;  // memory checkers do not support it
#else
  constexpr int apart = RTLD_DEEPBIND;
#endif
  // Drivers loaded now bind to their own libraries before the program's; later users get the same ones.
  for (const char* driver : {"libGLX_mesa.so.0", "libEGL_mesa.so.0"}) dlopen(driver, RTLD_NOW | apart);
}

}  // namespace attnscope
