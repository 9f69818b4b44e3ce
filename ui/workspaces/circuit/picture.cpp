// The circuit drawn over the sentence: which word attends to which, through which heads, up to the answer.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/circuit/modes.h"

namespace attnscope {
namespace {

constexpr int curve_points = 24;
constexpr float smallest_picture = 240;  // height below which the words under it are shortened instead

// One layer of the picture: words side by side. Layers are stacked, with the answer on top.
struct Floor {
  std::vector<ImVec2> words;  // center of each word at its layer
};

struct Layout {
  std::vector<Floor> floors;  // the embeddings, after layer 1, …
  ImVec2 answer;
  ImVec2 low, high;
};

Layout layout_of(const Circuit& circuit, ImVec2 low, ImVec2 high, const Skin& skin) {
  Layout layout{{}, {}, low, high};
  const float left = low.x + skin.px(92), right = high.x - skin.px(24);
  const int floors = static_cast<int>(circuit.places.size());
  const float bottom = high.y - skin.px(34), top = low.y + skin.px(26);
  const float storey = (bottom - top) / static_cast<float>(floors);
  std::vector<float> widths;
  float all = 0;
  for (const std::string& word : circuit.slots) {
    widths.push_back(text_size(skin.fonts.ui, word).x + skin.px(18));
    all += widths.back();
  }
  const float stretch = (right - left) / std::max(1.0F, all);
  for (int floor = 0; floor < floors; ++floor) {
    Floor of;
    float x = left;
    for (const float width : widths) {
      of.words.push_back({x + width * stretch / 2, bottom - storey * static_cast<float>(floor)});
      x += width * stretch;
    }
    layout.floors.push_back(std::move(of));
  }
  const std::vector<int>& last = circuit.places.back().slots;
  float sum = 0;
  for (const int slot : last) sum += layout.floors.back().words[static_cast<std::size_t>(slot)].x;
  layout.answer = {last.empty() ? (left + right) / 2 : sum / static_cast<float>(last.size()), top};
  return layout;
}

// Upwards, with vertical tangents at both ends.
std::vector<ImVec2> rising(ImVec2 from, ImVec2 to) {
  std::vector<ImVec2> points;
  const float lift = (from.y - to.y) * 0.55F;
  for (int i = 0; i <= curve_points; ++i) {
    const float t = static_cast<float>(i) / curve_points, u = 1 - t;
    const float a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
    points.push_back({a * from.x + b * from.x + c * to.x + d * to.x,
                      a * from.y + b * (from.y - lift) + c * (to.y + lift) + d * to.y});
  }
  return points;
}

float distance(ImVec2 a, ImVec2 b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

float thickness_of(double share, const Skin& skin) {
  return skin.px(1.5F + 8 * static_cast<float>(clamped(std::abs(share), 0.0, 1.0)));
}

class CircuitPicture {
 public:
  CircuitPicture(CircuitView& view, const Circuit& circuit, ImVec2 low, ImVec2 high, const Skin& skin)
      : view_(view), circuit_(circuit), skin_(skin), paint_(skin), layout_(layout_of(circuit, low, high, skin)) {}

  void draw() {
    draw_words();
    if (view_.inspection->facts.recurrent) draw_carried();
    for (const CircuitEdge& edge : circuit_.edges) draw_edge(edge);
    draw_decoys();
    draw_places();
    draw_answer();
    if (pointed_) show_edge(*pointed_);
  }

 private:
  ImVec2 at(int layer, int slot) const {
    const std::size_t floor = std::min(static_cast<std::size_t>(layer), layout_.floors.size() - 1);
    return layout_.floors[floor].words[static_cast<std::size_t>(slot)];
  }

  // Every word's vector passes up through the layers; those that carry no part of the difference are gray.
  void draw_words() {
    const Color32 grey = faded(skin_.theme.text_dim, 0.25F);
    for (std::size_t floor = 0; floor < layout_.floors.size(); ++floor) {
      const std::string name = floor == 0 ? tr("embedding") : trf("layer {}", floor);
      const float y = layout_.floors[floor].words.front().y;
      paint_.text(skin_.fonts.small, {layout_.low.x, y - font_size(skin_.fonts.small) / 2}, skin_.theme.text_dim, name);
      for (const ImVec2 word : layout_.floors[floor].words) paint_.filled_circle(word, skin_.px(3), grey);
    }
    for (std::size_t slot = 0; slot < circuit_.slots.size(); ++slot) {
      const ImVec2 low = at(0, static_cast<int>(slot));
      paint_.line(low, at(static_cast<int>(layout_.floors.size()) - 1, static_cast<int>(slot)), grey, skin_.px(1));
      const std::string& word = circuit_.slots[slot];
      const ImVec2 size = text_size(skin_.fonts.ui, word);
      paint_.text(skin_.fonts.ui, {low.x - size.x / 2, low.y + skin_.px(9)}, skin_.theme.text, word);
    }
  }

  // Words that carry the difference through further layers.
  void draw_places() {
    for (std::size_t floor = 0; floor < circuit_.places.size(); ++floor) {
      for (const int slot : circuit_.places[floor].slots) {
        const double share = circuit_.places[floor].each[static_cast<std::size_t>(slot)].share();
        paint_.filled_circle(at(static_cast<int>(floor), slot),
                             skin_.px(5 + 4 * static_cast<float>(clamped(share, 0.0, 1.0))), skin_.theme.accent);
      }
      if (floor == 0) continue;
      for (const int slot : circuit_.places[floor].slots) {
        const std::vector<int>& before = circuit_.places[floor - 1].slots;
        if (std::ranges::find(before, slot) != before.end())
          paint_.line(at(static_cast<int>(floor) - 1, slot), at(static_cast<int>(floor), slot), skin_.theme.accent,
                      skin_.px(3));
      }
    }
  }

  // In a recurrent layer the difference moves from word to word along the layer, not through a head.
  void draw_carried() {
    for (std::size_t floor = 1; floor < circuit_.places.size(); ++floor) {
      const std::vector<int>& before = circuit_.places[floor - 1].slots;
      for (const int slot : circuit_.places[floor].slots) {
        if (std::ranges::find(before, slot) != before.end()) continue;
        for (const int from : before) {
          const ImVec2 above = at(static_cast<int>(floor), from);
          paint_.line(at(static_cast<int>(floor) - 1, from), above, skin_.theme.accent, skin_.px(2));
          paint_.line(above, at(static_cast<int>(floor), slot), skin_.theme.accent, skin_.px(2));
        }
      }
    }
  }

  // `word`: the source of the edge.
  void draw_edge(const CircuitEdge& edge, int word, ImVec2 from, ImVec2 to, float thickness, Color32 color) {
    const std::vector<ImVec2> points = rising(from, to);
    const ImVec2 mouse = ImGui::GetMousePos();
    const bool near = ImGui::IsWindowHovered() && std::ranges::any_of(points, [&](ImVec2 point) {
                        return distance(point, mouse) < std::max(thickness, skin_.px(8));
                      });
    if (near) {
      pointed_ = &edge;
      pointed_word_ = word;
    }
    paint_.polyline(points, near ? skin_.theme.text : color, thickness);
  }

  Color32 color_of(const CircuitEdge& edge) const {
    if (edge.part == AttentionPart::cross) return skin_.theme.success;
    return series_color(skin_.theme, static_cast<std::size_t>(edge.layer * 2 + 1));
  }

  void draw_edge(const CircuitEdge& edge) {
    const Color32 color = faded(color_of(edge), 0.85F);
    if (edge.part != circuit_.reader) return draw_writing(edge, color);
    for (const HeadRow& member : edge.members) {
      const double share = edge.alone[static_cast<std::size_t>(member.head)].share();
      for (const int read : edge.read)
        draw_edge(edge, read, at(edge.layer, read), at(edge.layer + 1, member.slot), thickness_of(share, skin_), color);
    }
    std::vector<std::string> heads;
    for (const int head : edge.heads()) heads.push_back(std::to_string(head + 1));
    const ImVec2 from = at(edge.layer, edge.read.empty() ? edge.slots().front() : edge.read.front());
    const ImVec2 to = at(edge.layer + 1, edge.slots().front());
    label({(from.x + to.x) / 2, (from.y + to.y) / 2}, trf("head{} {}", heads.size() == 1 ? "" : "s", listed(heads)),
          color_of(edge));
  }

  // The words from which the decoder's step reads.
  void draw_writing(const CircuitEdge& edge, Color32 color) {
    if (edge.part != AttentionPart::cross) return;
    const std::vector<int>& last = circuit_.places.back().slots;
    for (const int slot : last) {
      const double share = circuit_.places.back().each[static_cast<std::size_t>(slot)].share();
      draw_edge(edge, slot, at(static_cast<int>(layout_.floors.size()) - 1, slot), layout_.answer,
                thickness_of(share, skin_), color);
    }
    std::vector<std::string> heads;
    for (const int head : edge.heads()) heads.push_back(std::to_string(head + 1));
    label({layout_.answer.x + skin_.px(110), layout_.answer.y + skin_.px(26)},
          trf("decoder layer {}, cross-attention, head{} {}", edge.layer + 1, heads.size() == 1 ? "" : "s",
              listed(heads)),
          color_of(edge));
  }

  void label(ImVec2 middle, const std::string& text, Color32 color) {
    const ImVec2 size = text_size(skin_.fonts.small, text);
    const ImVec2 low{
        clamped(middle.x - size.x / 2, layout_.low.x, std::max(layout_.low.x, layout_.high.x - size.x - skin_.px(4))),
        middle.y - size.y / 2};
    paint_.filled_rect({low.x - skin_.px(4), low.y - skin_.px(2)},
                       {low.x + size.x + skin_.px(4), low.y + size.y + skin_.px(2)},
                       faded(skin_.theme.background, 0.9F), skin_.px(3));
    paint_.text(skin_.fonts.small, low, color, text);
  }

  // Gray: heads that attend but have no effect.
  void draw_decoys() {
    const Color32 grey = faded(skin_.theme.text_dim, 0.55F);
    for (const Decoy& decoy : circuit_.decoys) {
      const ImVec2 low = at(decoy.place.layer, decoy.to), high = at(decoy.place.layer + 1, decoy.from);
      const float beside = skin_.px(12);  // offset from an edge on the same path
      const std::vector<ImVec2> points = rising({low.x + beside, low.y}, {high.x + beside, high.y});
      for (std::size_t i = 0; i + 1 < points.size(); i += 2)
        paint_.line(points[i], points[i + 1], grey, skin_.px(1.5F));
      const ImVec2 middle = points[points.size() / 3];
      label({middle.x, middle.y},
            trf("head {}: attention {:.2f}, effect {}", decoy.place.head + 1, decoy.weight,
                percent_text(decoy.effect.share())),
            skin_.theme.text_dim);
    }
  }

  void draw_answer() {
    const ContrastFacts& facts = view_.inspection->facts;
    const std::string text = fmt::format("{} | {}", without_mark(facts.a.text), without_mark(facts.b.text));
    ImVec2 from = layout_.answer;
    const bool writes =
        std::ranges::any_of(circuit_.edges, [](const CircuitEdge& edge) { return edge.part == AttentionPart::cross; });
    if (!writes) {
      for (const int slot : circuit_.places.back().slots)
        paint_.line(at(static_cast<int>(layout_.floors.size()) - 1, slot), from, skin_.theme.accent, skin_.px(3));
    }
    const ImVec2 size = text_size(skin_.fonts.bold, text);
    const ImVec2 low{from.x - size.x / 2 - skin_.px(8), from.y - size.y / 2 - skin_.px(5)};
    const ImVec2 high{from.x + size.x / 2 + skin_.px(8), from.y + size.y / 2 + skin_.px(5)};
    paint_.filled_rect(low, high, skin_.theme.raised, skin_.px(5));
    paint_.rect(low, high, skin_.theme.accent, skin_.px(5), skin_.px(1.5F));
    paint_.text(skin_.fonts.bold, {from.x - size.x / 2, from.y - size.y / 2}, skin_.theme.text, text);
  }

  void show_edge(const CircuitEdge& edge) {
    ImGui::BeginTooltip();
    bold_text(edge_text(circuit_, edge), skin_);
    for (const Way& way : edge.ways) dim_text(way_text(circuit_, way) + ": " + tally_text(way.tally), skin_);
    for (const int head : edge.heads())
      dim_text(trf("only head {}: {}", head + 1, tally_text(edge.alone[static_cast<std::size_t>(head)])), skin_);
    dim_text(tr("thickness: the effect of each head patched on its own, not its attention weight"), skin_);
    dim_text(tr("click: remove the edge, redirect it, or patch its value"), skin_);
    ImGui::EndTooltip();
    if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
    view_.menu_edge = static_cast<int>(&edge - circuit_.edges.data());
    view_.menu_word = pointed_word_;
    ImGui::OpenPopup("hop");
  }

  CircuitView& view_;
  const Circuit& circuit_;
  const Skin& skin_;
  Painter paint_;
  Layout layout_;
  const CircuitEdge* pointed_ = nullptr;
  int pointed_word_ = -1;
};

void try_way(WorkspaceContext& context, CircuitView& view, const CircuitEdge& edge, const Way& way) {
  const Circuit& circuit = shown_circuit(view);
  try_change(context, view, edge_run(view, edge, way),
             fmt::format("{}, {}:", edge_text(circuit, edge), way_text(circuit, way)));
}

// Tries other sources for an edge: swaps its attention weight to another word.
void draw_other_words(WorkspaceContext& context, CircuitView& view, const Circuit& circuit, const CircuitEdge& edge) {
  if (edge.part != circuit.reader || !ImGui::BeginMenu(tr_label("redirect to"))) return;
  const int words = static_cast<int>(view.inspection->facts.words.size());
  for (int word = 0; word < words; ++word) {
    if (word == view.menu_word) continue;
    ImGui::PushID(word);
    if (ImGui::MenuItem(circuit.slots[static_cast<std::size_t>(word)].c_str()))
      try_way(context, view, edge, {ChangeKind::exchange, {view.menu_word, word}});
    ImGui::PopID();
  }
  ImGui::EndMenu();
}

// The context menu of the clicked edge.
void draw_menu(WorkspaceContext& context, CircuitView& view, const Circuit& circuit) {
  if (!ImGui::BeginPopup("hop")) return;
  if (view.menu_edge < static_cast<int>(circuit.edges.size())) {
    const CircuitEdge& edge = circuit.edges[static_cast<std::size_t>(view.menu_edge)];
    dim_text(edge_text(circuit, edge), context.skin);
    for (const Way& way : edge.ways)
      if (ImGui::MenuItem(way_text(circuit, way).c_str(), tally_text(way.tally).c_str()))
        try_way(context, view, edge, way);
    draw_other_words(context, view, circuit, edge);
  }
  ImGui::EndPopup();
}

// True for interventions with a button; mean ablation is only in the edge's menu.
bool has_button(const Way& way) {
  return way.kind != ChangeKind::mean;
}

// "zero ablation: 0 of 66, 12 %"
std::string button_text(const CircuitEdge& edge, const Way& way) {
  const char* const name = way.kind == ChangeKind::zero       ? tr("zero ablation")
                           : way.kind == ChangeKind::exchange ? tr("swap")
                                                              : tr("patched");
  return trf("{}: {} of {}{}, {}", name, way.tally.turned(), 2 * way.tally.cases,
             way.kind == edge.kind ? tr(" flip") : "", percent_text(way.tally.share()));
}

// "encoder layer 2, head 1 at “it”, attending to “animal”"
std::string edge_line(const Circuit& circuit, const CircuitEdge& edge) {
  const bool reads = edge.part == circuit.reader && !edge.read.empty();
  return edge_text(circuit, edge) + (reads ? tr(", attending to ") + slot_names(circuit, edge.read) : "");
}

// Draws one line per edge. Below it is a button for each intervention on its heads, with the result over the pairs. The
// note why one head is not enough is below these or, if `brief`, in the line's tooltip.
void draw_edges(WorkspaceContext& context, CircuitView& view, const Circuit& circuit, bool brief) {
  const Skin& skin = context.skin;
  for (std::size_t i = 0; i < circuit.edges.size(); ++i) {
    const CircuitEdge& edge = circuit.edges[i];
    ImGui::PushID(static_cast<int>(i));
    const std::string why = tr_filled(why_not_one(edge));
    draw_wrapped_label(skin.fonts.ui, skin.theme.text, edge_line(circuit, edge), skin);
    if (brief && !why.empty()) help_tooltip(why, skin);
    for (const Way& way : edge.ways) {
      if (!has_button(way)) continue;
      const std::string text = button_text(edge, way);
      if (draw_choice(text.c_str(), way.kind == edge.kind,
                      way_text(circuit, way) + ": " + tally_text(way.tally) +
                          tr(". Click to apply it to the sentence\u2019s forward pass; the translation appears above."),
                      skin))
        try_way(context, view, edge, way);
    }
    end_choices();
    if (!brief && !why.empty()) draw_wrapped_label(skin.fonts.small, skin.theme.text_dim, why, skin);
    ImGui::PopID();
  }
  const Place& last = circuit.places.back();
  draw_wrapped_label(skin.fonts.ui, skin.theme.text_dim,
                     trf("Patching the vectors of all other words {}.", tally_text(last.rest)), skin);
}

// Height of the text below the picture.
float height_beneath(const Circuit& circuit, float width, bool brief, const Skin& skin) {
  const float spacing = ImGui::GetStyle().ItemSpacing.y;
  float height = 2 * ImGui::GetTextLineHeightWithSpacing() + skin.px(8);
  for (const CircuitEdge& edge : circuit.edges) {
    height += ImGui::CalcTextSize(edge_line(circuit, edge).c_str(), nullptr, false, width).y + spacing;
    float buttons = 0;
    for (const Way& way : edge.ways)
      if (has_button(way)) buttons += button_width(button_text(edge, way).c_str()) + skin.px(4);
    height += std::ceil(buttons / width) * ImGui::GetTextLineHeightWithSpacing();
    if (const std::string why = tr_filled(why_not_one(edge)); !brief && !why.empty())
      height += ImGui::CalcTextSize(why.c_str(), nullptr, false, width).y + spacing;
  }
  return height;
}

std::string counted_text(const CircuitView& view) {
  if (view.counted && !view.counted->problem.empty()) return tr_filled(view.counted->problem);
  if (view.counted && !view.counted->found.problem.empty()) return tr_filled(view.counted->found.problem);
  if (view.counted)
    return view.counted->found.pairs == 1
               ? trf("1 similar corpus pair, both directions; {} tried, pairs the model does not distinguish omitted.",
                     view.counted->tried)
               : trf("{} similar corpus pairs, both directions; {} tried, pairs the model does not distinguish "
                     "omitted.",
                     view.counted->found.pairs, view.counted->tried);
  return view.counting_asked ? tr("For this pair only; counting over the corpus\u2026")
                             : tr("For this pair only, in both directions.");
}

}  // namespace

void draw_circuit_picture(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const Circuit& circuit = shown_circuit(view);
  draw_trial(view, skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool brief = room.y - height_beneath(circuit, room.x, false, skin) < skin.px(smallest_picture);
  const float beneath = height_beneath(circuit, room.x, brief, skin);
  const ImVec2 size{room.x, std::max(skin.px(160), room.y - beneath)};
  const ImVec2 low = ImGui::GetCursorScreenPos();
  CircuitPicture(view, circuit, low, {low.x + size.x, low.y + size.y}, skin).draw();
  draw_menu(context, view, circuit);
  ImGui::Dummy(size);
  draw_label(skin.fonts.small, skin.theme.text_dim, counted_text(view), skin);
  draw_edges(context, view, circuit, brief);
}

}  // namespace attnscope
