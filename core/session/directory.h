// Directory listings for the file browser, read by the worker so that a slow disk never blocks the window.
#pragma once

#include <string>

#include "messages/messages.h"

namespace attnscope {

// Returns the entries of `path` (empty: the home directory), directories first, then by name. Never throws for file
// system errors: if a folder cannot be read, `error` gives the reason.
DirectoryListed list_directory(const std::string& path);

}  // namespace attnscope
