// GLFW's clipboard holds text alone; pictures go through the program that each desktop has for it.
#pragma once

#include <string>

namespace attnscope {

// Puts a PNG file into the desktop's clipboard, by wl-copy on Wayland and xclip on X. It does not wait for them. Throws
// std::runtime_error, naming what is to be installed, where neither can be started.
void copy_picture(const std::string& png);

}  // namespace attnscope
