#include "workspaces/decoding/modes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/translation.h"
#include "widgets/heatmap.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

// ---- attention of every head at this step

// Stacks the step's row of every map, layers × heads.
Matrix rows_of_step(const AttentionMaps& maps, int step) {
  const int layers = static_cast<int>(maps.size());
  const int heads = layers == 0 ? 0 : static_cast<int>(maps.front().size());
  if (heads == 0) return {};
  Matrix rows(layers * heads, maps.front().front().cols);
  for (int row = 0; row < rows.rows; ++row) {
    const Matrix& map = maps[static_cast<std::size_t>(row / heads)][static_cast<std::size_t>(row % heads)];
    for (int col = 0; col < rows.cols; ++col) rows.at(row, col) = map.at(step, col);
  }
  return rows;
}

std::vector<std::string> head_labels(const AttentionMaps& maps) {
  std::vector<std::string> labels;
  for (std::size_t layer = 0; layer < maps.size(); ++layer) {
    for (std::size_t head = 0; head < maps[layer].size(); ++head) {
      labels.push_back(layer_and_head(static_cast<int>(layer), static_cast<int>(head)));
    }
  }
  return labels;
}

// The picture of each step has its own version.
std::uint64_t step_version(const Shown& shown, int step) {
  constexpr std::uint64_t longest = 4096;
  return shown.version * longest + static_cast<std::uint64_t>(step);
}

// `absent`: the reason why there is no weight; null: there is one.
void weight_tooltip(const std::string& tokens, const char* absent, float weight, const Skin& skin) {
  mono_text(tokens, skin);
  ImGui::TextUnformatted(absent ? absent : trf("weight {:.6f}", weight).c_str());
}

struct HeadRows {
  const char* id;
  const AttentionMaps& maps;
  std::span<const Token> keys;
  int visible;  // keys from here on are masked
};

void draw_head_rows(const HeadRows& heads, const Shown& shown, int step, ImVec2 size, TextureStore& textures,
                    const Skin& skin) {
  Matrix weights = rows_of_step(heads.maps, step);
  for (int row = 0; row < weights.rows; ++row) {
    // NaN gets a neutral color, because a masked key has no weight rather than a small one.
    for (int col = heads.visible; col < weights.cols; ++col) weights.at(row, col) = std::nanf("");
  }
  const std::vector<std::string> rows = head_labels(heads.maps);
  const std::vector<std::string> cols = texts_of(heads.keys);
  HeatmapOptions options;
  options.row_labels = rows;
  options.col_labels = cols;
  options.square = false;
  options.legend = false;
  options.print_values = false;
  options.tooltip = [&](int row, int col) {
    const char* masked = col >= heads.visible ? tr("masked: later than this step (§3.2.3)") : nullptr;
    weight_tooltip(fmt::format("{}, {}", rows[static_cast<std::size_t>(row)], cols[static_cast<std::size_t>(col)]),
                   masked, weights.at(row, col), skin);
  };
  draw_heatmap(heads.id, weights, step_version(shown, step), size, options, textures, skin);
}

// ---- the mask

HeatmapOptions mask_options(const std::vector<std::string>& labels, int step) {
  HeatmapOptions options;
  options.row_labels = labels;
  options.col_labels = labels;
  options.mask_upper = true;
  options.legend = false;
  options.print_values = false;
  options.selected_row = step;
  options.high = 1.6F;  // a subdued color for "visible", away from the bright end of the map
  return options;
}

void draw_cross_rows(const Shown& shown, const DecodingView& view, float height, TextureStore& textures,
                     const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  draw_caption(tr("Attention of every head to the source"), tr("layer × head"),
               tr("This step's row of every attention map over the source (paper §3.2.2, §3.2.3)."), skin);
  const auto sources = static_cast<int>(snapshot.source.size());
  draw_head_rows({tr("cross rows"), snapshot.cross, snapshot.source, sources}, shown, view.time_step, ImVec2(0, height),
                 textures, skin);
}

void draw_self_rows(const Shown& shown, const DecodingView& view, float height, TextureStore& textures,
                    const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  draw_caption(snapshot.model.is_language_model() ? tr("Attention of every head to the text")
                                                  : tr("Attention of every head to the decoder input"),
               tr("layer × head"),
               tr("This step's row of the decoder's masked self-attention: no weight to the right of its own input "
                  "(paper §3.2.3)."),
               skin);
  draw_head_rows({tr("self rows"), snapshot.decoder, snapshot.target_in, view.time_step + 1}, shown, view.time_step,
                 ImVec2(0, height), textures, skin);
}

// The rows of one position of a masked language model.
void draw_encoder_rows(const Shown& shown, const DecodingView& view, TextureStore& textures, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  draw_caption(tr("Attention of every head"), tr("layer × head"),
               tr("The selected position's row of every attention map: an encoder attends to both sides (1810.04805 "
                  "§3)."),
               skin);
  const auto keys = static_cast<int>(snapshot.source.size());
  draw_head_rows({tr("encoder rows"), snapshot.encoder, snapshot.source, keys}, shown, view.time_step, ImVec2(0, 0),
                 textures, skin);
}

// Draws a recurrent decoder's only map, as far as it was generated: the alignment of the two sentences.
void draw_alignment(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  draw_caption(
      tr("Alignment"), tr("row: output token, column: source"),
      tr("The source tokens that each step attends to (arXiv 1409.0473 §5.2.1). Click a row to go to its step."), skin);
  Matrix weights = snapshot.cross.front().front();
  for (int row = view.time_step + 1; row < weights.rows; ++row) {
    for (int col = 0; col < weights.cols; ++col) weights.at(row, col) = std::nanf("");
  }
  const std::vector<std::string> rows = texts_of(snapshot.target_out);
  const std::vector<std::string> cols = texts_of(snapshot.source);
  HeatmapOptions options;
  options.row_labels = rows;
  options.col_labels = cols;
  options.stretch = 3;
  options.selected_row = view.time_step;
  options.print_values = false;
  options.tooltip = [&](int row, int col) {
    const char* later = row > view.time_step ? tr("not generated yet at this step") : nullptr;
    weight_tooltip(fmt::format("{} → {}", rows[static_cast<std::size_t>(row)], cols[static_cast<std::size_t>(col)]),
                   later, weights.at(row, col), skin);
  };
  const HeatmapResult result =
      draw_heatmap("alignment", weights, step_version(shown, view.time_step), ImVec2(0, 0), options, textures, skin);
  if (result.clicked) visit(view, snapshot, result.row);
}

}  // namespace

void draw_step_heads(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  const ImVec2 space = ImGui::GetContentRegionAvail();
  if (snapshot.model.is_masked_lm()) return draw_encoder_rows(shown, view, textures, skin);
  if (snapshot.cross.empty() && snapshot.decoder.empty())
    return draw_quiet_note(no_attention_text(snapshot.model).c_str(), space, skin);
  if (snapshot.model.is_recurrent()) return draw_alignment(shown, view, textures, skin);
  if (snapshot.cross.empty()) return draw_self_rows(shown, view, 0, textures, skin);
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float height = std::max(skin.px(90), (space.y - line * 2 - skin.px(10)) * 0.5F);
  draw_cross_rows(shown, view, height, textures, skin);
  draw_self_rows(shown, view, height, textures, skin);
}

void draw_look_ahead_mask(const Snapshot& snapshot, DecodingView& view, TextureStore& textures, const Skin& skin) {
  const int size = static_cast<int>(snapshot.target_in.size());
  draw_caption(tr("Look-ahead mask"), tr("row: step, column: decoder input"),
               tr("A step sees its own input and earlier ones; the scores of later inputs are set to −∞ before the "
                  "softmax (paper §3.2.3). Click a row to go to its step."),
               skin);
  const std::vector<std::string> labels = texts_of(snapshot.target_in);
  HeatmapOptions options = mask_options(labels, view.time_step);
  options.tooltip = [&](int row, int col) {
    mono_text(trf("step {}, input {}: {}", row + 1, col + 1, labels[static_cast<std::size_t>(col)]), skin);
    ImGui::TextUnformatted(col > row ? tr("masked: its score is set to −∞ before the softmax") : tr("visible"));
  };
  Matrix visible(size, size);  // hidden cells are masked by the options
  std::ranges::fill(visible.values, 1.0F);
  const HeatmapResult result = draw_heatmap("mask", visible, static_cast<std::uint64_t>(size),
                                            ImGui::GetContentRegionAvail(), options, textures, skin);
  if (result.clicked) visit(view, snapshot, result.row);
}

}  // namespace attnscope
