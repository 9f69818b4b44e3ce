#include "workspaces/decoding_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "widgets/heatmap.h"
#include "widgets/token_strip.h"
#include "widgets/tooltip.h"
#include "workspaces/attention.h"
#include "workspaces/attention_text.h"

namespace attnscope {
namespace {

int steps_of(const Snapshot& snapshot) {
  return static_cast<int>(snapshot.decoding.size());
}

void go_to(DecodingView& view, const Snapshot& snapshot, int step) {
  const int wanted = step < 0 && view.step < 0 ? static_cast<int>(snapshot.forced) : step;
  view.step = std::clamp(wanted, 0, std::max(0, steps_of(snapshot) - 1));
}

void advance(DecodingView& view, const Snapshot& snapshot, double now) {
  if (!view.playing || now - view.step_began < seconds_per_step) return;
  view.step_began = now;
  go_to(view, snapshot, view.step + 1);
  if (view.step == steps_of(snapshot) - 1) view.playing = false;
}

// In the font that has the sign with which pieces begin.
void mono_text(const std::string& text, const Look& look) {
  const WithFont font(look.fonts.mono);
  ImGui::TextUnformatted(text.c_str());
}

// A heading, a few words beside it, and the whole of it in the tooltip of both.
void caption(const char* title, const std::string& words, std::string_view help, const Look& look) {
  {
    const WithFont bold(look.fonts.bold);
    ImGui::TextUnformatted(title);
  }
  help_tooltip(help, look);
  ImGui::SameLine(0, look.px(8));
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopStyleColor();
  help_tooltip(help, look);
}

// ---- the controls

void draw_player(const Snapshot& snapshot, DecodingView& view, const Look& look) {
  const int last = steps_of(snapshot) - 1;
  ImGui::BeginDisabled(view.step == 0);
  if (ImGui::ArrowButton("##back", ImGuiDir_Left)) move_step(view, snapshot, -1);
  ImGui::EndDisabled();
  help_tooltip("One step back (←; Home: the first).", look);
  ImGui::SameLine(0, look.px(4));
  if (ImGui::Button(view.playing ? "Stop##play" : "Play##play")) toggle_play(view, snapshot, ImGui::GetTime());
  help_tooltip("Writes the output before your eyes, step by step (Enter).", look);
  ImGui::SameLine(0, look.px(4));
  ImGui::BeginDisabled(view.step == last);
  if (ImGui::ArrowButton("##on", ImGuiDir_Right)) move_step(view, snapshot, 1);
  ImGui::EndDisabled();
  help_tooltip("One step on (→; End: the last).", look);
  ImGui::SameLine(0, look.px(8));
  ImGui::SetNextItemWidth(std::clamp(ImGui::GetContentRegionAvail().x - look.px(330), look.px(60), look.px(420)));
  int shown = view.step + 1;
  if (ImGui::SliderInt("##step", &shown, 1, last + 1, fmt::format("step %d of {}", last + 1).c_str(),
                       ImGuiSliderFlags_AlwaysClamp)) {
    view.playing = false;
    go_to(view, snapshot, shown - 1);
  }
  help_tooltip("Decoding step: at each, the decoder reads all it has written and chooses one more piece.", look);
}

// Those that colour the pieces: over the source, or, in a language model, over the text itself.
const AttentionMaps& coloring_maps(const Snapshot& snapshot) {
  return snapshot.model.is_language_model() ? snapshot.decoder : snapshot.cross;
}

int layer_count(const Snapshot& snapshot) {
  return static_cast<int>(coloring_maps(snapshot).size());
}
int head_count(const Snapshot& snapshot) {
  return layer_count(snapshot) == 0 ? 0 : static_cast<int>(coloring_maps(snapshot).front().size());
}

int shown_layer(const DecodingView& view, const Snapshot& snapshot) {
  return view.layer < 0 ? layer_count(snapshot) - 1 : std::min(view.layer, layer_count(snapshot) - 1);
}

void draw_choosers(const Snapshot& snapshot, DecodingView& view, const Look& look) {
  if (layer_count(snapshot) * head_count(snapshot) < 2) return;  // nothing to choose from
  const int layer = shown_layer(view, snapshot);
  ImGui::SameLine(0, look.px(12));
  ImGui::SetNextItemWidth(look.px(100));
  if (ImGui::BeginCombo("##layer", fmt::format("layer {}", layer + 1).c_str())) {
    for (int i = 0; i < layer_count(snapshot); ++i) {
      if (ImGui::Selectable(fmt::format("layer {}", i + 1).c_str(), i == layer)) view.layer = i;
    }
    ImGui::EndCombo();
  }
  help_tooltip("Whose attention colours the pieces below.", look);
  ImGui::SameLine(0, look.px(4));
  ImGui::SetNextItemWidth(look.px(160));
  const bool mean = view.head < 0 || view.head >= head_count(snapshot);
  if (ImGui::BeginCombo("##head", mean ? "mean of the heads" : fmt::format("head {}", view.head + 1).c_str())) {
    if (ImGui::Selectable("mean of the heads", mean)) view.head = -1;
    for (int i = 0; i < head_count(snapshot); ++i) {
      if (ImGui::Selectable(fmt::format("head {}", i + 1).c_str(), i == view.head)) view.head = i;
    }
    ImGui::EndCombo();
  }
  help_tooltip("One head of that layer, or the mean of all its heads.", look);
}

// ---- what the step read

std::vector<float> row_weights(const std::vector<Matrix>& heads, int head, int row) {
  if (heads.empty()) return {};
  std::vector<float> weights(static_cast<std::size_t>(heads.front().cols), 0.0F);
  const bool mean = head < 0 || head >= static_cast<int>(heads.size());
  for (int h = 0; h < static_cast<int>(heads.size()); ++h) {
    if (!mean && h != head) continue;
    const Matrix& map = heads[static_cast<std::size_t>(h)];
    for (int col = 0; col < map.cols; ++col) weights[static_cast<std::size_t>(col)] += map.at(row, col);
  }
  for (float& weight : weights) weight /= mean ? static_cast<float>(heads.size()) : 1.0F;
  return weights;
}

// A strip that is given four rows and scrolls when it needs more, to the piece that `reveal` counts (−1: leaves it).
TokenStripResult draw_bounded_strip(const char* id, std::span<const Token> tokens, const TokenStripOptions& options,
                                    int reveal, const Look& look) {
  constexpr float most_rows = 4;
  float total = 0;
  for (const Token& token : tokens) total += text_size(look.fonts.mono, token.piece.c_str()).x + look.px(14);
  if (total < ImGui::GetContentRegionAvail().x * (most_rows - 1)) return draw_token_strip(id, tokens, options, look);

  const float height = most_rows * (font_size(look.fonts.mono) + look.px(9));
  ImGui::BeginChild(id, ImVec2(0, height), false, ImGuiWindowFlags_NoNavInputs);
  const TokenStripResult result = draw_token_strip("strip", tokens, options, look);
  if (reveal >= 0) {
    const float share = static_cast<float>(reveal) / static_cast<float>(tokens.size());
    ImGui::SetScrollY(ImGui::GetCursorPosY() * share - height * 0.4F);
  }
  ImGui::EndChild();
  return result;
}

// Of the layer and head chosen, at this step; empty without attention.
std::vector<float> step_weights(const Snapshot& snapshot, const DecodingView& view) {
  if (layer_count(snapshot) == 0) return {};
  const auto layer = static_cast<std::size_t>(shown_layer(view, snapshot));
  return row_weights(coloring_maps(snapshot)[layer], view.head, view.step);
}

void draw_source_strip(const Snapshot& snapshot, const DecodingView& view, const Look& look) {
  const std::vector<float> weights = step_weights(snapshot, view);
  const bool layers = layer_count(snapshot) > 1;
  caption("Source",
          weights.empty() ? "read before the first step"
          : layers        ? fmt::format("where this step looks, layer {}", shown_layer(view, snapshot) + 1)
                          : "where this step looks",
          "Attention of the decoder over the encoder's output: bright pieces weigh more in this step (paper §3.2.3).",
          look);
  TokenStripOptions options;
  options.show_ids = false;
  options.weights = weights;
  draw_bounded_strip("source", snapshot.source, options, -1, look);
}

void draw_input_caption(const Snapshot& snapshot, const DecodingView& view, const Look& look) {
  if (snapshot.model.is_language_model()) {
    return caption(
        "Text",
        fmt::format("where this step looks, layer {}; the prompt is underlined", shown_layer(view, snapshot) + 1),
        "The model reads the text so far and goes on with it. Bright pieces weigh more in this step; the "
        "look-ahead mask hides what comes later: hatched (paper §3.2.3). Click a piece to go to its step.",
        look);
  }
  caption("Decoder input", "all written so far",
          snapshot.model.is_recurrent()
              ? "The decoder reads what it has written, one piece a step, and keeps all of it in its state. Click a "
                "piece to go to its step."
              : "The decoder reads what it has written, shifted by one. The look-ahead mask hides what comes later: "
                "hatched (paper §3.2.3). Click a piece to go to its step.",
          look);
}

void draw_input_strip(const Snapshot& snapshot, DecodingView& view, const Look& look) {
  draw_input_caption(snapshot, view, look);
  const bool text = snapshot.model.is_language_model();
  const std::vector<float> weights = text ? step_weights(snapshot, view) : std::vector<float>();
  TokenStripOptions options;
  options.show_ids = false;
  options.selected = view.step;
  options.weights = weights;
  options.underlined = text ? static_cast<int>(snapshot.typed().size()) : 0;
  options.masked_from = view.step + 1;
  options.masked_note = snapshot.model.is_recurrent()
                            ? "later than this step: not read yet"
                            : "masked: later than this step, so its weight is exactly 0 (look-ahead mask, §3.2.3)";
  const int reveal = view.scrolled_to == view.step ? -1 : view.step;
  view.scrolled_to = view.step;
  const TokenStripResult input = draw_bounded_strip("input", snapshot.target_in, options, reveal, look);
  if (input.clicked >= 0) {
    view.playing = false;
    go_to(view, snapshot, input.clicked);
  }
}

// ---- what the step chose from

void candidate_tooltip(const Candidate& candidate, const Look& look) {
  ImGui::BeginTooltip();
  mono_text(candidate.token.piece, look);
  ImGui::Text("probability %.6f, logit %.4f, id %d", static_cast<double>(candidate.probability),
              static_cast<double>(candidate.logit), candidate.token.id);
  ImGui::EndTooltip();
}

void draw_candidate(const Candidate& candidate, bool chosen, float height, const Look& look) {
  const WithFont font(look.fonts.mono);
  const float width = ImGui::GetContentRegionAvail().x;
  const float label_width = std::min(width * 0.4F, look.px(130));
  const float value_width = ImGui::CalcTextSize("0.000").x + look.px(8);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy(ImVec2(width, height));
  if (ImGui::IsItemHovered()) candidate_tooltip(candidate, look);
  if (!ImGui::IsItemVisible()) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (chosen) list.AddRectFilled(at, ImVec2(at.x + look.px(3), at.y + height - look.px(2)), look.theme.success);
  const float text_y = at.y + (height - ImGui::GetFontSize()) * 0.5F;
  list.PushClipRect(at, ImVec2(at.x + label_width, at.y + height), true);
  list.AddText(ImVec2(at.x + look.px(8), text_y), chosen ? look.theme.text : look.theme.text_dim,
               candidate.token.piece.c_str());
  list.PopClipRect();
  const ImVec2 low(at.x + label_width + look.px(4), at.y + look.px(2));
  const float bar = std::max(look.px(10), width - label_width - value_width - look.px(8));
  list.AddRectFilled(low,
                     ImVec2(low.x + bar * std::clamp(candidate.probability, 0.0F, 1.0F), at.y + height - look.px(4)),
                     chosen ? look.theme.success : faded(look.theme.accent, 0.7F), look.px(2));
  list.AddText(ImVec2(low.x + bar + look.px(4), text_y), chosen ? look.theme.text : look.theme.text_dim,
               fmt::format("{:.3f}", candidate.probability).c_str());
}

void draw_candidates(const Snapshot& snapshot, int step, const Look& look) {
  const DecodingStep& decided = snapshot.decoding[static_cast<std::size_t>(step)];
  const bool given = static_cast<std::size_t>(step) < snapshot.forced;
  {
    const WithFont bold(look.fonts.bold);
    ImGui::TextUnformatted(given ? "Given" : "Writes");
  }
  ImGui::SameLine(0, look.px(8));
  push_font(look.fonts.mono);
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.success);
  ImGui::TextUnformatted(snapshot.target_out[static_cast<std::size_t>(step)].piece.c_str());
  ImGui::PopStyleColor();
  pop_font();
  help_tooltip(given ? "The text's next piece, whatever the model expects; below it is what it would have chosen from."
                     : "The most probable piece of this step (greedy decoding); it is the next step's last input.",
               look);
  ImGui::SameLine(0, look.px(10));
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::TextUnformatted(fmt::format("entropy {:.2f} nats", decided.entropy).c_str());
  ImGui::PopStyleColor();
  help_tooltip("Of the softmax over the whole vocabulary (paper §3.4); below it are the most probable pieces.", look);
  ImGui::BeginChild("candidates", ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  // They share the height there is.
  const float share = ImGui::GetContentRegionAvail().y / static_cast<float>(decided.candidates.size());
  const float least = font_size(look.fonts.mono) + look.px(3);
  const float height = std::clamp(share - ImGui::GetStyle().ItemSpacing.y, least, least + look.px(11));
  for (int i = 0; i < static_cast<int>(decided.candidates.size()); ++i) {
    draw_candidate(decided.candidates[static_cast<std::size_t>(i)], i == decided.chosen, height, look);
  }
  ImGui::EndChild();
}

// ---- where every head looked in this step

// The step's row of every map, layers × heads beneath each other.
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
      labels.push_back(fmt::format("L{} H{}", layer + 1, head + 1));
    }
  }
  return labels;
}

// A picture of one step is another picture at the next.
std::uint64_t step_version(const Shown& shown, int step) {
  constexpr std::uint64_t longest = 4096;
  return shown.version * longest + static_cast<std::uint64_t>(step);
}

struct HeadRows {
  const char* id;
  const AttentionMaps& maps;
  std::span<const Token> keys;
  int visible;  // keys from here on are masked
};

void draw_head_rows(const HeadRows& heads, const Shown& shown, int step, ImVec2 size, TextureStore& textures,
                    const Look& look) {
  Matrix weights = rows_of_step(heads.maps, step);
  for (int row = 0; row < weights.rows; ++row) {
    // Not a number is drawn neutrally: what is masked is not a small weight but no weight.
    for (int col = heads.visible; col < weights.cols; ++col) weights.at(row, col) = std::nanf("");
  }
  const std::vector<std::string> rows = head_labels(heads.maps);
  const std::vector<std::string> cols = token_labels(heads.keys);
  HeatmapOptions options;
  options.row_labels = rows;
  options.col_labels = cols;
  options.square = false;
  options.legend = false;
  options.print_values = false;
  options.tooltip = [&](int row, int col) {
    mono_text(fmt::format("{}, {}", rows[static_cast<std::size_t>(row)], cols[static_cast<std::size_t>(col)]), look);
    if (col >= heads.visible) {
      ImGui::TextUnformatted("masked: later than this step (§3.2.3)");
    } else {
      ImGui::Text("weight %.6f", static_cast<double>(weights.at(row, col)));
    }
  };
  draw_heatmap(heads.id, weights, step_version(shown, step), size, options, textures, look);
}

// ---- the mask

Matrix look_ahead_mask(int size) {
  Matrix mask(size, size);
  for (int row = 0; row < size; ++row) {
    for (int col = 0; col <= row; ++col) mask.at(row, col) = 1;
  }
  return mask;
}

HeatmapOptions mask_options(const std::vector<std::string>& labels, int step) {
  HeatmapOptions options;
  options.row_labels = labels;
  options.col_labels = labels;
  options.mask_upper = true;
  options.legend = false;
  options.print_values = false;
  options.selected_row = step;
  options.high = 1.6F;  // a calm colour for "visible", away from the map's bright end
  return options;
}

// With its caption.
float mask_height(const Snapshot& snapshot, ImVec2 space, const Look& look) {
  const std::vector<std::string> labels = token_labels(snapshot.target_in);
  const Matrix mask = look_ahead_mask(static_cast<int>(labels.size()));
  const float caption_height = ImGui::GetTextLineHeightWithSpacing();
  const ImVec2 picture(space.x, space.y - caption_height);
  return caption_height + heatmap_height(mask, mask_options(labels, 0), picture, look) + look.px(4);
}

void draw_mask(const Snapshot& snapshot, DecodingView& view, TextureStore& textures, const Look& look) {
  const int size = static_cast<int>(snapshot.target_in.size());
  caption("Look-ahead mask", "row: step",
          "A step sees its own input and those before it; the scores of later ones are set to −∞ before the softmax "
          "(paper §3.2.3). Click a row to go to its step.",
          look);
  const std::vector<std::string> labels = token_labels(snapshot.target_in);
  HeatmapOptions options = mask_options(labels, view.step);
  options.tooltip = [&](int row, int col) {
    mono_text(fmt::format("step {}, input {}: {}", row + 1, col + 1, labels[static_cast<std::size_t>(col)]), look);
    ImGui::TextUnformatted(col > row ? "masked: its score is set to −∞ before the softmax" : "visible");
  };
  const HeatmapResult result = draw_heatmap("mask", look_ahead_mask(size), static_cast<std::uint64_t>(size),
                                            ImGui::GetContentRegionAvail(), options, textures, look);
  if (result.clicked) {
    view.playing = false;
    go_to(view, snapshot, result.row);
  }
}

void draw_cross_rows(const Shown& shown, const DecodingView& view, float height, TextureStore& textures,
                     const Look& look) {
  const Snapshot& snapshot = *shown.snapshot;
  caption("Every head over the source", "layer × head",
          "This step's row of every attention map over the source (paper §3.2.2, §3.2.3).", look);
  const auto sources = static_cast<int>(snapshot.source.size());
  draw_head_rows({"cross rows", snapshot.cross, snapshot.source, sources}, shown, view.step, ImVec2(0, height),
                 textures, look);
}

void draw_self_rows(const Shown& shown, const DecodingView& view, float height, TextureStore& textures,
                    const Look& look) {
  const Snapshot& snapshot = *shown.snapshot;
  caption(snapshot.model.is_language_model() ? "Every head over the text" : "Every head over the decoder input",
          "layer × head",
          "This step's row of the decoder's masked self-attention: nothing right of its own input (paper §3.2.3).",
          look);
  draw_head_rows({"self rows", snapshot.decoder, snapshot.target_in, view.step + 1}, shown, view.step,
                 ImVec2(0, height), textures, look);
}

// A recurrent decoder's one map, as far as it has been written: the alignment of the two sentences.
void draw_alignment(const Shown& shown, DecodingView& view, TextureStore& textures, const Look& look) {
  const Snapshot& snapshot = *shown.snapshot;
  caption("Alignment", "row: word written, column: source",
          "Where each step looked in the source (arXiv 1409.0473 §5.2.1). Click a row to go to its step.", look);
  Matrix weights = snapshot.cross.front().front();
  for (int row = view.step + 1; row < weights.rows; ++row) {
    for (int col = 0; col < weights.cols; ++col) weights.at(row, col) = std::nanf("");
  }
  const std::vector<std::string> rows = token_labels(snapshot.target_out);
  const std::vector<std::string> cols = token_labels(snapshot.source);
  HeatmapOptions options;
  options.row_labels = rows;
  options.col_labels = cols;
  options.stretch = 3;
  options.selected_row = view.step;
  options.print_values = false;
  options.tooltip = [&](int row, int col) {
    mono_text(fmt::format("{} → {}", rows[static_cast<std::size_t>(row)], cols[static_cast<std::size_t>(col)]), look);
    if (row > view.step) {
      ImGui::TextUnformatted("not written yet at this step");
    } else {
      ImGui::Text("weight %.6f", static_cast<double>(weights.at(row, col)));
    }
  };
  const HeatmapResult result =
      draw_heatmap("alignment", weights, step_version(shown, view.step), ImVec2(0, 0), options, textures, look);
  if (result.clicked) {
    view.playing = false;
    go_to(view, snapshot, result.row);
  }
}

void draw_left(const Shown& shown, DecodingView& view, TextureStore& textures, const Look& look) {
  const Snapshot& snapshot = *shown.snapshot;
  if (!snapshot.source.empty()) draw_source_strip(snapshot, view, look);
  draw_input_strip(snapshot, view, look);
  const ImVec2 space = ImGui::GetContentRegionAvail();
  if (snapshot.cross.empty() && snapshot.decoder.empty())
    return draw_quiet_note(no_attention_text(snapshot.model).c_str(), space, look);
  if (snapshot.model.is_recurrent()) return draw_alignment(shown, view, textures, look);
  if (snapshot.cross.empty()) return draw_self_rows(shown, view, 0, textures, look);
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float height = std::max(look.px(90), (space.y - line * 2 - look.px(10)) * 0.5F);
  draw_cross_rows(shown, view, height, textures, look);
  draw_self_rows(shown, view, height, textures, look);
}

}  // namespace

void move_step(DecodingView& view, const Snapshot& snapshot, int steps) {
  view.playing = false;
  go_to(view, snapshot, view.step + steps);
}

void toggle_play(DecodingView& view, const Snapshot& snapshot, double now) {
  view.playing = !view.playing && steps_of(snapshot) > 1;
  view.step_began = now;
  if (view.playing && view.step == steps_of(snapshot) - 1) go_to(view, snapshot, static_cast<int>(snapshot.forced));
}

void draw_steps(const Shown& shown, DecodingView& view, TextureStore& textures, const Look& look) {
  const Snapshot& snapshot = *shown.snapshot;
  go_to(view, snapshot, view.step);
  advance(view, snapshot, ImGui::GetTime());

  draw_player(snapshot, view, look);
  draw_choosers(snapshot, view, look);
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float right = std::clamp(space.x * 0.36F, look.px(220), look.px(460));
  ImGui::BeginChild("reads", ImVec2(space.x - right - look.px(12), 0), false, ImGuiWindowFlags_NoNavInputs);
  draw_left(shown, view, textures, look);
  ImGui::EndChild();
  ImGui::SameLine(0, look.px(12));
  ImGui::BeginChild("writes", ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool masked = !snapshot.model.is_recurrent();
  const float mask = masked ? mask_height(snapshot, ImVec2(room.x, room.y * 0.56F), look) + look.px(8) : 0;
  ImGui::BeginChild("choice", ImVec2(0, room.y - mask), false, ImGuiWindowFlags_NoNavInputs);
  draw_candidates(snapshot, view.step, look);
  ImGui::EndChild();
  if (masked) draw_mask(snapshot, view, textures, look);
  ImGui::EndChild();
}

}  // namespace attnscope
