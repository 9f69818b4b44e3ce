// Tokens and attention maps as JSON for the commands.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "messages/snapshot.h"

namespace attnscope {

// [{"id", "token"}…]
nlohmann::json tokens_json(const std::vector<Token>& tokens);

// [[…]…], one list per row; null: −∞
nlohmann::json matrix_json(const Matrix& matrix);

// [{"layer", "head", "weights": [[…]…], "entropies": […]}…], layers and heads counted from 1
nlohmann::json maps_json(const AttentionMaps& maps);

// The heads named by the options; those they do not name are all wanted. Layers and heads are counted from 1.
bool is_wanted(const AttendOptions& options, AttentionPart part);
bool is_wanted(const AttendOptions& options, int layer, int head);
nlohmann::json wanted_maps_json(const Snapshot& snapshot, AttentionPart part, const AttendOptions& options);

// [{"id", "token", "probability", "rank", "best": {"id", "token"}}…]
nlohmann::json gold_json(const std::vector<GoldStep>& gold);

// On one line; bytes that are not UTF-8, which JSON cannot contain, become U+FFFD.
std::string json_line(const nlohmann::json& json);

}  // namespace attnscope
