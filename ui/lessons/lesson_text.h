// Parses lessons from any bytes: returns a lesson, or its errors with file and line.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lessons/lesson.h"

namespace attnscope {

inline constexpr std::size_t most_lesson_bytes = 64 * 1024;
inline constexpr std::size_t most_lesson_entries = 8;  // of options, steps, points of a curve; limited by the room on a
                                                       // page

// Parses an expression; throws std::invalid_argument with a short reason.
Expression read_expression(std::string_view text);

struct LessonRead {
  Lesson lesson;
  std::vector<std::string> complaints;  // "kernels.lesson:12: there is no measure \"wieght\""; empty: the lesson is
                                        // valid
};
LessonRead read_lesson(std::string_view text, const std::string& file);

}  // namespace attnscope
