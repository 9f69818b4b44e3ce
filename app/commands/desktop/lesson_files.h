// Lessons as files: those that came with the program, and the user's own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lessons/lesson.h"

namespace attnscope {

struct LessonFiles {
  std::vector<Lesson> lessons;          // in their order
  std::vector<std::string> complaints;  // by file and line; a file with one brings no lesson
};

// All of <assets>/lessons and <settings>/lessons.
LessonFiles find_lessons();

// What is wrong with that file; nothing: it can be used.
std::vector<std::string> check_lesson(const std::filesystem::path& file);

}  // namespace attnscope
