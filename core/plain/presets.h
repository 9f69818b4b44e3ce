// Configurations that have a name: sizes to begin with, and known results of others to measure against.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plain/config.h"

namespace attnscope {

struct Preset {
  std::string_view name;
  std::string_view description;  // one or two sentences
  std::string_view fields;       // those that are not the default's: "key=value", as --set takes it, between spaces
};

std::span<const Preset> presets();

// Throws ConfigError with all names if there is none of that name.
const Preset& preset(std::string_view name);

// The defaults with the preset's values, on `corpus` where the preset names none.
Config with_preset(const Preset& preset, const CorpusConfig& corpus);

// "tiny, small, base, …"
std::string preset_names();

}  // namespace attnscope
