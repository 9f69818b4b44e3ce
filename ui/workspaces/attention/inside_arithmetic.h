// How each number of a head came about, written out.
#pragma once

#include <span>
#include <string>

#include "workspaces/attention/inside_stages.h"

namespace attnscope {

// What names the pieces in the arithmetic.
struct HeadLabels {
  std::span<const std::string> queries;
  std::span<const std::string> keys;
};

// The arithmetic of one cell, ending with "= its value"; a cell that was hidden ends with −∞ instead.
std::string arithmetic(const HeadNumbers& numbers, const StageCell& cell, const HeadLabels& labels);

}  // namespace attnscope
