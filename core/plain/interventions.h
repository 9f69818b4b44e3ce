// What is changed in a model while it is looked at; its weights stay as they are.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "plain/heads.h"

namespace attnscope {

// A layer passes its input on unchanged.
struct LayerPlace {
  bool decoder = false;  // of the decoder, not the encoder
  int layer = 0;
  bool operator==(const LayerPlace&) const = default;
};

// The layer that the head stands in.
inline LayerPlace layer_of(const HeadPlace& place) {
  return {place.part != AttentionPart::encoder, place.layer};
}

// All of one query's weight goes to one key.
struct ForcedAttention {
  HeadPlace place;
  int query = 0;
  int key = 0;
  bool operator==(const ForcedAttention&) const = default;
};

// Keys that queries must not attend to, besides those that the head's own mask hides. A query without any key left
// attends to nothing: its weights are 0.
struct HiddenKeys {
  struct Cell {
    int query = 0;
    int key = 0;
    auto operator<=>(const Cell&) const = default;
  };
  HeadPlace place;
  std::vector<Cell> cells;  // in order, none twice
  bool operator==(const HiddenKeys&) const = default;
};

// Another piece is embedded at this position; what is shown stays the piece typed.
struct ReplacedToken {
  bool target = false;  // of the decoder's input, not the source
  int position = 0;
  int id = -1;            // negative: the first piece of `text`
  std::string text = {};  // as somebody typed it
  bool operator==(const ReplacedToken&) const = default;
};

struct Interventions {
  std::vector<HeadPlace> heads_off;  // their rows of W_O meet zeros
  std::vector<LayerPlace> layers_off;
  std::vector<ForcedAttention> forced;
  std::vector<ReplacedToken> replaced;
  std::vector<HiddenKeys> hidden;  // a head at most once
  bool other_scale = false;        // scores are divided by √d_k where the model does not, and not where it does
  bool no_residuals = false;       // a sublayer's output stands alone, its input is not added to it (§3.1)
  bool no_positions = false;       // what is read comes without them (§3.5); a translator still writes in order

  bool empty() const {
    return heads_off.empty() && layers_off.empty() && forced.empty() && replaced.empty() && hidden.empty() &&
           !other_scale && !no_residuals && !no_positions;
  }
  bool operator==(const Interventions&) const = default;
};

// Hides the key from the query, in the head where it may be hidden already.
void hide(Interventions& interventions, const ForcedAttention& cell);

}  // namespace attnscope
