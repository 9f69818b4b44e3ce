#include "window/glfw_window.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "window/renderer.h"

namespace attnscope {
namespace {

constexpr const char* without_display =
    "the commands that need no display are in attnscope --help: train, translate, evaluate, attend, screenshot";

[[noreturn]] void fail(const char* what) {
  const char* reason = nullptr;
  glfwGetError(&reason);
  throw std::runtime_error(
      fmt::format("{}: {}; {}", what, reason == nullptr ? "no reason given" : reason, without_display));
}

// GLFW names keys by where they are on a US keyboard; Ctrl+A is the key that has an A on it. Dear ImGui's own backend
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
    if (key != GLFW_KEY_UNKNOWN) of(window).typed_.push_back({key_by_label(key, scancode), scancode, action, mods, 0});
  }

  static void queue_character(GLFWwindow* window, unsigned character) {
    input(window);
    of(window).typed_.push_back({0, 0, 0, 0, character});
  }
};

GlfwWindow::Library::Library() {
  keep_gl_drivers_apart_from_torch();
  if (!glfwInit()) fail("no window can be opened here");
}

GlfwWindow::Library::~Library() {
  glfwTerminate();
}

GlfwWindow::GlfwWindow(int width, int height) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "attnscope");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "attnscope");
  window_ = glfwCreateWindow(width, height, "attnscope", nullptr, nullptr);
  if (window_ == nullptr) fail("the window could not be opened with OpenGL 3.0");
  glfwSetWindowSizeLimits(window_, 640, 400, GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwSetWindowUserPointer(window_, this);
  Events::install(window_);
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
}

GlfwWindow::~GlfwWindow() {
  glfwDestroyWindow(window_);
}

GlfwWindow::InputConnection::InputConnection(GlfwWindow& window) {
  ImGui_ImplGlfw_InitForOpenGL(window.window_, true);
#if IMGUI_VERSION_NUM < 18700
  glfwSetKeyCallback(window.window_, Events::queue_key);
  glfwSetCharCallback(window.window_, Events::queue_character);
#endif
}

GlfwWindow::InputConnection::~InputConnection() {
  ImGui_ImplGlfw_Shutdown();
}

void GlfwWindow::begin_frame() {
  feed_typed();
  ImGui_ImplGlfw_NewFrame();
}

// Dear ImGui sees before 1.87 only how the keys stand when a frame begins, so a key pressed and released between two
// slow frames would be lost, and what is typed after Ctrl+A would come before it. A frame takes releases, then presses
// of other keys with their characters; what comes next waits for the next frame.
void GlfwWindow::feed_typed() {
  bool pressed = false;
  std::set<int> released;
  while (!typed_.empty()) {
    const Typed typed = typed_.front();
    const bool release = typed.key != 0 && typed.action == GLFW_RELEASE;
    if (release ? pressed : released.contains(typed.key)) break;
    pressed = pressed || !release;
    if (release) released.insert(typed.key);
    typed_.pop_front();
    if (typed.key == 0) {
      ImGui_ImplGlfw_CharCallback(window_, typed.character);
    } else {
      ImGui_ImplGlfw_KeyCallback(window_, typed.key, typed.scancode, typed.action, typed.mods);
    }
  }
  input_ = input_ || !typed_.empty();
}

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
  glfwPostEmptyEvent();
}

double GlfwWindow::now() {
  return glfwGetTime();
}

bool GlfwWindow::take_input() {
  return std::exchange(input_, false);
}

std::vector<std::string> GlfwWindow::take_dropped() {
  return std::exchange(dropped_, {});
}

bool GlfwWindow::close_asked() const {
  return glfwWindowShouldClose(window_) != 0;
}

bool GlfwWindow::visible() const {
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  return width > 0 && height > 0 && glfwGetWindowAttrib(window_, GLFW_ICONIFIED) == 0;
}

// Where the framebuffer is finer than the window's coordinates (Wayland), Dear ImGui scales by that itself.
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

GlfwWindow::Size GlfwWindow::size() const {
  if (fullscreen_) return {restored_[2], restored_[3]};
  Size size;
  glfwGetWindowSize(window_, &size.width, &size.height);
  return size;
}

}  // namespace attnscope
