#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/card_grid.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/plot.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/arithmetic.h"
#include "workspaces/flow/flow.h"

namespace attnscope {
namespace {

int padding_of(const BatchSide& side) {
  int padding = 0;
  for (int row = 0; row < side.rows; ++row) padding += side.cols - side.length(row);
  return padding;
}

float share_of(const BatchSide& side) {
  return side.ids.empty() ? 0 : static_cast<float>(padding_of(side)) / static_cast<float>(side.ids.size());
}

bool is_special(const BatchSide& side, int row, int col) {
  return side.id(row, col) < 3;
}

std::string shown_token(const BatchSide& side, int row, int col) {
  const std::string& token = side.token(row, col);
  return token.empty() ? "<pad>" : std::string(without_mark(token));
}

void refresh(BatchView& view, const std::shared_ptr<const BatchInspection>& batch) {
  if (view.batch == batch) return;
  view.batch = batch;
  ++view.version;
  const std::array sides = {&batch->source, &batch->target_in, &batch->target_out};
  constexpr std::array names = {"source", "decoder input", "target"};
  int rows = 0, cols = 0;
  for (const BatchSide* side : sides) {
    rows += side->rows;
    cols = std::max(cols, side->cols);
  }
  view.ids = Matrix(rows, cols);
  view.id_rows.clear();
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (int row = 0; row < sides[i]->rows; ++row) {
      for (int col = 0; col < sides[i]->cols; ++col)
        view.ids.at(static_cast<int>(view.id_rows.size()), col) = static_cast<float>(sides[i]->id(row, col));
      view.id_rows.push_back(fmt::format("{} {}", names[i], row + 1));
    }
  }
  view.smoothed = {};
  view.smoothed_id = -1;
}

// ---- the tokens, one row per pair

class Pieces {
 public:
  Pieces(const BatchSide& side, BatchView& view, bool target, const Skin& skin)
      : side_(side), view_(view), target_(target), skin_(skin) {}

  // Also draws the selected row as running text, because its cells have room for only a few letters.
  void draw_heading(const char* title, const char* letters, const char* help) const {
    draw_caption(title, trf("{} = {}×{}, {:.1f} % padding", letters, side_.rows, side_.cols, 100 * share_of(side_)),
                 help, skin_);
    const std::string text = one_line(row_text(side_, std::min(view_.row, side_.rows - 1)));
    draw_label(skin_.fonts.small, skin_.theme.text,
               shortened(skin_.fonts.small, text, ImGui::GetContentRegionAvail().x), skin_);
    help_tooltip(text, skin_);
  }

  void draw() {
    const float width = ImGui::GetContentRegionAvail().x;
    const float cell = clamped(width / static_cast<float>(std::max(1, side_.cols)), skin_.px(9), skin_.px(64));
    const float height = font_size(skin_.fonts.mono_small) + skin_.px(3);
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const ImVec2 size{cell * static_cast<float>(side_.cols), height * static_cast<float>(side_.rows)};
    const bool clicked = ImGui::InvisibleButton("pieces", {std::max(1.0F, size.x), std::max(1.0F, size.y)});
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const int row = clamped(static_cast<int>((mouse.y - origin.y) / height), 0, side_.rows - 1);
    const int col = clamped(static_cast<int>((mouse.x - origin.x) / cell), 0, side_.cols - 1);
    if (clicked) choose(row, col);
    if (ImGui::IsItemHovered()) tooltip(row, col);
    for (int at = 0; at < side_.rows; ++at) {
      const float y = origin.y + height * static_cast<float>(at);
      if (ImGui::IsRectVisible({origin.x, y}, {origin.x + size.x, y + height}))
        draw_row(at, {origin.x, y}, {cell, height});
    }
  }

 private:
  void choose(int row, int col) {
    view_.row = row;
    if (target_) view_.position = col;
  }

  void tooltip(int row, int col) const {
    if (side_.is_padding(row, col))
      ImGui::SetTooltip(tr("padding: this row has %d tokens, the longest %d"), side_.length(row), side_.cols);
    else
      ImGui::SetTooltip(tr("%s, id %d\npair %d, position %d"), shown_token(side_, row, col).c_str(), side_.id(row, col),
                        row + 1, col);
  }

  void draw_row(int row, ImVec2 at, ImVec2 cell) {
    Painter paint(skin_);
    const float end = at.x + cell.x * static_cast<float>(side_.cols);
    if (row == view_.row) paint.filled_rect(at, {end, at.y + cell.y}, faded(skin_.theme.accent, 0.2F));
    ImFont* font = skin_.fonts.mono_small;
    const float room = std::max(cell.x - skin_.px(4), text_size(font, "m").x);  // gap between the letters of two cells
    const int length = side_.length(row);
    for (int col = 0; col < length; ++col) {
      const float x = at.x + cell.x * static_cast<float>(col);
      const Color32 color = is_special(side_, row, col) ? skin_.theme.accent : skin_.theme.text;
      paint.text(font, {x + skin_.px(1), at.y + skin_.px(1)}, color,
                 letters_that_fit(font, shown_token(side_, row, col), room));
    }
    if (length < side_.cols) {
      const ImVec2 low{at.x + cell.x * static_cast<float>(length), at.y + 1};
      paint.filled_rect(low, {end, at.y + cell.y - 1}, skin_.theme.raised);
      draw_hatching(paint, low, {end, at.y + cell.y - 1}, faded(skin_.theme.text_dim, 0.35F), skin_.px(5));
    }
    if (target_ && row == view_.row && view_.position < length) {
      const float x = at.x + cell.x * static_cast<float>(view_.position);
      paint.rect({x, at.y}, {x + cell.x, at.y + cell.y}, skin_.theme.accent, 0, skin_.px(1.5F));
    }
  }

  const BatchSide& side_;
  BatchView& view_;
  bool target_;
  const Skin& skin_;
};

// ---- the masks of one row

struct MaskText {
  const char* name;
  const char* help;
};

// Same order as BatchMask.
constexpr std::array mask_texts = {
    MaskText{mark("encoder"), mark("Self-attention of the source: no query sees padding.")},
    MaskText{mark("decoder"),
             mark("Masked self-attention: no query sees later tokens (paper §3.2.3). Padding comes after the tokens, "
                  "so for every query in the loss the look-ahead mask already hides it.")},
    MaskText{mark("cross"),
             mark("Cross-attention from the decoder to the source: no query sees the source's padding.")},
};

std::string mask_meaning(int cell, bool padded_query) {
  const char* end = padded_query ? tr("\nThe query is padding: its row is computed but does not enter the loss.") : "";
  switch (cell) {
    case 0:
      return std::string(tr("visible")) + end;
    case mask_ahead:
      return std::string(tr("hidden by the look-ahead mask: the key comes after its query")) + end;
    case mask_padding:
      return std::string(tr("hidden by the padding mask: the key is not a token")) + end;
    default:
      return std::string(tr("hidden by the look-ahead mask; the key is also padding")) + end;
  }
}

class Mask {
 public:
  Mask(const BatchInspection& batch, const BatchView& view, const Skin& skin)
      : skin_(skin),
        queries_(view.mask == BatchMask::encoder ? batch.source : batch.target_in),
        keys_(view.mask == BatchMask::decoder ? batch.target_in : batch.source),
        row_(std::min(view.row, queries_.rows - 1)),
        mask_(static_cast<std::uint64_t>(view.mask)),
        version_(view.version),
        cells_(batch_mask(batch, view.mask, row_)) {}

  void draw(ImVec2 size, TextureStore& textures) const {
    const int rows = queries_.cols, cols = keys_.cols;
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const float cell =
        std::max(1.0F, std::min({size.x / static_cast<float>(cols), size.y / static_cast<float>(rows), skin_.px(14)}));
    const ImVec2 extent{cell * static_cast<float>(cols), cell * static_cast<float>(rows)};
    ImGui::InvisibleButton("mask", extent);
    const TextureStore::Fill fill = [&](std::span<std::uint32_t> rgba) {
      for (std::size_t i = 0; i < rgba.size(); ++i) rgba[i] = color(static_cast<int>(cells_.values[i]));
    };
    const std::uint64_t version = (version_ << 24U) ^ (static_cast<std::uint64_t>(row_) << 2U) ^ mask_;
    const TexturePart texture = textures.texture(ImGui::GetID("mask"), version, cols, rows, Sharing::alone, fill);
    Painter(skin_).cells(texture, origin, {origin.x + extent.x, origin.y + extent.y}, cols, rows, fill);
    if (!ImGui::IsItemHovered()) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const int query = clamped(static_cast<int>((mouse.y - origin.y) / cell), 0, rows - 1);
    const int key = clamped(static_cast<int>((mouse.x - origin.x) / cell), 0, cols - 1);
    ImGui::SetTooltip(tr("query %s, key %s\n%s"), named(queries_, query).c_str(), named(keys_, key).c_str(),
                      mask_meaning(static_cast<int>(cells_.at(query, key)), queries_.is_padding(row_, query)).c_str());
  }

  void draw_legend() const {
    constexpr std::array texts = {mark("visible"), mark("look-ahead"), mark("padding"), mark("both")};
    for (int i = 0; i < 4; ++i) {
      const bool there = std::ranges::find(cells_.values, static_cast<float>(i)) != cells_.values.end();
      if (!there) continue;
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float side = font_size(skin_.fonts.small);
      Painter(skin_).filled_rect({at.x, at.y + skin_.px(2)}, {at.x + side, at.y + side}, color(i), skin_.px(2));
      ImGui::SetCursorScreenPos({at.x + side + skin_.px(4), at.y});
      draw_label(skin_.fonts.small, skin_.theme.text_dim, tr(texts[static_cast<std::size_t>(i)]), skin_);
      ImGui::SameLine(0, skin_.px(12));
    }
    ImGui::NewLine();
  }

 private:
  std::string named(const BatchSide& side, int col) const { return shown_token(side, row_, col); }

  Color32 color(int cell) const {
    const Theme& theme = skin_.theme;
    const std::array colors = {theme.series[2], mixed(theme.background, theme.series[0], 0.35F),
                               mixed(theme.background, theme.series[1], 0.45F),
                               mixed(theme.background, theme.series[1], 0.2F)};
    return colors[static_cast<std::size_t>(cell)];
  }

  const Skin& skin_;
  const BatchSide& queries_;
  const BatchSide& keys_;
  int row_;
  std::uint64_t mask_;
  std::uint64_t version_;
  Matrix cells_;
};

void draw_masks(const BatchInspection& batch, BatchView& view, TextureStore& textures, const Skin& skin) {
  const bool pairs = batch.source.rows > 0;
  bold_text(tr("Attention mask"), skin);
  ImGui::SameLine(0, skin.px(8));
  if (!pairs) view.mask = BatchMask::decoder;
  for (std::size_t i = 0; i < mask_texts.size(); ++i) {
    const auto mask = static_cast<BatchMask>(i);
    if (!pairs && mask != BatchMask::decoder) continue;
    if (draw_choice(tr_label(mask_texts[i].name), view.mask == mask, tr(mask_texts[i].help), skin)) view.mask = mask;
  }
  end_choices();
  small_text(skin.theme.text_dim, tr(mask_texts[static_cast<std::size_t>(view.mask)].help), skin);
  const Mask mask(batch, view, skin);
  mask.draw({ImGui::GetContentRegionAvail().x, skin.px(190)}, textures);
  mask.draw_legend();
}

// ---- fraction of padding

void draw_share(const char* name, double share, Color32 color, const Skin& skin) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = font_size(skin.fonts.ui) + skin.px(3);
  const std::string text = fmt::format("{:.1f} %", 100 * share);
  const float label = std::min(width * 0.5F, skin.px(150));
  const float number = text_size(skin.fonts.mono_small, "100.0 %").x + skin.px(6);
  ImGui::Dummy({width, height});
  Painter paint(skin);
  paint.text(skin.fonts.ui, at, skin.theme.text, shortened(skin.fonts.ui, name, label));
  const float left = at.x + label + skin.px(6);
  const float full = std::max(1.0F, at.x + width - number - left);
  paint.filled_rect({left, at.y + skin.px(3)}, {left + full * static_cast<float>(share), at.y + height - skin.px(4)},
                    color, skin.px(1));
  paint.text(skin.fonts.mono_small, {at.x + width - text_size(skin.fonts.mono_small, text).x, at.y + skin.px(1)},
             skin.theme.text_dim, text);
}

void draw_padding(const BatchInspection& batch, const Skin& skin) {
  bold_text(tr("Share of padding"), skin);
  help_tooltip(tr("Share of padding in source and target over the first epoch. “Length bucketing” in the setup column "
                  "decides which pairs share a batch. When a Transformer trains on a CPU, padding is skipped; "
                  "elsewhere it is computed and discarded."),
               skin);
  if (batch.source.rows == 0)
    return small_text(skin.theme.text_dim,
                      tr("Windows of running text all have the same length, so there is no padding."), skin);
  draw_share(tr("as configured"), batch.padding_made, skin.theme.series[2], skin);
  draw_share(tr("fully bucketed"), batch.padding_sorted, skin.theme.series[1], skin);
}

// ---- the smoothed target of one position

void draw_smoothing(const BatchInspection& batch, BatchView& view, const Skin& skin) {
  const int row = std::min(view.row, batch.target_out.rows - 1);
  const int position = std::min(view.position, batch.target_out.cols - 1);
  const int id = batch.target_out.id(row, position);
  bold_text(tr("Smoothed target"), skin);
  help_tooltip(tr("The label-smoothed target at the chosen position: instead of 1 and 0, the target is 1 − ε and a "
                  "little for every token (paper §5.4). Click a token of the target."),
               skin);
  if (batch.target_out.is_padding(row, position))
    return small_text(skin.theme.text_dim,
                      tr("The chosen position is padding: it has no target and no loss. Click a token of the target."),
                      skin);
  const SmoothedTarget target = smoothed_target(batch.label_smoothing, batch.num_outputs);
  small_text(skin.theme.text_dim,
             trf("pair {}, position {}: “{}”\n1 − ε + ε/V = {:.5f}\neach of the other of {} {}: ε/V = {:.2g}{}",
                 row + 1, position, without_mark(batch.target_out.token(row, position)), target.right,
                 grouped(batch.num_outputs), batch.first_output > 0 ? tr("labels") : tr("tokens"), target.other,
                 batch.label_smoothing == 0 ? tr(" (label smoothing is 0)") : ""),
             skin);
  if (view.smoothed_id != id) {
    view.smoothed = {};
    for (std::int64_t token = batch.first_output; token < batch.first_output + batch.num_outputs; ++token) {
      view.smoothed.x.push_back(static_cast<double>(token));
      view.smoothed.y.push_back(token == id ? target.right : target.other);
    }
    view.smoothed_id = id;
  }
  view.smoothing_plot.log = batch.label_smoothing > 0;
  const PlotLine line{tr("target"), &view.smoothed, skin.theme.series[0]};
  const double floor = batch.label_smoothing > 0 ? target.other / 3 : 0;
  draw_plot("smoothed", {&line, 1}, {ImGui::GetContentRegionAvail().x, skin.px(150)}, view.smoothing_axis,
            view.smoothing_plot,
            {.title = tr("Probability"),
             .x_label = tr("token of the vocabulary"),
             .legend = false,
             .y_limits = PlotRange{floor, 2}},
            skin);
}

// ---- dropout

// The tokens of the first row, repeated for each head if the matrix stacks heads.
std::vector<std::string> dropout_rows(const BatchInspection& batch, const DropoutPlace& place) {
  const BatchSide& side = place.of_target ? batch.target_in : batch.source;
  const int length = side.length(0);
  const int heads = length > 0 ? std::max(1, batch.kept.rows / length) : 1;
  std::vector<std::string> labels;
  for (int head = 0; head < heads; ++head) {
    for (int col = 0; col < length; ++col) {
      const std::string token = shown_token(side, 0, col);
      labels.push_back(heads > 1 ? fmt::format("{}: {}", head + 1, token) : token);
    }
  }
  return labels;
}

std::vector<std::string> dropout_columns(const BatchInspection& batch, const DropoutPlace& place) {
  using Columns = DropoutPlace::Columns;
  if (place.columns != Columns::source && place.columns != Columns::target) return {};
  const BatchSide& side = place.columns == Columns::source ? batch.source : batch.target_in;
  std::vector<std::string> labels;
  for (int col = 0; col < side.length(0); ++col) labels.push_back(shown_token(side, 0, col));
  return labels;
}

void choose_dropout(const BatchInspection& batch, BatchView& view) {
  const DropoutPlace& shown = batch.dropout_places[static_cast<std::size_t>(batch.asked.dropout_place)];
  ImGui::SetNextItemWidth(-1);
  if (!begin_combo("##dropout", shown.name, ImGuiComboFlags_HeightLarge)) return;
  for (std::size_t i = 0; i < batch.dropout_places.size(); ++i) {
    const bool chosen = static_cast<int>(i) == batch.asked.dropout_place;
    if (ImGui::Selectable(batch.dropout_places[i].name.c_str(), chosen)) view.dropout_place = static_cast<int>(i);
    if (chosen) ImGui::SetItemDefaultFocus();
  }
  ImGui::EndCombo();
}

// Names what is multiplied in that cell.
std::string dropout_cell(const DropoutPlace& place, const std::vector<std::string>& rows,
                         const std::vector<std::string>& columns, int row, int col) {
  const std::string& token = rows[static_cast<std::size_t>(row)];
  if (!columns.empty()) return fmt::format("{} \u2192 {}", token, columns[static_cast<std::size_t>(col)]);
  const bool hidden = place.columns == DropoutPlace::Columns::hidden_units;
  return fmt::format("{}, {} {}", token, hidden ? tr("hidden unit") : tr("dimension"), col);
}

void draw_dropout(const BatchInspection& batch, BatchView& view, TextureStore& textures, const Skin& skin) {
  bold_text(tr("Dropout mask"), skin);
  help_tooltip(tr("The dropout mask of this part's first row in this step, wherever dropout is applied. It is drawn "
                  "from the seed, the step and the place, so the backward pass draws the same one (paper §5.4). For "
                  "attention weights, the heads are stacked."),
               skin);
  if (batch.dropout == 0)
    return small_text(skin.theme.text_dim, tr("Dropout is 0 in the setup, so nothing is dropped."), skin);
  if (batch.dropout_places.empty()) {
    return small_text(skin.theme.text_dim,
                      tr("Not available: a graphics card draws its dropout masks inside its own operators."), skin);
  }
  choose_dropout(batch, view);
  const auto zeros = std::ranges::count(batch.kept.values, 0.0F);
  small_text(skin.theme.text_dim,
             trf("row 1, {}×{}: {:.1f} % of the values are 0, the others are multiplied by 1/(1 − {}) = {:.3f}",
                 batch.kept.rows, batch.kept.cols,
                 100 * static_cast<double>(zeros) / static_cast<double>(batch.kept.values.size()), batch.dropout,
                 1 / (1 - batch.dropout)),
             skin);
  const DropoutPlace& place = batch.dropout_places[static_cast<std::size_t>(batch.asked.dropout_place)];
  HeatmapOptions options;
  const std::vector<std::string> rows = dropout_rows(batch, place), columns = dropout_columns(batch, place);
  options.row_labels = rows;
  options.col_labels = columns;
  options.square = false;
  options.legend = false;
  options.high = static_cast<float>(1 / (1 - batch.dropout));
  options.tooltip = [&](int row, int col) {
    const float kept = batch.kept.at(row, col);
    ImGui::TextUnformatted(dropout_cell(place, rows, columns, row, col).c_str());
    ImGui::TextUnformatted(kept == 0 ? tr("x · 0: dropped") : trf("x · {:.4f}: kept", kept).c_str());
  };
  const float height = clamped(static_cast<float>(batch.kept.rows) * skin.px(16), skin.px(90), skin.px(360));
  draw_heatmap("kept", batch.kept, view.version, {ImGui::GetContentRegionAvail().x, height}, options, textures, skin);
}

// ---- everything

void draw_parts(const BatchInspection& batch, FlowView& view, const Skin& skin) {
  dim_text(trf("batch of step {}", grouped(batch.step)), skin);
  help_tooltip(tr("The next batch of the training; each training thread takes a part of it."), skin);
  ImGui::SameLine(0, skin.px(10));
  for (int i = 0; batch.parts > 1 && i < batch.parts; ++i) {
    const std::string title = trf("part {} of {}", i + 1, batch.parts);
    if (draw_choice(title.c_str(), batch.asked.part == i, tr("The part of the batch that one training thread gets."),
                    skin))
      view.batch.part = i;
  }
  end_choices();
}

// With scheduled sampling, the decoder's input at other positions is its own output, which is known only during the
// step.
std::string input_title(const BatchInspection& batch) {
  if (batch.teacher_forcing >= 1) return tr("Decoder input");
  return trf("Decoder input, reference token at {:.0f} % of the positions", 100 * batch.teacher_forcing);
}

// One window per side; they scroll together, so that the same pairs are visible in all.
void draw_sides(const BatchInspection& batch, BatchView& view, const Skin& skin) {
  struct Side {
    const BatchSide& tokens;
    bool target;
    const char* title;
    const char* letters;
    const char* help;
  };
  const std::string told = input_title(batch);
  const std::array sides = {
      Side{batch.source, false, tr("Source"), "B×S", tr("The encoder's input, ending with </s>.")},
      Side{batch.target_in, true, told.c_str(), "B×T",
           tr("The decoder's input: the target shifted right, so that each position sees only earlier tokens (teacher "
              "forcing).")},
      Side{batch.target_out, true, tr("Target"), "B×T",
           tr("The token to predict at each position. The framed one is predicted from the input tokens up to the one "
              "above it.")},
  };
  const auto count = static_cast<float>(batch.source.rows > 0 ? 3 : 2);
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  const float height = std::floor((ImGui::GetContentRegionAvail().y - gap * (count - 1)) / count);
  float scroll = view.scroll;
  for (const Side& side : sides) {
    if (side.tokens.rows == 0) continue;
    Pieces tokens(side.tokens, view, side.target, skin);
    const float top = ImGui::GetCursorPosY();
    tokens.draw_heading(side.title, side.letters, side.help);
    const float rest = std::max(1.0F, height - (ImGui::GetCursorPosY() - top));
    ImGui::BeginChild(side.title, {0, rest}, false, view_flags());
    if (ImGui::IsWindowHovered()) {
      scroll = ImGui::GetScrollY();
    } else {
      ImGui::SetScrollY(view.scroll);
    }
    tokens.draw();
    ImGui::EndChild();
  }
  view.scroll = scroll;
}

}  // namespace

std::string row_text(const BatchSide& side, int row) {
  std::string text;
  for (int col = 0; col < side.length(row); ++col) {
    const std::string& token = side.token(row, col);
    const bool after_special = col > 0 && is_special(side, row, col - 1);
    if (!text.empty() && (token.starts_with(word_mark) || after_special || is_special(side, row, col))) text += ' ';
    if (token != word_mark) text += without_mark(token);
  }
  return text;
}

SmoothedTarget smoothed_target(double label_smoothing, std::int64_t num_outputs) {
  const double other = label_smoothing / static_cast<double>(num_outputs);
  return {1 - label_smoothing + other, other};
}

Matrix batch_mask(const BatchInspection& batch, BatchMask mask, int row) {
  const BatchSide& queries = mask == BatchMask::encoder ? batch.source : batch.target_in;
  const BatchSide& keys = mask == BatchMask::decoder ? batch.target_in : batch.source;
  Matrix cells(queries.cols, keys.cols);
  for (int query = 0; query < cells.rows; ++query) {
    for (int key = 0; key < cells.cols; ++key) {
      const int ahead = mask == BatchMask::decoder && key > query ? mask_ahead : 0;
      const int padding = keys.is_padding(row, key) ? mask_padding : 0;
      // The decoder's padding is not masked: it comes after all positions that count.
      cells.at(query, key) = static_cast<float>(mask == BatchMask::decoder && ahead == 0 ? 0 : ahead + padding);
    }
  }
  return cells;
}

std::optional<WorkspaceNumbers> batch_numbers(const BatchView& view) {
  if (!view.batch || view.ids.empty()) return std::nullopt;
  return WorkspaceNumbers{view.ids, view.id_rows, {}, trf("batch {}", view.batch->batch)};
}

void move_in_batch(BatchView& view, int rows, int positions) {
  if (!view.batch || view.batch->target_out.rows == 0) return;
  const BatchSide& side = view.batch->target_out;
  view.row = clamped(view.row + rows, 0, side.rows - 1);
  view.position = clamped(view.position + positions, 0, std::max(0, side.length(view.row) - 1));
}

void draw_batch(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const std::shared_ptr<const BatchInspection>& batch = shown.snapshot->batch;
  if (!batch) return draw_quiet_note(tr("Building the batch…"), room, skin);
  if (!batch->problem.empty()) return draw_quiet_note(tr_filled(batch->problem).c_str(), room, skin);
  refresh(view.batch, batch);
  move_in_batch(view.batch, 0, 0);
  draw_parts(*batch, view, skin);
  const ImVec2 rest = ImGui::GetContentRegionAvail();
  const float side = clamped(rest.x * 0.42F, std::min(skin.px(260), rest.x * 0.5F), skin.px(460));
  ImGui::BeginChild("sides", {rest.x - side - skin.px(12), rest.y}, false, view_flags());
  draw_sides(*batch, view.batch, skin);
  ImGui::EndChild();
  ImGui::SameLine(0, skin.px(12));
  ImGui::BeginChild("about", {0, rest.y}, false, view_flags());
  draw_padding(*batch, skin);
  draw_masks(*batch, view.batch, textures, skin);
  draw_smoothing(*batch, view.batch, skin);
  draw_dropout(*batch, view.batch, textures, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
