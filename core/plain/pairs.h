// The classic comparisons: two configurations that differ in one thing, and what to watch while both learn.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "plain/config.h"

namespace attnscope {

struct ClassicPair {
  std::string_view name;      // as --pair takes it
  std::string_view title;     // what is held against what
  std::string_view fields;    // of both, where they are not the defaults: "key=value" between spaces
  std::string_view a;         // A's own
  std::string_view b;         // B's own
  std::string_view watch;     // one sentence
  std::string_view sentence;  // to look at: of their corpus, and hard for one of them
};

std::span<const ClassicPair> classic_pairs();

// Throws ConfigError with all names if there is none of that name.
const ClassicPair& classic_pair(std::string_view name);

// A's configuration and B's.
std::pair<Config, Config> configurations(const ClassicPair& pair);

}  // namespace attnscope
