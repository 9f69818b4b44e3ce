// A box of the architecture diagram, and the parameters of the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

// The kind of a box, in the order of a forward pass.
enum class FlowPart {
  embedding,
  positions,
  self_norm,
  self_attention,
  cross_norm,
  cross_attention,
  feed_forward_norm,
  feed_forward,
  last_norm,
  cell,       // a layer of a recurrent network
  attention,  // a recurrent decoder's
  readout,
  logits,
  probabilities,
};

struct FlowBox {
  FlowPart part = FlowPart::embedding;
  bool decoder = false;
  bool operator==(const FlowBox&) const = default;
};

// A parameter as in state_dict.
struct FlowParameter {
  std::string name;
  std::vector<std::int64_t> sizes;

  std::int64_t count() const;
};

}  // namespace attnscope
