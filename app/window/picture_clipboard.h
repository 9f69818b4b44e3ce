// GLFW's clipboard only supports text; pictures go through each desktop's clipboard program.
#pragma once

#include <string>

namespace attnscope {

// Copies a PNG file to the desktop's clipboard with wl-copy on Wayland or xclip on X, without waiting for them. Throws
// std::runtime_error naming the package to install if neither can be started.
void copy_picture(const std::string& png);

}  // namespace attnscope
