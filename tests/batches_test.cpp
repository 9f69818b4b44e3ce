// Batches: teacher forcing, padding, and which pairs make one.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "data/tokenizer/tokenizer.h"
#include "training/batches.h"

namespace attnscope {
namespace {

std::vector<EncodedPair> numbered_pairs(int count) {
  std::vector<EncodedPair> pairs;
  for (int i = 0; i < count; ++i) {
    pairs.push_back({std::vector<int>(1 + i % 7, 4 + i % 9), std::vector<int>(i % 5, 5 + i % 11)});
    pairs.back().source.push_back(Tokenizer::eos_id);
  }
  return pairs;
}

TEST(Batches, TeacherForcingShiftsTheTargetAndMarksPadding) {
  const std::vector<EncodedPair> pairs = {{{5, 6, 2}, {7, 8}}, {{5, 2}, {9}}};
  const std::vector<std::int64_t> both = {0, 1};
  const Batch batch = make_batch(pairs, both, torch::kCPU);
  EXPECT_TRUE(torch::equal(batch.source, torch::tensor({{5, 6, 2}, {5, 2, 0}}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(batch.target_in, torch::tensor({{1, 7, 8}, {1, 9, 0}}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(batch.target_out, torch::tensor({{7, 8, 2}, {9, 2, 0}}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(batch.source_padding, batch.source.eq(0)));
  EXPECT_EQ(batch.tokens, 3 + 3 + 2 + 2);
  EXPECT_EQ(batch.targets, 3 + 2);
  EXPECT_FALSE(make_batch(pairs, std::vector<std::int64_t>{0}, torch::kCPU).source_padding.defined());
}

// Every pair of the batches, in order; how often each occurs shows.
std::vector<std::int64_t> pairs_of(const IndexBatches& batches) {
  std::vector<std::int64_t> seen;
  for (const auto& batch : batches) seen.insert(seen.end(), batch.begin(), batch.end());
  std::sort(seen.begin(), seen.end());
  return seen;
}

std::vector<std::int64_t> numbers(std::int64_t count) {
  std::vector<std::int64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

constexpr BatchOrder orders[] = {BatchOrder::source, BatchOrder::both, BatchOrder::chance};

TEST(Batches, AnEpochHasEveryPairOnceInWhateverOrder) {
  const auto pairs = numbered_pairs(3000);  // several pools
  for (const BatchOrder order : orders) {
    const BatchRule rule{.pairs = 16, .order = order};
    const auto batches = epoch_batches(pairs, rule, 3, 0);
    for (const auto& batch : batches) EXPECT_LE(batch.size(), 16U);
    EXPECT_EQ(pairs_of(batches), numbers(3000));
    EXPECT_EQ(batches, epoch_batches(pairs, rule, 3, 0));
    EXPECT_NE(batches, epoch_batches(pairs, rule, 3, 1));
    EXPECT_NE(batches, epoch_batches(pairs, rule, 4, 0));
  }
}

// A target length has nothing to do with the source length here, so batches by source are of all target lengths.
TEST(Batches, OfLikeSourceLengthPadTheSourceLittleAndDifferInTarget) {
  std::vector<EncodedPair> pairs;
  for (int i = 0; i < 4000; ++i) pairs.push_back({std::vector<int>(4 + i % 17, 5), std::vector<int>(i / 17 % 13, 6)});
  std::vector<double> padding, source_padding, target_lengths;
  for (const BatchOrder order : orders) {
    const auto batches = epoch_batches(pairs, {.pairs = 32, .order = order}, 3, 0);
    double places = 0, pads = 0, lengths = 0;
    for (const auto& batch : batches) {
      const torch::Tensor source = make_batch(pairs, batch, torch::kCPU).source;
      places += static_cast<double>(source.numel());
      pads += source.eq(0).sum().item<double>();
      std::set<std::size_t> different;
      for (const std::int64_t i : batch) different.insert(pairs[i].target.size());
      lengths += static_cast<double>(different.size()) / static_cast<double>(batches.size());
    }
    padding.push_back(padding_share(pairs, batches));
    source_padding.push_back(pads / places);
    target_lengths.push_back(lengths);
  }
  EXPECT_GT(padding[0], padding[1] + 0.05);
  EXPECT_LT(padding[0], padding[2] - 0.05);
  EXPECT_LT(source_padding[0], 0.12);
  EXPECT_GT(source_padding[2], 0.35);
  EXPECT_LT(target_lengths[1], 5);
  EXPECT_GT(target_lengths[0], 10);
  EXPECT_GT(target_lengths[2], 10);
}

// A saved run resumes with the batches that it would have had.
TEST(Batches, OfLikeLengthOnBothSidesAreAsTheyAlwaysWere) {
  const auto batches = epoch_batches(numbered_pairs(40), {.pairs = 8, .order = BatchOrder::both}, 3, 0);
  EXPECT_EQ(batches.front(), (std::vector<std::int64_t>{25, 11, 32, 18, 39, 4, 5, 26}));
  EXPECT_EQ(batches.back(), (std::vector<std::int64_t>{36, 22, 8, 29, 30, 16, 37, 2}));
}

TEST(Batches, MeasuredInPiecesTheyAreFullAndNeverFuller) {
  const auto pairs = numbered_pairs(1000);
  const auto batches = epoch_batches(pairs, {.tokens = 100, .order = BatchOrder::both}, 3, 0);
  EXPECT_EQ(pairs_of(batches), numbers(1000));
  std::int64_t tokens = 0;
  for (const auto& indices : batches) {
    const Batch batch = make_batch(pairs, indices, torch::kCPU);
    const std::int64_t longest = std::max(batch.source.size(1), batch.target_in.size(1));
    EXPECT_LE(batch.source.size(0) * longest, 100);
    tokens += batch.source.size(0) * longest;
  }
  EXPECT_GT(tokens, 85 * static_cast<std::int64_t>(batches.size()));
}

TEST(Batches, APairLongerThanABatchGoesAlone) {
  auto pairs = numbered_pairs(20);
  pairs[7].source.assign(50, 9);
  pairs[11].target.assign(60, 9);
  const auto batches = epoch_batches(pairs, {.tokens = 20}, 1, 0);
  EXPECT_EQ(pairs_of(batches), numbers(20));
  EXPECT_THAT(batches, testing::Contains(std::vector<std::int64_t>{7}));
  EXPECT_THAT(batches, testing::Contains(std::vector<std::int64_t>{11}));
  EXPECT_EQ(epoch_batches(pairs, {.tokens = 1}, 1, 0).size(), 20U);
}

// Two thirds of the time for the pieces of a source, as many as those of the target.
TEST(Batches, PartsTakeAboutAsLong) {
  const std::vector<int> longer(19, 5), shorter(4, 5);
  std::vector<EncodedPair> pairs(50, {longer, shorter});
  pairs.insert(pairs.end(), 50, {shorter, longer});
  const auto indices = numbers(100);
  const auto parts = balanced_shards(pairs, indices, 2);
  ASSERT_EQ(parts.size(), 2U);
  const int first = 2 * 19 + 3 * 5, second = 2 * 4 + 3 * 20;
  const auto more = static_cast<int>(parts[0].size()) - 50;  // than half of the pairs
  EXPECT_NEAR(50 * first + more * second, (50 - more) * second, second);
  EXPECT_EQ(parts[1].front(), 50 + more);
  EXPECT_EQ(parts[1].back(), 99);
  for (const auto& part : balanced_shards(pairs, std::span(indices).first(12), 3)) EXPECT_EQ(part.size(), 4U);
}

TEST(Batches, APlaceInTheSequenceIsFoundFromAnywhere) {
  const auto pairs = numbered_pairs(2000);  // several pools
  for (const BatchRule rule : {BatchRule{.pairs = 16}, BatchRule{.tokens = 47}}) {
    IndexBatches expected;
    std::set<std::size_t> counts;
    for (std::int64_t epoch = 0; epoch < 8; ++epoch) {
      const IndexBatches batches = epoch_batches(pairs, rule, 5, epoch);
      expected.insert(expected.end(), batches.begin(), batches.end());
      counts.insert(batches.size());
    }
    EXPECT_EQ(counts.size() > 1, rule.tokens > 0) << "the epochs of the test should differ in their number of batches";
    BatchSequence walked(pairs, rule, 5);
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(walked.at(i), expected[i]);
    EXPECT_EQ(BatchSequence(pairs, rule, 5).at(expected.size() - 1), expected.back());
    EXPECT_EQ(walked.at(3), expected[3]);
  }
}

}  // namespace
}  // namespace attnscope
