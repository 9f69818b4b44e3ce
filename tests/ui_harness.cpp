#include "ui_harness.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <span>
#include <sstream>
#include <utility>

namespace attnscope {
namespace {

std::string utf8(unsigned code_point) {
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800)
    return {static_cast<char>(0xC0U | code_point >> 6), static_cast<char>(0x80U | (code_point & 0x3FU))};
  return {static_cast<char>(0xE0U | code_point >> 12), static_cast<char>(0x80U | (code_point >> 6 & 0x3FU)),
          static_cast<char>(0x80U | (code_point & 0x3FU))};
}

// Each vertex's clip rectangle.
std::vector<ImVec4> clip_rectangles(const ImDrawList& list) {
  std::vector<ImVec4> clips(static_cast<std::size_t>(list.VtxBuffer.Size));
  for (const ImDrawCmd& command : list.CmdBuffer)
    for (unsigned i = 0; i < command.ElemCount; ++i) {
      const unsigned vertex = command.VtxOffset + list.IdxBuffer[static_cast<int>(command.IdxOffset + i)];
      clips[vertex] = command.ClipRect;
    }
  return clips;
}

std::string without_spaces(std::string_view text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result), [](char c) { return c != ' '; });
  return result;
}

}  // namespace

TexturePart CountingTextures::texture(std::uint64_t key, std::uint64_t version, int width, int height, Sharing,
                                      const Fill& fill) {
  const auto [found, is_new] = pictures.try_emplace(key);
  Picture& picture = found->second;
  if (is_new || picture.version != version || picture.width != width || picture.height != height) {
    picture = {version, width, height,
               std::vector<std::uint32_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height))};
    fill(picture.rgba);
    ++uploads;
  }
  return {(TextureId)(key + 1)};  // a pointer or an integer, by release; never drawn
}

UiHarness::UiHarness(ImVec2 size, ThemeName theme_name, float scale) : context_(ImGui::CreateContext()) {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.DisplaySize = size;
  io.DeltaTime = 1.0F / 60;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigInputTextCursorBlink = false;
  prepare_input(io);
  skin.theme = theme(theme_name);
  skin.scale = scale;
  skin.fonts = add_fonts(*io.Fonts, {}, scale);
  apply_theme(skin.theme, scale);
  unsigned char* pixels = nullptr;
  int width = 0;
  int height = 0;
  io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  for (const ImFont* font : io.Fonts->Fonts)
    for (const ImFontGlyph& glyph : glyphs_of(font))
      if (glyph.Visible) glyph_at_[{glyph.U0, glyph.V0}] = glyph.Codepoint;
  feed_mouse(io, {-1000, -1000});
}

UiHarness::~UiHarness() {
  ImGui::DestroyContext(context_);
}

void UiHarness::frame(const Draw& draw) {
  ImGui::NewFrame();
  draw();
  ImGui::Render();
  textures.end_frame();
  read_glyphs();
}

void UiHarness::frames(int count, const Draw& draw) {
  for (int i = 0; i < count; ++i) frame(draw);
}

UiHarness::Draw UiHarness::in_panel(Draw draw) const {
  return [draw = std::move(draw)] {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("panel", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
    draw();
    ImGui::End();
  };
}

void UiHarness::panel(const Draw& draw) {
  frame(in_panel(draw));
}

void UiHarness::move(ImVec2 position, const Draw& draw) {
  feed_mouse(io(), position);
  frames(2, draw);  // the first finds the window under the mouse
}

void UiHarness::forget_click(const Draw& draw) {
  frames(static_cast<int>(io().MouseDoubleClickTime / io().DeltaTime) + 1, draw);
}

void UiHarness::click(ImVec2 position, const Draw& draw, int button) {
  move(position, draw);
  feed_button(io(), button, true);
  frame(draw);
  feed_button(io(), button, false);
  frames(2, draw);
  forget_click(draw);
}

void UiHarness::double_click(ImVec2 position, const Draw& draw) {
  move(position, draw);
  for (int i = 0; i < 2; ++i) {
    feed_button(io(), 0, true);
    frame(draw);
    feed_button(io(), 0, false);
    frame(draw);
  }
  forget_click(draw);
}

void UiHarness::drag(ImVec2 from, ImVec2 to, const Draw& draw) {
  move(from, draw);
  feed_button(io(), 0, true);
  frame(draw);
  constexpr int steps = 8;
  for (int i = 1; i <= steps; ++i) {
    const float t = static_cast<float>(i) / steps;
    feed_mouse(io(), {from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t});
    frame(draw);
  }
  feed_button(io(), 0, false);
  frames(2, draw);
  forget_click(draw);
}

void UiHarness::wheel(ImVec2 position, float lines, const Draw& draw, Modifiers held) {
  move(position, draw);
  feed_modifiers(io(), held);
  feed_wheel(io(), lines);
  frame(draw);
  feed_modifiers(io(), {});
  frame(draw);
}

void UiHarness::key(Key key, const Draw& draw, Modifiers held) {
  feed_modifiers(io(), held);
  feed_key(io(), key, true);
  frame(draw);
  feed_key(io(), key, false);
  feed_modifiers(io(), {});
  frames(2, draw);
}

void UiHarness::type(std::string_view text, const Draw& draw) {
  feed_text(io(), text);
  frames(2, draw);
}

bool UiHarness::click_text(std::string_view text, const Draw& draw) {
  frame(draw);
  const std::optional<ImVec2> at = find_text(text);
  if (at) click(*at, draw);
  return at.has_value();
}

void UiHarness::read_glyphs() {
  glyphs_.clear();
  const ImDrawData& data = *ImGui::GetDrawData();
  for (const ImDrawList* list : std::span(&data.CmdLists[0], static_cast<std::size_t>(data.CmdListsCount))) {
    const std::vector<ImVec4> clips = clip_rectangles(*list);
    for (int i = 0; i + 3 < list->VtxBuffer.Size; ++i) {
      const ImVec2 uv = list->VtxBuffer[i].uv;
      const auto found = glyph_at_.find({uv.x, uv.y});
      const ImVec2 opposite = list->VtxBuffer[i + 2].uv;
      if (found == glyph_at_.end() || !(opposite.x > uv.x && opposite.y > uv.y)) continue;
      const ImVec2 low = list->VtxBuffer[i].pos;
      const ImVec2 high = list->VtxBuffer[i + 2].pos;
      const ImVec4 clip = clips[static_cast<std::size_t>(i)];
      const ImVec2 middle{(low.x + high.x) / 2, (low.y + high.y) / 2};
      if (middle.x >= clip.x && middle.y >= clip.y && middle.x <= clip.z && middle.y <= clip.w)
        glyphs_.push_back({utf8(found->second), low, high});
      i += 3;
    }
  }
}

std::string UiHarness::drawn_text() const {
  std::string text;
  for (const Glyph& glyph : glyphs_) text += glyph.text;
  return text;
}

std::optional<ImVec2> UiHarness::find_text(std::string_view text, int nth) const {
  const std::string wanted = without_spaces(text);
  if (wanted.empty()) return std::nullopt;
  std::string all;
  std::vector<std::size_t> glyph_of;  // byte → glyph
  for (std::size_t i = 0; i < glyphs_.size(); ++i) {
    all += glyphs_[i].text;
    glyph_of.resize(all.size(), i);
  }
  std::size_t at = all.find(wanted);
  for (; nth > 0 && at != std::string::npos; --nth) at = all.find(wanted, at + 1);
  if (at == std::string::npos) return std::nullopt;
  const Glyph& first = glyphs_[glyph_of[at]];
  const Glyph& last = glyphs_[glyph_of[at + wanted.size() - 1]];
  return ImVec2{(first.low.x + last.high.x) / 2, (first.low.y + last.high.y) / 2};
}

std::string UiHarness::drawn_shapes() const {
  struct Sum {
    int count = 0;
    double x = 0, y = 0;
  };
  std::map<Color32, Sum> by_color;
  const ImDrawData& data = *ImGui::GetDrawData();
  for (const ImDrawList* list : std::span(&data.CmdLists[0], static_cast<std::size_t>(data.CmdListsCount)))
    for (const ImDrawVert& vertex : std::span(list->VtxBuffer.Data, static_cast<std::size_t>(list->VtxBuffer.Size))) {
      Sum& sum = by_color[vertex.col];
      ++sum.count;
      sum.x += static_cast<double>(vertex.pos.x);
      sum.y += static_cast<double>(vertex.pos.y);
    }
  std::ostringstream text;
  for (const auto& [color, sum] : by_color)
    text << std::hex << color << std::dec << ' ' << sum.count << ' ' << std::lround(sum.x / sum.count) << ' '
         << std::lround(sum.y / sum.count) << '\n';
  for (const auto& [key, picture] : textures.pictures) {
    std::uint64_t sum = 0;
    for (const std::uint32_t pixel : picture.rgba) sum = sum * 31 + pixel;
    text << picture.width << 'x' << picture.height << ' ' << sum << '\n';
  }
  return text.str();
}

int UiHarness::vertices() const {
  return ImGui::GetDrawData()->TotalVtxCount;
}

bool UiHarness::filled(ImVec2 position, Color32 color) const {
  const ImDrawData& data = *ImGui::GetDrawData();
  for (const ImDrawList* list : std::span(&data.CmdLists[0], static_cast<std::size_t>(data.CmdListsCount)))
    for (const ImDrawCmd& command : list->CmdBuffer)
      for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
        ImVec2 low{FLT_MAX, FLT_MAX}, high{-FLT_MAX, -FLT_MAX};
        bool same = true;
        for (unsigned k = 0; k < 3; ++k) {
          const unsigned index = command.VtxOffset + list->IdxBuffer[static_cast<int>(command.IdxOffset + i + k)];
          const ImDrawVert& vertex = list->VtxBuffer[static_cast<int>(index)];
          same &= vertex.col == color && !glyph_at_.contains({vertex.uv.x, vertex.uv.y});
          low = {std::min(low.x, vertex.pos.x), std::min(low.y, vertex.pos.y)};
          high = {std::max(high.x, vertex.pos.x), std::max(high.y, vertex.pos.y)};
        }
        if (same && position.x >= low.x && position.y >= low.y && position.x <= high.x && position.y <= high.y)
          return true;
      }
  return false;
}

}  // namespace attnscope
