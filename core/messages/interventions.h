// Changes to a model during an inspection; its weights are unmodified.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "config/heads.h"

namespace attnscope {

// A layer that passes its input through unchanged.
struct LayerPlace {
  bool decoder = false;  // in the decoder, not the encoder
  int layer = 0;
  bool operator==(const LayerPlace&) const = default;
};

// The layer of the head.
inline LayerPlace layer_of(const HeadPlace& place) {
  return {place.part != AttentionPart::encoder, place.layer};
}

// Activations of a layer: the residual stream after it, the hidden units of its feed-forward sublayer, or the output of
// a head before W_O.
enum class ActivationKind { stream, hidden, head };
struct ActivationSite {
  ActivationKind kind = ActivationKind::stream;
  bool cross = false;  // the head is one of cross-attention
  int head = 0;
  bool operator==(const ActivationSite&) const = default;
};
std::vector<ActivationSite> activation_sites(const ModelConfig& model, const LayerPlace& place);
std::string site_text(const ActivationSite& site);  // "layer", "hidden", "head.3", "cross.3"
AttentionPart part_of(const LayerPlace& place, const ActivationSite& site);

// Gives all of one query's weight to one key.
struct ForcedAttention {
  HeadPlace place;
  int query = 0;
  int key = 0;
  bool operator==(const ForcedAttention&) const = default;
};

// Keys masked for queries, in addition to the head's own mask. A query without any key left has zero weights.
struct HiddenKeys {
  struct Cell {
    int query = 0;
    int key = 0;
    auto operator<=>(const Cell&) const = default;
  };
  HeadPlace place;
  std::vector<Cell> cells;  // sorted, without duplicates
  bool operator==(const HiddenKeys&) const = default;
};

// Another token is embedded at this position; the display still shows the typed one.
struct ReplacedToken {
  bool target = false;  // in the decoder's input, not the source
  int position = 0;
  int id = -1;            // negative: the first token of `text`
  std::string text = {};  // as typed
  bool operator==(const ReplacedToken&) const = default;
};

// A direction is added to the residual stream after a layer, at every token: the difference of the states of two texts
// there, at their last tokens (activation addition, 2308.10248), or what a neuron or feature adds.
struct Steering {
  LayerPlace place;
  std::string plus = {}, minus = {};  // an empty text counts as 0
  float factor = 1;
  std::vector<float> direction = {};  // d_model numbers, computed for the pass unless it is given
  bool is_given = false;              // `plus` names the neuron or feature whose direction it is
  bool operator==(const Steering& other) const {
    return place == other.place && plus == other.plus && minus == other.minus && factor == other.factor &&
           is_given == other.is_given && (!is_given || direction == other.direction);
  }
};

struct Interventions {
  std::vector<HeadPlace> heads_off;  // their rows of W_O are multiplied by zero
  std::vector<LayerPlace> layers_off;
  std::vector<ForcedAttention> forced;
  std::vector<ReplacedToken> replaced;
  std::vector<HiddenKeys> hidden;  // at most one entry per head
  std::vector<Steering> steered;
  bool other_scale = false;        // inverts the model's choice of dividing scores by √d_k
  bool no_residuals = false;       // a sublayer's input is not added to its output (§3.1)
  bool no_positions = false;       // the input has no positional encoding (§3.5); a translator's output still has

  bool empty() const {
    return heads_off.empty() && layers_off.empty() && forced.empty() && replaced.empty() && hidden.empty() &&
           steered.empty() && !other_scale && !no_residuals && !no_positions;
  }
  bool operator==(const Interventions&) const = default;
};

// Hides the key from the query; it may be hidden in that head already.
void hide(Interventions& interventions, const ForcedAttention& cell);

}  // namespace attnscope
