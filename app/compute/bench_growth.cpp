#include "compute/bench_growth.h"

#include <algorithm>

#include "compute/bench.h"
#include "config/config.h"
#include "messages/cost.h"

namespace attnscope {
namespace {

// The sizes of a training step; each is the default unless it is the one that grows.
struct Sizes {
  std::int64_t length = 32, width = 128, layers = 2, vocabulary = 4000, batch = 32;
};

Growth::Point measure_update(std::int64_t size, const Sizes& sizes) {
  Config config;
  config.model.d_model = sizes.width;
  config.model.d_ff = 4 * sizes.width;
  config.model.num_heads = std::max<std::int64_t>(1, sizes.width / 32);
  config.model.num_encoder_layers = config.model.num_decoder_layers = sizes.layers;
  config.model.positions = "sinusoidal";
  config.model.max_length = sizes.length;
  config.training.batch_size = sizes.batch;
  const UpdateCost cost = measure_updates(config, sizes.vocabulary);
  return {size, cost.milliseconds, cost.megabytes};
}

Growth update_growth(const std::string& name, std::int64_t Sizes::*field, std::vector<std::int64_t> values) {
  Growth growth{"update", name, {}};
  for (const std::int64_t value : values) {
    Sizes sizes;
    sizes.*field = value;
    growth.points.push_back(measure_update(value, sizes));
  }
  return growth;
}

double exponent(const std::vector<Growth::Point>& points, double Growth::Point::*cost) {
  std::vector<double> sizes, costs;
  for (const Growth::Point& point : points) {
    sizes.push_back(static_cast<double>(point.size));
    costs.push_back(point.*cost);
  }
  return fitted_exponent(sizes, costs);
}

}  // namespace

double Growth::time_exponent() const {
  return exponent(points, &Point::milliseconds);
}

double Growth::memory_exponent() const {
  return exponent(points, &Point::megabytes);
}

std::vector<Growth> measure_growth() {
  std::vector<Growth> all;
  all.push_back(update_growth("length", &Sizes::length, {16, 32, 64, 128, 256, 512}));
  all.push_back(update_growth("width", &Sizes::width, {32, 64, 128, 256, 512}));
  all.push_back(update_growth("layers", &Sizes::layers, {1, 2, 4, 8}));
  all.push_back(update_growth("vocabulary", &Sizes::vocabulary, {1000, 2000, 4000, 8000, 16000}));
  all.push_back(update_growth("batch", &Sizes::batch, {8, 16, 32, 64, 128}));
  for (const bool cached : {true, false}) {
    Growth growth{cached ? "decoding" : "decoding without the cache", "length", {}};
    for (const std::int64_t length : {16, 32, 64, 128, 256}) {
      growth.points.push_back({length, decoding_milliseconds(length, cached), 0});
    }
    all.push_back(std::move(growth));
  }
  return all;
}

}  // namespace attnscope
