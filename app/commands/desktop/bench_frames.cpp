// Frames of large workspaces, drawn offscreen: 192 thumbnails that change in every frame next to a large map, a
// sentence of 512 tokens, two large captures, a map of 30 000 embeddings, and a list of 2048 neurons.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

#include "commands/desktop/bench_window.h"
#include "commands/desktop/measured_window.h"
#include "files/captures/capture_engine.h"
#include "files/storage/file.h"
#include "workspaces/attention/view.h"
#include "workspaces/flow/view.h"
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
  for (int token = 0; token < tokens; ++token) snapshot->source.push_back({token, "▁token" + std::to_string(token)});
  snapshot->encoder.assign(layers, std::vector<Matrix>(heads, Matrix(tokens, tokens)));
  for (std::vector<Matrix>& layer : snapshot->encoder) {
    for (Matrix& map : layer) {
      for (std::size_t i = 0; i < map.values.size(); ++i)
        map.values[i] = static_cast<float>(0.5 + 0.5 * std::sin(static_cast<double>(i) * 0.37 + phase)) / 32;
    }
  }
  return snapshot;
}

// A capture whose weights are the same to all keys.
PinnedSentence even_capture(int layers, int heads, int tokens) {
  auto frame = std::make_shared<Snapshot>();
  frame->source_text = "measured";
  for (int token = 0; token < tokens; ++token) frame->source.push_back({-1, "token" + std::to_string(token)});
  Matrix map(tokens, tokens);
  for (float& weight : map.values) weight = 1 / static_cast<float>(tokens);
  frame->encoder.assign(static_cast<std::size_t>(layers), std::vector<Matrix>(static_cast<std::size_t>(heads), map));
  return {frame->source_text, {frame}};
}

// From the file to the picture, and what frames and memory it takes.
void measure_capture(int layers, int heads, int tokens, std::vector<Measurement>& out) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("attnscope-bench.{}.safetensors", ::getpid());
  const PinnedSentence sentence = even_capture(layers, heads, tokens);
  write_file(file, capture_bytes({&sentence, 1}));
  const std::string name = fmt::format("capture of {} × {} heads, {} tokens: ", layers, heads, tokens);
  AttentionWindow window;
  forget_peak();
  const double before = status_megabytes("VmRSS:");
  CaptureEngine engine(1);
  const double opening = milliseconds([&] {
    receive(window.scope(), {engine.open_model(file.string())}, nullptr);
    engine.probe(window.scope().asked, [&](std::shared_ptr<const Snapshot> seen) { window.show(std::move(seen)); }, {});
    window.draw();
  });
  std::filesystem::remove(file);
  out.push_back({name + "from the file to its attention on screen", opening, "ms"});
  out.push_back({name + "peak memory", status_megabytes("VmHWM:") - before, "MB"});
  for (const AttentionLevel level : {AttentionLevel::head, AttentionLevel::model}) {
    window.scope().views.of<AttentionView>().level = level;
    std::vector<double> times;
    for (int frame = -30; frame < 60; ++frame) {  // the first frames measure the heads, a few each
      const double whole = window.draw().whole;
      if (frame >= 0) times.push_back(whole);
    }
    out.push_back({name + (level == AttentionLevel::head ? "frame of one head" : "frame of all heads") + ", median",
                   median(times), "ms"});
  }
}

}  // namespace

std::vector<Measurement> measure_captures() {
  std::vector<Measurement> out;
  measure_capture(12, 12, 512, out);
  measure_capture(1, 1, 2000, out);
  return out;
}

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
  std::vector<Measurement> out;
  add_percentiles("192 live thumbnails of 64² and a large map: frame time", whole, out);
  add_percentiles("the same, CPU time of the window only", own, out);
  return out;
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

// The order of the list changes in every frame.
std::vector<Measurement> measure_neuron_frames() {
  constexpr int neurons = 2048, frames = 60, warming_up = 5;
  MeasuredWindow window;
  window.scope().layout.workspace = show_view(window.scope().views, "neurons");
  window.scope().layout.sentence = "token";
  NeuronsView& view = window.scope().views.of<FlowView>().neurons;
  NeuronsResult result{.question = {.neuron = 0}, .tokens = 4096, .sentences = 300};
  for (int neuron = 0; neuron < neurons; ++neuron)
    result.neurons.push_back({.largest = 1 + std::sin(static_cast<float>(neuron)), .mean = 0.1F, .token = "▁token"});
  take_neurons(view, std::move(result), 1, 0);
  std::vector<double> own;
  for (int frame = 0; frame < warming_up + frames; ++frame) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->run = snapshot->request = 1;
    snapshot->source = snapshot->target_in = snapshot->target_out = {{1, "▁token"}};
    snapshot->decoding.emplace_back().candidates.emplace_back();
    snapshot->positions = std::make_shared<const std::vector<PositionTable>>();
    SublayerEffect& effect = snapshot->sublayers.emplace_back();
    effect.sublayer = Sublayer::feed_forward;
    effect.active = Matrix(1, neurons);
    for (int neuron = 0; neuron < neurons; ++neuron)
      effect.active.at(0, neuron) = std::cos(static_cast<float>(neuron * frame));
    view.sorted_by = NeuronColumn::here;
    window.show(std::move(snapshot));
    const MeasuredWindow::Frame drawn = window.draw();
    if (frame >= warming_up) own.push_back(drawn.own);
  }
  if (view.order.neurons.size() != neurons) throw std::logic_error("the list of neurons was not drawn");
  return {{"2048 neurons in the list, sorted again: CPU time of the window, median", median(own), "ms"},
          {"the same, 99th percentile", quantile(own, 0.99), "ms"}};
}

}  // namespace attnscope
