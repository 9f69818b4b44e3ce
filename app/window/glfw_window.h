// The desktop window: GLFW, and its events as Dear ImGui input.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "window/held_events.h"
#include "window/input_queue.h"
#include "window/place.h"

struct GLFWwindow;

namespace attnscope {

// Only one instance at a time.
class GlfwWindow {
 public:
  // Opens the window and makes its OpenGL context current. Throws std::runtime_error with the reason and the features
  // that work without a display.
  explicit GlfwWindow(const WindowPlace& place);
  ~GlfwWindow();
  GlfwWindow(const GlfwWindow&) = delete;
  GlfwWindow& operator=(const GlfwWindow&) = delete;

  // Forwards events to the current Dear ImGui context while it lives.
  class InputConnection {
   public:
    explicit InputConnection(GlfwWindow& window);
    ~InputConnection();
    InputConnection(const InputConnection&) = delete;
    InputConnection& operator=(const InputConnection&) = delete;

   private:
    GlfwWindow& window_;
  };

  // Passes the size, the elapsed time and the input since the last frame to Dear ImGui. Needs an InputConnection.
  void begin_frame();
  void show_frame();

  // Waits for an event or wake(), at most that many seconds.
  void wait(double seconds);
  // May be called from any thread.
  static void wake();
  static double now();

  // True if there was input since the last call.
  bool take_input();
  std::vector<std::string> take_dropped();

  bool close_asked() const;
  // The display connection is lost (X11), or the graphics card has dropped the context. From now on neither this window
  // nor OpenGL may be used, nor the window be closed.
  bool lost() const;
  bool visible() const;  // neither iconified nor of size zero
  float content_scale() const;
  void set_title(const std::string& title);
  void set_fullscreen(bool wanted);
  void hide();
  void show();  // also clears the close request

  // Call while the window is visible. The unmaximized size is known only if it was not maximized since it was opened.
  WindowPlace place() const;

 private:
  struct Library {
    Library();
    ~Library();
  };
  struct Events;  // the GLFW callbacks

  void feed(const InputQueue::Frame& frame);
  void feed_buttons(const InputQueue::Frame& frame);

  using ResetStatus = unsigned (*)();  // glGetGraphicsResetStatusARB; 0: the context is there

  Library library_;
  GLFWwindow* window_ = nullptr;
  ResetStatus reset_status_ = nullptr;  // null: the driver cannot tell
  bool input_ = true;
  InputQueue queue_;
  std::optional<HeldEvents> held_;
  std::array<bool, 3> buttons_{};  // buttons held down, according to the queue entries taken so far
  std::vector<std::string> dropped_;
  WindowPlace opened_;
  bool fullscreen_ = false;
  int restored_[4] = {0, 0, 0, 0};  // position and size before full-screen
};

}  // namespace attnscope
