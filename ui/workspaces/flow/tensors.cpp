#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/card_grid.h"
#include "widgets/heatmap.h"
#include "widgets/heatmap_layout.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/flow/flow.h"

namespace attnscope {
namespace {

struct Range {
  ColorMap map = ColorMap::viridis;
  float low = 0;
  float high = 1;
};

bool is_share(const FlowMatrix& matrix) {
  return matrix.op == FlowOp::softmax || matrix.op == FlowOp::share;
}

Range range_of(const FlowMatrix& matrix, const Skin& skin) {
  if (is_share(matrix)) return {};
  float largest = 0;
  bool signed_values = false;
  for (const float value : matrix.values.values) {
    if (!std::isfinite(value)) continue;
    largest = std::max(largest, std::abs(value));
    signed_values |= value < 0;
  }
  if (largest == 0) largest = 1;
  if (!signed_values) return {ColorMap::viridis, 0, largest};
  return {skin.theme.diverging, -largest, largest};
}

bool has_numbers(const DataFlow& flow) {
  return std::ranges::any_of(flow.matrices, [](const FlowMatrix& matrix) {
    return std::ranges::any_of(matrix.values.values, [](float value) { return std::isfinite(value); });
  });
}

// The heading above the matrices.
class Heading {
 public:
  Heading(const Snapshot& snapshot, FlowView& view, const Skin& skin) : snapshot_(snapshot), view_(view), skin_(skin) {}

  void draw() {
    const Architecture plan = architecture_of(snapshot_.model);
    const ArchitectureBox& box = *find_box(plan, view_.box);
    const std::string place = place_of(view_.box, view_.layer, snapshot_.model);
    const std::string words = snapshot_.data_flow
                                  ? trf("{} · {} parameters", place,
                                        grouped(parameters_of(box, view_.layer, snapshot_.data_flow->parameters)))
                                  : place;
    draw_caption(std::string(tr(box.title)).c_str(), words, tr(box.help), skin_);
    choices(plan, box);
  }

 private:
  void choices(const Architecture& plan, const ArchitectureBox& box) {
    const auto layers = static_cast<int>(plan.column(view_.box.decoder).layers);
    const auto heads = heads_of_box(snapshot_.model, view_.box);
    const bool of_layer = box.repeated && layers > 1;
    const bool of_head = attention_of(view_.box) && heads > 1;
    const bool feed_forward = view_.box.part == FlowPart::feed_forward;
    if (of_layer) draw_numbers(tr("layer"), layers, view_.layer, tr(layer_help), skin_);
    if (of_head) draw_numbers(tr("head"), heads, view_.head, tr(head_help), skin_);
    if (feed_forward) convolution();
    if (of_layer || of_head || feed_forward) end_choices();
  }

  void convolution() {
    const char* help = tr("The same computation as two convolutions over the tokens with kernel width 1 (paper §3.3).");
    if (draw_choice("x·W", !view_.convolution, tr("Two linear layers, the same for every token (paper §3.3)."), skin_))
      view_.convolution = false;
    if (draw_choice(tr_label("1×1 convolutions"), view_.convolution, help, skin_)) view_.convolution = true;
  }

  const Snapshot& snapshot_;
  FlowView& view_;
  const Skin& skin_;
};

class Cards {
 public:
  Cards(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin)
      : shown_(shown), flow_(*shown.snapshot->data_flow), view_(view), textures_(textures), skin_(skin) {}

  void draw() {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const int count = static_cast<int>(flow_.matrices.size());
    if (view_.alone && view_.matrix >= 0 && view_.matrix < count)
      return draw_card(view_.matrix, ImGui::GetCursorScreenPos(), room);
    const float least = std::min(skin_.px(190), std::max(skin_.px(120), room.x));
    CardGrid grid = card_grid(room.x, least, 3, clamped(room.y / 3, skin_.px(150), skin_.px(300)), skin_.px(8), skin_);
    for (int i = 0; i < count; ++i) {
      const FlowMatrix& matrix = flow_.matrices[static_cast<std::size_t>(i)];
      if (!matrix.section.empty()) draw_section(tr_filled(matrix.section), grid);
      draw_card(i, grid.next(), grid.card);
    }
    grid.end();
  }

 private:
  void draw_section(const std::string& heading, CardGrid& grid) {
    grid.new_row();
    if (grid.y > 0) grid.y += skin_.px(4);
    ImGui::SetCursorScreenPos({grid.origin.x + grid.gutter, grid.origin.y + grid.y});
    const std::vector<std::string_view> lines = wrapped_lines(skin_.fonts.ui, heading, grid.width() - grid.gutter);
    for (const std::string_view line : lines) draw_label(skin_.fonts.ui, skin_.theme.text_dim, line, skin_);
    grid.y +=
        static_cast<float>(lines.size()) * (font_size(skin_.fonts.ui) + ImGui::GetStyle().ItemSpacing.y) + skin_.px(3);
  }

  bool is_of_tokens(const FlowMatrix& matrix) const {
    return matrix.row_labels.size() == tokens_of(*shown_.snapshot, flow_.asked.box).size() &&
           matrix.letters.starts_with(flow_.asked.box.decoder ? 'T' : 'S');
  }

  void draw_card(int index, ImVec2 at, ImVec2 size) {
    const FlowMatrix& matrix = flow_.matrices[static_cast<std::size_t>(index)];
    const Range range = range_of(matrix, skin_);
    ImGui::PushID(index);
    ImGui::SetCursorScreenPos(at);
    const std::string help = trf("{}\nClick: {}.", tr_filled(matrix.help),
                                 view_.alone ? tr("show the whole box") : tr("enlarge this tensor"));
    if (draw_card_title({matrix.name, help, range.map, range.low, range.high}, size.x, skin_)) {
      view_.alone = !view_.alone;
      view_.matrix = index;
    }
    const float line = font_size(skin_.fonts.small);
    Painter(skin_).text(skin_.fonts.small, ImGui::GetCursorScreenPos(), skin_.theme.text_dim,
                        fmt::format("{} = {}×{}", matrix.letters, matrix.values.rows, matrix.values.cols));
    ImGui::SetCursorScreenPos({at.x, at.y + card_title_height(skin_) + line});
    HeatmapOptions options;
    options.map = range.map;
    options.low = range.low;
    options.high = range.high;
    options.row_labels = matrix.row_labels;
    std::vector<std::string> columns = matrix.col_labels;
    if (!view_.alone)
      for (std::string& label : columns) label = shortened(label_font(skin_), label, skin_.px(40));
    options.col_labels = columns;
    options.square = false;
    options.legend = false;
    options.mask_upper = matrix.causal;
    if (is_of_tokens(matrix)) options.selected_row = shown_token(view_, *shown_.snapshot);
    options.tooltip = [&](int row, int col) {
      ImGui::PushTextWrapPos(skin_.px(440));
      plain_text(flow_arithmetic(flow_, index, row, col));
      ImGui::PopTextWrapPos();
    };
    const ImVec2 room{size.x, std::max(skin_.px(20), size.y - card_title_height(skin_) - line)};
    const HeatmapResult mouse = draw_heatmap("map", matrix.values, shown_.version, room, options, textures_, skin_);
    if (mouse.clicked && is_of_tokens(matrix)) view_.token = mouse.row;
    ImGui::PopID();
  }

  const Shown& shown_;
  const DataFlow& flow_;
  FlowView& view_;
  TextureStore& textures_;
  const Skin& skin_;
};

}  // namespace

void draw_numbers(const char* word, int count, int& chosen, const char* help, const Skin& skin) {
  break_choices(tr("layer 00"));
  ImGui::PushID(word);
  dim_text(word, skin);
  ImGui::SameLine(0, skin.px(4));
  for (int i = 0; i < count; ++i) {
    if (draw_choice(std::to_string(i + 1).c_str(), chosen == i, help, skin)) chosen = i;
  }
  ImGui::PopID();
}

void draw_tensors(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  Heading(snapshot, view, skin).draw();
  ImGui::BeginChild("tensors", {0, 0}, false, view_flags());
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const DataFlow* flow = snapshot.data_flow.get();
  if (!flow || flow->asked.box != view.box) {
    draw_quiet_note(tr("computing…"), room, skin);
  } else if (!flow->problem.empty()) {
    draw_quiet_note(tr_filled(flow->problem).c_str(), room, skin);
  } else if (flow->matrices.empty()) {
    draw_quiet_note(tr("Nothing is computed in this box: positions are encoded inside the attention."), room, skin);
  } else if (!has_numbers(*flow)) {
    draw_quiet_note(tr(diverged_note), room, skin);
  } else {
    Cards(shown, view, textures, skin).draw();
  }
  ImGui::EndChild();
}

}  // namespace attnscope
