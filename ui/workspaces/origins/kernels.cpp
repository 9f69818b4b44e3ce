#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

void draw_controls(OriginsView& view, const Skin& skin) {
  KernelsView& kernels = view.kernels;
  const std::span<const KernelText> texts = kernel_texts();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto kernel = static_cast<Kernel>(i);
    const std::string help =
        fmt::format("K(u) = {}, u = (x \u2212 x_i)/h. {}", tr(texts[i].formula), tr(texts[i].help));
    if (draw_choice(tr_label(texts[i].title), kernels.kernel == kernel, help, skin)) kernels.kernel = kernel;
  }
  end_choices();
  ImGui::BeginDisabled(kernels.kernel == Kernel::constant);
  draw_slider(
      {tr("width h"),
       tr("How far a key may be and still count. Narrow: the estimate follows single keys and their noise. Wide: all "
          "keys count equally and the curve is flat. The constant kernel has no width. Keys: \u2190 and \u2192."),
       true},
      kernels.width, least_width, most_width, "%.2f", true, skin);
  ImGui::EndDisabled();
  draw_point_controls(view.points, skin);
}

std::string weight_formula(const KernelsView& kernels, double query, double key) {
  const KernelText& text = kernel_texts()[static_cast<std::size_t>(kernels.kernel)];
  if (kernels.kernel == Kernel::constant) return tr("K = 1 for every key: w = 1/n");
  const double u = (query - key) / kernels.width;
  return fmt::format("u = (x \u2212 x_i)/h = {}, K(u) = {} = {:.4f}, w = K / \u03A3 K", number_text(u, 3), text.formula,
                     kernel_value(kernels.kernel, u));
}

void draw_kernel_fit(OriginsView& view, TextureStore& textures, const Skin& skin) {
  const KernelsView& kernels = view.kernels;
  const std::array lines = {
      PlotLine{.name = tr("2 sin x + x"), .series = &kernels.clean, .color = skin.theme.series[2]},
      PlotLine{.name = tr("estimate"), .series = &kernels.estimate, .color = skin.theme.series[0]},
  };
  draw_pooling(view.points,
               {.lines = lines,
                .weights = kernels.fit.weights,
                .version = kernels.version,
                .formula = [&](double query, double key) { return weight_formula(kernels, query, key); },
                .low = &kernels.lower,
                .high = &kernels.upper,
                .average = kernels.average},
               textures, skin);
}

// Colors of the error curves over the width.
Color32 measured_color(const Skin& skin) {
  return skin.theme.series[2];
}
Color32 expected_color(const Skin& skin) {
  return skin.theme.series[0];
}
Color32 bias_color(const Skin& skin) {
  return skin.theme.series[3];
}
Color32 variance_color(const Skin& skin) {
  return skin.theme.series[4];
}

// Draws a number with its name in the color of its line, and an explanation as the tooltip.
void draw_number(const char* name, Color32 color, double value, const char* help, const Skin& skin) {
  const std::string text = std::isfinite(value) ? number_text(value, 3) : tr("none");
  draw_label(skin.fonts.small, color, name, skin);
  help_tooltip(help, skin);
  ImGui::SameLine(0, skin.px(5));
  draw_label(skin.fonts.mono_small, skin.theme.text, text, skin);
  help_tooltip(help, skin);
}

void draw_errors(const KernelsView& kernels, const Skin& skin) {
  const FitError& error = kernels.error;
  draw_number(tr("error on clean points"), measured_color(skin), error.clean,
              tr("Mean over the queries of (estimate \u2212 (2 sin x + x))\u00B2, for these values."), skin);
  draw_number(tr("expected error"), expected_color(skin), error.squared_bias + error.variance,
              tr("bias\u00B2 + variance: the error on average over all draws of the noise, with the keys fixed."),
              skin);
  draw_number(tr("= bias\u00B2"), bias_color(skin), error.squared_bias,
              tr("Mean over the queries of (\u03A3 w_i (2 sin x_i + x_i) \u2212 (2 sin x + x))\u00B2: the error that "
                 "remains without noise. It grows with the width."),
              skin);
  ImGui::SameLine(0, skin.px(5));
  draw_number(tr("+ variance"), variance_color(skin), error.variance,
              tr("Mean over the queries of \u03C3\u00B2 \u03A3 w_i\u00B2, with noise \u03C3: how much the estimate "
                 "varies with the noise. It falls with the width; the faint lines are one standard deviation above and "
                 "below the estimate."),
              skin);
  draw_number(tr("leave-one-out error"), skin.theme.text_dim, kernels.left_out,
              tr("Mean over the points of (y_i \u2212 the estimate from the others)\u00B2: the leave-one-out error, "
                 "which learning the width minimizes. It needs no noise-free points, but includes the noise of y_i."),
              skin);
  if (error.without == 0) return;
  draw_wrapped_label(skin.fonts.small, skin.theme.warning,
                     trf("{} of {} queries have no key within reach and therefore no estimate. Widen the kernel.",
                         error.without, kernels.fit.queries.size()),
                     skin);
}

void draw_sweep(KernelsView& kernels, const Skin& skin) {
  const std::array lines = {
      PlotLine{.name = tr("bias\u00B2"), .series = &kernels.bias, .color = bias_color(skin)},
      PlotLine{.name = tr("variance"), .series = &kernels.variance, .color = variance_color(skin)},
      PlotLine{.name = tr("bias\u00B2 + variance"), .series = &kernels.expected, .color = expected_color(skin)},
      PlotLine{.name = tr("measured"), .series = &kernels.measured, .color = measured_color(skin)},
  };
  kernels.sweep_axis.marker = kernels.width;
  if (kernels.kernel == Kernel::constant) kernels.sweep_axis.marker.reset();
  PlotOptions options;
  options.title = tr("Error by kernel width");
  options.help =
      tr("The same errors for every width, with these points and this kernel. The vertical line is the current width.");
  options.x_label = tr("width h");
  options.legend = false;
  options.over = [&](Painter& paint, const PlotFrame& frame) {
    const std::string_view text = tr("average pooling \u2192");
    const ImVec2 size = text_size(skin.fonts.small, text);
    paint.text(skin.fonts.small, {frame.high.x - size.x - skin.px(4), (frame.low.y + frame.high.y) / 2},
               skin.theme.text_dim, text);
  };
  draw_plot("sweep", lines, {0, 0}, kernels.sweep_axis, kernels.sweep_plot, options, skin);
}

void draw_side(KernelsView& kernels, const Skin& skin) {
  draw_wrapped_label(skin.fonts.ui, skin.theme.text,
                     "\u0177(x) = \u03A3\u1D62 K((x \u2212 x\u1D62)/h) y\u1D62 / \u03A3\u1D62 K((x \u2212 x\u1D62)/h)",
                     skin);
  draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                     tr("Nadaraya and Watson, 1964: the mean of the known values, weighted by distance. x is the "
                        "query, x_i a key, y_i its value."),
                     skin);
  draw_errors(kernels, skin);
  draw_sweep(kernels, skin);
}

}  // namespace

void draw_kernels(WorkspaceContext& context, OriginsView& view) {
  const Skin& skin = context.skin;
  draw_controls(view, skin);
  settle(view.kernels, view.points);
  draw_beside([&] { draw_kernel_fit(view, context.textures, skin); }, [&] { draw_side(view.kernels, skin); }, skin);
}

}  // namespace attnscope
