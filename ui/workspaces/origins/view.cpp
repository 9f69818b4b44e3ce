#include "workspaces/origins/view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/clamped.h"
#include "config/schedule.h"

namespace attnscope {
namespace {

constexpr int widths_tried = 40;
constexpr int bins = 48;

Series clean_series() {
  Series series{regression_queries(), {}};
  for (const double x : series.x) series.y.push_back(clean_value(x));
  return series;
}

void changed(PointsView& view) {
  ++view.version;
}

// Errors of the fit for all possible widths.
void sweep(KernelsView& view, const PointsView& points) {
  for (Series* series : {&view.measured, &view.expected, &view.bias, &view.variance, &view.others}) *series = {};
  const std::vector<double> queries = regression_queries();
  for (int i = 0; i < widths_tried; ++i) {
    const double width = least_width * std::pow(most_width / least_width, i / (widths_tried - 1.0));
    const FitError error = fit_error(kernel_fit(points.known, queries, view.kernel, width, points.noise));
    const auto add = [&](Series& series, double value) {
      series.x.push_back(width);
      series.y.push_back(value);
    };
    add(view.measured, error.clean);
    add(view.expected, error.squared_bias + error.variance);
    add(view.bias, error.squared_bias);
    add(view.variance, error.variance);
    add(view.others, left_out_error(points.known, view.kernel, width));
  }
}

// The density of the products in bins over ±4 standard deviations of N(0, d), and the density of N(0, d).
void count_products(ScalingView& view) {
  const double reach = 4 * std::sqrt(static_cast<double>(view.d)), width = 2 * reach / bins;
  view.histogram = view.normal = {};
  for (int bin = 0; bin < bins; ++bin) view.histogram.x.push_back(-reach + (bin + 0.5) * width);
  view.histogram.y.assign(bins, 0);
  const std::vector<float>& products = view.scores.products.values;
  const double of_each = 1 / (static_cast<double>(products.size()) * width);
  for (const float product : products) {
    const auto bin = static_cast<int>(std::floor((static_cast<double>(product) + reach) / width));
    if (bin >= 0 && bin < bins) view.histogram.y[static_cast<std::size_t>(bin)] += of_each;
  }
  for (int i = 0; i <= 160; ++i) {
    view.normal.x.push_back(-reach + 2 * reach * i / 160);
    view.normal.y.push_back(normal_density(view.normal.x.back(), view.d));
  }
}

void follow_growth(ScalingView& view) {
  view.entropy_plain = view.entropy_divided = view.jacobian_plain = view.jacobian_divided = {};
  for (int d = 1; d <= ScoreSample::most_dimensions; d *= 2) {
    const ScaledScores scores = view.sample->scores(d);
    const auto add = [&](Series& series, double value) {
      series.x.push_back(d);
      series.y.push_back(value);
    };
    add(view.entropy_plain, scores.of_plain.entropy);
    add(view.entropy_divided, scores.of_divided.entropy);
    add(view.jacobian_plain, scores.of_plain.jacobian);
    add(view.jacobian_divided, scores.of_divided.jacobian);
  }
}

Series row_series(const Matrix& weights, int row) {
  Series series;
  for (int col = 0; col < weights.cols; ++col) {
    series.x.push_back(col + 1);
    series.y.push_back(static_cast<double>(weights.at(row, col)));
  }
  return series;
}

}  // namespace

// ---- points

void redraw(PointsView& view) {
  view.known = sample_values(40, view.noise, ++view.seed);
  view.chosen = view.dragged = std::nullopt;
  changed(view);
}

void set_noise(PointsView& view, double noise) {
  for (std::size_t i = 0; i < view.known.size(); ++i) {
    const double clean = clean_value(view.known.keys[i]);
    view.known.values[i] = clean + (view.known.values[i] - clean) * noise / view.noise;
  }
  view.noise = noise;
  changed(view);
}

void add_point(PointsView& view, double key, double value) {
  if (view.known.size() == most_points) return;
  key = clamped(key, 0.0, last_key);
  const auto at = std::ranges::upper_bound(view.known.keys, key) - view.known.keys.begin();
  view.known.keys.insert(view.known.keys.begin() + at, key);
  view.known.values.insert(view.known.values.begin() + at, value);
  view.chosen = static_cast<std::size_t>(at);
  changed(view);
}

void remove_point(PointsView& view, std::size_t index) {
  view.known.keys.erase(view.known.keys.begin() + static_cast<std::ptrdiff_t>(index));
  view.known.values.erase(view.known.values.begin() + static_cast<std::ptrdiff_t>(index));
  view.chosen = view.dragged = std::nullopt;
  changed(view);
}

void move_point(PointsView& view, std::size_t index, double key, double value) {
  const bool dragged = view.dragged == index;
  remove_point(view, index);
  add_point(view, key, value);
  if (dragged) view.dragged = view.chosen;
}

// ---- kernel regression

void settle(KernelsView& view, const PointsView& points) {
  const bool same = view.shown_kernel == view.kernel && view.points == points.version;
  if (same && view.shown_width == view.width) return;
  view.points = points.version;
  view.shown_kernel = view.kernel;
  view.shown_width = view.width;
  view.fit = kernel_fit(points.known, regression_queries(), view.kernel, view.width, points.noise);
  view.error = fit_error(view.fit);
  view.left_out = left_out_error(points.known, view.kernel, view.width);
  const std::vector<double>& values = points.known.values;
  view.average = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  view.clean = clean_series();
  view.estimate = view.lower = view.upper = {view.fit.queries, view.fit.estimates};
  for (std::size_t i = 0; i < view.fit.deviation.size(); ++i) {
    view.lower.y[i] -= view.fit.deviation[i];
    view.upper.y[i] += view.fit.deviation[i];
  }
  if (!same) sweep(view, points);
  ++view.version;
}

// ---- learned pooling

void restart(LearnedView& view, PoolingStep step) {
  view.step = step;
  view.head = 0;
  view.pooling = first_pooling(step, view.first_width, 1);
  view.descent = {};
  view.updates = 0;
  view.losses = {};
  view.stale = true;
  if (step == PoolingStep::kernel) view.learning = false;
}

void learn(LearnedView& view, const PointsView& points, int updates) {
  for (int i = 0; i < updates; ++i) {
    const double loss = view.descent.update(view.pooling, points.known, view.learning_rate);
    if (!std::isfinite(loss) || view.updates == most_updates) {
      view.learning = false;
      return;
    }
    view.losses.x.push_back(view.updates++);
    view.losses.y.push_back(loss);
    view.stale = true;
  }
}

int updates_a_frame(const LearnedView& view, const PointsView& points) {
  const auto pairs = static_cast<int>(points.known.size() * points.known.size()) * view.pooling.heads();
  return clamped(20'000 / std::max(1, pairs), 1, 10);
}

void settle(LearnedView& view, const PointsView& points) {
  if (!view.stale && view.points == points.version && view.shown_head == view.head) return;
  view.stale = false;
  view.points = points.version;
  view.shown_head = view.head;
  view.loss = pooling_loss(view.pooling, points.known);
  view.clean = clean_series();
  const std::vector<double> queries = regression_queries();
  view.weights = pooling_weights(view.pooling, view.head, queries, points.known.keys);
  view.estimate = {queries, pooling_estimates(view.pooling, queries, points.known)};
  view.clean_error = 0;
  for (std::size_t i = 0; i < queries.size(); ++i)
    view.clean_error += std::pow(view.estimate.y[i] - view.clean.y[i], 2) / static_cast<double>(queries.size());
  ++view.version;
}

// ---- √d_k

void settle(ScalingView& view) {
  const bool same_sample = view.sample && view.sample->keys() == view.keys && view.sampled == view.seed;
  if (same_sample && view.scores.d == view.d && view.shown_row == view.row) return;
  if (!same_sample) {
    view.sample.emplace(view.keys, view.seed);
    view.sampled = view.seed;
    follow_growth(view);
  }
  view.row = std::min(view.row, view.sample->queries() - 1);
  view.scores = view.sample->scores(view.d);
  view.shown_row = view.row;
  view.plain = row_series(view.scores.plain, view.row);
  view.divided = row_series(view.scores.divided, view.row);
  count_products(view);
  ++view.version;
}

// ---- the learning rate

void take_run(ScheduleView& view, const Config& config) {
  view.begun = true;
  const TrainingConfig& training = config.training;
  view.d_model = static_cast<int>(std::min<std::int64_t>(config.model.d_model, widest_model));
  view.warmup = static_cast<int>(clamped<std::int64_t>(training.warmup_steps, 1, longest_warmup));
  view.factor = training.noam_factor;
  view.updates = clamped(5 * view.warmup, 100, most_planned);
}

double rate_at(const ScheduleView& view, std::int64_t update) {
  TrainingConfig training;
  training.schedule = "noam";
  training.noam_factor = view.factor;
  training.warmup_steps = view.warmup;
  return learning_rate_at(training, view.d_model, update);
}

void settle(ScheduleView& view) {
  constexpr int points = 400;
  view.planned = {};
  std::int64_t last = 0;
  const auto add = [&](std::int64_t update) {
    if (update <= last) return;
    view.planned.x.push_back(static_cast<double>(update));
    view.planned.y.push_back(rate_at(view, update));
    last = update;
  };
  for (int i = 0; i <= points; ++i) {
    const std::int64_t update = 1 + static_cast<std::int64_t>(view.updates - 1) * i / points;
    if (last < view.warmup && update > view.warmup) add(view.warmup);  // includes the peak itself
    add(update);
  }
}

// ---- superposition

void restart(SuperpositionView& view) {
  view.model = ToyModel(view.features.count, view.seed);
  view.steps = 0;
  view.losses = {};
  view.learning = true;
  learn(view, 0);
}

void restart_with_next_seed(SuperpositionView& view) {
  ++view.seed;
  restart(view);
}

void learn(SuperpositionView& view, int steps) {
  constexpr int steps_per_point = 20;
  for (int i = 0; i < steps; ++i) {
    const double loss = view.model.step(view.features);
    if (view.steps++ % steps_per_point == 0) {
      view.losses.x.push_back(view.steps);
      view.losses.y.push_back(0);
    }
    view.losses.y.back() += loss / steps_per_point;
  }
  if (view.steps >= most_toy_steps) view.learning = false;
  const int count = view.model.features();
  view.products = Matrix(count, count + 1);
  for (int row = 0; row < count; ++row) {
    for (int col = 0; col < count; ++col) view.products.at(row, col) = static_cast<float>(view.model.product(row, col));
    view.products.at(row, count) = static_cast<float>(view.model.bias(row));
  }
  ++view.version;
}

}  // namespace attnscope
