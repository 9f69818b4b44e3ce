// The window of the desktop: GLFW and its events, with Dear ImGui's input fed from them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "window/input_queue.h"
#include "window/place.h"

struct GLFWwindow;

namespace attnscope {

// One at a time.
class GlfwWindow {
 public:
  // Opens the window and makes its OpenGL context current. Throws std::runtime_error saying why it cannot and what
  // works without a display.
  explicit GlfwWindow(const WindowPlace& place);
  ~GlfwWindow();
  GlfwWindow(const GlfwWindow&) = delete;
  GlfwWindow& operator=(const GlfwWindow&) = delete;

  // Events go to the present Dear ImGui context as long as this stands.
  class InputConnection {
   public:
    explicit InputConnection(GlfwWindow& window);
    ~InputConnection();
    InputConnection(const InputConnection&) = delete;
    InputConnection& operator=(const InputConnection&) = delete;
  };

  // Tells Dear ImGui the size, the time passed and the input since the last frame. Needs an InputConnection.
  void begin_frame();
  void show_frame();

  // Until an event or wake(), at most that many seconds.
  void wait(double seconds);
  // May be called from any thread.
  static void wake();
  static double now();

  // What happened since the last call.
  bool take_input();
  std::vector<std::string> take_dropped();

  bool close_asked() const;
  // The display has gone (X11). What is left to do must not ask it for anything: neither this window nor OpenGL may be
  // used any more, nor be closed.
  bool lost() const;
  bool visible() const;  // neither iconified nor without size
  float content_scale() const;
  void set_title(const std::string& title);
  void set_fullscreen(bool wanted);
  void hide();
  void show();  // and is no longer asked to close

  // Of a window that is shown. Its size as it was not maximized is known only if it has not been since it was opened.
  WindowPlace place() const;

 private:
  struct Library {
    Library();
    ~Library();
  };
  struct Events;  // the callbacks GLFW calls

  void feed(const InputQueue::Frame& frame);
  void feed_buttons(const InputQueue::Frame& frame);

  Library library_;
  GLFWwindow* window_ = nullptr;
  bool input_ = true;
  InputQueue queue_;
  std::array<bool, 3> buttons_{};  // that are down, as far as the queue has been taken
  std::vector<std::string> dropped_;
  WindowPlace opened_;
  bool fullscreen_ = false;
  int restored_[4] = {0, 0, 0, 0};  // position and size before going full-screen
};

}  // namespace attnscope
