// Line plots over a common x axis, with conventional mouse controls.
#pragma once

#include <imgui.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/skin.h"
#include "common/series.h"

namespace attnscope {

class Painter;

struct PlotRange {
  double low = 0;
  double high = 1;
  double width() const { return high - low; }
  bool operator==(const PlotRange&) const = default;
};

// The x axis, which stacked plots share together with its crosshair.
struct PlotAxis {
  bool log = false;                      // logarithmic x; all x are positive then
  std::optional<PlotRange> window = {};  // visible range; nullopt: all the data
  bool follow = true;                    // a window that showed the newest point moves along with it
  std::optional<double> crosshair = {};  // x under the mouse, set by the hovered plot
  unsigned crosshair_owner = 0;          // ID of that plot
  double seen_high = 0;                  // the newest x in the last frame, for following
  std::optional<double> marker = {};     // an x that all plots mark
};

// State of a plot that persists between frames.
struct PlotView {
  std::optional<PlotRange> window = {};  // y range; nullopt: all visible values
  bool log = false;                      // logarithmic y; values ≤ 0 are omitted
  std::vector<std::string> hidden = {};  // names of the lines hidden in the legend
};

struct PlotLine {
  std::string_view name;
  const Series* series = nullptr;
  Color32 color = 0;
  double smoothing = 0;  // > 0: a faint raw line behind its exponential moving average (weight of the past, < 1)
  const Series* means = nullptr;  // source of the moving average, if not the series itself
  double bar = 0;                 // > 0: bars from 0 of this width on the x axis instead of a line
  bool marks_gaps = false;        // a mark at the bottom for every value that is NaN or infinite
};

// The mapping of a plot's values to the screen in this frame.
struct PlotFrame {
  ImVec2 low;   // top left corner of the plotting area
  ImVec2 high;  // its bottom right corner
  PlotRange x;
  PlotRange y;
  bool log_x = false;
  bool log = false;  // logarithmic y

  float width() const { return high.x - low.x; }
  float height() const { return high.y - low.y; }
  float x_at(double value) const;
  float y_at(double value) const;
  double x_value(float pixel) const;
  double y_value(float pixel) const;
};

struct PlotOptions {
  std::string_view title = {};
  std::string_view help = {};  // tooltip of the title
  std::string_view x_label = {};
  bool legend = true;                         // false if the lines are named elsewhere
  bool legend_values = true;                  // next to the names: at the crosshair, the marker, or the newest point
  bool x_numbers = true;                      // false if a plot below shows them
  std::span<const std::string> x_names = {};  // at 0, 1, 2 … instead of numbers, as far as there is room
  bool whole_x = false;                       // x is a count: ticks only at integers
  std::optional<PlotRange> x_data = {};       // extent over all plots that share the axis; nullopt: of these lines
  std::optional<PlotRange> y_limits = {};     // y range used when the view has none; nullopt: fit the data
  std::optional<double> best = {};            // an x that is marked “best”
  bool movable = true;                        // false: no zooming or panning; wheel and drag are left to the caller

  // Draws over the lines. The plotting area is then Dear ImGui's last item, so hover and click queries apply to it.
  std::function<void(Painter&, const PlotFrame&)> over = {};
};

// The wheel zooms at the cursor (Shift: x only, Ctrl: y only), a drag pans, a double-click resets. In the legend a
// click toggles a line; a double-click shows only that line, another one shows all.
void draw_plot(const char* id, std::span<const PlotLine> lines, ImVec2 size, PlotAxis& axis, PlotView& view,
               const PlotOptions& options, const Skin& skin);

// ---- scales

// About `count` round numbers (1, 2 or 5 times a power of ten) in the range.
std::vector<double> linear_ticks(PlotRange range, int count);

// The powers of ten in the range; if fewer than two, 1-2-5 in each decade; if fewer than two of those, linear_ticks.
std::vector<double> log_ticks(PlotRange range);

// "0", "0.25", "12", "1.5k", "3M", "1e-05": with enough digits to distinguish ticks `step` apart.
std::string tick_text(double value, double step);

// Scales the range by `factor` (< 1: zooms in) about `fixed`, on a logarithmic axis if `log`.
PlotRange zoomed(PlotRange range, double fixed, double factor, bool log);

// Shifts the range by `share` of its width (on a logarithmic axis: of its decades).
PlotRange panned(PlotRange range, double share, bool log);

// The smallest range that holds all finite values of the lines (positive ones if `log`) whose x is in `x`, with some
// margin; 0…1 (log: 0.1…1) if there are none.
PlotRange fitted_y(std::span<const PlotLine> lines, PlotRange x, bool log);

// From the smallest to the largest x of all lines; 0…1 if there are none.
PlotRange fitted_x(std::span<const PlotLine> lines);

// The visible x range of this frame: all the data, or the view's own window, shifted if it follows and the data grew.
PlotRange shown_x(PlotAxis& axis, PlotRange data);

// Index of the point of `series` closest to `x`; nullopt if it is empty.
std::optional<std::size_t> nearest_point(const Series& series, double x);

void toggle_line(PlotView& view, std::string_view name);
void solo_line(PlotView& view, std::string_view name, std::span<const PlotLine> lines);
bool is_hidden(const PlotView& view, std::string_view name);

}  // namespace attnscope
