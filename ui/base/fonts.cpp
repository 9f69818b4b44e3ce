#include "base/fonts.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include <imgui_freetype.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "base/drawable_text.h"
#include "base/shaping.h"

namespace attnscope {
namespace {

// First and last code points, ended by 0. The atlas reads them until it is built.
constexpr ImWchar glyph_ranges[] = {
    0x0020, 0x024F,  // Latin, Latin-1, Latin Extended A and B
    0x0300, 0x036F,  // combining accents
    0x0370, 0x03FF,  // Greek
    0x0400, 0x052F,  // Cyrillic
    0x1D40, 0x1D6A,  // ᵀ, ᵢ and similar
    0x1E00, 0x1EFF,  // Latin Extended Additional
    0x2010, 0x203A,  // dashes, quotation marks, dots, guillemets
    0x2070, 0x209F,  // superscripts and subscripts
    0x20AC, 0x20AC,  // €
    0x2122, 0x2122,  // ™
    0x2190, 0x21FF,  // arrows
    0x2200, 0x22FF,  // mathematical operators
    0x23CE, 0x23FF,  // keys; play, pause, step symbols
    0x2580, 0x25FF,  // blocks (SentencePiece's ▁ among them) and shapes
    0x2713, 0x2717,  // ticks and crosses
    0xFFFD, 0xFFFD,  // replacement character
    0,
};

// Dear ImGui's FreeType builder has buffers of 65 536 pixels for a glyph, and draws glyphs that have no room in the
// texture outside of it. Both overwrite memory, so glyphs stay within these limits, which also hold for the textures of
// common drivers. Beyond the largest scale the text stays as it is there.
constexpr float largest_scale = 4;
constexpr std::int64_t largest_glyph = 60'000, widest_glyph = 500;  // pixels
constexpr std::int64_t largest_atlas = 48'000'000;                  // pixels
constexpr std::int64_t own_glyphs = 1200;  // glyph_ranges, as so many glyphs that are as wide as high

float pixels(float size, float scale) {
  return std::round(size * std::min(scale, largest_scale));
}

// An open font file at a size, as Dear ImGui uses it: ascender minus descender have this height.
class Face {
 public:
  Face(const std::string& bytes, float height) {
    if (FT_Init_FreeType(&library_) != 0) return;
    const auto* begin = reinterpret_cast<const FT_Byte*>(bytes.data());
    if (FT_New_Memory_Face(library_, begin, static_cast<FT_Long>(bytes.size()), 0, &face_) != 0) return;
    FT_Size_RequestRec size{FT_SIZE_REQUEST_TYPE_REAL_DIM, 0, static_cast<FT_Long>(height * 64), 0, 0};
    FT_Request_Size(face_, &size);
  }
  ~Face() {
    if (face_) FT_Done_Face(face_);
    if (library_) FT_Done_FreeType(library_);
  }
  Face(const Face&) = delete;
  Face& operator=(const Face&) = delete;

  // Rounded as Dear ImGui does it.
  float ascent() const { return face_ ? static_cast<float>((face_->size->metrics.ascender + 63) / 64) : 0; }
  float in_pixels(int units) const {
    return face_ ? static_cast<float>(FT_MulFix(units, face_->size->metrics.x_scale)) / 64 : 0;
  }

  // Null if the glyph cannot be drawn; valid until the next call.
  const FT_GlyphSlotRec_* drawn(unsigned glyph) const {
    if (!face_ || FT_Load_Glyph(face_, glyph, FT_LOAD_RENDER | FT_LOAD_NO_BITMAP) != 0) return nullptr;
    return face_->glyph->bitmap.pixel_mode == FT_PIXEL_MODE_GRAY ? face_->glyph : nullptr;
  }

  bool fits(ImWchar sign) const {
    const FT_UInt glyph = face_ ? FT_Get_Char_Index(face_, sign) : 0;
    if (glyph == 0 || FT_Load_Glyph(face_, glyph, FT_LOAD_NO_BITMAP | FT_LOAD_NO_HINTING) != 0) return true;  // none
    const std::int64_t width = face_->glyph->metrics.width / 64 + 2, height = face_->glyph->metrics.height / 64 + 2;
    return width <= widest_glyph && width * height <= largest_glyph;
  }

 private:
  FT_Library library_ = nullptr;
  FT_Face face_ = nullptr;
};

// The script's ranges without glyphs that are too large at this height, and at most `room` code points, which are
// taken.
std::vector<ImWchar> fitting_ranges(const ScriptFont& script, float height, std::int64_t& room) {
  const Face face(script.bytes, height);
  std::vector<ImWchar> ranges;
  for (std::size_t i = 0; i + 1 < script.ranges.size(); i += 2)
    for (std::uint32_t sign = script.ranges[i]; sign <= script.ranges[i + 1] && room > 0; ++sign) {
      if (!face.fits(static_cast<ImWchar>(sign))) continue;
      ranges.insert(ranges.end(), 2, static_cast<ImWchar>(sign));
      --room;
    }
  ranges.push_back(0);
  return ranges;
}

ImFont* add_file(ImFontAtlas& atlas, const std::string& bytes, ImFontConfig config) {
  void* copy = ImGui::MemAlloc(bytes.size());  // the atlas frees it
  std::memcpy(copy, bytes.data(), bytes.size());
  ImFont* font =
      atlas.AddFontFromMemoryTTF(copy, static_cast<int>(bytes.size()), config.SizePixels, &config, glyph_ranges);
  if (!font) throw std::runtime_error("the font file cannot be read");
  return font;
}

void merge_script(ImFontAtlas& atlas, const ScriptFont& script, const std::vector<ImWchar>& ranges,
                  ImFontConfig config) {
  if (ranges.size() < 2) return;
  config.FontDataOwnedByAtlas = false;
  void* bytes = const_cast<char*>(script.bytes.data());  // never modified
  if (!atlas.AddFontFromMemoryTTF(bytes, static_cast<int>(script.bytes.size()), config.SizePixels, &config,
                                  ranges.data()))
    throw std::runtime_error("a font file for another script cannot be read");
}

ImFont* add_font(ImFontAtlas& atlas, const std::string& bytes, const std::string& fallback,
                 const std::vector<ScriptFont>& scripts, const std::vector<std::vector<ImWchar>>& ranges, float size) {
  ImFontConfig config;
  config.OversampleH = 1;
  config.PixelSnapH = true;
  config.SizePixels = size;
  ImFont* font = bytes.empty() ? atlas.AddFontDefault(&config) : add_file(atlas, bytes, config);
  config.MergeMode = true;  // adds only the missing glyphs
  if (!fallback.empty()) add_file(atlas, fallback, config);
  for (std::size_t i = 0; i < scripts.size(); ++i) merge_script(atlas, scripts[i], ranges[i], config);
  return font;
}

#if IMGUI_VERSION_NUM < 19200
// The glyphs of shaped text, which Dear ImGui cannot load, because no code point has them. They are reserved before
// the atlas is built and drawn into it afterwards.
class ShapedGlyphs {
 public:
  ShapedGlyphs(ImFontAtlas& atlas, const FontFiles& files) : atlas_(atlas), files_(files) {
    shaper().use(files.scripts);
  }

  void reserve(ImFont* font, const std::string& main_font, float size) {
    if (main_font.empty() || shaper().glyphs().empty()) return;
    const float ascent = Face(main_font, size).ascent();
    std::vector<std::unique_ptr<Face>> faces;
    for (const ScriptFont& script : files_.scripts) faces.push_back(std::make_unique<Face>(script.bytes, size));
    ImWchar sign = first_shaped;
    for (const ShapedGlyph& glyph : shaper().glyphs()) reserve(font, sign++, glyph, *faces[glyph.font], ascent);
  }

  void draw() {
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    if (!pictures_.empty()) atlas_.GetTexDataAsAlpha8(&pixels, &width, &height);
    for (const Picture& picture : pictures_) {
      const ImFontAtlasCustomRect& place = *atlas_.GetCustomRectByIndex(picture.place);
      if (!place.IsPacked()) continue;
      for (int row = 0; row < place.Height; ++row)
        std::copy_n(picture.pixels.begin() + row * place.Width, place.Width,
                    pixels + (place.Y + row) * width + place.X);
    }
    shaper().set_loaded();
  }

 private:
  struct Picture {
    int place;
    std::vector<unsigned char> pixels;
  };

  void reserve(ImFont* font, ImWchar sign, const ShapedGlyph& glyph, const Face& face, float ascent) {
    const FT_GlyphSlotRec_* drawn = face.drawn(glyph.glyph);
    if (!drawn || static_cast<std::int64_t>(drawn->bitmap.width) * drawn->bitmap.rows > largest_glyph) return;
    const int width = std::max(1, static_cast<int>(drawn->bitmap.width));  // a space has no pixels
    const int height = std::max(1, static_cast<int>(drawn->bitmap.rows));
    Picture picture{0, std::vector<unsigned char>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height))};
    for (unsigned row = 0; row < drawn->bitmap.rows; ++row)
      std::copy_n(drawn->bitmap.buffer + static_cast<std::ptrdiff_t>(row) * drawn->bitmap.pitch, drawn->bitmap.width,
                  picture.pixels.begin() + static_cast<std::ptrdiff_t>(row) * width);
    const ImVec2 offset{std::round(static_cast<float>(drawn->bitmap_left) + face.in_pixels(glyph.x)),
                        std::round(ascent - static_cast<float>(drawn->bitmap_top) - face.in_pixels(glyph.y))};
    picture.place =
        atlas_.AddCustomRectFontGlyph(font, sign, width, height, std::round(face.in_pixels(glyph.advance)), offset);
    pictures_.push_back(std::move(picture));
  }

  ImFontAtlas& atlas_;
  const FontFiles& files_;
  std::vector<Picture> pictures_;
};
#endif

struct FaceFacts {
  float em = 1;
  std::string family;
};

// FreeType scales a font so that ascender plus descender equal the height that Dear ImGui asks for.
FaceFacts face_facts(const std::string& bytes) {
  FaceFacts facts;
  if (bytes.empty()) return facts;
  FT_Library library = nullptr;
  if (FT_Init_FreeType(&library) != 0) return facts;
  FT_Face face = nullptr;
  const auto* begin = reinterpret_cast<const FT_Byte*>(bytes.data());
  if (FT_New_Memory_Face(library, begin, static_cast<FT_Long>(bytes.size()), 0, &face) == 0) {
    const int height = face->ascender - face->descender;
    if (height > 0) facts.em = static_cast<float>(face->units_per_EM) / static_cast<float>(height);
    if (face->family_name) facts.family = face->family_name;
    FT_Done_Face(face);
  }
  FT_Done_FreeType(library);
  return facts;
}

}  // namespace

bool is_in_own_fonts(char32_t sign) {
  for (std::size_t i = 0; glyph_ranges[i] != 0; i += 2)
    if (sign >= glyph_ranges[i] && sign <= glyph_ranges[i + 1]) return true;
  return false;
}

Fonts add_fonts(ImFontAtlas& atlas, const FontFiles& files, float scale, bool projected) {
  atlas.Clear();
#if IMGUI_VERSION_NUM >= 19200
  atlas.SetFontLoader(ImGuiFreeType::GetFontLoader());
#else
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
#endif
  Fonts fonts;
  const float small = projected ? least_projected_type : 12;
  std::int64_t em_squares = 0;  // of a glyph in every font
  for (const float size : {15.0F, 15.0F, 26.0F, small, 14.0F, small})
    em_squares += static_cast<std::int64_t>(pixels(size, scale) * pixels(size, scale));
#if IMGUI_VERSION_NUM < 19200
  ShapedGlyphs shaped(atlas, files);
#endif
  std::int64_t room = largest_atlas / em_squares - own_glyphs - std::ssize(shaper().glyphs());
  for (const ScriptFont& script : files.scripts)
    fonts.script_ranges.push_back(fitting_ranges(script, pixels(26, scale), room));
  const auto add = [&](const std::string& file, const std::string& fallback, float size) {
    ImFont* font = add_font(atlas, file, fallback, files.scripts, fonts.script_ranges, pixels(size, scale));
#if IMGUI_VERSION_NUM < 19200
    shaped.reserve(font, file, pixels(size, scale));
#endif
    return font;
  };
  const std::string& bold = files.ui_bold.empty() ? files.ui : files.ui_bold;
  fonts.ui = add(files.ui, files.ui_fallback, 15);  // the first is the default
  fonts.bold = add(bold, files.ui_fallback, 15);
  fonts.large = add(files.ui, files.ui_fallback, 26);
  fonts.small = add(files.ui, files.ui_fallback, small);
  fonts.mono = add(files.mono, files.mono_fallback, 14);
  fonts.mono_small = add(files.mono, files.mono_fallback, small);
#if IMGUI_VERSION_NUM < 19200
  if (!atlas.Build()) throw std::runtime_error("FreeType cannot read one of the font files");
  shaped.draw();
#endif
  const FaceFacts ui = face_facts(files.ui);
  const FaceFacts mono = face_facts(files.mono);
  fonts.ui_em = ui.em;
  fonts.bold_em = face_facts(bold).em;
  fonts.mono_em = mono.em;
  fonts.ui_family = ui.family;
  fonts.mono_family = mono.family;
  return fonts;
}

#if IMGUI_VERSION_NUM >= 19200
float font_size(const ImFont* font) {
  return font->LegacySize;
}
float font_ascent(const ImFont* font) {
  return const_cast<ImFont*>(font)->GetFontBaked(font->LegacySize)->Ascent;
}
std::span<const ImFontGlyph> glyphs_of(const ImFont* font) {
  const ImFontBaked& baked = *const_cast<ImFont*>(font)->GetFontBaked(font->LegacySize);
  return {baked.Glyphs.Data, static_cast<std::size_t>(baked.Glyphs.Size)};
}
bool has_glyph(const ImFont* font, ImWchar sign) {
  return const_cast<ImFont*>(font)->IsGlyphInFont(sign);
}
static const char* wrap_position(const ImFont* font, const char* begin, const char* end, float width) {
  return const_cast<ImFont*>(font)->CalcWordWrapPosition(font->LegacySize, begin, end, width);
}
void push_font(ImFont* font) {
  ImGui::PushFont(font, font->LegacySize);
}
#else
float font_size(const ImFont* font) {
  return font->FontSize;
}
float font_ascent(const ImFont* font) {
  return font->Ascent;
}
std::span<const ImFontGlyph> glyphs_of(const ImFont* font) {
  return {font->Glyphs.Data, static_cast<std::size_t>(font->Glyphs.Size)};
}
bool has_glyph(const ImFont* font, ImWchar sign) {
  return font->FindGlyphNoFallback(sign) != nullptr;
}
static const char* wrap_position(const ImFont* font, const char* begin, const char* end, float width) {
  return font->CalcWordWrapPositionA(1, begin, end, width);
}
void push_font(ImFont* font) {
  ImGui::PushFont(font);
}
#endif

void pop_font() {
  ImGui::PopFont();
}

ImVec2 text_size(const ImFont* font, std::string_view text) {
  if (text.empty()) return {0, font_size(font)};  // Dear ImGui would dereference a null pointer
  // CalcTextSizeA is const only before 1.92.
  const DrawableText drawable(text);
  return const_cast<ImFont*>(font)->CalcTextSizeA(font_size(font), 1e6F, 0, drawable.begin(), drawable.end());
}

static bool is_wide(std::string_view sign) {
  return sign >= "\u2E80" && sign < "\uFF61";
}

// Chinese and Japanese may break between any two characters, except before a closing sign and after an opening one.
static bool may_break(std::string_view before, std::string_view after) {
  constexpr std::string_view closing = "，。：；？！、”）》」…", opening = "“（《「";
  return before == " " || ((is_wide(before) || is_wide(after)) && closing.find(after) == std::string_view::npos &&
                           opening.find(before) == std::string_view::npos);
}

// The same as fitting_in_line for a text that Dear ImGui, which breaks lines at spaces, cannot break well; 0: none.
static std::size_t fitting_wide_characters(const ImFont* font, std::string_view paragraph, float width) {
  std::size_t best = 0;
  std::string_view before;
  bool any = false;
  for (std::size_t at = 0; at < paragraph.size();) {
    std::size_t next = at + 1;
    while (next < paragraph.size() && (static_cast<unsigned char>(paragraph[next]) & 0xC0) == 0x80) ++next;
    const std::string_view sign = paragraph.substr(at, next - at);
    if (!before.empty() && may_break(before, sign)) best = at;
    any |= is_wide(sign);
    if (text_size(font, paragraph.substr(0, next)).x > width) return any ? best : 0;
    before = sign;
    at = next;
  }
  return any ? paragraph.size() : 0;
}

// Returns how many bytes of a paragraph fit into a line. Dear ImGui ends a word at a full stop or comma, even inside a
// number, and treats a number's % as a separate word.
static std::size_t fitting_in_line(const ImFont* font, std::string_view paragraph, float width) {
  const bool may_be_wide = std::ranges::any_of(paragraph, [](char c) { return static_cast<unsigned char>(c) > 0xE2; });
  if (const std::size_t wide = may_be_wide ? fitting_wide_characters(font, paragraph, width) : 0) return wide;
  const char* const end = wrap_position(font, paragraph.data(), paragraph.data() + paragraph.size(), width);
  const auto fitting = static_cast<std::size_t>(end - paragraph.data());
  if (fitting == 0 || fitting == paragraph.size()) return std::max<std::size_t>(1, fitting);
  const char before = paragraph[fitting - 1], after = paragraph[fitting];
  const bool cuts_number = (before == '.' || before == ',') && after >= '0' && after <= '9';
  const std::size_t next = paragraph.find_first_not_of(' ', fitting);
  const bool parts_sign = next != std::string_view::npos && paragraph[next] == '%';
  const std::size_t space =
      cuts_number || parts_sign ? paragraph.substr(0, fitting).rfind(' ') : std::string_view::npos;
  return space == std::string_view::npos || space == 0 ? fitting : space;
}

std::vector<std::string_view> wrapped_lines(const ImFont* font, std::string_view text, float width) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view paragraph = text.substr(0, text.find('\n'));
    lines.push_back(paragraph.substr(0, fitting_in_line(font, paragraph, width)));
    text.remove_prefix(lines.back().size());
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
    if (text.starts_with('\n')) text.remove_prefix(1);
  }
  return lines;
}

void draw_text(ImDrawList& list, ImFont* font, ImVec2 position, ImU32 color, const char* begin, const char* end) {
  const DrawableText drawable(end ? std::string_view(begin, end) : std::string_view(begin));
  list.AddText(font, font_size(font), position, color, drawable.begin(), drawable.end());
}

}  // namespace attnscope
