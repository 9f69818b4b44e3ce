#include "workspaces/flow/contexts.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "base/input.h"
#include "common/clamped.h"
#include "widgets/token_strip.h"
#include "workspaces/attention/row.h"
#include "workspaces/flow/neurons.h"

namespace attnscope {
namespace {

constexpr std::array kinds = {
    ChoiceText{VectorKind::state, mark("state"), mark("The token's vector after the layer.")},
    ChoiceText{VectorKind::query, mark("query"), mark("The query of the head.")},
    ChoiceText{VectorKind::key, mark("key"), mark("The key of the head.")},
    ChoiceText{VectorKind::head, mark("head output"), mark("The output of the head for this token, before W_O.")},
};

void draw_choices(NearestQuestion& question, const ModelConfig& model, const Skin& skin) {
  for (const auto& choice : kinds)
    if (draw_choice(tr_label(choice.title), question.kind == choice.value, tr(choice.help), skin))
      question.kind = choice.value;
  // As high as the small buttons in the same row.
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ImGui::GetStyle().FramePadding.x, 0});
  const auto number = [&](const char* label, int& value, std::int64_t count) {
    int shown = value + 1;
    ImGui::TextUnformatted(label);
    ImGui::SameLine(0, skin.px(6));
    ImGui::SetNextItemWidth(skin.px(90));
    ImGui::PushID(label);
    if (ImGui::InputInt("##number", &shown)) value = shown - 1;
    ImGui::PopID();
    value = clamped(value, 0, static_cast<int>(count) - 1);
    ImGui::SameLine(0, skin.px(10));
  };
  number(model.is_language_model() ? tr("decoder layer") : tr("encoder layer"), question.layer,
         model.is_language_model() ? model.num_decoder_layers : model.num_encoder_layers);
  if (question.kind != VectorKind::state) number(tr("head"), question.head, model.num_heads);
  ImGui::PopStyleVar();
}

// The most frequent of the texts, and how often it occurs; none: there are no texts.
template <typename TextOf>
std::pair<std::string, int> most_frequent(const NearestResult& result, const TextOf& text_of) {
  std::map<std::string, int> counts;
  for (const NearestContext& found : result.contexts)
    if (std::string text = text_of(found); !text.empty()) ++counts[one_line(std::move(text))];
  const auto most = std::ranges::max_element(counts, {}, &std::pair<const std::string, int>::second);
  if (most == counts.end()) return {};
  return *most;
}

// "8 of 20 contexts have the same token; 5 attend most to ▁animal; 12 are followed by ▁was."
std::string in_common(const NearestResult& result) {
  const auto same = std::ranges::count_if(result.contexts, [&](const NearestContext& found) {
    return found.context.tokens[static_cast<std::size_t>(found.context.at)] == result.token;
  });
  std::string text = trf("{} of {} contexts have the same token", same, result.contexts.size());
  const auto add = [&](const char* what, const auto& text_of) {
    if (const auto [most, count] = most_frequent(result, text_of); count > 0)
      text += fmt::format(fmt::runtime(what), count, most);
  };
  add(tr("; {} are at position {}"), [](const NearestContext& found) { return std::to_string(found.position); });
  add(tr("; {} have the sense {}"), [](const NearestContext& found) { return found.sense; });
  add(tr("; {} attend most to {}"), [](const NearestContext& found) { return found.attended; });
  add(tr("; {} are followed by {}"), [](const NearestContext& found) {
    const auto next = static_cast<std::size_t>(found.context.at) + 1;
    return next < found.context.tokens.size() ? found.context.tokens[next] : tr("nothing");
  });
  add(tr("; {} are attended to most by the output {}"), [](const NearestContext& found) { return found.output; });
  return text + trf(". Compared with {} tokens of the validation part.", result.tokens);
}

void draw_found(const NearestResult& result, const Skin& skin) {
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, in_common(result), skin);
  for (const NearestContext& found : result.contexts) {
    const float largest = *std::ranges::max_element(found.context.activations);
    draw_context(found.context, largest, fmt::format("{:.3f}", found.context.value), skin);
    std::string about = trf("Cosine {:.4f}. Colored: the attention of the underlined token in this layer, most to {}.",
                            found.context.value, one_line(found.attended));
    if (!found.output.empty()) about += trf(" The output that attends to it most is {}.", one_line(found.output));
    if (!found.sense.empty()) about += trf(" Its sense: {}.", found.sense);
    help_tooltip(about, skin);
  }
}

}  // namespace

void take_contexts(ContextsView& view, NearestResult result, std::uint64_t run, std::int64_t step) {
  view.study.run = run;
  view.study.step = step;
  view.study.result = std::move(result);
}

void move_in_contexts(ContextsView& view, int by) {
  view.study.question.token = std::max(0, view.study.question.token + by);
}

void draw_contexts(WorkspaceContext& context, ContextsView& view) {
  const Skin& skin = context.skin;
  const Snapshot& snapshot = *context.maps.complete.snapshot;
  NearestQuestion& question = view.study.question;
  const std::span<const Token> tokens = snapshot.typed();
  question.text = snapshot.source_text;
  if (question.token < 0) question.token = telling_row(tokens);
  if (question.token < 0) question.token = static_cast<int>(tokens.size()) - 1;
  question.token = clamped(question.token, 0, std::max(0, static_cast<int>(tokens.size()) - 1));
  draw_choices(question, context.config.model, skin);
  const NearestResult* result = asked_result(context, view.study, tr("Comparing with the validation part\u2026"));
  if (!result) return;
  TokenStripOptions options;
  options.show_ids = false;
  options.selected = question.token;
  if (const TokenStripResult strip = draw_token_strip("typed", tokens, options, skin); strip.clicked >= 0)
    question.token = strip.clicked;
  if (result->question != question || result->contexts.empty())
    return draw_quiet_note(tr("Comparing with the validation part\u2026"), ImGui::GetContentRegionAvail(), skin);
  ImGui::BeginChild("contexts", {0, 0}, false, view_flags());
  draw_found(*result, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
