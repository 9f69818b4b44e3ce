// Attribution of one generated token: explain --attribution.
#pragma once

#include "commands/commands.h"

namespace attnscope {

// For options.clean and options.token, on stdout. Throws std::runtime_error if there is nothing to attribute.
void print_attribution(const ExplainOptions& options);

}  // namespace attnscope
