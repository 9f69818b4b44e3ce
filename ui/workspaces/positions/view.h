// What is looked at in the workspace of positions besides the numbers of the model's own scheme.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plain/order.h"
#include "plain/snapshot.h"
#include "widgets/plot.h"

namespace attnscope {

enum class PositionsMode { numbers, turning, wavelengths, locality, shuffled };

// ---- RoPE

struct TurningView {
  int query = 12;
  int key = 4;
  int width = 32;       // d_k
  double base = 10000;  // model.rope_theta
  PlotAxis axis;
  PlotView plot;

  int of_width = 0;  // that the series is of
  double of_base = 0;
  Series product;  // of two vectors alike in every pair, over how far apart they stand
};

inline constexpr int last_position = 512;  // of query and key

// θ_i = base^(−2i/d) (2104.09864 §3.2.2): the angle a position.
double rope_angle(int pair, int width, double base = 10000);
// Both one position further, as long as there is one.
void move_both(TurningView& view);
void settle(TurningView& view);

// ---- sinusoids

inline constexpr int most_far = 131'072;

struct WavelengthsView {
  int width = 128;  // d_model
  int limit = 128;  // max_length
  int far = 1024;   // position as far as which waves are drawn
  PlotAxis lengths_axis, waves_axis;
  PlotView lengths_plot{.log = true}, waves_plot;

  int of_width = 0, of_far = 0;  // that the series are of
  Series lengths;                // over the dimension 2i
  std::vector<Series> waves;     // of some dimensions, over the position
  std::vector<std::string> wave_names;
};

// 2π · 10000^(2i/d) positions.
double wavelength(int pair, int width);
void settle(WavelengthsView& view);

// ---- how local heads look

struct HeadDistance {
  HeadPlace place;
  double distance = 0;
  double alike = 0;  // of a head that looks at all keys alike
};

struct PartDistances {
  AttentionPart part = AttentionPart::encoder;
  Series means = {};  // over the layer, from 1
  double alike = 0;
};

struct LocalityView {
  PlotAxis axis;
  PlotView plot;

  std::shared_ptr<const Snapshot> snapshot;  // that the rest is of
  std::vector<HeadDistance> heads;
  std::vector<PartDistances> parts;
  double layers = 1;
  double highest = 1;
};

void settle(LocalityView& view, const std::shared_ptr<const Snapshot>& snapshot);

// ---- the words in other orders

struct OrdersView {
  std::optional<OrderQuestion> asked;  // of the run and step beneath
  std::uint64_t run = 0;
  std::int64_t step = 0;
  std::int64_t seed = 1;
  std::optional<OrderResult> inspection;
};

void take_orders(OrdersView& view, OrderResult inspection, std::uint64_t run, std::int64_t step);

struct PositionsView {
  PositionsMode mode = PositionsMode::numbers;
  TurningView turning;
  WavelengthsView wavelengths;
  LocalityView locality;
  OrdersView orders;
};

}  // namespace attnscope
