#include "shell/lessons/writing.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/translation.h"
#include "lessons/lesson_text.h"
#include "messages/messages.h"
#include "shell/app_state.h"

namespace attnscope {
namespace {

constexpr std::string_view text_of_template =
    R"(# Save this file: the window shows it again. Its format: Help, Manual, Lesson format.
# Add fr:, es: and zh: for other languages.
lesson: {}
place: 100
title.en: Where does “it” attend?

[start]
show: glance
sentence: The animal didn't cross the street because it was too tired.
head: encoder 2 2
query: it
lit: workspace

[question]
en: What do you want to find out?

[prediction]
kind: choose
en: What will the reader have to predict?
option.first.en: The animal.
option.first.right: most encoder 2 2 it @ looked = "animal"
option.second.en: The street.
option.second.right: most encoder 2 2 it @ looked = "street"

[step looked]
en: Say what to do, and when it is done.
until: workspace = "attention"
show: head

[check]
en: “it” attends most to “{{most encoder 2 2 it @ looked}}”.

[why]
en: Explain the result.
source: Vaswani et al. 2017, arXiv 1706.03762
)";

// Begins the lesson again, at the part that the writer was reading. Returns false if no lesson can begin now.
bool show_again(AppState& scope, Lesson lesson) {
  std::vector<Lesson>& all = scope.facts.lessons;
  scope.lessons.file->lesson = lesson.name;
  const auto found = std::ranges::find(all, lesson.name, &Lesson::name);
  const auto index = static_cast<std::size_t>(found - all.begin());
  scope.lessons.progress[lesson.name].moments.clear();
  if (found == all.end())
    all.push_back(std::move(lesson));
  else
    *found = std::move(lesson);
  begin_lesson(scope, index);
  return in_lesson(scope);
}

bool is_followed(const AppState& scope, const FileRead& read) {
  return scope.lessons.file && scope.lessons.file->path == read.path;
}

}  // namespace

std::string lesson_template(const std::string& name) {
  return fmt::format(fmt::runtime(text_of_template), name);
}

void preview_lesson(AppState& scope, const std::string& path) {
  scope.lessons.open = true;
  scope.lessons.file.emplace().path = path;
}

void follow_lesson_file(AppState& scope, double now) {
  std::optional<LessonFile>& file = scope.lessons.file;
  if (!scope.lessons.open) file.reset();
  if (!file || now - file->asked_at < 1) return;
  file->asked_at = now;
  scope.commands.emplace_back(ReadFile{file->path, most_lesson_bytes});
}

bool is_lesson(const AppState& scope, const FileRead& read) {
  return is_followed(scope, read) || read.path.ends_with(lesson_extension);
}

void receive_lesson(AppState& scope, const FileRead& read) {
  if (!is_followed(scope, read)) return receive_lesson_of_experiment(scope, read);
  LessonFile& file = *scope.lessons.file;
  if (!read.error.empty()) {
    file.complaints = {read.error};
    return;
  }
  if (file.bytes == read.bytes) return;
  LessonRead found = read_lesson(read.bytes, std::filesystem::path(read.path).filename().string());
  file.complaints = std::move(found.complaints);
  if (!file.complaints.empty() || show_again(scope, std::move(found.lesson))) file.bytes = read.bytes;
}

}  // namespace attnscope
