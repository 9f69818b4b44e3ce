#include "window/glfw_window.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cfloat>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/input.h"
#include "window/renderer.h"

namespace attnscope {
namespace {

constexpr const char* without_display =
    "the commands attnscope train, translate, evaluate, attend and screenshot need no display; see attnscope --help";

[[noreturn]] void fail_window(const char* what) {
  const char* reason = nullptr;
  glfwGetError(&reason);
  throw std::runtime_error(
      fmt::format("{}: {}; {}", what, reason == nullptr ? "no reason given" : reason, without_display));
}

// GLFW names keys by their position on a US keyboard, but Ctrl+A means the key labeled A. Dear ImGui's own backend
// translates from 1.87 on.
int key_by_label(int key, int scancode) {
  if (key < GLFW_KEY_SPACE || key > GLFW_KEY_GRAVE_ACCENT) return key;
  const char* label = glfwGetKeyName(key, scancode);
  if (label == nullptr || label[0] == '\0' || label[1] != '\0') return key;
  constexpr std::string_view marks = "`-=[]\\,;'./";
  constexpr int keys[] = {GLFW_KEY_GRAVE_ACCENT,  GLFW_KEY_MINUS,     GLFW_KEY_EQUAL, GLFW_KEY_LEFT_BRACKET,
                          GLFW_KEY_RIGHT_BRACKET, GLFW_KEY_BACKSLASH, GLFW_KEY_COMMA, GLFW_KEY_SEMICOLON,
                          GLFW_KEY_APOSTROPHE,    GLFW_KEY_PERIOD,    GLFW_KEY_SLASH};
  const char c = label[0];
  if (c >= '0' && c <= '9') return GLFW_KEY_0 + (c - '0');
  if (c >= 'a' && c <= 'z') return GLFW_KEY_A + (c - 'a');
  if (c >= 'A' && c <= 'Z') return GLFW_KEY_A + (c - 'A');
  if (const auto mark = marks.find(c); mark != std::string_view::npos) return keys[mark];
  return key;
}

// ---- loss of the display

volatile bool display_lost = false;  // Xlib may detect it on any thread

// Xlib terminates the process when its server is gone, so nothing could be saved. Its functions are looked up where
// GLFW loaded them: Wayland has none, and older versions cannot be prevented from exiting.
void outlive_display() {
  using Display = void*;
  using ErrorHandler = int (*)(Display);
  using ExitHandler = void (*)(Display, void*);
  const auto display_of_glfw = reinterpret_cast<Display (*)()>(dlsym(RTLD_DEFAULT, "glfwGetX11Display"));
  const auto set_handler = reinterpret_cast<ErrorHandler (*)(ErrorHandler)>(dlsym(RTLD_DEFAULT, "XSetIOErrorHandler"));
  const auto set_exit =
      reinterpret_cast<void (*)(Display, ExitHandler, void*)>(dlsym(RTLD_DEFAULT, "XSetIOErrorExitHandler"));
  const Display display = display_of_glfw ? display_of_glfw() : nullptr;
  if (!display || !set_handler || !set_exit) return;
  set_handler([](Display) {
    display_lost = true;
    return 0;
  });
  set_exit(
      display, [](Display, void*) {}, nullptr);
}

}  // namespace

// Installed before Dear ImGui's callbacks, which call these in turn.
struct GlfwWindow::Events {
  static GlfwWindow& of(GLFWwindow* window) { return *static_cast<GlfwWindow*>(glfwGetWindowUserPointer(window)); }
  static void input(GLFWwindow* window) { of(window).input_ = true; }

  static void install(GLFWwindow* window) {
    glfwSetKeyCallback(window, [](GLFWwindow* w, int, int, int, int) { input(w); });
    glfwSetCharCallback(window, [](GLFWwindow* w, unsigned) { input(w); });
    glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int, int, int) { input(w); });
    glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { input(w); });
    glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { input(w); });
    glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { input(w); });
    glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { input(w); });
    glfwSetWindowSizeCallback(window, [](GLFWwindow* w, int, int) { input(w); });
    glfwSetWindowIconifyCallback(window, [](GLFWwindow* w, int) { input(w); });
    glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { input(w); });
    glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { input(w); });
    glfwSetWindowCloseCallback(window, [](GLFWwindow* w) { input(w); });
    glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
      input(w);
      of(w).dropped_.insert(of(w).dropped_.end(), paths, paths + count);
    });
  }

  static void queue_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
    input(window);
    if (key != GLFW_KEY_UNKNOWN && action != GLFW_REPEAT)  // Dear ImGui generates repeats itself
      of(window).queue_.push({.key = InputQueue::Key{key_by_label(key, scancode), scancode, action, mods}});
  }

  static void queue_character(GLFWwindow* window, unsigned character) {
    input(window);
    of(window).queue_.push({.character = character});
  }

  static void queue_button(GLFWwindow* window, int button, int action, int) {
    input(window);
    if (button < 0 || button >= static_cast<int>(of(window).buttons_.size())) return;
    InputQueue::Button queued{.button = button, .down = action == GLFW_PRESS};
    glfwGetCursorPos(window, &queued.x, &queued.y);
    of(window).queue_.push({.button = queued});
  }
};

GlfwWindow::Library::Library() {
  keep_gl_drivers_apart_from_torch();
  if (!glfwInit()) fail_window("cannot open a window here");
}

GlfwWindow::Library::~Library() {
  glfwTerminate();
}

namespace {

struct Area {
  int left = 0, top = 0, width = 0, height = 0;
};

Area work_area(GLFWmonitor* monitor) {
  Area area;
  if (monitor != nullptr) glfwGetMonitorWorkarea(monitor, &area.left, &area.top, &area.width, &area.height);
  return area;
}

// Limits the size to the screen: without a window manager, the edges of a larger window would be unreachable.
WindowPlace fitting(WindowPlace wanted) {
  const Area area = work_area(glfwGetPrimaryMonitor());
  if (area.width <= 0 || area.height <= 0) return wanted;
  wanted.width = std::min(wanted.width, area.width);
  wanted.height = std::min(wanted.height, area.height);
  return wanted;
}

// A screen may have been disconnected since: the window would open out of reach.
bool is_on_a_screen(WindowPlace::Point point) {
  int count = 0;
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  return std::any_of(monitors, monitors + count, [&](GLFWmonitor* monitor) {
    const Area area = work_area(monitor);
    return point.x >= area.left && point.x < area.left + area.width && point.y >= area.top &&
           point.y < area.top + area.height;
  });
}

}  // namespace

GlfwWindow::GlfwWindow(const WindowPlace& place) : opened_(fitting(place)) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_LOSE_CONTEXT_ON_RESET);  // where the driver can: lost() tells
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "attnscope");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "attnscope");
  glfwWindowHint(GLFW_MAXIMIZED, place.maximized ? GLFW_TRUE : GLFW_FALSE);
  window_ = glfwCreateWindow(opened_.width, opened_.height, "attnscope", nullptr, nullptr);
  if (window_ == nullptr) fail_window("cannot open a window with OpenGL 3.0");
  if (place.corner && !place.maximized && is_on_a_screen(*place.corner))
    glfwSetWindowPos(window_, place.corner->x, place.corner->y);
  glfwSetWindowSizeLimits(window_, 640, 400, GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwSetWindowUserPointer(window_, this);
  Events::install(window_);
  outlive_display();
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
  reset_status_ = reinterpret_cast<ResetStatus>(glfwGetProcAddress("glGetGraphicsResetStatusARB"));
}

GlfwWindow::~GlfwWindow() {
  glfwDestroyWindow(window_);
}

GlfwWindow::InputConnection::InputConnection(GlfwWindow& window) : window_(window) {
  ImGui_ImplGlfw_InitForOpenGL(window.window_, true);
  window.held_.emplace();
#if IMGUI_VERSION_NUM < 18700
  glfwSetKeyCallback(window.window_, Events::queue_key);
  glfwSetCharCallback(window.window_, Events::queue_character);
  glfwSetMouseButtonCallback(window.window_, Events::queue_button);
#endif
}

GlfwWindow::InputConnection::~InputConnection() {
  window_.held_.reset();
  ImGui_ImplGlfw_Shutdown();
}

#if IMGUI_VERSION_NUM < 18700

void GlfwWindow::begin_frame() {
  // The next frame's text input state; WantTextInput itself is one frame older.
  const bool typing = ImGui::GetCurrentContext()->WantTextInputNextFrame == 1;
  const InputQueue::Frame frame = queue_.take(typing);
  feed(frame);
  ImGui_ImplGlfw_NewFrame();
  feed_buttons(frame);
  input_ = input_ || !queue_.empty();
}

void GlfwWindow::feed(const InputQueue::Frame& frame) {
  for (const InputQueue::Key& key : frame.keys)
    ImGui_ImplGlfw_KeyCallback(window_, key.key, key.scancode, key.action, key.mods);
  for (const unsigned character : frame.characters) ImGui_ImplGlfw_CharCallback(window_, character);
}

// The backend reads the current button state; this restores the state and mouse position of the queued events.
void GlfwWindow::feed_buttons(const InputQueue::Frame& frame) {
  ImGuiIO& io = ImGui::GetIO();
  if (frame.button) {
    buttons_[static_cast<std::size_t>(frame.button->button)] = frame.button->down;
    io.MousePos = {static_cast<float>(frame.button->x), static_cast<float>(frame.button->y)};
  }
  std::ranges::copy(buttons_, io.MouseDown);
}

#else

void GlfwWindow::begin_frame() {
  ImGui_ImplGlfw_NewFrame();
  // Over the window decorations that we draw on Wayland, the mouse is reported where it left the content area.
  const bool is_there = glfwGetWindowAttrib(window_, GLFW_HOVERED) == GLFW_TRUE || ImGui::IsAnyMouseDown();
  if (!is_there) feed_mouse(ImGui::GetIO(), {-FLT_MAX, -FLT_MAX});
}

#endif

void GlfwWindow::show_frame() {
  glfwSwapBuffers(window_);
}

void GlfwWindow::wait(double seconds) {
  if (seconds > 0) {
    glfwWaitEventsTimeout(seconds);
  } else {
    glfwPollEvents();
  }
}

void GlfwWindow::wake() {
  if (!display_lost) glfwPostEmptyEvent();
}

double GlfwWindow::now() {
  return glfwGetTime();
}

bool GlfwWindow::take_input() {
  return std::exchange(input_, false) || (held_ && !held_->empty());
}

std::vector<std::string> GlfwWindow::take_dropped() {
  return std::exchange(dropped_, {});
}

bool GlfwWindow::close_asked() const {
  return glfwWindowShouldClose(window_) != 0;
}

bool GlfwWindow::lost() const {
  return display_lost || (reset_status_ != nullptr && reset_status_() != 0);
}

bool GlfwWindow::visible() const {
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  return width > 0 && height > 0 && glfwGetWindowAttrib(window_, GLFW_ICONIFIED) == 0;
}

// If the framebuffer is finer than window coordinates (Wayland), Dear ImGui scales accordingly itself.
float GlfwWindow::content_scale() const {
  float scale = 1;
  glfwGetWindowContentScale(window_, &scale, nullptr);
  int pixels = 0;
  int units = 0;
  glfwGetFramebufferSize(window_, &pixels, nullptr);
  glfwGetWindowSize(window_, &units, nullptr);
  if (pixels > 0 && units > 0) scale *= static_cast<float>(units) / static_cast<float>(pixels);
  return scale > 0 ? scale : 1;
}

void GlfwWindow::set_title(const std::string& title) {
  glfwSetWindowTitle(window_, title.c_str());
}

void GlfwWindow::set_fullscreen(bool wanted) {
  if (wanted == fullscreen_) return;
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* mode = monitor == nullptr ? nullptr : glfwGetVideoMode(monitor);
  if (mode == nullptr) return;
  auto& [x, y, width, height] = restored_;
  if (wanted) {
    glfwGetWindowPos(window_, &x, &y);
    glfwGetWindowSize(window_, &width, &height);
    glfwSetWindowMonitor(window_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
  } else {
    glfwSetWindowMonitor(window_, nullptr, x, y, width, height, GLFW_DONT_CARE);
  }
  fullscreen_ = wanted;
}

void GlfwWindow::hide() {
  glfwHideWindow(window_);
}

void GlfwWindow::show() {
  glfwSetWindowShouldClose(window_, GLFW_FALSE);
  glfwShowWindow(window_);
  input_ = true;
}

WindowPlace GlfwWindow::place() const {
  if (fullscreen_) return {restored_[2], restored_[3], WindowPlace::Point{restored_[0], restored_[1]}};
  WindowPlace place = opened_;
  place.maximized = glfwGetWindowAttrib(window_, GLFW_MAXIMIZED) != 0;
  if (place.maximized) return place;
  glfwGetWindowSize(window_, &place.width, &place.height);
  while (glfwGetError(nullptr) != GLFW_NO_ERROR) {
  }
  WindowPlace::Point corner;
  glfwGetWindowPos(window_, &corner.x, &corner.y);
  place.corner.reset();
  if (glfwGetError(nullptr) == GLFW_NO_ERROR) place.corner = corner;  // not available on Wayland
  return place;
}

}  // namespace attnscope
