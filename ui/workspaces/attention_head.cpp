#include "workspaces/attention_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "widgets/heatmap.h"
#include "widgets/token_strip.h"
#include "widgets/tooltip.h"
#include "workspaces/attention_row.h"
#include "workspaces/attention_text.h"

namespace attnscope {
namespace {

// A remark in small letters, as many lines as it needs.
void quiet_text(const char* text, const Look& look) {
  const WithFont small(look.fonts.small);
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text);
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

struct Selected {
  const Shown& shown;
  const Matrix& map;
  AttentionPart part;
  std::vector<std::string> rows;
  std::vector<std::string> cols;
};

// Whose weights are listed while no row is hovered.
int kept_row(const Selected& selected, const AttentionView& view) {
  return view.pinned_row.value_or(first_row(*selected.shown.snapshot, selected.part));
}

float row_title_height() {
  return ImGui::GetFrameHeightWithSpacing();
}

void draw_row_panel(const Selected& selected, AttentionView& view, int row, const Look& look) {
  constexpr const char* hint = "Point at a row to see where it looks; click to keep it.";
  if (row < 0) return quiet_text(hint, look);
  ImGui::AlignTextToFramePadding();
  push_font(look.fonts.mono);
  ImGui::TextUnformatted(selected.rows[static_cast<std::size_t>(row)].c_str());
  pop_font();
  ImGui::SameLine(0, look.px(8));
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::TextUnformatted("looks at");
  ImGui::PopStyleColor();
  help_tooltip(hint, look);
  if (view.pinned_row) {
    ImGui::SameLine(0, look.px(8));
    if (ImGui::SmallButton("Unpin")) view.pinned_row.reset();
    help_tooltip("Lets the list follow the mouse again (Escape).", look);
  }
  const bool causal = selected.part == AttentionPart::decoder;
  draw_row_list(selected.map, row, causal ? row + 1 : selected.map.cols, selected.cols, look);
}

void draw_caption(const Selected& selected, AttentionView& view, const Look& look) {
  const ModelConfig& model = selected.shown.snapshot->model;
  const PartText& text = text_of(selected.part, model);
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - look.px(6);
  const float box =
      ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x + ImGui::CalcTextSize("Full contrast").x;
  const std::string entropy = fmt::format("entropy {:.2f} nats", mean_row_entropy(selected.map));
  ImGui::AlignTextToFramePadding();
  {
    const WithFont bold(look.fonts.bold);
    ImGui::TextUnformatted(title_of(view.place(), model).c_str());
  }
  const std::string help = fmt::format(
      "{}\n{}: mean over the rows of −Σ w ln w. 0: every row looks at one place; ln {} = {:.2f}: evenly at all. Step "
      "{}.",
      text.help, entropy, selected.map.cols, std::log(static_cast<double>(std::max(1, selected.map.cols))),
      selected.shown.snapshot->step);
  help_tooltip(help, look);
  ImGui::SameLine(0, look.px(12));
  if (ImGui::GetCursorPosX() + ImGui::CalcTextSize(entropy.c_str()).x + look.px(12) + box <= right) {
    ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
    ImGui::TextUnformatted(entropy.c_str());
    ImGui::PopStyleColor();
    help_tooltip(help, look);
    ImGui::SameLine(0, look.px(12));
  }
  if (ImGui::GetCursorPosX() + box > right) ImGui::NewLine();
  ImGui::SetCursorPosX(std::max(ImGui::GetCursorPosX(), right - box));
  ImGui::Checkbox("Full contrast", &view.full_contrast);
  help_tooltip(
      "Colours go from 0 to each map's largest weight instead of 1: for long sentences, whose weights are all small. "
      "The values stay as they are.",
      look);
  quiet_text(text.reads, look);
}

void draw_large(const Selected& selected, AttentionView& view, TextureStore& textures, const Look& look) {
  draw_caption(selected, view, look);
  const ImVec2 space = ImGui::GetContentRegionAvail();
  // The list of weights stands where there is room to spare.
  const bool beside = space.x > space.y * 1.15F;
  const float list_width = std::clamp(space.x * 0.3F, look.px(170), look.px(300));
  const float list_height =
      std::min(row_title_height() + row_list_height(selected.map.cols, look), std::max(space.y * 0.26F, look.px(90)));

  HeatmapOptions options;
  const PartText& text = text_of(selected.part, selected.shown.snapshot->model);
  options.row_axis = text.row_axis;
  options.col_axis = text.col_axis;
  options.row_labels = selected.rows;
  options.col_labels = selected.cols;
  options.stretch = 3;
  options.mask_upper = selected.part == AttentionPart::decoder;
  options.high = brightest(selected.map, view.full_contrast);
  options.selected_row = kept_row(selected, view);
  ImVec2 map_size(beside ? space.x - list_width - look.px(8) : space.x, beside ? space.y : space.y - list_height);
  // Few and large cells leave room to the list.
  if (!beside) map_size.y = std::min(map_size.y, heatmap_height(selected.map, options, map_size, look) + look.px(6));
  const HeatmapResult result =
      draw_heatmap("large", selected.map, selected.shown.version, map_size, options, textures, look);
  if (result.clicked) {
    const bool again = view.pinned_row == result.row;
    view.pinned_row = again ? std::nullopt : std::optional(result.row);
  }
  if (beside) ImGui::SameLine(0, look.px(8));
  ImGui::BeginChild("row", beside ? ImVec2(0, space.y) : ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  const bool follows_mouse = !view.pinned_row && result.row >= 0;
  draw_row_panel(selected, view, follows_mouse ? result.row : kept_row(selected, view), look);
  ImGui::EndChild();
}

}  // namespace

void draw_head(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Look& look) {
  if (maps.lacks(view.part)) return draw_quiet_note("decoding…", ImGui::GetContentRegionAvail(), look);
  const Shown& shown = maps.of(view.part);
  const Snapshot& snapshot = *shown.snapshot;
  view = clamped(view, snapshot);
  const Matrix& map =
      maps_of(snapshot, view.part)[static_cast<std::size_t>(view.layer)][static_cast<std::size_t>(view.head)];
  draw_large({shown, map, view.part, token_labels(row_tokens(snapshot, view.part)),
              token_labels(col_tokens(snapshot, view.part))},
             view, textures, look);
}

}  // namespace attnscope
