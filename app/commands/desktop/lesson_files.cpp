#include "commands/desktop/lesson_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "commands/commands.h"
#include "commands/desktop/experiment_files.h"
#include "commands/paths.h"
#include "files/storage/file.h"
#include "lessons/lesson_text.h"

namespace attnscope {
namespace {

LessonRead read_lesson_file(const std::filesystem::path& file) {
  try {
    return read_lesson(read_file(file, most_lesson_bytes), file.string());
  } catch (const FileError& error) {
    return {{}, {error.what()}};
  }
}

std::vector<std::filesystem::path> lesson_paths() {
  std::vector<std::filesystem::path> paths;
  for (const std::filesystem::path& folder : {asset_folder(), config_folder()}) {
    std::error_code error;  // a missing folder has no lessons
    if (folder.empty()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "lessons", error))
      if (entry.path().extension() == ".lesson") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

LessonFiles find_lessons() {
  LessonFiles files;
  const auto take = [&](LessonRead read, const std::filesystem::path& path) {
    if (read.complaints.empty() && std::ranges::count(files.lessons, read.lesson.name, &Lesson::name) > 0)
      read.complaints.push_back(
          fmt::format("{}:1: another lesson is already named \"{}\"", path.string(), read.lesson.name));
    if (read.complaints.empty()) files.lessons.push_back(std::move(read.lesson));
    files.complaints.insert(files.complaints.end(), read.complaints.begin(), read.complaints.end());
  };
  for (const std::filesystem::path& path : lesson_paths()) take(read_lesson_file(path), path);
  for (const Experiment& experiment : find_experiments().experiments) {
    const std::string path = lesson_file_of(experiment);
    if (!std::filesystem::exists(path)) continue;  // none, or one of those above
    LessonRead read = read_lesson_file(path);
    if (!read.lesson.run) read.lesson.run = experiment.config;
    take(std::move(read), path);
  }
  std::ranges::stable_sort(files.lessons, {}, &Lesson::place);
  return files;
}

std::vector<std::string> check_lesson(const std::filesystem::path& file) {
  return read_lesson_file(file).complaints;
}

int lessons(const LessonsOptions& options) {
  if (options.check.empty()) {
    const LessonFiles files = find_lessons();
    for (const Lesson& lesson : files.lessons)
      fmt::print("{}\t{}\n", lesson.name, fmt::join(lesson.title.by_language, "\t"));
    for (const std::string& complaint : files.complaints) fmt::print(stderr, "{}\n", complaint);
    return files.complaints.empty() ? 0 : 1;
  }
  int status = 0;
  for (const std::string& file : options.check) {
    const std::vector<std::string> complaints = check_lesson(file);
    for (const std::string& complaint : complaints) fmt::print(stderr, "{}\n", complaint);
    if (!complaints.empty()) status = 1;
  }
  return status;
}

}  // namespace attnscope
