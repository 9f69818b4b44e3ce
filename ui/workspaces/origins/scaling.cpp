#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/interventions.h"
#include "workspaces/attention/text.h"
#include "workspaces/attention/view.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

constexpr const char* plain_name = "q\u00B7k";
constexpr const char* divided_name = "q\u00B7k/\u221Ad";

Color32 plain_color(const Skin& skin) {
  return skin.theme.series[1];
}
Color32 divided_color(const Skin& skin) {
  return skin.theme.series[0];
}

void draw_controls(ScalingView& view, const Skin& skin) {
  draw_slider({"d", tr("The number of random components in a query and a key. Keys: \u2190 and \u2192."), true}, view.d,
              1, ScoreSample::most_dimensions, true, skin);
  draw_slider({tr("keys n"), tr("The number of keys in each softmax.")}, view.keys, 2, 128, true, skin);
  draw_slider({tr("query"), tr("The query whose softmax is drawn. Keys: \u2191 and \u2193.")}, view.row, 0,
              view.queries() - 1, false, skin);
  next_in_row(button_width(tr("Draw again")), skin.px(10));
  if (ImGui::Button(tr_label("Draw again"))) ++view.seed;
  help_tooltip(tr("Draws new random queries and keys, N(0, 1) in every dimension. Key: Home."), skin);
}

void draw_histogram(ScalingView& view, ImVec2 size, const Skin& skin) {
  const ScaledScores& scores = view.scores;
  const std::array lines = {
      PlotLine{.name = tr("measured"),
               .series = &view.histogram,
               .color = faded(plain_color(skin), 0.7F),
               .bar = view.histogram.x[1] - view.histogram.x[0]},
      PlotLine{.name = "N(0, d)", .series = &view.normal, .color = skin.theme.text},
  };
  const std::string title = trf("q\u00B7k: variance {:.1f}", scores.variance);
  const std::string help =
      trf("q\u00B7k = \u03A3 q_i k_i over {} pairs, all q_i and k_i from N(0, 1). Each product has mean 0 and variance "
          "1, so their sum has variance d. Measured: mean {}, variance {:.2f}, standard deviation {:.2f}; \u221Ad = "
          "{:.2f}. Bars and line are densities.",
          scores.products.values.size(), number_text(scores.mean, 3), scores.variance, std::sqrt(scores.variance),
          std::sqrt(static_cast<double>(scores.d)));
  const double highest = 1.35 * normal_density(0, scores.d);
  draw_plot("histogram", lines, size, view.histogram_axis, view.histogram_plot,
            {.title = title,
             .help = help,
             .x_label = tr("q\u00B7k"),
             .legend_values = false,
             .y_limits = PlotRange{0, highest}},
            skin);
}

void draw_row(ScalingView& view, ImVec2 size, const Skin& skin) {
  const std::array lines = {
      PlotLine{.name = plain_name, .series = &view.plain, .color = faded(plain_color(skin), 0.75F), .bar = 0.9},
      PlotLine{.name = divided_name, .series = &view.divided, .color = divided_color(skin), .bar = 0.5},
  };
  const auto keys = static_cast<double>(view.keys);
  draw_plot("row", lines, size, view.row_axis, view.row_plot,
            {.title = trf("Softmax of query {}", view.row),
             .help = tr("exp(s_j) / \u03A3 exp(s) over the keys, with s = q\u00B7k and with s = q\u00B7k/\u221Ad. If "
                        "scores are far apart, one key gets nearly all the weight."),
             .x_label = tr("key"),
             .legend_values = false,
             .x_data = PlotRange{0.5, keys + 0.5},
             .y_limits = PlotRange{0, 1}},
            skin);
}

// Plots both, without and with the division, over d.
void draw_growth(const char* id, const Series& plain, const Series& divided, ScalingView& view, PlotView& plot,
                 PlotOptions options, ImVec2 size, const Skin& skin) {
  const std::array lines = {
      PlotLine{.name = plain_name, .series = &plain, .color = plain_color(skin)},
      PlotLine{.name = divided_name, .series = &divided, .color = divided_color(skin)},
  };
  view.growth_axis.marker = view.d;
  options.x_label = "d";
  options.x_data = PlotRange{1, ScoreSample::most_dimensions};
  draw_plot(id, lines, size, view.growth_axis, plot, options, skin);
}

void draw_random(ScalingView& view, ImVec2 room, const Skin& skin) {
  const float gap = skin.px(14);
  const ImVec2 size{std::floor((room.x - gap) / 2), std::floor((room.y - gap) / 2)};
  draw_histogram(view, size, skin);
  ImGui::SameLine(0, gap);
  draw_row(view, size, skin);
  const double most = std::log(static_cast<double>(view.keys));
  const SoftmaxSpread &plain = view.scores.of_plain, &divided = view.scores.of_divided;
  const std::string entropies = trf(
      "\u2212\u03A3 p ln p, averaged over {} queries. 0: all weight on one key; ln {} = {:.2f}: equal weight on all. "
      "At d = {}: {:.3f} undivided, {:.3f} divided by \u221Ad = {:.2f}.",
      view.queries(), view.keys, most, view.d, plain.entropy, divided.entropy, std::sqrt(static_cast<double>(view.d)));
  draw_growth("entropy", view.entropy_plain, view.entropy_divided, view, view.entropy_plot,
              {.title = tr("Entropy"), .help = entropies, .y_limits = PlotRange{0, 1.05 * most}}, size, skin);
  ImGui::SameLine(0, gap);
  const std::string norms =
      trf("The Frobenius norm of \u2202p/\u2202s = diag(p) \u2212 pp\u1D40, averaged over {} queries: how much "
          "gradient the softmax lets through. At d = {}: {:.4f} undivided, {:.4f} divided. Equal weights also have a "
          "small norm, \u221A(n \u2212 1)/n = {:.3f}, but spread over all keys.",
          view.queries(), view.d, plain.jacobian, divided.jacobian,
          std::sqrt(static_cast<double>(view.keys) - 1) / static_cast<double>(view.keys));
  draw_growth("jacobian", view.jacobian_plain, view.jacobian_divided, view, view.jacobian_plot,
              {.title = tr("Jacobian norm"), .help = norms, .y_limits = PlotRange{0, 0.6}}, size, skin);
}

// ---- in the model

// The reason why the model's scaling cannot be switched; null: it can.
const char* why_no_switch(const WorkspaceContext& context) {
  const Snapshot* live = context.live;
  if (!live) return tr("No sentence has been evaluated yet. Open a run and type one.");
  if (live->model.is_recurrent())
    return tr(
        "A recurrent network\u2019s attention is not divided by \u221Ad_k. Choose another architecture in the setup.");
  return nullptr;
}

// For the head selected among the maps.
void draw_head_variance(const Snapshot& snapshot, const Skin& skin) {
  if (!snapshot.inside) return;
  const HeadInside& head = *snapshot.inside;
  ImGui::SameLine(0, skin.px(14));
  ImGui::AlignTextToFramePadding();
  quiet_words(
      trf("{}: q\u00B7k has variance {:.3g}", head_name(head.place, snapshot.model), product_variance(head.q, head.k)),
      trf("Over all query\u2013key pairs of this sentence in the head selected in Attention, d_k = {}. For random q "
          "and k the variance would be {}; training can change it.",
          head.q.cols, head.q.cols),
      skin);
}

// Draws the loss of the reference, without and with the switch.
void draw_loss(const Snapshot& snapshot, const AttentionView& attention, const Skin& skin) {
  const auto& difference = attention.intervention.difference;
  if (!difference || attention.intervention.compared.get() != &snapshot || snapshot.gold.empty()) return;
  const auto tokens = static_cast<double>(snapshot.gold.size());
  draw_label(skin.fonts.ui, skin.theme.text,
             trf("loss {:.3f} \u2192 {:.3f} nats per token", -difference->log_prob_before / tokens,
                 -difference->log_prob_after / tokens),
             skin);
  help_tooltip(
      trf("\u2212\u03A3 ln p / {} for the {}, each token given those before it, without and with the interventions "
          "listed above.",
          snapshot.gold.size(), difference->reference ? tr("reference") : tr("original model\u2019s own output")),
      skin);
}

void draw_in_model(WorkspaceContext& context, const Skin& skin) {
  bold_text(tr("In the model"), skin);
  if (const char* why_not = why_no_switch(context)) return small_text(skin.theme.text_dim, why_not, skin);
  const ModelConfig& model = context.live->model;
  AttentionView& attention = context.views.of<AttentionView>();
  const std::int64_t d = model.head_width();
  bool divided = model.scaled_attention != attention.interventions.other_scale;
  ImGui::SameLine(0, skin.px(10));
  if (ImGui::Checkbox(trf("scores divided by \u221A{}", d).c_str(), &divided))
    attention.interventions.other_scale = divided != model.scaled_attention;
  help_tooltip(tr("For all heads in all views, but only at inference: weights and training are not affected. To train "
                  "without it: Setup, Divide by \u221Ad_k, Reset."),
               skin);
  const Snapshot* newest = context.maps.newest.snapshot.get();
  if (newest) draw_head_variance(*newest, skin);
  if (!attention.interventions.other_scale)
    return small_text(skin.theme.text_dim,
                      model.scaled_attention ? tr("Switch it off to see how the output and its probability change.")
                                             : tr("Switch it on to see how the output and its probability change."),
                      skin);
  draw_effect(context.maps, attention, skin);
  if (const Snapshot* complete = context.maps.complete.snapshot.get()) draw_loss(*complete, attention, skin);
}

float in_model_height(const WorkspaceContext& context, const Skin& skin) {
  const bool changed = context.views.of<AttentionView>().interventions.other_scale && !why_no_switch(context);
  const float line = ImGui::GetTextLineHeightWithSpacing();
  return ImGui::GetFrameHeightWithSpacing() + (changed ? 5.6F * line + skin.px(10) : 1.2F * line);
}

}  // namespace

std::optional<WorkspaceNumbers> scaling_numbers(const ScalingView& view) {
  if (view.version == 0) return std::nullopt;
  const ScaledScores& scores = view.scores;
  const int count = scores.products.cols;
  WorkspaceNumbers numbers{Matrix(count, 4),
                           {},
                           {"q\u00B7k", "q\u00B7k/\u221Ad", "softmax(q\u00B7k)", "softmax(q\u00B7k/\u221Ad)"},
                           fmt::format("scores at d {}", scores.d)};
  const float root = std::sqrt(static_cast<float>(scores.d));
  for (int key = 0; key < count; ++key) {
    numbers.rows.push_back(fmt::format("key {}", key + 1));
    const float product = scores.products.at(view.shown_row, key);
    const std::array of_key = {product, product / root, scores.plain.at(view.shown_row, key),
                               scores.divided.at(view.shown_row, key)};
    for (int col = 0; col < 4; ++col) numbers.matrix.at(key, col) = of_key[static_cast<std::size_t>(col)];
  }
  return numbers;
}

void draw_scaling(WorkspaceContext& context, OriginsView& view) {
  const Skin& skin = context.skin;
  draw_controls(view.scaling, skin);
  settle(view.scaling);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  draw_random(view.scaling, {room.x, std::max(skin.px(200), room.y - in_model_height(context, skin))}, skin);
  draw_in_model(context, skin);
}

}  // namespace attnscope
