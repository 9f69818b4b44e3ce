#include "workspaces/attention/sublayers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "widgets/card_grid.h"
#include "widgets/heatmap.h"
#include "widgets/token_strip.h"
#include "widgets/words.h"
#include "workspaces/attention/norm_diagram.h"
#include "workspaces/attention/sublayer_units.h"

namespace attnscope {
namespace {

struct Measure {
  const char* title;
  const char* help;
  std::vector<float> SublayerFlow::*values;
};

constexpr std::array measures = {
    Measure{"‖x‖ in", "The length of every piece's vector as it comes to the sublayer.", &SublayerFlow::norm_in},
    Measure{"‖Sublayer(x)‖", "The length of what the sublayer adds.", &SublayerFlow::norm_added},
    Measure{"‖x‖ out", "The length after the residual connection and, in post-norm, the layer norm.",
            &SublayerFlow::norm_out},
    Measure{"cosine(in, out)", "How alike the vector is before and after the sublayer: 1 means it points the same way.",
            &SublayerFlow::cosine},
};

// The sublayers of the encoder, or of the decoder, in the order of the pass.
struct Tower {
  bool decoder;
  std::vector<const SublayerFlow*> sublayers;
  std::vector<std::string> rows;
  std::vector<std::string> tokens;
};

const char* short_name(const SublayerFlow& flow) {
  switch (flow.sublayer) {
    case Sublayer::self_attention:
      return flow.decoder ? "masked" : "self";
    case Sublayer::cross_attention:
      return "cross";
    case Sublayer::feed_forward:
      break;
  }
  return "ff";
}

Tower tower_of(const Snapshot& snapshot, bool decoder) {
  Tower tower{decoder, {}, {}, token_labels(decoder ? snapshot.target_in : snapshot.source)};
  for (const SublayerFlow& flow : snapshot.flow) {
    if (flow.decoder != decoder) continue;
    tower.sublayers.push_back(&flow);
    tower.rows.push_back(fmt::format("L{} {}", flow.layer + 1, short_name(flow)));
  }
  return tower;
}

Matrix matrix_of(const Tower& tower, const Measure& measure) {
  const auto cols = static_cast<int>(tower.tokens.size());
  Matrix matrix(static_cast<int>(tower.sublayers.size()), cols);
  for (int row = 0; row < matrix.rows; ++row) {
    const std::vector<float>& values = tower.sublayers[static_cast<std::size_t>(row)]->*measure.values;
    for (int col = 0; col < std::min(cols, static_cast<int>(values.size())); ++col)
      matrix.at(row, col) = values[static_cast<std::size_t>(col)];
  }
  return matrix;
}

// The part whose selection a sublayer stands for; the feed-forward's layer stays in the part that is selected.
AttentionPart part_of(const SublayerFlow& flow, AttentionPart selected) {
  if (!flow.decoder) return AttentionPart::encoder;
  if (flow.sublayer == Sublayer::cross_attention) return AttentionPart::cross;
  const bool keeps = flow.sublayer == Sublayer::feed_forward && selected == AttentionPart::cross;
  return keeps ? AttentionPart::cross : AttentionPart::decoder;
}

bool is_selected(const Tower& tower, const AttentionView& view) {
  return tower.decoder == (view.part != AttentionPart::encoder);
}

int selected_row(const Tower& tower, const AttentionView& view) {
  const auto found = std::ranges::find_if(tower.sublayers, [&](const SublayerFlow* flow) {
    return flow->layer == view.layer && flow->sublayer != Sublayer::feed_forward &&
           part_of(*flow, view.part) == view.part;
  });
  return found == tower.sublayers.end() ? -1 : static_cast<int>(found - tower.sublayers.begin());
}

void choose(const Tower& tower, AttentionView& view, int row, int col) {
  const SublayerFlow& flow = *tower.sublayers[static_cast<std::size_t>(row)];
  const bool again = selected_row(tower, view) == row && view.pinned_row == col;
  select(view, {part_of(flow, view.part), flow.layer, view.head});
  view.pinned_row = again ? std::nullopt : std::optional(col);
}

struct Range {
  float low = 0;
  float high = 1;
  bool open = false;  // values above `high` have the last colour, too
};

// A few pieces (a full stop, </s>) can be many times as long as all others, which would then look alike.
constexpr double share_in_range = 0.95;

Range range_of(const Matrix& matrix, const Measure& measure) {
  std::vector<float> sorted = matrix.values;
  std::ranges::sort(sorted);
  if (measure.values == &SublayerFlow::cosine) return {std::min(0.0F, sorted.front()), 1};
  const float usual = sorted[static_cast<std::size_t>(share_in_range * static_cast<double>(sorted.size() - 1))];
  const bool open = sorted.back() > 1.5F * usual && usual > 0;
  return {0, std::max(1e-6F, open ? usual : sorted.back()), open};
}

void draw_measure(const Tower& tower, const Measure& measure, AttentionView& view, ImVec2 size, std::uint64_t version,
                  TextureStore& textures, const Skin& skin) {
  const Matrix matrix = matrix_of(tower, measure);
  if (matrix.empty()) return;
  const Range range = range_of(matrix, measure);
  HeatmapOptions options;
  options.row_labels = tower.rows;
  options.col_labels = tower.tokens;
  options.square = false;
  options.legend = false;
  options.low = range.low;
  options.high = range.high;
  if (is_selected(tower, view)) {
    options.selected_row = selected_row(tower, view);
    options.selected_col = view.pinned_row.value_or(-1);
  }
  ImGui::PushID(measure.title);
  draw_card_title({measure.title, std::string(measure.help) + "\nClick a cell: selects the layer and the piece.",
                   options.map, options.low, options.high, range.open},
                  size.x, skin);
  const HeatmapResult mouse =
      draw_heatmap("map", matrix, version, {size.x, size.y - card_title_height(skin)}, options, textures, skin);
  if (mouse.clicked) choose(tower, view, mouse.row, mouse.col);
  ImGui::PopID();
}

void draw_tower(const Shown& shown, bool decoder, AttentionView& view, TextureStore& textures, const Skin& skin) {
  const Tower tower = tower_of(*shown.snapshot, decoder);
  if (tower.sublayers.empty()) return;
  ImGui::PushID(decoder ? "decoder" : "encoder");
  bold_text(decoder ? "Decoder" : "Encoder", skin);
  const float height = std::min(skin.px(400), skin.px(88) + static_cast<float>(tower.rows.size()) * skin.px(15));
  CardGrid grid = card_grid(ImGui::GetContentRegionAvail().x, skin.px(240), 4, height, skin.px(10), skin);
  for (const Measure& measure : measures) {
    ImGui::SetCursorScreenPos(grid.next());
    draw_measure(tower, measure, view, grid.card, shown.version, textures, skin);
  }
  grid.end();
  ImGui::PopID();
}

}  // namespace

void draw_sublayers(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const Shown& shown = maps.complete;
  if (!shown.snapshot) return draw_quiet_note("decoding…", room, skin);
  if (shown.snapshot->flow.empty()) return draw_quiet_note("looking…", room, skin);
  clamp_to(view, *shown.snapshot);
  ImGui::BeginChild("sublayers", ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  draw_norm_diagram(shown.snapshot->model.norm == "pre", ImGui::GetContentRegionAvail().x, skin);
  draw_tower(shown, false, view, textures, skin);
  draw_tower(shown, true, view, textures, skin);
  draw_units(shown, view, textures, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
