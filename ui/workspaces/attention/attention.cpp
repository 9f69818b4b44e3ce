#include "workspaces/attention/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/input.h"
#include "base/translation.h"
#include "widgets/row.h"
#include "widgets/splitter.h"
#include "widgets/words.h"
#include "workspaces/attention/interventions.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

constexpr std::array levels = {
    WorkspaceView{"model", "Model", "All heads of all layers, for sorting and comparing.", nullptr,
                  ViewNeeds::attention},
    WorkspaceView{"head", "Head", "One head: which token attends to which, and how much.", nullptr,
                  ViewNeeds::attention},
    WorkspaceView{"inside", "Inside one head",
                  "The selected head's own numbers: q·k, ÷√d_k, mask, softmax, ×V, W_O (paper §3.2.1)."},
    WorkspaceView{"sublayers", "Sublayers", "The effect of each sublayer on every token's vector (paper §3.1, §3.3)."},
};
static_assert(levels.size() == static_cast<std::size_t>(AttentionLevel::sublayers) + 1);

// ---- the keys

// The snapshot with all existing parts, so that the selection can move between parts; null: nothing to move in.
const Snapshot* walked(const WorkspaceContext& context) {
  const Shown& shown = context.maps.of(context.views.of<AttentionView>().part);
  if (!shown.snapshot) return nullptr;
  const Shown& complete = context.maps.complete;
  return complete.snapshot ? complete.snapshot.get() : shown.snapshot.get();
}

template <int heads, int layers>
void move_head(WorkspaceContext& context) {
  if (const Snapshot* snapshot = walked(context))
    move_selection(context.views.of<AttentionView>(), *snapshot, heads, layers);
}

template <int by>
void move_row(WorkspaceContext& context) {
  if (const Snapshot* snapshot = walked(context)) move_pinned_row(context.views.of<AttentionView>(), *snapshot, by);
}

template <int by>
void change_level(WorkspaceContext& context) {
  if (const Snapshot* snapshot = walked(context)) move_level(context.views.of<AttentionView>(), snapshot->model, by);
}

constexpr const char* next_head = mark("next head, next layer");
constexpr const char* next_row = mark("the row whose weights are listed");
constexpr const char* next_level = mark("one level in, one level out");
constexpr std::array keys = {
    WorkspaceKey{{.key = Key::left, .repeats = true}, next_head, move_head<-1, 0>},
    WorkspaceKey{{.key = Key::right, .repeats = true}, next_head, move_head<1, 0>},
    WorkspaceKey{{.key = Key::up, .repeats = true}, next_head, move_head<0, -1>},
    WorkspaceKey{{.key = Key::down, .repeats = true}, next_head, move_head<0, 1>},
    WorkspaceKey{{.key = Key::page_up, .repeats = true}, next_row, move_row<-1>},
    WorkspaceKey{{.key = Key::page_down, .repeats = true}, next_row, move_row<1>},
    WorkspaceKey{{.key = Key::enter}, next_level, change_level<1>},
    WorkspaceKey{{.key = Key::backspace}, next_level, change_level<-1>},
};

// ---- the picture

void draw_levels(AttentionView& view, const Snapshot& snapshot, const Skin& skin) {
  const std::string keys_help = fmt::format(" {}: {}.", keys_text(keys, next_level), tr(next_level));
  view.level = static_cast<AttentionLevel>(
      draw_view_choices(levels, static_cast<std::size_t>(view.level), skin, keys_help, &snapshot));
}

// At the right end of the levels' row, because it applies to all maps of the workspace.
void draw_contrast(AttentionView& view, const Skin& skin) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(skin.px(1), skin.px(1)));
  const float width = checkbox_width(tr("Full contrast")) + skin.px(6);
  const float left = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width;
  if (ImGui::GetCursorPosX() > left) ImGui::NewLine();
  ImGui::SetCursorPosX(std::max(ImGui::GetCursorPosX(), left));
  ImGui::Checkbox(tr_label("Full contrast"), &view.full_contrast);
  ImGui::PopStyleVar();
  help_tooltip(tr("Colors run from 0 to each map's largest weight instead of 1. Use it for long sentences, whose "
                  "weights are all small. The values do not change."),
               skin);
}

// True for levels that need more than the maps, which is all that recorded frames contain.
bool is_of_the_present(AttentionLevel level) {
  return level == AttentionLevel::inside || level == AttentionLevel::sublayers;
}

void draw_level(const WorkspaceContext& context, AttentionView& view) {
  if (is_of_the_present(view.level) && is_recorded(*context.maps.newest.snapshot))
    return draw_quiet_note(recorded_note(context.maps.newest), ImGui::GetContentRegionAvail(), context.skin);
  // Same order as AttentionLevel.
  constexpr std::array draws = {draw_model, draw_head, draw_inside, draw_sublayers};
  static_assert(draws.size() == levels.size());
  draws[static_cast<std::size_t>(view.level)](context.maps, view, context.textures, context.skin);
}

// Draws the thumbnails next to the more detailed levels.
void draw_heads_column(const WorkspaceContext& context, AttentionView& view) {
  const Skin& skin = context.skin;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  // In a narrow window, and on a projector, the large map has priority.
  const float most = room.x * (skin.presentation ? 0.24F : 0.4F);
  ImGui::BeginChild("heads", ImVec2(std::min(skin.px(context.side_width), most), room.y), false,
                    view_flags() | ImGuiWindowFlags_HorizontalScrollbar);
  draw_heads(context.maps, view, context.textures, skin);
  ImGui::EndChild();
  ImGui::SameLine(0, 0);
  draw_splitter("heads_edge", context.side_width, room.y, {.min = 140, .max = 900, .standard = 340}, skin);
  ImGui::SameLine(0, skin.px(4));
}

}  // namespace

std::span<const WorkspaceKey> attention_keys() {
  return keys;
}

std::span<const WorkspaceView> attention_levels() {
  return levels;
}

void show_level(Views& views, std::size_t level) {
  views.of<AttentionView>().level = static_cast<AttentionLevel>(level);
}

void ask_for_level(const Views& views, Probe& probe) {
  const AttentionView& view = views.of<AttentionView>();
  if (view.level == AttentionLevel::inside) probe.inside = view.place();
  probe.sublayers = view.level == AttentionLevel::sublayers;
}

bool is_measuring(const Views& views) {
  const AttentionView& view = views.of<AttentionView>();
  return view.measures.pending || view.map.pending;
}

void draw_attention(WorkspaceContext& context) {
  const ShownMaps& maps = context.maps;
  const Skin& skin = context.skin;
  AttentionView& view = context.views.of<AttentionView>();
  const ModelConfig& model = maps.newest.snapshot->model;
  begin(view, *maps.newest.snapshot);
  settle(view, model);
  if (!has_part(model, view.part)) {
    draw_interventions(maps, view, skin);
    return draw_quiet_note(no_attention_text(model).c_str(), ImGui::GetContentRegionAvail(), skin);
  }
  measure_heads(maps, view);
  // A recurrent model has one map and no layers or sublayers, so there is nothing to select.
  if (model.is_recurrent()) {
    view.level = AttentionLevel::head;
  } else {
    draw_levels(view, *maps.newest.snapshot, skin);
  }
  if (!model.is_capture()) {
    draw_interventions(maps, view, skin);
    ImGui::SameLine(0, skin.px(4));
  }
  if (model.has_weights()) {
    draw_contrast(view, skin);
  } else {
    ImGui::NewLine();
  }
  if (!view.interventions.empty()) draw_effect(maps, view, skin);
  if (!model.is_recurrent() && view.level != AttentionLevel::model) {
    draw_heads_column(context, view);
  }
  ImGui::BeginChild("level", ImVec2(0, 0), false, view_flags());
  draw_level(context, view);
  ImGui::EndChild();
}

}  // namespace attnscope
