// Grokking: the frequencies of the embedding over training, its circles, and a neuron's periodic activation.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/input.h"
#include "common/clamped.h"
#include "widgets/heatmap.h"
#include "workspaces/asked_once.h"
#include "workspaces/mechanisms/modes.h"

namespace attnscope {
namespace {

std::string summary(const FourierResult& result) {
  const FourierPoint& now = result.points.back();
  double share = 0;
  for (const int k : result.key) share += now.power[static_cast<std::size_t>(k) - 1];
  if (result.key.empty()) {
    return trf(
        "Modulo {}: no frequency of the embedding stands out. Memorized results need none; the frequencies appear "
        "when the model generalizes.",
        result.modulus);
  }
  return trf("Modulo {}: {} key frequencies ({}) carry {:.0f} % of the embedding's variance over the numbers.",
             result.modulus, result.key.size(), fmt::join(result.key, ", "), 100 * share);
}

void draw_losses(FourierView& view, const FourierResult& result, ImVec2 size, const Skin& skin) {
  const std::array names = {tr("all pairs"), tr("restricted"), tr("excluded")};
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < (result.has_losses ? names.size() : 1); ++i)
    lines.push_back({.name = names[i], .series = &view.losses[i], .color = skin.theme.series[i]});
  view.axis.log = view.plot.log = true;
  draw_plot(
      "losses", lines, size, view.axis, view.plot,
      {.title = tr("Loss, nats"),
       .help = tr("Restricted: over all pairs, from logits that keep only the key frequencies; it falls while the "
                  "circuit forms. Excluded: over the training pairs, from logits without the key frequencies; it "
                  "rises as memorization is given up (arXiv 2301.05217, section 5.2)."),
       .x_label = tr("optimizer steps"),
       .whole_x = true},
      skin);
}

void draw_spectrum(WorkspaceContext& context, FourierView& view, ImVec2 size) {
  HeatmapOptions options;
  options.high = std::max(1.0F, *std::ranges::max_element(view.spectrum.values));
  options.square = false;
  options.row_labels = view.frequencies;
  options.col_labels = view.steps;
  options.row_axis = tr("frequency");
  options.col_axis = tr("optimizer steps");
  options.print_values = false;
  draw_heatmap("spectrum", view.spectrum, view.version, size, options, context.textures, context.skin);
}

void draw_circle(FourierView& view, const FourierResult& result, ImVec2 size, const Skin& skin) {
  const std::vector<int>& key = result.key;
  for (int i = 0; i < static_cast<int>(key.size()); ++i)
    if (draw_choice(trf("frequency {}", key[static_cast<std::size_t>(i)]).c_str(), view.circle == i,
                    tr("The embedding of every number on the plane of this frequency's cosine and sine."), skin))
      view.circle = i;
  if (key.empty()) {
    return draw_quiet_note(tr("The embedding has no key frequency yet, so there is no circle to draw. Train further."),
                           size, skin);
  }
  end_choices();
  const Matrix& circle = result.circles[static_cast<std::size_t>(view.circle)];
  std::vector<ImVec2> points;
  std::vector<int> all;
  for (int row = 0; row < circle.rows; ++row) {
    points.emplace_back(circle.at(row, 0), circle.at(row, 1));
    all.push_back(row);
  }
  const std::vector<Color32> colors(points.size(), skin.theme.series[0]);
  const auto number = [&](int i) { return std::to_string(result.numbers[static_cast<std::size_t>(i)]); };
  ScatterOptions options;
  options.points = points;
  options.colors = colors;
  options.label = number;
  options.important = all;
  draw_scatter("circle", options, view.scatter, size, skin);
}

void draw_neuron(WorkspaceContext& context, FourierView& view, const FourierResult& result, ImVec2 size) {
  const Skin& skin = context.skin;
  if (result.neuron.empty()) return draw_quiet_note(tr("This model has no feed-forward sublayer."), size, skin);
  int& neuron = view.study.question.neuron;
  ImGui::AlignTextToFramePadding();
  quiet_words(
      tr("Neuron"),
      tr("Activation of one neuron of the feed-forward sublayer at the last position, for every pair of numbers. "
         "Stripes and checks are periodic in both numbers."),
      skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(skin.px(120));
  int shown = neuron + 1;
  if (ImGui::InputInt("##neuron", &shown)) neuron = clamped(shown, 1, result.num_neurons) - 1;
  ImGui::SameLine(0, skin.px(6));
  dim_text(trf("of {}", result.num_neurons), skin);
  std::vector<std::string> numbers;
  for (const int number : result.numbers) numbers.push_back(std::to_string(number));
  HeatmapOptions options;
  options.high = std::max(1e-6F, *std::ranges::max_element(result.neuron.values));
  options.row_labels = numbers;
  options.col_labels = numbers;
  options.row_axis = tr("first number");
  options.col_axis = tr("second number");
  options.print_values = false;
  options.square = false;
  draw_heatmap("neuron", result.neuron, view.version, size, options, context.textures, skin);
}

}  // namespace

void draw_fourier(WorkspaceContext& context, FourierView& view) {
  const Skin& skin = context.skin;
  const FourierResult* const result =
      asked_result(context, view.study, tr("Transforming the embeddings of every recorded step\u2026"),
                   {.offers_experiments = true});
  if (!result) return;
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, summary(*result), skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(14), half = std::floor((room.x - gap) / 2);
  const ImGuiWindowFlags flags = ImGuiWindowFlags_NoScrollbar | view_flags();
  ImGui::BeginChild("over steps", {half, room.y}, false, flags);
  draw_caption(tr("Power by frequency, %"), "",
               tr("Share of every frequency in the variance of the embedding over the numbers (discrete Fourier "
                  "transform), at every recorded step."), skin);
  draw_spectrum(context, view, {0, std::floor(ImGui::GetContentRegionAvail().y * 0.5F)});
  draw_losses(view, *result, ImGui::GetContentRegionAvail(), skin);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("now", {0, room.y}, false, flags);
  draw_circle(view, *result, {0, std::floor(room.y * 0.42F)}, skin);
  draw_neuron(context, view, *result, {0, 0});
  ImGui::EndChild();
}

}  // namespace attnscope
