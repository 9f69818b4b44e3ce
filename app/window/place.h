#pragma once

#include <optional>

namespace attnscope {

// Where the window stands when it is not full-screen, in screen coordinates.
struct WindowPlace {
  struct Point {
    int x = 0, y = 0;
    bool operator==(const Point&) const = default;
  };
  int width = 1440;  // when it is not maximized
  int height = 900;
  std::optional<Point> corner = {};  // the upper left one; none: wherever the desktop puts it, as always on Wayland
  bool maximized = false;
  bool operator==(const WindowPlace&) const = default;
};

}  // namespace attnscope
