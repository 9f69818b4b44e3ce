// The window's words in other languages, as files: <assets>/translations/LANGUAGE.mo.
#pragma once

#include "shell/app_state.h"

namespace attnscope {

// What came with the program, and the language of the system. Never throws: what cannot be read is said in the
// complaints, and the window speaks English.
Translations find_translations();

// Of LC_ALL, LC_MESSAGES and LANG the first that is set, as POSIX has it.
Language system_language();

}  // namespace attnscope
