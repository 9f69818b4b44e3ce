#include "config/pairs.h"

#include <gtest/gtest.h>

#include "config/comparison.h"

namespace attnscope {
namespace {

TEST(ClassicPairs, AreUsableAndDifferInOneThing) {
  for (const ClassicPair& pair : classic_pairs()) {
    const auto [a, b] = configurations(pair);
    check(a);
    check(b);
    EXPECT_EQ(differences(a, b).size(), 1U) << pair.name;
    EXPECT_EQ(other_batches(a, b), "") << pair.name;
    EXPECT_FALSE(pair.watch.empty());
    EXPECT_EQ(&classic_pair(pair.name), &pair);
  }
  EXPECT_THROW(classic_pair("none"), ConfigError);
}

}  // namespace
}  // namespace attnscope
