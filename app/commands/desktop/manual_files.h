// The manual's pages as files: <assets>/manual.
#pragma once

#include <vector>

#include "manual/manual.h"

namespace attnscope {

// The index first, then the pages in the order of its links, then all others. Empty if the manual is not installed.
std::vector<ManualPage> read_manual();

}  // namespace attnscope
