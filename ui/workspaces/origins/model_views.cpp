#include "workspaces/origins/model_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/cell_memory.h"
#include "analysis/matrix_algebra.h"
#include "base/translation.h"
#include "common/clamped.h"

namespace attnscope {
namespace {

// L×H → one row per unit, in that order.
Matrix by_unit(const Matrix& values, const std::vector<int>& order) {
  Matrix turned(static_cast<int>(order.size()), values.rows);
  for (int row = 0; row < turned.rows; ++row)
    for (int col = 0; col < turned.cols; ++col)
      turned.at(row, col) = values.at(col, order[static_cast<std::size_t>(row)]);
  return turned;
}

CellMap cell_map(std::string name, const Matrix& values, const std::vector<int>& order, bool share) {
  CellMap map{.name = std::move(name), .values = by_unit(values, order)};
  if (share) return map;
  map.high = color_range(values.values);
  map.low = -map.high;
  map.is_signed = true;
  return map;
}

void make_maps(RecurrentView& view, const RecurrentStates& inspection) {
  view.maps.clear();
  for (const CellGate& gate : inspection.gates) {
    if (inspection.cell == "rnn") break;  // its only sum is h itself
    view.maps.push_back(cell_map(gate.name + " " + gate.symbol, gate.values, view.order, gate.name != "candidate"));
  }
  if (!inspection.c.empty()) view.maps.push_back(cell_map(tr("memory cell c"), inspection.c, view.order, false));
  view.maps.push_back(cell_map(tr("state h"), inspection.h, view.order, false));
}

}  // namespace

const RecurrentStates* settle(RecurrentView& view, const std::shared_ptr<const Snapshot>& snapshot) {
  const RecurrentStates* inspection = snapshot ? snapshot->recurrent.get() : nullptr;
  if (!inspection || inspection->h.empty()) return inspection;
  const bool anew = view.snapshot != snapshot || view.ordered_by_memory != view.by_memory;
  if (anew) {
    view.snapshot = snapshot;
    view.ordered_by_memory = view.by_memory;
    view.order.resize(static_cast<std::size_t>(inspection->h.cols));
    std::iota(view.order.begin(), view.order.end(), 0);
    if (view.by_memory) view.order = by_memory(*inspection);
    view.kept.clear();
    view.unit_names.clear();
    for (const int unit : view.order) {
      view.kept.push_back(kept_share(*inspection, unit));
      view.unit_names.push_back(std::to_string(unit));
    }
    make_maps(view, *inspection);
    ++view.version;
  }
  view.row = clamped(view.row, 0, inspection->h.cols - 1);
  view.token = clamped(view.token, 0, inspection->h.rows - 1);
  view.query = clamped(view.query, 0, std::max(0, static_cast<int>(inspection->written.size()) - 1));
  return inspection;
}

// ---- gradients

namespace {

// Concatenates source and target, for one row of both.
Series in_a_row(const PassGradients& pass, int row) {
  Series series;
  for (const StackGradients* stack : {&pass.encoder, &pass.decoder}) {
    const bool has = row < stack->norms.rows;
    for (int col = 0; col < static_cast<int>(stack->tokens.size()); ++col) {
      series.x.push_back(static_cast<double>(series.x.size()));
      series.y.push_back(has ? static_cast<double>(stack->norms.at(row, col)) : std::nan(""));
    }
  }
  return series;
}

int top_row(const PassGradients& pass) {
  return std::max(pass.encoder.norms.rows, pass.decoder.norms.rows) - 1;
}

Series of_layers(const PassGradients& pass) {
  Series series;
  for (const StackGradients* stack : {&pass.encoder, &pass.decoder})
    for (int row = 0; row < stack->norms.rows; ++row) {
      series.x.push_back(static_cast<double>(series.x.size()));
      series.y.push_back(stack->of_layer(row));
    }
  return series;
}

std::vector<std::string> layer_names(const PassGradients& pass) {
  std::vector<std::string> names;
  for (const auto& [stack, name] : {std::pair{&pass.encoder, tr("encoder")}, std::pair{&pass.decoder, tr("decoder")}})
    for (int row = 0; row < stack->norms.rows; ++row)
      names.push_back(row == 0 ? trf("{}, embedding", name) : trf("{}, layer {}", name, row));
  return names;
}

void make_lines(GradientsView& view) {
  view.lines.clear();
  view.names.clear();
  const GradientResult& inspection = *view.inspection;
  for (int row = 0; row <= top_row(inspection.plain); ++row) {
    view.lines.push_back(in_a_row(inspection.plain, row));
    view.names.push_back(row == 0 ? "\u2202L/\u2202x" : trf("\u2202L/\u2202h, layer {}", row));
  }
  for (const GradientResult& kept : view.kept) {
    view.lines.push_back(in_a_row(kept.plain, 0));
    view.names.push_back("\u2202L/\u2202x, " + kept.model);
  }
  view.layers_plain = of_layers(inspection.plain);
  view.layers_bare = inspection.bare.empty() ? Series() : of_layers(inspection.bare.front());
  view.layer_names = layer_names(inspection.plain);
}

}  // namespace

void take_gradients(GradientsView& view, GradientResult inspection, std::uint64_t run, std::int64_t step) {
  view.run = run;
  view.step = step;
  view.asked = inspection.question;
  view.inspection = std::move(inspection);
  make_lines(view);
}

void keep_gradients(GradientsView& view) {
  constexpr std::size_t most_kept = 4;
  if (!view.inspection || !view.inspection->problem.empty()) return;
  std::erase_if(view.kept, [&](const GradientResult& kept) { return kept.model == view.inspection->model; });
  if (view.kept.size() == most_kept) view.kept.erase(view.kept.begin());
  view.kept.push_back(*view.inspection);
  make_lines(view);
}

// ---- cost

void take_cost(CostView& view, CostResult inspection, std::uint64_t run) {
  view.run = run;
  view.asked = true;
  view.measured.clear();
  view.expected.clear();
  view.held.clear();
  for (const CostCurve& curve : inspection.curves) {
    Series measured, held, expected;
    for (const CostPoint& point : curve.points) {
      const auto length = static_cast<double>(point.length);
      measured.x.push_back(length);
      measured.y.push_back(point.milliseconds());
      held.x.push_back(length);
      held.y.push_back(point.megabytes);
    }
    // The expected number of multiplications, scaled to pass through the last measured point.
    if (!curve.points.empty()) {
      const auto count = [&](std::int64_t n) {
        return multiplications(curve.layer, n, inspection.d_model, inspection.cell);
      };
      const double a_multiplication = curve.points.back().milliseconds() / count(curve.points.back().length);
      for (std::int64_t n = shortest_cost; n <= longest_cost; n *= 2) {
        expected.x.push_back(static_cast<double>(n));
        expected.y.push_back(a_multiplication * count(n));
      }
    }
    view.measured.push_back(std::move(measured));
    view.held.push_back(std::move(held));
    view.expected.push_back(std::move(expected));
  }
  view.inspection = std::move(inspection);
}

// ---- length

void take_lengths(LengthsView& view, LengthResult inspection, std::uint64_t run, std::int64_t step) {
  if (view.run == run && !view.inspections.empty()) view.inspections.pop_back();
  // Tokens of windows and words of sentences have no common axis.
  if (!view.inspections.empty() && (view.inspections.back().text != inspection.text ||
                                    (inspection.text && view.inspections.back().trained != inspection.trained)))
    view.inspections.clear();
  if (view.inspections.size() == max_inspections) view.inspections.erase(view.inspections.begin());
  view.run = run;
  view.step = step;
  view.inspections.push_back(std::move(inspection));
  view.exact.clear();
  view.loss.clear();
  for (const LengthResult& of : view.inspections) {
    Series exact, loss;
    for (const LengthPoint& point : of.points) {
      const auto length = static_cast<double>(point.length);
      if (point.pairs > 0) {
        exact.x.push_back(length);
        exact.y.push_back(100 * point.exact_share());
      }
      loss.x.push_back(length);
      loss.y.push_back(point.nll.per_token());
    }
    view.exact.push_back(std::move(exact));
    view.loss.push_back(std::move(loss));
  }
}

void take_confusion(ClassesView& view, Confusion confusion, std::uint64_t run, std::int64_t step) {
  const auto classes = static_cast<int>(confusion.labels.size());
  view.shares = view.counts = Matrix(classes, classes);
  for (int row = 0; row < classes; ++row) {
    const auto truth = static_cast<std::size_t>(row);
    const auto of_class = static_cast<float>(std::max<std::int64_t>(1, confusion.of_class(truth)));
    for (int col = 0; col < classes; ++col) {
      const auto count = static_cast<float>(confusion.at(truth, static_cast<std::size_t>(col)));
      view.counts.at(row, col) = count;
      view.shares.at(row, col) = count / of_class;
    }
  }
  if (confusion.labels != view.confusion.labels) view.zoom = {};
  view.confusion = std::move(confusion);
  view.run = run;
  view.step = step;
  ++view.version;
}

}  // namespace attnscope
