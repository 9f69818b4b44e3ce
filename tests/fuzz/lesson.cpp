// A lesson: never an exception, but what is wrong by file and line.
#include "fuzz.h"
#include "lessons/lesson_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  const LessonRead read = read_lesson(fuzz::view(data, size), "it.lesson");
  for (const std::string& complaint : read.complaints) fuzz::require(complaint.starts_with("it.lesson"));
  return 0;
}
