#include "workspaces/decoding/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/input.h"
#include "base/pointed.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr int num_stages = 4;

struct StageText {
  const char* title;
  const char* help;
};

constexpr std::array<StageText, num_stages> stages = {{
    {mark("logit"), mark("The last linear layer's output for this token: its row of W times the decoder's vector "
                         "(paper §3.4). Bars run from the smallest listed logit to the largest.")},
    {mark("softmax"), mark("exp(logit) ÷ the sum of exp(logit) over the whole vocabulary (paper §3.4). Greedy decoding "
                           "takes the largest.")},
    {"÷ T", mark("softmax(logit ÷ T). The temperature T is one of the decoding options; 1 leaves the probabilities "
                 "unchanged.")},
    {mark("retained"),
     mark("The probability after top-k and then top-p, renormalized: samples are drawn from it. Hatched: removed.")},
}};

// One row of bars; a stage without a value is empty.
struct Bars {
  std::array<std::optional<double>, num_stages> values;
  std::array<float, num_stages> lengths{};  // 0…1
  bool cut = false;                         // the last bar is hatched, with the length of the previous stage
};

float least_row_height(const Skin& skin) {
  return font_size(skin.fonts.mono) + skin.px(4);
}

float most_row_height(const Skin& skin) {
  return least_row_height(skin) + skin.px(10);
}

struct Columns {
  float label;  // width of the label
  float cell;   // width of one stage
  float gap;
};

Columns columns_in(float width, const Skin& skin) {
  const float gap = skin.px(4);
  const float label = clamped(width * 0.25F, skin.px(50), skin.px(120));
  return {label, std::max(skin.px(20), (width - label - gap) / num_stages - gap), gap};
}

float cell_x(const Columns& columns, int stage) {
  return columns.label + columns.gap + static_cast<float>(stage) * (columns.cell + columns.gap);
}

std::pair<float, float> logit_range(const DecodingStep& step) {
  const auto [low, high] = std::ranges::minmax(step.candidates, {}, &Candidate::logit);
  return {low.logit, high.logit};
}

float share(double value) {
  return std::isfinite(value) ? static_cast<float>(clamped(value, 0.0, 1.0)) : 0.0F;
}

Bars bars_of(const DecodingStep& step, int index, const SamplingOptions& sampling) {
  const Candidate& candidate = step.candidates[static_cast<std::size_t>(index)];
  const auto [low, high] = logit_range(step);
  Bars bars;
  bars.values = {candidate.logit, candidate.probability, candidate.tempered, candidate.kept};
  bars.lengths = {high > low ? share((candidate.logit - low) / (high - low)) : 0, share(candidate.probability),
                  share(candidate.tempered), share(candidate.kept)};
  bars.cut = !cut_by(step, index, sampling).empty();
  if (bars.cut) bars.lengths.back() = share(candidate.tempered);
  return bars;
}

Bars bars_of(const RestOfVocabulary& rest) {
  Bars bars;
  bars.values = {std::nullopt, rest.probability, rest.tempered, rest.kept};
  bars.lengths = {0, share(rest.probability), share(rest.tempered), share(rest.kept)};
  return bars;
}

std::string value_text(double value, int stage) {
  return stage == 0 ? fmt::format("{:.2f}", value) : fmt::format("{:.3f}", value);
}

struct Row {
  std::string label;
  Bars bars;
  bool written = false;  // the token is in the output at this step
  bool dim = false;
};

void draw_cell(Painter& paint, const Row& row, int stage, ImVec2 low, ImVec2 high, const Skin& skin) {
  const auto i = static_cast<std::size_t>(stage);
  if (!row.bars.values[i]) return;
  const bool cut = row.bars.cut && stage == num_stages - 1;
  const ImVec2 end(low.x + (high.x - low.x) * row.bars.lengths[i], high.y);
  paint.filled_rect(low, high, faded(skin.theme.grid, 0.6F), skin.px(2));
  const Color32 color = row.written             ? skin.theme.success
                        : row.dim || stage == 0 ? skin.theme.text_dim
                                                : skin.theme.accent;
  if (cut) {
    const ImVec2 hatched(std::max(end.x, low.x + skin.px(3)), end.y);
    draw_hatching(paint, low, hatched, skin.theme.text_dim, skin.px(5));
    paint.rect(low, hatched, skin.theme.text_dim, skin.px(2));
  } else if (end.x - low.x >= 1) {
    paint.filled_rect(low, end, faded(color, stage == 0 ? 0.35F : 0.55F), skin.px(2));
  }
  const std::string text = cut ? tr("removed") : value_text(*row.bars.values[i], stage);
  const ImVec2 extent = text_size(skin.fonts.mono_small, text);
  const Color32 ink = cut || row.dim ? skin.theme.text_dim : skin.theme.text;
  paint.text(skin.fonts.mono_small, {high.x - extent.x - skin.px(3), (low.y + high.y - extent.y) * 0.5F}, ink, text);
}

void draw_row(const Row& row, ImVec2 at, float height, const Columns& columns, const Skin& skin) {
  Painter paint(skin);
  if (row.written) paint.filled_rect(at, {at.x + skin.px(3), at.y + height - skin.px(2)}, skin.theme.success);
  const ImVec2 label(at.x + skin.px(7), at.y + (height - skin.px(2) - font_size(skin.fonts.mono)) * 0.5F);
  paint.push_clip(at, {at.x + columns.label, at.y + height});
  paint.text(skin.fonts.mono, label, row.written ? skin.theme.text : skin.theme.text_dim, row.label);
  paint.pop_clip();
  for (int stage = 0; stage < num_stages; ++stage) {
    const float x = at.x + cell_x(columns, stage);
    draw_cell(paint, row, stage, {x, at.y + skin.px(1)}, {x + columns.cell, at.y + height - skin.px(2)}, skin);
  }
}

// The total probability of the listed candidates.
RestOfVocabulary listed_of(const DecodingStep& step) {
  RestOfVocabulary listed;
  for (const Candidate& candidate : step.candidates) {
    listed.probability += static_cast<double>(candidate.probability);
    listed.tempered += static_cast<double>(candidate.tempered);
    listed.kept += static_cast<double>(candidate.kept);
  }
  return listed;
}

// ---- the arithmetic

std::string kept_text(const DecodingStep& step, int index, const SamplingOptions& sampling) {
  const Candidate& candidate = step.candidates[static_cast<std::size_t>(index)];
  const std::string cut = cut_by(step, index, sampling);
  if (!cut.empty()) return trf("retained: 0, removed by {}", cut);
  if (candidate.kept == 0) return tr("retained: 0");
  return trf("retained: {:.6f} ÷ the remaining {:.6f} = {:.6f}", candidate.tempered,
             candidate.tempered / candidate.kept, candidate.kept);
}

std::string tempered_text(const Candidate& candidate, double temperature) {
  if (temperature == 0) return trf("T → 0: all probability on the largest logit: {:.0f}", candidate.tempered);
  return trf("÷ T: exp({:.4f} ÷ {:.3g}) ÷ Σ exp(logit ÷ {:.3g}) = {:.6f}", candidate.logit, temperature, temperature,
             candidate.tempered);
}

void candidate_tooltip(const DecodingStep& step, int index, const SamplingOptions& sampling, bool can_force,
                       bool can_force_any, const Skin& skin) {
  const Candidate& candidate = step.candidates[static_cast<std::size_t>(index)];
  ImGui::BeginTooltip();
  mono_text(trf("{}  id {}", candidate.token.text, candidate.token.id), skin);
  if (!candidate.token.raw.empty()) ImGui::TextDisabled(tr("in the vocabulary: %s"), candidate.token.raw.c_str());
  ImGui::TextUnformatted(trf("logit {:.4f}\nsoftmax: exp({:.4f}) ÷ Σ exp(logit) = {:.6f}, ln p = {:.4f}\n{}\n{}",
                             candidate.logit, candidate.logit, candidate.probability,
                             std::log(static_cast<double>(candidate.probability)),
                             tempered_text(candidate, sampling.temperature), kept_text(step, index, sampling))
                             .c_str());
  if (can_force_any)
    ImGui::TextDisabled("%s", can_force ? tr("Click to continue the output with this token instead.")
                                        : tr("This token is part of the prompt: edit the prompt to change it."));
  ImGui::EndTooltip();
}

void rest_tooltip(const DecodingStep& step, const RestOfVocabulary& rest) {
  const RestOfVocabulary listed = listed_of(step);
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(
      trf("All tokens that are not listed.\n÷ T: {:.6f} + {:.6f} listed = 1\nretained: {:.6f} + {:.6f} listed = 1",
          rest.tempered, listed.tempered, rest.kept, listed.kept)
          .c_str());
  ImGui::EndTooltip();
}

// ---- the parts of the list

void draw_titles(const Columns& columns, const Skin& skin) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = font_size(skin.fonts.small);
  Painter paint(skin);
  for (int stage = 0; stage < num_stages; ++stage) {
    const StageText& text = stages[static_cast<std::size_t>(stage)];
    const ImVec2 low(at.x + cell_x(columns, stage), at.y);
    // A title may use the gap before its column, so that "softmax" fits in a narrow list.
    const std::string title = shortened(skin.fonts.small, tr(text.title), columns.cell + columns.gap - skin.px(1));
    const float x = low.x + columns.cell - text_size(skin.fonts.small, title).x;
    paint.text(skin.fonts.small, {x, low.y}, skin.theme.text_dim, title);
    ImGui::SetCursorScreenPos(low);
    ImGui::Dummy(ImVec2(columns.cell, height));
    help_tooltip(tr(text.help), skin);
  }
}

void draw_rest(const DecodingStep& step, std::optional<int> vocab_size, float height, const Columns& columns,
               const Skin& skin) {
  const RestOfVocabulary rest = rest_of(step);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy(ImVec2(ImGui::GetContentRegionAvail().x, height));
  if (ImGui::IsItemHovered()) rest_tooltip(step, rest);
  const auto listed = static_cast<int>(step.candidates.size());
  std::string label = vocab_size ? trf("{} others", *vocab_size - listed) : tr("others");
  const bool fits = text_size(skin.fonts.mono, label).x + skin.px(7) <= columns.label;
  if (vocab_size && !fits) label = fmt::format("+{}", *vocab_size - listed);
  draw_row({label, bars_of(rest), false, true}, at, height, columns, skin);
}

void draw_sum(const DecodingStep& step, float height, const Columns& columns, const Skin& skin) {
  const RestOfVocabulary rest = rest_of(step);
  const RestOfVocabulary listed = listed_of(step);
  const std::array<double, num_stages> sums = {0, rest.probability + listed.probability,
                                               rest.tempered + listed.tempered, rest.kept + listed.kept};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy(ImVec2(ImGui::GetContentRegionAvail().x, height));
  Painter paint(skin);
  const float y = at.y + (height - font_size(skin.fonts.mono)) * 0.5F;
  paint.text(skin.fonts.mono, {at.x + skin.px(7), y}, skin.theme.text_dim, tr("sum"));
  for (int stage = 1; stage < num_stages; ++stage) {
    const float end = at.x + cell_x(columns, stage) + columns.cell;
    const std::string text = value_text(sums[static_cast<std::size_t>(stage)], stage);
    const ImVec2 extent = text_size(skin.fonts.mono_small, text);
    paint.line({end - columns.cell, at.y}, {end, at.y}, skin.theme.border);
    paint.text(skin.fonts.mono_small, {end - extent.x - skin.px(3), at.y + (height - extent.y) * 0.5F},
               skin.theme.text_dim, text);
  }
}

void draw_candidate(const Snapshot& snapshot, DecodingView& view, int index, float height, const Columns& columns,
                    const Skin& skin) {
  const DecodingStep& step = snapshot.decoding[static_cast<std::size_t>(view.time_step)];
  const Candidate& candidate = step.candidates[static_cast<std::size_t>(index)];
  const bool fills = snapshot.model.is_masked_lm();
  const bool can_force = !fills && view.time_step >= snapshot.first_output();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size(std::max(1.0F, ImGui::GetContentRegionAvail().x), height);
  ImGui::PushID(index);
  const bool clicked = ImGui::InvisibleButton("candidate", size);
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  if (hovered)
    point_at({.thing = HoverTarget::token,
              .name = candidate.token.text,
              .value = fmt::format("{:.6g}", candidate.probability),
              .about = "probability"});
  if (hovered) candidate_tooltip(step, index, view.options.sampling, can_force, !fills, skin);
  if (ImGui::IsItemVisible()) {
    const ImVec2 high(at.x + size.x, at.y + size.y - skin.px(1));
    if (hovered && can_force) Painter(skin).filled_rect(at, high, skin.theme.hovered, skin.px(3));
    draw_row({candidate.token.text, bars_of(step, index, view.options.sampling), index == step.chosen}, at, height,
             columns, skin);
    if (index == view.candidate) Painter(skin).rect(at, high, skin.theme.accent, skin.px(3), skin.px(2));
  }
  if (clicked && can_force) force(view, snapshot, view.time_step, candidate.token.id);
}

// ---- above the list

void draw_choice_line(const Snapshot& snapshot, int step, const Skin& skin) {
  const DecodingStep& decided = snapshot.decoding[static_cast<std::size_t>(step)];
  const bool given = static_cast<std::size_t>(step) < snapshot.forced;
  const bool fills = snapshot.model.is_masked_lm();
  bold_text(fills ? tr("Predicts") : given ? tr("Forced") : tr("Generates"), skin);
  ImGui::SameLine(0, skin.px(8));
  {
    const WithFont mono(skin.fonts.mono);
    colored_text(skin.theme.success, snapshot.target_out[static_cast<std::size_t>(step)].text);
  }
  help_tooltip(
      fills   ? tr("The most probable token at this position. Where no mask is, the model sees the token itself.")
      : given ? tr("Forced, whatever the model predicts. The list below shows what it would have chosen from.")
              : tr("The most probable token of this step (greedy decoding). It becomes the next step's last input."),
      skin);
  ImGui::SameLine(0, skin.px(10));
  dim_text(trf("entropy {:.2f} nats", decided.entropy), skin);
  help_tooltip(tr("Entropy of the softmax over the whole vocabulary (paper §3.4). 0: certain; ln of the vocabulary "
                  "size: uniform."),
               skin);
}

// Drawn at every step once a reference is known, so that the layout does not jump.
void draw_reference_line(const Snapshot& snapshot, int step, const Skin& skin) {
  if (snapshot.gold.empty()) return;
  const std::optional<GoldStep>& reference = snapshot.decoding[static_cast<std::size_t>(step)].reference;
  const WithFont font(skin.fonts.mono_small);
  if (snapshot.model.is_masked_lm() && reference) {
    if (reference->token.id == snapshot.model.mask_id) return;  // typed, so no token was hidden
    dim_text(trf("original: {}  rank {}, p = {:.4f}", reference->token.text, reference->rank, reference->probability),
             skin);
    return help_tooltip(tr("The token that stands here in the sentence, with the rank and probability that the model "
                           "gives it."),
                        skin);
  }
  dim_text(reference ? trf("reference: {}  rank {}, p = {:.4f}", reference->token.text, reference->rank,
                           reference->probability)
                     : tr("reference: no token at this position"),
           skin);
  help_tooltip(tr("The reference's token at this position, with the rank and probability that the model gives it after "
                  "its own output. Once the two differ, positions need no longer correspond: see Teacher forcing."),
               skin);
}

}  // namespace

std::string cut_by(const DecodingStep& step, int candidate, const SamplingOptions& sampling) {
  constexpr int most_ranked = 10;  // later entries are listed because they were given, regardless of rank
  const Candidate& asked = step.candidates[static_cast<std::size_t>(candidate)];
  if (asked.kept > 0 || !(asked.tempered > 0)) return {};
  const bool by_k = sampling.top_k > 0;
  const bool by_p = sampling.top_p < 1;
  if (by_k && candidate >= sampling.top_k && (candidate < most_ranked || sampling.top_k <= most_ranked))
    return tr("top-k");
  if (by_k && by_p && candidate >= most_ranked) return tr("top-k or top-p");
  return by_p ? tr("top-p") : tr("top-k");
}

RestOfVocabulary rest_of(const DecodingStep& step) {
  const RestOfVocabulary listed = listed_of(step);
  return {std::max(0.0, 1 - listed.probability), std::max(0.0, 1 - listed.tempered), std::max(0.0, 1 - listed.kept)};
}

float candidates_height(const Snapshot& snapshot, int step, const Skin& skin) {
  const auto rows = static_cast<float>(snapshot.decoding[static_cast<std::size_t>(step)].candidates.size() + 2);
  const float header = ImGui::GetTextLineHeightWithSpacing() * (snapshot.gold.empty() ? 1.0F : 2.0F);
  return header + font_size(skin.fonts.small) + rows * most_row_height(skin) + skin.px(12);
}

void draw_candidates(const Snapshot& snapshot, DecodingView& view, std::optional<int> vocab_size, const Skin& skin) {
  const DecodingStep& step = snapshot.decoding[static_cast<std::size_t>(view.time_step)];
  draw_choice_line(snapshot, view.time_step, skin);
  draw_reference_line(snapshot, view.time_step, skin);
  ImGui::BeginChild("candidates", ImVec2(0, 0), false, view_flags());
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  const Columns columns = columns_in(ImGui::GetContentRegionAvail().x, skin);
  draw_titles(columns, skin);
  // Rows share the available height.
  const auto rows = static_cast<float>(step.candidates.size() + 2);
  const float height = clamped(ImGui::GetContentRegionAvail().y / rows, least_row_height(skin), most_row_height(skin));
  for (int i = 0; i < static_cast<int>(step.candidates.size()); ++i)
    draw_candidate(snapshot, view, i, height, columns, skin);
  draw_rest(step, vocab_size, height, columns, skin);
  draw_sum(step, height, columns, skin);
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

}  // namespace attnscope
