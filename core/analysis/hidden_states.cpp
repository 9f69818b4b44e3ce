#include "analysis/hidden_states.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/embedding_measures.h"
#include "analysis/matrix_algebra.h"

namespace attnscope {
namespace {

constexpr int most_iterations = 60;  // of the power iteration; a map needs no more digits
constexpr double converged = 1e-5;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The vectors minus their mean.
Matrix centered(Matrix vectors) {
  for (int col = 0; col < vectors.cols; ++col) {
    double mean = 0;
    for (int row = 0; row < vectors.rows; ++row) mean += vectors.at(row, col);
    for (int row = 0; row < vectors.rows; ++row)
      vectors.at(row, col) -= static_cast<float>(mean / std::max(1, vectors.rows));
  }
  return vectors;
}

// X Xᵀ u
std::vector<double> transformed(const Matrix& vectors, std::span<const double> u) {
  std::vector<double> axis(static_cast<std::size_t>(vectors.cols)), image(u.size());
  for (int row = 0; row < vectors.rows; ++row)
    for (int col = 0; col < vectors.cols; ++col)
      axis[static_cast<std::size_t>(col)] += u[static_cast<std::size_t>(row)] * vectors.at(row, col);
  for (int row = 0; row < vectors.rows; ++row)
    for (int col = 0; col < vectors.cols; ++col)
      image[static_cast<std::size_t>(row)] += axis[static_cast<std::size_t>(col)] * vectors.at(row, col);
  return image;
}

// Removes the part along `axis` and normalizes; returns the length before, 0 if nothing is left.
double orthonormalized(std::vector<double>& u, std::span<const double> axis) {
  const double along = axis.empty() ? 0 : dot(u, axis);
  for (std::size_t i = 0; i < axis.size(); ++i) u[i] -= along * axis[i];
  const double length = std::sqrt(dot(u, u));
  if (length > 0)
    for (double& value : u) value /= length;
  return length;
}

// Power iteration: the unit vector and the eigenvalue of X Xᵀ, orthogonal to `before`.
std::pair<std::vector<double>, double> principal(const Matrix& vectors, std::span<const double> before) {
  std::vector<double> u(static_cast<std::size_t>(vectors.rows));
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = std::sin(1.7 * static_cast<double>(i + 1));
  orthonormalized(u, before);
  double value = 0;
  for (int i = 0; i < most_iterations; ++i) {
    u = transformed(vectors, u);
    const double next = orthonormalized(u, before);
    if (std::abs(next - value) <= converged * next) return {u, next};
    value = next;
  }
  return {u, value};
}

HiddenLayer projected(const Matrix& state) {
  const Matrix vectors = centered(state);
  double total = 0;
  for (const float value : vectors.values) total += static_cast<double>(value) * static_cast<double>(value);
  HiddenLayer layer{Matrix(state.rows, 2), {}};
  std::vector<double> before;
  for (int axis = 0; axis < 2 && total > 0; ++axis) {
    auto [u, variance] = principal(vectors, before);
    if (variance <= 1e-9 * total) break;
    layer.shares[static_cast<std::size_t>(axis)] = static_cast<float>(variance / total);
    for (int row = 0; row < state.rows; ++row)
      layer.points.at(row, axis) = static_cast<float>(u[static_cast<std::size_t>(row)] * std::sqrt(variance));
    before = std::move(u);
  }
  return layer;
}

}  // namespace

std::vector<HiddenLayer> hidden_layers(std::span<const Matrix> states) {
  std::vector<HiddenLayer> layers;
  for (const Matrix& state : states) {
    HiddenLayer layer = projected(state);
    if (!layers.empty()) layer.points = product(layer.points, procrustes(layers.back().points, layer.points));
    layers.push_back(std::move(layer));
  }
  return layers;
}

Matrix layer_similarity(std::span<const Matrix> states) {
  const auto count = static_cast<int>(states.size());
  Matrix similarity(count, count);
  std::vector<std::vector<float>> norms;
  for (const Matrix& state : states) norms.push_back(row_norms(state));
  for (std::size_t a = 0; a < states.size(); ++a)
    for (std::size_t b = a; b < states.size(); ++b) {
      double sum = 0;
      for (int row = 0; row < states[a].rows; ++row) {
        const auto token = static_cast<std::size_t>(row);
        const double size = static_cast<double>(norms[a][token]) * static_cast<double>(norms[b][token]);
        double product = 0;
        for (int col = 0; col < states[a].cols; ++col)
          product += static_cast<double>(states[a].at(row, col)) * static_cast<double>(states[b].at(row, col));
        if (size > 0) sum += product / size;
      }
      const auto mean = static_cast<float>(sum / std::max(1, states[a].rows));
      similarity.at(static_cast<int>(a), static_cast<int>(b)) = mean;
      similarity.at(static_cast<int>(b), static_cast<int>(a)) = mean;
    }
  return similarity;
}

}  // namespace attnscope
