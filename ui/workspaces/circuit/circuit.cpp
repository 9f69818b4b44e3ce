#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/circuit/modes.h"

namespace attnscope {
namespace {

constexpr std::array modes = {
    WorkspaceView{"circuit-place", "By position",
                  "At which layer and word the two sentences' representations differ (residual-stream patching)."},
    WorkspaceView{"circuit-heads", "Heads", "Effect of patching each head at each position."},
    WorkspaceView{"circuit-picture", "Circuit",
                  "The path of the difference: from which word to which, through which heads, up to the answer."},
    WorkspaceView{"circuit-score", "Score decomposition",
                  "Splits a head's attention score into what each part of the query and of the key contributes (QK).",
                  "Score"},
    WorkspaceView{"circuit-formation", "Over training",
                  "Effect of each component of the circuit at earlier steps of the training.", "Training"},
    WorkspaceView{"circuit-attribution", "Attribution",
                  "Which heads, layers and input tokens one output token depends on."},
    WorkspaceView{"circuit-importance", "Head importance",
                  "Increase in held-out loss when each head, and growing sets of heads, are ablated.", "Importance"},
};
static_assert(modes.size() == static_cast<std::size_t>(CircuitMode::importance) + 1);

template <int by>
void change_mode(WorkspaceContext& context) {
  CircuitView& view = context.views.of<CircuitView>();
  view.mode =
      static_cast<CircuitMode>(clamped(static_cast<int>(view.mode) + by, 0, static_cast<int>(modes.size()) - 1));
}

void turn_round(WorkspaceContext& context) {
  CircuitView& view = context.views.of<CircuitView>();
  view.of = other(view.of);
  view.trial.reset();
  make_matrices(view);
}

void take_back(WorkspaceContext& context) {
  CircuitView& view = context.views.of<CircuitView>();
  view.put.clear();
  view.trial.reset();
}

void edit_contrast(WorkspaceContext& context) {
  context.views.of<CircuitView>().typing = true;
}

constexpr const char* next_mode = mark("next view, previous view");
constexpr std::array keys = {
    WorkspaceKey{{.key = Key::page_down}, next_mode, change_mode<1>},
    WorkspaceKey{{.key = Key::page_up}, next_mode, change_mode<-1>},
    WorkspaceKey{{.key = Key::down}, "switch the patching direction", turn_round},
    WorkspaceKey{{.key = Key::backspace}, "undo the patch", take_back},
    WorkspaceKey{{.key = Key::enter}, "type another contrast sentence", edit_contrast},
};

// ---- the two sentences

void ask(WorkspaceContext& context, CircuitView& view, ContrastQuestion question) {
  view.asked = question;
  context.study = CircuitStudy{std::move(question)};
}

bool is_working(const WorkspaceContext& context) {
  return context.studying || context.study.has_value();
}

// Asks once per sentence, when no other study is running.
void ask_if_new(WorkspaceContext& context, CircuitView& view) {
  if (!context.live || context.studying || context.live->source_text.empty()) return;
  const std::string& sentence = context.live->source_text;
  const bool answered = view.inspection && view.run == context.live->run && view.inspection->question.clean == sentence;
  if (!answered && (!view.asked || view.asked->clean != sentence || view.run != context.live->run)) {
    view.run = context.live->run;
    view.inspection.reset();
    ask(context, view, {sentence, "", {}});
  }
  const bool counts = view.mode == CircuitMode::picture && has_circuit(view) && view.inspection->found.problem.empty();
  if (answered && counts && !view.counting_asked) {
    view.counting_asked = true;
    context.study = CorpusCircuitStudy{view.inspection->question};
  }
}

// Asks once per selection.
void ask_for_sweep(WorkspaceContext& context, CircuitView& view) {
  const auto wanted = wanted_sweep(view);
  if (!wanted || is_working(context) || view.sweep_asked == wanted) return;
  view.sweep_asked = wanted;
  context.study = *wanted;
}

// Asks once per circuit, when the view is open.
void ask_for_formation(WorkspaceContext& context, CircuitView& view) {
  const bool wanted =
      view.mode == CircuitMode::formation && has_circuit(view) && view.inspection->found.problem.empty();
  if (!wanted || view.formation_asked || is_working(context)) return;
  view.formation_asked = true;
  context.study = FormationStudy{view.inspection->question, view.inspection->facts, shown_circuit(view)};
}

// The first divergence of the outputs of the sentence and its contrast, once known.
int parting_output(const WorkspaceContext& context, const CircuitView& view) {
  const bool known = has_circuit(view) && context.live && view.inspection->question.clean == context.live->source_text;
  return known ? static_cast<int>(view.inspection->facts.prefix.size()) : -1;
}

constexpr const char* between_hint = mark("first divergence");

float between_width(const Skin& skin) {
  return ImGui::CalcTextSize(tr("Compare")).x + skin.px(6) + button_width(tr(between_hint));
}

// Returns true if the words were entered.
bool draw_between(CircuitView& view, bool valid, const Skin& skin) {
  next_in_row(between_width(skin), skin.px(6));
  ImGui::AlignTextToFramePadding();
  quiet_words(tr("Compare"),
              tr("The two output tokens whose log-odds are compared, for example il, elle, at the step where one of "
                 "them is generated. Empty: the first token at which the two translations diverge."),
              skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(button_width(tr(between_hint)));
  if (!valid) ImGui::PushStyleColor(ImGuiCol_Text, skin.theme.error);
  const bool entered =
      ImGui::InputTextWithHint("##between", tr(between_hint), &view.between, ImGuiInputTextFlags_EnterReturnsTrue);
  if (!valid) ImGui::PopStyleColor();
  view.typing |= ImGui::IsItemActive();
  return entered;
}

void draw_contrast(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  ImGui::AlignTextToFramePadding();
  quiet_words(tr("contrast sentence"),
              tr("A minimal pair: the same number of tokens, one word changed, another translation. Activations are "
                 "patched from its forward pass into that of the sentence, and the other way around."),
              skin);
  ImGui::SameLine(0, skin.px(6));
  const float beside =
      button_width(tr("Suggestions")) + button_width(tr("Recompute")) + between_width(skin) + skin.px(26);
  // In a row with the other fields only if the whole sentence fits, because the differing word may be the last.
  const float room = ImGui::GetContentRegionAvail().x;
  const float wanted = std::min(ImGui::CalcTextSize(view.contrast.c_str()).x + skin.px(20), room);
  ImGui::SetNextItemWidth(wanted <= room - beside ? std::min(skin.px(620), room - beside) : room);
  const bool beside_popup = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup);  // taking the focus would close it
  if (view.typing && !ImGui::IsAnyItemActive() && !beside_popup) focus_next_item();
  const bool entered = ImGui::InputText("##contrast", &view.contrast, ImGuiInputTextFlags_EnterReturnsTrue);
  view.typing = ImGui::IsItemActive();
  help_tooltip(tr("Press Enter to compare the two sentences."), skin);
  const auto between = words_between(view.between);
  const bool asked_between = draw_between(view, between.has_value(), skin);
  if ((entered || asked_between) && view.inspection && between)
    ask(context, view, {view.inspection->question.clean, view.contrast, *between});
  next_in_row(button_width(tr("Suggestions")), skin.px(6));
  const bool offers = view.inspection && !view.inspection->offers.empty();
  ImGui::BeginDisabled(!offers);
  if (ImGui::Button(tr_label("Suggestions"))) ImGui::OpenPopup("Suggestions");
  ImGui::EndDisabled();
  help_tooltip(tr("Contrast sentences built from corpus words that occur in this slot."), skin);
  next_in_row(button_width(tr("Recompute")), skin.px(6));
  ImGui::BeginDisabled(!view.asked || is_working(context));
  if (ImGui::Button(tr_label("Recompute"))) ask(context, view, *view.asked);
  ImGui::EndDisabled();
  help_tooltip(tr("Runs the analysis again with the current weights."), skin);
  if (!ImGui::BeginPopup("Suggestions")) return;
  for (const std::string& offer : view.inspection->offers)
    if (selectable_text(offer, offer == view.inspection->question.corrupted))
      ask(context, view, {view.inspection->question.clean, offer, between.value_or(std::vector<std::string>())});
  ImGui::EndPopup();
}

// A sentence that is wider than the view ends in dots; the tooltip has all of it.
bool sentence_button(const std::string& sentence, const Skin& skin) {
  const float room = ImGui::GetContentRegionAvail().x - 2 * ImGui::GetStyle().FramePadding.x;
  const bool clicked = text_button(shortened(skin.fonts.ui, sentence, room));
  help_tooltip(sentence, skin);
  return clicked;
}

// In place of the maps: the reason why there are none, and contrast sentences to click.
void draw_no_circuit(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const ContrastQuestion& question = view.inspection->question;
  const auto heading = [&](const char* title) {
    ImGui::Dummy({0, skin.px(6)});
    small_text(skin.theme.text_dim, title, skin);
  };
  const std::string chosen = question.corrupted;
  ImGui::Dummy({0, skin.px(8)});
  wrapped_text(skin.theme.text, tr_filled(view.inspection->problem));
  std::optional<ContrastQuestion> wanted;
  if (!view.inspection->offers.empty()) {
    heading(tr("Contrast sentences built from the corpus. Click one to compare:"));
    for (const std::string& offer : view.inspection->offers)
      if (offer != chosen && sentence_button(offer, skin)) wanted = {question.clean, offer, {}};
  }
  const ContrastQuestion& example = view.inspection->example;
  if (!example.clean.empty()) {
    heading(tr("Example from the corpus. Click it to type its sentence and compare:"));
    if (sentence_button(example.clean, skin)) context.sentence_wanted = example.clean;
    wrapped_text(skin.theme.text_dim, trf("contrast sentence: {}", example.corrupted));
  }
  if (wanted) ask(context, view, *std::move(wanted));
}

void draw_outputs(const CircuitView& view, const Skin& skin) {
  const ContrastFacts& facts = view.inspection->facts;
  const auto line = [&](const ContrastRun& run, const char* name) {
    draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                       trf("{}  \u2192 {}   log p({}) \u2212 log p({}) = {}", name, run.output,
                           without_mark(facts.a.text), without_mark(facts.b.text), number_text(run.margin, 2)),
                       skin);
  };
  line(facts.clean, tr("sentence"));
  line(facts.corrupted, tr("contrast sentence"));
  if (!view.inspection->found.problem.empty())
    draw_wrapped_label(skin.fonts.ui, skin.theme.warning, tr_filled(view.inspection->found.problem), skin);
}

WorkspaceNumbers grid_numbers(const Matrix& matrix, std::vector<std::string> rows, std::vector<std::string> cols,
                              std::string title) {
  return {matrix, std::move(rows), std::move(cols), std::move(title)};
}

}  // namespace

std::span<const WorkspaceKey> circuit_keys() {
  return keys;
}

std::span<const WorkspaceView> circuit_modes() {
  return modes;
}

void show_circuit_mode(Views& views, std::size_t mode) {
  views.of<CircuitView>().mode = static_cast<CircuitMode>(mode);
}

std::optional<WorkspaceNumbers> circuit_numbers(const Views& views) {
  const CircuitView& view = views.of<CircuitView>();
  if (view.mode == CircuitMode::attribution) return attribution_numbers(view.attribution);
  if (view.mode == CircuitMode::importance) return importance_numbers(view);
  if (!has_circuit(view)) return std::nullopt;
  if (view.mode == CircuitMode::score) return score_numbers(view);
  const Circuit& found = view.inspection->found;
  if (view.mode == CircuitMode::formation) return formation_numbers(view);
  std::vector<std::string> rows;
  if (view.mode == CircuitMode::heads) {
    for (const RowPlace& place : view.row_places) rows.push_back(row_name(place, view.inspection->facts));
    std::vector<std::string> cols;
    for (int col = 0; col < view.rows.cols; ++col) cols.push_back(std::to_string(col));
    return grid_numbers(view.rows, std::move(rows), std::move(cols), std::string("heads ") + part_name(view.part));
  }
  for (int row = 0; row < view.places.rows; ++row) rows.push_back(trf("after layer {}", row));
  return grid_numbers(view.places, std::move(rows), found.slots, "places");
}

bool choose_word(const char* id, const char* before, const char* help, const ContrastFacts& facts, int& slot,
                 bool optional, const Skin& skin) {
  const float width = skin.px(110);
  next_in_row(ImGui::CalcTextSize(before).x + width + skin.px(10), skin.px(10));
  ImGui::AlignTextToFramePadding();
  quiet_words(before, help, skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(width);
  if (!begin_combo(id, slot < 0 ? tr("none") : facts.words[static_cast<std::size_t>(slot)].name)) return false;
  const int before_choice = slot;
  if (optional && ImGui::Selectable(tr_label("nothing"), slot < 0)) slot = -1;
  for (std::size_t i = 0; i < facts.words.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (selectable_text(facts.words[i].name, slot == static_cast<int>(i))) slot = static_cast<int>(i);
    ImGui::PopID();
  }
  ImGui::EndCombo();
  return slot != before_choice;
}

void try_change(WorkspaceContext& context, CircuitView& view, ChangedRun run, std::string words) {
  view.tried = std::move(words);
  view.trial.reset();
  context.study = TrialStudy{view.inspection->question, std::move(run)};
}

void draw_direction(CircuitView& view, const Skin& skin) {
  const auto choice = [&](const char* title, ContrastSide of, const char* help) {
    if (!draw_choice(title, view.of == of, help, skin)) return;
    view.of = of;
    view.trial.reset();
    make_matrices(view);
  };
  // Both in the same row.
  break_choices(
      fmt::format("{}{}", tr("Clean \u2192 corrupted (denoising)"), tr("Corrupted \u2192 clean (noising)")).c_str());
  choice(tr_label("Clean \u2192 corrupted (denoising)"), ContrastSide::corrupted,
         tr("Denoising: activations of the sentence (clean) are patched into the contrast sentence (corrupted). What "
            "restores the answer is sufficient for it (arXiv 2404.15255)."));
  choice(tr_label("Corrupted \u2192 clean (noising)"), ContrastSide::clean,
         tr("Noising: activations of the contrast sentence (corrupted) are patched into the sentence (clean). What "
            "breaks the answer is necessary for it. If two words carry it redundantly, neither shows as necessary."));
}

void draw_trial(const CircuitView& view, const Skin& skin) {
  if (view.tried.empty()) return;
  if (!view.trial) return draw_label(skin.fonts.ui, skin.theme.text_dim, view.tried + " \u2026", skin);
  const Trial& trial = *view.trial;
  const bool turned = trial.run.of == ContrastSide::clean ? trial.margin < 0 : trial.margin > 0;
  draw_label(skin.fonts.ui, skin.theme.text_dim, view.tried, skin);
  draw_label(skin.fonts.bold, turned ? skin.theme.success : skin.theme.text,
             trf("\u2192 {}   {}, {} of the whole difference", trial.output, turned ? tr("flipped") : tr("not flipped"),
                 percent_text(trial.share)),
             skin);
}

void share_tooltip(const CircuitView& view, const Effect& effect, const Skin& skin) {
  const ContrastFacts& facts = view.inspection->facts;
  const bool noising = view.of == ContrastSide::clean;
  dim_text(noising ? "(m_c \u2212 m) / (m_c \u2212 m_x)" : "(m \u2212 m_x) / (m_c \u2212 m_x)", skin);
  const std::string from = noising ? fmt::format("({:.2f} \u2212 {:.2f})", facts.clean.margin, effect.margin)
                                   : fmt::format("({:.2f} \u2212 {:.2f})", effect.margin, facts.corrupted.margin);
  bold_text(fmt::format("{} / {:.2f} = {:.3f}", from, facts.effect(), effect.share), skin);
}

void draw_circuit(WorkspaceContext& context) {
  CircuitView& view = context.views.of<CircuitView>();
  const Skin& skin = context.skin;
  const bool of_contrasts = view.mode != CircuitMode::attribution;
  if (of_contrasts) ask_if_new(context, view);
  ask_for_formation(context, view);
  if (view.mode == CircuitMode::score) ask_for_score(context, view);
  if (view.mode == CircuitMode::heads) ask_for_sweep(context, view);
  view.mode = static_cast<CircuitMode>(draw_view_choices(modes, static_cast<std::size_t>(view.mode), skin));
  if (has_circuit(view) && view.mode < CircuitMode::picture) draw_direction(view, skin);
  end_choices();
  if (!of_contrasts) return draw_attribution(context, view.attribution, parting_output(context, view));
  if (view.mode == CircuitMode::importance) return draw_importance(context, view);
  draw_contrast(context, view);
  const auto note = [&](const std::string& text) {
    draw_quiet_note(text.c_str(), ImGui::GetContentRegionAvail(), skin);
  };
  if (!view.inspection) {
    const bool empty = context.live && context.live->source_text.empty();
    return note(empty ? tr("Type a sentence. This view then finds the words and attention heads that decide "
                           "between its translation and that of a contrast sentence.")
                : is_working(context) ? tr("Comparing the sentence with a contrast sentence\u2026")
                                      : tr("Not computed yet. Click Recompute to find the words and heads that decide "
                                           "between the two sentences."));
  }
  if (!view.inspection->problem.empty()) return draw_no_circuit(context, view);
  draw_outputs(view, skin);
  if (context.live && context.live->step != view.step) {
    draw_label(
        skin.fonts.small, skin.theme.text_dim,
        trf("Computed at step {}. Recompute updates it to step {}.", grouped(view.step), grouped(context.live->step)),
        skin);
  }
  if (view.mode == CircuitMode::place) return draw_place(context, view);
  if (view.mode == CircuitMode::heads) return draw_circuit_heads(context, view);
  if (!view.inspection->found.problem.empty())
    return note(
        tr("No circuit to show: the message above says why. Try another contrast sentence: type one, or choose one "
           "under Suggestions."));
  if (view.mode == CircuitMode::score) return draw_score(context, view);
  if (view.mode == CircuitMode::formation) return draw_formation(context, view);
  draw_circuit_picture(context, view);
}

}  // namespace attnscope
