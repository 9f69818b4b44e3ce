#include "shell/experiments.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/input.h"
#include "base/translation.h"
#include "lessons/lesson_text.h"
#include "shell/app_state.h"
#include "shell/purposes.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr const char* gallery = mark("Experiments");

// Returns true if the experiment was begun.
bool draw_card(AppState& scope, const Experiment& experiment, float width, float height, const Skin& skin) {
  const Language language = language_of(scope);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, skin.theme.background);
  ImGui::BeginChild(experiment.name.c_str(), {width, height}, true, ImGuiWindowFlags_NoScrollbar);
  ImGui::PopStyleColor();
  bold_text(experiment.title.in(language), skin);
  dim_text(experiment.duration.in(language), skin);
  ImGui::PushTextWrapPos(0);
  plain_text(experiment.text.in(language));
  small_text(skin.theme.text_dim, experiment.figure, skin);
  ImGui::PopTextWrapPos();
  const float bottom = ImGui::GetWindowHeight() - ImGui::GetFrameHeight() - ImGui::GetStyle().WindowPadding.y;
  ImGui::SetCursorPosY(std::max(ImGui::GetCursorPosY(), bottom));
  const bool learning = in_lesson(scope);
  ImGui::BeginDisabled(!may_replace(scope) || learning);
  const bool begun = ImGui::Button(tr_label("Train"));
  ImGui::EndDisabled();
  help_tooltip(learning             ? tr("Leave the lesson first: it then restores your run.")
               : may_replace(scope) ? tr("Starts a new model with this experiment's settings and opens its view. The "
                                       "current run is kept; Undo returns to it.")
                                  : tr(only_where_it_trains),
               skin);
  const auto lesson = std::ranges::find(scope.facts.lessons, experiment.lesson, &Lesson::name);
  bool taught = false;
  if (lesson != scope.facts.lessons.end()) {
    ImGui::SameLine(0, skin.px(6));
    taught = ImGui::Button(tr_label("Lesson"));
    help_tooltip(lesson->title.in(language), skin);
  }
  ImGui::EndChild();
  if (begun) begin_experiment(scope, experiment);
  if (taught) begin_lesson(scope, static_cast<std::size_t>(lesson - scope.facts.lessons.begin()));
  return begun || taught;
}

// The height that the tallest card needs.
float card_height(const AppState& scope, float width, const Skin& skin) {
  const Language language = language_of(scope);
  const float inner = width - 2 * ImGui::GetStyle().WindowPadding.x;
  float tallest = 0;
  for (const Experiment& experiment : scope.facts.experiments) {
    float height = 0;
    for (const std::string& text : {experiment.text.in(language), experiment.figure})
      height += ImGui::CalcTextSize(text.c_str(), nullptr, false, inner).y;
    tallest = std::max(tallest, height);
  }
  return tallest + 2 * ImGui::GetTextLineHeightWithSpacing() + ImGui::GetFrameHeight() + skin.px(36);
}

}  // namespace

void begin_experiment(AppState& scope, const Experiment& experiment) {
  scope.edited = experiment.config;
  scope.edited.training.threads = scope.a.run.config.training.threads;
  if (!can_reset(scope)) {
    notify(scope, Severity::warning,
           tr("The experiment was entered in the setup, but Reset is not possible now. ") +
               config_complaint(scope.edited));
    return;
  }
  reset(scope);
  scope.commands.emplace_back(Train{});
  if (!experiment.sentence.empty()) set_sentence(scope, experiment.sentence);
  if (const Workspace* workspace = show_view(scope.views, experiment.view)) scope.layout.workspace = workspace;
  scope.layout.curves_open = true;
}

bool is_experiment(const FileRead& read) {
  return std::filesystem::path(read.path).filename() == experiment_file;
}

void receive_experiment(AppState& scope, const FileRead& read) {
  if (!read.error.empty())
    return void(notify(scope, Severity::error, trf("The experiment could not be opened: {}", read.error)));
  ExperimentRead found = read_experiment(read.bytes, read.path);
  if (!found.complaint.empty())
    return void(notify(scope, Severity::error, trf("The experiment could not be opened: {}", found.complaint)));
  std::vector<Experiment>& all = scope.facts.experiments;
  if (!found.experiment.lesson.empty())
    scope.commands.emplace_back(ReadFile{lesson_file_of(found.experiment), most_lesson_bytes});
  const auto before = std::ranges::find(all, found.experiment.name, &Experiment::name);
  if (before != all.end() && lesson_file_of(*before) == lesson_file_of(found.experiment)) {
    found.experiment.lesson = before->lesson;
    found.experiment.has_own_lesson = before->has_own_lesson;
  }
  if (before != all.end()) all.erase(before);
  all.push_back(std::move(found.experiment));
  scope.experiments.asked = true;
}

void receive_lesson_of_experiment(AppState& scope, const FileRead& read) {
  const auto experiment = std::ranges::find(scope.facts.experiments, read.path, lesson_file_of);
  if (experiment == scope.facts.experiments.end()) return;  // a preview that was left
  const auto is_known = [&](const std::string& name) {
    return std::ranges::count(scope.facts.lessons, name, &Lesson::name) > 0;
  };
  const bool is_of_program = is_known(experiment->lesson) && !experiment->has_own_lesson;
  if (!read.error.empty() && is_of_program) return;
  LessonRead found = read_lesson(read.bytes, read.path);
  if (!read.error.empty()) found.complaints = {read.error};
  for (const std::string& complaint : found.complaints) notify(scope, Severity::warning, complaint);
  if (!found.complaints.empty()) return;
  if (!found.lesson.run) found.lesson.run = experiment->config;
  if (is_of_program) experiment->lesson = experiment->name + "/" + experiment->lesson;
  found.lesson.name = experiment->lesson;
  experiment->has_own_lesson = true;
  const auto before = std::ranges::find(scope.facts.lessons, found.lesson.name, &Lesson::name);
  if (before != scope.facts.lessons.end())
    *before = std::move(found.lesson);
  else
    scope.facts.lessons.push_back(std::move(found.lesson));
}

void draw_experiments(AppState& scope, const Skin& skin) {
  if (std::exchange(scope.experiments.asked, false)) ImGui::OpenPopup(tr_label(gallery));
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
  const float width = std::min(skin.px(940), viewport.WorkSize.x * 0.96F);
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width, viewport.WorkSize.y * 0.94F});
  if (!ImGui::BeginPopupModal(tr_label(gallery), nullptr,
                              ImGuiWindowFlags_NoResize | ImGuiWindowFlags_AlwaysAutoResize))
    return;
  dim_text(tr("Known results to watch on this computer. Each starts from random weights."), skin);
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const int columns = width > skin.px(700) ? 3 : 2;
  const float card = std::floor((ImGui::GetContentRegionAvail().x - static_cast<float>(columns - 1) * gap) /
                                static_cast<float>(columns));
  const float height = card_height(scope, card, skin);
  bool close = false;
  for (std::size_t i = 0; i < scope.facts.experiments.size(); ++i) {
    if (i % static_cast<std::size_t>(columns) != 0) ImGui::SameLine(0, gap);
    const Experiment experiment = scope.facts.experiments[i];  // a copy: beginning it may change the facts
    close |= draw_card(scope, experiment, card, height, skin);
  }
  const bool other = ImGui::Button(tr_label("Open folder…"));
  help_tooltip(tr("Adds an experiment of your own: the file experiment.json in its folder."), skin);
  ImGui::SameLine(0, skin.px(8));
  close |= ImGui::Button(tr_label("Close")) || key_pressed(Key::escape);
  if (close || other) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
  if (other) choose(scope, Purpose::open_experiment);
}

}  // namespace attnscope
