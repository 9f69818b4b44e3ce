// View state of the positions workspace, except for the tables of the model's own scheme.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/order.h"
#include "messages/snapshot.h"
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

  int of_width = 0;  // d_k that the series was computed for
  double of_base = 0;
  Series product;  // q·k of two vectors that are equal in every pair, as a function of their distance
};

inline constexpr int last_position = 512;  // of query and key

// θ_i = base^(−2i/d) (2104.09864 §3.2.2): the angle per position.
double rope_angle(int pair, int width, double base = 10000);
// Moves both one position forward, up to the last.
void move_both(TurningView& view);
void settle(TurningView& view);

// ---- sinusoids

inline constexpr int most_far = 131'072;

struct WavelengthsView {
  int width = 128;  // d_model
  int limit = 128;  // max_length
  int far = 1024;   // largest position for which waves are drawn
  PlotAxis lengths_axis, waves_axis;
  PlotView lengths_plot{.log = true}, waves_plot;

  int of_width = 0, of_far = 0;  // parameters that the series were computed for
  Series lengths;                // as a function of the dimension 2i
  std::vector<Series> waves;     // of some dimensions, as functions of the position
  std::vector<std::string> wave_names;
};

// 2π · 10000^(2i/d) positions.
double wavelength(int pair, int width);
void settle(WavelengthsView& view);

// ---- attention distance of heads

struct HeadDistance {
  HeadPlace place;
  double distance = 0;
  double alike = 0;  // of a head with uniform attention
};

struct PartDistances {
  AttentionPart part = AttentionPart::encoder;
  Series means = {};  // over the layer, starting at 1
  double alike = 0;
};

struct LocalityView {
  PlotAxis axis;
  PlotView plot;

  std::shared_ptr<const Snapshot> snapshot;  // the source of the rest
  std::vector<HeadDistance> heads;
  std::vector<PartDistances> parts;
  double layers = 1;
  double highest = 1;
};

void settle(LocalityView& view, const std::shared_ptr<const Snapshot>& snapshot);

// ---- reordered words

struct OrdersView {
  std::optional<OrderQuestion> asked;  // of the run and step below
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
