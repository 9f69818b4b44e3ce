#include "curves_panel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "widgets/tooltip.h"

namespace attnscope {
namespace {

void same_line_if_room(float width) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  if (ImGui::GetItemRectMax().x + style.ItemSpacing.x + width <= right) ImGui::SameLine();
}

float button_width(const char* label) {
  return ImGui::CalcTextSize(label).x + ImGui::GetStyle().FramePadding.x * 2;
}

// A button that stays lit while it is on. True when it was pressed.
bool draw_toggle(const char* label, bool& on, const Look& look) {
  const Theme& theme = look.theme;
  ImGui::PushStyleColor(ImGuiCol_Button, on ? mixed(theme.raised, theme.accent, 0.4F) : theme.raised);
  ImGui::PushStyleColor(ImGuiCol_Text, on ? theme.text : theme.text_dim);
  const bool pressed = ImGui::Button(label);
  ImGui::PopStyleColor(2);
  if (pressed) on = !on;
  return pressed;
}

constexpr const char* loss_help =
    "How surprised the model is by the next piece. Training: with smoothed labels and dropout, so that it stays well "
    "above 0 even when all is learned (paper §5.4). Validation: the plain negative log-likelihood of pairs it has "
    "never "
    "seen.";

void fit_everything(CurvesView& view) {
  view.axis.window.reset();
  for (PlotView* plot : {&view.loss, &view.learning_rate, &view.gradient_norm, &view.tokens_per_second})
    plot->window.reset();
}

void draw_controls(const Curves& curves, CurvesView& view, const Look& look) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(look.px(5), ImGui::GetStyle().ItemSpacing.y));
  float buttons = 0;
  for (const char* label : {"Log", "Follow", "Fit", "CSV"}) buttons += button_width(label) + look.px(5);
  const float rest = std::clamp(ImGui::GetContentRegionAvail().x - buttons, look.px(44), look.px(160));
  ImGui::SetNextItemWidth(rest);
  ImGui::SliderFloat("##smoothing", &view.smoothing, 0, 0.99F, rest < look.px(84) ? "%.2f" : "smooth %.2f");
  help_tooltip("Weight of the past in the moving averages. 0: the raw lines alone.", look);
  same_line_if_room(button_width("Log"));
  if (draw_toggle("Log", view.loss.log, look)) view.loss.window.reset();
  help_tooltip("Loss on a logarithmic axis.", look);
  same_line_if_room(button_width("Follow"));
  draw_toggle("Follow", view.axis.follow, look);
  help_tooltip("When zoomed in on the newest steps, go along with them.", look);
  same_line_if_room(button_width("Fit"));
  if (ImGui::Button("Fit")) fit_everything(view);
  help_tooltip("Show everything again (also: double-click a plot). Wheel zooms, Shift: steps only, Ctrl: values only.",
               look);
  same_line_if_room(button_width("CSV"));
  if (ImGui::Button("CSV")) ImGui::SetClipboardText(curves_csv(curves).c_str());
  help_tooltip("Copies all series as comma-separated values, a line a step.", look);
  ImGui::PopStyleVar();
}

PlotRange extent(const Curves& curves) {
  const std::array<PlotLine, 2> lines{PlotLine{"", &curves.train_loss}, PlotLine{"", &curves.validation_loss}};
  return fitted_x(lines);
}

}  // namespace

void draw_curves(const Curves& curves, CurvesView& view, const Look& look) {
  draw_controls(curves, view, look);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float spacing = ImGui::GetStyle().ItemSpacing.y;
  const float axis_height = font_size(look.fonts.small) + look.px(6);  // the last plot has the numbers
  const float share = std::max(look.px(44), (room.y - 3 * spacing - axis_height - 1) / 5.2F);
  const auto& color = look.theme.series;
  const PlotRange x = extent(curves);

  const std::array<PlotLine, 2> loss{PlotLine{"train", &curves.train_loss, color[0], view.smoothing},
                                     PlotLine{"validation", &curves.validation_loss, color[1]}};
  draw_plot("loss", loss, {room.x, share * 2.2F}, view.axis, view.loss,
            {.title = "Loss, nats/token", .help = loss_help, .x_numbers = false, .x_data = x}, look);
  const auto single = [&](const char* id, const char* title, const Series& series, Color32 line_color, PlotView& plot,
                          bool noisy, bool last) {
    const PlotLine line{"now", &series, line_color, noisy ? view.smoothing : 0};
    draw_plot(id, {&line, 1}, {room.x, share + (last ? axis_height : 0)}, view.axis, plot,
              {.title = title, .x_numbers = last, .x_data = x}, look);
  };
  single("rate", "Learning rate", curves.learning_rate, color[2], view.learning_rate, false, false);
  single("norm", "Gradient norm", curves.gradient_norm, color[3], view.gradient_norm, true, false);
  single("speed", "Tokens/s", curves.tokens_per_second, color[4], view.tokens_per_second, true, true);
}

std::string curves_csv(const Curves& curves) {
  const std::array<const Series*, 5> series{&curves.train_loss, &curves.validation_loss, &curves.learning_rate,
                                            &curves.gradient_norm, &curves.tokens_per_second};
  std::map<double, std::array<std::string, 5>> rows;  // step → what was measured at it
  for (std::size_t column = 0; column < series.size(); ++column)
    for (std::size_t i = 0; i < series[column]->x.size(); ++i)
      rows[series[column]->x[i]][column] = fmt::format("{}", series[column]->y[i]);
  std::string csv = "step,train_loss,validation_loss,learning_rate,gradient_norm,tokens_per_second\n";
  for (const auto& [step, cells] : rows)
    fmt::format_to(std::back_inserter(csv), "{},{}\n", step, fmt::join(cells, ","));
  return csv;
}

}  // namespace attnscope
