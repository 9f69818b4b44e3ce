// Classic comparisons: two configurations that differ in one thing, and what to watch while both train.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "config/config.h"

namespace attnscope {

struct ClassicPair {
  std::string_view name;      // as in --pair
  std::string_view title;     // what is compared
  std::string_view fields;    // values of both that are not defaults: "key=value" separated by spaces
  std::string_view a;         // A's values
  std::string_view b;         // B's values
  std::string_view watch;     // what to watch, in one sentence
  std::string_view sentence;  // an example from their corpus that is hard for one of them
};

std::span<const ClassicPair> classic_pairs();

// Throws ConfigError listing all names if the name is unknown.
const ClassicPair& classic_pair(std::string_view name);

// The configurations of A and B.
std::pair<Config, Config> configurations(const ClassicPair& pair);

}  // namespace attnscope
