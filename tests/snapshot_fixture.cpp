#include "snapshot_fixture.h"

#include <cmath>
#include <functional>

#include "config/position_schemes.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

// Unnormalised weight of a cell.
using Score = std::function<double(int row, int col)>;

Matrix normalised(int rows, int cols, bool masked, const Score& score) {
  Matrix map(rows, cols);
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int col = 0; col < cols; ++col) sum += masked && col > row ? 0 : score(row, col);
    for (int col = 0; col < cols; ++col) {
      map.at(row, col) = masked && col > row ? 0 : static_cast<float>(score(row, col) / sum);
    }
  }
  return map;
}

// Heads differ in how far they look back and how sharply.
AttentionMaps maps(int layers, int heads, int rows, int cols, bool masked) {
  AttentionMaps all(static_cast<std::size_t>(layers));
  for (int layer = 0; layer < layers; ++layer) {
    for (int head = 0; head < heads; ++head) {
      const double sharpness = 0.25 + 0.5 * (head % 4) + 0.4 * layer;
      const double shift = (head % 3) - 1;
      const double slope = static_cast<double>(cols) / rows;
      all[static_cast<std::size_t>(layer)].push_back(normalised(rows, cols, masked, [=](int row, int col) {
        const double distance = col - slope * row - shift;
        const double ripple = 0.3 * std::sin(1.7 * row + 2.3 * col + head + 3 * layer);
        return std::exp(-sharpness * std::abs(distance) + ripple) + (col == cols - 1 ? 0.06 * (head % 4) : 0.01);
      }));
    }
  }
  return all;
}

DecodingStep decided(const Token& chosen, int step) {
  DecodingStep decoded;
  double rest = 1;
  for (int i = 0; i < 10; ++i) {
    const double probability = rest * (i == 0 ? 0.62 + 0.03 * (step % 9) : 0.55);
    rest -= probability;
    const Token token = i == 0 ? chosen : Token{100 + 10 * step + i, "▁mot" + std::to_string(i)};
    const auto p = static_cast<float>(probability);
    decoded.candidates.push_back({token, static_cast<float>(9 + std::log(probability)), p, p, p});
    decoded.entropy -= static_cast<float>(probability * std::log(probability));
  }
  return decoded;
}

Matrix sinusoids(int length, int d_model) {
  Matrix matrix(length, d_model);
  for (int position = 0; position < length; ++position) {
    for (int dim = 0; dim < d_model; ++dim) {
      const double angle = position / std::pow(10000.0, 2.0 * (dim / 2) / d_model);
      matrix.at(position, dim) = static_cast<float>(dim % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return matrix;
}

std::shared_ptr<const std::vector<PositionTable>> tables(std::vector<PositionTable> all) {
  return std::make_shared<const std::vector<PositionTable>>(std::move(all));
}

// A head a column, steeper from one to the next.
Matrix slopes(int past, int future, int heads) {
  Matrix bias(past + 1 + future, heads);
  for (int row = 0; row < bias.rows; ++row) {
    for (int head = 0; head < heads; ++head)
      bias.at(row, head) = static_cast<float>(-std::abs(row - past) * std::exp2(-2.0 * (head + 1)));
  }
  return bias;
}

std::shared_ptr<const std::vector<PositionTable>> position_tables(const ModelConfig& model) {
  if (model.is_recurrent()) return tables({});
  switch (position_scheme(model.positions).form) {
    case PositionForm::none:
      return tables({});
    case PositionForm::added:
      return tables({{"source", 0, sinusoids(64, 32)}, {"target", 0, sinusoids(64, 32)}});
    case PositionForm::rotation:
      break;
    case PositionForm::vectors:
      return tables({{"decoder, layer 1", -16, sinusoids(17, 32)}});
    case PositionForm::bias:
      return tables({{"encoder", -20, slopes(20, 20, 4)}, {"decoder", -20, slopes(20, 0, 4)}});
  }
  return tables({{"", 0, sinusoids(128, 32)}});
}

std::shared_ptr<Snapshot> snapshot_of(std::vector<Token> source, std::vector<Token> written, int layers, int heads,
                                      std::uint64_t request) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->run = 1;
  snapshot->step = 1240;
  snapshot->request = request;
  snapshot->source = std::move(source);
  snapshot->target_out = std::move(written);
  snapshot->target_in = snapshot->target_out;
  snapshot->target_in.insert(snapshot->target_in.begin(), Token{2, "<s>"});
  snapshot->target_in.pop_back();
  const int rows = static_cast<int>(snapshot->target_out.size());
  const int cols = static_cast<int>(snapshot->source.size());
  snapshot->encoder = maps(layers, heads, cols, cols, false);
  snapshot->decoder = maps(layers, heads, rows, rows, true);
  snapshot->cross = maps(layers, heads, rows, cols, false);
  for (int step = 0; step < rows; ++step) {
    snapshot->decoding.push_back(decided(snapshot->target_out[static_cast<std::size_t>(step)], step));
  }
  snapshot->positions = tables({{"", 0, sinusoids(128, 128)}});
  return snapshot;
}

std::vector<Token> tokens(std::initializer_list<const char*> tokens) {
  std::vector<Token> result;
  int id = 17;
  for (const char* token : tokens) result.push_back({id = (id * 31 + 7) % 1999, token});
  result.push_back({2, "</s>"});
  return result;
}

std::vector<Token> numbered(const char* stem, int count) {
  std::vector<Token> result;
  for (int i = 1; i < count; ++i) result.push_back({10 + i, stem + std::to_string(i)});
  result.push_back({2, "</s>"});
  return result;
}

}  // namespace

std::shared_ptr<Snapshot> fixture_snapshot(FixtureSize size, std::uint64_t request) {
  auto snapshot =
      snapshot_of(numbered("▁src", size.source), numbered("▁out", size.target), size.layers, size.heads, request);
  snapshot->source_text = "src1 src2";
  snapshot->output_text = "out1 out2 out3";
  return snapshot;
}

std::shared_ptr<Snapshot> animal_snapshot(std::uint64_t request) {
  auto snapshot = snapshot_of(tokens({"▁The", "▁animal", "▁did", "n", "'", "t", "▁cross", "▁the", "▁street", "▁because",
                                      "▁it", "▁was", "▁too", "▁tired", "."}),
                              tokens({"▁L", "'", "animal", "▁n", "'", "a", "▁pas", "▁traversé", "▁la", "▁rue", "▁parce",
                                      "▁qu", "'", "il", "▁était", "▁trop", "▁fatigué", "."}),
                              2, 4, request);
  snapshot->source_text = "The animal didn't cross the street because it was too tired.";
  snapshot->output_text = "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.";
  return snapshot;
}

std::shared_ptr<Snapshot> snapshot_of_model(const ModelConfig& model, std::uint64_t request) {
  auto snapshot = fixture_snapshot({5, 6, 2, 4}, request);
  snapshot->model = model;
  snapshot->positions = position_tables(model);
  if (model.is_language_model()) {
    snapshot->source.clear();
    snapshot->encoder.clear();
    snapshot->cross.clear();
    snapshot->target_in.front() = {14, "▁prompt"};
    snapshot->target_out.back() = {2, "⏎"};
    snapshot->forced = 2;
    snapshot->output_text = " out3 out4\n";
    snapshot->stopped_at_limit = true;
  } else if (model.is_masked_lm()) {
    snapshot->decoder.clear();
    snapshot->cross.clear();
    snapshot->target_out.clear();
    snapshot->target_in.clear();
    snapshot->decoding.resize(model.fills_masks() ? snapshot->source.size() : 0);
    for (std::size_t i = 0; i < snapshot->decoding.size(); ++i) {
      DecodingStep& step = snapshot->decoding[i];
      step.reference = GoldStep{snapshot->source[i], 0.25F, 2, step.candidates.front().token};
      snapshot->gold.push_back(*step.reference);
      snapshot->target_in.push_back(snapshot->source[i]);
      snapshot->target_out.push_back(step.candidates.front().token);
    }
    if (model.fills_masks()) snapshot->masked_log_probs.assign(snapshot->source.size(), -1.5F);
    if (model.head == "replaced") snapshot->replaced.assign(snapshot->source.size(), 0.5F);
  } else if (model.is_classifier()) {
    snapshot->decoder.clear();
    if (model.is_recurrent()) snapshot->encoder.clear();
    snapshot->target_in = {{1, "<s>"}};
    snapshot->target_out = {{1990, "praise"}};
    snapshot->decoding.resize(1);
    snapshot->cross.clear();
    if (model.pools_by_weights()) snapshot->cross = maps(1, 1, 1, 5, false);
    snapshot->output_text = "praise";
  } else if (model.is_recurrent()) {
    snapshot->encoder.clear();
    snapshot->decoder.clear();
    snapshot->cross.clear();
    if (model.attention != "none") snapshot->cross = maps(1, 1, 6, 5, false);
  }
  return snapshot;
}

std::vector<ModelConfig> fixture_models() {
  std::vector<ModelConfig> models;
  for (const PositionScheme& scheme : position_schemes()) models.emplace_back().positions = scheme.name;
  models.emplace_back().architecture = "decoder-only";
  for (const char* attention : {"none", "bahdanau", "luong-dot"}) {
    ModelConfig& model = models.emplace_back();
    model.architecture = "recurrent";
    model.attention = attention;
  }
  for (const char* head : {"tokens", "replaced", "none"}) {
    ModelConfig& model = models.emplace_back();
    model.architecture = "masked-lm";
    model.head = head;
    model.embedding_norm = true;
    model.mask_id = 4;
  }
  for (const char* reader : {"transformer", "recurrent"}) {
    ModelConfig& model = models.emplace_back();
    model.architecture = "classifier";
    model.reader = reader;
    model.pooling = model.is_recurrent() ? "last" : "attention";
    model.num_classes = 3;
  }
  return models;
}

RunOpened fixture_run(int history_steps) {
  RunOpened run;
  run.run = 1;
  run.name = "english-french";
  run.step = history_steps;
  run.num_parameters = 1345024;
  run.vocab_size = 1893;
  run.train_pairs = 48213;
  run.validation_pairs = 1000;
  run.test_pairs = 1000;
  run.examples = {{"The cat sleeps.", "Le chat dort."}, {"She reads a book.", "Elle lit un livre."}};
  for (int step = 1; step <= history_steps; ++step) {
    MetricPoint point;
    point.step = step;
    const double loss = 1.4 + 6.1 * std::exp(-step / 300.0) + 0.12 * std::sin(step * 12.9898);
    point.set(metric("loss"), loss);
    point.set(metric("learning_rate"),
              std::pow(128.0, -0.5) * std::min(std::pow(step, -0.5), step * std::pow(1000.0, -1.5)));
    point.set(metric("gradient_norm"), 0.6 + 2 * std::exp(-step / 200.0) + 0.15 * std::cos(step * 78.233));
    point.set(metric("tokens_per_second"), 9100 + 400 * std::sin(step * 0.37));
    if (step % 200 == 0) point.set(metric("validation_nll"), loss - 0.35);
    run.metrics.push_back(point);
  }
  return run;
}

}  // namespace attnscope
