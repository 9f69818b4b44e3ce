#include "workspaces/flow/probes.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/input.h"
#include "base/numbers.h"
#include "workspaces/attention/row.h"
#include "workspaces/attention/view.h"
#include "workspaces/flow/neurons.h"

namespace attnscope {
namespace {

constexpr std::array labels = {
    ChoiceText{
        TokenLabel::sense, mark("sense"),
        mark("The senses of one word that the built-in corpus knows from the translation; of “it”, the gender of "
             "its antecedent. For other corpora, the output token that attends to the word most.")},
    ChoiceText{TokenLabel::position, mark("position"), mark("The token's position in its sentence, up to 16.")},
    ChoiceText{TokenLabel::kind, mark("token class"),
               mark("Noun, adjective or verb if the built-in corpus knows it; other words, numbers, punctuation.")},
    ChoiceText{TokenLabel::previous, mark("previous token"), mark("The token before, one of the 16 most frequent.")},
    ChoiceText{TokenLabel::depth, mark("bracket depth"), mark("How many brackets are open after the token.")},
};

// The built-in sentence pairs, which are the default corpus, know the senses of some words.
bool knows_senses(const Config& config) {
  return config.corpus.source == CorpusConfig().source && !config.model.reads_text();
}

void draw_question(ProbesView& view, const ModelConfig& model, const Skin& skin) {
  ProbingQuestion& question = view.study.question;
  if (model.is_language_model() || !model.has_decoder() || question.label == TokenLabel::sense)
    question.decoder = model.is_language_model();
  for (const auto& choice : labels)
    if (draw_choice(tr_label(choice.title), question.label == choice.value, tr(choice.help), skin))
      question.label = choice.value;
  if (question.label == TokenLabel::sense) {
    ImGui::SetNextItemWidth(skin.px(90));
    // As high as the small buttons in the same row.
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ImGui::GetStyle().FramePadding.x, 0});
    ImGui::InputTextWithHint("##word", tr("a word"), &view.typed, ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::PopStyleVar();
    if (ImGui::IsItemDeactivatedAfterEdit() && !view.typed.empty()) question.word = view.typed;
    help_tooltip(tr("Press Enter to search for it."), skin);
    ImGui::SameLine();
  } else if (!model.is_language_model() && model.has_decoder()) {
    for (const bool decoder : {false, true})
      if (draw_choice(decoder ? tr_label("decoder") : tr_label("encoder"), question.decoder == decoder,
                      tr("The tokens of this stack."), skin))
        question.decoder = decoder;
  }
  if (draw_choice(tr_label("over training"), question.over_training,
                  tr("Also fits the probes at every recorded step, which takes as long for each."), skin))
    question.over_training = !question.over_training;
}

void draw_layers(const ProbingResult& result, ProbesView& view, const Skin& skin) {
  const ProbingPoint& point = result.points.back();
  const WithFont small(skin.fonts.mono_small);
  if (!ImGui::BeginTable("layers", 4, ImGuiTableFlags_RowBg | ImGuiTableFlags_NoSavedSettings,
                         {std::min(ImGui::GetContentRegionAvail().x, skin.px(560)), 0}))
    return;
  for (const char* title : {tr("layer"), tr("accuracy"), tr("control"), tr("selectivity")})
    ImGui::TableSetupColumn(title);
  ImGui::TableHeadersRow();
  for (std::size_t layer = 0; layer < result.layers.size(); ++layer) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (selectable_text(tr_filled(result.layers[layer]), layer == view.layer, ImGuiSelectableFlags_SpanAllColumns))
      view.layer = layer;
    const double accuracy = 100 * point.accuracy[layer], control = 100 * point.control[layer];
    const std::string selectivity = attnscope::number_text(accuracy - control, 1);
    for (const std::string& text : {fmt::format("{:.1f} %", accuracy), fmt::format("{:.1f} %", control), selectivity}) {
      ImGui::TableNextColumn();
      plain_text(text);
    }
  }
  ImGui::EndTable();
}

// The direction of a class after the selected layer.
void draw_direction(const ProbingResult& result, ProbesView& view, std::vector<Steering>& steered, const Skin& skin) {
  const int layer = static_cast<int>(view.layer) - (result.has_embedding ? 1 : 0);
  if (layer < 0) return small_text(skin.theme.text_dim, tr("Select a layer to steer by its probe."), skin);
  ImGui::SetNextItemWidth(skin.px(150));
  if (begin_combo("##class", tr(result.classes[view.chosen].c_str()))) {
    for (std::size_t i = 0; i < result.classes.size(); ++i)
      if (selectable_text(tr(result.classes[i].c_str()), i == view.chosen)) view.chosen = i;
    ImGui::EndCombo();
  }
  help_tooltip(tr("The class whose direction is added."), skin);
  ImGui::SameLine();
  const Matrix& all = result.directions[view.layer];
  const auto row = all.values.begin() + static_cast<std::ptrdiff_t>(view.chosen) * all.cols;
  const std::string name = fmt::format("{} {}", token_label_names[static_cast<std::size_t>(result.question.label)],
                                       result.classes[view.chosen]);
  draw_steering(steered, view.steering,
                {.place = {result.question.decoder, layer},
                 .plus = name,
                 .direction = std::vector<float>(row, row + all.cols),
                 .is_given = true},
                tr("factor"),
                tr("1 moves a token from the mean of the other classes to that of the class, along this direction."),
                skin);
}

void draw_history(const ProbingResult& result, ProbesView& view, const Skin& skin) {
  if (result.points.size() < 2) return;
  std::vector<std::string> names;
  for (const std::string& layer : result.layers) names.push_back(tr_filled(layer));
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < names.size(); ++i)
    lines.push_back({.name = names[i], .series = &view.over_steps[i], .color = series_color(skin.theme, i)});
  ImVec2 room = ImGui::GetContentRegionAvail();
  room.y = std::min(room.y, skin.px(320));
  draw_plot("probes", lines, room, view.steps_axis, view.steps_plot,
            {.title = tr("Accuracy over training"),
             .help = tr("Accuracy on held-out tokens, %, at every recorded step, by layer."),
             .x_label = tr("optimizer steps"),
             .whole_x = true},
            skin);
}

}  // namespace

void take_probes(ProbesView& view, ProbingResult result, std::uint64_t run, std::int64_t step) {
  view.over_steps.assign(result.layers.size(), {});
  for (const ProbingPoint& point : result.points)
    for (std::size_t i = 0; i < view.over_steps.size(); ++i) {
      view.over_steps[i].x.push_back(static_cast<double>(point.step));
      view.over_steps[i].y.push_back(100 * point.accuracy[i]);
    }
  view.layer = result.layers.empty() ? 0 : result.layers.size() - 1;
  view.chosen = 0;
  view.study.run = run;
  view.study.step = step;
  view.study.result = std::move(result);
}

void draw_probes(WorkspaceContext& context, ProbesView& view) {
  const Skin& skin = context.skin;
  if (!std::exchange(view.begun, true) && knows_senses(context.config)) view.study.question.label = TokenLabel::sense;
  draw_question(view, context.config.model, skin);
  const char* working = tr("Fitting the probes\u2026");
  const ProbingResult* result = asked_result(context, view.study, working);
  if (!result) return;
  if (result->question != view.study.question) return draw_quiet_note(working, ImGui::GetContentRegionAvail(), skin);
  const std::int64_t tokens = std::reduce(result->counts.begin(), result->counts.end());
  draw_wrapped_label(skin.fonts.small, skin.theme.text,
                     trf("{} tokens, {} classes; the most frequent, {}, is {:.1f} %. Accuracy on tokens that the probe "
                         "was not fitted to (five folds).",
                         tokens, result->classes.size(), tr(result->classes.front().c_str()),
                         100.0 * static_cast<double>(result->counts.front()) / static_cast<double>(tokens)),
                     skin);
  help_tooltip(
      tr("A probe is a linear classifier that reads a label off a token's vector. Control: the same classifier "
         "for random labels, the same for every occurrence of a token; it shows what the classifier memorizes. "
         "Selectivity is the difference, in percentage points (1909.03368)."),
      skin);
  ImGui::BeginChild("probes", {0, 0}, false, view_flags());
  draw_layers(*result, view, skin);
  draw_direction(*result, view, context.views.of<AttentionView>().interventions.steered, skin);
  draw_history(*result, view, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
