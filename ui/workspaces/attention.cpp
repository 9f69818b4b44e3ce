#include "workspaces/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "widgets/heatmap.h"
#include "widgets/splitter.h"
#include "widgets/token_strip.h"
#include "widgets/tooltip.h"

namespace attnscope {
namespace {

constexpr std::array parts = {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross};

struct PartText {
  const char* name;
  const char* what;  // in a few words, beside the name
  const char* help;
  const char* row_axis;
  const char* col_axis;
};

const PartText& text_of(AttentionPart part) {
  static constexpr std::array<PartText, 3> texts = {{
      {"Encoder", "self-attention", "Every source piece looks at every source piece (paper §3.2.3).",
       "query: source piece", "key: source piece"},
      {"Decoder", "masked self-attention",
       "Every decoder input looks at itself and at what came before it; the look-ahead mask hides the rest (paper "
       "§3.2.3).",
       "query: decoder input", "key: decoder input"},
      {"Cross", "decoder over source",
       "Every word being written looks at the source: queries from the decoder, keys and values from the encoder's "
       "output (paper §3.2.3).",
       "query: the word being written", "key: source piece"},
  }};
  return texts[static_cast<std::size_t>(part)];
}

const Shown& shown_for(AttentionPart part, const Shown& newest, const Shown& complete) {
  return part == AttentionPart::encoder ? newest : complete;
}

const std::vector<Token>& row_tokens(const Snapshot& snapshot, AttentionPart part) {
  switch (part) {
    case AttentionPart::encoder:
      return snapshot.source;
    case AttentionPart::decoder:
      return snapshot.target_in;
    case AttentionPart::cross:
      return snapshot.target_out;
  }
  return snapshot.source;
}

const std::vector<Token>& col_tokens(const Snapshot& snapshot, AttentionPart part) {
  return part == AttentionPart::decoder ? snapshot.target_in : snapshot.source;
}

int heads_of(const AttentionMaps& maps) {
  return maps.empty() ? 0 : static_cast<int>(maps.front().size());
}

// The weight drawn in the brightest colour.
float brightest(const Matrix& map, bool full_contrast) {
  if (!full_contrast || map.empty()) return 1;
  return *std::max_element(map.values.begin(), map.values.end());
}

// The side of a thumbnail with which the three groups fill the column.
float cell_side(const Shown& newest, const Shown& complete, ImVec2 space, const Look& look) {
  int rows = 0;
  int groups = 0;
  int heads = 1;
  for (const AttentionPart part : parts) {
    const Shown& shown = shown_for(part, newest, complete);
    if (!shown.snapshot) continue;
    const AttentionMaps& maps = maps_of(*shown.snapshot, part);
    rows += static_cast<int>(maps.size());
    groups += 1;
    heads = std::max(heads, heads_of(maps));
  }
  const float gap = look.px(5);
  const float heading = font_size(look.fonts.ui) + font_size(look.fonts.mono_small) + look.px(18);
  const float by_width = (space.x - look.px(26)) / static_cast<float>(heads) - gap;
  const float by_height =
      (space.y - heading * static_cast<float>(groups)) / static_cast<float>(std::max(1, rows)) - gap;
  // Below this nothing can be told apart: the column scrolls instead.
  return std::floor(std::clamp(std::min(by_width, std::max(by_height, look.px(30))), look.px(18), look.px(150)));
}

void thumbnail_tooltip(const Matrix& map, AttentionPart part, int layer, int head) {
  if (!ImGui::IsItemHovered()) return;
  ImGui::BeginTooltip();
  ImGui::Text("%s, layer %d, head %d", text_of(part).name, layer + 1, head + 1);
  ImGui::Text("mean entropy of a row: %.2f nats", static_cast<double>(mean_row_entropy(map)));
  ImGui::EndTooltip();
}

// Draws a group's heads, layers from top to bottom; a click selects.
void draw_group(const Shown& shown, AttentionPart part, float cell, AttentionView& view, TextureStore& textures,
                const Look& look) {
  ImGui::PushID(static_cast<int>(part));
  {
    const WithFont bold(look.fonts.bold);
    ImGui::TextUnformatted(text_of(part).name);
  }
  help_tooltip(text_of(part).help, look);
  ImGui::SameLine(0, look.px(6));
  if (ImGui::CalcTextSize(text_of(part).what).x < ImGui::GetContentRegionAvail().x) {
    ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
    ImGui::TextUnformatted(text_of(part).what);
    ImGui::PopStyleColor();
    help_tooltip(text_of(part).help, look);
  } else {
    ImGui::NewLine();
  }

  const AttentionMaps& maps = maps_of(*shown.snapshot, part);
  const WithFont font(look.fonts.mono_small);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float left = look.px(24);
  const float top = ImGui::GetFontSize() + look.px(2);
  const float pitch = cell + look.px(5);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (int layer = 0; layer < static_cast<int>(maps.size()); ++layer) {
    const float y = origin.y + top + static_cast<float>(layer) * pitch;
    list.AddText(ImVec2(origin.x, y + (cell - ImGui::GetFontSize()) * 0.5F), look.theme.text_dim,
                 fmt::format("L{}", layer + 1).c_str());
    const auto& heads = maps[static_cast<std::size_t>(layer)];
    for (int head = 0; head < static_cast<int>(heads.size()); ++head) {
      const float x = origin.x + left + static_cast<float>(head) * pitch;
      const std::string name = fmt::format("H{}", head + 1);
      if (layer == 0 && (cell >= look.px(22) || head % 2 == 0)) {
        const float width = ImGui::CalcTextSize(name.c_str()).x;
        list.AddText(ImVec2(x + (cell - width) * 0.5F, origin.y), look.theme.text_dim, name.c_str());
      }
      ImGui::SetCursorScreenPos(ImVec2(x, y));
      const Matrix& map = heads[static_cast<std::size_t>(head)];
      const bool selected = view.part == part && view.layer == layer && view.head == head;
      const std::string id = fmt::format("{}.{}", layer, head);
      ThumbnailOptions options;
      options.high = brightest(map, view.full_contrast);
      options.mask_upper = part == AttentionPart::decoder;
      options.selected = selected;
      if (draw_thumbnail(id.c_str(), map, shown.version, ImVec2(cell, cell), options, textures, look)) {
        if (view.part != part) view.pinned_row.reset();
        view.part = part;
        view.layer = layer;
        view.head = head;
      }
      thumbnail_tooltip(map, part, layer, head);
    }
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(ImVec2(left + pitch * static_cast<float>(heads_of(maps)),
                      top + pitch * static_cast<float>(maps.size()) + look.px(6)));
  ImGui::PopID();
}

void draw_grid(const Shown& newest, const Shown& complete, AttentionView& view, TextureStore& textures,
               const Look& look) {
  const float cell = cell_side(newest, complete, ImGui::GetContentRegionAvail(), look);
  for (const AttentionPart part : parts) {
    const Shown& shown = shown_for(part, newest, complete);
    if (shown.snapshot) draw_group(shown, part, cell, view, textures, look);
  }
}

// One row of the map as bars, the largest weight first.
void draw_row_bars(const Matrix& map, int row, const std::vector<std::string>& keys, const Look& look) {
  std::vector<int> order(static_cast<std::size_t>(map.cols));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return map.at(row, a) > map.at(row, b); });

  const WithFont font(look.fonts.mono);
  const float height = ImGui::GetFontSize() + look.px(3);
  const float width = ImGui::GetContentRegionAvail().x;
  const float label_width = std::min(width * 0.42F, look.px(130));
  const float value_width = ImGui::CalcTextSize("0.000").x + look.px(8);
  const float bar_width = std::max(look.px(10), width - label_width - value_width - look.px(8));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const int col : order) {
    const float weight = map.at(row, col);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(ImVec2(width, height));
    if (!ImGui::IsItemVisible()) continue;
    const std::string& key = keys[static_cast<std::size_t>(col)];
    const float text_y = at.y + (height - ImGui::GetFontSize()) * 0.5F;
    list.PushClipRect(at, ImVec2(at.x + label_width, at.y + height), true);
    list.AddText(ImVec2(at.x, text_y), look.theme.text, key.c_str());
    list.PopClipRect();
    const ImVec2 low(at.x + label_width + look.px(6), at.y + look.px(2));
    list.AddRectFilled(low, ImVec2(low.x + bar_width * std::clamp(weight, 0.0F, 1.0F), at.y + height - look.px(3)),
                       look.theme.accent, look.px(2));
    list.AddText(ImVec2(low.x + bar_width + look.px(4), text_y), look.theme.text_dim,
                 fmt::format("{:.3f}", weight).c_str());
  }
}

struct Selected {
  const Shown& shown;
  const Matrix& map;
  AttentionPart part;
  std::vector<std::string> rows;
  std::vector<std::string> cols;
};

void draw_row_panel(const Selected& selected, AttentionView& view, int hovered_row, const Look& look) {
  const int row = view.pinned_row ? *view.pinned_row : hovered_row;
  if (row < 0) {
    ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted("Point at a row to see where it looks; click to keep it.");
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    return;
  }
  push_font(look.fonts.mono);
  ImGui::TextUnformatted(selected.rows[static_cast<std::size_t>(row)].c_str());
  pop_font();
  ImGui::SameLine(0, look.px(8));
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::TextUnformatted("looks at");
  ImGui::PopStyleColor();
  if (view.pinned_row) {
    ImGui::SameLine(0, look.px(8));
    if (ImGui::SmallButton("Unpin")) view.pinned_row.reset();
    help_tooltip("Lets the list follow the mouse again (Escape).", look);
  }
  ImGui::BeginChild("bars", ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  draw_row_bars(selected.map, row, selected.cols, look);
  ImGui::EndChild();
}

void draw_caption(const Selected& selected, AttentionView& view, const Look& look) {
  const PartText& text = text_of(selected.part);
  ImGui::AlignTextToFramePadding();
  {
    const WithFont bold(look.fonts.bold);
    ImGui::Text("%s, layer %d, head %d", text.name, view.layer + 1, view.head + 1);
  }
  help_tooltip(text.help, look);
  ImGui::SameLine(0, look.px(12));
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  const float entropy = mean_row_entropy(selected.map);
  ImGui::Text("entropy %.2f nats", static_cast<double>(entropy));
  help_tooltip(
      fmt::format("Mean over the rows of −Σ w ln w. 0: every row looks at one place; ln {} = {:.2f}: evenly at "
                  "all. Step {}.",
                  selected.map.cols, std::log(static_cast<double>(std::max(1, selected.map.cols))),
                  selected.shown.snapshot->step),
      look);
  ImGui::PopStyleColor();
  const float box = ImGui::GetFrameHeight() + ImGui::CalcTextSize("Full contrast").x + look.px(12);
  ImGui::SameLine(0, look.px(12));
  if (ImGui::GetContentRegionAvail().x < box) ImGui::NewLine();
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, ImGui::GetContentRegionAvail().x - box));
  ImGui::Checkbox("Full contrast", &view.full_contrast);
  help_tooltip(
      "Colours go from 0 to each map's largest weight instead of 1: for long sentences, whose weights are all small. "
      "The values stay as they are.",
      look);
}

void draw_large(const Selected& selected, AttentionView& view, TextureStore& textures, const Look& look) {
  draw_caption(selected, view, look);
  const ImVec2 space = ImGui::GetContentRegionAvail();
  // The list of weights stands where there is room to spare.
  const bool beside = space.x > space.y * 1.15F;
  const float list_width = std::clamp(space.x * 0.3F, look.px(170), look.px(300));
  const ImVec2 map_size = beside ? ImVec2(space.x - list_width - look.px(8), space.y)
                                 : ImVec2(space.x, std::min(space.y * 0.7F, space.x * 1.05F));

  HeatmapOptions options;
  options.row_axis = text_of(selected.part).row_axis;
  options.col_axis = text_of(selected.part).col_axis;
  options.row_labels = selected.rows;
  options.col_labels = selected.cols;
  options.mask_upper = selected.part == AttentionPart::decoder;
  options.high = brightest(selected.map, view.full_contrast);
  options.selected_row = view.pinned_row.value_or(-1);
  const HeatmapResult result =
      draw_heatmap("large", selected.map, selected.shown.version, map_size, options, textures, look);
  if (result.clicked) {
    const bool again = view.pinned_row == result.row;
    view.pinned_row = again ? std::nullopt : std::optional(result.row);
  }
  if (beside) ImGui::SameLine(0, look.px(8));
  ImGui::BeginChild("row", beside ? ImVec2(0, space.y) : ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  draw_row_panel(selected, view, result.row, look);
  ImGui::EndChild();
}

}  // namespace

const AttentionMaps& maps_of(const Snapshot& snapshot, AttentionPart part) {
  switch (part) {
    case AttentionPart::encoder:
      return snapshot.encoder;
    case AttentionPart::decoder:
      return snapshot.decoder;
    case AttentionPart::cross:
      return snapshot.cross;
  }
  return snapshot.encoder;
}

AttentionView clamped(AttentionView view, const Snapshot& snapshot) {
  const AttentionMaps& maps = maps_of(snapshot, view.part);
  view.layer = std::clamp(view.layer, 0, std::max(0, static_cast<int>(maps.size()) - 1));
  view.head = std::clamp(view.head, 0, std::max(0, heads_of(maps) - 1));
  const auto rows = static_cast<int>(row_tokens(snapshot, view.part).size());
  if (view.pinned_row && *view.pinned_row >= rows) view.pinned_row.reset();
  return view;
}

float mean_row_entropy(const Matrix& weights) {
  if (weights.rows == 0) return 0;
  double sum = 0;
  for (const float weight : weights.values) {
    if (weight > 0) sum -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
  }
  return static_cast<float>(sum / weights.rows);
}

void move_selection(AttentionView& view, const Snapshot& snapshot, int heads, int layers) {
  view = clamped(view, snapshot);
  view.head = std::clamp(view.head + heads, 0, std::max(0, heads_of(maps_of(snapshot, view.part)) - 1));
  const int layer = view.layer + layers;
  const auto count = [&](AttentionPart part) { return static_cast<int>(maps_of(snapshot, part).size()); };
  if (layer >= 0 && layer < count(view.part)) {
    view.layer = layer;
    return;
  }
  // Past the last layer of a part begins the next part.
  const int next = static_cast<int>(view.part) + (layers > 0 ? 1 : -1);
  if (next < 0 || next >= static_cast<int>(parts.size()) || count(parts[static_cast<std::size_t>(next)]) == 0) return;
  view.part = parts[static_cast<std::size_t>(next)];
  view.layer = layers > 0 ? 0 : count(view.part) - 1;
  view.pinned_row.reset();
}

void move_pinned_row(AttentionView& view, const Snapshot& snapshot, int rows) {
  const auto count = static_cast<int>(row_tokens(snapshot, view.part).size());
  if (count == 0) return;
  const int from = view.pinned_row.value_or(rows > 0 ? -1 : count);
  view.pinned_row = std::clamp(from + rows, 0, count - 1);
}

void draw_attention(const Shown& newest, const Shown& complete, AttentionView& view, float& grid_width,
                    TextureStore& textures, const Look& look) {
  const float height = ImGui::GetContentRegionAvail().y;
  // In a narrow window the large map comes first.
  const float width = std::min(look.px(grid_width), ImGui::GetContentRegionAvail().x * 0.4F);
  ImGui::BeginChild("heads", ImVec2(width, height), false,
                    ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_HorizontalScrollbar);
  draw_grid(newest, complete, view, textures, look);
  ImGui::EndChild();
  ImGui::SameLine(0, 0);
  draw_splitter("heads_edge", grid_width, height, {.min = 140, .max = 900, .standard = 340}, look);
  ImGui::SameLine(0, look.px(4));
  ImGui::BeginChild("map", ImVec2(0, height), false, ImGuiWindowFlags_NoNavInputs);
  const Shown& shown = shown_for(view.part, newest, complete);
  if (!shown.snapshot || maps_of(*shown.snapshot, view.part).empty()) {
    draw_quiet_note("decoding…", ImGui::GetContentRegionAvail(), look);
  } else {
    view = clamped(view, *shown.snapshot);
    const Matrix& map =
        maps_of(*shown.snapshot, view.part)[static_cast<std::size_t>(view.layer)][static_cast<std::size_t>(view.head)];
    draw_large({shown, map, view.part, token_labels(row_tokens(*shown.snapshot, view.part)),
                token_labels(col_tokens(*shown.snapshot, view.part))},
               view, textures, look);
  }
  ImGui::EndChild();
}

}  // namespace attnscope
