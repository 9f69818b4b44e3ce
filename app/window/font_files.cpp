#include "window/font_files.h"

#include <fontconfig/fontconfig.h>

#include <initializer_list>
#include <memory>
#include <string>

#include "storage/file.h"

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

// The file of the family's upright face of that weight; empty if fontconfig offers another family in its place.
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

// The bytes of the first family that is there.
std::string font_bytes(FcConfig* config, std::initializer_list<const char*> families, int weight) {
  for (const char* family : families) {
    const std::string path = font_path(config, family, weight);
    if (path.empty()) continue;
    try {
      return read_file(path, largest_font);
    } catch (const FileError&) {
      continue;  // fontconfig's cache may name a file that has gone since
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

}  // namespace

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
