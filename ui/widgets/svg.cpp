#include "widgets/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "common/base64.h"
#include "files/storage/png.h"

namespace attnscope {
namespace {

constexpr std::size_t most_rects = 128 * 128;  // cells of one picture; more become an image

std::string number(float value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

// `what` is "fill", "stroke" or "stop": the prefix of the color attributes.
std::string colored(std::string_view what, Color32 color) {
  std::string text = fmt::format(" {}{}=\"#{:02x}{:02x}{:02x}\"", what, what == "stop" ? "-color" : "", color & 0xFFU,
                                 color >> 8 & 0xFFU, color >> 16 & 0xFFU);
  const Color32 alpha = color >> 24;
  if (alpha < 255) text += fmt::format(" {}-opacity=\"{:.3f}\"", what, static_cast<float>(alpha) / 255);
  return text;
}

// Length in bytes of the UTF-8 character at the start of `text`, which is not empty; 0 if invalid.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0 ? 2 : (first & 0xF0U) == 0xE0 ? 3 : first < 0xF5 ? 4 : 0;
  if (first < 0xC2 || length == 0 || text.size() < length) return 0;
  std::uint32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return 0;
    code = code << 6 | (byte & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool not_xml = code == 0xFFFE || code == 0xFFFF;
  return code < smallest[length] || code > 0x10FFFF || surrogate || not_xml ? 0 : length;
}

// The font used, with similar fallbacks.
std::string font_attributes(const DrawnText& text) {
  const bool mono = text.face == Typeface::mono;
  std::string family = text.family.empty() ? "" : fmt::format("'{}', ", escaped_xml(text.family));
  family += mono ? "'JetBrains Mono', 'DejaVu Sans Mono', monospace" : "Inter, 'DejaVu Sans', sans-serif";
  return fmt::format("font-family=\"{}\"{}", family, text.face == Typeface::bold ? " font-weight=\"bold\"" : "");
}

bool contains(const PictureArea& outer, const PictureArea& inner) {
  return outer.low.x <= inner.low.x && outer.low.y <= inner.low.y && outer.high.x >= inner.high.x &&
         outer.high.y >= inner.high.y;
}

bool same(const PictureArea& a, const PictureArea& b) {
  return contains(a, b) && contains(b, a);
}

class SvgWriter {
 public:
  SvgWriter(const Capture& capture, Color32 background);

  std::string written() &&;

  void operator()(const DrawnLine& line);
  void operator()(const DrawnRect& rect);
  void operator()(const DrawnGradient& gradient);
  void operator()(const DrawnCircle& circle);
  void operator()(const DrawnText& text);
  void operator()(const DrawnCells& cells);
  void operator()(const DrawnPolygon& polygon);

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  std::string x(float value) const { return number(value - capture_.area.low.x); }
  std::string y(float value) const { return number(value - capture_.area.low.y); }
  std::string box(ImVec2 low, ImVec2 high) const;

  void clip_to(const std::optional<PictureArea>& clip);
  std::size_t clip_number(const PictureArea& clip);
  void add_rects(const DrawnCells& cells);
  void add_image(const DrawnCells& cells);

  const Capture& capture_;
  std::string text_;
  std::optional<PictureArea> clip_;  // of the open group; nullopt: no open group
  std::vector<PictureArea> clips_;   // those that have a clipPath
  int gradients_ = 0;
};

// Returns the clip rectangle if it removes anything inside the picture's own edges.
std::optional<PictureArea> needed_clip(const Drawn& drawn, const PictureArea& area) {
  const std::optional<PictureArea> inked = common_area(bounds(drawn.shape), area);
  if (!inked || contains(drawn.clip, *inked)) return std::nullopt;
  return common_area(drawn.clip, area);
}

SvgWriter::SvgWriter(const Capture& capture, Color32 background) : capture_(capture) {
  const std::string width = number(std::max(0.0F, capture.area.high.x - capture.area.low.x));
  const std::string height = number(std::max(0.0F, capture.area.high.y - capture.area.low.y));
  add("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" "
      "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" xml:space=\"preserve\">\n",
      width, height);
  add("<rect width=\"{}\" height=\"{}\"{}/>\n", width, height, colored("fill", background));
  for (const Drawn& drawn : capture.shapes) {
    clip_to(needed_clip(drawn, capture.area));
    std::visit(*this, drawn.shape);
  }
  clip_to(std::nullopt);
  text_ += "</svg>\n";
}

std::string SvgWriter::written() && {
  return std::move(text_);
}

std::string SvgWriter::box(ImVec2 low, ImVec2 high) const {
  return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", x(low.x), y(low.y), number(high.x - low.x),
                     number(high.y - low.y));
}

// Consecutive shapes with the same clip rectangle share a group.
void SvgWriter::clip_to(const std::optional<PictureArea>& clip) {
  if (clip_.has_value() == clip.has_value() && (!clip || same(*clip, *clip_))) return;
  if (clip_) text_ += "</g>\n";
  clip_ = clip;
  if (clip) add("<g clip-path=\"url(#clip{})\">\n", clip_number(*clip));
}

std::size_t SvgWriter::clip_number(const PictureArea& clip) {
  const auto known = std::find_if(clips_.begin(), clips_.end(), [&](const PictureArea& a) { return same(a, clip); });
  const auto index = static_cast<std::size_t>(known - clips_.begin());
  if (known != clips_.end()) return index;
  clips_.push_back(clip);
  add("<clipPath id=\"clip{}\"><rect {}/></clipPath>\n", index, box(clip.low, clip.high));
  return index;
}

void SvgWriter::operator()(const DrawnLine& line) {
  text_ += "<polyline points=\"";
  for (const ImVec2 at : line.points) add("{}{},{}", text_.ends_with('"') ? "" : " ", x(at.x), y(at.y));
  add("\" fill=\"none\"{} stroke-width=\"{}\" stroke-linejoin=\"round\"/>\n", colored("stroke", line.color),
      number(line.thickness));
}

void SvgWriter::operator()(const DrawnRect& rect) {
  add("<rect {}", box(rect.low, rect.high));
  if (rect.rounding > 0) add(" rx=\"{}\"", number(rect.rounding));
  if (rect.thickness > 0)
    add(" fill=\"none\"{} stroke-width=\"{}\"/>\n", colored("stroke", rect.color), number(rect.thickness));
  else
    add("{}/>\n", colored("fill", rect.color));
}

void SvgWriter::operator()(const DrawnGradient& gradient) {
  const std::string_view axis = gradient.upright ? R"(x1="0" y1="1" x2="0" y2="0")" : R"(x1="0" y1="0" x2="1" y2="0")";
  add("<linearGradient id=\"gradient{}\" {}>", gradients_, axis);
  for (std::size_t i = 0; i < gradient.stops.size(); ++i)
    add("<stop offset=\"{:.4f}\"{}/>", static_cast<float>(i) / static_cast<float>(gradient.stops.size() - 1),
        colored("stop", gradient.stops[i]));
  add("</linearGradient>\n<rect {} fill=\"url(#gradient{})\"/>\n", box(gradient.low, gradient.high), gradients_++);
}

void SvgWriter::operator()(const DrawnCircle& circle) {
  add("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n", x(circle.center.x), y(circle.center.y), number(circle.radius),
      colored("fill", circle.color));
}

void SvgWriter::operator()(const DrawnText& text) {
  add("<text x=\"{}\" y=\"{}\" {} font-size=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"{}",
      x(text.baseline.x), y(text.baseline.y), font_attributes(text), number(text.em), number(text.extent.x),
      colored("fill", text.color));
  if (text.degrees != 0)
    add(" transform=\"rotate({} {} {})\"", number(-text.degrees), x(text.pivot.x), y(text.pivot.y));
  add(">{}</text>\n", escaped_xml(text.text));
}

void SvgWriter::operator()(const DrawnPolygon& polygon) {
  text_ += "<polygon points=\"";
  for (const ImVec2 at : polygon.points) add("{}{},{}", text_.ends_with('"') ? "" : " ", x(at.x), y(at.y));
  add("\"{}/>\n", colored("fill", polygon.color));
}

void SvgWriter::operator()(const DrawnCells& cells) {
  if (cells.colors.size() > most_rects)
    add_image(cells);
  else
    add_rects(cells);
}

// In units of cells, scaled by a transform.
void SvgWriter::add_rects(const DrawnCells& cells) {
  add("<g transform=\"translate({} {}) scale({:.6g} {:.6g})\" shape-rendering=\"crispEdges\">\n", x(cells.low.x),
      y(cells.low.y), (cells.high.x - cells.low.x) / static_cast<float>(cells.cols),
      (cells.high.y - cells.low.y) / static_cast<float>(cells.rows));
  for (int row = 0; row < cells.rows; ++row) {
    const auto begin = cells.colors.begin() + static_cast<std::ptrdiff_t>(row) * cells.cols;
    const auto end = begin + cells.cols;
    for (auto run = begin; run != end;) {
      const auto next = std::find_if(run, end, [&](Color32 color) { return color != *run; });
      add("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"1\"{}/>\n", run - begin, row, next - run,
          colored("fill", *run));
      run = next;
    }
  }
  text_ += "</g>\n";
}

// SVG 1.1 defines optimizeSpeed, browsers pixelated; each uses the last value that it knows.
void SvgWriter::add_image(const DrawnCells& cells) {
  add("<image {} preserveAspectRatio=\"none\" style=\"image-rendering:optimizeSpeed;image-rendering:pixelated\" "
      "xlink:href=\"data:image/png;base64,{}\"/>\n",
      box(cells.low, cells.high), to_base64(encode_png(cells.colors, cells.cols, cells.rows)));
}

}  // namespace

std::string escaped_xml(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const char first = text[0];
    const bool control = static_cast<unsigned char>(first) < 0x20 && first != '\t' && first != '\n';
    if (length == 0 || control)
      result += "\uFFFD";
    else if (first == '&')
      result += "&amp;";
    else if (first == '<')
      result += "&lt;";
    else if (first == '>')
      result += "&gt;";
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return result;
}

std::string to_svg(const Capture& capture, Color32 background) {
  return SvgWriter(capture, background).written();
}

}  // namespace attnscope
