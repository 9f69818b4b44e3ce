// Translations of the window as files: <assets>/translations/LANGUAGE.mo.
#pragma once

#include "shell/app_state.h"

namespace attnscope {

// Loads the shipped translations and the system language. Never throws: unreadable files are reported in the
// complaints, and the window uses English.
Translations find_translations();

// The first of LC_ALL, LC_MESSAGES and LANG that is set, as in POSIX.
Language system_language();

}  // namespace attnscope
