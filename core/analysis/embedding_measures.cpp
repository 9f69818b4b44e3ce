#include "analysis/embedding_measures.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/matrix_algebra.h"

namespace attnscope {
namespace {

constexpr std::size_t lanes = 8;

std::span<const float> row_of(const Matrix& matrix, int row) {
  return std::span(matrix.values).subspan(static_cast<std::size_t>(row) * matrix.cols, matrix.cols);
}

// Sums in independent lanes, so that the compiler can vectorize it.
float dot(std::span<const float> a, std::span<const float> b) {
  float sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= a.size(); i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  float sum = 0;
  for (const float lane : sums) sum += lane;
  return sum;
}

// Nearer first; ties by id.
bool before(const Neighbour& one, const Neighbour& other) {
  return one.cosine != other.cosine ? one.cosine > other.cosine : one.id < other.id;
}

// The cosines of all rows except excluded ones and those without a direction.
std::vector<Neighbour> cosines(const Matrix& vectors, std::span<const float> norms, std::span<const float> query,
                               std::span<const int> left_out) {
  std::vector<Neighbour> all;
  const float length = std::sqrt(dot(query, query));
  if (!(length > 0)) return all;
  all.reserve(static_cast<std::size_t>(vectors.rows));
  for (int row = 0; row < vectors.rows; ++row) {
    const float norm = norms[static_cast<std::size_t>(row)];
    if (!(norm > 0) || std::ranges::find(left_out, row) != left_out.end()) continue;
    const float cosine = dot(row_of(vectors, row), query) / (norm * length);
    if (std::isfinite(cosine)) all.push_back({row, cosine});
  }
  return all;
}

double distance(const Matrix& vectors, int a, int b) {
  double sum = 0;
  for (int i = 0; i < vectors.cols; ++i) {
    const double difference = static_cast<double>(vectors.at(a, i)) - static_cast<double>(vectors.at(b, i));
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

// ---- Procrustes

using Square = std::vector<std::vector<double>>;  // by column

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void rotate(std::vector<double>& p, std::vector<double>& q, double cosine, double sine) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double old = p[i];
    p[i] = cosine * old - sine * q[i];
    q[i] = sine * old + cosine * q[i];
  }
}

// One-sided Jacobi: rotates the columns of m into U·S and accumulates the rotations in v, so that m = U·S·vᵀ.
void orthogonalise(Square& m, Square& v) {
  constexpr int most_sweeps = 60;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool done = true;
    for (std::size_t p = 0; p < m.size(); ++p) {
      for (std::size_t q = p + 1; q < m.size(); ++q) {
        const double both = dot(m[p], m[q]), of_p = dot(m[p], m[p]), of_q = dot(m[q], m[q]);
        if (std::abs(both) <= 1e-15 * std::sqrt(of_p * of_q)) continue;
        done = false;
        const double tau = (of_q - of_p) / (2 * both);
        const double tangent = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent);
        rotate(m[p], m[q], cosine, cosine * tangent);
        rotate(v[p], v[q], cosine, cosine * tangent);
      }
    }
    if (done) return;
  }
}

// Scales columns to unit length; a zero column is replaced by one orthogonal to the others.
void normalise(Square& columns) {
  double largest = 0;
  for (const auto& column : columns) largest = std::max(largest, dot(column, column));
  std::vector<bool> done(columns.size());
  const auto take = [&](std::size_t i, std::vector<double> from) {
    for (std::size_t other = 0; other < columns.size(); ++other) {
      if (!done[other]) continue;
      const double along = dot(from, columns[other]);
      for (std::size_t k = 0; k < from.size(); ++k) from[k] -= along * columns[other][k];
    }
    const double length = std::sqrt(dot(from, from));
    if (length < 1e-6) return;
    for (double& value : from) value /= length;
    columns[i] = std::move(from);
    done[i] = true;
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double length = std::sqrt(dot(columns[i], columns[i]));
    if (length * length <= 1e-24 * largest || length == 0) continue;
    for (double& value : columns[i]) value /= length;
    done[i] = true;
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t axis = 0; axis < columns.size() && !done[i]; ++axis) {
      std::vector<double> unit(columns.size());
      unit[axis] = 1;
      take(i, std::move(unit));
    }
  }
}

}  // namespace

std::vector<float> row_norms(const Matrix& vectors) {
  std::vector<float> norms;
  norms.reserve(static_cast<std::size_t>(vectors.rows));
  for (int row = 0; row < vectors.rows; ++row) {
    const std::span<const float> values = row_of(vectors, row);
    norms.push_back(std::sqrt(dot(values, values)));
  }
  return norms;
}

std::vector<Neighbour> nearest(const Matrix& vectors, std::span<const float> norms, std::span<const float> query,
                               std::span<const int> left_out, int count) {
  std::vector<Neighbour> all = cosines(vectors, norms, query, left_out);
  const auto most = std::min(all.size(), static_cast<std::size_t>(count));
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(), before);
  all.resize(most);
  return all;
}

std::vector<float> analogy_vector(const Matrix& vectors, int a, int b, int c) {
  std::vector<float> query;
  for (int i = 0; i < vectors.cols; ++i) query.push_back(vectors.at(b, i) - vectors.at(a, i) + vectors.at(c, i));
  return query;
}

int rank_of(const Matrix& vectors, std::span<const float> norms, std::span<const float> query,
            std::span<const int> left_out, int id) {
  const std::vector<Neighbour> all = cosines(vectors, norms, query, left_out);
  const auto found = std::ranges::find(all, id, &Neighbour::id);
  if (found == all.end()) return 0;
  return 1 +
         static_cast<int>(std::ranges::count_if(all, [&](const Neighbour& other) { return before(other, *found); }));
}

Matrix unit_distances(const Matrix& vectors, std::span<const int> ids) {
  const auto count = static_cast<int>(ids.size());
  Matrix distances(count, count);
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      if (i == j) continue;
      const std::span<const float> x = row_of(vectors, ids[static_cast<std::size_t>(i)]);
      const std::span<const float> y = row_of(vectors, ids[static_cast<std::size_t>(j)]);
      const float cosine = dot(x, y) / std::sqrt(dot(x, x) * dot(y, y));
      distances.at(i, j) = std::sqrt(std::max(0.0F, 2 - 2 * cosine));
    }
  }
  return distances;
}

double mean_silhouette(const Matrix& vectors, std::span<const int> group) {
  std::map<int, int> sizes;
  for (const int of : group)
    if (of >= 0) ++sizes[of];
  if (sizes.size() < 2) return 0;
  double sum = 0;
  int counted = 0;
  for (int row = 0; row < vectors.rows; ++row) {
    const int own = group[static_cast<std::size_t>(row)];
    if (own < 0) continue;
    ++counted;
    if (sizes[own] == 1) continue;
    std::map<int, double> to;
    for (int other = 0; other < vectors.rows; ++other) {
      const int of = group[static_cast<std::size_t>(other)];
      if (of >= 0) to[of] += distance(vectors, row, other);
    }
    const double inside = to[own] / (sizes[own] - 1);
    double outside = INFINITY;
    for (const auto& [of, total] : to)
      if (of != own) outside = std::min(outside, total / sizes[of]);
    const double larger = std::max(inside, outside);
    if (larger > 0) sum += (outside - inside) / larger;
  }
  return sum / counted;
}

Matrix procrustes(const Matrix& a, const Matrix& b) {
  const auto size = static_cast<std::size_t>(a.cols);
  // bᵀa by column, and the identity.
  Square m(size, std::vector<double>(size)), v(size, std::vector<double>(size));
  for (std::size_t i = 0; i < size; ++i) v[i][i] = 1;
  for (int row = 0; row < a.rows; ++row) {
    const auto is_number = [](float value) { return std::isfinite(value); };
    if (!std::ranges::all_of(row_of(a, row), is_number) || !std::ranges::all_of(row_of(b, row), is_number)) continue;
    for (std::size_t col = 0; col < size; ++col)
      for (std::size_t i = 0; i < size; ++i)
        m[col][i] +=
            static_cast<double>(b.at(row, static_cast<int>(i))) * static_cast<double>(a.at(row, static_cast<int>(col)));
  }
  orthogonalise(m, v);
  normalise(m);
  Matrix rotation(a.cols, a.cols);  // U·vᵀ
  for (std::size_t k = 0; k < size; ++k)
    for (int row = 0; row < a.cols; ++row)
      for (int col = 0; col < a.cols; ++col)
        rotation.at(row, col) +=
            static_cast<float>(m[k][static_cast<std::size_t>(row)] * v[k][static_cast<std::size_t>(col)]);
  return rotation;
}

}  // namespace attnscope
