// Sparse dictionaries and linear probes, against synthetic vectors.
#include <gtest/gtest.h>

#include "inspect/evaluation/dictionary.h"
#include "inspect/evaluation/linear_probe.h"

namespace attnscope {
namespace {

// Vectors that are sums of few of `features` random directions with strengths from 1 to 2.
struct Synthetic {
  torch::Tensor directions, vectors;

  Synthetic(std::int64_t features, std::int64_t width, std::int64_t count, double share) {
    torch::manual_seed(3);
    directions = torch::randn({features, width});
    directions /= directions.norm(2, 1, true);
    const torch::Tensor strengths = torch::rand({count, features}).lt(share) * (1 + torch::rand({count, features}));
    vectors = strengths.matmul(directions) + 0.5;
  }

  // The share of directions that a row of the dictionary has with a cosine of at least 0.9.
  double found(const SparseDictionary& dictionary) const {
    return std::get<0>(directions.matmul(dictionary.w_dec.t()).max(1))
        .ge(0.9)
        .to(torch::kFloat32)
        .mean()
        .item<double>();
  }
};

TEST(Dictionary, FindsTheDirectionsOfSparseSums) {
  const Synthetic synthetic(48, 32, 8000, 0.04);
  const SparseDictionary top = train_dictionary(synthetic.vectors, {.width = 4, .active = 4, .steps = 1500}, {});
  EXPECT_GE(synthetic.found(top), 0.9);
  const SparseDictionary l1 =
      train_dictionary(synthetic.vectors, {.width = 4, .active = 0, .l1 = 0.06, .steps = 1500}, {});
  EXPECT_GE(synthetic.found(l1), 0.9);
  const torch::Tensor made = top.decode(top.encode(synthetic.vectors));
  const torch::Tensor centered = synthetic.vectors - synthetic.vectors.mean(0);
  EXPECT_LT((made - synthetic.vectors).square().sum().item<double>() / centered.square().sum().item<double>(), 0.1);
}

TEST(Dictionary, HasAtMostSoManyActiveFeatures) {
  const Synthetic synthetic(16, 8, 500, 0.2);
  const SparseDictionary dictionary = train_dictionary(synthetic.vectors, {.width = 2, .active = 3, .steps = 20}, {});
  EXPECT_LE(dictionary.encode(synthetic.vectors).gt(0).sum(1).max().item<std::int64_t>(), 3);
  EXPECT_EQ(dictionary.w_dec.size(0), 16);
  for (const double norm :
       {dictionary.w_dec.norm(2, 1).min().item<double>(), dictionary.w_dec.norm(2, 1).max().item<double>()})
    EXPECT_NEAR(norm, 1, 1e-5);
  const SparseDictionary again = train_dictionary(synthetic.vectors, {.width = 2, .active = 3, .steps = 20}, {});
  EXPECT_TRUE(torch::equal(dictionary.w_dec, again.w_dec)) << "the same random numbers";
}

TEST(Dictionary, CanBeCanceledAndSurvivesVectorsThatAreAllEqual) {
  EXPECT_THROW(train_dictionary(torch::randn({10, 4}), {},
                                [](double done) {
                                  if (done > 0) throw std::runtime_error("canceled");
                                }),
               std::runtime_error);
  const SparseDictionary flat = train_dictionary(torch::ones({10, 4}), {.width = 2, .active = 2, .steps = 5}, {});
  EXPECT_TRUE(flat.decode(flat.encode(torch::ones({1, 4}))).isfinite().all().item<bool>());
}

TEST(LinearProbe, ReadsWhatIsSeparableAndNotWhatIsShuffled) {
  torch::manual_seed(5);
  std::vector<int> labels;
  for (int i = 0; i < 300; ++i) labels.push_back(i / 100);  // in groups, as they are collected
  torch::Tensor rows = torch::randn({300, 16});
  for (int i = 0; i < 300; ++i) rows[i][labels[static_cast<std::size_t>(i)]] += 12;
  const ProbeScore score = linear_probe(rows, labels, 3);
  EXPECT_EQ(score.accuracy, 1);
  EXPECT_LT(score.control, 0.5);
  EXPECT_GT(score.control, 0.2);
  EXPECT_LT(linear_probe(torch::randn({300, 16}), labels, 3).accuracy, 0.5) << "nothing to read";
}

// A label of the type is memorized by the control as well; one that differs within the types is not.
TEST(LinearProbe, ControlGivesEveryTypeOneLabel) {
  torch::manual_seed(5);
  std::vector<int> types, of_type, of_row;
  torch::Tensor rows = 0.02 * torch::randn({600, 40});
  for (int i = 0; i < 600; ++i) {
    types.push_back(i % 30);
    of_type.push_back(i % 30 % 2);
    of_row.push_back(i / 30 % 2);
    rows[i][types.back()] += 1;
    rows[i][30 + of_row.back()] += 1;
  }
  const ProbeScore memorized = linear_probe(rows, of_type, 2, types);
  EXPECT_EQ(memorized.accuracy, 1);
  EXPECT_GT(memorized.control, 0.95);
  const ProbeScore read = linear_probe(rows.slice(1, 30), of_row, 2, types);
  EXPECT_EQ(read.accuracy, 1);
  EXPECT_LT(read.control, 0.7) << "these vectors do not have the type";
}

TEST(LinearProbe, ItsDirectionLeadsFromTheOthersToTheClass) {
  torch::manual_seed(6);
  std::vector<int> labels;
  torch::Tensor rows = torch::randn({900, 8});
  for (int i = 0; i < 900; ++i) labels.push_back(i % 3);
  for (int i = 0; i < 900; ++i) rows[i][labels[static_cast<std::size_t>(i)]] += 6;
  const torch::Tensor found = probe_directions(rows, labels, 3);
  for (int label = 0; label < 3; ++label) {
    torch::Tensor expected = torch::full({8}, -3.0);  // the other two classes, halved
    expected.slice(0, 3).zero_();
    expected[label] = 6;
    EXPECT_GT(torch::cosine_similarity(found[label].to(torch::kFloat32), expected, 0).item<double>(), 0.95);
    EXPECT_NEAR(found[label].norm().item<double>(), expected.norm().item<double>(), 0.5);
  }
}

// Both ways to solve for the weights are the same.
TEST(LinearProbe, WideAndTallVectorsGiveTheSame) {
  torch::manual_seed(7);
  std::vector<int> labels;
  torch::Tensor rows = torch::randn({40, 20});
  for (int i = 0; i < 40; ++i) labels.push_back(i % 2);
  for (int i = 0; i < 40; ++i) rows[i][0] += labels[static_cast<std::size_t>(i)];
  const torch::Tensor wide = torch::cat({rows, torch::zeros({40, 60})}, 1);
  EXPECT_EQ(linear_probe(rows, labels, 2).accuracy, linear_probe(wide, labels, 2).accuracy);
  EXPECT_LT((probe_directions(rows, labels, 2) - probe_directions(wide, labels, 2).slice(1, 0, 20))
                .abs()
                .max()
                .item<double>(),
            1e-6);
}

TEST(LinearProbe, NeedsTwoGroupsAndEnoughRows) {
  const std::vector<int> labels = {0, 1, 0};
  EXPECT_EQ(linear_probe(torch::randn({3, 4}), labels, 2).accuracy, 0);
  EXPECT_EQ(linear_probe(torch::randn({3, 4}), labels, 1).accuracy, 0);
}

}  // namespace
}  // namespace attnscope
