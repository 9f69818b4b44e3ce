// The folder of the files that the program loads at run time.
#pragma once

#include <filesystem>

namespace attnscope {

// <folder of the program>/../lib/attnscope: the same in the build tree and after installation.
std::filesystem::path module_folder();

}  // namespace attnscope
