// Sequence to sequence before the Transformer: recurrent networks written out gate by gate, with and without attention.
#pragma once

#include "model/model.h"

namespace attnscope {

class Recurrent final : public SequenceModel {
 public:
  Recurrent(const ModelConfig& config, std::int64_t vocab_size);

  Memory encode(const torch::Tensor& source, const torch::Tensor& padding, AttentionRecord* record = nullptr) override;
  torch::Tensor decode(const torch::Tensor& target_in, const Memory& memory, DecoderCache* cache = nullptr,
                       AttentionRecord* record = nullptr) override;
};

}  // namespace attnscope
