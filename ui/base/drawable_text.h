// Converts text to what Dear ImGui can draw.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// Returns true if the text has letters of a script that is written from right to left.
bool is_bidirectional(std::string_view text);

// Returns true if the text is drawn in another order or in other forms than its characters have.
bool changes_when_drawn(std::string_view text);

// The lines of a bidirectional text as they are drawn from left to right (UAX #9), Arabic letters in the forms that
// join.
std::string visual_order(std::string_view text);

// A text in visual_order and shaped (shaping.h), in which every character above U+FFFF (emoji, rare scripts) is
// replaced by its code point:
// "[1F600]". Dear ImGui's 16-bit glyphs cannot represent these characters and would draw all of them the same.
class DrawableText {
 public:
  explicit DrawableText(std::string_view text);
  DrawableText(const DrawableText&) = delete;
  DrawableText& operator=(const DrawableText&) = delete;

  const char* begin() const { return text_.data(); }
  const char* end() const { return text_.data() + text_.size(); }

 private:
  std::string replaced_;
  std::string_view text_;  // the given text, or `replaced_`
};

}  // namespace attnscope
