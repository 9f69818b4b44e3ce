// View state of the workspace on the origins of attention, and its results.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/kernel_regression.h"
#include "analysis/learned_pooling.h"
#include "analysis/score_scaling.h"
#include "analysis/superposition.h"
#include "config/config.h"
#include "widgets/plot.h"
#include "workspaces/origins/model_views.h"

namespace attnscope {

enum class OriginsMode {
  kernels,
  learned,
  scaling,
  schedule,
  superposition,
  // The rest requires a model.
  cell,
  state_attention,
  bottleneck,
  through_time,
  cost,
  lengths,
  classes,
};

// ---- points, shared by the chapters on pooling

inline constexpr std::size_t most_points = 100;  // limits the time per frame

struct PointsView {
  std::uint64_t seed = 1;
  double noise = 1;
  KeyedValues known = sample_values(40, 1, 1);  // sorted by key
  std::uint64_t version = 1;                    // of the points above

  std::optional<std::size_t> chosen;   // the point that the delete keys remove
  std::optional<std::size_t> dragged;  // while the mouse drags it
  int query = 22;                      // the query whose weights are shown on the points: a row of regression_queries()
  PlotAxis axis;
  PlotView plot;
  PlotRange limits;  // of the values
};

void redraw(PointsView& view);
// Scales the noise that was drawn to the new deviation.
void set_noise(PointsView& view, double noise);
void add_point(PointsView& view, double key, double value);
void remove_point(PointsView& view, std::size_t index);
// Keys stay sorted: updates `chosen` and `dragged` accordingly.
void move_point(PointsView& view, std::size_t index, double key, double value);

// ---- kernel regression

inline constexpr double least_width = 0.05, most_width = 20;

struct KernelsView {
  Kernel kernel = Kernel::gaussian;
  double width = 0.5;
  PlotAxis sweep_axis{.log = true};
  PlotView sweep_plot;

  // ---- derived when the settings above or the points change
  std::uint64_t points = 0;  // version of the points used
  Kernel shown_kernel = Kernel::gaussian;
  double shown_width = 0;
  KernelFit fit;
  FitError error;
  double left_out = 0;
  double average = 0;  // of all values
  Series clean, estimate, lower, upper;
  Series measured, expected, bias, variance, others;  // as functions of the width
  std::uint64_t version = 0;
};

void settle(KernelsView& view, const PointsView& points);

// ---- learned pooling

struct LearnedView {
  PoolingStep step = PoolingStep::width;
  double first_width = 2;
  double learning_rate = 0.02;
  bool learning = false;
  int head = 0;

  LearnedPooling pooling = first_pooling(PoolingStep::width, 2, 1);
  PoolingDescent descent;
  int updates = 0;
  Series losses;
  PlotAxis losses_axis;
  PlotView losses_plot;

  // ---- derived when the parameters or the points change
  bool stale = true;
  std::uint64_t points = 0;
  int shown_head = 0;
  double loss = 0;         // at the present parameters
  double clean_error = 0;  // mean (estimate − clean)² over the queries
  Matrix weights;          // of the head
  Series clean, estimate;
  std::uint64_t version = 0;
};

inline constexpr int most_updates = 20'000;

// Reinitializes the parameters.
void restart(LearnedView& view, PoolingStep step);
void learn(LearnedView& view, const PointsView& points, int updates);
// Limited so that a frame stays short.
int updates_a_frame(const LearnedView& view, const PointsView& points);
void settle(LearnedView& view, const PointsView& points);

// ---- √d_k

struct ScalingView {
  int d = 64;
  int keys = 16;
  std::uint64_t seed = 1;
  int row = 0;  // the query whose softmax is drawn

  // ---- derived when one of these changes
  std::optional<ScoreSample> sample;
  std::uint64_t sampled = 0;  // its seed
  ScaledScores scores;
  Series histogram, normal;  // densities
  Series plain, divided;     // weights of the row, one per key
  int shown_row = -1;
  Series entropy_plain, entropy_divided, jacobian_plain, jacobian_divided;  // as functions of d
  std::uint64_t version = 0;

  int queries() const { return sample ? sample->queries() : 1; }

  PlotAxis histogram_axis, row_axis, growth_axis{.log = true};
  PlotView histogram_plot, row_plot, entropy_plot, jacobian_plot;
};

void settle(ScalingView& view);

// ---- the learning rate

struct ScheduleView {
  bool begun = false;  // initialized from the run's configuration
  int d_model = 512;
  int warmup = 4000;
  double factor = 1;
  int updates = 20'000;  // number of steps drawn
  PlotAxis axis;
  PlotView plot;
  Series planned;
};

inline constexpr int widest_model = 4096, longest_warmup = 40'000, most_planned = 400'000;

void take_run(ScheduleView& view, const Config& config);
double rate_at(const ScheduleView& view, std::int64_t update);
void settle(ScheduleView& view);

// ---- superposition

inline constexpr int most_toy_features = 8, most_toy_steps = 5000;

// Every change of a setting trains a new model.
struct SuperpositionView {
  ToyFeatures features;
  std::uint64_t seed = 1;
  bool learning = true;
  ToyModel model{ToyFeatures().count, 1};
  int steps = 0;
  Series losses;    // means over 20 steps
  Matrix products;  // n × (n + 1): WᵀW and b
  std::uint64_t version = 0;
  PlotAxis axis;
  PlotView plot;
};

void restart(SuperpositionView& view);
void restart_with_next_seed(SuperpositionView& view);
void learn(SuperpositionView& view, int steps);

struct OriginsView {
  OriginsMode mode = OriginsMode::kernels;
  PointsView points;
  KernelsView kernels;
  LearnedView learned;
  ScalingView scaling;
  ScheduleView schedule;
  SuperpositionView superposition;
  RecurrentView recurrent;
  GradientsView gradients;
  CostView cost;
  LengthsView lengths;
  ClassesView classes;
};

}  // namespace attnscope
