// A recurrent network in detail: its gates and states over time, and the cell with the arithmetic of one unit.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "analysis/cell_memory.h"
#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/card_grid.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/arithmetic.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

constexpr const char* map_help =
    mark("One row per unit, one column per token: the value after reading the token. Click a cell for its arithmetic.");

std::string numbers_of(float from_input, float from_state) {
  return fmt::format("{} + {}", short_number(from_input), operand_text(from_state));
}

// "σ(0.31 + (−0.20)) = 0.53", for one unit at one step.
std::string gate_arithmetic(const RecurrentStates& inspection, const CellGate& gate, int token, int unit) {
  const float x = gate.from_input.at(token, unit), h = gate.from_state.at(token, unit);
  const std::string value = short_number(gate.values.at(token, unit));
  if (inspection.cell == "gru" && gate.symbol == "n")
    return trf("tanh({} + {}\u00B7{}) = {}", short_number(x), short_number(inspection.gates[0].values.at(token, unit)),
               operand_text(h), value);
  const bool is_tanh = gate.symbol == "g" || gate.symbol == "h";
  return fmt::format("{}({}) = {}", is_tanh ? tr("tanh") : "\u03C3", numbers_of(x, h), value);
}

const char* gate_formula(const RecurrentStates& inspection, const CellGate& gate) {
  if (inspection.cell == "gru" && gate.symbol == "n") return tr("tanh(W x + b + r\u00B7(W h\u208B\u2081 + b\u2032))");
  const bool is_tanh = gate.symbol == "g" || gate.symbol == "h";
  return is_tanh ? tr("tanh(W x + b + W h\u208B\u2081 + b\u2032)") : "\u03C3(W x + b + W h\u208B\u2081 + b\u2032)";
}

float value_of(const RecurrentStates& inspection, std::size_t gate, int token, int unit) {
  return inspection.gates[gate].values.at(token, unit);
}

// How the states follow from the gates: one line each with formula and numbers.
struct StateLine {
  std::string name, formula, arithmetic;
};

std::vector<StateLine> state_lines(const RecurrentStates& inspection, int token, int unit) {
  const auto gate = [&](std::size_t index) { return short_number(value_of(inspection, index, token, unit)); };
  const std::string h = short_number(inspection.h.at(token, unit));
  if (inspection.cell == "lstm") {
    const std::string c = short_number(inspection.c.at(token, unit));
    return {{tr("memory cell c"), tr("f\u00B7c\u208B\u2081 + i\u00B7g"),
             fmt::format("{}\u00B7{} + {}\u00B7{} = {}", gate(1), operand_text(inspection.c_before(token, unit)),
                         gate(0), operand_text(value_of(inspection, 2, token, unit)), c)},
            {tr("state h"), tr("o\u00B7tanh(c)"), trf("{}\u00B7tanh({}) = {}", gate(3), c, h)}};
  }
  if (inspection.cell == "gru")
    return {{tr("state h"), tr("(1 \u2212 z)\u00B7n + z\u00B7h\u208B\u2081"),
             fmt::format("(1 \u2212 {})\u00B7{} + {}\u00B7{} = {}", gate(1),
                         operand_text(value_of(inspection, 2, token, unit)), gate(1),
                         operand_text(inspection.h_before(token, unit)), h)}};
  return {};
}

void draw_controls(RecurrentView& view, const RecurrentStates& inspection, const Skin& skin) {
  const auto stack = [&](const char* title, bool decoder, const char* help) {
    if (draw_choice(title, inspection.asked.decoder == decoder, help, skin)) view.wanted = {.decoder = decoder};
  };
  stack(tr_label("encoder"), false, tr("Reads the source token by token."));
  if (view.snapshot->model.has_decoder())
    stack(tr_label("decoder"), true, tr("Reads the output so far and generates the next token."));
  if (inspection.layers > 1) {
    break_choices(tr("layer 00"));
    dim_text(tr("layer"), skin);
    ImGui::SameLine(0, skin.px(4));
    for (int layer = 0; layer < inspection.layers; ++layer)
      if (draw_choice(std::to_string(layer + 1).c_str(), inspection.asked.layer == layer,
                      tr("The layer that is shown."), skin))
        view.wanted.layer = layer;
  }
  if (inspection.directions > 1) {
    if (draw_choice(tr_label("forward"), !inspection.asked.reverse,
                    tr("The cell that reads from first to last token (1409.0473 \u00A73.2)."), skin))
      view.wanted.reverse = false;
    if (draw_choice(tr_label("backward"), inspection.asked.reverse, tr("The cell that reads from last to first token."),
                    skin))
      view.wanted.reverse = true;
  }
  const char* order_help =
      tr("Sorts units by memory, the longest first: the mean of the forget gate (LSTM) or update gate (GRU) over the "
         "sentence; for an RNN, how similar h stays from step to step.");
  if (draw_choice(tr_label("units by memory"), view.by_memory, order_help, skin)) view.by_memory = true;
  if (draw_choice(tr_label("in order"), !view.by_memory, tr("Shows units in the order of the weights."), skin))
    view.by_memory = false;
  end_choices();
}

void cell_tooltip(const RecurrentView& view, const RecurrentStates& inspection, const CellMap& map, int row, int col,
                  const Skin& skin) {
  const int unit = view.order[static_cast<std::size_t>(row)];
  bold_text(trf("{}, unit {}, at {}", map.name, unit, name_of(inspection.tokens, col)), skin);
  for (const CellGate& gate : inspection.gates)
    if (map.name == gate.name + " " + gate.symbol || inspection.cell == "rnn") {
      dim_text(gate_formula(inspection, gate), skin);
      mono_text(gate_arithmetic(inspection, gate, col, unit), skin);
    }
  for (const StateLine& line : state_lines(inspection, col, unit))
    if (map.name.starts_with(line.name)) {
      dim_text(line.formula, skin);
      mono_text(line.arithmetic, skin);
    }
  const double share = view.kept[static_cast<std::size_t>(row)];
  dim_text(trf("each step retains {:.3f} of it; half is left after {:.1f} steps", share, half_life(share)), skin);
}

void draw_maps(RecurrentView& view, const RecurrentStates& inspection, TextureStore& textures, const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const int count = static_cast<int>(view.maps.size());
  const int columns = count >= 5 ? 3 : count >= 3 ? 2 : 1;
  const int rows = (count + columns - 1) / columns;
  const float gap = skin.px(8);
  CardGrid grid = card_grid(room.x, std::floor(room.x / static_cast<float>(columns)) - 2 * gap, columns,
                            std::max(skin.px(90), room.y / static_cast<float>(rows) - gap), gap, skin);
  std::vector<std::string> tokens;
  for (const std::string& token : inspection.tokens) tokens.emplace_back(without_mark(token));
  for (int i = 0; i < count; ++i) {
    const CellMap& map = view.maps[static_cast<std::size_t>(i)];
    const ImVec2 at = grid.next();
    ImGui::PushID(i);
    ImGui::SetCursorScreenPos(at);
    const ColorMap colors = map.is_signed ? skin.theme.diverging : ColorMap::viridis;
    draw_card_title({map.name, tr(map_help), colors, map.low, map.high}, grid.card.x, skin);
    ImGui::SetCursorScreenPos({at.x, at.y + card_title_height(skin)});
    HeatmapOptions options;
    options.map = colors;
    options.low = map.low;
    options.high = map.high;
    options.row_labels = view.unit_names;
    options.col_labels = tokens;
    options.square = false;
    options.legend = false;
    options.selected_row = view.row;
    options.selected_col = view.token;
    options.tooltip = [&](int row, int col) { cell_tooltip(view, inspection, map, row, col, skin); };
    const HeatmapResult mouse = draw_heatmap(
        "map", map.values, view.version, {grid.card.x, std::max(skin.px(40), grid.card.y - card_title_height(skin))},
        options, textures, skin);
    if (mouse.clicked) {
      view.row = mouse.row;
      view.token = mouse.col;
    }
    ImGui::PopID();
  }
  grid.end();
}

// ---- the cell, drawn

// A box of the cell's picture: its name, formula and numbers.
float draw_box(Painter& paint, ImVec2 at, float width, const StateLine& line, Color32 edge, const Skin& skin) {
  const float pad = skin.px(6);
  const float height = font_size(skin.fonts.ui) + font_size(skin.fonts.mono_small) + 2 * pad + skin.px(3);
  paint.filled_rect(at, {at.x + width, at.y + height}, skin.theme.panel, skin.px(4));
  paint.rect(at, {at.x + width, at.y + height}, edge, skin.px(4), skin.px(1.5F));
  paint.text(skin.fonts.ui, {at.x + pad, at.y + pad}, skin.theme.text, line.name);
  const float formula = text_size(skin.fonts.small, line.formula).x;
  if (formula + text_size(skin.fonts.ui, line.name).x + 3 * pad < width)
    paint.text(skin.fonts.small, {at.x + width - pad - formula, at.y + pad}, skin.theme.text_dim, line.formula);
  paint.text(skin.fonts.mono_small, {at.x + pad, at.y + pad + font_size(skin.fonts.ui) + skin.px(3)}, skin.theme.text,
             shortened(skin.fonts.mono_small, line.arithmetic, width - 2 * pad));
  return height;
}

// Inputs are at the top, gates below them, the resulting memory and state at the bottom; arrows point down.
void draw_cell_picture(const RecurrentView& view, const RecurrentStates& inspection, const Skin& skin) {
  const int token = view.token, unit = view.unit();
  draw_wrapped_label(skin.fonts.bold, skin.theme.text, trf("Unit {} at {}", unit, name_of(inspection.tokens, token)),
                     skin);
  const double share = view.kept[static_cast<std::size_t>(view.row)];
  draw_wrapped_label(
      skin.fonts.small, skin.theme.text_dim,
      trf("Each step retains {:.3f} of its content; half is left after {:.1f} steps.", share, half_life(share)), skin);
  Painter paint(skin);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = std::max(skin.px(120), ImGui::GetContentRegionAvail().x - skin.px(4)), gap = skin.px(12);
  float y = origin.y + skin.px(4);
  const auto arrow = [&] {
    const float x = origin.x + width / 2, head = skin.px(3);
    paint.line({x, y}, {x, y + gap}, skin.theme.text_dim, skin.px(1.2F));
    paint.line({x - head, y + gap - head}, {x, y + gap}, skin.theme.text_dim, skin.px(1.2F));
    paint.line({x + head, y + gap - head}, {x, y + gap}, skin.theme.text_dim, skin.px(1.2F));
    y += gap;
  };
  std::string before = fmt::format("h\u208B\u2081 = {}", short_number(inspection.h_before(token, unit)));
  if (!inspection.c.empty())
    before += fmt::format(", c\u208B\u2081 = {}", short_number(inspection.c_before(token, unit)));
  y += draw_box(paint, {origin.x, y}, width,
                {tr("the token x and the previous state"), tr("all units of both"), before}, skin.theme.border, skin);
  arrow();
  for (std::size_t i = 0; i < inspection.gates.size(); ++i) {
    const CellGate& gate = inspection.gates[i];
    y += draw_box(
        paint, {origin.x, y}, width,
        {gate.name + " " + gate.symbol, gate_formula(inspection, gate), gate_arithmetic(inspection, gate, token, unit)},
        skin.theme.series[i], skin);
    if (i + 1 < inspection.gates.size()) y += skin.px(4);
  }
  for (const StateLine& line : state_lines(inspection, token, unit)) {
    arrow();
    y += draw_box(paint, {origin.x, y}, width, line, skin.theme.accent, skin);
  }
  ImGui::Dummy({1, y - origin.y});
}

// Returns null and draws a note if there is nothing to inspect.
const RecurrentStates* inspection_or_note(WorkspaceContext& context, RecurrentView& view) {
  const Skin& skin = context.skin;
  const std::shared_ptr<const Snapshot>& snapshot = context.maps.complete.snapshot;
  const RecurrentStates* inspection = settle(view, snapshot);
  const char* why = nullptr;
  if (!snapshot) {
    why = context.has_run ? tr("Type a sentence to see how the network reads it, token by token.")
                          : tr("This view shows the states of a recurrent network, but no run is open. Open one, or "
                               "choose the recurrent architecture in Setup and Reset.");
  } else if (!snapshot->model.is_recurrent()) {
    why =
        tr("This view shows a state passed from token to token, which a Transformer does not have. In Setup, choose "
           "the recurrent architecture, then Reset.");
  } else if (!inspection) {
    why = is_recorded(*snapshot) ? recorded_note(context.maps.complete) : tr("Reading the cells\u2026");
  } else if (inspection->h.empty()) {
    why = tr("Nothing to show: the network has read no tokens. Type a sentence.");
  } else if (std::ranges::none_of(inspection->h.values, [](float value) { return std::isfinite(value); })) {
    why = tr("This model\u2019s states are NaN: training diverged. Open an earlier checkpoint, or Reset.");
  }
  if (why) draw_quiet_note(why, ImGui::GetContentRegionAvail(), skin);
  return why ? nullptr : inspection;
}

}  // namespace

void draw_cell(WorkspaceContext& context, OriginsView& origins) {
  RecurrentView& view = origins.recurrent;
  const RecurrentStates* inspection = inspection_or_note(context, view);
  if (!inspection) return;
  draw_controls(view, *inspection, context.skin);
  draw_beside([&] { draw_maps(view, *inspection, context.textures, context.skin); },
              [&] { draw_cell_picture(view, *inspection, context.skin); }, context.skin);
}

// ---- attention over states

namespace {

std::string energy_arithmetic(const StateAttention& attention, int query, int key) {
  const auto at = [](const Matrix& matrix, int row) { return [&matrix, row](int i) { return matrix.at(row, i); }; };
  if (attention.v.empty())
    return written({attention.keys.cols, at(attention.asked, query), at(attention.keys, key)},
                   in_order(attention.keys.cols));
  return written({static_cast<int>(attention.v.size()), [&](int i) { return attention.v[static_cast<std::size_t>(i)]; },
                  [&](int i) { return std::tanh(attention.asked.at(query, i) + attention.keys.at(key, i)); }},
                 in_order(static_cast<int>(attention.v.size())));
}

const char* energy_formula(const StateAttention& attention) {
  if (!attention.v.empty()) return tr("v\u1D40 tanh(W s + U h)");
  return attention.score == "luong-general" ? "s\u1D40 W h" : "s\u1D40 h";
}

std::string weight_arithmetic(const StateAttention& attention, int query, int key) {
  double sum = 0;
  for (int other = 0; other < attention.energies.cols; ++other)
    sum += std::exp(static_cast<double>(attention.energies.at(query, other) - attention.energies.at(query, key)));
  return trf("exp({}) / \u03A3 exp = 1 / {:.3f} = {:.3f}", short_number(attention.energies.at(query, key)), sum,
             1 / sum);
}

std::string context_arithmetic(const StateAttention& attention, int query, int unit) {
  const auto weight = [&](int key) { return attention.weights.at(query, key); };
  std::vector<int> largest_first = in_order(attention.weights.cols);
  std::ranges::stable_sort(largest_first, std::ranges::greater(), weight);
  return written({attention.weights.cols, weight, [&](int key) { return attention.memory.at(key, unit); }},
                 largest_first) +
         " = " + short_number(attention.contexts.at(query, unit));
}

struct StateMap {
  const char* title;
  const char* help;
  const Matrix& values;
  bool of_queries = true;  // rows are queries; false: source tokens
  bool of_source = false;  // columns are source tokens; false: numbers
  std::function<std::string(int row, int col)> arithmetic;
};

void draw_state_map(const StateMap& map, RecurrentView& view, const RecurrentStates& inspection, ImVec2 at, ImVec2 size,
                    TextureStore& textures, const Skin& skin) {
  const bool share = &map.values == &inspection.attention.front().weights;
  float largest = 0;
  for (const float value : map.values.values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  if (largest == 0) largest = 1;
  const ColorMap colors = share ? ColorMap::viridis : skin.theme.diverging;
  const float low = share ? 0 : -largest, high = share ? 1 : largest;
  ImGui::PushID(map.title);
  ImGui::SetCursorScreenPos(at);
  draw_card_title({map.title, map.help, colors, low, high}, size.x, skin);
  ImGui::SetCursorScreenPos({at.x, at.y + card_title_height(skin)});
  HeatmapOptions options;
  options.map = colors;
  options.low = low;
  options.high = high;
  options.row_labels = map.of_queries ? inspection.written : inspection.source;
  if (map.of_source) options.col_labels = inspection.source;
  options.square = false;
  options.legend = false;
  if (map.of_queries) options.selected_row = view.query;
  options.tooltip = [&](int row, int col) {
    ImGui::PushTextWrapPos(skin.px(440));
    dim_text(map.help, skin);
    plain_text(map.arithmetic(row, col));
    ImGui::PopTextWrapPos();
  };
  const HeatmapResult mouse =
      draw_heatmap("map", map.values, view.version, {size.x, std::max(skin.px(40), size.y - card_title_height(skin))},
                   options, textures, skin);
  if (mouse.clicked && map.of_queries) view.query = mouse.row;
  ImGui::PopID();
}

}  // namespace

void draw_state_attention(WorkspaceContext& context, OriginsView& origins) {
  RecurrentView& view = origins.recurrent;
  const Skin& skin = context.skin;
  const RecurrentStates* inspection = inspection_or_note(context, view);
  if (!inspection) return;
  if (inspection->attention.empty())
    return draw_quiet_note(context.maps.complete.snapshot->model.is_classifier()
                               ? tr("This view shows a decoder's attention over states, but a classifier has no "
                                    "decoder. The weights of its pooling are in Classifier.")
                               : tr("This network has no attention: everything it knows of the source is one vector "
                                    "(see Bottleneck). Choose bahdanau or luong in Setup, and Reset."),
                           ImGui::GetContentRegionAvail(), skin);
  const StateAttention& attention = inspection->attention.front();
  const bool first = attention.score == "bahdanau";
  draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                     trf("{}: energies e = {}, their softmax, and the mean of the memory with these weights. s is the "
                         "decoder\u2019s state {} the token.",
                         attention.score, energy_formula(attention), first ? tr("before") : tr("after")),
                     skin);
  const auto plain = [](const Matrix& matrix) {
    return [&matrix](int row, int col) { return trf("dimension {}: {}", col, short_number(matrix.at(row, col))); };
  };
  const std::array maps = {
      StateMap{tr("s, the query"), tr("The decoder\u2019s states, one row per step."), attention.states, true, false,
               plain(attention.states)},
      StateMap{tr("h, the memory"), tr("The encoder\u2019s states, one row per source token: keys and values at once."),
               attention.memory, false, false, plain(attention.memory)},
      StateMap{tr("energies e"), energy_formula(attention), attention.energies, true, true,
               [&](int row, int col) {
                 return energy_arithmetic(attention, row, col) + " = " + short_number(attention.energies.at(row, col));
               }},
      StateMap{tr("weights a"), tr("softmax of the energies, one row per step; each row sums to 1."), attention.weights,
               true, true, [&](int row, int col) { return weight_arithmetic(attention, row, col); }},
      StateMap{tr("context c"), tr("\u03A3 a h: the memory, averaged with the weights."), attention.contexts, true,
               false, [&](int row, int col) { return context_arithmetic(attention, row, col); }},
  };
  const ImVec2 room = ImGui::GetContentRegionAvail();
  CardGrid grid = card_grid(room.x, skin.px(220), 3, std::max(skin.px(110), room.y / 2 - skin.px(8)), skin.px(8), skin);
  for (const StateMap& map : maps)
    draw_state_map(map, view, *inspection, grid.next(), grid.card, context.textures, skin);
  grid.end();
}

// ---- the bottleneck

namespace {

void draw_read_out(const RecurrentStates& inspection, const Snapshot& snapshot, const Skin& skin) {
  if (!inspection.asked.read_out) return;  // asked for by another view; this one's answer is pending
  draw_label(skin.fonts.bold, skin.theme.text, tr("Decoded from this vector"), skin);
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, one_line(snapshot.source_text), skin);
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, "\u2192 " + one_line(snapshot.output_text), skin);
  if (inspection.read_out.empty())
    return draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                              snapshot.model.is_classifier()
                                  ? tr("This view needs a label computed from the last state only, but this model "
                                       "pools all states. Choose the pooling last in the setup.")
                                  : tr("This decoder also attends to every state of the source (see Attention over "
                                       "states), so the vector is only its initial state, not all that it knows."),
                              skin);
  ImGui::Dummy({1, skin.px(4)});
  draw_wrapped_label(
      skin.fonts.small, skin.theme.text_dim,
      snapshot.model.is_classifier()
          ? tr("If the text ended here: the label predicted from the vector after each token.")
          : tr("If the encoder stopped here: the greedy output decoded from the vector after each token."),
      skin);
  for (std::size_t i = 0; i < inspection.read_out.size(); ++i)
    draw_label(skin.fonts.small, skin.theme.text,
               shortened(skin.fonts.small,
                         fmt::format("\u2026 {}  \u2192  {}", name_of(inspection.source, static_cast<int>(i)),
                                     inspection.read_out[i]),
                         ImGui::GetContentRegionAvail().x),
               skin);
}

}  // namespace

void draw_bottleneck(WorkspaceContext& context, OriginsView& origins) {
  RecurrentView& view = origins.recurrent;
  const Skin& skin = context.skin;
  const RecurrentStates* inspection = inspection_or_note(context, view);
  if (!inspection) return;
  draw_wrapped_label(
      skin.fonts.small, skin.theme.text_dim,
      trf("The encoder\u2019s last states, {} numbers, initialize the decoder or give the label. "
          "Without attention they are all the model knows of the {} tokens (1409.3215).",
          grouped(static_cast<std::int64_t>(inspection->handed.values.size())), inspection->source.size()),
      skin);
  float largest = 0;
  for (const float value : inspection->handed.values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  options.high = largest > 0 ? largest : 1;
  options.low = -options.high;
  options.row_labels = inspection->handed_names;
  options.col_axis = tr("dimension");
  options.square = false;
  options.tooltip = [&](int row, int col) {
    plain_text(trf("{}, dimension {}: {}", inspection->handed_names[static_cast<std::size_t>(row)], col,
                   short_number(inspection->handed.at(row, col))));
    dim_text(tr("the encoder\u2019s state after its last token"), skin);
  };
  const float height = skin.px(70) + skin.px(28) * static_cast<float>(inspection->handed.rows);
  draw_heatmap("handed", inspection->handed, view.version,
               {0, std::min(height, ImGui::GetContentRegionAvail().y * 0.5F)}, options, context.textures, skin);
  ImGui::BeginChild("read out", {0, 0}, false, view_flags());
  draw_read_out(*inspection, *context.maps.complete.snapshot, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
