#include "font_files.h"

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

FontFiles load(std::initializer_list<const char*> text, std::initializer_list<const char*> mono) {
  const FontConfig config(FcInitLoadConfigAndFonts());
  if (!config) return {};
  FontFiles files;
  files.ui = font_bytes(config.get(), text, FC_WEIGHT_REGULAR);
  files.ui_bold = font_bytes(config.get(), text, FC_WEIGHT_BOLD);
  files.mono = font_bytes(config.get(), mono, FC_WEIGHT_REGULAR);
  return files;
}

}  // namespace

FontFiles find_fonts() {
  return load({"Inter", "DejaVu Sans"}, {"JetBrains Mono", "DejaVu Sans Mono"});
}

FontFiles find_pinned_fonts() {
  return load({"DejaVu Sans"}, {"DejaVu Sans Mono"});
}

}  // namespace attnscope
