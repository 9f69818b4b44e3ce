// The chosen weight, a query and a key of the selected head, to be followed over training.
#pragma once

#include <string>

#include "shell/scope.h"

namespace attnscope {

// What stands in the way of plotting it over training; empty if nothing does.
std::string weight_problem(const Scope& scope);
void plot_weight(Scope& scope);  // pins the sentence too; nothing when something stands in the way

}  // namespace attnscope
