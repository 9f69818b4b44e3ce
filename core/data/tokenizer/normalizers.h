// The normalizers of tokenizer.json: changes of a text before it is split into words.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attnscope {

using Normalizer = std::function<std::string(std::string)>;

// The function that a step describes; null describes none. Throws TokenizerError naming an unknown step.
Normalizer normalizer_of(const nlohmann::json& step);

}  // namespace attnscope
