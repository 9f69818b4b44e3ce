// Lines over a common x axis, with the mouse habits people already have.
#pragma once

#include <imgui.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/skin.h"
#include "plain/series.h"

namespace attnscope {

class Painter;

struct PlotRange {
  double low = 0;
  double high = 1;
  double width() const { return high - low; }
  bool operator==(const PlotRange&) const = default;
};

// The x axis; plots stacked over one another share it, and its crosshair.
struct PlotAxis {
  bool log = false;                      // x, all of which are positive then
  std::optional<PlotRange> window = {};  // what is shown; none: all the data
  bool follow = true;                    // a window that showed the newest point goes along with it
  std::optional<double> crosshair = {};  // under the mouse, from the plot that is hovered
  unsigned crosshair_owner = 0;          // that plot
  double seen_high = 0;                  // the newest x of the last frame, to follow it
  std::optional<double> marker = {};     // an x that is marked in all plots
};

// What a plot remembers from frame to frame.
struct PlotView {
  std::optional<PlotRange> window = {};  // y; none: all that is visible
  bool log = false;                      // y; values that are not positive are left out
  std::vector<std::string> hidden = {};  // names of the lines switched off in the legend
};

struct PlotLine {
  std::string_view name;
  const Series* series = nullptr;
  Color32 color = 0;
  double smoothing = 0;  // above 0: the raw line stands faint behind its moving average (weight on the past, below 1)
  const Series* means = nullptr;  // what the moving average is of, where that is not the series
  double bar = 0;                 // above 0: a bar a point, so wide on the x axis, from 0, instead of a line
};

// Where the values of a plot stand on the screen in this frame.
struct PlotFrame {
  ImVec2 low;   // top left corner of the area of lines
  ImVec2 high;  // its bottom right corner
  PlotRange x;
  PlotRange y;
  bool log_x = false;
  bool log = false;  // y

  float width() const { return high.x - low.x; }
  float height() const { return high.y - low.y; }
  float x_at(double value) const;
  float y_at(double value) const;
  double x_value(float pixel) const;
  double y_value(float pixel) const;
};

struct PlotOptions {
  std::string_view title = {};
  std::string_view help = {};  // shown when the title is pointed at
  std::string_view x_label = {};
  bool legend = true;                      // false when somebody else names the lines
  bool legend_values = true;               // beside the names: at the crosshair, the marker, or the newest
  bool x_numbers = true;                   // false when another plot beneath has them
  bool whole_x = false;                    // x counts: ticks at whole numbers alone
  std::optional<PlotRange> x_data = {};    // extent of all plots that share the axis; none: of these lines
  std::optional<PlotRange> y_limits = {};  // shown, instead of fitting, when the view has no window of its own
  bool movable = true;                     // false: wheel and drag are the caller's, and nothing zooms or pans

  // Draws over the lines; the area is then Dear ImGui's last item, whose mouse may be asked for.
  std::function<void(Painter&, const PlotFrame&)> over = {};
};

// Wheel zooms at the cursor (Shift: x only, Ctrl: y only), drag pans, double-click shows everything again. In the
// legend a click switches a line off and on, a double-click shows it alone, another one all.
void draw_plot(const char* id, std::span<const PlotLine> lines, ImVec2 size, PlotAxis& axis, PlotView& view,
               const PlotOptions& options, const Skin& skin);

// ---- what stands behind it

// Round numbers (1, 2 or 5 times a power of ten) in the range, about as many as `count`.
std::vector<double> linear_ticks(PlotRange range, int count);

// The decades in the range; if fewer than two, 1-2-5 of each decade; if fewer than two of those, as linear_ticks.
std::vector<double> log_ticks(PlotRange range);

// "0", "0.25", "12", "1.5k", "3M", "1e-05": enough digits to tell ticks `step` apart.
std::string tick_text(double value, double step);

// The range scaled by `factor` (below 1: closer) with `fixed` staying in its place; of a logarithmic axis when `log`.
PlotRange zoomed(PlotRange range, double fixed, double factor, bool log);

// Moved by that share of its width (on a logarithmic axis: of its decades).
PlotRange panned(PlotRange range, double share, bool log);

// The smallest range with all finite values of the lines (positive ones if `log`) whose x is in `x`, a little air
// around; 0…1 (log: 0.1…1) when there are none.
PlotRange fitted_y(std::span<const PlotLine> lines, PlotRange x, bool log);

// From the first x to the last of all lines; 0…1 when there are none.
PlotRange fitted_x(std::span<const PlotLine> lines);

// The window of this frame: all the data, or the view's own, moved along when it follows and the data grew.
PlotRange shown_x(PlotAxis& axis, PlotRange data);

// Index of the point of `series` nearest to `x`; none if it is empty.
std::optional<std::size_t> nearest_point(const Series& series, double x);

void toggle_line(PlotView& view, std::string_view name);
void solo_line(PlotView& view, std::string_view name, std::span<const PlotLine> lines);
bool is_hidden(const PlotView& view, std::string_view name);

}  // namespace attnscope
