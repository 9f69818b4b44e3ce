#include "common/module_folder.h"

namespace attnscope {

std::filesystem::path module_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / ATTNSCOPE_MODULE_DIR;
}

}  // namespace attnscope
