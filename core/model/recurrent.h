// Recurrent sequence-to-sequence models, with and without attention: they encode the source and generate the target
// token by token. A classifier is only the encoder with pooling.
#pragma once

#include <vector>

#include "model/cells.h"
#include "model/model.h"
#include "model/pooling.h"
#include "model/recurrent_attention.h"

namespace attnscope {

// Without attention, only the encoder's last states carry the sentence: the fixed-length bottleneck of Sutskever et al.
// 2014 (arXiv 1409.3215). The top decoder layer is initialized with the final state of the top encoder layer, and so on
// down; extra decoder layers use the bottom encoder layer.
//
// Memory::states are the top encoder layer's outputs; Memory::last and DecoderCache::state are h and, in an LSTM, c of
// each decoder layer in turn. DecoderCache::cross[0] holds the attention keys, which depend only on the source.
// Only those interventions apply that need neither head nor layer: replaced tokens, and patched states and attention
// outputs. The latter count as one head of one layer.
class Recurrent final : public SequenceModel {
 public:
  Recurrent(const ModelConfig& config, std::int64_t vocab_size);

  // Padding has no effect: states are carried over it.
  Memory encode(const torch::Tensor& source, const torch::Tensor& padding, Inspection* inspection = nullptr) override;
  torch::Tensor decode(const torch::Tensor& target_in, const Memory& memory, DecoderCache* cache = nullptr,
                       Inspection* inspection = nullptr) override;

 private:
  // The results of decoding a sequence.
  struct Decoded {
    torch::Tensor states;  // B×T×D, the top layer's
    Seen seen;             // from the state before or after each token; undefined without attention
    std::vector<std::vector<CellState>> cells;  // Inspection::decoder_cells
  };

  // A classifier's features, B×T×D, the same for each of the T = `queries` positions.
  torch::Tensor pooled(const Memory& memory, std::int64_t queries, Inspection* inspection);
  torch::Tensor source_keys(const Memory& memory, DecoderCache* cache);
  Decoded inspect_then_step(const torch::Tensor& embedded, const torch::Tensor& keys, const Memory& memory,
                            std::vector<CellState>& states, Inspection* inspection);
  Decoded step_then_inspect(const torch::Tensor& embedded, const torch::Tensor& keys, const Memory& memory,
                            std::vector<CellState>& states, Inspection* inspection);

  CellKind kind_;
  bool inspects_first_;  // Bahdanau: the state before the token is the query; the context enters the cell
  RecurrentStack encoder_{nullptr};
  RecurrentStack decoder_{nullptr};  // none in a classifier
  RecurrentAttention attention_{nullptr};
  Pooling pooling_{nullptr};  // for classifiers, unless the last state represents the text
};

}  // namespace attnscope
