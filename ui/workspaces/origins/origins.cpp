#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/row.h"
#include "workspaces/attention/view.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

constexpr std::array modes = {
    WorkspaceView{"kernels", "Kernel regression",
                  "The mean of known values, weighted by distance: attention before it had the name.", "Kernels",
                  ViewNeeds::nothing},
    WorkspaceView{"learned", "Learned attention",
                  "The same formula, changed in one place at a time, up to softmax(QK\u1D40/\u221Ad_k)V.", "Learned",
                  ViewNeeds::nothing},
    WorkspaceView{"scaling", "\u221Ad_k", "Why scores are divided by \u221Ad_k (paper \u00A73.2.1).", nullptr,
                  ViewNeeds::nothing},
    WorkspaceView{"schedule", "Learning rate",
                  "Warm-up and decay of the learning rate, without training (paper \u00A75.3).", "Rate",
                  ViewNeeds::nothing},
    WorkspaceView{"superposition", "Superposition",
                  "How a layer represents more features than it has dimensions (2209.10652).", "Sparse",
                  ViewNeeds::nothing},
    WorkspaceView{"cell", "Recurrent cell", "Gates and states of an RNN, LSTM or GRU, token by token.", "Cell"},
    WorkspaceView{"state-attention", "Attention over states",
                  "Bahdanau\u2019s and Luong\u2019s attention: energies, weights, context (1409.0473, 1508.04025).",
                  "States"},
    WorkspaceView{"bottleneck", "Bottleneck",
                  "Without attention a single vector carries the whole sentence. This view shows it and what is "
                  "decoded from it (1409.3215).",
                  "Vector"},
    WorkspaceView{"through-time", "Backpropagation through time",
                  "How far the gradient of a loss reaches back: at each input token, and at each layer.", "BPTT"},
    WorkspaceView{"cost", "Cost",
                  "Time and memory of self-attention, recurrence and convolution by length (paper table 1)."},
    WorkspaceView{"length", "Length", "Translation quality by sentence length, also beyond the lengths in training."},
    WorkspaceView{"classes", "Classifier",
                  "A classifier: the probability of every label as you type, what it depends on, and which classes are "
                  "confused.",
                  "Classes"},
};
static_assert(modes.size() == static_cast<std::size_t>(OriginsMode::classes) + 1);

// ---- the keys

template <int by>
void change_mode(WorkspaceContext& context) {
  OriginsView& view = context.views.of<OriginsView>();
  view.mode =
      static_cast<OriginsMode>(clamped(static_cast<int>(view.mode) + by, 0, static_cast<int>(modes.size()) - 1));
}

int scaled(int value, int by, int most) {
  const double factor = by > 0 ? 1.1 : 1 / 1.1;
  return clamped(static_cast<int>(std::lround(value * factor)) + by, 1, most);
}

// Changes the width, d, or warm-up.
template <int by>
void change_size(WorkspaceContext& context) {
  OriginsView& view = context.views.of<OriginsView>();
  const double factor = by > 0 ? 1.1 : 1 / 1.1;
  if (view.mode == OriginsMode::kernels)
    view.kernels.width = clamped(view.kernels.width * factor, least_width, most_width);
  if (view.mode == OriginsMode::learned) {
    view.learned.first_width = clamped(view.learned.first_width * factor, 0.1, 5.0);
    restart(view.learned, view.learned.step);
  }
  if (view.mode == OriginsMode::scaling)
    view.scaling.d = clamped(by > 0 ? view.scaling.d * 2 : view.scaling.d / 2, 1, ScoreSample::most_dimensions);
  if (view.mode == OriginsMode::schedule) view.schedule.warmup = scaled(view.schedule.warmup, by, longest_warmup);
  if (view.mode == OriginsMode::cell) view.recurrent.token = std::max(0, view.recurrent.token + by);
  if (view.mode == OriginsMode::through_time && view.gradients.inspection)
    ask_for_gradients(context, view.gradients, std::max(0, view.gradients.inspection->output + by));
}

// Changes the kernel, head, row or model width.
template <int by>
void change_choice(WorkspaceContext& context) {
  OriginsView& view = context.views.of<OriginsView>();
  const auto moved = [](int value, int most) { return clamped(value + by, 0, most); };
  if (view.mode == OriginsMode::kernels)
    view.kernels.kernel =
        static_cast<Kernel>(moved(static_cast<int>(view.kernels.kernel), static_cast<int>(Kernel::triangle)));
  if (view.mode == OriginsMode::learned) view.learned.head = moved(view.learned.head, view.learned.pooling.heads() - 1);
  if (view.mode == OriginsMode::scaling) view.scaling.row = moved(view.scaling.row, view.scaling.queries() - 1);
  if (view.mode == OriginsMode::schedule) view.schedule.d_model = scaled(view.schedule.d_model, -by, widest_model);
  if (view.mode == OriginsMode::cell) view.recurrent.row = std::max(0, view.recurrent.row + by);
  if (view.mode == OriginsMode::state_attention) view.recurrent.query = std::max(0, view.recurrent.query + by);
}

void play(WorkspaceContext& context) {
  OriginsView& view = context.views.of<OriginsView>();
  const bool can = view.learned.step != PoolingStep::kernel && view.points.known.size() > 1;
  if (view.mode == OriginsMode::learned) view.learned.learning = can && !view.learned.learning;
  if (view.mode == OriginsMode::superposition)
    view.superposition.learning = !view.superposition.learning && view.superposition.steps < most_toy_steps;
}

void step(WorkspaceContext& context) {
  OriginsView& view = context.views.of<OriginsView>();
  if (view.mode == OriginsMode::learned) learn(view.learned, view.points, 1);
  if (view.mode == OriginsMode::superposition) learn(view.superposition, 1);
}

void restart_all(WorkspaceContext& context) {
  OriginsView& view = context.views.of<OriginsView>();
  if (view.mode == OriginsMode::learned) return restart(view.learned, view.learned.step);
  if (view.mode == OriginsMode::through_time) return ask_for_gradients(context, view.gradients, -1);
  if (view.mode == OriginsMode::cost) return ask_for_cost(context, view.cost);
  if (view.mode == OriginsMode::lengths) return ask_for_lengths(context, view.lengths);
  if (view.mode == OriginsMode::classes) return ask_for_classes(context, view.classes);
  if (view.mode == OriginsMode::schedule && context.has_run) return take_run(view.schedule, context.config);
  if (view.mode == OriginsMode::scaling) ++view.scaling.seed;
  if (view.mode == OriginsMode::superposition) restart_with_next_seed(view.superposition);
  if (view.mode == OriginsMode::kernels) redraw(view.points);
}

bool has_points(const OriginsView& view) {
  return view.mode == OriginsMode::kernels || view.mode == OriginsMode::learned;
}

void add(WorkspaceContext& context) {
  OriginsView& view = context.views.of<OriginsView>();
  const double x = view.points.query / 10.0;
  if (has_points(view)) add_point(view.points, x, clean_value(x));
}

void remove(WorkspaceContext& context) {
  OriginsView& view = context.views.of<OriginsView>();
  if (has_points(view) && view.points.chosen) remove_point(view.points, *view.points.chosen);
}

constexpr const char* next_mode = mark("next view, previous view");
constexpr const char* size = mark("decrease, increase width, d or warm-up; previous, next token");
constexpr const char* choice = mark("next, previous kernel, head, query or unit; d_model");
constexpr std::array keys = {
    WorkspaceKey{{.key = Key::page_down}, next_mode, change_mode<1>},
    WorkspaceKey{{.key = Key::page_up}, next_mode, change_mode<-1>},
    WorkspaceKey{{.key = Key::left, .repeats = true}, size, change_size<-1>},
    WorkspaceKey{{.key = Key::right, .repeats = true}, size, change_size<1>},
    WorkspaceKey{{.key = Key::down, .repeats = true}, choice, change_choice<1>},
    WorkspaceKey{{.key = Key::up, .repeats = true}, choice, change_choice<-1>},
    WorkspaceKey{{.key = Key::enter}, "learn, pause", play},
    WorkspaceKey{{.key = Key::end, .repeats = true}, "one optimizer step", step},
    WorkspaceKey{{.key = Key::home},
                 "start again: new points, initial parameters, another draw, the run's schedule, measure again",
                 restart_all},
    WorkspaceKey{{.key = Key::insert}, "add a point at the query", add},
    WorkspaceKey{{.key = Key::del}, "remove the selected point", remove},
};

bool is_recurrent(OriginsMode mode) {
  return mode == OriginsMode::cell || mode == OriginsMode::state_attention || mode == OriginsMode::bottleneck;
}

// ---- the numbers

// One row per query: clean value, estimate, and the weight of every key.
WorkspaceNumbers pooling_numbers(const KeyedValues& known, const Series& estimate, const Matrix& weights,
                                 std::string title) {
  WorkspaceNumbers numbers{Matrix(weights.rows, weights.cols + 2), {}, {"2 sin x + x", "estimate"}, std::move(title)};
  for (const double key : known.keys) numbers.cols.push_back(fmt::format("weight of key {:.4f}", key));
  for (int row = 0; row < weights.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    numbers.rows.push_back(fmt::format("{:.1f}", estimate.x[at]));
    numbers.matrix.at(row, 0) = static_cast<float>(clean_value(estimate.x[at]));
    numbers.matrix.at(row, 1) = static_cast<float>(estimate.y[at]);
    for (int col = 0; col < weights.cols; ++col) numbers.matrix.at(row, col + 2) = weights.at(row, col);
  }
  return numbers;
}

std::optional<WorkspaceNumbers> superposition_numbers(const SuperpositionView& view) {
  if (view.version == 0) return std::nullopt;
  WorkspaceNumbers numbers{view.products, {}, {}, "superposition"};
  for (int feature = 1; feature <= view.products.rows; ++feature)
    numbers.rows.push_back(fmt::format("feature {}", feature));
  numbers.cols = numbers.rows;
  numbers.cols.emplace_back("bias");
  return numbers;
}

std::optional<WorkspaceNumbers> schedule_numbers(const ScheduleView& view) {
  if (view.planned.x.empty()) return std::nullopt;
  WorkspaceNumbers numbers{Matrix(static_cast<int>(view.planned.x.size()), 1), {}, {"learning rate"}, "noam schedule"};
  for (std::size_t i = 0; i < view.planned.x.size(); ++i) {
    numbers.rows.push_back(fmt::format("update {}", view.planned.x[i]));
    numbers.matrix.values[i] = static_cast<float>(view.planned.y[i]);
  }
  return numbers;
}

// For the cell: all its maps stacked, one column per token.
std::optional<WorkspaceNumbers> cell_numbers(const RecurrentView& view) {
  if (view.maps.empty() || !view.snapshot || !view.snapshot->recurrent) return std::nullopt;
  const std::vector<std::string>& tokens = view.snapshot->recurrent->tokens;
  const int units = view.maps.front().values.rows;
  WorkspaceNumbers numbers{Matrix(units * static_cast<int>(view.maps.size()), static_cast<int>(tokens.size())),
                           {},
                           tokens,
                           "recurrent cell"};
  int at = 0;
  for (const CellMap& map : view.maps)
    for (int row = 0; row < units; ++row, ++at) {
      numbers.rows.push_back(fmt::format("{}, unit {}", map.name, view.unit_names[static_cast<std::size_t>(row)]));
      for (int col = 0; col < numbers.matrix.cols; ++col) numbers.matrix.at(at, col) = map.values.at(row, col);
    }
  return numbers;
}

std::optional<WorkspaceNumbers> state_numbers(const OriginsView& view) {
  if (!view.recurrent.snapshot || !view.recurrent.snapshot->recurrent) return std::nullopt;
  const RecurrentStates& inspection = *view.recurrent.snapshot->recurrent;
  if (view.mode == OriginsMode::bottleneck) {
    WorkspaceNumbers numbers{inspection.handed, inspection.handed_names, {}, "bottleneck"};
    for (int col = 0; col < inspection.handed.cols; ++col) numbers.cols.push_back(fmt::to_string(col));
    return numbers;
  }
  if (inspection.attention.empty()) return std::nullopt;
  return WorkspaceNumbers{inspection.attention.front().energies, inspection.written, inspection.source, "energies"};
}

}  // namespace

std::span<const WorkspaceKey> origin_keys() {
  return keys;
}

std::span<const WorkspaceView> origin_modes() {
  return modes;
}

void show_origin_mode(Views& views, std::size_t mode) {
  views.of<OriginsView>().mode = static_cast<OriginsMode>(mode);
}

void ask_for_origins(const Views& views, Probe& probe) {
  const OriginsView& view = views.of<OriginsView>();
  if (view.mode == OriginsMode::scaling) probe.inside = views.of<AttentionView>().place();
  if (is_recurrent(view.mode)) probe.recurrent = view.recurrent.wanted;
}

std::optional<WorkspaceNumbers> origin_numbers(const Views& views) {
  const OriginsView& view = views.of<OriginsView>();
  const KeyedValues& known = view.points.known;
  const auto fits = [&](const Matrix& weights) { return weights.cols == static_cast<int>(known.size()); };
  if (view.mode == OriginsMode::scaling) return scaling_numbers(view.scaling);
  if (view.mode == OriginsMode::schedule) return schedule_numbers(view.schedule);
  if (view.mode == OriginsMode::superposition) return superposition_numbers(view.superposition);
  if (view.mode == OriginsMode::cell) return cell_numbers(view.recurrent);
  if (is_recurrent(view.mode)) return state_numbers(view);
  if (view.mode == OriginsMode::through_time) return gradient_numbers(view.gradients);
  if (view.mode == OriginsMode::cost) return cost_numbers(view.cost);
  if (view.mode == OriginsMode::lengths) return length_numbers(view.lengths);
  if (view.mode == OriginsMode::classes) return class_numbers(view.classes);
  if (view.mode == OriginsMode::kernels) {
    if (view.kernels.version == 0 || !fits(view.kernels.fit.weights)) return std::nullopt;
    return pooling_numbers(known, view.kernels.estimate, view.kernels.fit.weights, tr("kernel regression"));
  }
  if (view.learned.version == 0 || !fits(view.learned.weights)) return std::nullopt;
  return pooling_numbers(known, view.learned.estimate, view.learned.weights, tr("learned attention"));
}

bool is_learning(const Views& views) {
  const OriginsView& view = views.of<OriginsView>();
  return (view.mode == OriginsMode::learned && view.learned.learning) ||
         (view.mode == OriginsMode::superposition && view.superposition.learning);
}

void draw_origins(WorkspaceContext& context) {
  OriginsView& view = context.views.of<OriginsView>();
  view.mode = static_cast<OriginsMode>(draw_view_choices(modes, static_cast<std::size_t>(view.mode), context.skin, {},
                                                   context.maps.newest.snapshot.get()));
  end_choices();
  // Same order as OriginsMode.
  constexpr std::array draws = {draw_kernels,       draw_learned, draw_scaling,         draw_schedule,
                                draw_superposition, draw_cell,    draw_state_attention, draw_bottleneck,
                                draw_through_time,  draw_cost,    draw_lengths,         draw_classes};
  static_assert(draws.size() == modes.size());
  draws[static_cast<std::size_t>(view.mode)](context, view);
}

}  // namespace attnscope
