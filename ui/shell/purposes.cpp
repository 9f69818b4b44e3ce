#include "shell/purposes.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/input.h"
#include "shell/export.h"
#include "widgets/tooltip.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;  // paths as text alone

struct Row {
  Purpose purpose;
  FileChoice choice;
  const char* extension = "";                       // of what is written
  bool (*applies)(const Scope&) = nullptr;          // null: always
  std::string (*proposes)(const Scope&) = nullptr;  // a name to begin with, without the extension
  void (*take)(Scope&, const std::string& path, bool replace);
  bool asks = false;  // before what is there is replaced
};

void open_run(Scope& scope, const std::string& path, bool) {
  scope.commands.push_back(OpenRun{path});
}

// The same question as after dropping it.
void open_corpus(Scope& scope, const std::string& path, bool) {
  scope.dropped_file = path;
}

void open_target(Scope& scope, const std::string& path, bool) {
  scope.edited.corpus.target = path;
}

void open_tokenizer(Scope& scope, const std::string& path, bool) {
  scope.edited.tokenizer.path = path;
}

void save_run(Scope& scope, const std::string& path, bool) {
  scope.saved_to = path;
  scope.commands.push_back(SaveRun{path});
}

bool has_run(const Scope& scope) {
  return scope.run.run != 0;
}

std::string workspace_name(const Scope& scope) {
  return std::string(scope.layout.workspace->name);
}

std::string film_name(const Scope&) {
  return "film";
}

constexpr FileChoice text_file = {
    .title = "Open a corpus",
    .accept = "Open",
    .advice = "A text file with a sentence pair a line, source and target parted by a tab.",
    .files = true};
constexpr FileChoice new_file = {.title = "Save as a file",
                                 .accept = "Save",
                                 .advice = "A file of that name is made here.",
                                 .thing = "file",
                                 .files = true};

constexpr std::array rows = {
    Row{.purpose = Purpose::open_run,
        .choice =
            {.title = "Open a run", .accept = "Open", .advice = "A run is a folder with a config.json.", .runs = true},
        .take = open_run},
    Row{.purpose = Purpose::open_corpus, .choice = text_file, .take = open_corpus},
    Row{.purpose = Purpose::open_target, .choice = text_file, .take = open_target},
    Row{.purpose = Purpose::open_tokenizer, .choice = text_file, .take = open_tokenizer},
    Row{.purpose = Purpose::save_run,
        .choice = {.title = "Save the run",
                   .accept = "Save",
                   .advice = "A new folder of that name is made here.",
                   .thing = "run",
                   .runs = true},
        .applies = has_run,
        .take = save_run},
    Row{.purpose = Purpose::save_png,
        .choice = new_file,
        .extension = ".png",
        .applies = can_take_picture,
        .proposes = workspace_name,
        .take = order_png,
        .asks = true},
    Row{.purpose = Purpose::save_svg,
        .choice = new_file,
        .extension = ".svg",
        .applies = can_take_picture,
        .proposes = workspace_name,
        .take = order_svg,
        .asks = true},
    Row{.purpose = Purpose::save_csv,
        .choice = new_file,
        .extension = ".csv",
        .applies = has_numbers,
        .proposes = numbers_name,
        .take = write_csv,
        .asks = true},
    Row{.purpose = Purpose::save_json,
        .choice = new_file,
        .extension = ".json",
        .applies = has_numbers,
        .proposes = numbers_name,
        .take = write_json,
        .asks = true},
    Row{.purpose = Purpose::save_film,
        .choice = {.title = "Save the film",
                   .accept = "Save",
                   .advice = "A folder of that name is made here, with a picture a recorded step.",
                   .thing = "folder"},
        .applies = can_film,
        .proposes = film_name,
        .take = order_film,
        .asks = true},
};
static_assert(rows.size() == static_cast<std::size_t>(Purpose::save_film) + 1);

const Row& row_of(Purpose purpose) {
  return rows[static_cast<std::size_t>(purpose)];
}

std::string with_extension(std::string path, std::string_view extension) {
  return path.ends_with(extension) ? path : path.append(extension);
}

bool is_there(const Scope& scope, const std::string& path) {
  const DirectoryListed& listing = scope.browser.listing;
  const fs::path wanted(path);
  return wanted.parent_path() == fs::path(listing.path) &&
         std::ranges::find(listing.entries, wanted.filename().string(), &DirectoryEntry::name) != listing.entries.end();
}

void take_choice(Scope& scope, const std::string& path) {
  const Row& row = row_of(*scope.purpose);
  const std::string whole = with_extension(path, row.extension);
  if (row.asks && is_there(scope, whole)) {
    scope.replace_question = {row.purpose, whole};
  } else {
    row.take(scope, whole, false);
  }
}

void draw_question(Scope& scope, const Skin& skin) {
  constexpr const char* title = "Replace what is there?";
  std::optional<ReplaceQuestion>& question = scope.replace_question;
  if (question && !ImGui::IsPopupOpen(title)) ImGui::OpenPopup(title);
  ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, ImVec2(0.5F, 0.5F));
  if (!ImGui::BeginPopupModal(title, nullptr, ImGuiWindowFlags_AlwaysAutoResize)) return;
  if (!question) {
    ImGui::CloseCurrentPopup();
    return ImGui::EndPopup();
  }
  ImGui::PushTextWrapPos(skin.px(460));
  ImGui::TextUnformatted(question->path.c_str());
  ImGui::TextUnformatted(question->purpose == Purpose::save_film
                             ? "This folder is there already. Pictures in it that have a film's names are replaced."
                             : "This file is there already.");
  ImGui::PopTextWrapPos();
  ImGui::Spacing();
  const bool replace = ImGui::Button("Replace");
  help_tooltip("The old file is gone once the new one is written whole.", skin);
  ImGui::SameLine();
  const bool keep = ImGui::Button("Keep it") || key_pressed(Key::escape);
  help_tooltip("Writes nothing.", skin);
  if (replace) row_of(question->purpose).take(scope, question->path, true);
  if (replace || keep) {
    question.reset();
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace

bool can_choose(const Scope& scope, Purpose purpose) {
  const Row& row = row_of(purpose);
  return !row.applies || row.applies(scope);
}

void choose(Scope& scope, Purpose purpose) {
  if (!can_choose(scope, purpose)) return;
  const Row& row = row_of(purpose);
  scope.purpose = purpose;
  open_browser(scope.browser, row.choice, "", scope.commands);
  if (row.proposes) scope.browser.name = row.proposes(scope) + row.extension;
}

void draw_choosing(Scope& scope, const Skin& skin) {
  const auto chosen = draw_browser(scope.browser, scope.commands, skin);
  if (chosen) take_choice(scope, *chosen);
  if (!scope.browser.open) scope.purpose.reset();
  draw_question(scope, skin);
}

}  // namespace attnscope
