#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/head_stages.h"
#include "analysis/matrix_algebra.h"
#include "base/input.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/heatmap_picture.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/token_strip.h"
#include "widgets/words.h"
#include "workspaces/arithmetic.h"
#include "workspaces/attention/text.h"
#include "workspaces/flow/flow.h"

namespace attnscope {
namespace {

// Recomputes the numbers if the snapshot, the query or an option changed.
void refresh(LookupView& view, const std::shared_ptr<const Snapshot>& snapshot, int query) {
  if (view.snapshot == snapshot && view.query == query && view.shown_exact == view.exact &&
      view.shown_order == view.order)
    return;
  const HeadInside& head = *snapshot->inside;
  const HeadStages stages = head_stages(head, head.scaled, model_mask(head), snapshot->interventions);
  view.snapshot = snapshot;
  view.query = query;
  view.shown_exact = view.exact;
  view.shown_order = view.order;
  view.shown = soft_lookup(head, stages, query, view.exact, view.order);
  view.keys = Matrix(head.k.rows, head.k.cols);
  for (int row = 0; row < view.keys.rows; ++row) {
    for (int col = 0; col < view.keys.cols; ++col)
      view.keys.at(row, col) = head.k.at(view.shown.keys[static_cast<std::size_t>(row)], col);
  }
  view.outputs = Matrix(2, head.v.cols);
  for (const bool exact : {false, true}) {
    const SoftLookup of = soft_lookup(head, stages, query, exact, view.order);
    for (int col = 0; col < head.v.cols; ++col)
      view.outputs.at(exact ? 1 : 0, col) = of.output[static_cast<std::size_t>(col)];
  }
  view.table = Matrix(view.keys.rows, 2 + head.v.cols);
  for (int row = 0; row < view.table.rows; ++row) {
    view.table.at(row, 0) = view.shown.match[static_cast<std::size_t>(row)];
    view.table.at(row, 1) = view.shown.weights[static_cast<std::size_t>(row)];
    for (int col = 0; col < head.v.cols; ++col) view.table.at(row, 2 + col) = view.shown.sums.at(row, col);
  }
  ++view.version;
}

// Cosine similarity of two rows; 0 if one is all zeros.
double cosine(const Matrix& rows) {
  double dot = 0, a = 0, b = 0;
  for (int col = 0; col < rows.cols; ++col) {
    const double x = rows.at(0, col), y = rows.at(1, col);
    dot += x * y;
    a += x * x;
    b += y * y;
  }
  return a > 0 && b > 0 ? dot / std::sqrt(a * b) : 0;
}

// Left edges and widths of the table's columns.
struct Columns {
  float key, k, match, weight, value, sum;
  float key_width, strip, number;
};

class Table {
 public:
  Table(FlowView& view, const Snapshot& snapshot, TextureStore& textures, const Skin& skin)
      : lookup_(view.lookup),
        shown_(view.lookup.shown),
        head_(*snapshot.inside),
        textures_(textures),
        skin_(skin),
        queries_(texts_of(tokens_of(snapshot, view.box))),
        keys_(texts_of(col_tokens(snapshot, head_.place.part))) {}

  void draw();

 private:
  int rows() const { return static_cast<int>(shown_.keys.size()); }
  int added() const { return clamped(lookup_.added.value_or(rows()), 0, rows()); }
  std::string key(int row) const { return name_of(keys_, shown_.keys[static_cast<std::size_t>(row)]); }
  bool hidden(int row) const { return std::isinf(shown_.match[static_cast<std::size_t>(row)]); }

  Columns columns(ImVec2 origin, float width) const;
  void draw_headings(const Columns& at, float y);
  void draw_query(const Columns& at, float y, float height);
  void draw_row(const Columns& at, int row, float y, float height);
  void draw_number(float x, float y, float height, float width, const std::string& text, float share, Color32 color,
                   bool dim);
  void draw_outputs(const Columns& at, float y, float height);
  void strip(const char* id, ImVec2 low, ImVec2 high, const Matrix& matrix, float largest);
  void draw_body(const Columns& at, float height);
  void tooltip(const Columns& at, int row);

  LookupView& lookup_;
  const SoftLookup& shown_;
  const HeadInside& head_;
  TextureStore& textures_;
  const Skin& skin_;
  std::vector<std::string> queries_;
  std::vector<std::string> keys_;
};

Columns Table::columns(ImVec2 origin, float width) const {
  Columns at{};
  const float gap = skin_.px(10);
  at.number = clamped(width * 0.12F, skin_.px(52), skin_.px(110));
  at.key_width = clamped(width * 0.13F, skin_.px(50), skin_.px(120));
  at.strip = std::max(skin_.px(20), (width - at.key_width - 2 * at.number - 5 * gap) / 3);
  at.key = origin.x;
  at.k = at.key + at.key_width + gap;
  at.match = at.k + at.strip + gap;
  at.weight = at.match + at.number + gap;
  at.value = at.weight + at.number + gap;
  at.sum = at.value + at.strip + gap;
  return at;
}

void Table::draw_headings(const Columns& at, float y) {
  struct Heading {
    float x, width;
    std::string title;
    const char* help;
  };
  const std::array headings = {
      Heading{at.key, at.key_width, tr("key"), tr("The keys that are searched, one row per key.")},
      Heading{at.k, at.strip, "k", tr("The key's vector, which the query is compared with. One column per dimension.")},
      Heading{at.match, at.number, head_.scaled ? "q·k ÷ √d" : "q·k",
              tr("How well the query matches this key, relative position bias included.")},
      Heading{at.weight, at.number, lookup_.exact ? tr("hard max") : tr("weight"),
              tr("Softmax over all keys: every row counts a little, the best match most. An exact lookup takes only "
                 "the best match.")},
      Heading{at.value, at.strip, "v", tr("The key's value, which is passed on with the key's weight.")},
      Heading{at.sum, at.strip, tr("Σ w·v so far"),
              tr("The output, adding up from row to row; the last row is the head's output.")},
  };
  for (const Heading& heading : headings) {
    ImGui::SetCursorScreenPos({heading.x, y});
    ImGui::PushID(heading.help);
    draw_label(skin_.fonts.bold, skin_.theme.text, shortened(skin_.fonts.bold, heading.title, heading.width), skin_);
    ImGui::PopID();
    help_tooltip(heading.help, skin_);
  }
}

void Table::strip(const char* id, ImVec2 low, ImVec2 high, const Matrix& matrix, float largest) {
  Painter paint(skin_);
  if (matrix.empty() || high.x <= low.x) return;
  ImGui::PushID(id);
  paint_matrix(paint, low, high, matrix, lookup_.version,
               {.map = skin_.theme.diverging, .low = -largest, .high = largest, .masked = skin_.theme.masked},
               textures_);
  ImGui::PopID();
}

void Table::draw_query(const Columns& at, float y, float height) {
  Painter paint(skin_);
  Matrix q(1, head_.q.cols);
  for (int col = 0; col < q.cols; ++col) q.at(0, col) = head_.q.at(lookup_.query, col);
  const std::string name = name_of(queries_, lookup_.query);
  const float text_y = y + (height - font_size(skin_.fonts.mono)) / 2;
  paint.text(skin_.fonts.mono, {at.key, text_y}, skin_.theme.accent,
             shortened(skin_.fonts.mono, "q: " + name, at.key_width));
  strip("q", {at.k, y + 1}, {at.k + at.strip, y + height - 1}, q, color_range(q.values));
  paint.text(
      skin_.fonts.small, {at.match, y + (height - font_size(skin_.fonts.small)) / 2}, skin_.theme.text_dim,
      shortened(skin_.fonts.small, tr("the query's vector, compared with each k below"), at.sum + at.strip - at.match));
}

void Table::draw_number(float x, float y, float height, float width, const std::string& text, float share,
                        Color32 color, bool dim) {
  Painter paint(skin_);
  ImFont* font = skin_.fonts.mono_small;
  const float number = text_size(font, "−00.00").x;
  const float bar = std::max(0.0F, width - number - skin_.px(4)) * clamped(share, 0.0F, 1.0F);
  if (bar >= 0.5F) {
    paint.filled_rect({x + number + skin_.px(4), y + height * 0.22F},
                      {x + number + skin_.px(4) + bar, y + height * 0.78F}, color, skin_.px(1));
  }
  const float left = x + number - text_size(font, text).x;
  paint.text(font, {left, y + (height - font_size(font)) / 2}, dim ? skin_.theme.text_dim : skin_.theme.text, text);
}

void Table::draw_row(const Columns& at, int row, float y, float height) {
  Painter paint(skin_);
  const auto index = static_cast<std::size_t>(row);
  const bool dim = hidden(row) || row >= added();
  if (row == shown_.best)
    paint.filled_rect({at.key - skin_.px(3), y}, {at.sum + at.strip, y + height}, faded(skin_.theme.accent, 0.14F));
  const float text_y = y + (height - font_size(skin_.fonts.mono)) / 2;
  paint.text(skin_.fonts.mono, {at.key, text_y}, dim ? skin_.theme.text_dim : skin_.theme.text,
             shortened(skin_.fonts.mono, key(row), at.key_width));
  const float match = shown_.match[index];
  const float largest = color_range(shown_.match);
  draw_number(at.match, y, height, at.number, hidden(row) ? "−∞" : fmt::format("{:.2f}", match),
              hidden(row) ? 0 : std::abs(match) / largest, match < 0 ? skin_.theme.series[1] : skin_.theme.series[0],
              dim);
  draw_number(at.weight, y, height, at.number, fmt::format("{:.3f}", shown_.weights[index]), shown_.weights[index],
              skin_.theme.series[2], dim);
}

void Table::tooltip(const Columns& at, int row) {
  const auto index = static_cast<std::size_t>(row);
  const float x = ImGui::GetIO().MousePos.x;
  const ProductSum sum{head_.q.cols, [&](int i) { return head_.q.at(lookup_.query, i); },
                       [&](int i) { return lookup_.keys.at(row, i); }};
  const auto column = [&](float left) {
    return clamped(static_cast<int>((x - left) / at.strip * static_cast<float>(head_.v.cols)), 0, head_.v.cols - 1);
  };
  std::string text;
  if (x < at.k) {
    text = key(row);
  } else if (x < at.match) {
    text = fmt::format("k({})[{}]\n= {}", key(row), column(at.k), short_number(lookup_.keys.at(row, column(at.k))));
  } else if (x < at.weight) {
    text = hidden(row) ? tr("after the query: masked")
                       : fmt::format("q·k = {}\n{} = {}", written(sum, in_order(sum.count)),
                                     head_.scaled ? fmt::format("÷ √{:g}{}", head_.scale_width(),
                                                                head_.bias.empty() ? "" : tr(", + position bias"))
                                                  : tr("not scaled"),
                                     short_number(shown_.match[index]));
  } else if (x < at.value) {
    text = lookup_.exact
               ? trf("1 for the best match, otherwise 0\n= {}", short_number(shown_.weights[index]))
               : trf("exp({}) ÷ Σ_j exp(match_j)\n= {:.4f}", short_number(shown_.match[index]), shown_.weights[index]);
  } else if (x < at.sum) {
    const int col = column(at.value);
    text = fmt::format("v({})[{}]\n= {}", key(row), col, short_number(shown_.values.at(row, col)));
  } else {
    const int col = column(at.sum);
    const float before = row > 0 ? shown_.sums.at(row - 1, col) : 0;
    text = trf("{} + {}·{} (weight · v({})[{}])\n= {}", short_number(before), short_number(shown_.weights[index]),
               operand_text(shown_.values.at(row, col)), key(row), col, short_number(shown_.sums.at(row, col)));
  }
  ImGui::SetTooltip(tr("%s\nClick to add up to this row."), text.c_str());
}

void Table::draw_outputs(const Columns& at, float y, float height) {
  Painter paint(skin_);
  constexpr std::array names = {mark("soft: weighted mean of all values"), mark("exact: only the best match's value")};
  const float largest = color_range(lookup_.outputs.values);
  for (int row = 0; row < 2; ++row) {
    Matrix one(1, lookup_.outputs.cols);
    for (int col = 0; col < one.cols; ++col) one.at(0, col) = lookup_.outputs.at(row, col);
    const float top = y + static_cast<float>(row) * height;
    const bool built = lookup_.exact == (row == 1);
    const char* name = tr(names[static_cast<std::size_t>(row)]);
    ImFont* font = skin_.fonts.ui;
    const std::string text = shortened(font, name, at.sum - at.key - skin_.px(8));
    paint.text(font, {at.sum - text_size(font, text).x - skin_.px(8), top + (height - font_size(font)) / 2},
               built ? skin_.theme.text : skin_.theme.text_dim, text);
    strip(row == 0 ? "soft" : "exact", {at.sum, top + 1}, {at.sum + at.strip, top + height - 1}, one, largest);
    if (built) paint.rect({at.sum, top}, {at.sum + at.strip, top + height}, skin_.theme.accent, 0, skin_.px(1));
  }
  const std::string alike = trf("cosine of the two outputs {:.3f}", cosine(lookup_.outputs));
  const float left = at.sum + at.strip - text_size(skin_.fonts.small, alike).x;
  paint.text(skin_.fonts.small, {left, y + 2 * height + skin_.px(2)}, skin_.theme.text_dim, alike);
}

void Table::draw_body(const Columns& at, float height) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float bottom = origin.y + height * static_cast<float>(rows());
  const float width = at.sum + at.strip - at.key;
  Painter paint(skin_);
  for (int row = 0; row < rows(); ++row) {
    const float y = origin.y + height * static_cast<float>(row);
    ImGui::SetCursorScreenPos({at.key, y});
    ImGui::PushID(row);
    if (ImGui::InvisibleButton("row", {std::max(1.0F, width), height})) lookup_.added = row + 1;
    ImGui::PopID();
    if (!ImGui::IsItemVisible()) continue;
    draw_row(at, row, y, height);
    if (ImGui::IsItemHovered()) tooltip(at, row);
  }
  strip("k", {at.k, origin.y}, {at.k + at.strip, bottom}, lookup_.keys, color_range(lookup_.keys.values));
  strip("v", {at.value, origin.y}, {at.value + at.strip, bottom}, shown_.values, color_range(shown_.values.values));
  strip("sums", {at.sum, origin.y}, {at.sum + at.strip, bottom}, shown_.sums, color_range(lookup_.outputs.values));
  // The part that is not summed yet.
  const float reached = origin.y + height * static_cast<float>(added());
  if (reached < bottom) paint.filled_rect({at.sum, reached}, {at.sum + at.strip, bottom}, skin_.theme.background);
  if (added() > 0)
    paint.rect({at.sum, reached - height}, {at.sum + at.strip, reached}, skin_.theme.accent, 0, skin_.px(1));
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, bottom - origin.y});
}

void Table::draw() {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float heading = font_size(skin_.fonts.bold) + skin_.px(6);
  const float line = skin_.px(22);
  const float foot = 2 * line + font_size(skin_.fonts.small) + skin_.px(10);
  const float most = std::max(skin_.px(60), room.y - heading - line - foot - skin_.px(8));
  const auto count = static_cast<float>(std::max(1, rows()));
  const float height = clamped(std::floor(most / count), skin_.px(16), skin_.px(34));
  const float body = std::min(most, height * count);
  const float bar = height * count > most ? ImGui::GetStyle().ScrollbarSize : 0;
  const Columns at = columns({origin.x + skin_.px(4), origin.y}, room.x - bar - skin_.px(8));
  draw_headings(at, origin.y);
  draw_query(at, origin.y + heading, line);
  const float top = origin.y + heading + line + skin_.px(4);
  ImGui::SetCursorScreenPos({origin.x, top});
  ImGui::BeginChild("rows", {room.x, body}, false, view_flags());
  draw_body(at, height);
  ImGui::EndChild();
  draw_outputs(at, top + body + skin_.px(4), line);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({room.x, heading + line + body + foot});
}

// ---- selection

void draw_choices(const Snapshot& snapshot, FlowView& view, const Skin& skin) {
  const Architecture plan = architecture_of(snapshot.model);
  for (const bool decoder : {false, true}) {
    for (const ArchitectureBox& box : plan.column(decoder).boxes) {
      const auto part = attention_of(box.box);
      if (!part) continue;
      const PartText& text = text_of(*part, snapshot.model);
      if (draw_choice(tr_label(text.name), view.box == box.box, trf("{} ←, →: next one.", tr(text.help)), skin))
        select_box(view, box.box);
    }
  }
  const auto layers = static_cast<int>(plan.column(view.box.decoder).layers);
  draw_numbers(tr("layer"), layers, view.layer, tr(layer_help), skin);
  draw_numbers(tr("head"), heads_of_box(snapshot.model, view.box), view.head, tr(head_help), skin);
  LookupView& lookup = view.lookup;
  if (draw_choice(tr_label("softmax"), !lookup.exact, tr("Weights every value by how well its key matches."), skin))
    lookup.exact = false;
  if (draw_choice(
          tr_label("exact lookup"), lookup.exact,
          tr("Like a dictionary: takes only the value of the best match. It has no gradient, so it cannot be learned."),
          skin))
    lookup.exact = true;
  bool sorted = lookup.order == LookupOrder::by_weight;
  if (draw_choice(tr_label("largest first"), sorted, tr("Orders the rows by weight, or as in the sentence."), skin))
    lookup.order = sorted ? LookupOrder::as_written : LookupOrder::by_weight;
  end_choices();
}

// Draws all tokens in at most a quarter of the room; scrolls if there are more.
void draw_queries(const Snapshot& snapshot, FlowView& view, int query, const Skin& skin) {
  const float most = std::max(skin.px(30), ImGui::GetContentRegionAvail().y / 4);
  const float height = view.lookup.strip_height > 0 ? std::min(view.lookup.strip_height, most) : skin.px(30);
  ImGui::BeginChild("queries", {0, height}, false, view_flags());
  const float top = ImGui::GetCursorPosY();
  TokenStripOptions options;
  options.show_ids = false;
  options.selected = query;
  const TokenStripResult mouse = draw_token_strip("pieces", tokens_of(snapshot, view.box), options, skin);
  if (mouse.clicked >= 0) view.token = mouse.clicked;
  view.lookup.strip_height = ImGui::GetCursorPosY() - top;
  ImGui::EndChild();
}

}  // namespace

std::optional<WorkspaceNumbers> lookup_numbers(const LookupView& view) {
  if (!view.snapshot || view.table.empty()) return std::nullopt;
  const HeadPlace& place = view.snapshot->inside->place;
  const std::vector<std::string> keys = texts_of(col_tokens(*view.snapshot, place.part));
  WorkspaceNumbers numbers{view.table, {}, {"match", "weight"}, "lookup " + head_name(place, view.snapshot->model)};
  for (const int key : view.shown.keys) numbers.rows.push_back(keys[static_cast<std::size_t>(key)]);
  for (int col = 2; col < view.table.cols; ++col) numbers.cols.push_back(fmt::format("sum[{}]", col - 2));
  return numbers;
}

void draw_lookup(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  if (!settle_on_attention(view, snapshot.model)) {
    const char* text = snapshot.model.is_classifier()
                           ? tr("This view shows attention as a lookup, but a recurrent classifier has none. The "
                                "weights of its pooling are in Origins, Classifier.")
                       : snapshot.model.attention == "none"
                           ? tr("This view shows attention as a lookup, but this model has no attention. Choose an "
                                "attention or the encoder\u2013decoder in the setup, then Reset.")
                           : tr("In a recurrent decoder the encoder's states are keys and values at once: see its box "
                                "in Architecture.");
    return draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin);
  }
  settle(view, snapshot);
  draw_choices(snapshot, view, skin);
  const int query = shown_token(view, snapshot);
  draw_queries(snapshot, view, query, skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const auto part = attention_of(view.box);
  const HeadPlace place{*part, view.layer, view.head};
  if (snapshot.data_flow && !snapshot.data_flow->problem.empty())
    return draw_quiet_note(tr_filled(snapshot.data_flow->problem).c_str(), room, skin);
  if (!snapshot.inside || snapshot.inside->place != place) return draw_quiet_note(tr("computing…"), room, skin);
  refresh(view.lookup, shown.snapshot, std::min(query, snapshot.inside->q.rows - 1));
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!std::ranges::any_of(view.lookup.shown.values.values, finite))
    return draw_quiet_note(tr(diverged_note), room, skin);
  ImGui::BeginChild("table", {0, 0}, false, view_flags());
  Table(view, snapshot, textures, skin).draw();
  ImGui::EndChild();
}

}  // namespace attnscope
