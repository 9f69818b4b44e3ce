#include "shell/purposes.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "files/captures/page.h"
#include "shell/captures.h"
#include "shell/comparing.h"
#include "shell/export.h"
#include "shell/lessons/writing.h"
#include "shell/saved_view.h"
#include "shell/sentence.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;  // used only for path arithmetic

struct Row {
  Purpose purpose;
  FileChoice choice;
  void (*take)(AppState&, const std::string& path, bool replace);
  bool (*applies)(const AppState&) = nullptr;          // null: always
  const char* extension = "";                          // of the written file
  std::string (*proposes)(const AppState&) = nullptr;  // suggested name without extension; if set, a new file is
                                                       // created, after confirmation if it exists, or a new run
};

// An autosave continues in its own folder.
void open_run(AppState& scope, const std::string& path, bool) {
  const bool kept = std::ranges::find(scope.autosaves, path, &Autosave::path) != scope.autosaves.end();
  scope.commands.push_back(OpenRun{.path = path, .go_on = kept});
}

void compare_run(AppState& scope, const std::string& path, bool) {
  compare_with_run(scope, path);
}

std::vector<PathOffer> runs_offered(const AppState& scope) {
  std::vector<PathOffer> offers;
  for (const std::string& path : scope.layout.recent_runs)
    offers.push_back({fs::path(path).filename().string(), path, path});
  std::size_t kept = 0;
  for (const Autosave& run : scope.autosaves) {
    if (run.step == 0 || ++kept > max_recent_runs) continue;
    offers.push_back({trf("{}, step {}", run.name, grouped(run.step)),
                      trf("Saved automatically on {0:%F} at {0:%R}, but never by you.", fmt::localtime(run.saved_at)),
                      run.path});
  }
  return offers;
}

void read_view(AppState& scope, const std::string& path, bool) {
  scope.commands.emplace_back(ReadFile{path, most_view_bytes});
}

// Asks the same question as after dropping the file.
void open_corpus(AppState& scope, const std::string& path, bool) {
  scope.dropped_file = path;
}

void read_experiment_file(AppState& scope, const std::string& path, bool) {
  scope.commands.emplace_back(ReadFile{path, most_experiment_bytes});
}

void open_target(AppState& scope, const std::string& path, bool) {
  scope.edited.corpus.target = path;
}

void open_tokenizer(AppState& scope, const std::string& path, bool) {
  scope.edited.tokenizer.path = path;
}

void save_run(AppState& scope, const std::string& path, bool) {
  scope.saved_to = path;
  remember_run(scope, path);
  scope.commands.push_back(SaveRun{path});
}

void open_lesson_file(AppState& scope, const std::string& path, bool) {
  preview_lesson(scope, path);
}

void save_lesson(AppState& scope, const std::string& path, bool replace) {
  scope.commands.push_back(WriteFile{path, lesson_template(fs::path(path).stem().string()), replace});
  preview_lesson(scope, path);
}

std::string workspace_name(const AppState& scope) {
  return std::string(scope.layout.workspace->name);
}

std::string handout_name(const AppState& scope) {
  return in_lesson(scope) ? open_lesson(scope).name : workspace_name(scope);
}

std::string lesson_name(const AppState&) {
  return "my-lesson";
}

// The name of the run's corpus, without folder and extension.
std::string corpus_name(const AppState& scope) {
  return fs::path(scope.a.run.config.corpus.source).stem().string();
}

std::string curves_name(const AppState& scope) {
  return corpus_name(scope) + "-curves";
}

std::string film_name(const AppState&) {
  return tr("film");
}

constexpr FileChoice run_folder = {
    .title = mark("Open a run"),
    .accept = mark("Open"),
    .advice = mark("Choose the folder of a run or of another program's checkpoint, which contains a config.json, or a "
                   "capture, a .safetensors file."),
    .runs = true,
    .extension = capture_extension.data()};
constexpr FileChoice other_run = {.title = mark("Compare with a run"),
                                  .accept = mark("Compare"),
                                  .advice = mark("Opens the run as B, next to the current one."),
                                  .runs = true};
constexpr FileChoice new_run = {.title = mark("Save the run"),
                                .accept = mark("Save"),
                                .advice = mark("Creates a new folder of that name here."),
                                .thing = mark("run"),
                                .runs = true};
constexpr FileChoice text_file = {
    .title = mark("Open a corpus"),
    .accept = mark("Open"),
    .advice = mark("Choose a text file with one sentence pair per line, source and target separated by a tab."),
    .files = true};
constexpr FileChoice new_file = {.title = mark("Save as a file"),
                                 .accept = mark("Save"),
                                 .advice = mark("Creates a file of that name here."),
                                 .thing = mark("file"),
                                 .files = true};
constexpr FileChoice view_file = {
    .title = mark("Open a view"),
    .accept = mark("Open"),
    .advice = mark("Opens a file saved with \u201CSave this view\u201D; its name ends in .attnscope."),
    .files = true,
    .extension = saved_view_extension.data()};
constexpr FileChoice experiment_choice = {.title = mark("Open an experiment"),
                                          .accept = mark("Open"),
                                          .advice = mark("Choose the file experiment.json in the experiment's folder."),
                                          .files = true};
constexpr FileChoice lesson_file = {.title = mark("Preview a lesson"),
                                    .accept = mark("Open"),
                                    .advice = mark("Choose a .lesson file. Whenever it is saved, it is shown again."),
                                    .files = true,
                                    .extension = lesson_extension.data()};
constexpr FileChoice new_film = {
    .title = mark("Save the film"),
    .accept = mark("Save"),
    .advice = mark("Creates a folder of that name here, with one picture per recorded step."),
    .thing = mark("folder")};
constexpr FileChoice new_report = {.title = mark("Save the report"),
                                   .accept = mark("Save"),
                                   .advice = mark("Creates a folder of that name here, with the report as a page."),
                                   .thing = mark("folder")};

constexpr std::array rows = {
    Row{Purpose::open_run, run_folder, open_run},
    Row{Purpose::open_view, view_file, read_view},
    Row{Purpose::compare_run, other_run, compare_run, can_compare},
    Row{Purpose::open_corpus, text_file, open_corpus},
    Row{Purpose::open_experiment, experiment_choice, read_experiment_file},
    Row{Purpose::open_target, text_file, open_target},
    Row{Purpose::open_tokenizer, text_file, open_tokenizer},
    Row{Purpose::open_lesson, lesson_file, open_lesson_file},
    Row{Purpose::save_run, new_run, save_run, has_run, "", corpus_name},
    Row{Purpose::save_view, new_file, save_view, can_save_view, saved_view_extension.data(), workspace_name},
    Row{Purpose::save_png, new_file, order_png, can_take_picture, ".png", workspace_name},
    Row{Purpose::save_svg, new_file, order_svg, can_take_picture, ".svg", workspace_name},
    Row{Purpose::save_handout, new_file, order_handout, can_take_picture, ".html", handout_name},
    Row{Purpose::save_csv, new_file, write_csv, has_numbers, ".csv", numbers_name},
    Row{Purpose::save_curves, new_file, write_curves, has_curves, ".csv", curves_name},
    Row{Purpose::save_json, new_file, write_json, has_numbers, ".json", numbers_name},
    Row{Purpose::save_capture, new_file, save_capture, can_save_capture, capture_extension.data(), capture_name},
    Row{Purpose::save_page, new_file, save_page, can_save_capture, page_extension.data(), capture_name},
    Row{Purpose::save_film, new_film, order_film, can_film, "", film_name},
    Row{Purpose::save_report, new_report, order_report, can_report, "", report_name},
    Row{Purpose::save_lesson, new_file, save_lesson, nullptr, lesson_extension.data(), lesson_name},
};
static_assert(rows.size() == static_cast<std::size_t>(Purpose::save_lesson) + 1);

const Row& row_of(Purpose purpose) {
  return rows[static_cast<std::size_t>(purpose)];
}

std::string with_extension(std::string path, std::string_view extension) {
  return path.ends_with(extension) ? path : path.append(extension);
}

bool is_there(const AppState& scope, const std::string& path) {
  const DirectoryListed& listing = scope.browser.listing;
  const fs::path wanted(path);
  return wanted.parent_path() == fs::path(listing.path) &&
         std::ranges::find(listing.entries, wanted.filename().string(), &DirectoryEntry::name) != listing.entries.end();
}

void take_choice(AppState& scope, const std::string& path) {
  const Row& row = row_of(*scope.purpose);
  const std::string whole = with_extension(path, row.extension);
  if (row.proposes && !row.choice.runs && is_there(scope, whole)) {
    scope.replace_question = {row.purpose, whole};
  } else {
    row.take(scope, whole, false);
  }
}

void draw_question(AppState& scope, const Skin& skin) {
  const char* title = tr_label("Replace the existing file?");
  std::optional<ReplaceQuestion>& question = scope.replace_question;
  if (question && !ImGui::IsPopupOpen(title)) ImGui::OpenPopup(title);
  ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, ImVec2(0.5F, 0.5F));
  if (!ImGui::BeginPopupModal(title, nullptr, ImGuiWindowFlags_AlwaysAutoResize)) return;
  if (!question) {
    ImGui::CloseCurrentPopup();
    return ImGui::EndPopup();
  }
  ImGui::PushTextWrapPos(skin.px(460));
  plain_text(question->path);
  ImGui::TextUnformatted(question->purpose == Purpose::save_film
                             ? tr("This folder already exists. Pictures in it with the same names will be replaced.")
                             : tr("This file already exists."));
  ImGui::PopTextWrapPos();
  ImGui::Spacing();
  const bool replace = ImGui::Button(tr_label("Replace"));
  help_tooltip(tr("Replaces the old file after the new one has been written completely."), skin);
  ImGui::SameLine();
  const bool keep = ImGui::Button(tr_label("Keep it")) || key_pressed(Key::escape);
  help_tooltip(tr("Saves nothing; the existing file stays."), skin);
  if (replace) row_of(question->purpose).take(scope, question->path, true);
  if (replace || keep) {
    question.reset();
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace

bool can_choose(const AppState& scope, Purpose purpose) {
  const Row& row = row_of(purpose);
  return !row.applies || row.applies(scope);
}

void choose(AppState& scope, Purpose purpose) {
  if (!can_choose(scope, purpose)) return;
  const Row& row = row_of(purpose);
  scope.purpose = purpose;
  open_browser(scope.browser, row.choice, "", scope.commands);
  if (purpose == Purpose::open_run) scope.commands.emplace_back(ListAutosaves{});
  if (row.proposes) scope.browser.name = row.proposes(scope) + row.extension;
}

void draw_choosing(AppState& scope, const Skin& skin) {
  if (scope.purpose == Purpose::open_run || scope.purpose == Purpose::compare_run)
    scope.browser.offers = runs_offered(scope);
  const auto chosen = draw_browser(scope.browser, scope.commands, skin);
  if (chosen) take_choice(scope, *chosen);
  if (!scope.browser.open) {
    scope.purpose.reset();
    scope.browser.offers.clear();
  }
  draw_question(scope, skin);
}

}  // namespace attnscope
