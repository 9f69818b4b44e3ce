// Where one piece that a model writes comes from: explain --attribution.
#pragma once

#include "commands/commands.h"

namespace attnscope {

// Of options.clean and options.token, on stdout. Throws std::runtime_error where there is nothing to take apart.
void print_attribution(const ExplainOptions& options);

}  // namespace attnscope
