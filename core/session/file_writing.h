// Files that the window wants written or read, on the worker thread.
#pragma once

#include "plain/messages.h"

namespace attnscope {

// Never throws: the answer says what went wrong. The file's folder is made if it is not there; a file is either as it
// was or whole.
FileWritten write_wanted(const WriteFile& wanted);

// Likewise.
FileRead read_wanted(const ReadFile& wanted);

}  // namespace attnscope
