#include "analysis/tsne.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace attnscope {
namespace {

constexpr int lanes = 8;                     // number of partial sums, for vectorization
constexpr double share_of_affinities = 0.1;  // of the total time, approximately
constexpr int iterations_between_kl = 20;    // computing the KL costs as much as three iterations

// ---- affinities

// Squared distances of row `i` to all rows.
void squared_distances(const Matrix& vectors, int i, std::vector<float>& out) {
  const float* x = &vectors.values[static_cast<std::size_t>(i) * vectors.cols];
  for (int j = 0; j < vectors.rows; ++j) {
    const float* y = &vectors.values[static_cast<std::size_t>(j) * vectors.cols];
    float sums[lanes] = {};
    int k = 0;
    for (; k + lanes <= vectors.cols; k += lanes)
      for (int lane = 0; lane < lanes; ++lane) sums[lane] += (x[k + lane] - y[k + lane]) * (x[k + lane] - y[k + lane]);
    for (; k < vectors.cols; ++k) sums[0] += (x[k] - y[k]) * (x[k] - y[k]);
    float sum = 0;
    for (const float lane : sums) sum += lane;
    out[static_cast<std::size_t>(j)] = sum;
  }
}

// p_j|i with the precision at which the entropy is log(perplexity), found by bisection.
void conditional(const std::vector<float>& distances, int i, double perplexity, float* p) {
  constexpr int most_halvings = 60;
  const double wanted = std::log(perplexity);
  const auto self = static_cast<std::size_t>(i);
  double nearest = INFINITY, mean = 0;
  for (std::size_t j = 0; j < distances.size(); ++j) {
    if (j == self) continue;
    nearest = std::min(nearest, static_cast<double>(distances[j]));
    mean += static_cast<double>(distances[j]) / static_cast<double>(distances.size());
  }
  double low = 0, high = INFINITY, beta = mean > nearest ? 1 / (mean - nearest) : 1;
  for (int halving = 0; halving < most_halvings; ++halving) {
    double sum = 0, weighted = 0;
    for (std::size_t j = 0; j < distances.size(); ++j) {
      const double away = static_cast<double>(distances[j]) - nearest;
      const float weight = j == self ? 0.0F : std::exp(static_cast<float>(-beta * away));
      p[j] = weight;
      sum += static_cast<double>(weight);
      weighted += static_cast<double>(weight) * away;
    }
    const double entropy = std::log(sum) + beta * weighted / sum;
    for (std::size_t j = 0; j < distances.size(); ++j) p[j] /= static_cast<float>(sum);
    if (std::abs(entropy - wanted) < 1e-4) return;
    if (entropy > wanted) {
      low = beta;
      beta = std::isinf(high) ? 2 * beta : (low + high) / 2;
    } else {
      high = beta;
      beta = (low + high) / 2;
    }
  }
}

// ---- gradient

// For one point: writes its weights 1 / (1 + ‖y_i − y_j‖²), and returns their sum without its own.
float weights_of(const std::vector<float>& x, const std::vector<float>& y, std::size_t i, float* row) {
  const std::size_t count = x.size();
  const float own_x = x[i], own_y = y[i];
  for (std::size_t j = 0; j < count; ++j) {
    const float dx = own_x - x[j], dy = own_y - y[j];
    row[j] = 1 / (1 + dx * dx + dy * dy);
  }
  row[i] = 0;
  float sums[lanes] = {};
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += row[j + lane];
  for (; j < count; ++j) sums[0] += row[j];
  float sum = 0;
  for (const float lane : sums) sum += lane;
  return sum;
}

struct Force {
  float x = 0, y = 0;
};

// Σ_j (e p_ij − w_ij / z) w_ij (y_i − y_j)
Force force_on(const std::vector<float>& x, const std::vector<float>& y, std::size_t i, const float* p,
               const float* weights, float exaggeration, float one_by_sum) {
  float sums_x[lanes] = {}, sums_y[lanes] = {};
  const float own_x = x[i], own_y = y[i];
  const auto pull = [&](std::size_t j) { return (exaggeration * p[j] - weights[j] * one_by_sum) * weights[j]; };
  std::size_t j = 0;
  for (; j + lanes <= x.size(); j += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const float by = pull(j + lane);
      sums_x[lane] += by * (own_x - x[j + lane]);
      sums_y[lane] += by * (own_y - y[j + lane]);
    }
  }
  Force force;
  for (; j < x.size(); ++j) {
    sums_x[0] += pull(j) * (own_x - x[j]);
    sums_y[0] += pull(j) * (own_y - y[j]);
  }
  for (int lane = 0; lane < lanes; ++lane) {
    force.x += sums_x[lane];
    force.y += sums_y[lane];
  }
  return force;
}

class Descent {
 public:
  explicit Descent(const Matrix& affinities)
      : p_(affinities),
        weights_(static_cast<std::size_t>(affinities.rows)),
        count_(static_cast<std::size_t>(affinities.rows)) {
    for (const float p : p_.values)
      if (p > 0) entropy_ += static_cast<double>(p) * std::log(static_cast<double>(p));
  }

  // Computes only the forces; computing the weights twice is faster than storing N² of them.
  Matrix forces(const std::vector<float>& x, const std::vector<float>& y, double exaggeration) {
    const auto one_by_sum = static_cast<float>(1 / sum_of_weights(x, y));
    Matrix forces(static_cast<int>(count_), 2);
    for (std::size_t i = 0; i < count_; ++i) {
      weights_of(x, y, i, weights_.data());
      const Force force =
          force_on(x, y, i, &p_.values[i * count_], weights_.data(), static_cast<float>(exaggeration), one_by_sum);
      forces.values[2 * i] = 4 * force.x;
      forces.values[2 * i + 1] = 4 * force.y;
    }
    return forces;
  }

  // Σ p log p/q = Σ p log p − Σ p log w + log Σ w, as p sums to 1.
  double kl(const std::vector<float>& x, const std::vector<float>& y) {
    double crossed = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      weights_of(x, y, i, weights_.data());
      const float* p = &p_.values[i * count_];
      for (std::size_t j = 0; j < count_; ++j)
        if (p[j] > 1e-9F) crossed += static_cast<double>(p[j] * std::log(weights_[j]));
    }
    return entropy_ - crossed + std::log(sum_of_weights(x, y));
  }

 private:
  double sum_of_weights(const std::vector<float>& x, const std::vector<float>& y) {
    double sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += static_cast<double>(weights_of(x, y, i, weights_.data()));
    return sum;
  }

  const Matrix& p_;
  std::vector<float> weights_;  // of one point
  std::size_t count_;
  double entropy_ = 0;  // Σ p log p
};

void split(const Matrix& points, std::vector<float>& x, std::vector<float>& y) {
  for (int row = 0; row < points.rows; ++row) {
    x.push_back(points.at(row, 0));
    y.push_back(points.at(row, 1));
  }
}

void centre(std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  const auto mean = static_cast<float>(sum / static_cast<double>(values.size()));
  for (float& value : values) value -= mean;
}

// One coordinate of all points, with momentum and gains (Jacobs 1988), as in the paper's code.
struct Motion {
  std::vector<float> at, velocity, gain;

  void step(const Matrix& forces, int col, float rate, float momentum) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const float force = forces.values[2 * i + static_cast<std::size_t>(col)];
      const bool same = (force > 0) == (velocity[i] > 0);
      gain[i] = std::max(0.01F, same ? gain[i] * 0.8F : gain[i] + 0.2F);
      velocity[i] = momentum * velocity[i] - rate * gain[i] * force;
      at[i] += velocity[i];
    }
    centre(at);
  }
};

Motion begun(int count, std::mt19937_64& random) {
  std::normal_distribution<float> near_zero(0, 1e-4F);
  Motion motion;
  for (int i = 0; i < count; ++i) motion.at.push_back(near_zero(random));
  motion.velocity.assign(motion.at.size(), 0);
  motion.gain.assign(motion.at.size(), 1);
  return motion;
}

}  // namespace

double largest_perplexity(int points) {
  return std::max(1.0, (points - 1) / 3.0);
}

Matrix tsne_affinities(const Matrix& vectors, double perplexity, const TsneProgress& progress) {
  const int count = vectors.rows;
  Matrix p(count, count);
  std::vector<float> distances(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    if (progress && i % 16 == 0) progress(static_cast<double>(i) / count);
    squared_distances(vectors, i, distances);
    conditional(distances, i, std::min(perplexity, largest_perplexity(count)),
                &p.values[static_cast<std::size_t>(i) * count]);
  }
  const float half = 0.5F / static_cast<float>(count);
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < i; ++j) p.at(i, j) = p.at(j, i) = (p.at(i, j) + p.at(j, i)) * half;
  return p;
}

TsneGradient tsne_gradient(const Matrix& affinities, const Matrix& points, double exaggeration) {
  std::vector<float> x, y;
  split(points, x, y);
  Descent descent(affinities);
  return {descent.forces(x, y, exaggeration), descent.kl(x, y)};
}

TsneResult tsne(const Matrix& vectors, const TsneOptions& options, const TsneProgress& progress) {
  TsneResult result{Matrix(vectors.rows, 2), {}};
  std::mt19937_64 random(options.seed);
  Motion x = begun(vectors.rows, random), y = begun(vectors.rows, random);
  const auto report = [&](double fraction) {
    if (progress) progress(fraction);
  };
  if (vectors.rows >= 4) {
    const Matrix p =
        tsne_affinities(vectors, options.perplexity, [&](double fraction) { report(fraction * share_of_affinities); });
    Descent descent(p);
    // Belkina et al. 2019: N / exaggeration, and at least the paper's initial rate.
    const auto rate = static_cast<float>(std::max(50.0, vectors.rows / options.exaggeration));
    for (int i = 0; i < options.iterations; ++i) {
      const bool early = i < options.exaggerated;
      if (i % iterations_between_kl == 0) result.kl.push_back(static_cast<float>(descent.kl(x.at, y.at)));
      const Matrix forces = descent.forces(x.at, y.at, early ? options.exaggeration : 1);
      x.step(forces, 0, rate, early ? 0.5F : 0.8F);
      y.step(forces, 1, rate, early ? 0.5F : 0.8F);
      report(share_of_affinities + (1 - share_of_affinities) * (i + 1) / options.iterations);
    }
    result.kl.push_back(static_cast<float>(descent.kl(x.at, y.at)));
  }
  for (std::size_t i = 0; i < x.at.size(); ++i) {
    result.points.values[2 * i] = x.at[i];
    result.points.values[2 * i + 1] = y.at[i];
  }
  return result;
}

}  // namespace attnscope
