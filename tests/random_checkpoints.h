// Small checkpoints of every family, with random weights. data/checkpoints has their configurations, tokenizers and the
// numbers that an independent implementation computes from them; the weights are generated here.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope {

// Writes the checkpoint of this name (a folder in data/checkpoints) into the folder, which must exist.
// The weights are the same on every machine.
void write_random_checkpoint(const std::string& name, const std::filesystem::path& folder);

// A folder with this checkpoint and its expected.json. It is shared by the tests of one process and removed at its end.
std::filesystem::path random_checkpoint(const std::string& name);

}  // namespace attnscope
