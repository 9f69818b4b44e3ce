#pragma once

#include <string>

namespace attnscope {

// The installed page.html (files/captures/page.h); empty if it cannot be read.
std::string read_page_template();

}  // namespace attnscope
