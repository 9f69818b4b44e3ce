// Sequence to sequence before the Transformer: recurrent networks that read the source and write the target token by
// token, with and without attention. A classifier is the encoder alone, and what a pooling makes of it.
#pragma once

#include <vector>

#include "model/cells.h"
#include "model/model.h"
#include "model/pooling.h"
#include "model/recurrent_attention.h"

namespace attnscope {

// Without attention, only the encoder's last states carry the sentence: the fixed-length bottleneck of Sutskever et al.
// 2014 (arXiv 1409.3215). The top decoder layer starts from what the top encoder layer ended with, and so on
// down; decoder layers without a partner start from the bottom one.
//
// Memory::states are the top encoder layer's outputs; Memory::last and DecoderCache::state are h and, in an LSTM, c of
// each decoder layer in turn. DecoderCache::cross[0] holds what attention needs of the source alone.
// Of an inspection's changes those apply that need no head and no layer: pieces that are replaced, and values put where
// states and what attention saw stand. The latter are one head's of one layer.
class Recurrent final : public SequenceModel {
 public:
  Recurrent(const ModelConfig& config, std::int64_t vocab_size);

  // Padding changes nothing: states are carried over it.
  Memory encode(const torch::Tensor& source, const torch::Tensor& padding, Inspection* inspection = nullptr) override;
  torch::Tensor decode(const torch::Tensor& target_in, const Memory& memory, DecoderCache* cache = nullptr,
                       Inspection* inspection = nullptr) override;

 private:
  // What the decoder has gone through.
  struct Decoded {
    torch::Tensor states;                       // B×T×D, the top layer's
    Seen seen;                                  // before or after each token; undefined without attention
    std::vector<std::vector<CellState>> cells;  // Inspection::decoder_cells
  };

  // A classifier's features, B×T×D, the same for each of `queries`, T.
  torch::Tensor pooled(const Memory& memory, std::int64_t queries, Inspection* inspection);
  torch::Tensor source_keys(const Memory& memory, DecoderCache* cache);
  Decoded inspect_then_step(const torch::Tensor& embedded, const torch::Tensor& keys, const Memory& memory,
                            std::vector<CellState>& states, Inspection* inspection);
  Decoded step_then_inspect(const torch::Tensor& embedded, const torch::Tensor& keys, const Memory& memory,
                            std::vector<CellState>& states, Inspection* inspection);

  CellKind kind_;
  bool inspects_first_;  // Bahdanau's attention asks with the state before the token, and its context enters the cell
  RecurrentStack encoder_{nullptr};
  RecurrentStack decoder_{nullptr};  // none in a classifier
  RecurrentAttention attention_{nullptr};
  Pooling pooling_{nullptr};  // of a classifier, unless the last state stands for the text
};

}  // namespace attnscope
