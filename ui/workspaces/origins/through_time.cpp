// Backpropagation through time: the gradient of one generated token's loss with respect to all previous inputs, and by
// layer.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/view.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

std::vector<std::string> tokens_per_row(const PassGradients& pass) {
  std::vector<std::string> tokens = pass.encoder.tokens;
  tokens.insert(tokens.end(), pass.decoder.tokens.begin(), pass.decoder.tokens.end());
  return tokens;
}

// The height of the output tokens: at most two lines, which scroll, because an untrained model generates up to its
// limit.
float outputs_height(const GradientsView& view, const Skin& skin) {
  float width = 0;
  if (view.inspection)
    for (const std::string& token : view.inspection->written)
      width += ImGui::CalcTextSize(std::string(without_mark(token)).c_str()).x + 2 * ImGui::GetStyle().FramePadding.x +
               skin.px(4);
  const float lines = width > ImGui::GetContentRegionAvail().x ? 2 : 1;
  return lines * ImGui::GetFrameHeight();
}

// The choice of the output token.
void draw_outputs(WorkspaceContext& context, GradientsView& view) {
  const Skin& skin = context.skin;
  quiet_words(tr("L = \u2212log p of"),
              tr("The token whose loss is backpropagated, given the tokens before it. Keys: \u2190 and \u2192."), skin);
  ImGui::SameLine(0, skin.px(4));
  ImGui::BeginChild("outputs", {0, outputs_height(view, skin)}, false, view_flags());
  int& in_view = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("in view"), -1);
  const int count = view.inspection ? static_cast<int>(view.inspection->written.size()) : 0;
  for (int i = 0; i < count; ++i) {
    ImGui::PushID(i);
    if (i > 0) ImGui::SameLine(0, skin.px(4));
    const std::string token(without_mark(view.inspection->written[static_cast<std::size_t>(i)]));
    const bool chosen = view.inspection->output == i;
    if (draw_choice(token.empty() ? " " : token.c_str(), chosen, tr("Backpropagate this token\u2019s loss."), skin))
      ask_for_gradients(context, view, i);
    if (chosen && std::exchange(in_view, i) != i) ImGui::SetScrollHereY();
    ImGui::PopID();
  }
  end_choices();
  ImGui::EndChild();
}

void draw_controls(WorkspaceContext& context, GradientsView& view) {
  const Skin& skin = context.skin;
  draw_outputs(context, view);
  ImGui::BeginDisabled(context.studying || !context.live);
  if (ImGui::Button(tr_label("Recompute")))
    ask_for_gradients(context, view, view.inspection ? view.inspection->output : -1);
  ImGui::EndDisabled();
  help_tooltip(tr("Runs the analysis again with the current sentence and weights. Key: Home."), skin);
  next_in_row(button_width(tr("Keep curve")), skin.px(6));
  ImGui::BeginDisabled(!view.inspection);
  if (ImGui::Button(tr_label("Keep curve"))) keep_gradients(view);
  ImGui::EndDisabled();
  help_tooltip(
      tr("Keeps this \u2202L/\u2202x in the plot. Open another run to compare, for example an RNN with an LSTM."),
      skin);
  if (!context.live || context.live->model.is_recurrent()) return;
  next_in_row(checkbox_width(tr("residual connections")), skin.px(12));
  AttentionView& attention = context.views.of<AttentionView>();
  bool residuals = !attention.interventions.no_residuals;
  if (ImGui::Checkbox(tr_label("residual connections"), &residuals)) attention.interventions.no_residuals = !residuals;
  help_tooltip(tr("Without them x is not added to a sublayer\u2019s output (paper \u00A73.1). This applies in all "
                  "views, but only at inference. The dashes below show the effect on gradients."),
               skin);
}

void draw_places(GradientsView& view, ImVec2 size, const Skin& skin) {
  const GradientResult& inspection = *view.inspection;
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < view.lines.size(); ++i)
    lines.push_back({.name = view.names[i], .series = &view.lines[i], .color = series_color(skin.theme, i)});
  const std::vector<std::string> tokens = tokens_per_row(inspection.plain);
  const std::string of(without_mark(inspection.written[static_cast<std::size_t>(inspection.output)]));
  const std::string title = trf("{}: gradient of \u2212log p({}) = {} at each token", inspection.model, of,
                                number_text(inspection.plain.loss, 3));
  PlotOptions options;
  options.title = title;
  options.help =
      tr("Euclidean norms on a logarithmic axis: \u2016\u2202L/\u2202x_t\u2016 at the embedding of token t, and "
         "\u2016\u2202L/\u2202h_t\u2016 at the state there, through all later states: \u2202L/\u2202h_t = "
         "(\u2202h_{t+1}/\u2202h_t)\u1D40 \u2202L/\u2202h_{t+1} + what uses h_t directly. The vertical line separates "
         "input and output tokens.");
  options.x_label = tr("token");
  options.whole_x = true;
  options.legend_values = false;
  options.x_data = PlotRange{-0.5, static_cast<double>(tokens.size()) - 0.5};
  std::vector<std::string> names;
  for (const std::string& token : tokens) names.emplace_back(without_mark(token));
  options.x_names = names;
  if (!inspection.plain.encoder.tokens.empty())
    view.axis.marker = static_cast<double>(inspection.plain.encoder.tokens.size()) - 0.5;
  draw_plot("places", lines, size, view.axis, view.plot, options, skin);
}

void draw_layers(GradientsView& view, const Skin& skin) {
  const std::array lines = {
      PlotLine{.name = tr("original"), .series = &view.layers_plain, .color = skin.theme.series[0]},
      PlotLine{.name = tr("without residual connections"), .series = &view.layers_bare, .color = skin.theme.series[1]},
  };
  PlotOptions options;
  options.title = tr("Gradient by layer");
  options.help =
      tr("\u221A\u03A3 \u2016\u2202L/\u2202h_t\u2016\u00B2 over all tokens, at the embedding and at each layer's "
         "output. With residual connections x + f(x), gradients bypass each sublayer unchanged; without them they must "
         "pass through it.");
  options.x_label = tr("layer");
  options.x_data = PlotRange{-0.5, static_cast<double>(view.layer_names.size()) - 0.5};
  options.x_names = view.layer_names;
  draw_plot("layers", std::span(lines).first(view.layers_bare.x.empty() ? 1 : 2), {0, 0}, view.layers_axis,
            view.layers_plot, options, skin);
}

}  // namespace

void ask_for_new_gradients(WorkspaceContext& context, GradientsView& view) {
  if (!context.live || context.studying || context.study || context.live->source_text.empty()) return;
  const bool same = view.asked && view.asked->text == context.live->source_text && view.run == context.live->run;
  if (!same) ask_for_gradients(context, view, -1);
}

void ask_for_gradients(WorkspaceContext& context, GradientsView& view, int output) {
  if (!context.live) return;
  view.asked = GradientQuestion{context.live->source_text, output};
  view.run = context.live->run;
  context.study = *view.asked;
}

std::optional<WorkspaceNumbers> gradient_numbers(const GradientsView& view) {
  if (!view.inspection || view.lines.empty()) return std::nullopt;
  const std::vector<std::string> tokens = tokens_per_row(view.inspection->plain);
  WorkspaceNumbers numbers{Matrix(static_cast<int>(tokens.size()), static_cast<int>(view.lines.size())), tokens,
                           view.names, "gradients through time"};
  for (int row = 0; row < numbers.matrix.rows; ++row)
    for (int col = 0; col < numbers.matrix.cols; ++col) {
      const std::vector<double>& line = view.lines[static_cast<std::size_t>(col)].y;
      const auto at = static_cast<std::size_t>(row);
      numbers.matrix.at(row, col) = static_cast<float>(at < line.size() ? line[at] : std::nan(""));
    }
  return numbers;
}

void draw_through_time(WorkspaceContext& context, OriginsView& origins) {
  GradientsView& view = origins.gradients;
  const Skin& skin = context.skin;
  ask_for_new_gradients(context, view);
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin); };
  if (!context.has_run)
    return note(tr("No run is open. Open one to see how far the gradient of its loss reaches back."));
  if (context.live && context.live->source_text.empty())
    return note(tr("Type a sentence to see which of its tokens the gradient of the loss reaches."));
  draw_controls(context, view);
  const bool working = context.studying || context.study.has_value();
  if (!view.inspection)
    return note(working ? tr("Backpropagating\u2026")
                        : tr("Not computed yet. Click Recompute to backpropagate the loss."));
  if (!view.inspection->problem.empty()) return note(tr_filled(view.inspection->problem).c_str());
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool transformer = !view.inspection->bare.empty();
  draw_places(view, {0, transformer ? std::floor(room.y * 0.6F) : 0}, skin);
  if (transformer) draw_layers(view, skin);
}

}  // namespace attnscope
