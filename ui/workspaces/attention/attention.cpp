#include "workspaces/attention/attention.h"

#include <algorithm>
#include <array>

#include "widgets/choice_row.h"
#include "widgets/heatmap.h"
#include "widgets/splitter.h"
#include "widgets/tooltip.h"
#include "workspaces/attention/changes.h"
#include "workspaces/attention/head.h"
#include "workspaces/attention/inside.h"
#include "workspaces/attention/model.h"
#include "workspaces/attention/sublayers.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

struct LevelText {
  AttentionLevel level;
  std::string_view name;  // on the command line
  const char* title;
  const char* help;
};

constexpr std::array levels = {
    LevelText{AttentionLevel::model, "model", "Model", "Every head of every layer, to be sorted and compared."},
    LevelText{AttentionLevel::head, "head", "Head", "One head: who looks at whom, and how much."},
    LevelText{AttentionLevel::inside, "inside", "Inside one head",
              "The head's own numbers: q·k, ÷√d_k, mask, softmax, ×V, W_O (paper §3.2.1)."},
    LevelText{AttentionLevel::sublayers, "sublayers", "Add & norm, feed-forward",
              "What every sublayer does to every piece's vector (paper §3.1, §3.3)."},
};

void draw_levels(AttentionView& view, const Look& look) {
  for (const LevelText& text : levels) {
    const std::string help = std::string(text.help) + " Enter: the next nearer level, Backspace: the next farther one.";
    if (draw_choice(text.title, view.level == text.level, help, look)) view.level = text.level;
  }
}

// At the right end of the levels' row: it is about every map of the workspace.
void draw_contrast(AttentionView& view, const Look& look) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(look.px(1), look.px(1)));
  const float width = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x +
                      ImGui::CalcTextSize("Full contrast").x + look.px(6);
  const float left = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width;
  if (ImGui::GetCursorPosX() > left) ImGui::NewLine();
  ImGui::SetCursorPosX(std::max(ImGui::GetCursorPosX(), left));
  ImGui::Checkbox("Full contrast", &view.full_contrast);
  ImGui::PopStyleVar();
  help_tooltip(
      "Colours go from 0 to each map's largest weight instead of 1: for long sentences, whose weights are all small. "
      "The values stay as they are.",
      look);
}

// Recorded frames hold the maps alone.
bool is_of_the_present(AttentionLevel level) {
  return level == AttentionLevel::inside || level == AttentionLevel::sublayers;
}

void draw_level(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Look& look) {
  if (is_of_the_present(view.level) && is_recorded(*maps.newest.snapshot))
    return draw_quiet_note(recorded_note, ImGui::GetContentRegionAvail(), look);
  switch (view.level) {
    case AttentionLevel::model:
      return draw_model(maps, view, textures, look);
    case AttentionLevel::head:
      return draw_head(maps, view, textures, look);
    case AttentionLevel::inside:
      return draw_inside(maps, view, textures, look);
    case AttentionLevel::sublayers:
      return draw_sublayers(maps, view, textures, look);
  }
}

// The thumbnails beside every nearer level: to choose from.
void draw_heads_column(const ShownMaps& maps, AttentionView& view, float& width, TextureStore& textures,
                       const Look& look) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  // In a narrow window the large map comes first.
  ImGui::BeginChild("heads", ImVec2(std::min(look.px(width), room.x * 0.4F), room.y), false,
                    ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_HorizontalScrollbar);
  draw_heads(maps, view, textures, look);
  ImGui::EndChild();
  ImGui::SameLine(0, 0);
  draw_splitter("heads_edge", width, room.y, {.min = 140, .max = 900, .standard = 340}, look);
  ImGui::SameLine(0, look.px(4));
}

}  // namespace

std::optional<AttentionLevel> level_from(std::string_view name) {
  const auto found = std::ranges::find(levels, name, &LevelText::name);
  return found == levels.end() ? std::nullopt : std::optional(found->level);
}

std::vector<std::string> level_names() {
  std::vector<std::string> names;
  for (const LevelText& text : levels) names.emplace_back(text.name);
  return names;
}

void draw_attention(const ShownMaps& maps, AttentionView& view, float& grid_width, TextureStore& textures,
                    const Look& look) {
  const ModelConfig& model = maps.newest.snapshot->model;
  begin(view, *maps.newest.snapshot);
  settle(view, model);
  if (!has_part(model, view.part)) {
    draw_changes(maps, view, look);
    return draw_quiet_note(no_attention_text(model).c_str(), ImGui::GetContentRegionAvail(), look);
  }
  measure_heads(maps, view);
  // A recurrent model has one map, without layers and sublayers: there is nothing to choose from.
  if (model.is_recurrent()) {
    view.level = AttentionLevel::head;
  } else {
    draw_levels(view, look);
  }
  // While nothing is changed there is but a button, which needs no line of its own.
  const bool unchanged = view.changes.empty();
  if (unchanged) {
    draw_changes(maps, view, look);
    ImGui::SameLine(0, look.px(4));
  }
  draw_contrast(view, look);
  if (!unchanged) draw_changes(maps, view, look);
  if (!model.is_recurrent() && view.level != AttentionLevel::model) {
    draw_heads_column(maps, view, grid_width, textures, look);
  }
  ImGui::BeginChild("level", ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  draw_level(maps, view, textures, look);
  ImGui::EndChild();
}

}  // namespace attnscope
