#include <memory>
#include <random>
#include <utility>

#include "commands/desktop/measured_window.h"
#include "commands/measurement.h"
#include "inspect/probe/embeddings.h"
#include "inspect/probe/tensors.h"
#include "messages/embeddings.h"
#include "model/model.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

constexpr int map_tokens = 30'000;

// Rotates the map slightly in every frame, so that every frame is redrawn.
void measure_frames(std::shared_ptr<const EmbeddingResult> inspection, std::vector<Measurement>& out) {
  constexpr int frames = 60, warming_up = 5;
  MeasuredWindow window;
  window.scope().layout.workspace = find_workspace("embeddings");
  std::vector<double> own, whole;
  for (int frame = 0; frame < warming_up + frames; ++frame) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->run = 1;
    snapshot->positions = std::make_shared<const std::vector<PositionTable>>();
    auto moved = std::make_shared<EmbeddingResult>(*inspection);
    auto map = std::make_shared<EmbeddingMap>(*inspection->map);
    for (float& value : map->points.values) value *= 1 + 0.01F * static_cast<float>(frame % 7);
    moved->map = std::move(map);
    snapshot->embeddings = std::move(moved);
    window.show(std::move(snapshot));
    const MeasuredWindow::Frame drawn = window.draw();
    if (frame < warming_up) continue;
    own.push_back(drawn.own);
    whole.push_back(drawn.whole);
  }
  out.push_back({"map of 30 000 tokens: frame time, 99th percentile", quantile(whole, 0.99), "ms"});
  out.push_back({"the same before rasterization, median", median(own), "ms"});
}

}  // namespace

std::vector<Measurement> measure_embeddings(const Tokenizer& tokenizer) {
  ModelConfig config;
  config.d_model = 512;
  config.num_heads = 8;
  const Model model = make_model(config, map_tokens);
  model->freeze();
  auto vocabulary = std::make_shared<Vocabulary>();
  for (int id = 0; id < map_tokens; ++id) vocabulary->tokens.push_back("\u2581piece" + std::to_string(id));
  vocabulary->facts.resize(map_tokens);
  std::vector<Measurement> out;
  EmbeddingAnalyzer embedding_analyzer(vocabulary);
  const auto begin = Clock::now();
  auto inspection = embedding_analyzer.inspect(*model, tokenizer, {}, {});
  out.push_back({"30 000 tokens of width 512: principal components", milliseconds_since(begin), "ms"});
  std::vector<double> times;
  for (int round = 0; round < 12; ++round) {
    const auto asked = Clock::now();
    inspection =
        embedding_analyzer.inspect(*model, tokenizer, {.chosen = "token" + std::to_string(100 + round)}, {});
    times.push_back(milliseconds_since(asked));
  }
  out.push_back({"30 000 tokens of width 512: neighbors of one token, median", median(times), "ms"});
  measure_frames(inspection, out);
  return out;
}

}  // namespace attnscope
