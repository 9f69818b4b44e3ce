#include "shell/overrides.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/translation.h"
#include "shell/timeline/timeline.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/view.h"
#include "workspaces/decoding/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

// Same order as OverrideKind.
constexpr std::array help_texts = {
    mark("This head is ablated: its contribution to W_O is zero. Click to show the head."),
    mark("This layer passes its input on unchanged. Click to show it."),
    mark("All of this query's attention goes to this key. Click to show it."),
    mark("The model gets another input token here."),
    mark("Keys of this head are masked by hand, in addition to the model's own mask. Click to show the head."),
    mark("A direction is added to every token's vector after this layer. Click to show the layer."),
    mark("The division of all scores q\u00B7k by \u221Ad_k is the opposite of how the model was trained. Click to show "
         "it."),
    mark("The residual connections are removed: a sublayer's input is not added to its output (paper \u00A73.1). Click "
         "to see the effect on gradients."),
    mark("The model gets its input tokens without positional encoding, so their order makes no difference (paper "
         "\u00A73.5). Click to see the outputs for shuffled words."),
    mark("The start of the output is forced; the decoder continues from there. Click to show it."),
    mark("The numbers in “Inside one head” include keys that the model masks; everything else is unmodified. Click to "
         "show it."),
    mark("The views show the model at that step of its training, not the current model."),
};
static_assert(help_texts.size() == static_cast<std::size_t>(OverrideKind::recorded_step) + 1);

void show_head(AppState& scope, const HeadPlace& place) {
  scope.layout.workspace = find_workspace("attention");
  select(scope.views.of<AttentionView>(), place);
}

// Opens the view that shows the override.
void show(AppState& scope, const Override& override_text) {
  AttentionView& view = scope.views.of<AttentionView>();
  switch (override_text.kind) {
    case OverrideKind::head_off:
      return show_head(scope, view.interventions.heads_off[override_text.index]);
    case OverrideKind::layer_off: {
      const LayerPlace& layer = view.interventions.layers_off[override_text.index];
      return show_head(scope,
                       {layer.decoder ? AttentionPart::decoder : AttentionPart::encoder, layer.layer, view.head});
    }
    case OverrideKind::forced_attention: {
      const ForcedAttention& forced = view.interventions.forced[override_text.index];
      show_head(scope, forced.place);
      view.pinned_row = forced.query;
      view.pinned_col = forced.key;
      return;
    }
    case OverrideKind::prefix:
      scope.layout.workspace = find_workspace("decoding");
      return;
    case OverrideKind::hidden_keys:
      show_head(scope, view.interventions.hidden[override_text.index].place);
      view.level = AttentionLevel::inside;
      return;
    case OverrideKind::steered: {
      const LayerPlace& layer = view.interventions.steered[override_text.index].place;
      return show_head(scope,
                       {layer.decoder ? AttentionPart::decoder : AttentionPart::encoder, layer.layer, view.head});
    }
    case OverrideKind::lifted_mask:
      show_head(scope, view.inside.lifted_place);
      view.level = AttentionLevel::inside;
      return;
    case OverrideKind::other_scale:
      scope.layout.workspace = show_view(scope.views, "scaling");
      return;
    case OverrideKind::no_positions:
      scope.layout.workspace = show_view(scope.views, "shuffled");
      return;
    case OverrideKind::no_residuals:
      scope.layout.workspace = show_view(scope.views, "through-time");
      return;
    case OverrideKind::replaced_token:
    case OverrideKind::recorded_step:
      return;
  }
}

template <typename T>
void drop(std::vector<T>& items, std::size_t index) {
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(index));
}

const char* back_text(const std::vector<Override>& overrides, OverridesLabel label) {
  const bool full = label == OverridesLabel::full;
  const bool only_past = std::ranges::all_of(
      overrides, [](const Override& override_text) { return override_text.kind == OverrideKind::recorded_step; });
  if (only_past) return full ? tr("Back to the last step") : tr("Last step");
  return full ? tr("Back to the unmodified model") : tr("Unmodified model");
}

std::string label_of(const Override& override_text, const Skin& skin) {
  return shortened(skin.fonts.ui, tr_filled(override_text.text), skin.px(260));
}

// Narrow, so that a chip fits into the line of tabs.
ImVec2 chip_padding(const Skin& skin) {
  return {skin.px(3), ImGui::GetStyle().FramePadding.y};
}

float chip_width(const std::string& label, const Skin& skin) {
  return ImGui::CalcTextSize((label + "✕").c_str()).x + chip_padding(skin).x * 4;
}

enum class Wish { nothing, show, take_back };

Wish draw_override(const Override& override_text, const Skin& skin) {
  const std::string label = label_of(override_text, skin);
  next_in_row(chip_width(label, skin), skin.px(6));
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, skin.theme.warning);
  Wish wish = small_text_button(label) ? Wish::show : Wish::nothing;
  ImGui::PopStyleColor();
  help_tooltip(fmt::format("{}: {}", override_text.text, tr(help_texts[static_cast<std::size_t>(override_text.kind)])),
               skin);
  ImGui::SameLine(0, 0);
  if (ImGui::SmallButton("✕")) wish = Wish::take_back;
  help_tooltip(tr("Undoes this change."), skin);
  return wish;
}

std::vector<Override> present_overrides(const AppState& scope) {
  const ShownMaps maps = shown_maps(scope);
  const Shown& seen = maps.complete.snapshot ? maps.complete : maps.newest;
  return listed(overrides_of(scope), seen.snapshot.get());
}

}  // namespace

Overrides overrides_of(const AppState& scope) {
  const AttentionView& attention = scope.views.of<AttentionView>();
  const DecodingView& decoding = scope.views.of<DecodingView>();
  Overrides overrides{attention.interventions, decoding.prefix, decoding.prefix_ids, false, {}};
  overrides.lifted_mask = attention.inside.lifted.has_value();
  if (const Snapshot* past = scope.a.past.snapshot.get()) overrides.step = past->step;
  return overrides;
}

void take_back(AppState& scope, const Override& override_text) {
  AttentionView& attention = scope.views.of<AttentionView>();
  switch (override_text.kind) {
    case OverrideKind::head_off:
      return drop(attention.interventions.heads_off, override_text.index);
    case OverrideKind::layer_off:
      return drop(attention.interventions.layers_off, override_text.index);
    case OverrideKind::forced_attention:
      return drop(attention.interventions.forced, override_text.index);
    case OverrideKind::replaced_token:
      return drop(attention.interventions.replaced, override_text.index);
    case OverrideKind::prefix:
      return let_go(scope.views.of<DecodingView>());
    case OverrideKind::steered:
      return drop(attention.interventions.steered, override_text.index);
    case OverrideKind::hidden_keys:
      return drop(attention.interventions.hidden, override_text.index);
    case OverrideKind::other_scale:
      attention.interventions.other_scale = false;
      return;
    case OverrideKind::no_positions:
      attention.interventions.no_positions = false;
      return;
    case OverrideKind::no_residuals:
      attention.interventions.no_residuals = false;
      return;
    case OverrideKind::lifted_mask:
      return attention.inside.lifted.reset();
    case OverrideKind::recorded_step:
      return show_present(scope);
  }
}

void back_to_plain_model(AppState& scope) {
  scope.views.of<AttentionView>().interventions = {};
  let_go_of_places(scope);
  show_present(scope);
}

void let_go_of_places(AppState& scope) {
  AttentionView& attention = scope.views.of<AttentionView>();
  attention.interventions.forced.clear();
  attention.interventions.replaced.clear();
  attention.interventions.hidden.clear();
  attention.inside.lifted.reset();
  let_go_of_output(scope);
}

void let_go_of_output(AppState& scope) {
  DecodingView& decoding = scope.views.of<DecodingView>();
  decoding.prefix.clear();
  decoding.prefix_ids.clear();
  decoding.masked.clear();
  decoding.hypothesis.clear();
}

float overrides_width(const AppState& scope, OverridesLabel label, const Skin& skin) {
  const std::vector<Override> overrides = present_overrides(scope);
  if (overrides.empty()) return 0;
  float width = ImGui::CalcTextSize(back_text(overrides, label)).x + chip_padding(skin).x * 2;
  for (const Override& override_text : overrides) width += chip_width(label_of(override_text, skin), skin) + skin.px(6);
  return width;
}

void draw_overrides(AppState& scope, OverridesLabel label, const Skin& skin) {
  const std::vector<Override> overrides = present_overrides(scope);
  ImGui::PushID("departures");
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, chip_padding(skin));
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const Wish wish = draw_override(overrides[i], skin);
    ImGui::PopID();
    if (wish == Wish::show) show(scope, overrides[i]);
    if (wish == Wish::take_back) take_back(scope, overrides[i]);
  }
  next_in_row(button_width(back_text(overrides, label)), skin.px(6));
  ImGui::AlignTextToFramePadding();
  if (ImGui::SmallButton(back_text(overrides, label))) back_to_plain_model(scope);
  help_tooltip(tr("Undoes all changes: the views show the current model and its own output again."), skin);
  ImGui::PopStyleVar();
  ImGui::PopID();
}

}  // namespace attnscope
