#pragma once

#include <optional>

namespace attnscope {

// Position and size of the window when it is not full-screen, in screen coordinates.
struct WindowPlace {
  struct Point {
    int x = 0, y = 0;
    bool operator==(const Point&) const = default;
  };
  int width = 1440;  // when not maximized
  int height = 900;
  std::optional<Point> corner = {};  // upper left; empty: placed by the desktop, as always on Wayland
  bool maximized = false;
  bool operator==(const WindowPlace&) const = default;
};

}  // namespace attnscope
