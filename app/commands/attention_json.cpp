#include "commands/attention_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/attention_measures.h"

namespace attnscope {

nlohmann::json matrix_json(const Matrix& map) {
  nlohmann::json rows = nlohmann::json::array();
  for (int row = 0; row < map.rows; ++row) {
    rows.push_back(std::vector<float>(map.values.begin() + row * map.cols, map.values.begin() + (row + 1) * map.cols));
  }
  return rows;
}

nlohmann::json tokens_json(const std::vector<Token>& tokens) {
  nlohmann::json json = nlohmann::json::array();
  for (const Token& token : tokens) {
    json.push_back({{"id", token.id}, {"token", token.text}});
    if (!token.raw.empty()) json.back()["raw"] = token.raw;
  }
  return json;
}

nlohmann::json maps_json(const AttentionMaps& maps) {
  nlohmann::json heads = nlohmann::json::array();
  for (std::size_t layer = 0; layer < maps.size(); ++layer) {
    for (std::size_t head = 0; head < maps[layer].size(); ++head) {
      heads.push_back({{"layer", layer + 1},
                       {"head", head + 1},
                       {"weights", matrix_json(maps[layer][head])},
                       {"entropies", row_entropies(maps[layer][head])}});
    }
  }
  return heads;
}

bool is_wanted(const AttendOptions& options, AttentionPart part) {
  return !options.part || *options.part == part_name(part);
}

bool is_wanted(const AttendOptions& options, int layer, int head) {
  return options.layer.value_or(layer) == layer && options.head.value_or(head) == head;
}

nlohmann::json wanted_maps_json(const Snapshot& snapshot, AttentionPart part, const AttendOptions& options) {
  nlohmann::json heads = nlohmann::json::array();
  if (!is_wanted(options, part)) return heads;
  for (nlohmann::json& head : maps_json(maps_of(snapshot, part)))
    if (is_wanted(options, head["layer"], head["head"])) heads.push_back(std::move(head));
  return heads;
}

nlohmann::json gold_json(const std::vector<GoldStep>& gold) {
  nlohmann::json json = nlohmann::json::array();
  for (const GoldStep& step : gold) {
    json.push_back({{"id", step.token.id},
                    {"token", step.token.text},
                    {"probability", step.probability},
                    {"rank", step.rank},
                    {"best", {{"id", step.best.id}, {"token", step.best.text}}}});
  }
  return json;
}

std::string json_line(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace attnscope
