#pragma once

#include <string>

namespace attnscope {

// How a window stands to the training elsewhere that it is attached to.
struct Attachment {
  enum class Line { connecting, there, lost, refused };

  std::string to = {};  // "HOST:PORT"
  Line line = Line::connecting;
  std::string why = {};  // lost, refused
  bool control = false;  // the window may train, pause and change what is live
  bool operator==(const Attachment&) const = default;
};

}  // namespace attnscope
