#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/number_field.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/positions/modes.h"

namespace attnscope {
namespace {

void draw_controls(WavelengthsView& view, const Skin& skin) {
  ImGui::AlignTextToFramePadding();
  quiet_words(tr("positions shown"), tr("Number of positions on the axis of the waves. Keys: \u2190 and \u2192."),
              skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(skin.px(160));
  number_slider("##far", view.far, 32, most_far, "%d", ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_Logarithmic,
                skin);
  help_tooltip(tr("It can go far beyond the length limit: the slowest wave takes 62 832 positions per period."), skin);
}

void draw_limit(Painter& paint, ImVec2 from, ImVec2 to, const char* text, ImVec2 at, const Skin& skin) {
  paint.line(from, to, faded(skin.theme.warning, 0.8F), skin.px(1.5F));
  paint.text(skin.fonts.small, at, skin.theme.text_dim, text);
}

void draw_lengths(WavelengthsView& view, ImVec2 size, const Skin& skin) {
  const PlotLine line{.name = tr("wavelength"), .series = &view.lengths, .color = skin.theme.series[0]};
  const std::string limit = trf("length limit {}", view.limit);
  PlotOptions options;
  options.title = tr("Wavelengths, 2\u03C0 \u2026 10000\u00B72\u03C0 positions");
  options.help =
      tr("\u03BB = 2\u03C0 \u00B7 10000^(2i/d) of the sine in dimension 2i and the cosine in 2i + 1 (paper \u00A73.5). "
         "Waves above the limit never complete a period within the allowed length: in a longer sentence they take "
         "values never seen in training.");
  options.x_label = tr("dimension 2i");
  options.legend = false;
  options.over = [&](Painter& paint, const PlotFrame& frame) {
    const float y = frame.y_at(view.limit);
    draw_limit(paint, {frame.low.x, y}, {frame.high.x, y}, limit.c_str(), {frame.low.x + skin.px(6), y - skin.px(16)},
               skin);
  };
  draw_plot("lengths", {&line, 1}, size, view.lengths_axis, view.lengths_plot, options, skin);
}

void draw_waves(WavelengthsView& view, const Skin& skin) {
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < view.waves.size(); ++i)
    lines.push_back({.name = view.wave_names[i], .series = &view.waves[i], .color = skin.theme.series[i]});
  view.waves_axis.marker = view.limit;
  draw_plot("waves", lines, {0, 0}, view.waves_axis, view.waves_plot,
            {.title = tr("Sinusoids by position"),
             .help = tr("sin(pos / 10000^(2i/d)) for some dimensions 2i; the vertical line is the model's length "
                        "limit. Waves too fast to be drawn appear as a band."),
             .x_label = tr("position"),
             .legend_values = false,
             .y_limits = PlotRange{-1.1, 1.1}},
            skin);
}

}  // namespace

void draw_wavelengths(WorkspaceContext& context, PositionsView& positions) {
  const Skin& skin = context.skin;
  WavelengthsView& view = positions.wavelengths;
  if (context.live) {
    view.width = static_cast<int>(context.live->model.d_model);
    view.limit = static_cast<int>(context.live->model.max_length);
  }
  settle(view);
  draw_controls(view, skin);
  const float height = std::floor(ImGui::GetContentRegionAvail().y * 0.45F);
  draw_lengths(view, {0, height}, skin);
  draw_waves(view, skin);
}

}  // namespace attnscope
