// "Fill mask": what a masked language model predicts at any position of a sentence, once the token there is hidden.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/input.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/row.h"
#include "widgets/token_strip.h"
#include "widgets/words.h"
#include "workspaces/decoding/candidates.h"
#include "workspaces/decoding/controls.h"
#include "workspaces/decoding/modes.h"

namespace attnscope {
namespace {

bool is_typed_mask(const DecodingStep& step, const ModelConfig& model) {
  return step.reference && step.reference->token.id == model.mask_id;
}

// Masks belong to one sentence; the position shown first is its first mask, or its middle.
void settle_masks(const Snapshot& snapshot, DecodingView& view) {
  if (view.masked_text != snapshot.source_text) {
    view.masked.clear();
    view.masked_text = snapshot.source_text;
    const auto mask = std::ranges::find(snapshot.source, static_cast<int>(snapshot.model.mask_id), &Token::id);
    view.time_step = static_cast<int>(mask == snapshot.source.end() ? std::ssize(snapshot.source) / 2
                                                                    : mask - snapshot.source.begin());
  }
  view.time_step = clamped(view.time_step, 0, static_cast<int>(snapshot.source.size()) - 1);
}

void draw_score(const Snapshot& snapshot, const Skin& skin) {
  if (snapshot.masked_log_probs.empty()) return;
  double sum = 0;
  int tokens = 0;
  for (const float log_prob : snapshot.masked_log_probs) {
    sum += static_cast<double>(log_prob);
    tokens += log_prob < 0 ? 1 : 0;
  }
  const std::string text = trf("pseudo-log-likelihood {:.2f} nats, {:.2f} per token", sum, sum / std::max(1, tokens));
  next_in_row(text_size(skin.fonts.ui, text).x, skin.px(12));
  ImGui::AlignTextToFramePadding();
  draw_label(skin.fonts.ui, skin.theme.text_dim, text, skin);
  help_tooltip(
      tr("The sum of log p of every token of the sentence when only that token is masked: how likely the model "
         "finds the whole sentence. Typed masks do not count (Salazar et al. 2020, arXiv 1910.14659)."),
      skin);
}

void draw_fill_controls(const Snapshot& snapshot, DecodingView& view, const Skin& skin) {
  ImGui::BeginDisabled(view.masked.empty());
  if (ImGui::Button(tr_label("Unmask all"))) view.masked.clear();
  ImGui::EndDisabled();
  help_tooltip(tr("Shows every token again that was masked by a click (Delete)."), skin);
  if (has_choice(snapshot.encoder)) {
    next_in_row(choosers_width(skin), skin.px(6));
    draw_choosers(snapshot.encoder, view, skin);
  }
  draw_score(snapshot, skin);
}

void draw_sentence(const Snapshot& snapshot, DecodingView& view, const Skin& skin) {
  draw_caption(tr("Sentence"),
               trf("attention of “{}”, layer {}", snapshot.source[static_cast<std::size_t>(view.time_step)].text,
                   shown_layer(snapshot.encoder, view) + 1),
               tr("Click a token to mask it, click again to show it. Bright tokens have more weight in the selected "
                  "position's attention."),
               skin);
  const Matrix map = shown_map(snapshot.encoder, view);
  const auto row = map.values.begin() + static_cast<std::ptrdiff_t>(view.time_step) * map.cols;
  const std::vector<float> weights(row, row + map.cols);
  TokenStripOptions options;
  options.show_ids = false;
  options.selected = view.time_step;
  options.weights = weights;
  options.marked = view.masked;
  options.marked_note = tr("masked by a click");
  const TokenStripResult result = draw_token_strip("fill", snapshot.source, options, skin);
  if (result.clicked < 0) return;
  view.time_step = result.clicked;
  toggle_mask(view, snapshot, result.clicked);
}

// The discriminator's verdict on every token.
void draw_replaced(const Snapshot& snapshot, const Skin& skin) {
  draw_caption(tr("Replaced tokens"), tr("probability that a token was replaced"),
               tr("A discriminator says of every token whether another model replaced it (ELECTRA, arXiv 2003.10555 "
                  "§2). It predicts no tokens."),
               skin);
  std::vector<float> probabilities;
  for (const float logit : snapshot.replaced) probabilities.push_back(1 / (1 + std::exp(-logit)));
  TokenStripOptions options;
  options.show_ids = false;
  options.weights = probabilities;
  options.weight_name = tr("probability of being replaced");
  draw_token_strip("replaced", snapshot.source, options, skin);
}

}  // namespace

void toggle_mask(DecodingView& view, const Snapshot& snapshot, int position) {
  if (is_typed_mask(snapshot.decoding[static_cast<std::size_t>(position)], snapshot.model)) return;
  const auto at = std::ranges::lower_bound(view.masked, position);
  if (at != view.masked.end() && *at == position)
    view.masked.erase(at);
  else
    view.masked.insert(at, position);
}

void draw_fill(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  if (!snapshot.replaced.empty()) return draw_replaced(snapshot, skin);
  if (snapshot.decoding.empty() || snapshot.encoder.empty()) {
    return draw_quiet_note(tr("This checkpoint has no head that predicts tokens, so there is nothing to fill in. Its "
                              "attention is in the workspace Attention."),
                           ImGui::GetContentRegionAvail(), skin);
  }
  settle_masks(snapshot, view);
  draw_fill_controls(snapshot, view, skin);
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float right = clamped(space.x * 0.42F, skin.px(230), skin.px(480));
  ImGui::BeginChild("reads", ImVec2(space.x - right - skin.px(12), 0), false, view_flags());
  draw_sentence(snapshot, view, skin);
  draw_step_heads(shown, view, textures, skin);
  ImGui::EndChild();
  ImGui::SameLine(0, skin.px(12));
  ImGui::BeginChild("predicts", ImVec2(0, 0), false, view_flags());
  draw_candidates(snapshot, view, std::nullopt, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
