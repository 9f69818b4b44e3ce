// Text as Dear ImGui can draw it.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// A text in which the signs above U+FFFF (emoji and rare scripts), which Dear ImGui's signs of 16 bits cannot hold, are
// told by their numbers: "[1F600]". All others would look alike.
class DrawableText {
 public:
  explicit DrawableText(std::string_view text);
  DrawableText(const DrawableText&) = delete;
  DrawableText& operator=(const DrawableText&) = delete;

  const char* begin() const { return text_.data(); }
  const char* end() const { return text_.data() + text_.size(); }

 private:
  std::string replaced_;
  std::string_view text_;  // what was given, or `replaced_`
};

}  // namespace attnscope
