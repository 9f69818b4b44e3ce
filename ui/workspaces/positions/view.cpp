#include "workspaces/positions/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analysis/attention_measures.h"

namespace attnscope {
namespace {

constexpr int samples = 1200;  // of a wave

// The attention distance for uniform weights; must agree with measures_of.
double alike_distance(int rows, int cols, bool causal) {
  Matrix alike(rows, cols);
  for (int row = 0; row < rows; ++row) {
    const int seen = causal ? std::min(row + 1, cols) : cols;
    for (int col = 0; col < seen; ++col) alike.at(row, col) = 1.0F / static_cast<float>(seen);
  }
  return static_cast<double>(measures_of(alike, causal).distance);
}

// A wave above the sampling rate alternates from one sample to the next, because aliasing would show it as a slow wave.
Series wave(int pair, const WavelengthsView& view) {
  Series series;
  const double step = static_cast<double>(view.far) / samples, length = wavelength(pair, view.width);
  for (int i = 0; i <= samples; ++i) {
    const double position = i * step;
    series.x.push_back(position);
    const double up_or_down = i % 2 == 0 ? 1 : -1;
    series.y.push_back(length < 4 * step ? up_or_down : std::sin(2 * std::numbers::pi * position / length));
  }
  return series;
}

void measure_part(LocalityView& view, AttentionPart part, const Snapshot& snapshot) {
  PartDistances distances{.part = part};
  const AttentionMaps& maps = maps_of(snapshot, part);
  const bool causal = is_causal(snapshot.model, part);
  for (std::size_t layer = 0; layer < maps.size(); ++layer) {
    double sum = 0;
    for (std::size_t head = 0; head < maps[layer].size(); ++head) {
      const Matrix& map = maps[layer][head];
      distances.alike = alike_distance(map.rows, map.cols, causal);
      const auto distance = static_cast<double>(measures_of(map, causal).distance);
      view.heads.push_back({{part, static_cast<int>(layer), static_cast<int>(head)}, distance, distances.alike});
      sum += distance;
    }
    distances.means.x.push_back(static_cast<double>(layer) + 1);
    distances.means.y.push_back(sum / static_cast<double>(maps[layer].size()));
  }
  if (distances.alike <= 0) {  // with a single token there is no distance
    std::erase_if(view.heads, [&](const HeadDistance& head) { return head.place.part == part; });
    return;
  }
  view.layers = std::max(view.layers, distances.means.x.back());
  view.parts.push_back(std::move(distances));
}

}  // namespace

double rope_angle(int pair, int width, double base) {
  return std::pow(base, -2.0 * pair / width);
}

void move_both(TurningView& view) {
  if (std::max(view.query, view.key) == last_position) return;
  ++view.query;
  ++view.key;
}

void settle(TurningView& view) {
  if (view.of_width == view.width && view.of_base == view.base) return;
  view.of_width = view.width;
  view.of_base = view.base;
  view.product = {};
  const int pairs = view.width / 2;
  for (int apart = 0; apart <= last_position; ++apart) {
    double sum = 0;
    for (int pair = 0; pair < pairs; ++pair) sum += std::cos(apart * rope_angle(pair, view.width, view.base));
    view.product.x.push_back(apart);
    view.product.y.push_back(sum / pairs);
  }
}

double wavelength(int pair, int width) {
  return 2 * std::numbers::pi * std::pow(10000.0, 2.0 * pair / width);
}

void settle(WavelengthsView& view) {
  if (view.of_width == view.width && view.of_far == view.far) return;
  view.of_width = view.width;
  view.of_far = view.far;
  const int pairs = std::max(1, view.width / 2);
  view.lengths = {};
  for (int pair = 0; pair < pairs; ++pair) {
    view.lengths.x.push_back(2 * pair);
    view.lengths.y.push_back(wavelength(pair, view.width));
  }
  view.waves.clear();
  view.wave_names.clear();
  for (const int quarter : {0, 1, 2, 3, 4}) {
    const int pair = std::min(pairs * quarter / 4, pairs - 1);
    view.waves.push_back(wave(pair, view));
    view.wave_names.push_back(fmt::format("2i = {}", 2 * pair));
  }
}

void settle(LocalityView& view, const std::shared_ptr<const Snapshot>& snapshot) {
  if (view.snapshot == snapshot) return;
  view.snapshot = snapshot;
  view.heads.clear();
  view.parts.clear();
  view.layers = 1;
  view.highest = 0;
  for (const AttentionPart part : {AttentionPart::encoder, AttentionPart::decoder})
    if (!maps_of(*snapshot, part).empty() && snapshot->model.has_weights()) measure_part(view, part, *snapshot);
  for (const HeadDistance& head : view.heads) view.highest = std::max({view.highest, head.distance, head.alike});
  if (!(view.highest > 0)) view.highest = 1;
}

void take_orders(OrdersView& view, OrderResult inspection, std::uint64_t run, std::int64_t step) {
  view.inspection = std::move(inspection);
  view.run = run;
  view.step = step;
}

}  // namespace attnscope
