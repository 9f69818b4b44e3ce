// Lessons as files: the shipped ones and the user's own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lessons/lesson.h"

namespace attnscope {

struct LessonFiles {
  std::vector<Lesson> lessons;          // in display order
  std::vector<std::string> complaints;  // by file and line; a file with an error provides no lesson
};

// All of <assets>/lessons and <settings>/lessons, and those in the folders of experiments.
LessonFiles find_lessons();

// The errors in that file; empty if it is usable.
std::vector<std::string> check_lesson(const std::filesystem::path& file);

}  // namespace attnscope
