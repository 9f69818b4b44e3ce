// Named configurations: sizes to start with, and published results to compare with.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/config.h"

namespace attnscope {

struct Preset {
  std::string_view name;
  std::string_view description;  // one or two sentences
  std::string_view fields;       // values that are not defaults: "key=value", as in --set, separated by spaces
};

std::span<const Preset> presets();

// Throws ConfigError listing all names if the name is unknown.
const Preset& preset(std::string_view name);

// Returns the defaults with the preset's values; on `corpus` if the preset names none.
Config with_preset(const Preset& preset, const CorpusConfig& corpus);

// "tiny, small, base, …"
std::string preset_names();

}  // namespace attnscope
