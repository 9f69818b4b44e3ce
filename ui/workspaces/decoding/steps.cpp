#include "workspaces/decoding/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/input.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/number_field.h"
#include "widgets/row.h"
#include "widgets/token_strip.h"
#include "widgets/words.h"
#include "workspaces/decoding/candidates.h"
#include "workspaces/decoding/controls.h"

namespace attnscope {
namespace {

// ---- the controls

void draw_player(const Snapshot& snapshot, DecodingView& view, const Skin& skin) {
  const int last = static_cast<int>(snapshot.decoding.size()) - 1;
  ImGui::BeginDisabled(view.time_step == 0);
  if (ImGui::ArrowButton("##back", ImGuiDir_Left)) move_step(view, snapshot, -1);
  ImGui::EndDisabled();
  help_tooltip(tr("One step back (←; Home: the first)."), skin);
  ImGui::SameLine(0, skin.px(4));
  if (ImGui::Button(view.playing ? tr_label("Stop##play") : tr_label("Play##play")))
    toggle_play(view, snapshot, ImGui::GetTime());
  help_tooltip(tr("Generates the output step by step (Enter)."), skin);
  ImGui::SameLine(0, skin.px(4));
  ImGui::BeginDisabled(view.time_step == last);
  if (ImGui::ArrowButton("##on", ImGuiDir_Right)) move_step(view, snapshot, 1);
  ImGui::EndDisabled();
  help_tooltip(tr("One step forward (→; End: the last)."), skin);
  ImGui::SameLine(0, skin.px(8));
  ImGui::SetNextItemWidth(clamped(ImGui::GetContentRegionAvail().x - skin.px(410), skin.px(120), skin.px(420)));
  int shown = view.time_step + 1;
  if (number_slider("##step", shown, 1, last + 1, trf("step %d of {}", last + 1).c_str(), ImGuiSliderFlags_AlwaysClamp,
                    skin))
    visit(view, snapshot, shown - 1);
  help_tooltip(tr("Decoding step: at each step the decoder reads its output so far and chooses one more token."), skin);
}

void draw_rewind(const Snapshot& snapshot, DecodingView& view, const Skin& skin) {
  ImGui::SameLine(0, skin.px(8));
  ImGui::BeginDisabled(view.time_step < snapshot.first_output());
  if (ImGui::Button(tr_label("Rewind here"))) rewind_to(view, snapshot, view.time_step);
  ImGui::EndDisabled();
  help_tooltip(tr("Keeps the tokens before this step as the forced prefix and decodes freely from here. Forced tokens "
                  "after it are cleared (Backspace)."),
               skin);
}

// The maps that color the tokens: over the source, or for a language model, over the text itself.
const AttentionMaps& coloring_maps(const Snapshot& snapshot) {
  return snapshot.model.is_language_model() ? snapshot.decoder : snapshot.cross;
}

int layer_count(const Snapshot& snapshot) {
  return static_cast<int>(coloring_maps(snapshot).size());
}

int shown_layer(const DecodingView& view, const Snapshot& snapshot) {
  return shown_layer(coloring_maps(snapshot), view);
}

// ---- the step's input

// Draws a strip of up to four rows that scrolls beyond that. Scrolls to token `reveal` (−1: does not scroll).
TokenStripResult draw_bounded_strip(const char* id, std::span<const Token> tokens, const TokenStripOptions& options,
                                    int reveal, const Skin& skin) {
  constexpr float most_rows = 4;
  float total = 0;
  for (const Token& token : tokens) total += text_size(skin.fonts.mono, token.text).x + skin.px(14);
  if (total < ImGui::GetContentRegionAvail().x * (most_rows - 1)) return draw_token_strip(id, tokens, options, skin);

  const float height = most_rows * (font_size(skin.fonts.mono) + skin.px(9));
  ImGui::BeginChild(id, ImVec2(0, height), false, view_flags());
  const TokenStripResult result = draw_token_strip("strip", tokens, options, skin);
  if (reveal >= 0) {
    const float share = static_cast<float>(reveal) / static_cast<float>(tokens.size());
    ImGui::SetScrollY(ImGui::GetCursorPosY() * share - height * 0.4F);
  }
  ImGui::EndChild();
  return result;
}

// The weights of the selected layer and head at this step; empty without attention.
std::vector<float> step_weights(const Snapshot& snapshot, const DecodingView& view) {
  if (layer_count(snapshot) == 0) return {};
  const Matrix map = shown_map(coloring_maps(snapshot), view);
  const auto row = map.values.begin() + static_cast<std::ptrdiff_t>(view.time_step) * map.cols;
  return {row, row + map.cols};
}

void draw_source_strip(const Snapshot& snapshot, const DecodingView& view, const Skin& skin) {
  const std::vector<float> weights = step_weights(snapshot, view);
  const bool layers = layer_count(snapshot) > 1;
  draw_caption(tr("Source"),
               weights.empty() ? tr("read before the first step")
               : layers        ? trf("this step's attention, layer {}", shown_layer(view, snapshot) + 1)
                               : tr("this step's attention"),
               tr("Attention from the decoder to the encoder's output: bright tokens have more weight in this step "
                  "(paper §3.2.3)."),
               skin);
  TokenStripOptions options;
  options.show_ids = false;
  options.weights = weights;
  draw_bounded_strip("source", snapshot.source, options, -1, skin);
}

void draw_input_caption(const Snapshot& snapshot, const DecodingView& view, const Skin& skin) {
  const char* given = snapshot.forced > 0 ? tr("; underlined: forced") : "";
  if (snapshot.model.is_language_model()) {
    return draw_caption(tr("Text"), trf("this step's attention, layer {}{}", shown_layer(view, snapshot) + 1, given),
                        tr("The model reads the text so far and continues it. Bright tokens have more weight in this "
                           "step; hatched tokens are hidden by the look-ahead mask (paper §3.2.3). The prompt and the "
                           "forced prefix are underlined. Click a token to go to its step."),
                        skin);
  }
  draw_caption(tr("Decoder input"), trf("output so far{}", given),
               snapshot.model.is_recurrent()
                   ? tr("The decoder reads its own output, one token per step, and stores it in its state. Click a "
                        "token to go to its step.")
                   : tr("The decoder reads its own output, shifted right by one. Hatched tokens are hidden by the "
                        "look-ahead mask (paper §3.2.3). Click a token to go to its step."),
               skin);
}

// The reason why decoding stopped, if the model did not generate the end token.
void draw_limit(const Snapshot& snapshot, const Skin& skin) {
  if (!snapshot.stopped_at_limit) return;
  const WithFont font(skin.fonts.small);
  dim_text(
      trf("stopped at the limit of {} tokens", static_cast<int>(snapshot.target_out.size()) - snapshot.first_output()),
      skin);
  help_tooltip(snapshot.model.is_language_model()
                   ? tr("A language model never ends: this many tokens are generated after the prompt, or as many as "
                        "its context holds.")
                   : tr("The model did not generate </s>. Outputs are limited to 50 tokens more than the source (paper "
                        "§6.1), and to model.max_length."),
               skin);
}

void draw_input_strip(const Snapshot& snapshot, DecodingView& view, const Skin& skin) {
  draw_input_caption(snapshot, view, skin);
  const bool text = snapshot.model.is_language_model();
  const std::vector<float> weights = text ? step_weights(snapshot, view) : std::vector<float>();
  TokenStripOptions options;
  options.show_ids = false;
  options.selected = view.time_step;
  options.weights = weights;
  options.underlined = snapshot.forced > 0 ? static_cast<int>(snapshot.forced) + 1 : text ? 1 : 0;
  options.masked_from = view.time_step + 1;
  options.masked_note = snapshot.model.is_recurrent()
                            ? tr("later than this step: not read yet")
                            : tr("masked: later than this step, so its weight is exactly 0 (look-ahead mask, §3.2.3)");
  const int reveal = view.scrolled_to == view.time_step ? -1 : view.time_step;
  view.scrolled_to = view.time_step;
  const TokenStripResult input = draw_bounded_strip("input", snapshot.target_in, options, reveal, skin);
  if (input.clicked >= 0) visit(view, snapshot, input.clicked);
}

// ---- the pictures

constexpr std::array pictures = {
    ChoiceText{StepPicture::heads, mark("Every head"),
               mark("The attention of every layer's heads in this step (paper §3.2.2).")},
    ChoiceText{StepPicture::lens, mark("Logit lens"),
               mark("Logit lens: each layer's prediction if decoding stopped there. Its output goes through the final "
                    "layer norm, linear layer and softmax.")},
    ChoiceText{StepPicture::mask, mark("Mask"),
               mark("The look-ahead mask: the inputs that each step can see (paper §3.2.3).")},
    ChoiceText{StepPicture::branches, mark("Branches"), mark("Every output that you forced, with its score.")},
};

void draw_picture_row(const Snapshot& snapshot, DecodingView& view, const Skin& skin) {
  const bool masked = !snapshot.model.is_recurrent();
  if (!masked && view.picture == StepPicture::mask) view.picture = StepPicture::heads;
  for (const ChoiceText<StepPicture>& text : pictures) {
    if (text.value == StepPicture::mask && !masked) continue;
    const std::size_t branches = text.value == StepPicture::branches ? view.branches.all.size() : 0;
    const std::string title =
        branches > 1 ? fmt::format("{} ({})###branches", tr(text.title), branches) : std::string(tr_label(text.title));
    if (draw_choice(title.c_str(), view.picture == text.value, tr(text.help), skin)) view.picture = text.value;
  }
  end_choices();
}

void draw_picture(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin) {
  switch (view.picture) {
    case StepPicture::heads:
      return draw_step_heads(shown, view, textures, skin);
    case StepPicture::lens:
      return draw_lens(shown, view, decodings_of(shown, view), skin);
    case StepPicture::mask:
      return draw_look_ahead_mask(*shown.snapshot, view, textures, skin);
    case StepPicture::branches:
      return draw_branches(shown, view, skin);
  }
}

void draw_left(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  if (!snapshot.source.empty()) draw_source_strip(snapshot, view, skin);
  draw_input_strip(snapshot, view, skin);
  draw_limit(snapshot, skin);
  draw_picture_row(snapshot, view, skin);
  ImGui::BeginChild("picture", ImVec2(0, 0), false, view_flags());
  draw_picture(shown, view, textures, skin);
  ImGui::EndChild();
}

void draw_right(const Shown& shown, DecodingView& view, const Skin& skin) {
  const Decodings* decodings = decodings_of(shown, view);
  const auto vocab_size =
      decodings && !decodings->ranks.empty() ? std::optional(decodings->ranks.back()) : std::nullopt;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float wanted = candidates_height(*shown.snapshot, view.time_step, skin);
  const float plot = clamped(room.y - wanted, std::max(room.y * 0.32F, skin.px(110)), skin.px(360));
  ImGui::BeginChild("choice", ImVec2(0, room.y - plot - skin.px(10)), false, view_flags());
  draw_candidates(*shown.snapshot, view, vocab_size, skin);
  ImGui::EndChild();
  draw_ranks(*shown.snapshot, view.time_step, decodings, {room.x, plot}, skin);
}

}  // namespace

void draw_steps(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  go_to(view, snapshot, view.time_step);
  advance(view, snapshot, ImGui::GetTime());

  draw_player(snapshot, view, skin);
  draw_rewind(snapshot, view, skin);
  if (has_choice(coloring_maps(snapshot))) {
    next_in_row(choosers_width(skin), skin.px(6));
    draw_choosers(coloring_maps(snapshot), view, skin);
  }
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float right = clamped(space.x * 0.42F, skin.px(230), skin.px(480));
  ImGui::BeginChild("reads", ImVec2(space.x - right - skin.px(12), 0), false, view_flags());
  draw_left(shown, view, textures, skin);
  ImGui::EndChild();
  ImGui::SameLine(0, skin.px(12));
  ImGui::BeginChild("writes", ImVec2(0, 0), false, view_flags());
  draw_right(shown, view, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
