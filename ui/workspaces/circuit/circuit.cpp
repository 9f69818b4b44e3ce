#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "plain/clamped.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/circuit/modes.h"

namespace attnscope {
namespace {

constexpr std::array modes = {
    WorkspaceView{"circuit-place", "The place",
                  "After which layer, at which word, the difference between the two sentences stands."},
    WorkspaceView{"circuit-heads", "Heads", "Which head, at which word, moves it."},
    WorkspaceView{"circuit-picture", "The circuit", "Which word reads which, by which heads, as far as the answer."},
    WorkspaceView{"circuit-score", "Why there?",
                  "A head's score taken apart: what each part of the query's word and of the key's brings to it."},
    WorkspaceView{"circuit-formation", "Since when?", "What each part moved at earlier steps of the training."},
    WorkspaceView{"circuit-attribution", "Attribution",
                  "What one written piece comes from: by head and layer, and by the pieces read."},
    WorkspaceView{"circuit-importance", "Importance",
                  "What the held-out pairs cost more without each head, and without more and more of them."},
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

void edit_twin(WorkspaceContext& context) {
  context.views.of<CircuitView>().typing = true;
}

constexpr const char* next_mode = mark("the next view, the one before");
constexpr std::array keys = {
    WorkspaceKey{{.key = Key::page_down}, next_mode, change_mode<1>},
    WorkspaceKey{{.key = Key::page_up}, next_mode, change_mode<-1>},
    WorkspaceKey{{.key = Key::down}, "change the other sentence's run", turn_round},
    WorkspaceKey{{.key = Key::backspace}, "take the change back", take_back},
    WorkspaceKey{{.key = Key::enter}, "write another twin", edit_twin},
};

// ---- the two sentences

void ask(WorkspaceContext& context, CircuitView& view, TwinQuestion question) {
  view.asked = question;
  context.study = CircuitStudy{std::move(question)};
}

bool is_working(const WorkspaceContext& context) {
  return context.studying || context.study.has_value();
}

// Once for each sentence, when nothing else is worked out.
void ask_if_new(WorkspaceContext& context, CircuitView& view) {
  if (!context.live || context.studying || context.live->source_text.empty()) return;
  const std::string& sentence = context.live->source_text;
  const bool answered = view.look && view.run == context.live->run && view.look->question.clean == sentence;
  if (!answered && (!view.asked || view.asked->clean != sentence || view.run != context.live->run)) {
    view.run = context.live->run;
    view.look.reset();
    ask(context, view, {sentence, "", {}});
  }
  const bool counts = view.mode == CircuitMode::picture && has_circuit(view) && view.look->found.problem.empty();
  if (answered && counts && !view.counting_asked) {
    view.counting_asked = true;
    context.study = CorpusCircuitStudy{view.look->question};
  }
}

// Once for what is chosen.
void ask_for_sweep(WorkspaceContext& context, CircuitView& view) {
  const auto wanted = wanted_sweep(view);
  if (!wanted || is_working(context) || view.sweep_asked == wanted) return;
  view.sweep_asked = wanted;
  context.study = *wanted;
}

// Once for each circuit, when it is looked at.
void ask_for_formation(WorkspaceContext& context, CircuitView& view) {
  const bool wanted = view.mode == CircuitMode::formation && has_circuit(view) && view.look->found.problem.empty();
  if (!wanted || view.formation_asked || is_working(context)) return;
  view.formation_asked = true;
  context.study = FormationStudy{view.look->question, view.look->facts, shown_circuit(view)};
}

// Where the sentence and its twin part, once that is known.
int parting_output(const WorkspaceContext& context, const CircuitView& view) {
  const bool known = has_circuit(view) && context.live && view.look->question.clean == context.live->source_text;
  return known ? static_cast<int>(view.look->facts.prefix.size()) : -1;
}

constexpr const char* between_hint = mark("where they part");

float between_width(const Skin& skin) {
  return ImGui::CalcTextSize(tr("between")).x + skin.px(6) + button_width(tr(between_hint));
}

// True when they were entered.
bool draw_between(CircuitView& view, bool valid, const Skin& skin) {
  next_in_row(between_width(skin), skin.px(6));
  ImGui::AlignTextToFramePadding();
  quiet_words(tr("between"),
              tr("The two words whose odds are asked for, il, elle: at the step where one of them is written. Left "
                 "empty: the first at which the two translations part."),
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

void draw_twin(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  ImGui::AlignTextToFramePadding();
  quiet_words(tr("twin"),
              tr("A sentence of as many pieces that is written otherwise: one word another. Values of its run are put "
                 "into the run on the sentence below, and the other way round."),
              skin);
  ImGui::SameLine(0, skin.px(6));
  const float beside = button_width(tr("offers")) + button_width(tr("again")) + between_width(skin) + skin.px(26);
  // In a row with the rest where all of it can be read there: the word that differs may be its last.
  const float room = ImGui::GetContentRegionAvail().x;
  const float wanted = std::min(ImGui::CalcTextSize(view.twin.c_str()).x + skin.px(20), room);
  ImGui::SetNextItemWidth(wanted <= room - beside ? std::min(skin.px(620), room - beside) : room);
  if (view.typing && !ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputText("##twin", &view.twin, ImGuiInputTextFlags_EnterReturnsTrue);
  view.typing = ImGui::IsItemActive();
  help_tooltip(tr("Enter: looks for what tells the two apart."), skin);
  const auto between = words_between(view.between);
  const bool asked_between = draw_between(view, between.has_value(), skin);
  if ((entered || asked_between) && view.look && between)
    ask(context, view, {view.look->question.clean, view.twin, *between});
  next_in_row(button_width(tr("offers")), skin.px(6));
  const bool offers = view.look && !view.look->offers.empty();
  ImGui::BeginDisabled(!offers);
  if (ImGui::Button(tr_label("offers"))) ImGui::OpenPopup("offers");
  ImGui::EndDisabled();
  help_tooltip(tr("Twins made of words that the corpus has at these places."), skin);
  next_in_row(button_width(tr("again")), skin.px(6));
  ImGui::BeginDisabled(!view.asked || is_working(context));
  if (ImGui::Button(tr_label("again"))) ask(context, view, *view.asked);
  ImGui::EndDisabled();
  help_tooltip(tr("With the weights of this moment."), skin);
  if (!ImGui::BeginPopup("offers")) return;
  for (const std::string& offer : view.look->offers)
    if (selectable_text(offer, offer == view.look->question.corrupted))
      ask(context, view, {view.look->question.clean, offer, between.value_or(std::vector<std::string>())});
  ImGui::EndPopup();
}

void draw_outputs(const CircuitView& view, const Skin& skin) {
  const TwinFacts& facts = view.look->facts;
  const auto line = [&](const TwinRun& run, const char* name) {
    draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                       trf("{}  \u2192 {}   log p({}) \u2212 log p({}) = {}", name, run.output,
                           without_mark(facts.a.piece), without_mark(facts.b.piece), number_text(run.margin, 2)),
                       skin);
  };
  line(facts.clean, tr("sentence"));
  line(facts.corrupted, tr("twin"));
  if (!view.look->found.problem.empty())
    draw_wrapped_label(skin.fonts.ui, skin.theme.warning, view.look->found.problem, skin);
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
  const Circuit& found = view.look->found;
  if (view.mode == CircuitMode::formation) return formation_numbers(view);
  std::vector<std::string> rows;
  if (view.mode == CircuitMode::heads) {
    for (const RowPlace& place : view.row_places) rows.push_back(row_name(place, view.look->facts));
    std::vector<std::string> cols;
    for (int col = 0; col < view.rows.cols; ++col) cols.push_back(std::to_string(col));
    return grid_numbers(view.rows, std::move(rows), std::move(cols), std::string("heads ") + part_name(view.part));
  }
  for (int row = 0; row < view.places.rows; ++row) rows.push_back(trf("after layer {}", row));
  return grid_numbers(view.places, std::move(rows), found.slots, "places");
}

bool choose_word(const char* id, const char* before, const char* help, const TwinFacts& facts, int& slot, bool optional,
                 const Skin& skin) {
  const float width = skin.px(110);
  next_in_row(ImGui::CalcTextSize(before).x + width + skin.px(10), skin.px(10));
  ImGui::AlignTextToFramePadding();
  quiet_words(before, help, skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(width);
  if (!begin_combo(id, slot < 0 ? tr("nothing") : facts.words[static_cast<std::size_t>(slot)].name)) return false;
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
  context.study = TrialStudy{view.look->question, std::move(run)};
}

void draw_direction(CircuitView& view, const Skin& skin) {
  const auto choice = [&](const char* title, Twin of, const char* help) {
    if (!draw_choice(title, view.of == of, help, skin)) return;
    view.of = of;
    view.trial.reset();
    make_matrices(view);
  };
  choice(tr_label("sentence into twin"), Twin::corrupted,
         tr("Denoising: the sentence's values are put into the run on the twin. What brings the answer back is enough "
            "for it (arXiv 2404.15255)."));
  choice(tr_label("twin into sentence"), Twin::clean,
         tr("Noising: the twin's values are put into the run on the sentence. What spoils the answer is needed for it: "
            "of two words that each would do, neither is."));
}

void draw_trial(const CircuitView& view, const Skin& skin) {
  if (view.tried.empty()) return;
  if (!view.trial) return draw_label(skin.fonts.ui, skin.theme.text_dim, view.tried + " \u2026", skin);
  const Trial& trial = *view.trial;
  const bool turned = trial.run.of == Twin::clean ? trial.margin < 0 : trial.margin > 0;
  draw_label(skin.fonts.ui, skin.theme.text_dim, view.tried, skin);
  draw_label(skin.fonts.bold, turned ? skin.theme.success : skin.theme.text,
             trf("\u2192 {}   {}, {} of the difference", trial.output, turned ? tr("turned") : tr("not turned"),
                 number_text(trial.share, 2)),
             skin);
}

void share_tooltip(const CircuitView& view, const Effect& effect, const Skin& skin) {
  const TwinFacts& facts = view.look->facts;
  const bool noising = view.of == Twin::clean;
  dim_text(noising ? "(m_c \u2212 m) / (m_c \u2212 m_x)" : "(m \u2212 m_x) / (m_c \u2212 m_x)", skin);
  const std::string from = noising ? fmt::format("({:.2f} \u2212 {:.2f})", facts.clean.margin, effect.margin)
                                   : fmt::format("({:.2f} \u2212 {:.2f})", effect.margin, facts.corrupted.margin);
  bold_text(fmt::format("{} / {:.2f} = {:.3f}", from, facts.effect(), effect.share), skin);
}

void draw_circuit(WorkspaceContext& context) {
  CircuitView& view = context.views.of<CircuitView>();
  const Skin& skin = context.skin;
  const bool of_twins = view.mode != CircuitMode::attribution;
  if (of_twins) ask_if_new(context, view);
  ask_for_formation(context, view);
  if (view.mode == CircuitMode::score) ask_for_score(context, view);
  if (view.mode == CircuitMode::heads) ask_for_sweep(context, view);
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const auto mode = static_cast<CircuitMode>(i);
    if (draw_choice(tr_label(modes[i].title), view.mode == mode, tr(modes[i].help), skin)) view.mode = mode;
  }
  if (has_circuit(view) && view.mode < CircuitMode::picture) draw_direction(view, skin);
  end_choices();
  if (!of_twins) return draw_attribution(context, view.attribution, parting_output(context, view));
  if (view.mode == CircuitMode::importance) return draw_importance(context, view);
  draw_twin(context, view);
  const auto note = [&](const std::string& text) {
    draw_quiet_note(text.c_str(), ImGui::GetContentRegionAvail(), skin);
  };
  if (!view.look) {
    const bool empty = context.live && context.live->source_text.empty();
    return note(empty                 ? tr("Type a sentence below: what makes the model say what it says of it?")
                : is_working(context) ? tr("Looking for what tells the sentence from a twin\u2026")
                                      : tr("Nothing was looked for: \u201Cagain\u201D does."));
  }
  if (!view.look->problem.empty()) return note(view.look->problem);
  draw_outputs(view, skin);
  if (context.live && context.live->step != view.step) {
    draw_label(skin.fonts.small, skin.theme.text_dim,
               trf("of step {}; \u201Cagain\u201D looks at step {}", grouped(view.step), grouped(context.live->step)),
               skin);
  }
  if (view.mode == CircuitMode::place) return draw_place(context, view);
  if (view.mode == CircuitMode::heads) return draw_circuit_heads(context, view);
  if (!view.look->found.problem.empty()) return note(tr("There is nothing to draw: see above."));
  if (view.mode == CircuitMode::score) return draw_score(context, view);
  if (view.mode == CircuitMode::formation) return draw_formation(context, view);
  draw_circuit_picture(context, view);
}

}  // namespace attnscope
