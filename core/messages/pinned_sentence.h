#pragma once

#include <memory>
#include <string>
#include <vector>

namespace attnscope {

struct Snapshot;

// One recording of a pinned sentence: a snapshot without the fields that belong to the model.
using Frame = std::shared_ptr<const Snapshot>;

struct PinnedSentence {
  std::string text;
  std::vector<Frame> frames;  // ascending by step; each step once
};

}  // namespace attnscope
