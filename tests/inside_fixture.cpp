#include "inside_fixture.h"

#include <cmath>

#include "config/position_schemes.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

constexpr int d_k = 8;
constexpr int num_heads = 4;
constexpr int d_ff = 32;

// The same for the same seed, between −size and size, without a pattern that the eye finds.
Matrix numbers(int rows, int cols, int seed, float size) {
  Matrix matrix(rows, cols);
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    const double x = std::sin(12.9898 * static_cast<double>(i + 1) + 78.233 * seed) * 43758.5453;
    matrix.values[i] = size * static_cast<float>(2 * (x - std::floor(x)) - 1);
  }
  return matrix;
}

std::vector<float> positive(int count, int seed, float size) {
  std::vector<float> values = numbers(1, count, seed, 1).values;
  for (float& value : values) value = size * (1 + value / 2);
  return values;
}

void add_positions(HeadInside& head, const ModelConfig& model) {
  const PositionForm form = position_scheme(model.positions).form;
  if (form == PositionForm::bias) {
    head.bias = Matrix(head.q.rows, head.k.rows);
    for (int row = 0; row < head.q.rows; ++row) {
      for (int col = 0; col < head.k.rows; ++col)
        head.bias.at(row, col) = -0.25F * static_cast<float>(std::abs(row - col));
    }
  } else if (form == PositionForm::vectors) {
    head.bias = numbers(head.q.rows, head.k.rows, 8, 0.5F);
    head.relative_v = numbers(2 * 2 + 1, d_k, 9, 0.5F);
  }
}

void add_sublayer(Snapshot& snapshot, bool decoder, int layer, Sublayer sublayer) {
  SublayerEffect& flow = snapshot.sublayers.emplace_back();
  const auto tokens = static_cast<int>((decoder ? snapshot.target_in : snapshot.source).size());
  const int seed = static_cast<int>(snapshot.sublayers.size());
  flow = {decoder,
          layer,
          sublayer,
          positive(tokens, seed, 8),
          positive(tokens, seed + 50, 4),
          positive(tokens, seed + 90, 9),
          positive(tokens, seed + 70, 0.6F),
          {}};
  if (sublayer != Sublayer::feed_forward) return;
  flow.active = numbers(tokens, d_ff, seed, 2);
  for (float& value : flow.active.values) value = std::max(value, 0.0F);
}

}  // namespace

void add_inside(Snapshot& snapshot, const HeadPlace& place) {
  const auto queries = static_cast<int>(row_tokens(snapshot, place.part).size());
  const auto keys = static_cast<int>(col_tokens(snapshot, place.part).size());
  HeadInside head;
  head.place = place;
  head.q = numbers(queries, d_k, 1, 3);
  head.k = numbers(keys, d_k, 2, 3);
  head.v = numbers(keys, d_k, 3, 1);
  head.scaled = snapshot.model.scaled_attention;
  head.causal = place.part == AttentionPart::decoder;
  add_positions(head, snapshot.model);
  head.heads_output = numbers(queries, d_k * num_heads, 4, 1);
  head.w_o = numbers(d_k * num_heads, d_k * num_heads, 5, 0.3F);
  head.b_o = numbers(1, d_k * num_heads, 6, 0.1F);
  const HeadStages stages = head_stages(head, head.scaled, model_mask(head), snapshot.interventions);
  head.heads_output = side_by_side(head, stages.output);
  head.output = projected(head, stages.output);
  snapshot.inside = std::move(head);
}

void add_flow(Snapshot& snapshot) {
  snapshot.sublayers.clear();
  for (int layer = 0; layer < static_cast<int>(snapshot.encoder.size()); ++layer) {
    add_sublayer(snapshot, false, layer, Sublayer::self_attention);
    add_sublayer(snapshot, false, layer, Sublayer::feed_forward);
  }
  for (int layer = 0; layer < static_cast<int>(snapshot.decoder.size()); ++layer) {
    add_sublayer(snapshot, true, layer, Sublayer::self_attention);
    if (!snapshot.cross.empty()) add_sublayer(snapshot, true, layer, Sublayer::cross_attention);
    add_sublayer(snapshot, true, layer, Sublayer::feed_forward);
  }
}

std::shared_ptr<Snapshot> changed_snapshot(const std::shared_ptr<const Snapshot>& untouched,
                                           const Interventions& interventions) {
  auto snapshot = std::make_shared<Snapshot>(*untouched);
  snapshot->interventions = interventions;
  snapshot->untouched = untouched;
  const std::size_t end = snapshot->output_text.find_last_of(' ');
  snapshot->output_text = snapshot->output_text.substr(0, end + 1) + "autre";
  for (std::size_t step = 0; step < untouched->decoding.size(); ++step) {
    const Candidate& chosen = untouched->decoding[step].candidates.front();
    const float probability = step + 2 == untouched->decoding.size() ? 0.05F : chosen.probability;
    snapshot->gold.push_back({chosen.token, probability, probability < 0.1F ? 2 : 1, {41, "▁autre"}});
  }
  Matrix& map = snapshot->encoder.empty() ? snapshot->decoder[0][1] : snapshot->encoder[0][1];
  map.at(2, 0) += 0.5F;
  return snapshot;
}

}  // namespace attnscope
