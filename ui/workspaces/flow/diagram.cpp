#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/words.h"
#include "workspaces/flow/flow.h"

namespace attnscope {
namespace {

// Lengths at scale 1.
constexpr float least_box = 17, largest_box = 34;
constexpr float least_arrow = 15, largest_arrow = 34;
constexpr float lane = 14;    // next to the boxes, for the residual connection
constexpr float gutter = 22;  // between the columns, for the memory

struct Place {
  const ArchitectureBox* box;
  ImVec2 low, high;
  float middle() const { return (low.y + high.y) / 2; }
};

struct ColumnPlace {
  const ArchitectureColumn* column;
  bool decoder = false;
  bool mirrored = false;      // the right one of two: its residual connections are along the right edge
  float left = 0, width = 0;  // of the boxes
  float line = 0;             // x of the main path
  float lane = 0;             // x of the residual connections
  float bottom = 0;           // bottom of the lowest box
  std::vector<Place> boxes;
};

// The drawing and its shared state.
class Diagram {
 public:
  Diagram(const Snapshot& snapshot, FlowView& view, const Skin& skin)
      : snapshot_(snapshot),
        view_(view),
        skin_(skin),
        paint_(skin),
        plan_(architecture_of(snapshot.model)),
        sizes_(sizes_of(snapshot)) {}

  void draw(ImVec2 size);

 private:
  int rows() const { return static_cast<int>(std::max(plan_.encoder.boxes.size(), plan_.decoder.boxes.size())); }
  ColumnPlace place(bool decoder, float left, float width, float bottom) const;
  void draw_column(ColumnPlace& column);
  void draw_frame(const ColumnPlace& column);
  void draw_box(const Place& place);
  void draw_way(const ColumnPlace& column);
  void draw_beside(const ColumnPlace& column, std::size_t index);
  void draw_residual(const ColumnPlace& column, std::size_t index);
  void draw_memory(const ColumnPlace& encoder, const ColumnPlace& decoder);
  void arrow(ImVec2 from, ImVec2 to);
  void plus(ImVec2 at);
  void label(const ColumnPlace& column, float y, const std::string& letters);
  std::string shape(const std::string& letters) const {
    return fmt::format("{} = {}", letters, sizes_text(letters, snapshot_.model, sizes_));
  }
  std::span<const FlowParameter> parameters() const {
    return snapshot_.data_flow ? std::span<const FlowParameter>(snapshot_.data_flow->parameters)
                               : std::span<const FlowParameter>();
  }
  // For the selected layer, or the last layer of a column that has fewer.
  std::int64_t own_parameters_of(const ArchitectureBox& box) const {
    const auto layers = static_cast<int>(plan_.column(box.box.decoder).layers);
    const int layer = clamped(view_.layer, 0, layers - 1);
    return parameters_of(box, static_cast<int>(own_layer(snapshot_.model, box.box.decoder, layer)), parameters());
  }
  std::string count_text(const ArchitectureBox& box) const;
  std::string help_of(const ArchitectureBox& box) const;
  Color32 color_of(const ArchitectureBox& box) const;
  bool is_pre() const { return snapshot_.model.norm == "pre" && !snapshot_.model.is_recurrent(); }
  bool has_norms() const { return snapshot_.model.has_norms(); }

  const Snapshot& snapshot_;
  FlowView& view_;
  const Skin& skin_;
  Painter paint_;
  Architecture plan_;
  FlowSizes sizes_;
  float box_ = 0, arrow_ = 0;  // heights
};

void Diagram::draw(ImVec2 size) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const auto count = static_cast<float>(rows());
  const float words = font_size(skin_.fonts.small);
  const float top = skin_.px(6);
  const float foot = words + skin_.px(8);
  // Boxes and arrows share the height: as many arrows as boxes, plus one at each end.
  const float room = size.y - top - foot;
  const float share = room / (count * (largest_box + largest_arrow) + largest_arrow);
  box_ = clamped(share * largest_box, skin_.px(least_box), skin_.px(largest_box));
  arrow_ = clamped(share * largest_arrow, skin_.px(least_arrow), skin_.px(largest_arrow));
  const float height = std::max(size.y, count * (box_ + arrow_) + arrow_ + top + foot);
  const float used = count * (box_ + arrow_) + arrow_;
  const float bottom = origin.y + top + used + std::max(0.0F, (height - top - foot - used) / 2) - arrow_;

  const bool both = !plan_.encoder.boxes.empty();
  const float side = skin_.px(lane), between = skin_.px(gutter);
  const float room_x = size.x - skin_.px(2);
  const float width = both ? (room_x - 2 * side - between) / 2 : std::min(room_x - 2 * side, skin_.px(420));
  std::vector<ColumnPlace> columns;
  if (both) columns.push_back(place(false, origin.x + side, width, bottom));
  const float left = both ? origin.x + side + width + between : origin.x + (size.x - width) / 2;
  columns.push_back(place(true, left, width, bottom));
  for (ColumnPlace& column : columns) draw_column(column);
  if (both) draw_memory(columns.front(), columns.back());
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({size.x, height});
}

ColumnPlace Diagram::place(bool decoder, float left, float width, float bottom) const {
  const bool mirrored = decoder && !plan_.encoder.boxes.empty();
  const float edge = skin_.px(12), out = skin_.px(lane - 6);
  ColumnPlace column{&plan_.column(decoder), decoder, mirrored, left, width, 0, 0, bottom, {}};
  column.line = mirrored ? left + width - edge : left + edge;
  column.lane = mirrored ? left + width + out : left - out;
  float low = bottom - box_;
  for (const ArchitectureBox& box : column.column->boxes) {
    const float aside = box.beside ? width * 0.3F : 0;
    column.boxes.push_back(
        {&box, {left + (mirrored ? 0 : aside), low}, {left + width - (mirrored ? aside : 0), low + box_}});
    low -= box_ + arrow_;
  }
  return column;
}

Color32 Diagram::color_of(const ArchitectureBox& box) const {
  const auto& series = skin_.theme.series;
  const auto tint = [&](std::size_t index) { return mixed(skin_.theme.raised, series[index], 0.22F); };
  switch (box.box.part) {
    case FlowPart::embedding:
    case FlowPart::logits:
      return tint(6);
    case FlowPart::self_attention:
    case FlowPart::cross_attention:
    case FlowPart::attention:
      return tint(1);
    case FlowPart::feed_forward:
    case FlowPart::cell:
    case FlowPart::readout:
      return tint(0);
    case FlowPart::probabilities:
      return tint(2);
    default:
      return skin_.theme.raised;
  }
}

std::string Diagram::count_text(const ArchitectureBox& box) const {
  if (parameters().empty()) return "";
  const std::int64_t own = own_parameters_of(box);
  if (own > 0) return grouped(own);
  if (box.beside) return box.out;  // its output, if it has no parameters
  return shared_parameters_of(box, parameters()) > 0 ? tr("shared") : "0";
}

std::string Diagram::help_of(const ArchitectureBox& box) const {
  std::string text(tr(box.help));
  const std::int64_t shared = shared_parameters_of(box, parameters());
  const std::int64_t own = own_parameters_of(box);
  text += shared > 0 ? trf("\n{} shared parameters, counted once, where they are first used.", grouped(shared))
                     : trf("\n{} parameters{}.", grouped(own), box.repeated ? tr(" in each layer") : "");
  text += trf("\nOutput: {}.\nClick, or use the arrow keys, to see its numbers.", shape(box.out));
  return text;
}

void Diagram::arrow(ImVec2 from, ImVec2 to) {
  const Color32 ink = skin_.theme.text_dim;
  const ImVec2 along{to.x - from.x, to.y - from.y};
  const float length = std::max(1.0F, std::hypot(along.x, along.y));
  const ImVec2 unit{along.x / length, along.y / length};
  const float head = std::min(skin_.px(4), length * 0.6F);
  paint_.line(from, to, ink, skin_.px(1));
  paint_.line(to, {to.x - head * (unit.x + unit.y * 0.7F), to.y - head * (unit.y - unit.x * 0.7F)}, ink, skin_.px(1));
  paint_.line(to, {to.x - head * (unit.x - unit.y * 0.7F), to.y - head * (unit.y + unit.x * 0.7F)}, ink, skin_.px(1));
}

void Diagram::plus(ImVec2 at) {
  const float r = skin_.px(5);
  paint_.filled_circle(at, r + skin_.px(1), skin_.theme.text_dim);
  paint_.filled_circle(at, r, skin_.theme.background);
  paint_.line({at.x - r * 0.6F, at.y}, {at.x + r * 0.6F, at.y}, skin_.theme.text, skin_.px(1));
  paint_.line({at.x, at.y - r * 0.6F}, {at.x, at.y + r * 0.6F}, skin_.theme.text, skin_.px(1));
}

// Next to an arrow, on the inner side; omits the numbers if there is no room.
void Diagram::label(const ColumnPlace& column, float y, const std::string& letters) {
  ImFont* font = skin_.fonts.small;
  const std::string whole = shape(letters);
  const std::string& text = text_size(font, whole).x <= column.width - skin_.px(24) ? whole : letters;
  const float x = column.mirrored ? column.line - skin_.px(7) - text_size(font, text).x : column.line + skin_.px(7);
  paint_.text(font, {x, y - font_size(font) / 2}, skin_.theme.text_dim, text);
}

void Diagram::draw_column(ColumnPlace& column) {
  draw_frame(column);
  draw_way(column);
  for (std::size_t i = 0; i < column.boxes.size(); ++i) {
    if (column.boxes[i].box->beside) draw_beside(column, i);
    if (column.boxes[i].box->residual) draw_residual(column, i);
  }
  for (const Place& place : column.boxes) draw_box(place);
}

// Draws the frame around the layer that is repeated.
void Diagram::draw_frame(const ColumnPlace& column) {
  const auto is_repeated = [](const Place& place) { return place.box->repeated; };
  const auto first = std::ranges::find_if(column.boxes, is_repeated);
  if (first == column.boxes.end()) return;
  const auto last = std::find_if_not(first, column.boxes.end(), is_repeated) - 1;
  const float margin = arrow_ * 0.16F;
  const float out = skin_.px(lane - 1);
  const ImVec2 low{column.left - (column.mirrored ? skin_.px(5) : out), last->low.y - margin};
  const ImVec2 high{column.left + column.width + (column.mirrored ? out : skin_.px(5)), first->high.y + arrow_ * 0.88F};
  paint_.rect(low, high, skin_.theme.border, skin_.px(5), skin_.px(1));
  const std::string text = fmt::format("× {}", column.column->layers);
  const ImVec2 extent = text_size(skin_.fonts.small, text);
  const float inset = skin_.px(8);
  const ImVec2 at{column.mirrored ? low.x + inset : high.x - extent.x - inset, low.y - extent.y * 0.7F};
  paint_.filled_rect({at.x - skin_.px(3), at.y}, {at.x + extent.x + skin_.px(3), at.y + extent.y},
                     skin_.theme.background);
  paint_.text(skin_.fonts.small, at, skin_.theme.text, text);
}

// Draws the path from the tokens at the bottom through the boxes, with the tensor shape next to each arrow.
void Diagram::draw_way(const ColumnPlace& column) {
  float y = column.bottom + arrow_;
  std::string letters = column.column->input;
  const auto end = column.boxes.size();
  for (std::size_t i = 0; i < end; ++i) {
    const Place& place = column.boxes[i];
    if (place.box->beside) continue;  // not on the main path
    const bool begins = i == 0 && letters.empty();
    const ImVec2 to{column.line, place.high.y};
    if (!begins) {
      arrow({column.line, y}, to);
      const float from_low = std::min(y, to.y + arrow_);
      label(column, (from_low + to.y) / 2, letters);
    }
    y = place.low.y;
    letters = place.box->out;
  }
  arrow({column.line, y}, {column.line, y - arrow_});
  label(column, y - arrow_ / 2, letters);
  if (column.column->input.empty()) return;  // all its input comes from the encoder
  const char* what = snapshot_.model.is_language_model() ? tr("text")
                     : column.decoder                    ? tr("output so far")
                                                         : tr("source");
  const std::string ids = shortened(skin_.fonts.small, trf("{}, as token ids", what), column.width);
  const float left =
      column.mirrored ? column.line + skin_.px(4) - text_size(skin_.fonts.small, ids).x : column.line - skin_.px(4);
  paint_.text(skin_.fonts.small, {left, column.bottom + arrow_ + skin_.px(1)}, skin_.theme.text, ids);
}

// A box next to the main path, added to it or passed to the box above.
void Diagram::draw_beside(const ColumnPlace& column, std::size_t index) {
  const Place& place = column.boxes[index];
  if (!place.box->repeated) {
    const ImVec2 at{column.line, place.middle()};
    const float side = column.mirrored ? -1.0F : 1.0F;
    arrow({column.mirrored ? place.high.x : place.low.x, at.y}, {at.x + side * skin_.px(6), at.y});
    plus(at);
    return;
  }
  const float edge = skin_.px(14);  // the label next to the path ends before it
  const float x = column.mirrored ? place.low.x + edge : place.high.x - edge;
  arrow({x, place.low.y}, {x, place.low.y - arrow_});
}

// Draws the residual connection around the sublayer: to the norm above it, or for pre-norm and without norms, to a sum.
void Diagram::draw_residual(const ColumnPlace& column, std::size_t index) {
  const bool pre = is_pre() && has_norms(), sums = pre || !has_norms();
  const Place& own = column.boxes[index];
  std::size_t below = pre ? index - 1 : index;
  while (pre && column.boxes[below].box->beside) --below;
  const std::size_t beneath = below;
  const bool tagged = !pre && index > 0 && column.boxes[index - 1].box->beside && column.boxes[index - 1].box->repeated;
  const float from =
      tagged ? column.boxes[index - 1].high.y + arrow_ * 0.3F : column.boxes[beneath].high.y + arrow_ * 0.3F;
  const float to = sums ? own.low.y - arrow_ * 0.4F : column.boxes[index + 1].middle();
  const Color32 ink = skin_.theme.text_dim;
  const float edge = column.mirrored ? column.left + column.width : column.left;
  paint_.line({column.line, from}, {column.lane, from}, ink, skin_.px(1));
  paint_.line({column.lane, from}, {column.lane, to}, ink, skin_.px(1));
  if (sums) {
    arrow({column.lane, to}, {column.line + (column.mirrored ? 1.0F : -1.0F) * skin_.px(6), to});
    plus({column.line, to});
  } else {
    arrow({column.lane, to}, {edge, to});
  }
}

void Diagram::draw_memory(const ColumnPlace& encoder, const ColumnPlace& decoder) {
  const float x = encoder.left + encoder.width + skin_.px(gutter) / 2 + skin_.px(1);
  const float top = encoder.boxes.back().low.y - arrow_;
  const Color32 ink = skin_.theme.accent;
  bool any = false;
  float lowest = top, highest = top;
  for (const Place& place : decoder.boxes) {
    if (!place.box->from_source) continue;
    any = true;
    lowest = std::max(lowest, place.middle());
    highest = std::min(highest, place.middle());
    paint_.line({x, place.middle()}, {place.low.x, place.middle()}, ink, skin_.px(1.5F));
    paint_.filled_circle({place.low.x - skin_.px(2), place.middle()}, skin_.px(2.5F), ink);
  }
  if (!any) return;
  paint_.line({encoder.line, top}, {x, top}, ink, skin_.px(1.5F));
  paint_.line({x, highest}, {x, lowest}, ink, skin_.px(1.5F));
  const std::string text =
      fmt::format("{} {}", plan_.memory == "B×D" ? tr("last states") : tr("memory"), shape(plan_.memory));
  const float room = encoder.width;
  paint_.text(skin_.fonts.small, {encoder.line, top - font_size(skin_.fonts.small) - skin_.px(2)}, skin_.theme.accent,
              shortened(skin_.fonts.small, text, room));
}

void Diagram::draw_box(const Place& place) {
  const ArchitectureBox& box = *place.box;
  ImGui::PushID(static_cast<int>(box.box.part) * 2 + (box.box.decoder ? 1 : 0));
  ImGui::SetCursorScreenPos(place.low);
  const ImVec2 size{std::max(1.0F, place.high.x - place.low.x), place.high.y - place.low.y};
  if (ImGui::InvisibleButton("box", size)) select_box(view_, box.box);
  const bool hovered = ImGui::IsItemHovered();
  help_tooltip(help_of(box), skin_);
  ImGui::PopID();

  const bool chosen = view_.box == box.box;
  const float rounding = skin_.px(4);
  const Color32 fill = hovered ? mixed(color_of(box), skin_.theme.text, 0.12F) : color_of(box);
  paint_.filled_rect(place.low, place.high, fill, rounding);
  paint_.rect(place.low, place.high, chosen ? skin_.theme.accent : skin_.theme.border, rounding,
              skin_.px(chosen ? 2 : 1));
  const float pad = skin_.px(6);
  const std::string count = count_text(box);
  ImFont* small = skin_.fonts.small;
  const ImVec2 number = text_size(small, count);
  const float y = place.middle();
  const float room = size.x - 2 * pad;
  // Text takes precedence if there are no parameters.
  const bool words_alone = box.beside && text_size(small, tr(box.title)).x > room - number.x - pad;
  const float title_room = words_alone ? room : std::max(skin_.px(40), room - number.x - pad);
  ImFont* font = text_size(skin_.fonts.ui, tr(box.title)).x <= title_room ? skin_.fonts.ui : small;
  paint_.text(font, {place.low.x + pad, y - font_size(font) / 2}, skin_.theme.text,
              shortened(font, std::string(tr(box.title)), title_room));
  if (!words_alone && number.x + pad + skin_.px(40) <= room)
    paint_.text(small, {place.high.x - pad - number.x, y - number.y / 2}, skin_.theme.text_dim, count);
}

}  // namespace

void draw_diagram(const Snapshot& snapshot, FlowView& view, ImVec2 size, const Skin& skin) {
  ImGui::BeginChild("diagram", size, false, view_flags());
  Diagram(snapshot, view, skin).draw(ImGui::GetContentRegionAvail());
  ImGui::EndChild();
}

}  // namespace attnscope
