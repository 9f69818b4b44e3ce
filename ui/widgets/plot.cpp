#include "widgets/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/curves.h"
#include "base/pointed.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/marks.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

// Maps a value to its position on an axis, from 0 to 1, and back.
double share_of(double value, PlotRange range, bool log) {
  return log ? std::log(value / range.low) / std::log(range.high / range.low) : (value - range.low) / range.width();
}

double value_at(double share, PlotRange range, bool log) {
  return log ? range.low * std::pow(range.high / range.low, share) : range.low + range.width() * share;
}

std::vector<PlotLine> visible_lines(std::span<const PlotLine> lines, const PlotView& view) {
  std::vector<PlotLine> visible;
  for (const PlotLine& line : lines)
    if (!is_hidden(view, line.name)) visible.push_back(line);
  return visible;
}

// Formats a value with enough digits to read a curve.
std::string value_text(double value) {
  if (std::abs(value) >= 1e4) return tick_text(value, std::pow(10.0, std::floor(std::log10(std::abs(value))) - 2));
  return fmt::format("{:.4g}", value);
}

// Next to the body, inside the plot.
constexpr float right_margin = 8;  // at scale 1
constexpr float mark_radius = 3.2F;

// Names that would overlap the one before them are left out.
void draw_x_names(const PlotFrame& frame, std::span<const std::string> names, const Skin& skin) {
  ImFont* font = skin.fonts.mono_small;
  const float last = frame.high.x + skin.px(right_margin);
  float free_from = frame.low.x - skin.px(30);
  Painter paint(skin);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const float width = text_size(font, names[i]).x, x = frame.x_at(static_cast<double>(i)) - width / 2;
    if (x < free_from || x + width > last) continue;
    paint.text(font, {x, frame.high.y + skin.px(3)}, skin.theme.text_dim, names[i]);
    free_from = x + width + skin.px(6);
  }
}

// Ticks of a narrow logarithmic axis are evenly spaced, and need as many digits as their distance.
double log_tick_step(const std::vector<double>& ticks, double tick) {
  return ticks.size() > 1 && ticks[1] < 1.5 * ticks[0] ? ticks[1] - ticks[0] : tick;
}

void draw_axes(const PlotFrame& frame, const PlotOptions& options, const Skin& skin) {
  Painter paint(skin);
  ImFont* font = skin.fonts.small;
  const float line = font_size(font);
  paint.filled_rect(frame.low, frame.high, skin.theme.background, skin.px(2));
  const int y_count = std::max(1, static_cast<int>(frame.height() / (line * 2.6F)));
  const std::vector<double> y_ticks = frame.log ? log_ticks(frame.y) : linear_ticks(frame.y, y_count);
  const double y_step = y_ticks.size() > 1 ? y_ticks[1] - y_ticks[0] : frame.y.width();
  for (const double tick : y_ticks) {
    const float y = frame.y_at(tick);
    paint.line({frame.low.x, y}, {frame.high.x, y}, skin.theme.grid);
    const std::string text = tick_text(tick, frame.log ? log_tick_step(y_ticks, tick) : y_step);
    const float x = frame.low.x - skin.px(5) - text_size(font, text).x;
    paint.text(font, {x, y - line / 2}, skin.theme.text_dim, text);
  }
  const int x_count = std::max(1, static_cast<int>(frame.width() / skin.px(70)));
  std::vector<double> x_ticks = frame.log_x ? log_ticks(frame.x) : linear_ticks(frame.x, x_count);
  if (options.whole_x) std::erase_if(x_ticks, [](double tick) { return tick != std::floor(tick); });
  const double x_step = x_ticks.size() > 1 ? x_ticks[1] - x_ticks[0] : frame.x.width();
  for (const double tick : x_ticks) {
    const float x = frame.x_at(tick);
    paint.line({x, frame.low.y}, {x, frame.high.y}, skin.theme.grid);
    if (!options.x_numbers || !options.x_names.empty()) continue;
    const std::string text = tick_text(tick, frame.log_x ? log_tick_step(x_ticks, tick) : x_step);
    const float width = text_size(font, text).x;
    const float last = frame.high.x + skin.px(right_margin) - width;  // past this the number would be clipped
    paint.text(font, {std::min(x - width / 2, last), frame.high.y + skin.px(2)}, skin.theme.text_dim, text);
  }
  draw_x_names(frame, options.x_names, skin);
  if (!options.x_label.empty()) {
    const float width = text_size(font, options.x_label).x;
    paint.text(font, {frame.high.x - width, frame.high.y + skin.px(4) + line}, skin.theme.text_dim, options.x_label);
  }
}

// The points of few: dots, or the marks of their line where there are others.
enum class Points { hidden, dots, marks };

// Draws one contiguous segment.
void draw_stretch(const std::vector<ImVec2>& points, Color32 color, float thickness, Points shown, const Skin& skin) {
  Painter paint(skin);
  const bool dense =
      points.size() > 2 && (points.back().x - points.front().x) < skin.px(2) * static_cast<float>(points.size());
  paint.polyline(points, color, thickness, dense ? Joints::apart : Joints::mitred);
  if (shown == Points::hidden && points.size() > 1) return;
  for (const ImVec2 at : points) {
    if (shown == Points::marks)
      draw_mark(paint, at, skin.px(mark_radius), color, skin);
    else
      paint.filled_circle(at, skin.px(2.5F), color, 8);
  }
}

void draw_series(const PlotFrame& frame, const Series& series, Color32 color, float thickness, bool marked,
                 const Skin& skin) {
  const Series points = thinned(series, frame.x.low, frame.x.high, std::max(2, static_cast<int>(frame.width())));
  const bool few = static_cast<float>(points.x.size()) < frame.width() / skin.px(14);
  const Points shown = !few ? Points::hidden : marked ? Points::marks : Points::dots;
  std::vector<ImVec2> stretch;
  stretch.reserve(points.x.size());
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    const double y = points.y[i];
    if (std::isfinite(y) && (!frame.log || y > 0)) {
      stretch.push_back({frame.x_at(points.x[i]), frame.y_at(y)});
      continue;
    }
    draw_stretch(stretch, color, thickness, shown, skin);
    stretch.clear();
  }
  draw_stretch(stretch, color, thickness, shown, skin);
}

// Marks along a line, apart from those of other lines that it may lie on.
void draw_marks(const PlotFrame& frame, const Series& series, std::size_t index, Color32 color, const Skin& skin) {
  Painter paint(skin);
  std::optional<std::size_t> last;
  for (float x = frame.low.x + skin.px(8 + 20 * static_cast<float>(index % 4)); x < frame.high.x; x += skin.px(80)) {
    const std::optional<std::size_t> point = nearest_point(series, frame.x_value(x));
    if (!point || point == std::exchange(last, point)) continue;
    if (!std::isfinite(series.y[*point]) || (frame.log && series.y[*point] <= 0)) continue;
    draw_mark(paint, {frame.x_at(series.x[*point]), frame.y_at(series.y[*point])}, skin.px(mark_radius), color, skin);
  }
}

// A gap of one step would be invisible.
void draw_gaps(const PlotFrame& frame, const Series& series, const Skin& skin) {
  Painter paint(skin);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const float x = frame.x_at(series.x[i]);
    if (!std::isfinite(series.y[i]))
      paint.line({x, frame.high.y}, {x, frame.high.y - skin.px(7)}, skin.theme.error, skin.px(1.5F));
  }
}

void draw_bars(const PlotFrame& frame, const Series& series, double wide, Color32 color, const Skin& skin) {
  Painter paint(skin);
  const float base = frame.y_at(frame.log ? frame.y.low : 0);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isfinite(series.y[i]) || (frame.log && series.y[i] <= 0)) continue;
    const float left = frame.x_at(series.x[i] - wide / 2), right = frame.x_at(series.x[i] + wide / 2);
    const float gap = std::min(skin.px(1), (right - left) / 4);
    const float y = frame.y_at(series.y[i]);
    paint.filled_rect({left + gap, std::min(y, base)}, {right - gap, std::max(y, base)}, color);
  }
}

void draw_lines(const PlotFrame& frame, std::span<const PlotLine> lines, const Skin& skin) {
  Painter paint(skin);
  paint.push_clip(frame.low, frame.high);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const PlotLine& line = lines[i];
    if (line.bar > 0) {
      draw_bars(frame, *line.series, line.bar, line.color, skin);
      continue;
    }
    const bool smooth = line.smoothing > 0;
    if (line.marks_gaps) draw_gaps(frame, *line.series, skin);
    const bool marked = lines.size() > 1;
    draw_series(frame, *line.series, smooth ? faded(line.color, 0.3F) : line.color, skin.px(smooth ? 1.0F : 1.6F),
                marked && !smooth, skin);
    if (!smooth && marked) draw_marks(frame, *line.series, i, line.color, skin);
    if (!smooth) continue;
    const Series& means = line.means ? *line.means : *line.series;
    const Series curve{means.x, smoothed(means, line.smoothing)};
    draw_series(frame, curve, line.color, skin.px(1.8F), marked, skin);
    if (marked) draw_marks(frame, curve, i, line.color, skin);
  }
  paint.pop_clip();
}

// A line with its name at the top, on the side that has room for it.
void draw_best(const PlotFrame& frame, const std::optional<double>& best, const Skin& skin) {
  if (!best || *best < frame.x.low || *best > frame.x.high) return;
  Painter paint(skin);
  const float x = frame.x_at(*best), gap = skin.px(4);
  const char* name = tr("best");
  const float width = text_size(skin.fonts.small, name).x;
  const float left = x + gap + width < frame.high.x ? x + gap : x - gap - width;
  paint.push_clip(frame.low, frame.high);
  paint.line({x, frame.low.y}, {x, frame.high.y}, faded(skin.theme.text_dim, 0.6F));
  paint.text(skin.fonts.small, {left, frame.low.y + skin.px(2)}, skin.theme.text_dim, name);
  paint.pop_clip();
}

void draw_marker(const PlotFrame& frame, const PlotAxis& axis, const Skin& skin) {
  if (!axis.marker || *axis.marker < frame.x.low || *axis.marker > frame.x.high) return;
  const float x = frame.x_at(*axis.marker);
  Painter(skin).line({x, frame.low.y}, {x, frame.high.y}, skin.theme.warning, skin.px(1.5F));
}

void zoom_and_pan(const PlotFrame& frame, PlotAxis& axis, PlotView& view) {
  const ImGuiIO& io = ImGui::GetIO();
  const float wheel = io.MouseWheel != 0 ? io.MouseWheel : io.MouseWheelH;  // Shift may make the wheel horizontal
  if (ImGui::IsItemHovered() && wheel != 0) {
    const double factor = std::pow(0.85, static_cast<double>(wheel));
    if (!io.KeyCtrl) axis.window = zoomed(frame.x, frame.x_value(io.MousePos.x), factor, frame.log_x);
    if (!io.KeyShift) view.window = zoomed(frame.y, frame.y_value(io.MousePos.y), factor, frame.log);
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    if (io.MouseDelta.x != 0)
      axis.window = panned(frame.x, static_cast<double>(-io.MouseDelta.x / frame.width()), frame.log_x);
    if (io.MouseDelta.y != 0)
      view.window = panned(frame.y, static_cast<double>(io.MouseDelta.y / frame.height()), frame.log);
  }
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    axis.window.reset();
    view.window.reset();
  }
}

// The values at that x, one line of text per plotted line.
Pointed pointed_values(std::span<const PlotLine> lines, double x, const PlotOptions& options) {
  Pointed pointed{.thing = HoverTarget::plot, .name = std::string(options.title), .about = std::string(options.title)};
  pointed.help = options.help;
  for (const PlotLine& line : lines)
    if (const auto point = nearest_point(*line.series, x))
      pointed.value += fmt::format("{}{} {:.6g}: {:.6g}", pointed.value.empty() ? "" : "\n", line.name,
                                   line.series->x[*point], line.series->y[*point]);
  return pointed;
}

void values_tooltip(std::span<const PlotLine> lines, double x, const PlotOptions& options, const Skin& skin) {
  ImGui::BeginTooltip();
  const std::string label(options.x_label.empty() ? tr("step") : options.x_label);
  std::optional<double> heading;
  for (const PlotLine& line : lines) {
    const std::optional<std::size_t> point = nearest_point(*line.series, x);
    if (!point) continue;
    const double measured_at = line.series->x[*point];
    const std::string place = fmt::format("{} {:.6g}", label, measured_at);
    if (!heading) ImGui::TextDisabled("%s", place.c_str());
    if (!heading) heading = measured_at;
    colored_text(line.color, "—");
    ImGui::SameLine(0, skin.px(4));
    plain_text(line.name);
    ImGui::SameLine();
    {
      const WithFont mono(skin.fonts.mono);
      ImGui::Text("%s", fmt::format("{:.6g}", line.series->y[*point]).c_str());
    }
    if (measured_at == *heading) continue;
    ImGui::SameLine();
    ImGui::TextDisabled("(%s)", place.c_str());
  }
  ImGui::EndTooltip();
}

void draw_crosshair(const PlotFrame& frame, std::span<const PlotLine> lines, PlotAxis& axis, const PlotOptions& options,
                    const Skin& skin) {
  const ImGuiID self = ImGui::GetID("area");
  if (ImGui::IsItemHovered()) {
    axis.crosshair = frame.x_value(ImGui::GetIO().MousePos.x);
    axis.crosshair_owner = self;
    if (!options.over) point_at(pointed_values(lines, *axis.crosshair, options));
  } else if (axis.crosshair_owner == self) {
    axis.crosshair.reset();
    axis.crosshair_owner = 0;
  }
  if (!axis.crosshair || *axis.crosshair < frame.x.low || *axis.crosshair > frame.x.high) return;
  Painter paint(skin);
  const float x = frame.x_at(*axis.crosshair);
  paint.push_clip(frame.low, frame.high);
  paint.line({x, frame.low.y}, {x, frame.high.y}, faded(skin.theme.text, 0.5F));
  for (const PlotLine& line : lines) {
    const std::optional<std::size_t> point = nearest_point(*line.series, *axis.crosshair);
    if (!point || !std::isfinite(line.series->y[*point]) || (frame.log && line.series->y[*point] <= 0)) continue;
    const ImVec2 at{frame.x_at(line.series->x[*point]), frame.y_at(line.series->y[*point])};
    paint.filled_circle(at, skin.px(3), line.color);
  }
  paint.pop_clip();
  if (axis.crosshair_owner == self && !lines.empty()) values_tooltip(lines, *axis.crosshair, options, skin);
}

// The value next to a name in the legend: at the crosshair, at the marker, or the newest.
std::string legend_value(const PlotLine& line, const PlotAxis& axis) {
  const Series& series = *line.series;
  if (series.y.empty()) return "";
  const std::optional<double> x = axis.crosshair ? axis.crosshair : axis.marker;
  const std::optional<std::size_t> point = x ? nearest_point(series, *x) : std::optional(series.y.size() - 1);
  return value_text(series.y[*point]);
}

void draw_legend_entry(const PlotLine& line, bool marked, bool hidden, ImVec2 at, const std::string& value,
                       const Skin& skin) {
  Painter paint(skin);
  ImFont* font = skin.fonts.small;
  const float height = font_size(font);
  const Color32 ink = hidden ? faded(skin.theme.text_dim, 0.5F) : skin.theme.text_dim;
  paint.filled_rect({at.x, at.y + height * 0.42F}, {at.x + skin.px(10), at.y + height * 0.42F + skin.px(3)},
                    hidden ? faded(line.color, 0.25F) : line.color, skin.px(1.5F));
  if (marked)
    draw_mark(paint, {at.x + skin.px(5), at.y + height * 0.42F + skin.px(1.5F)}, skin.px(mark_radius),
              hidden ? faded(line.color, 0.25F) : line.color, skin);
  const float x = at.x + skin.px(14);
  paint.text(font, {x, at.y}, ink, line.name);
  const float name_width = text_size(font, line.name).x;
  paint.text(font, {x + name_width + skin.px(5), at.y}, hidden ? ink : skin.theme.text, value);
}

// Positions of the legend's entries, relative to the plot's top left corner.
struct Legend {
  struct Entry {
    std::size_t line;
    ImVec2 at;
    float width;
    std::string value;
  };
  std::vector<Entry> entries;
  float below = 0;  // height of separate rows, if not all fit next to the title
};

float legend_line(const Skin& skin) {
  return font_size(skin.fonts.small) + skin.px(3);
}

// Places entries right of the title, as many as fit, the first first: the last ends at the right edge.
void place_beside_title(Legend& legend, float left, float right, float gap) {
  float used = -gap;
  std::size_t kept = 0;
  for (; kept < legend.entries.size() && used + gap + legend.entries[kept].width <= right - left; ++kept)
    used += gap + legend.entries[kept].width;
  legend.entries.resize(kept);
  float x = right - used;
  for (Legend::Entry& entry : legend.entries) {
    entry.at = {x, 0};
    x += entry.width + gap;
  }
}

// Places entries in rows below the title.
void place_below_title(Legend& legend, float right, float gap, const Skin& skin) {
  ImVec2 at{0, legend_line(skin) + skin.px(2)};
  for (Legend::Entry& entry : legend.entries) {
    if (at.x > 0 && at.x + entry.width > right) at = {0, at.y + legend_line(skin)};
    entry.at = at;
    at.x += entry.width + gap;
  }
  legend.below = at.y;
}

// `size` is the size of the plot.
Legend placed_legend(std::span<const PlotLine> lines, ImVec2 size, const PlotAxis& axis, const PlotOptions& options,
                     const Skin& skin) {
  Legend legend;
  if (!options.legend) return legend;
  ImFont* font = skin.fonts.small;
  const float gap = skin.px(12), right = size.x - skin.px(right_margin);
  const float left = text_size(font, options.title).x + skin.px(10);
  float all = -gap;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string value = options.legend_values ? legend_value(lines[i], axis) : "";
    const float width = skin.px(19) + text_size(font, lines[i].name).x + text_size(font, value).x;
    // Reserves room, because a value may change with every mouse move and the layout must not jump.
    const float steady = options.legend_values ? skin.px(44) - text_size(font, value).x : 0;
    all += width + steady + gap;
    legend.entries.push_back({i, {}, width, std::move(value)});
  }
  const float rows = std::ceil(all / std::max(1.0F, right)) * legend_line(skin);
  const bool has_height = rows < 0.2F * size.y;  // otherwise the lines get the room
  if (all > right - left && has_height)
    place_below_title(legend, right, gap, skin);
  else
    place_beside_title(legend, left, right, gap);
  return legend;
}

void draw_plot_legend(std::span<const PlotLine> lines, const Legend& legend, ImVec2 origin, PlotView& view,
                      const Skin& skin) {
  for (const Legend::Entry& entry : legend.entries) {
    const PlotLine& line = lines[entry.line];
    const ImVec2 at{origin.x + entry.at.x, origin.y + entry.at.y};
    ImGui::PushID(line.name.data(), line.name.data() + line.name.size());
    ImGui::SetCursorScreenPos(at);
    const bool hidden = is_hidden(view, line.name);
    const bool pressed = ImGui::InvisibleButton("line", {entry.width, legend_line(skin)});
    const bool by_key = pressed && !ImGui::IsMouseReleased(ImGuiMouseButton_Left);
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
      solo_line(view, line.name, lines);
    else if (ImGui::IsItemClicked() || by_key)
      toggle_line(view, line.name);
    draw_legend_entry(line, lines.size() > 1 && line.bar == 0, hidden, at, entry.value, skin);
    ImGui::PopID();
  }
}

bool has_points(std::span<const PlotLine> lines) {
  return std::any_of(lines.begin(), lines.end(), [](const PlotLine& line) { return !line.series->x.empty(); });
}

// `legend`: the height of its separate rows.
PlotFrame make_frame(ImVec2 origin, ImVec2 size, float legend, std::span<const PlotLine> lines, PlotAxis& axis,
                     const PlotView& view, const PlotOptions& options, const Skin& skin) {
  const float line = font_size(skin.fonts.small);
  const float gutter = skin.px(skin.presentation ? 54.0F : 44.0F);
  const float top = font_size(skin.fonts.small) + skin.px(7) + legend;
  const float bottom =
      (options.x_numbers ? line + skin.px(4) : skin.px(2)) + (options.x_label.empty() ? 0 : line + skin.px(2));
  PlotFrame frame;
  frame.low = {origin.x + gutter, origin.y + top};
  frame.high = {std::max(frame.low.x + 1, origin.x + size.x - skin.px(right_margin)),
                std::max(frame.low.y + 1, origin.y + size.y - bottom)};
  frame.log_x = axis.log;
  frame.log = view.log;
  frame.x = shown_x(axis, options.x_data.value_or(fitted_x(lines)));
  frame.y = view.window.value_or(options.y_limits.value_or(fitted_y(lines, frame.x, view.log)));
  if (frame.log && frame.y.low <= 0) frame.y = fitted_y(lines, frame.x, true);
  return frame;
}

}  // namespace

float PlotFrame::x_at(double value) const {
  return low.x + static_cast<float>(share_of(value, x, log_x)) * width();
}

float PlotFrame::y_at(double value) const {
  return high.y - static_cast<float>(clamped(share_of(value, y, log), -10.0, 11.0)) * height();
}

double PlotFrame::x_value(float pixel) const {
  return value_at(static_cast<double>((pixel - low.x) / width()), x, log_x);
}

double PlotFrame::y_value(float pixel) const {
  return value_at(static_cast<double>((high.y - pixel) / height()), y, log);
}

void draw_plot(const char* id, std::span<const PlotLine> lines, ImVec2 size, PlotAxis& axis, PlotView& view,
               const PlotOptions& options, const Skin& skin) {
  const ImVec2 region = ImGui::GetContentRegionAvail();
  size = {std::max(skin.px(60), size.x > 0 ? size.x : region.x + size.x),
          std::max(skin.px(40), size.y > 0 ? size.y : region.y + size.y)};
  ImGui::PushID(id);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  Painter paint(skin);
  const std::vector<PlotLine> visible = visible_lines(lines, view);
  const Legend legend = placed_legend(lines, size, axis, options, skin);
  const PlotFrame frame = make_frame(origin, size, legend.below, visible, axis, view, options, skin);

  paint.text(skin.fonts.small, origin, skin.theme.text, options.title);
  const float title_width = text_size(skin.fonts.small, options.title).x;
  if (!options.help.empty()) {
    ImGui::Dummy({title_width, font_size(skin.fonts.small)});
    help_tooltip(options.help, skin, options.title);
  }
  draw_plot_legend(lines, legend, origin, view, skin);
  if (has_points(visible) || options.over) {
    draw_axes(frame, options, skin);
    draw_lines(frame, visible, skin);
    draw_marker(frame, axis, skin);
    draw_best(frame, options.best, skin);
    paint.rect(frame.low, frame.high, skin.theme.border, skin.px(2));
    ImGui::SetCursorScreenPos(frame.low);
    ImGui::InvisibleButton("area", {frame.width(), frame.height()});
    if (options.movable) zoom_and_pan(frame, axis, view);
    if (options.over) {
      paint.push_clip(frame.low, frame.high);
      options.over(paint, frame);
      paint.pop_clip();
    }
    draw_crosshair(frame, visible, axis, options, skin);
  } else {
    paint.filled_rect(frame.low, frame.high, skin.theme.background, skin.px(2));
    paint.rect(frame.low, frame.high, skin.theme.border, skin.px(2));
    ImGui::SetCursorScreenPos(frame.low);
    draw_quiet_note(has_points(lines) ? tr("all curves are hidden") : tr("no measurements yet"),
                    {frame.width(), frame.height()}, skin);
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);
  ImGui::PopID();
}

}  // namespace attnscope
