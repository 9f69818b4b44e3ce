#include "workspaces/workspaces.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/row.h"
#include "workspaces/attention/levels.h"
#include "workspaces/circuit/modes.h"
#include "workspaces/decoding/modes.h"
#include "workspaces/embeddings/modes.h"
#include "workspaces/flow/flow.h"
#include "workspaces/glance.h"
#include "workspaces/mechanisms/modes.h"
#include "workspaces/origins/modes.h"
#include "workspaces/positions/modes.h"
#include "workspaces/workspace.h"

namespace attnscope {
namespace {

template <typename View, typename Mode>
std::size_t shown_of(const Views& views, Mode View::*mode) {
  return static_cast<std::size_t>(views.of<View>().*mode);
}

// For workspaces whose views are an enumeration in the order of the views.
template <auto mode>
std::size_t shown(const Views& views) {
  return shown_of(views, mode);
}

constexpr std::array workspace_table = {
    Workspace{.name = "glance",
              .title = "Glance",
              .group = "Model",
              .help = "One head, one word, and the model's output.",
              .least = ViewNeeds::weights,
              .draw = draw_glance,
              .keys = glance_keys,
              .ask = ask_for_glance},
    Workspace{.name = "attention",
              .title = "Attention",
              .group = "Model",
              .help = "The attention weights of every head (paper §3.2).",
              .draw = draw_attention,
              .keys = attention_keys,
              .views = attention_levels,
              .show = show_level,
              .shown = shown<&AttentionView::level>,
              .ask = ask_for_level,
              .is_busy = is_measuring},
    Workspace{.name = "embeddings",
              .title = "Embeddings",
              .group = "Model",
              .help = "One vector per token (paper §3.4): which are near each other, and how context changes them.",
              .needs = {.text = false},
              .draw = draw_embeddings,
              .keys = embedding_keys,
              .views = embedding_modes,
              .show = show_embedding_mode,
              .shown = shown<&EmbeddingsView::mode>,
              .ask = ask_for_embeddings,
              .numbers = embedding_numbers,
              .is_busy = is_moving},
    Workspace{.name = "flow",
              .title = "Data flow",
              .group = "Model",
              .help = "The model from text to probabilities, box by box (paper figure 1).",
              .needs = {.decoding = true, .present = true},
              .draw = draw_flow,
              .keys = flow_keys,
              .views = flow_modes,
              .show = show_flow_mode,
              .shown = shown<&FlowView::mode>,
              .ask = ask_for_flow,
              .numbers = flow_numbers},
    Workspace{.name = "positions",
              .title = "Positions",
              .group = "Model",
              .help = "How token positions are encoded (paper §3.5).",
              .needs = {.inspection = false},
              .draw = draw_positions,
              .keys = position_keys,
              .views = position_modes,
              .show = show_position_mode,
              .shown = shown<&PositionsView::mode>,
              .numbers = position_mode_numbers},
    Workspace{.name = "decoding",
              .title = "Decoding",
              .group = "Decoding",
              .help = "How the output is generated, token by token (paper §3.1).",
              .needs = {.decoding = true, .writer = true},
              .draw = draw_decoding,
              .keys = decoding_keys,
              .views = decoding_modes,
              .show = show_mode,
              .shown = shown<&DecodingView::mode>,
              .ask = ask_for_decodings,
              .title_of_masks = mark("Fill mask"),
              .is_busy = is_playing},
    Workspace{.name = "circuit",
              .title = "Circuit",
              .group = "Why",
              .help = "Why the model gives this output: which heads at which words decide it.",
              .needs = {.present = true, .writer = true},
              .draw = draw_circuit,
              .keys = circuit_keys,
              .views = circuit_modes,
              .show = show_circuit_mode,
              .shown = shown<&CircuitView::mode>,
              .numbers = circuit_numbers},
    Workspace{.name = "mechanisms",
              .title = "Mechanisms",
              .group = "Why",
              .help = "How a small model solves its task: induction heads, and the frequencies of modular arithmetic. "
                      "How settings change the results of many runs.",
              .needs = {.inspection = false},
              .draw = draw_mechanisms,
              .keys = mechanism_keys,
              .views = mechanism_modes,
              .show = show_mechanism_mode,
              .shown = shown<&MechanismsView::mode>,
              .numbers = mechanism_numbers},
    Workspace{
        .name = "origins",
        .title = "Origins",
        .group = "Origins",
        .help =
            "The origins of attention: kernel regression, learned weights, and why scores are divided by \u221Ad_k.",
        .needs = {.inspection = false},
        .draw = draw_origins,
        .keys = origin_keys,
        .views = origin_modes,
        .show = show_origin_mode,
        .shown = shown<&OriginsView::mode>,
        .ask = ask_for_origins,
        .numbers = origin_numbers,
        .is_busy = is_learning},
};

bool same_group(const Workspace& one, const Workspace& other) {
  return std::string_view(one.group) == other.group;
}

std::span<const WorkspaceView> views_of(const Workspace& workspace) {
  return workspace.views ? workspace.views() : std::span<const WorkspaceView>();
}

}  // namespace

std::span<const Workspace> workspaces() {
  return workspace_table;
}

std::span<const Workspace> group_of(const Workspace& workspace) {
  const auto is_neighbour = [&](const Workspace& other) { return same_group(other, workspace); };
  const auto first = std::ranges::find_if(workspace_table, is_neighbour);
  return {first, std::find_if_not(first, workspace_table.end(), is_neighbour)};
}

std::vector<std::span<const Workspace>> workspace_groups() {
  std::vector<std::span<const Workspace>> groups;
  for (const Workspace& workspace : workspace_table)
    if (groups.empty() || !same_group(groups.back().front(), workspace)) groups.push_back(group_of(workspace));
  return groups;
}

const Workspace* find_workspace(std::string_view name) {
  const auto found = std::ranges::find(workspace_table, name, &Workspace::name);
  return found == workspace_table.end() ? nullptr : &*found;
}

std::vector<std::string> workspace_names() {
  std::vector<std::string> names;
  for (const Workspace& workspace : workspace_table) names.emplace_back(workspace.name);
  return names;
}

std::vector<std::string> view_names() {
  std::vector<std::string> names;
  for (const Workspace& workspace : workspace_table)
    for (const WorkspaceView& view : views_of(workspace)) names.emplace_back(view.name);
  return names;
}

const Workspace* show_view(Views& views, std::string_view name) {
  for (const Workspace& workspace : workspace_table) {
    const std::span<const WorkspaceView> all = views_of(workspace);
    const auto found = std::ranges::find(all, name, &WorkspaceView::name);
    if (found == all.end()) continue;
    workspace.show(views, static_cast<std::size_t>(found - all.begin()));
    return &workspace;
  }
  return nullptr;
}

// ---- keys

std::string keys_text(std::span<const WorkspaceKey> keys, std::string_view title) {
  std::string text;
  for (const WorkspaceKey& key : keys)
    if (key.title == title) text += (text.empty() ? "" : ", ") + chord_text(key.chord);
  return text;
}

// ---- views

const char* view_refusal(const WorkspaceView& view, const Snapshot& snapshot) {
  if (view.needs == ViewNeeds::writer && snapshot.model.is_masked_lm())
    return tr("A masked language model predicts single tokens and generates no text: see Fill mask.");
  if (!snapshot.captured)
    return view.needs == ViewNeeds::hidden ? tr("This view shows the hidden states of a capture.") : nullptr;
  if (view.needs >= ViewNeeds::attention) return nullptr;
  if (view.needs == ViewNeeds::weights)
    return snapshot.model.has_weights()
               ? nullptr
               : tr("This view shows attention weights, and the values of this capture are signed.");
  if (view.needs <= ViewNeeds::model)
    return tr("This view needs the model, and a capture contains only its attention: open a run or checkpoint.");
  return snapshot.captured->hidden.empty()
             ? tr("This view needs hidden states, which this capture does not contain: add the tensor “hidden”.")
             : nullptr;
}

const char* title_of(const Workspace& workspace, const ModelConfig& model) {
  return model.is_masked_lm() && workspace.title_of_masks ? workspace.title_of_masks : workspace.title;
}

const char* workspace_refusal(const Workspace& workspace, const Snapshot& snapshot) {
  WorkspaceView whole{};
  whole.needs = workspace.least;
  const char* why_not = view_refusal(whole, snapshot);
  for (const WorkspaceView& view : views_of(workspace)) {
    why_not = view_refusal(view, snapshot);
    if (!why_not) break;
  }
  return why_not;
}

std::size_t draw_view_choices(std::span<const WorkspaceView> all, std::size_t shown, const Skin& skin,
                              const std::string& more, const Snapshot* snapshot) {
  const auto has_no_place = [&](const WorkspaceView& view) { return snapshot && view_refusal(view, *snapshot); };
  std::vector<WorkspaceView> views;
  std::ranges::remove_copy_if(all, std::back_inserter(views), has_no_place);
  const auto index_of = [&](const WorkspaceView& view) {
    return static_cast<std::size_t>(std::ranges::find(all, view.name, &WorkspaceView::name) - all.begin());
  };
  const auto width = [&](const WorkspaceView& view) { return button_width(tr(view.title)) + skin.px(4); };
  float whole = 0;
  for (const WorkspaceView& view : views) whole += width(view);
  const float room = ImGui::GetContentRegionAvail().x;
  const bool brief = whole > room;
  float padding = ImGui::GetStyle().FramePadding.x;
  if (brief) {  // at most 4 pixels, fewer if that keeps one row
    float titles = 0;
    for (const WorkspaceView& view : views)
      titles += ImGui::CalcTextSize(tr(view.short_title ? view.short_title : view.title)).x + skin.px(4);
    padding = clamped((room - titles) / (2 * static_cast<float>(views.size())), skin.px(2), skin.px(4));
  }
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {padding, ImGui::GetStyle().FramePadding.y});
  for (const WorkspaceView& view : views) {
    const std::size_t i = index_of(view);
    const bool shortened = brief && view.short_title;
    const std::string help = (shortened ? fmt::format("{}. {}", tr(view.title), tr(view.help)) : tr(view.help)) + more;
    if (draw_choice(tr_label(shortened ? view.short_title : view.title), shown == i, help, skin)) shown = i;
  }
  ImGui::PopStyleVar();
  return shown;
}

}  // namespace attnscope
