// Frames of large workspaces, drawn offscreen: 192 thumbnails that change in every frame next to a large map, a sentence
// of 512 tokens, and a map of 30 000 embeddings.
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "commands/desktop/bench_window.h"
#include "commands/desktop/measured_window.h"
#include "workspaces/attention/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

// The head level of the attention workspace.
class AttentionWindow : public MeasuredWindow {
 public:
  AttentionWindow() {
    AttentionView& view = scope().views.of<AttentionView>();
    view.begun = true;
    select(view, {AttentionPart::encoder, 0, 0});
  }
};

std::shared_ptr<const Snapshot> snapshot_of_192_heads(int phase) {
  constexpr int layers = 12, heads = 16, tokens = 64;
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->model.num_encoder_layers = layers;
  snapshot->model.num_heads = heads;
  snapshot->positions = std::make_shared<const std::vector<PositionTable>>();
  for (int token = 0; token < tokens; ++token) snapshot->source.push_back({token, "▁piece" + std::to_string(token)});
  snapshot->encoder.assign(layers, std::vector<Matrix>(heads, Matrix(tokens, tokens)));
  for (std::vector<Matrix>& layer : snapshot->encoder) {
    for (Matrix& map : layer) {
      for (std::size_t i = 0; i < map.values.size(); ++i)
        map.values[i] = static_cast<float>(0.5 + 0.5 * std::sin(static_cast<double>(i) * 0.37 + phase)) / 32;
    }
  }
  return snapshot;
}

}  // namespace

std::vector<Measurement> measure_thumbnails() {
  constexpr int frames = 150, warming_up = 10;
  const std::array snapshots = {snapshot_of_192_heads(0), snapshot_of_192_heads(1)};
  AttentionWindow window;
  std::vector<double> own, whole;
  for (int frame = 0; frame < warming_up + frames; ++frame) {
    window.show(snapshots[static_cast<std::size_t>(frame % 2)]);  // changes the picture in every thumbnail
    const MeasuredWindow::Frame drawn = window.draw();
    if (frame < warming_up) continue;
    own.push_back(drawn.own);
    whole.push_back(drawn.whole);
  }
  return {
      {"192 live thumbnails of 64² and a large map: frame time, 99th percentile", quantile(whole, 0.99), "ms"},
      {"the same, CPU time of the window only, 99th percentile", quantile(own, 0.99), "ms"}};
}

std::function<void(std::shared_ptr<const Snapshot>)> open_attention_window() {
  return [window = std::make_shared<AttentionWindow>()](std::shared_ptr<const Snapshot> snapshot) {
    window->show(std::move(snapshot));
    window->draw();
  };
}

// Rotates the map slightly in every frame, so that every frame is redrawn.
std::vector<Measurement> measure_embedding_frames(const EmbeddingResult& inspection) {
  constexpr int frames = 60, warming_up = 5;
  MeasuredWindow window;
  window.scope().layout.workspace = find_workspace("embeddings");
  std::vector<double> own, whole;
  for (int frame = 0; frame < warming_up + frames; ++frame) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->run = 1;
    snapshot->positions = std::make_shared<const std::vector<PositionTable>>();
    auto moved = std::make_shared<EmbeddingResult>(inspection);
    auto map = std::make_shared<EmbeddingMap>(*inspection.map);
    for (float& value : map->points.values) value *= 1 + 0.01F * static_cast<float>(frame % 7);
    moved->map = std::move(map);
    snapshot->embeddings = std::move(moved);
    window.show(std::move(snapshot));
    const MeasuredWindow::Frame drawn = window.draw();
    if (frame < warming_up) continue;
    own.push_back(drawn.own);
    whole.push_back(drawn.whole);
  }
  return {{"map of 30 000 tokens: frame time, 99th percentile", quantile(whole, 0.99), "ms"},
          {"the same before rasterization, median", median(own), "ms"}};
}

}  // namespace attnscope
