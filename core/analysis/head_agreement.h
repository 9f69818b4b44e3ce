#pragma once

#include "messages/head_importance.h"

namespace attnscope {

// Returns the rank correlation (Spearman) of `exact` and `fast` over the heads, −1 … 1; 0 with fewer than two heads.
double agreement(const HeadsResult& inspection);

}  // namespace attnscope
