// What the file browser shows: read by the worker, so that a slow disk never holds up the window.
#pragma once

#include <string>

#include "plain/messages.h"

namespace attnscope {

// The entries of `path` (empty: the home directory), directories first, then by name. Never throws for what the disk
// says: a folder that cannot be read is answered with the reason in `error`.
DirectoryListed list_directory(const std::string& path);

}  // namespace attnscope
