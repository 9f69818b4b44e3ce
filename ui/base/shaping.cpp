#include "base/shaping.h"

#include <hb.h>

#include <algorithm>
#include <span>

#include "base/fonts.h"

namespace attnscope {
namespace {

constexpr std::size_t most_runs = 4096, most_glyphs = last_shaped - first_shaped + 1;

// All of these letters have three bytes in UTF-8: U+0900–0FFF, U+1000–109F, U+1780–17FF.
constexpr std::size_t letter_bytes = 3;

bool is_shaped_letter(std::string_view text) {
  if (text.size() < letter_bytes) return false;
  const auto lead = static_cast<unsigned char>(text[0]), next = static_cast<unsigned char>(text[1]);
  return (lead == 0xE0 && next >= 0xA4) || (lead == 0xE1 && (next <= 0x82 || next == 0x9E || next == 0x9F));
}

// Joiners (U+200C, U+200D) belong to the run.
bool continues_run(std::string_view text) {
  return is_shaped_letter(text) || text.starts_with("\u200C") || text.starts_with("\u200D");
}

std::shared_ptr<hb_font_t> open_font(std::string_view bytes) {
  hb_blob_t* blob =
      hb_blob_create(bytes.data(), static_cast<unsigned>(bytes.size()), HB_MEMORY_MODE_READONLY, nullptr, nullptr);
  hb_face_t* face = hb_face_create(blob, 0);
  hb_blob_destroy(blob);
  std::shared_ptr<hb_font_t> font(hb_font_create(face), hb_font_destroy);
  hb_face_destroy(face);
  return font;
}

// The run in that font, from left to right; empty if the font lacks a letter.
std::vector<ShapedGlyph> shape(hb_font_t* font, std::size_t font_index, const std::string& run) {
  const std::unique_ptr<hb_buffer_t, void (*)(hb_buffer_t*)> buffer(hb_buffer_create(), hb_buffer_destroy);
  const auto size = static_cast<int>(run.size());
  hb_buffer_add_utf8(buffer.get(), run.data(), size, 0, size);
  hb_buffer_guess_segment_properties(buffer.get());
  hb_shape(font, buffer.get(), nullptr, 0);
  unsigned count = 0;
  const hb_glyph_info_t* first = hb_buffer_get_glyph_infos(buffer.get(), &count);
  const std::span infos(first, count);
  const hb_glyph_position_t* places = hb_buffer_get_glyph_positions(buffer.get(), nullptr);
  std::vector<ShapedGlyph> glyphs;
  for (std::size_t i = 0; i < count; ++i) {
    if (infos[i].codepoint == 0) return {};
    const bool begins = i == 0 || infos[i].cluster != infos[i - 1].cluster;
    std::size_t next = i + 1;
    while (next < count && infos[next].cluster == infos[i].cluster) ++next;
    const std::size_t end = next < count ? infos[next].cluster : run.size();
    glyphs.push_back({font_index, infos[i].codepoint, places[i].x_offset, places[i].y_offset, places[i].x_advance,
                      begins ? run.substr(infos[i].cluster, end - infos[i].cluster) : ""});
  }
  return glyphs;
}

std::string private_use(std::size_t index) {
  const auto sign = static_cast<unsigned>(first_shaped + index);
  return {static_cast<char>(0xE0U | sign >> 12), static_cast<char>(0x80U | (sign >> 6 & 0x3FU)),
          static_cast<char>(0x80U | (sign & 0x3FU))};
}

}  // namespace

bool needs_shaping(std::string_view text) {
  for (std::size_t at = 0; at + letter_bytes <= text.size(); ++at)
    if (is_shaped_letter(text.substr(at))) return true;
  return false;
}

void Shaper::use(const std::vector<ScriptFont>& fonts) {
  std::vector<std::string_view> bytes;
  for (const ScriptFont& font : fonts) bytes.emplace_back(font.bytes);
  const auto same = [](std::string_view a, std::string_view b) { return a.data() == b.data() && a.size() == b.size(); };
  const bool grown =
      bytes.size() >= bytes_.size() && std::ranges::equal(bytes_, std::span(bytes).first(bytes_.size()), same);
  if (!grown) *this = Shaper();
  for (std::size_t i = fonts_.size(); i < bytes.size(); ++i) fonts_.push_back(open_font(bytes[i]));
  if (bytes.size() != bytes_.size()) std::erase_if(runs_, [](const auto& run) { return run.second.empty(); });
  bytes_ = std::move(bytes);
}

std::string Shaper::shaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && (end == 0 ? is_shaped_letter(text) : continues_run(text.substr(end))))
      end += letter_bytes;
    if (end == 0) {
      result += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::string run(text.substr(0, std::min(end, text.size())));
    text.remove_prefix(run.size());
    const std::vector<std::size_t> indices = glyphs_of(run);
    const bool drawable =
        !indices.empty() && std::ranges::all_of(indices, [&](std::size_t index) { return index < num_loaded_; });
    if (!drawable)
      result += run;
    else
      for (const std::size_t index : indices) result += private_use(index);
  }
  return result;
}

const ShapedGlyph* Shaper::find(char32_t sign) const {
  return sign >= first_shaped && sign - first_shaped < num_loaded_ ? &glyphs_[sign - first_shaped] : nullptr;
}

std::vector<std::size_t> Shaper::glyphs_of(const std::string& run) {
  if (const auto known = runs_.find(run); known != runs_.end()) return known->second;
  std::vector<std::size_t> indices;
  for (std::size_t font = 0; font < fonts_.size() && indices.empty(); ++font)
    for (ShapedGlyph& glyph : shape(fonts_[font].get(), font, run)) indices.push_back(index_of(std::move(glyph)));
  if (std::ranges::any_of(indices, [](std::size_t index) { return index >= most_glyphs; })) indices.clear();
  if (runs_.size() >= most_runs) runs_.clear();
  return runs_[run] = indices;
}

// most_glyphs if there is no room for it.
std::size_t Shaper::index_of(ShapedGlyph glyph) {
  if (const auto known = indices_.find(glyph); known != indices_.end()) return known->second;
  if (glyphs_.size() == most_glyphs) return most_glyphs;
  glyphs_.push_back(glyph);
  return indices_[std::move(glyph)] = glyphs_.size() - 1;
}

Shaper& shaper() {
  static Shaper shaper;
  return shaper;
}

}  // namespace attnscope
