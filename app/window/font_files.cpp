#include "window/font_files.h"

#include <fontconfig/fontconfig.h>

#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "files/storage/file.h"

namespace attnscope {
namespace {

constexpr std::uintmax_t largest_font = 64u << 20;

struct PatternDeleter {
  void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
};
using Pattern = std::unique_ptr<FcPattern, PatternDeleter>;

struct ConfigDeleter {
  void operator()(FcConfig* config) const { FcConfigDestroy(config); }
};
using FontConfig = std::unique_ptr<FcConfig, ConfigDeleter>;

// The file of the family's upright face of that weight; empty if fontconfig substitutes another family.
std::string font_path(FcConfig* config, const char* family, int weight) {
  const Pattern wanted(FcPatternCreate());
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>(family));
  FcPatternAddInteger(wanted.get(), FC_WEIGHT, weight);
  FcPatternAddInteger(wanted.get(), FC_SLANT, FC_SLANT_ROMAN);
  FcPatternAddInteger(wanted.get(), FC_WIDTH, FC_WIDTH_NORMAL);
  FcPatternAddBool(wanted.get(), FC_VARIABLE, FcFalse);  // FreeType would draw a variable font's default instance
  FcConfigSubstitute(config, wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultNoMatch;
  const Pattern found(FcFontMatch(config, wanted.get(), &result));
  if (!found) return {};

  FcChar8* text = nullptr;
  if (FcPatternGetString(found.get(), FC_FAMILY, 0, &text) != FcResultMatch) return {};
  if (FcStrCmpIgnoreCase(text, reinterpret_cast<const FcChar8*>(family)) != 0) return {};
  if (FcPatternGetString(found.get(), FC_FILE, 0, &text) != FcResultMatch) return {};
  return reinterpret_cast<const char*>(text);
}

// The bytes of the first available family.
std::string font_bytes(FcConfig* config, std::initializer_list<const char*> families, int weight) {
  for (const char* family : families) {
    const std::string path = font_path(config, family, weight);
    if (path.empty()) continue;
    try {
      return read_file(path, largest_font);
    } catch (const FileError&) {
      continue;  // fontconfig's cache may name a deleted file
    }
  }
  return {};
}

struct Families {
  std::initializer_list<const char*> ui, mono;
};

FontFiles load(FcConfig* config, const Families& families) {
  FontFiles files;
  files.ui = font_bytes(config, families.ui, FC_WEIGHT_REGULAR);
  files.ui_bold = font_bytes(config, families.ui, FC_WEIGHT_BOLD);
  files.mono = font_bytes(config, families.mono, FC_WEIGHT_REGULAR);
  return files;
}

struct CharSetDeleter {
  void operator()(FcCharSet* set) const { FcCharSetDestroy(set); }
};
using CharSet = std::unique_ptr<FcCharSet, CharSetDeleter>;

// The best font for that glyph according to fontconfig; null: none has it.
Pattern font_with(FcConfig* config, char32_t sign) {
  const CharSet set(FcCharSetCreate());
  FcCharSetAddChar(set.get(), sign);
  const Pattern wanted(FcPatternCreate());
  FcPatternAddCharSet(wanted.get(), FC_CHARSET, set.get());
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("sans-serif"));
  FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  FcPatternAddBool(wanted.get(), FC_COLOR, FcFalse);
  FcConfigSubstitute(config, wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultNoMatch;
  Pattern found(FcFontMatch(config, wanted.get(), &result));
  FcCharSet* has = nullptr;
  const bool usable =
      found && FcPatternGetCharSet(found.get(), FC_CHARSET, 0, &has) == FcResultMatch && FcCharSetHasChar(has, sign);
  return usable ? std::move(found) : nullptr;
}

std::string file_of(const Pattern& font) {
  FcChar8* path = nullptr;
  if (FcPatternGetString(font.get(), FC_FILE, 0, &path) != FcResultMatch) return {};
  try {
    return read_file(reinterpret_cast<const char*>(path), largest_font);
  } catch (const FileError&) {
    return {};
  }
}

// Removes the font's glyphs from `signs`.
ScriptFont taken_from(const Pattern& font, std::set<char32_t>& signs) {
  ScriptFont script{file_of(font), {}};
  FcCharSet* has = nullptr;
  FcPatternGetCharSet(font.get(), FC_CHARSET, 0, &has);
  for (auto sign = signs.begin(); sign != signs.end();) {
    const bool taken = FcCharSetHasChar(has, *sign);
    if (taken) script.ranges.insert(script.ranges.end(), 2, static_cast<ImWchar>(*sign));
    sign = taken ? signs.erase(sign) : std::next(sign);
  }
  script.ranges.push_back(0);
  return script;
}

}  // namespace

const char* font_package(char32_t sign) {
  const bool cjk = (sign >= 0x2E80 && sign <= 0x9FFF) || (sign >= 0xAC00 && sign <= 0xD7FF) ||
                   (sign >= 0xF900 && sign <= 0xFAFF) || (sign >= 0xFF00 && sign <= 0xFFEF);
  return cjk ? "fonts-noto-cjk" : "fonts-noto-core";
}

std::vector<ScriptFont> find_script_fonts(std::set<char32_t> signs, std::set<char32_t>* missing) {
  std::vector<ScriptFont> fonts;
  const FontConfig config(FcInitLoadConfigAndFonts());
  while (config && !signs.empty()) {
    const Pattern font = font_with(config.get(), *signs.begin());
    if (!font) {
      if (missing) missing->insert(*signs.begin());
      signs.erase(signs.begin());
      continue;
    }
    ScriptFont script = taken_from(font, signs);
    if (!script.bytes.empty()) fonts.push_back(std::move(script));
  }
  return fonts;
}

FontFiles find_fonts() {
  const FontConfig config(FcInitLoadConfigAndFonts());
  if (!config) return {};
  FontFiles files = load(config.get(), {{"Inter", "DejaVu Sans"}, {"JetBrains Mono", "DejaVu Sans Mono"}});
  const FontFiles dejavu = find_pinned_fonts();
  if (files.ui != dejavu.ui) files.ui_fallback = dejavu.ui;
  if (files.mono != dejavu.mono) files.mono_fallback = dejavu.mono;
  return files;
}

FontFiles find_pinned_fonts() {
  const FontConfig config(FcInitLoadConfigAndFonts());
  if (!config) return {};
  return load(config.get(), {{"DejaVu Sans"}, {"DejaVu Sans Mono"}});
}

}  // namespace attnscope
