// Reads lessons. Whatever bytes are given: a lesson, or what is wrong with it, by file and line.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lessons/lesson.h"

namespace attnscope {

inline constexpr std::size_t most_lesson_bytes = 64 * 1024;
inline constexpr std::size_t most_lesson_entries = 8;  // options, steps, points of a curve: what a page can show

// An expression as it stands in a lesson; throws std::invalid_argument with what is wrong, in a few words.
Expression read_expression(std::string_view text);

struct LessonRead {
  Lesson lesson;
  std::vector<std::string> complaints;  // "kernels.lesson:12: there is no measure \"wieght\""; none: it can be used
};
LessonRead read_lesson(std::string_view text, const std::string& file);

}  // namespace attnscope
