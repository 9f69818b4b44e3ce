#include "workspaces/decoding/controls.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "analysis/attention_mix.h"
#include "analysis/sampling.h"
#include "base/translation.h"
#include "config/config.h"
#include "widgets/number_field.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr double hottest = 5;  // limit of the slider; larger temperatures look the same
constexpr double least_top_p = 0.001;
constexpr std::int64_t most_top_k = 100;
constexpr std::int64_t most_seeds = 1'000'000;
constexpr double most_length_penalty = 3;

bool is_valid(const SamplingOptions& sampling) {
  try {
    check(sampling);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

struct Slider {
  const char* label;
  const char* format;
  const char* help;
  ImGuiSliderFlags flags = 0;
};

template <typename Number>
void draw_slider(const Slider& slider, Number& value, Number least, Number most, const Skin& skin) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(slider.label);
  help_tooltip(slider.help, skin);
  ImGui::SameLine(skin.px(120));
  ImGui::SetNextItemWidth(skin.px(220));
  ImGui::PushID(slider.label);
  number_slider("##value", value, least, most, slider.format, ImGuiSliderFlags_AlwaysClamp | slider.flags, skin);
  ImGui::PopID();
  help_tooltip(slider.help, skin);
}

void draw_sampling(SamplingOptions& sampling, const Skin& skin) {
  bold_text(tr("Sampling"), skin);
  draw_slider({tr("temperature T"), "%.2f",
               tr("Logits are divided by T before the softmax. Below 1, likely tokens are drawn more often; above 1, "
                  "probabilities even out; 0 always takes the most likely. Shown at every step, used for samples.")},
              sampling.temperature, 0.0, hottest, skin);
  draw_slider({tr("top-k"), sampling.top_k == 0 ? tr("all") : "%lld",
               tr("Only the k most probable tokens can be drawn (arXiv 1805.04833 §5.4). 0: all of them.")},
              sampling.top_k, std::int64_t{0}, most_top_k, skin);
  draw_slider({tr("top-p"), "%.3f",
               tr("Only the smallest set of tokens whose probabilities sum to this value can be drawn: the nucleus "
                  "(arXiv 1904.09751 §3.1). 1: all of them. Applied after top-k.")},
              sampling.top_p, least_top_p, 1.0, skin);
  draw_slider({tr("seed"), "%lld", tr("Sample i uses seed + i, so the same seed gives the same samples.")},
              sampling.seed, std::int64_t{0}, most_seeds, skin);
}

void draw_search(DecodingOptions& options, const Skin& skin) {
  draw_slider({tr("samples"), "%lld", tr("The number of random samples drawn, for the mode Side by side.")},
              options.num_samples, std::int64_t{0}, max_probe_samples, skin);
  ImGui::Spacing();
  bold_text(tr("Beam search"), skin);
  draw_slider(
      {tr("beam"), "%lld", tr("The number of hypotheses retained at each step; 1 is greedy (the paper uses 4, §6.1).")},
      options.beam, std::int64_t{1}, max_probe_beam, skin);
  draw_slider({tr("length penalty α"), "%.2f",
               tr("score = Σ log p ÷ ((5 + length) / 6)^α. With 0, short outputs win; larger values favor long outputs "
                  "(the paper uses 0.6, §6.1).")},
              options.length_penalty, 0.0, most_length_penalty, skin);
}

void draw_options(DecodingOptions& options, const Skin& skin) {
  DecodingOptions edited = options;
  draw_sampling(edited.sampling, skin);
  draw_search(edited, skin);
  if (is_valid(edited.sampling)) options = edited;
  ImGui::Spacing();
  if (ImGui::Button(tr_label("Defaults"))) options = {};
  help_tooltip(tr("Temperature 1, no top-k or top-p, 3 samples; beam size 4 with α = 0.6, as in the paper (§6.1)."),
               skin);
}

// Omits options at their defaults, except the beam.
std::string summary(const DecodingOptions& options) {
  const SamplingOptions& sampling = options.sampling;
  std::string text = trf("temperature {:.3g}", sampling.temperature);
  if (sampling.top_k > 0) text += trf(" · top-k {}", sampling.top_k);
  if (sampling.top_p < 1) text += trf(" · top-p {:.3g}", sampling.top_p);
  return text + trf(" · beam {} · length penalty {:.3g}", options.beam, options.length_penalty);
}

// The tokens selected so far, shown in the empty field.
std::string given_text(const Snapshot& snapshot) {
  std::string text;
  const int first = snapshot.first_output();
  for (std::size_t i = 0; i < snapshot.prefix; ++i)
    text += snapshot.target_out[static_cast<std::size_t>(first) + i].text + " ";
  return text;
}

void draw_beginning(const Snapshot& snapshot, DecodingView& view, float width, const Skin& skin) {
  constexpr const char* help = mark(
      "Forces the output to begin with this text; the decoder then continues freely. Type it here, or click a "
      "candidate at a step. Forced tokens are underlined.");
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(tr("Forced prefix"));
  help_tooltip(tr(help), skin);
  ImGui::SameLine(0, skin.px(6));
  const bool steered = !view.prefix.empty() || !view.prefix_ids.empty();
  const float button = button_width(tr("Clear prefix"));
  ImGui::SetNextItemWidth(std::max(skin.px(40), width - ImGui::GetCursorPosX() - button - skin.px(4)));
  const std::string hint = view.prefix_ids.empty() ? tr("none") : given_text(snapshot);
  {
    // Only this font has the word mark glyph.
    const WithFont font(view.prefix_ids.empty() ? skin.fonts.ui : skin.fonts.mono);
    ImGui::InputTextWithHint("##prefix", hint.c_str(), &view.prefix);
  }
  if (ImGui::IsItemActivated()) ++view.typing;
  if (ImGui::IsItemEdited()) view.prefix_ids.clear();
  help_tooltip(tr(help), skin);
  ImGui::SameLine(0, skin.px(4));
  ImGui::BeginDisabled(!steered);
  if (ImGui::Button(tr_label("Clear prefix"))) let_go(view);
  ImGui::EndDisabled();
  help_tooltip(tr("Removes the forced prefix, so that the model generates the whole output freely."), skin);
}

void draw_reference(std::string& reference, const Skin& skin) {
  constexpr const char* help = mark(
      "The expected output, if you know it. Its rank and probability appear at every step, outputs get a BLEU score "
      "against it, and teacher forcing reads it. It is filled in for corpus examples.");
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(tr("Reference"));
  help_tooltip(tr(help), skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(-skin.px(4));
  ImGui::InputTextWithHint("##reference", tr("optional"), &reference);
  help_tooltip(tr(help), skin);
}

// ---- whose attention to show

constexpr float layer_width = 96;  // at scale 1
constexpr float head_width = 136;  // at scale 1
constexpr float gap_between = 4;   // at scale 1
bool means(const std::vector<Matrix>& heads, const DecodingView& view) {
  return view.head < 0 || view.head >= static_cast<int>(heads.size());
}

// Draws a list of `count` numbered entries, preceded by an entry for none if given. Returns true if `chosen` (−1: none)
// changed.
bool draw_chooser(const char* thing, int count, const char* none, int& chosen, float width, const Skin& skin) {
  const auto name = [&](int i) { return i < 0 ? std::string(none) : fmt::format("{} {}", thing, i + 1); };
  ImGui::SetNextItemWidth(skin.px(width));
  if (!begin_combo(fmt::format("##{}", thing).c_str(), name(chosen))) return false;
  bool changed = false;
  const int present = chosen;
  for (int i = none ? -1 : 0; i < count; ++i) {
    if (!ImGui::Selectable(name(i).c_str(), i == present)) continue;
    chosen = i;
    changed = true;
  }
  ImGui::EndCombo();
  return changed;
}

}  // namespace

void draw_options_button(DecodingView& view, const Skin& skin) {
  const std::string text = summary(view.options);
  const float width = button_width(text.c_str());
  ImGui::SameLine(0, 0);
  const float room = ImGui::GetContentRegionAvail().x;
  if (room < width) {
    ImGui::NewLine();
  } else {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  }
  if (ImGui::SmallButton((text + "###options").c_str())) ImGui::OpenPopup("decoding options");
  help_tooltip(tr("How tokens are sampled and how beam search works: temperature, top-k, top-p, seed, beam size, "
                  "length penalty. Click to change them."),
               skin);
  if (!ImGui::BeginPopup("decoding options")) return;
  draw_options(view.options, skin);
  ImGui::EndPopup();
}

void draw_beginning_and_reference(const Snapshot& snapshot, DecodingView& view, std::string& reference,
                                  const Skin& skin) {
  const float room = ImGui::GetContentRegionAvail().x;
  const float middle = room * 0.5F;
  const float taken = ImGui::CalcTextSize(tr("Forced prefix")).x + button_width(tr("Clear prefix")) + skin.px(16);
  const bool beside = middle - taken >= skin.px(40);  // otherwise the field would extend into the other half
  draw_beginning(snapshot, view, beside ? middle - skin.px(6) : room, skin);
  if (beside) ImGui::SameLine(middle + skin.px(6));
  draw_reference(reference, skin);
}

// ---- whose attention to show

int shown_layer(const AttentionMaps& maps, const DecodingView& view) {
  const auto last = static_cast<int>(maps.size()) - 1;
  return view.layer < 0 ? last : std::min(view.layer, last);
}

Matrix shown_map(const AttentionMaps& maps, const DecodingView& view) {
  const std::vector<Matrix>& heads = maps[static_cast<std::size_t>(shown_layer(maps, view))];
  if (!means(heads, view)) return heads[static_cast<std::size_t>(view.head)];
  return mean_map(all_of(heads));
}

std::uint64_t shown_map_version(const Shown& shown, const AttentionMaps& maps, const DecodingView& view) {
  constexpr std::uint64_t most = 1024;  // upper bound on layers and heads
  const auto layer = static_cast<std::uint64_t>(shown_layer(maps, view));
  return (shown.version * most + layer) * most + static_cast<std::uint64_t>(std::max(-1, view.head) + 1);
}

bool has_choice(const AttentionMaps& maps) {
  return !maps.empty() && maps.size() * maps.front().size() > 1;
}

float choosers_width(const Skin& skin) {
  return skin.px(layer_width) + skin.px(gap_between) + skin.px(head_width);
}

void draw_choosers(const AttentionMaps& maps, DecodingView& view, const Skin& skin) {
  int layer = shown_layer(maps, view);
  if (draw_chooser(tr("layer"), static_cast<int>(maps.size()), nullptr, layer, layer_width, skin)) view.layer = layer;
  help_tooltip(tr("The decoder layer whose attention is shown (paper §3.1)."), skin);
  ImGui::SameLine(0, skin.px(gap_between));
  const std::vector<Matrix>& heads = maps[static_cast<std::size_t>(shown_layer(maps, view))];
  int head = means(heads, view) ? -1 : view.head;
  if (draw_chooser(tr("head"), static_cast<int>(heads.size()), tr("mean of heads"), head, head_width, skin))
    view.head = head;
  help_tooltip(tr("One head of that layer, or the mean of its heads (paper §3.2.2)."), skin);
}

}  // namespace attnscope
