#include "workspaces/attention/inside_cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "base/translation.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

// Keys hidden in addition to the model's mask become an intervention. Keys shown despite the model's mask affect only
// this view, because the decoder cannot read tokens that it has not generated yet.
void use_mask(AttentionView& view, const HeadInside& head, const CellMask& mask) {
  const CellMask model = model_mask(head);
  HiddenKeys hidden{head.place, {}};
  CellMask lifted(mask.rows, mask.cols);
  for (int query = 0; query < mask.rows; ++query) {
    for (int key = 0; key < mask.cols; ++key) {
      if (mask.at(query, key) && !model.at(query, key)) hidden.cells.push_back({query, key});
      lifted.set(query, key, model.at(query, key) && !mask.at(query, key));
    }
  }
  std::vector<HiddenKeys>& all = view.interventions.hidden;
  std::erase_if(all, [&](const HiddenKeys& it) { return it.place == head.place; });
  if (!hidden.cells.empty()) all.push_back(std::move(hidden));
  view.inside.lifted.reset();
  if (lifted == CellMask(mask.rows, mask.cols)) return;
  view.inside.lifted = std::move(lifted);
  view.inside.lifted_place = head.place;
}

bool hides_key(const CellMask& mask, int key) {
  for (int row = 0; row < mask.rows; ++row) {
    if (!mask.at(row, key)) return false;
  }
  return true;
}

// Visits the cells between two, inclusive, so that a fast mouse skips none.
template <typename Visit>
void along_line(int from_row, int from_col, int to_row, int to_col, const Visit& visit) {
  const int steps = std::max({std::abs(to_row - from_row), std::abs(to_col - from_col), 1});
  for (int i = 0; i <= steps; ++i) {
    visit(from_row + (to_row - from_row) * i / steps, from_col + (to_col - from_col) * i / steps);
  }
}

void draw_hide_key(AttentionView& view, const HeadNumbers& numbers, std::span<const std::string> keys,
                   const Skin& skin) {
  next_in_row(button_width(tr("Hide key ▾")), skin.px(6));
  if (ImGui::SmallButton(tr_label("Hide key ▾"))) ImGui::OpenPopup("keys");
  help_tooltip(tr("Masks a key for all queries, a whole column. This is how padding tokens in a batch are treated."),
               skin);
  if (!ImGui::BeginPopup("keys")) return;
  for (int key = 0; key < numbers.mask.cols; ++key) {
    const bool hidden = hides_key(numbers.mask, key);
    const std::string label = fmt::format("{}##{}", keys[static_cast<std::size_t>(key)], key);
    if (!ImGui::MenuItem(label.c_str(), nullptr, hidden)) continue;
    CellMask mask = numbers.mask;
    const CellMask model = model_mask(numbers.head());
    for (int row = 0; row < mask.rows; ++row) mask.set(row, key, !hidden || model.at(row, key));
    use_mask(view, numbers.head(), mask);
  }
  ImGui::EndPopup();
}

constexpr float effect_map_height = 92;  // at scale 1

}  // namespace

void lift_mask(AttentionView& view, const HeadInside& head) {
  use_mask(view, head, CellMask(head.q.rows, head.k.rows));
}

CellMask shown_mask(const AttentionView& view, const HeadInside& head) {
  CellMask mask = mask_with(head, view.interventions);
  const std::optional<CellMask>& lifted = view.inside.lifted;
  if (!lifted || view.inside.lifted_place != head.place || lifted->rows != mask.rows || lifted->cols != mask.cols)
    return mask;
  for (std::size_t i = 0; i < mask.hidden.size(); ++i) mask.hidden[i] = mask.hidden[i] && !lifted->hidden[i];
  return mask;
}

void paint_mask(AttentionView& view, const HeadNumbers& numbers, const HeatmapResult& mouse) {
  InsideView& inside = view.inside;
  // Becomes an intervention when the mouse is released, because the bar that lists it may move the picture.
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && std::exchange(inside.brush, std::nullopt))
    use_mask(view, numbers.head(), numbers.mask);
  if (mouse.row < 0) return;
  const bool begins = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  if (begins) inside.brush = !numbers.mask.at(mouse.row, mouse.col);
  if (!inside.brush) return;
  const bool goes_on = !begins && inside.pointed && inside.pointed->stage == Stage::masked;
  CellMask mask = numbers.mask;
  along_line(goes_on ? inside.pointed->row : mouse.row, goes_on ? inside.pointed->col : mouse.col, mouse.row, mouse.col,
             [&](int row, int col) { mask.set(row, col, *inside.brush); });
  if (mask == numbers.mask) return;
  HeadNumbers painted = head_numbers(numbers.snapshot, mask);
  painted.version = ++inside.versions;
  inside.numbers = std::make_shared<const HeadNumbers>(std::move(painted));
}

void draw_mask_buttons(AttentionView& view, const HeadNumbers& numbers, std::span<const std::string> keys,
                       const Skin& skin) {
  const HeadInside& head = numbers.head();
  ImGui::AlignTextToFramePadding();
  dim_text(tr("Mask"), skin);
  help_tooltip(tr("Tries another mask for this head. Everything after it is recomputed, up to the translation; the "
                  "model's weights do not change. Keys that are not generated yet can be unmasked only for the numbers "
                  "below. You can also click or drag over the mask's cells below."),
               skin);
  const auto offer = [&](const char* label, const CellMask& mask, const char* help) {
    next_in_row(button_width(label), skin.px(6));
    const bool in_force = numbers.mask == mask;
    if (in_force) ImGui::PushStyleColor(ImGuiCol_Button, mixed(skin.theme.raised, skin.theme.accent, 0.4F));
    const bool clicked = ImGui::SmallButton(label);
    if (in_force) ImGui::PopStyleColor();
    help_tooltip(help, skin);
    if (clicked) use_mask(view, head, mask);
  };
  offer(tr_label("Original"), model_mask(head),
        tr("The model's own mask here: look-ahead in the decoder's self-attention, none elsewhere."));
  offer(tr_label("Look-ahead"), look_ahead_mask(numbers.mask.rows, numbers.mask.cols),
        tr("Hides every key after the query (paper §3.2.3)."));
  offer(tr_label("None"), CellMask(numbers.mask.rows, numbers.mask.cols), tr("Every query may attend to every key."));
  draw_hide_key(view, numbers, keys, skin);
}

void draw_mask_effect(const HeadNumbers& numbers, std::span<const std::string> queries, TextureStore& textures,
                      const Skin& skin) {
  if (!numbers.what_if || numbers.change.empty()) return;
  colored_text(skin.theme.warning, tr("What-if for this head only: change of the output"));
  help_tooltip(tr("‖Δ‖ of the sublayer's output with this mask, for each query. It is computed here while the model's "
                  "answer is not available, for example for keys that are not generated yet."),
               skin);
  Matrix change(1, static_cast<int>(numbers.change.size()));
  change.values = numbers.change;
  const std::vector<std::string> row = {"‖Δ‖"};
  HeatmapOptions options;
  options.row_labels = row;
  options.col_labels = queries;
  options.square = false;
  options.legend = false;
  options.high = std::max(1e-6F, *std::ranges::max_element(numbers.change));
  options.tooltip = [&](int, int query) {
    const auto at = static_cast<std::size_t>(query);
    ImGui::TextUnformatted(
        trf("{}: ‖Δ‖ = {:.3g}; the output's norm is {:.3g}", queries[at], numbers.change[at], numbers.norms[at])
            .c_str());
  };
  draw_heatmap("change", change, numbers.version, {0, skin.px(effect_map_height)}, options, textures, skin);
}

float mask_effect_height(const Skin& skin) {
  return ImGui::GetTextLineHeightWithSpacing() + skin.px(effect_map_height) + ImGui::GetStyle().ItemSpacing.y;
}

}  // namespace attnscope
