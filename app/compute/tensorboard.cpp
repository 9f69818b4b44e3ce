#include "compute/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "commands/progress.h"
#include "common/color_map.h"
#include "engine/export/export.h"
#include "files/storage/event_file.h"
#include "files/storage/file.h"
#include "files/storage/png.h"
#include "inspect/evaluation/vocabulary_facts.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

void add_curves(EventFile& events, const std::vector<MetricPoint>& points) {
  for (const MetricPoint& point : points)
    for (std::size_t i = 0; i < metric_rows.size(); ++i)
      if (point[i]) events.scalar(fmt::format("training/{}", metric_rows[i].key), point.step, *point[i]);
}

void add_spread(EventFile& events, const std::string& tag, std::int64_t step, const TensorSpread& spread) {
  if (spread.count == 0 || spread.histogram.empty()) return;
  const double finite = static_cast<double>(spread.count) * (1 - spread.not_finite);
  events.histogram(
      tag, step,
      {spread.least(), spread.largest(), finite, spread.mean * finite, spread.norm * spread.norm, spread.histogram});
}

void add_spreads(EventFile& events, const TensorsResult& inspection) {
  for (const TensorHistory& tensor : inspection.parameters) {
    for (const TensorPoint& point : tensor.points) {
      add_spread(events, "weights/" + tensor.name, point.step, point.values);
      add_spread(events, "gradients/" + tensor.name, point.step, point.gradient);
    }
  }
}

// ---- attention images

constexpr int cell = 8;  // pixels
constexpr int gap = 4;

// The heads of a layer next to each other, 0 dark and 1 bright.
struct LayerPicture {
  int width = 0, height = 0;
  std::vector<Color32> pixels;

  explicit LayerPicture(const std::vector<Matrix>& heads) {
    const auto count = static_cast<int>(heads.size());
    const int one = heads.front().cols * cell;
    width = count * (one + gap) - gap;
    height = heads.front().rows * cell;
    pixels.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0);
    for (int head = 0; head < count; ++head) draw(heads[static_cast<std::size_t>(head)], head * (one + gap));
  }

  void draw(const Matrix& map, int left) {
    for (int y = 0; y < map.rows * cell; ++y)
      for (int x = 0; x < map.cols * cell; ++x)
        pixels[static_cast<std::size_t>(y * width + left + x)] =
            map_color(ColorMap::viridis, map.at(y / cell, x / cell));
  }
};

void add_attention(EventFile& events, const Snapshot& inspection, const std::string& text) {
  for (const AttentionPart part : attention_parts) {
    const AttentionMaps& maps = maps_of(inspection, part);
    for (std::size_t layer = 0; layer < maps.size(); ++layer) {
      if (maps[layer].empty() || maps[layer].front().empty()) continue;
      const LayerPicture picture(maps[layer]);
      events.picture(fmt::format("attention/{} {}/{}", part_name(part), layer + 1, text), inspection.step,
                     picture.width, picture.height, encode_png(picture.pixels, picture.width, picture.height));
    }
  }
}

void add_attention(EventFile& events, TorchEngine& engine, const std::string& source) {
  const std::vector<PinnedSentence>& pinned = engine.history().sentences();
  for (const PinnedSentence& sentence : pinned)
    for (const Frame& frame : sentence.frames) add_attention(events, *frame, sentence.text);
  if (!pinned.empty()) return;
  inspect_model(engine.model(), engine.tokenizer(), {.text = source},
                [&](Snapshot inspection) {
                  inspection.step = engine.steps_done();
                  if (inspection.is_whole()) add_attention(events, inspection, source);
                },
                {});
}

// ---- the Projector

// A tab or line break would start another cell.
std::string cell_text(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string rows_text(const Matrix& rows) {
  std::string text;
  for (int row = 0; row < rows.rows; ++row)
    for (int col = 0; col < rows.cols; ++col)
      text += fmt::format("{:.6g}{}", rows.at(row, col), col + 1 == rows.cols ? '\n' : '\t');
  return text;
}

std::string metadata_text(const Vocabulary& vocabulary) {
  std::string text = vocabulary.facts.empty() ? "piece\tnumber\n" : "token\tid\tcount in the corpus\n";
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    text += fmt::format("{}\t{}", cell_text(vocabulary.tokens[id]), id);
    if (!vocabulary.facts.empty()) text += fmt::format("\t{}", vocabulary.facts[id].count);
    text += '\n';
  }
  return text;
}

void write_projector(TorchEngine& engine, const std::filesystem::path& folder) {
  const auto vocabulary = vocabulary_of(engine.tokenizer(), engine.corpus(), engine.config().corpus);
  write_file(folder / "metadata.tsv", metadata_text(*vocabulary));
  std::string config;
  for (const EmbeddingMatrix matrix : embedding_matrices(engine.config().model)) {
    const auto name = embedding_matrix_names[static_cast<std::size_t>(matrix)];
    const std::string file = fmt::format("{}.tsv", name);
    write_file(folder / file, rows_text(to_matrix(engine.model().embedding_rows(matrix))));
    config += fmt::format(
        "embeddings {{\n  tensor_name: \"{}\"\n  tensor_path: \"{}\"\n  metadata_path: \"metadata.tsv\"\n}}\n",
        matrix_title(matrix, engine.config().model), file);
  }
  write_file(folder / "projector_config.pbtxt", config);
}

}  // namespace

void export_tensorboard(TorchEngine& engine, const std::string& source, const std::filesystem::path& folder,
                        ProgressLine& line) {
  make_empty_folder(folder);
  const double now =
      std::floor(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
  EventFile events(now);
  add_curves(events, engine.metrics());
  add_spreads(events, engine.tensors({}, [&](double fraction) { line.show("Reading every tensor", fraction); }));
  add_attention(events, engine, source);
  write_file(folder / fmt::format("events.out.tfevents.{:.0f}.attnscope", now), events.bytes());
  write_projector(engine, folder);
}

}  // namespace attnscope
