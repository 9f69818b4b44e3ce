#include "workspaces/attention/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/input.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/card_grid.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr int listed_units = 12;

const SublayerEffect* feed_forward(const Snapshot& snapshot, const AttentionView& view) {
  const bool decoder = view.part != AttentionPart::encoder;
  const auto found = std::ranges::find_if(snapshot.sublayers, [&](const SublayerEffect& flow) {
    return flow.decoder == decoder && flow.layer == view.layer && flow.sublayer == Sublayer::feed_forward;
  });
  return found == snapshot.sublayers.end() ? nullptr : &*found;
}

float largest_of(const Matrix& matrix) {
  return matrix.empty() ? 1 : std::max(1e-6F, *std::ranges::max_element(matrix.values));
}

// "▁it 23 %" for every token.
std::vector<std::string> labels_with_share(const Matrix& active, const std::vector<std::string>& tokens) {
  std::vector<std::string> labels;
  for (int token = 0; token < active.rows; ++token) {
    labels.push_back(
        fmt::format("{} {:.0f} %", tokens[static_cast<std::size_t>(token)], 100 * active_share(active, token)));
  }
  return labels;
}

void draw_unit(const ActiveUnit& unit, float largest, const Skin& skin) {
  const WithFont mono(skin.fonts.mono_small);
  const float line = font_size(skin.fonts.mono_small);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::Dummy({std::max(1.0F, width), line});
  Painter paint(skin);
  const float label = text_size(skin.fonts.mono_small, tr("unit 0000")).x + skin.px(6);
  const float value = text_size(skin.fonts.mono_small, "00.00").x + skin.px(6);
  const float bar = std::max(skin.px(8), width - label - value) * unit.value / largest;
  paint.text(skin.fonts.mono_small, at, skin.theme.text, trf("unit {:>4}", unit.unit));
  paint.filled_rect({at.x + label, at.y + skin.px(2)}, {at.x + label + bar, at.y + line - skin.px(2)},
                    skin.theme.accent, skin.px(1));
  paint.text(skin.fonts.mono_small, {at.x + width - value + skin.px(6), at.y}, skin.theme.text_dim,
             fmt::format("{:.2f}", unit.value));
}

void draw_list(const Matrix& active, int token, const std::string& name, const Skin& skin) {
  mono_text(name, skin);
  ImGui::SameLine(0, skin.px(8));
  dim_text(trf("{:.0f} % of {} active", 100 * active_share(active, token), active.cols), skin);
  help_tooltip(tr("The hidden units that this token activates most, with their values."), skin);
  const std::vector<ActiveUnit> units = most_active(active, token, listed_units);
  for (const ActiveUnit& unit : units) draw_unit(unit, units.front().value, skin);
}

HeatmapOptions units_options(const Matrix& active, const std::vector<std::string>& labels, const AttentionView& view) {
  HeatmapOptions options;
  options.row_labels = labels;
  options.square = false;
  options.legend = false;
  options.high = largest_of(active);
  options.selected_row = view.pinned_row.value_or(-1);
  options.tooltip = [&](int row, int col) {
    plain_text(labels[static_cast<std::size_t>(row)]);
    ImGui::Text(tr("unit %d: %.4g"), col, static_cast<double>(active.at(row, col)));
  };
  return options;
}

}  // namespace

std::vector<ActiveUnit> most_active(const Matrix& active, int token, int count) {
  std::vector<ActiveUnit> units;
  for (int unit = 0; unit < active.cols; ++unit) {
    if (active.at(token, unit) > 0) units.push_back({unit, active.at(token, unit)});
  }
  const auto kept = std::min(units.size(), static_cast<std::size_t>(count));
  std::ranges::partial_sort(units, units.begin() + static_cast<std::ptrdiff_t>(kept), std::greater<>(),
                            &ActiveUnit::value);
  units.resize(kept);
  return units;
}

float active_share(const Matrix& active, int token) {
  if (active.cols == 0) return 0;
  const float* row = active.values.data() + static_cast<std::size_t>(token) * active.cols;
  return static_cast<float>(std::count_if(row, row + active.cols, [](float value) { return value > 0; })) /
         static_cast<float>(active.cols);
}

std::string activation_formula(const ModelConfig& model) {
  const std::string inner = model.biases ? tr("xW₁ + b₁") : "xW₁";
  if (model.activation == "relu") return tr("ReLU, max(0, ") + inner + ")";
  if (model.is_gated())
    return trf("{}, {}({}) ⊙ xV", model.activation == "swiglu" ? tr("SwiGLU") : tr("GEGLU"),
               model.activation == "swiglu" ? tr("swish") : tr("GELU"), inner);
  return fmt::format("{}({})", model.activation == "swish" ? tr("swish") : tr("GELU"), inner);
}

void draw_units(const Shown& shown, AttentionView& view, TextureStore& textures, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  const SublayerEffect* flow = feed_forward(snapshot, view);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (!flow || flow->active.empty())
    return draw_quiet_note(tr("This layer is switched off."), {room.x, skin.px(60)}, skin);
  const Matrix& active = flow->active;
  const std::vector<std::string> tokens = texts_of(flow->decoder ? snapshot.target_in : snapshot.source);
  const std::vector<std::string> labels = labels_with_share(active, tokens);
  const HeatmapOptions options = units_options(active, labels, view);
  ImGui::PushID("units");
  draw_card_title({trf("Feed-forward, {} layer {}: {} units", flow->decoder ? tr("decoder") : tr("encoder"),
                       flow->layer + 1, active.cols),
                   trf("The hidden layer, after {}: one row per token, one column per unit. Next to each token: the "
                       "share of units above 0 (paper §3.3). Click a row to list its units.",
                       activation_formula(snapshot.model)),
                   options.map, options.low, options.high},
                  room.x, skin);
  const float list = clamped(room.x * 0.32F, skin.px(150), skin.px(240));
  const float height = clamped(static_cast<float>(active.rows) * skin.px(13) + skin.px(30), skin.px(200), skin.px(420));
  const HeatmapResult mouse =
      draw_heatmap("active", active, shown.version, {room.x - list - skin.px(10), height}, options, textures, skin);
  if (mouse.clicked) view.pinned_row = view.pinned_row == mouse.row ? std::nullopt : std::optional(mouse.row);
  ImGui::SameLine(0, skin.px(10));
  ImGui::BeginChild("list", ImVec2(0, height), false, view_flags());
  const int token = mouse.row >= 0 && !view.pinned_row
                        ? mouse.row
                        : clamped(view.pinned_row.value_or(first_row(snapshot, view.part)), 0, active.rows - 1);
  draw_list(active, token, tokens[static_cast<std::size_t>(token)], skin);
  ImGui::EndChild();
  ImGui::PopID();
}

}  // namespace attnscope
