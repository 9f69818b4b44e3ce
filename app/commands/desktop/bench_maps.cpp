#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "commands/desktop/measured_window.h"
#include "commands/measurement.h"
#include "files/captures/capture_engine.h"
#include "files/storage/file.h"
#include "inspect/probe/inspect_model.h"
#include "model/model.h"
#include "workspaces/attention/view.h"

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

void measure_thumbnails(std::vector<Measurement>& out) {
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
  out.push_back(
      {"192 live thumbnails of 64² and a large map: frame time, 99th percentile", quantile(whole, 0.99), "ms"});
  out.push_back({"the same, CPU time of the window only, 99th percentile", quantile(own, 0.99), "ms"});
}

void measure_long_sentence(const Tokenizer& tokenizer, std::vector<Measurement>& out) {
  constexpr int rounds = 12;
  constexpr std::int64_t tokens = 512;
  ModelConfig config;
  config.max_length = tokens;
  const Model model = make_model(config, tokenizer.vocab_size());
  model->freeze();
  AttentionWindow window;
  std::vector<double> times;
  Probe probe;
  for (std::int64_t i = 0; i < tokens; ++i) probe.text += "the animal ";
  struct Enough {};  // the rest of the inspection is not measured
  for (int round = -2; round < rounds; ++round) {
    const auto begin = Clock::now();
    try {
      inspect_model(*model, tokenizer, probe,
                    [&](Snapshot early) {
                      window.show(std::make_shared<const Snapshot>(std::move(early)));
                      throw Enough();
                    },
                    {});
    } catch (const Enough&) {
    }
    window.draw();
    if (round >= 0) times.push_back(milliseconds_since(begin));
  }
  out.push_back({"512 tokens: from the sentence to its attention on screen, median", median(times), "ms"});
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

std::vector<Measurement> measure_maps(const Tokenizer& tokenizer) {
  std::vector<Measurement> out;
  measure_thumbnails(out);
  measure_long_sentence(tokenizer, out);
  return out;
}

}  // namespace attnscope
