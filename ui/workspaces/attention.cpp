#include "workspaces/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/heatmap.h"
#include "widgets/splitter.h"
#include "widgets/token_strip.h"
#include "widgets/tooltip.h"
#include "workspaces/attention_row.h"

namespace attnscope {
namespace {

constexpr std::array parts = {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross};

struct PartText {
  const char* name;
  const char* what;  // in a few words, beside the name
  const char* help;
  const char* reads;  // how to read the large map
  const char* row_axis;
  const char* col_axis;
};

constexpr std::array<PartText, 3> texts = {{
    {"Encoder", "self-attention", "Every source piece looks at every source piece (paper §3.2.3).",
     "Each row is a piece of the sentence; bright cells are the pieces it looks at.", "query: source piece",
     "key: source piece"},
    {"Decoder", "masked self-attention",
     "Every decoder input looks at itself and at what came before it; the look-ahead mask hides the rest (paper "
     "§3.2.3).",
     "Each row is a word written so far; bright cells are the earlier words it looks at.", "query: decoder input",
     "key: decoder input"},
    {"Cross", "decoder over source",
     "Every word being written looks at the source: queries from the decoder, keys and values from the encoder's "
     "output (paper §3.2.3).",
     "Each row is a word being written; bright cells are the source pieces it looks at.",
     "query: the word being written", "key: source piece"},
}};

constexpr PartText text_of_language_model = {
    "Decoder",
    "masked self-attention",
    "Every piece looks at itself and at what came before it; the look-ahead mask hides the rest (paper §3.2.3).",
    "Each row is a piece of the text; bright cells are the pieces it looks at.",
    "query: piece of the text",
    "key: piece of the text"};

constexpr PartText text_of_bahdanau = {
    "Cross",
    "decoder over source",
    "Before a word is written, the decoder's previous state is compared with every state of the encoder (Bahdanau et "
    "al., arXiv 1409.0473 A.1.2).",
    texts[2].reads,
    texts[2].row_axis,
    texts[2].col_axis};

constexpr PartText text_of_luong = {
    "Cross",
    "decoder over source",
    "As a word is written, the decoder's present state is compared with every state of the encoder (Luong et al., "
    "arXiv 1508.04025 §3.1).",
    texts[2].reads,
    texts[2].row_axis,
    texts[2].col_axis};

const PartText& text_of(AttentionPart part, const ModelConfig& model) {
  if (model.is_language_model()) return text_of_language_model;
  if (model.is_recurrent()) return model.attention == "bahdanau" ? text_of_bahdanau : text_of_luong;
  return texts[static_cast<std::size_t>(part)];
}

// "Encoder, layer 2, head 3"; a recurrent model has one map, and a name for how it is made.
std::string title_of(AttentionPart part, int layer, int head, const ModelConfig& model) {
  if (model.is_recurrent()) return fmt::format("Cross · {}", model.attention);
  return fmt::format("{}, layer {}, head {}", text_of(part, model).name, layer + 1, head + 1);
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

// The row to see first: a language model's last given piece, which decides the first new one.
int first_row(const Snapshot& snapshot, AttentionPart part) {
  if (snapshot.model.is_language_model()) return static_cast<int>(snapshot.typed().size()) - 1;
  return telling_row(row_tokens(snapshot, part));
}

int heads_of(const AttentionMaps& maps) {
  return maps.empty() ? 0 : static_cast<int>(maps.front().size());
}

// The weight drawn in the brightest colour.
float brightest(const Matrix& map, bool full_contrast) {
  if (!full_contrast || map.empty()) return 1;
  return *std::max_element(map.values.begin(), map.values.end());
}

// Nothing to draw: not decoded yet, or not in this model.
bool is_empty(const Shown& shown, AttentionPart part) {
  return !shown.snapshot || maps_of(*shown.snapshot, part).empty();
}

// The side of a thumbnail with which the groups fill the column.
float cell_side(const Shown& newest, const Shown& complete, ImVec2 space, const Look& look) {
  int rows = 0;
  int groups = 0;
  int heads = 1;
  for (const AttentionPart part : parts) {
    const Shown& shown = shown_for(part, newest, complete);
    if (is_empty(shown, part)) continue;
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

void thumbnail_tooltip(const Matrix& map, const std::string& title) {
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(title.c_str());
  ImGui::Text("mean entropy of a row: %.2f nats", static_cast<double>(mean_row_entropy(map)));
  ImGui::EndTooltip();
}

void draw_group_heading(const PartText& text, const Look& look) {
  {
    const WithFont bold(look.fonts.bold);
    ImGui::TextUnformatted(text.name);
  }
  help_tooltip(text.help, look);
  ImGui::SameLine(0, look.px(6));
  if (ImGui::CalcTextSize(text.what).x < ImGui::GetContentRegionAvail().x) {
    ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
    ImGui::TextUnformatted(text.what);
    ImGui::PopStyleColor();
    help_tooltip(text.help, look);
  } else {
    ImGui::NewLine();
  }
}

// Draws a group's heads, layers from top to bottom; a click selects.
void draw_group(const Shown& shown, AttentionPart part, float cell, AttentionView& view, TextureStore& textures,
                const Look& look) {
  ImGui::PushID(static_cast<int>(part));
  draw_group_heading(text_of(part, shown.snapshot->model), look);
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
      if (ImGui::IsItemHovered()) thumbnail_tooltip(map, title_of(part, layer, head, shown.snapshot->model));
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
    if (!is_empty(shown, part)) draw_group(shown, part, cell, view, textures, look);
  }
}

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
    ImGui::TextUnformatted(title_of(selected.part, view.layer, view.head, model).c_str());
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

void draw_map(const Shown& newest, const Shown& complete, AttentionView& view, TextureStore& textures,
              const Look& look) {
  const Shown& shown = shown_for(view.part, newest, complete);
  if (is_empty(shown, view.part)) return draw_quiet_note("decoding…", ImGui::GetContentRegionAvail(), look);
  const Snapshot& snapshot = *shown.snapshot;
  view = clamped(view, snapshot);
  const Matrix& map =
      maps_of(snapshot, view.part)[static_cast<std::size_t>(view.layer)][static_cast<std::size_t>(view.head)];
  draw_large({shown, map, view.part, token_labels(row_tokens(snapshot, view.part)),
              token_labels(col_tokens(snapshot, view.part))},
             view, textures, look);
}

}  // namespace

bool has_part(const ModelConfig& model, AttentionPart part) {
  if (model.is_language_model()) return part == AttentionPart::decoder;
  if (model.is_recurrent()) return part == AttentionPart::cross && model.attention != "none";
  return true;
}

void settle(AttentionView& view, const ModelConfig& model) {
  if (has_part(model, view.part)) return;
  for (const AttentionPart part : parts) {
    if (!has_part(model, part)) continue;
    view.part = part;
    view.pinned_row.reset();
    return;
  }
}

std::string no_attention_text(const ModelConfig& model) {
  return fmt::format(
      "No attention: the whole sentence passes through the encoder's last state, {} numbers, however long it is "
      "(arXiv 1409.3215). Choose an attention in the setup to see what it adds.",
      model.d_model);
}

void begin(AttentionView& view, const Snapshot& snapshot) {
  if (view.begun || snapshot.encoder.empty()) return;
  view.begun = true;
  const std::optional<HeadPlace> place = telling_head(snapshot);
  if (!place) return;
  view.part = place->part;
  view.layer = place->layer;
  view.head = place->head;
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
  const int from = view.pinned_row.value_or(first_row(snapshot, view.part));
  view.pinned_row = std::clamp(from + rows, 0, count - 1);
}

void draw_attention(const Shown& newest, const Shown& complete, AttentionView& view, float& grid_width,
                    TextureStore& textures, const Look& look) {
  begin(view, *newest.snapshot);
  const ModelConfig& model = newest.snapshot->model;
  settle(view, model);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (!has_part(model, view.part)) return draw_quiet_note(no_attention_text(model).c_str(), room, look);
  // A recurrent model has one map: there is nothing to choose from.
  if (!model.is_recurrent()) {
    // In a narrow window the large map comes first.
    const float width = std::min(look.px(grid_width), room.x * 0.4F);
    ImGui::BeginChild("heads", ImVec2(width, room.y), false,
                      ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_HorizontalScrollbar);
    draw_grid(newest, complete, view, textures, look);
    ImGui::EndChild();
    ImGui::SameLine(0, 0);
    draw_splitter("heads_edge", grid_width, room.y, {.min = 140, .max = 900, .standard = 340}, look);
    ImGui::SameLine(0, look.px(4));
  }
  ImGui::BeginChild("map", ImVec2(0, room.y), false, ImGuiWindowFlags_NoNavInputs);
  draw_map(newest, complete, view, textures, look);
  ImGui::EndChild();
}

}  // namespace attnscope
