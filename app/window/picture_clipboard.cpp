#include "window/picture_clipboard.h"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/programs.h"

namespace attnscope {
namespace {

struct ClipboardProgram {
  const char* package;  // Debian package
  std::vector<std::string> arguments;
};

bool on_wayland() {
  const char* display = std::getenv("WAYLAND_DISPLAY");
  return display != nullptr && *display != '\0';
}

ClipboardProgram clipboard_program() {
  if (on_wayland()) return {"wl-clipboard", {"wl-copy", "--type", "image/png"}};
  return {"xclip", {"xclip", "-selection", "clipboard", "-target", "image/png"}};
}

}  // namespace

void copy_picture(const std::string& png) {
  ClipboardProgram program = clipboard_program();
  try {
    let_run(start_program(std::move(program.arguments), NamelessFile(png)));
  } catch (const std::system_error& error) {
    throw std::runtime_error(fmt::format("{}. Copying a picture needs the package {}.", error.what(), program.package));
  }
}

}  // namespace attnscope
