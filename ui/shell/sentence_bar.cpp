#include "shell/panels.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <utility>

#include "analysis/attention_measures.h"
#include "base/drawable_text.h"
#include "base/input.h"
#include "base/translation.h"
#include "config/inspection_size.h"
#include "shell/actions.h"
#include "shell/captures.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "widgets/row.h"
#include "widgets/token_strip.h"
#include "widgets/words.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

// A click in the list replaces the sentence, and so does Enter, which Dear ImGui leaves to text fields.
void draw_choice(AppState& scope, const std::string& sentence, const std::string& shown) {
  const bool clicked = selectable_text(shown, sentence == scope.layout.sentence);
  const bool entered = ImGui::GetIO().NavVisible && ImGui::IsItemFocused() && key_pressed(Key::enter);
  if (!clicked && !entered) return;
  ImGui::CloseCurrentPopup();
  set_sentence(scope, sentence);
  remember_sentence(scope);
}

void draw_list_heading(const char* text, const Skin& skin) {
  const WithFont font(skin.fonts.small);
  dim_text(text, skin);
}

void draw_sentence_list(AppState& scope, const Skin& skin) {
  ImGui::SetNextWindowSizeConstraints(ImVec2(skin.px(320), 0), ImVec2(skin.px(900), skin.px(420)));
  if (!ImGui::BeginPopup("sentences")) return;
  int id = 0;
  const bool prompt = scope.a.run.config.model.reads_text();
  if (!scope.a.run.examples.empty()) {
    draw_list_heading(shows_capture(scope) ? tr("Sentences of the capture")
                      : prompt             ? tr("From the test part of the corpus")
                                           : tr("Test pairs of the corpus: source → target"),
                      skin);
  }
  for (const Example& example : scope.a.run.examples) {
    ImGui::PushID(id++);
    draw_choice(scope, example.source,
                example.target.empty() ? example.source : fmt::format("{}  →  {}", example.source, example.target));
    ImGui::PopID();
  }
  // A copy, because a choice reorders them.
  const std::vector<std::string> recent = shows_capture(scope) ? std::vector<std::string>() : scope.layout.recent;
  if (!recent.empty()) draw_list_heading(tr("Recent sentences"), skin);
  for (const std::string& sentence : recent) {
    ImGui::PushID(id++);
    draw_choice(scope, sentence, sentence);
    ImGui::PopID();
  }
  if (scope.a.run.corpus_follows) {
    ImGui::TextUnformatted(tr("Examples will appear here once the corpus has been read."));
  } else if (id == 0) {
    ImGui::TextUnformatted(tr("Examples will appear here once a run is open."));
  }
  ImGui::EndPopup();
}

// Highlighted while the sentence is pinned.
void draw_pin(AppState& scope, const Skin& skin) {
  const Theme& theme = skin.theme;
  const bool pinned = is_pinned(scope);
  ImGui::PushStyleColor(ImGuiCol_Button, pinned ? mixed(theme.raised, theme.accent, 0.4F) : theme.raised);
  draw_action_button(scope, find_action("pin"), skin, tr("Pin"));
  ImGui::PopStyleColor();
}

// Draws a sentence over the last item, whose text Dear ImGui draws in the order of its characters, while it is not
// edited: one in a script from right to left or whose letters change with their neighbors; and, on a projector, the end
// of one too long for its field, because the distinguishing words are there.
void draw_sentence_over(const std::string& sentence, const Skin& skin) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const float room = high.x - low.x - 2 * style.FramePadding.x;
  const bool ended = skin.presentation && text_size(ImGui::GetFont(), sentence).x > room;
  if (ImGui::IsItemActive() || !(ended || changes_when_drawn(sentence))) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 text{low.x + style.FramePadding.x, low.y + style.FramePadding.y};
  list.AddRectFilled(low, high, skin.theme.raised, style.FrameRounding);
  list.PushClipRect(low, high, true);
  draw_text(list, ImGui::GetFont(), text, skin.theme.text,
            ended ? shortened_at_start(ImGui::GetFont(), sentence, room).c_str() : sentence.c_str());
  list.PopClipRect();
}

void draw_input(AppState& scope, float width, const Skin& skin) {
  const bool prompt = scope.a.run.config.model.is_language_model();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(prompt ? tr("Prompt") : tr("Sentence"));
  ImGui::SameLine(0, skin.px(8));
  const float button = ImGui::GetFrameHeight();
  const float pin = button_width(tr("Pin"));
  ImGui::SetNextItemWidth(width - ImGui::GetCursorPosX() - pin - button - skin.px(8));
  if (std::exchange(scope.focus_sentence, false)) {
    const ImGuiID field = ImGui::GetID("##sentence");
    // If the field has the keyboard already, its text is selected again.
    if (ImGuiInputTextState* const state = ImGui::GetActiveID() == field ? ImGui::GetInputTextState(field) : nullptr)
      state->SelectAll();
    else
      focus_next_item();
  }
  std::string text = scope.layout.sentence;
  const bool committed = [&] {
    const WordSelection by_double_click;
    return ImGui::InputTextWithHint(
        "##sentence", prompt ? tr("Type the start of a text") : tr("Type a sentence to inspect"), &text,
        ImGuiInputTextFlags_EnterReturnsTrue | (shows_capture(scope) ? ImGuiInputTextFlags_ReadOnly : 0));
  }();
  draw_sentence_over(text, skin);
  // All views follow the text while it is typed, so Escape leaves the field without Dear ImGui's revert to the previous
  // text.
  const bool left = ImGui::IsItemDeactivated() && key_pressed(Key::escape);
  if (!left && text != scope.layout.sentence) set_sentence(scope, std::move(text));
  if (committed) remember_sentence(scope);
  if (committed || left) scope.focus_workspace = true;  // the arrow keys navigate the workspace next
  help_tooltip(
      shows_capture(scope)
          ? tr("The captured sentence. Choose another one with ▼.")
          : tr("The sentence shown in every view. It is re-evaluated on each keystroke, even during training."),
      skin);
  ImGui::SameLine(0, skin.px(4));
  draw_pin(scope, skin);
  ImGui::SameLine(0, skin.px(4));
  if (ImGui::ArrowButton("##sentences", ImGuiDir_Down)) ImGui::OpenPopup("sentences");
  help_tooltip(tr("Lists examples from the corpus and recent sentences."), skin);
  draw_sentence_list(scope, skin);
}

void draw_output(const AppState& scope, const Skin& skin) {
  const Snapshot* snapshot = shown_maps(scope).complete.snapshot.get();
  if (snapshot == nullptr) return;
  if (snapshot->captured && snapshot->output_text.empty()) return ImGui::NewLine();
  if (is_blank(scope.layout.sentence) && !scope.a.run.config.model.is_language_model()) {
    ImGui::AlignTextToFramePadding();
    return dim_text(scope.a.run.config.model.is_classifier() ? tr("Type a text to classify it.")
                    : scope.a.run.config.model.is_masked_lm()
                        ? tr("Type a sentence. The masks in it will be filled in.")
                        : tr("Type a sentence to translate it."),
                    skin);
  }
  const bool pending = !is_recorded(*snapshot) && snapshot->request < scope.asked.request;
  ImGui::AlignTextToFramePadding();
  const std::string text =
      fmt::format("→ {}{}", one_line(snapshot->output_text), snapshot->stopped_at_limit ? " …" : "");
  const float room = ImGui::GetContentRegionAvail().x;
  const std::string seen =
      skin.presentation ? shortened_at_start(ImGui::GetFont(), text, room) : shortened(ImGui::GetFont(), text, room);
  colored_text(pending ? faded(skin.theme.text_dim, 0.7F) : skin.theme.text, seen);
  const bool continues = snapshot->model.is_language_model();
  if (snapshot->model.is_masked_lm())
    return help_tooltip(trf("{}\nThe most probable token at every mask, after {} training steps", text, snapshot->step),
                        skin);
  help_tooltip(trf("{}\nGreedy decoding after {} training steps{}{}", text, snapshot->step,
                   continues                    ? tr("; ⏎ is a line break, and the text could continue")
                   : snapshot->stopped_at_limit ? tr("; stopped at the maximum length, without </s>")
                                                : "",
                   pending ? tr("; output of the previous sentence, the new one is being computed") : ""),
               skin);
}

// Height of one row of chips with IDs below.
float tokens_height(const Skin& skin) {
  return font_size(skin.fonts.mono) + font_size(skin.fonts.mono_small) + skin.px(10);
}

// A word that does not occur in the training data, with suggested replacements.
void draw_unseen(AppState& scope, const Snapshot& snapshot, const Skin& skin) {
  const WithFont font(skin.fonts.small);
  const UnseenWord& word = first_to_mend(snapshot.unseen);
  ImGui::AlignTextToFramePadding();
  colored_text(skin.theme.warning, trf("not in the training data: {}", word.text));
  help_tooltip(unseen_note(word), skin);
  if (!word.nearest.empty()) {
    ImGui::SameLine(0, skin.px(6));
    if (ImGui::SmallButton(fmt::format("→ {}", word.nearest.front()).c_str()))
      set_sentence(scope, with_word_replaced(scope.layout.sentence, word.text, word.nearest.front()));
    help_tooltip(trf("Replaces the word with “{}”.", word.nearest.front()), skin);
  }
  ImGui::SameLine(0, skin.px(8));
}

// The reason why the input was truncated.
std::string cut_note(const ModelConfig& model) {
  if (longest_inspection(model) < model.max_length)
    return trf("The sentence is truncated: attention maps for model.max_length tokens would take more than {} MiB.",
               largest_maps >> 20);
  return model.is_language_model() ? tr("The prompt is truncated: the model's context (model.max_length) is too short "
                                        "for the whole prompt and its continuation.")
                                   : tr("The sentence is truncated: it is longer than model.max_length.");
}

void draw_tokens(AppState& scope, const Skin& skin) {
  const Snapshot* snapshot = shown_maps(scope).newest.snapshot.get();
  if (snapshot == nullptr) return draw_list_heading(tr("The sentence's tokens will appear here."), skin);
  if (snapshot->truncated) {
    const WithFont font(skin.fonts.small);
    ImGui::AlignTextToFramePadding();
    const bool prompt = snapshot->model.is_language_model();
    colored_text(skin.theme.warning,
                 trf("{} {} tokens", prompt ? tr("only the last") : tr("only the first"), snapshot->typed().size()));
    help_tooltip(cut_note(snapshot->model), skin);
    ImGui::SameLine(0, skin.px(8));
  }
  if (!snapshot->unseen.empty()) draw_unseen(scope, *snapshot, skin);
  // One row; longer sentences scroll.
  ImGui::BeginChild("tokens", ImVec2(0, tokens_height(skin)), false, column_flags());
  TokenStripOptions options;
  options.unseen = snapshot->unseen;
  options.show_ids = !snapshot->captured;  // a capture has none
  draw_token_strip("strip", snapshot->typed(), options, skin);
  ImGui::EndChild();
}

}  // namespace

float sentence_bar_height(const Skin& skin) {
  const float below = skin.presentation ? ImGui::GetFrameHeightWithSpacing() : tokens_height(skin);
  return ImGui::GetFrameHeightWithSpacing() + below + skin.px(6);
}

void draw_sentence_bar(AppState& scope, const Skin& skin) {
  const float width = ImGui::GetContentRegionAvail().x;
  const bool simple = scope.layout.density == Density::simple;
  const bool is_shown_large = simple && scope.layout.workspace == find_workspace("glance");
  // One line each on a projector, because the distinguishing words are at the ends.
  draw_input(scope, is_shown_large || skin.presentation ? width : width * 0.56F, skin);
  if (!is_shown_large) {
    if (!skin.presentation) ImGui::SameLine(0, skin.px(14));
    draw_output(scope, skin);
  }
  if (skin.presentation) return;
  if (!simple) return draw_tokens(scope, skin);
  const Snapshot* snapshot = shown_maps(scope).newest.snapshot.get();
  if (snapshot && snapshot->truncated) return small_text(skin.theme.warning, cut_note(snapshot->model), skin);
  // Leaves its room, so that nothing below moves at the first edit.
  if (scope.layout.sentence_edited) return ImGui::Dummy({1, font_size(skin.fonts.small)});
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + text_size(skin.fonts.ui, tr("Sentence")).x + skin.px(8));
  small_text(skin.theme.accent,
             tr("↑ The model reads this sentence. Change a word: everything below follows as you type."), skin);
}

}  // namespace attnscope
