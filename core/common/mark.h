// Text that the core builds is English. The window translates it where it is drawn: whole, or by its pattern
// (tr_filled in ui/base/translation.h).
#pragma once

namespace attnscope {

// Marks such a text for the catalog: `fmt::format(mark("The model accepts at most {} tokens."), most)`.
constexpr const char* mark(const char* english) {
  return english;
}

}  // namespace attnscope
