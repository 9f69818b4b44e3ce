#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "metrics/attention_measures.h"
#include "probe/probe.h"
#include "session/torch_engine.h"

namespace attnscope {
namespace {

nlohmann::json tokens_json(const std::vector<Token>& tokens) {
  nlohmann::json json = nlohmann::json::array();
  for (const Token& token : tokens) json.push_back({{"id", token.id}, {"piece", token.piece}});
  return json;
}

nlohmann::json map_json(const Matrix& map) {
  nlohmann::json rows = nlohmann::json::array();
  for (int row = 0; row < map.rows; ++row) {
    rows.push_back(std::vector<float>(map.values.begin() + row * map.cols, map.values.begin() + (row + 1) * map.cols));
  }
  return rows;
}

nlohmann::json maps_json(const AttentionMaps& maps) {
  nlohmann::json heads = nlohmann::json::array();
  for (std::size_t layer = 0; layer < maps.size(); ++layer) {
    for (std::size_t head = 0; head < maps[layer].size(); ++head) {
      heads.push_back({{"layer", layer + 1},
                       {"head", head + 1},
                       {"weights", map_json(maps[layer][head])},
                       {"entropies", row_entropies(maps[layer][head])}});
    }
  }
  return heads;
}

}  // namespace

int attend(const AttendOptions& options) {
  TorchEngine engine;
  engine.open_run(options.run, {});
  Snapshot snapshot;
  look_inside(engine.model(), engine.tokenizer(), options.source, options.target,
              [&](Snapshot latest) { snapshot = std::move(latest); }, {});
  if (snapshot.truncated)
    fmt::print(stderr, "the sentence is cut at the model's {} pieces\n", engine.config().model.max_length);
  const nlohmann::json json = {{"step", engine.steps_done()},
                               {"source", tokens_json(snapshot.source)},
                               {"target_in", tokens_json(snapshot.target_in)},
                               {"target_out", tokens_json(snapshot.target_out)},
                               {"output", snapshot.output_text},
                               {"encoder", maps_json(snapshot.encoder)},
                               {"decoder", maps_json(snapshot.decoder)},
                               {"cross", maps_json(snapshot.cross)}};
  fmt::print("{}\n", json.dump());
  return 0;
}

}  // namespace attnscope
