#include "workspaces/attention/inside_cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "analysis/matrix_algebra.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/card_grid.h"
#include "widgets/heatmap.h"
#include "widgets/heatmap_layout.h"
#include "widgets/painter.h"
#include "widgets/words.h"
#include "workspaces/attention/inside_stages.h"

namespace attnscope {
namespace {

// Same order as Stage.
struct StageText {
  const char* id;
  const char* op;  // operator between the previous card and this one
  const char* help;
};

constexpr std::array<StageText, num_stages> stage_texts = {
    StageText{"q", "", mark("Queries, one row per token: what each token looks for. x·W_Q + b_Q, this head's part.")},
    StageText{"k", "×",
              mark("Keys, one row per token: what queries are compared with. x·W_K + b_K, this head's part.")},
    StageText{"products", "=", mark("Every query with every key: q·k = Σ_d q_d k_d (paper §3.2.1).")},
    StageText{"bias", "+",
              mark("Relative position bias: added to the scaled scores, so that this head can use token order.")},
    StageText{"scores", "→",
              mark("A sum of d_k products grows like √d_k. Dividing by √d_k keeps the softmax out of saturation (paper "
                   "§3.2.1).")},
    StageText{"masked", "→",
              mark("Masked scores become −∞ before the softmax (paper §3.2.3). Click or drag over cells to mask or "
                   "unmask them: a what-if for this head only; the model's weights do not change.")},
    StageText{"weights", "→",
              mark("softmax: each row's weights are positive and sum to 1. The row's largest score is subtracted "
                   "first, which keeps exp small and does not change the result.")},
    StageText{"v", "×", mark("Values, one row per token: what is passed on. x·W_V + b_V, this head's part.")},
    StageText{"output", "=", mark("The head's output: for each query the values, averaged with its weights.")},
    StageText{"heads", "", mark("All heads concatenated (paper §3.2.2); this head's columns are outlined.")},
    StageText{"w_o", "×", mark("W_O, learned: mixes all heads into one vector per token (paper §3.2.2).")},
    StageText{"sublayer", "=",
              mark("The sublayer's output: the heads through W_O, plus b_O. It is added to x next (paper §3.1).")},
};

const StageText& text_of(Stage stage) {
  return stage_texts[static_cast<std::size_t>(stage)];
}

struct Section {
  const char* heading;
  std::span<const Stage> stages;
};

constexpr std::array compare = {Stage::q, Stage::k, Stage::products};
constexpr std::array weigh = {Stage::bias, Stage::scores, Stage::masked, Stage::weights};
constexpr std::array mix = {Stage::v, Stage::output};
constexpr std::array join = {Stage::heads, Stage::w_o, Stage::sublayer};
constexpr std::array sections = {
    Section{mark("1  Compare every query with every key"), compare},
    Section{mark("2  Scale, mask, softmax: scores become weights"), weigh},
    Section{mark("3  Average the values with these weights"), mix},
    Section{mark("4  All heads, through the output projection"), join},
};

std::string title_of(Stage stage, const HeadNumbers& numbers) {
  const HeadInside& head = numbers.head();
  const PositionScheme* bias = biased_by(head, numbers.snapshot->model);
  const PositionScheme* rotation = rotated_by(head, numbers.snapshot->model);
  const std::string rotated = rotation ? fmt::format(", {}", rotation->label) : "";
  const std::string added(bias ? bias->label : "");
  const std::string divided = head.scaled ? fmt::format("q·k ÷ √{:g}", head.scale_width()) : tr("q·k, not scaled");
  const std::array<std::string, num_stages> titles = {
      "Q" + rotated,
      "K" + rotated,
      "q·k",
      added + tr(" bias"),
      bias ? tr("scores") : divided,  // with the bias the formula would be too long for a card
      tr("mask"),
      tr("softmax"),
      "V",
      head.relative_v.empty() ? tr("weights × V") : "w·(V + a^V)",  // Shaw et al.'s relative values
      tr("concat"),
      "W_O",
      tr("output")};
  return titles[static_cast<std::size_t>(stage)];
}

// Shared data for drawing the cards.
struct Context {
  const HeadCards& cards;
  AttentionView& view;
  TextureStore& textures;
  const Skin& skin;
  std::vector<std::string> col_keys;  // key labels over columns; shortened if there is little room
  std::optional<StageCell> pointed;   // in this frame
};

std::span<const std::string> labels_along(const HeadCards& cards, Axis axis) {
  if (axis == Axis::query) return cards.queries;
  if (axis == Axis::key) return cards.keys;
  return {};
}

// Rows and columns from which the hovered cell is computed, or else the selected cell.
Linked highlighted(const Context& context, Stage stage) {
  const HeadInside& head = context.cards.numbers.head();
  const AttentionView& view = context.view;
  if (view.inside.pointed) return linked(*view.inside.pointed, stage, head.place.head * head.q.cols, head.q.cols);
  const StageAxes axes = axes_of(stage);
  const auto along = [&](Axis axis) {
    if (axis == Axis::query) return view.pinned_row.value_or(-1);
    return axis == Axis::key ? view.pinned_col.value_or(-1) : -1;
  };
  return {along(axes.row), along(axes.col)};
}

HeatmapOptions options_of(const Context& context, Stage stage, float largest) {
  const StageAxes axes = axes_of(stage);
  const Linked lit = highlighted(context, stage);
  HeatmapOptions options;
  options.row_labels = labels_along(context.cards, axes.row);
  if (axes.col == Axis::key) options.col_labels = context.col_keys;
  options.square = false;
  options.legend = false;
  options.selected_row = lit.row;
  options.selected_col = lit.col;
  if (stage != Stage::weights) {
    options.map = context.skin.theme.diverging;
    options.low = -largest;
  }
  options.high = largest;
  options.tooltip = [&context, stage](int row, int col) {
    ImGui::PushTextWrapPos(context.skin.px(440));
    const std::string text =
        arithmetic(context.cards.numbers, {stage, row, col}, {context.cards.queries, context.cards.keys});
    plain_text(text);
    ImGui::PopTextWrapPos();
  };
  return options;
}

// A click selects the cell's tokens; a second click clears the selection.
void choose_cell(AttentionView& view, const StageCell& cell) {
  const StageAxes axes = axes_of(cell.stage);
  const auto chosen = [&](Axis axis) {
    return axes.row == axis ? std::optional(cell.row) : axes.col == axis ? std::optional(cell.col) : std::nullopt;
  };
  const std::optional<int> query = chosen(Axis::query);
  const std::optional<int> key = chosen(Axis::key);
  const bool again = (!query || view.pinned_row == query) && (!key || view.pinned_col == key);
  if (query) view.pinned_row = again ? std::nullopt : query;
  if (key) view.pinned_col = again ? std::nullopt : key;
}

// Outlines this head's columns in the concatenation, or its rows of W_O.
void outline_own(const Context& context, Stage stage, HeatmapOptions& options, std::vector<int>& marked) {
  if (stage != Stage::heads) return;
  const HeadInside& head = context.cards.numbers.head();
  const int first = head.place.head * head.q.cols;
  marked = {first, first + head.q.cols - 1};
  options.marked_cols = marked;
}

void draw_card(Context& context, Stage stage, ImVec2 at, ImVec2 size) {
  const Skin& skin = context.skin;
  const HeadNumbers& numbers = context.cards.numbers;
  ImGui::PushID(text_of(stage).id);
  const Matrix& matrix = numbers.of(stage);
  HeatmapOptions options = options_of(context, stage, stage == Stage::weights ? 1 : color_range(matrix.values));
  std::vector<int> marked;
  outline_own(context, stage, options, marked);
  ImGui::SetCursorScreenPos(at);
  std::optional<Stage>& alone = context.view.inside.alone;
  const std::string help =
      trf("{}\nClick: {}.", tr(text_of(stage).help), alone ? tr("show all stages") : tr("enlarge this stage"));
  if (draw_card_title({title_of(stage, numbers), help, options.map, options.low, options.high}, size.x, skin))
    alone = alone ? std::nullopt : std::optional(stage);
  const HeatmapResult result = draw_heatmap("map", matrix, numbers.version, {size.x, size.y - card_title_height(skin)},
                                            options, context.textures, skin);
  if (stage == Stage::masked) {
    paint_mask(context.view, numbers, result);
  } else if (result.clicked) {
    choose_cell(context.view, {stage, result.row, result.col});
  }
  if (result.row >= 0) context.pointed = StageCell{stage, result.row, result.col};
  ImGui::PopID();
}

void draw_operator(const char* op, ImVec2 at, ImVec2 size, const Skin& skin) {
  const ImVec2 extent = text_size(skin.fonts.bold, op);
  Painter paint(skin);
  paint.text(skin.fonts.bold, {at.x + (size.x - extent.x) / 2, at.y + (size.y - extent.y) / 2}, skin.theme.accent, op);
}

bool is_drawn(Stage stage, const HeadNumbers& numbers) {
  return stage != Stage::bias || !numbers.head().bias.empty();
}

void draw_heading(const char* heading, CardGrid& grid, const Skin& skin) {
  grid.new_row();
  if (grid.y > 0) grid.y += skin.px(4);
  Painter paint(skin);
  paint.text(skin.fonts.ui, {grid.origin.x, grid.origin.y + grid.y}, skin.theme.text_dim,
             shortened(skin.fonts.ui, heading, grid.width()));
  grid.y += font_size(skin.fonts.ui) + skin.px(5);
}

// Below the mask, which must not move while the mouse paints on it.
void draw_effect_row(Context& context, CardGrid& grid) {
  if (!context.cards.numbers.what_if) return;
  grid.new_row();
  ImGui::SetCursorScreenPos({grid.origin.x, grid.origin.y + grid.y});
  draw_mask_effect(context.cards.numbers, context.cards.queries, context.textures, context.skin);
  grid.y += mask_effect_height(context.skin);
}

void draw_all(Context& context) {
  const Skin& skin = context.skin;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float heading = font_size(skin.fonts.ui) + skin.px(15);
  const float height = clamped(room.y / static_cast<float>(sections.size()) - heading, skin.px(180), skin.px(300));
  CardGrid grid = card_grid(room.x, skin.px(150), 4, height, skin.px(20), skin);
  for (const Section& section : sections) {
    draw_heading(tr(section.heading), grid, skin);
    for (const Stage stage : section.stages) {
      if (!is_drawn(stage, context.cards.numbers)) continue;
      const ImVec2 at = grid.next();
      draw_operator(text_of(stage).op, {at.x - grid.gutter, at.y}, {grid.gutter, grid.card.y}, skin);
      draw_card(context, stage, at, grid.card);
    }
    if (section.stages.back() == Stage::weights) draw_effect_row(context, grid);
  }
  grid.end();
}

void draw_alone(Context& context, Stage stage) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  // Reserves the room for the effect from the start, so that the mask does not move while the mouse paints on it.
  const float below = stage == Stage::masked ? mask_effect_height(context.skin) : 0;
  const ImVec2 size{room.x, std::max(context.skin.px(80), room.y - below)};
  draw_card(context, stage, at, size);
  ImGui::SetCursorScreenPos({at.x, at.y + size.y});
  if (stage == Stage::masked)
    draw_mask_effect(context.cards.numbers, context.cards.queries, context.textures, context.skin);
}

}  // namespace

void draw_cards(const HeadCards& cards, AttentionView& view, TextureStore& textures, const Skin& skin) {
  Context context{cards, view, textures, skin, cards.keys, std::nullopt};
  if (view.inside.alone && is_drawn(*view.inside.alone, cards.numbers)) {
    draw_alone(context, *view.inside.alone);
  } else {
    for (std::string& key : context.col_keys) key = shortened(label_font(skin), key, skin.px(34));
    draw_all(context);
  }
  view.inside.pointed = context.pointed;
}

}  // namespace attnscope
