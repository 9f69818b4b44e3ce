// What the window should know about the machine and the build before its first frame.
#pragma once

#include "scope.h"

namespace attnscope {

Facts scope_facts();

}  // namespace attnscope
