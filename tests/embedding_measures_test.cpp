// Neighbours, analogies, distances, separation, Procrustes and t-SNE: known answers.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>

#include "analysis/embedding_measures.h"
#include "analysis/matrix_algebra.h"
#include "analysis/tsne.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Matrix matrix(int rows, int cols, std::vector<float> values) {
  Matrix made(rows, cols);
  made.values = std::move(values);
  return made;
}

Matrix random_matrix(int rows, int cols, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Matrix made(rows, cols);
  for (float& value : made.values) value = normal(random);
  return made;
}

double largest_difference(const Matrix& a, const Matrix& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    largest = std::max(largest, static_cast<double>(std::abs(a.values[i] - b.values[i])));
  return largest;
}

std::vector<int> ids(const std::vector<Neighbour>& neighbours) {
  std::vector<int> list;
  for (const Neighbour& neighbour : neighbours) list.push_back(neighbour.id);
  return list;
}

// ---- neighbours

TEST(Nearest, IsByAngleNotByLength) {
  const Matrix vectors = matrix(4, 2, {1, 0, 100, 10, 0.9F, 0.5F, -1, 0});
  const auto norms = row_norms(vectors);
  const std::vector<int> itself = {0};
  const auto found = nearest(vectors, norms, std::vector<float>{1, 0}, itself, 12);
  EXPECT_THAT(ids(found), ElementsAre(1, 2, 3));
  EXPECT_NEAR(found[0].cosine, 10 / std::sqrt(101.0), 1e-6);
  EXPECT_FLOAT_EQ(found[2].cosine, -1);
  EXPECT_EQ(rank_of(vectors, norms, std::vector<float>{1, 0}, itself, 2), 2);
  EXPECT_EQ(rank_of(vectors, norms, std::vector<float>{1, 0}, itself, 0), 0);
}

TEST(Nearest, PassesOverWhatHasNoDirection) {
  const Matrix vectors = matrix(4, 2, {1, 0, 0, 0, NAN, 1, 1, 1});
  const auto norms = row_norms(vectors);
  EXPECT_THAT(ids(nearest(vectors, norms, std::vector<float>{1, 0}, {}, 12)), ElementsAre(0, 3));
  EXPECT_THAT(nearest(vectors, norms, std::vector<float>{0, 0}, {}, 12), IsEmpty());
  EXPECT_THAT(nearest(vectors, norms, std::vector<float>{NAN, 0}, {}, 12), IsEmpty());
}

TEST(Analogy, LeavesTheThreeOut) {
  // man, woman, king, queen: kind on one axis, gender on the other.
  const Matrix vectors = matrix(5, 2, {1, 1, 1, 2, 3, 1, 3, 2, -1, 1});
  const auto norms = row_norms(vectors);
  const std::vector<float> query = analogy_vector(vectors, 0, 2, 1);
  EXPECT_THAT(query, ElementsAre(3, 2));
  const std::vector<int> inputs = {0, 2, 1};
  EXPECT_THAT(ids(nearest(vectors, norms, query, inputs, 1)), ElementsAre(3));
}

TEST(UnitDistances, OfOneHotVectorsAreAllTheRootOfTwo) {
  Matrix one_hot(6, 6);
  for (int i = 0; i < 6; ++i) one_hot.at(i, i) = 1;
  const std::vector<int> all = {0, 1, 2, 3, 4, 5};
  const Matrix distances = unit_distances(one_hot, all);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) EXPECT_FLOAT_EQ(distances.at(i, j), i == j ? 0 : std::numbers::sqrt2_v<float>);
  const std::vector<int> two = {0, 1};
  EXPECT_NEAR(unit_distances(matrix(2, 2, {3, 0, -1, 0}), two).at(0, 1), 2, 1e-6);
}

// ---- separation

TEST(Silhouette, IsOneForGroupsFarApartAndAboutZeroForOne) {
  const Matrix apart = matrix(4, 1, {0, 0, 100, 100});
  EXPECT_NEAR(mean_silhouette(apart, std::vector<int>{0, 0, 1, 1}), 1, 1e-9);
  EXPECT_LT(mean_silhouette(apart, std::vector<int>{0, 1, 0, 1}), 0);
  EXPECT_EQ(mean_silhouette(apart, std::vector<int>{0, 0, 0, 0}), 0);
  EXPECT_EQ(mean_silhouette(apart, std::vector<int>{0, -1, -1, 0}), 0);
  // a = 1, b = 3 of the outer points; a = 1, b = 2.5 … : worked by hand.
  const Matrix line = matrix(4, 1, {0, 1, 3, 4});
  EXPECT_NEAR(mean_silhouette(line, std::vector<int>{0, 0, 1, 1}), (2 * (1 - 1 / 3.5) + 2 * (1 - 1 / 2.5)) / 4, 1e-9);
}

// ---- Procrustes

Matrix rotation(double angle, bool reflected = false) {
  const auto c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
  return matrix(2, 2, {c, s, reflected ? s : -s, reflected ? -c : c});
}

TEST(Procrustes, TurnsARotatedCopyBack) {
  for (const bool reflected : {false, true}) {
    const Matrix points = random_matrix(50, 2);
    const Matrix turned = product(points, rotation(0.7, reflected));
    EXPECT_LT(largest_difference(product(turned, procrustes(points, turned)), points), 1e-5);
  }
  const Matrix points = random_matrix(80, 5);
  const Matrix turn = procrustes(random_matrix(80, 5, 2), random_matrix(80, 5, 3));  // any orthogonal matrix
  const Matrix turned = product(points, turn);
  EXPECT_LT(largest_difference(product(turned, procrustes(points, turned)), points), 1e-5);
}

TEST(Procrustes, IsOrthogonalAndTheBestOfAllTurns) {
  const Matrix a = random_matrix(30, 2, 4), b = random_matrix(30, 2, 5);
  const auto error = [&](const Matrix& turn) {
    const Matrix turned = product(b, turn);
    double sum = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i)
      sum += static_cast<double>((a.values[i] - turned.values[i]) * (a.values[i] - turned.values[i]));
    return sum;
  };
  const Matrix best = procrustes(a, b);
  EXPECT_LT(largest_difference(product(best, transposed(best)), rotation(0)), 1e-6);
  for (double angle = 0; angle < 6.3; angle += 0.05)
    for (const bool reflected : {false, true}) EXPECT_GE(error(rotation(angle, reflected)), error(best) - 1e-4);
}

TEST(Procrustes, OfPointsOnALineOrOfNothingIsStillATurn) {
  for (const Matrix& points : {matrix(3, 2, {1, 0, 2, 0, 3, 0}), matrix(2, 2, {0, 0, 0, 0}), Matrix(0, 2),
                               matrix(2, 2, {NAN, 1, 1, INFINITY})}) {
    const Matrix turn = procrustes(points, points);
    EXPECT_LT(largest_difference(product(turn, transposed(turn)), rotation(0)), 1e-6);
  }
}

// ---- t-SNE

TEST(Tsne, AffinitiesAreADistributionWithThePerplexityAskedFor) {
  const Matrix p = tsne_affinities(random_matrix(60, 10), 15);
  double sum = 0;
  for (int i = 0; i < p.rows; ++i) {
    EXPECT_EQ(p.at(i, i), 0);
    for (int j = 0; j < p.cols; ++j) {
      EXPECT_EQ(p.at(i, j), p.at(j, i));
      sum += static_cast<double>(p.at(i, j));
    }
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  // All alike: every other point has the same share, whatever is asked for.
  const Matrix alike = tsne_affinities(Matrix(10, 3), 3);
  EXPECT_NEAR(alike.at(0, 1), 1 / 90.0, 1e-6);
}

TEST(Tsne, GradientIsThatOfFiniteDifferences) {
  const Matrix p = tsne_affinities(random_matrix(20, 6), 5);
  const Matrix points = random_matrix(20, 2, 9);
  const TsneGradient gradient = tsne_gradient(p, points);
  constexpr float step = 1e-2F;
  for (std::size_t i = 0; i < points.values.size(); i += 3) {
    Matrix moved = points;
    moved.values[i] += step;
    const double above = tsne_gradient(p, moved).kl;
    moved.values[i] -= 2 * step;
    const double below = tsne_gradient(p, moved).kl;
    EXPECT_NEAR((above - below) / static_cast<double>(2 * step), static_cast<double>(gradient.forces.values[i]), 2e-4);
  }
}

TEST(Tsne, KlFallsAndGroupsComeApart) {
  Matrix groups = random_matrix(90, 5);
  for (int row = 0; row < groups.rows; ++row) groups.at(row, row % 3) += 12;
  TsneOptions options{.perplexity = 10, .iterations = 400, .exaggerated = 100};
  const TsneResult found = tsne(groups, options);
  ASSERT_EQ(found.kl.size(), 21U);
  EXPECT_LT(found.kl.back(), found.kl[6]);
  EXPECT_LT(found.kl.back(), 0.6F * found.kl.front());
  std::vector<int> group;
  for (int row = 0; row < groups.rows; ++row) group.push_back(row % 3);
  EXPECT_GT(mean_silhouette(found.points, group), 0.6);
  for (int col = 0; col < 2; ++col) {
    double sum = 0;
    for (int row = 0; row < found.points.rows; ++row) sum += static_cast<double>(found.points.at(row, col));
    EXPECT_NEAR(sum / found.points.rows, 0, 1e-3) << "the map stays around the origin";
  }
  EXPECT_EQ(found.points, tsne(groups, options).points) << "the same seed gives the same map";
}

TEST(Tsne, IsGivenUpByItsProgressAndTakesAnyNumberOfPoints) {
  struct Enough {};
  int calls = 0;
  const auto give_up = [&](double) {
    if (++calls == 20) throw Enough();
  };
  EXPECT_THROW(tsne(random_matrix(50, 4), {}, give_up), Enough);
  for (const int count : {0, 1, 3, 4, 5}) {
    const TsneResult found = tsne(random_matrix(count, 4), {.iterations = 20, .exaggerated = 5});
    EXPECT_EQ(found.points.rows, count);
    for (const float value : found.points.values) EXPECT_TRUE(std::isfinite(value));
  }
}

}  // namespace
}  // namespace attnscope
