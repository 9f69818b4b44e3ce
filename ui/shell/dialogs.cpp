#include "shell/dialogs.h"

#include <fmt/format.h>

#include <array>

#include "base/input.h"
#include "widgets/tooltip.h"

namespace attnscope {
namespace {

struct KeyLine {
  const char* keys;
  const char* what;
};

constexpr auto key_lines = std::to_array<KeyLine>({
    {"Space", "train, pause"},
    {"Ctrl + →", "one optimizer update (→ alone in Positions)"},
    {"1  2  3", "the tabs (also Ctrl + Tab)"},
    {"Ctrl + O", "open a run"},
    {"Ctrl + S", "save the run (with Shift: somewhere else)"},
    {"Ctrl + T", "type a sentence"},
    {"Ctrl + E", "take a picture or numbers away"},
    {"Ctrl + P", "pin the sentence: what the model makes of it is recorded while it trains"},
    {"Shift + ← →  Home  End", "Pinned sentence: the recorded steps; End returns to the present"},
    {"← → ↑ ↓", "Attention: the next head, the next layer"},
    {"Page up, Page down", "Attention: the row whose weights are listed"},
    {"Enter, Backspace", "Attention: the next nearer level, the next farther one"},
    {"← →  Home  End", "Decoding: step by step, first, last"},
    {"Enter", "Decoding: play, stop"},
    {"↑ ↓  Enter", "Decoding: mark a candidate, go on with it"},
    {"Backspace, Delete", "Decoding: let go of what was forced from this step on, of all"},
    {"Ctrl + plus, minus, 0", "larger, smaller, normal size"},
    {"F11", "presentation: full screen, larger text"},
    {"Escape", "ends presentation, closes, unpins"},
    {"", ""},
    {"hover", "the exact value and both tokens"},
    {"click", "selects a head, pins a query and a key, switches a curve"},
    {"Shift + click", "shows a head together with others, in colours"},
    {"double-click", "opens a head; a curve alone; fits a plot or a map; resets a splitter"},
    {"wheel, drag", "zooms at the cursor, pans (plots, maps)"},
    {"drop a file", "a run's folder is opened, a text file becomes the corpus"},
});

void center_next_window() {
  ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, ImVec2(0.5F, 0.5F));
}

void draw_help(Scope& scope, const Look& look) {
  if (scope.show_help && !ImGui::IsPopupOpen("Keys and mouse")) ImGui::OpenPopup("Keys and mouse");
  center_next_window();
  if (!ImGui::BeginPopupModal("Keys and mouse", &scope.show_help, ImGuiWindowFlags_AlwaysAutoResize)) return;
  for (const KeyLine& line : key_lines) {
    push_font(look.fonts.mono);
    ImGui::TextUnformatted(line.keys);
    pop_font();
    ImGui::SameLine(look.px(230));
    ImGui::TextUnformatted(line.what);
  }
  ImGui::Spacing();
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::TextUnformatted("“Paper” in the tooltips: Vaswani et al. 2017, Attention Is All You Need, arXiv 1706.03762.");
  if (!scope.facts.version.empty()) ImGui::Text("attnscope %s", scope.facts.version.c_str());
  ImGui::PopStyleColor();
  if (ImGui::Button("Close") || key_pressed(Key::escape)) scope.show_help = false;
  if (!scope.show_help) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

void train_on(Scope& scope, const std::string& path) {
  scope.edited.corpus.source = path;
  scope.edited.corpus.target.clear();
}

void draw_dropped(Scope& scope, const Look& look) {
  if (!scope.dropped_file.empty() && !ImGui::IsPopupOpen("Train on this file?")) {
    ImGui::OpenPopup("Train on this file?");
  }
  center_next_window();
  if (!ImGui::BeginPopupModal("Train on this file?", nullptr, ImGuiWindowFlags_AlwaysAutoResize)) return;
  push_font(look.fonts.mono);
  ImGui::TextUnformatted(scope.dropped_file.c_str());
  pop_font();
  ImGui::PushTextWrapPos(look.px(460));
  ImGui::TextUnformatted(
      "Reset reads it as sentence pairs (source, tab, target), or as running text for a decoder-only model, trains a "
      "tokenizer on them and starts a new model from "
      "random weights. The present weights are gone unless saved.");
  ImGui::PopTextWrapPos();
  ImGui::Spacing();
  bool close = false;
  if (ImGui::Button("Reset and train on it")) {
    train_on(scope, scope.dropped_file);
    if (can_reset(scope)) {
      reset(scope);
      scope.commands.push_back(Train{});
    } else {
      notify(scope, Severity::warning,
             "The file is in the setup; Reset is not possible now. " + config_complaint(scope.edited));
    }
    close = true;
  }
  help_tooltip("Makes corpus, tokenizer and model anew and starts training.", look);
  ImGui::SameLine();
  if (ImGui::Button("Only put it in the setup")) {
    train_on(scope, scope.dropped_file);
    close = true;
  }
  help_tooltip("Change other values first, then Reset.", look);
  ImGui::SameLine();
  if (ImGui::Button("Cancel") || key_pressed(Key::escape)) close = true;
  help_tooltip("Forgets the file.", look);
  if (close) {
    scope.dropped_file.clear();
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

void take_choice(Scope& scope, const std::string& path) {
  switch (scope.browsing) {
    case Browsing::open_run:
      scope.commands.push_back(OpenRun{path});
      break;
    case Browsing::save_run:
      scope.saved_to = path;
      scope.commands.push_back(SaveRun{path});
      break;
    case Browsing::open_corpus:
      scope.dropped_file = path;  // the same question as after dropping it
      break;
    case Browsing::open_target:
      scope.edited.corpus.target = path;
      break;
    case Browsing::open_tokenizer:
      scope.edited.tokenizer.path = path;
      break;
    case Browsing::save_png:
      export_to(scope, ExportKind::png, path);
      break;
    case Browsing::save_svg:
      export_to(scope, ExportKind::svg, path);
      break;
    case Browsing::save_csv:
      export_to(scope, ExportKind::csv, path);
      break;
    case Browsing::save_json:
      export_to(scope, ExportKind::json, path);
      break;
    case Browsing::save_film:
      export_to(scope, ExportKind::film, path);
      break;
    case Browsing::nothing:
      break;
  }
  scope.browsing = Browsing::nothing;
}

}  // namespace

void draw_dialogs(Scope& scope, const Look& look) {
  const auto chosen = draw_browser(scope.browser, scope.commands, look);
  if (chosen) take_choice(scope, *chosen);
  draw_export_dialogs(scope, look);
  draw_dropped(scope, look);
  draw_help(scope, look);
}

}  // namespace attnscope
