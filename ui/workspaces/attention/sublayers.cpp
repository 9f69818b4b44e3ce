#include "workspaces/attention/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/input.h"
#include "base/translation.h"
#include "widgets/card_grid.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

struct Measure {
  const char* title;
  const char* help;
  std::vector<float> SublayerEffect::*values;
};

constexpr std::array measures = {
    Measure{mark("‖x‖ in"), mark("The norm of each token's vector at the sublayer's input."), &SublayerEffect::norm_in},
    Measure{"‖Sublayer(x)‖", mark("The norm of what the sublayer adds."), &SublayerEffect::norm_added},
    Measure{mark("‖x‖ out"), mark("The norm after the residual connection and, in post-norm, the layer norm."),
            &SublayerEffect::norm_out},
    Measure{mark("cosine(in, out)"),
            mark("The cosine similarity of the vector before and after the sublayer: 1 means the same direction."),
            &SublayerEffect::cosine},
};

// The sublayers of the encoder or the decoder, in the order of the forward pass.
struct Tower {
  bool decoder;
  std::vector<const SublayerEffect*> sublayers;
  std::vector<std::string> rows;
  std::vector<std::string> tokens;
};

const char* short_name(const SublayerEffect& flow) {
  if (flow.sublayer == Sublayer::self_attention) return flow.decoder ? tr("masked") : tr("self");
  return flow.sublayer == Sublayer::cross_attention ? tr("cross") : tr("ff");
}

Tower tower_of(const Snapshot& snapshot, bool decoder) {
  Tower tower{decoder, {}, {}, texts_of(decoder ? snapshot.target_in : snapshot.source)};
  for (const SublayerEffect& flow : snapshot.sublayers) {
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

// The part that a sublayer selects. The feed-forward network has no part; its layer applies to the selected part.
AttentionPart part_of(const SublayerEffect& flow, AttentionPart selected) {
  if (!flow.decoder) return AttentionPart::encoder;
  if (flow.sublayer == Sublayer::cross_attention) return AttentionPart::cross;
  const bool keeps = flow.sublayer == Sublayer::feed_forward && selected == AttentionPart::cross;
  return keeps ? AttentionPart::cross : AttentionPart::decoder;
}

bool is_selected(const Tower& tower, const AttentionView& view) {
  return tower.decoder == (view.part != AttentionPart::encoder);
}

int selected_row(const Tower& tower, const AttentionView& view) {
  const auto found = std::ranges::find_if(tower.sublayers, [&](const SublayerEffect* flow) {
    return flow->layer == view.layer && flow->sublayer != Sublayer::feed_forward &&
           part_of(*flow, view.part) == view.part;
  });
  return found == tower.sublayers.end() ? -1 : static_cast<int>(found - tower.sublayers.begin());
}

void choose(const Tower& tower, AttentionView& view, int row, int col) {
  const SublayerEffect& flow = *tower.sublayers[static_cast<std::size_t>(row)];
  const bool again = selected_row(tower, view) == row && view.pinned_row == col;
  select(view, {part_of(flow, view.part), flow.layer, view.head});
  view.pinned_row = again ? std::nullopt : std::optional(col);
}

struct Range {
  float low = 0;
  float high = 1;
  bool open = false;  // values above `high` also get the last color
};

// The norms of a few tokens (a full stop, </s>) can be many times larger than all others, which would then have the
// same color.
constexpr double share_in_range = 0.95;

Range range_of(const Matrix& matrix, const Measure& measure) {
  std::vector<float> sorted = matrix.values;
  std::ranges::sort(sorted);
  if (measure.values == &SublayerEffect::cosine) return {std::min(0.0F, sorted.front()), 1};
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
  draw_card_title(
      {tr(measure.title), std::string(tr(measure.help)) + tr("\nClick a cell to select its layer and token."),
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
  bold_text(decoder ? tr("Decoder") : tr("Encoder"), skin);
  const float height = std::min(skin.px(400), skin.px(88) + static_cast<float>(tower.rows.size()) * skin.px(15));
  CardGrid grid = card_grid(ImGui::GetContentRegionAvail().x, skin.px(240), 4, height, skin.px(10), skin);
  for (const Measure& measure : measures) {
    ImGui::SetCursorScreenPos(grid.next());
    draw_measure(tower, measure, view, grid.card, shown.version, textures, skin);
  }
  grid.end();
  ImGui::PopID();
}

// ---- pre-norm and post-norm

struct NormText {
  bool pre;
  const char* title;  // format string for the norm's name
  const char* help;
};

constexpr std::array norm_texts = {
    NormText{false, mark("post-norm: {}(x + Sublayer(x))"),
             mark("As in the paper (§3.1, §5.4): the sublayer's output is added to its input and the sum is "
                  "normalized, so all tokens' vectors leave with about the same norm.")},
    NormText{true, mark("pre-norm: x + Sublayer({}(x))"),
             mark("The sublayer sees a normalized input, and its output is added to the unnormalized input. Vectors "
                  "grow from layer to layer, so a final layer norm ends the stack (GPT-2; arXiv 2002.04745).")},
};

constexpr float least_width = 330;  // of one diagram, at scale 1

// A row of boxes with arrows, and the residual connection around the sublayer.
class Diagram {
 public:
  Diagram(ImVec2 at, const char* norm, const Skin& skin, Color32 ink)
      : norm_(norm), skin_(skin), paint_(skin), at_(at), ink_(ink) {}

  void draw(bool pre) {
    text("x");
    const float from = at_.x + skin_.px(5);
    arrow();
    if (pre) box(norm_);
    if (pre) arrow();
    box(tr("Sublayer"));
    arrow();
    text("⊕");
    const float to = at_.x - text_size(skin_.fonts.ui, "⊕").x / 2;
    skip(from, to);
    if (!pre) arrow();
    if (!pre) box(norm_);
    arrow();
    text("x′");
  }

 private:
  float middle() const { return at_.y + skin_.px(24); }

  void text(const char* label) {
    const ImVec2 extent = text_size(skin_.fonts.ui, label);
    paint_.text(skin_.fonts.ui, {at_.x, middle() - extent.y / 2}, ink_, label);
    at_.x += extent.x;
  }

  void arrow() {
    const float from = at_.x + skin_.px(4);
    const float to = at_.x + skin_.px(20);
    const float head = skin_.px(3);
    paint_.line({from, middle()}, {to, middle()}, ink_, skin_.px(1));
    paint_.line({to, middle()}, {to - head, middle() - head}, ink_, skin_.px(1));
    paint_.line({to, middle()}, {to - head, middle() + head}, ink_, skin_.px(1));
    at_.x = to + skin_.px(4);
  }

  void box(const char* label) {
    const ImVec2 extent = text_size(skin_.fonts.ui, label);
    const ImVec2 low{at_.x, middle() - extent.y / 2 - skin_.px(3)};
    const ImVec2 high{at_.x + extent.x + skin_.px(12), middle() + extent.y / 2 + skin_.px(3)};
    paint_.rect(low, high, ink_, skin_.px(3));
    paint_.text(skin_.fonts.ui, {low.x + skin_.px(6), middle() - extent.y / 2}, ink_, label);
    at_.x = high.x;
  }

  void skip(float from, float to) {
    const float top = at_.y + skin_.px(6);
    const float line = skin_.px(1);
    paint_.line({from + skin_.px(7), middle()}, {from + skin_.px(7), top}, ink_, line);
    paint_.line({from + skin_.px(7), top}, {to, top}, ink_, line);
    paint_.line({to, top}, {to, middle() - skin_.px(7)}, ink_, line);
  }

  const char* norm_;
  const Skin& skin_;
  Painter paint_;
  ImVec2 at_;
  Color32 ink_;
};

void draw_one(const NormText& text, const char* norm, bool own, ImVec2 at, ImVec2 size, const Skin& skin) {
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
  help_tooltip(std::string(tr(text.help)) + (own ? tr("\nThis model uses it.") : tr("\nThis model does not use it.")),
               skin);
  Painter paint(skin);
  const Color32 dim = faded(skin.theme.text_dim, 0.55F);
  const std::string title = fmt::format(fmt::runtime(tr(text.title)), norm);
  paint.text(skin.fonts.small, at, own ? skin.theme.accent : dim, title.c_str());
  Diagram({at.x, at.y + font_size(skin.fonts.small)}, norm, skin, own ? skin.theme.text : dim).draw(text.pre);
}

}  // namespace

void draw_sublayers(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const Shown& shown = maps.complete;
  if (!shown.snapshot) return draw_quiet_note(tr("decoding…"), room, skin);
  if (shown.snapshot->sublayers.empty()) return draw_quiet_note(tr("computing…"), room, skin);
  clamp_to(view, *shown.snapshot);
  ImGui::BeginChild("sublayers", ImVec2(0, 0), false, view_flags());
  if (shown.snapshot->model.has_norms())
    draw_norm_diagram(shown.snapshot->model, ImGui::GetContentRegionAvail().x, skin);
  draw_tower(shown, false, view, textures, skin);
  draw_tower(shown, true, view, textures, skin);
  draw_units(shown, view, textures, skin);
  ImGui::EndChild();
}

// ---- pre-norm and post-norm

float norm_diagram_height(const Skin& skin) {
  return font_size(skin.fonts.small) + skin.px(40);
}

void draw_norm_diagram(const ModelConfig& model, float width, const Skin& skin) {
  const char* const norm = model.norm_kind == "rms" ? "RMSNorm" : "LayerNorm";
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const bool both = width >= skin.px(2 * least_width);
  ImVec2 at = origin;
  for (const NormText& text : norm_texts) {
    const bool own = text.pre == (model.norm == "pre");
    if (!own && !both) continue;
    draw_one(text, norm, own, at, {both ? width / 2 : width, norm_diagram_height(skin)}, skin);
    at.x += width / 2;
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({width, norm_diagram_height(skin)});
}

}  // namespace attnscope
