// File access for the window, on the worker thread.
#pragma once

#include "messages/messages.h"

namespace attnscope {

// Never throws: the reply contains any error. Creates the file's folder if needed. The file is replaced atomically.
FileWritten write_wanted(const WriteFile& wanted);

// Never throws.
FileRead read_wanted(const ReadFile& wanted);

}  // namespace attnscope
