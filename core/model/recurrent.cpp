#include "model/recurrent.h"

namespace attnscope {

Recurrent::Recurrent(const ModelConfig& config, std::int64_t vocab_size) : SequenceModel(config, vocab_size) {}
Memory Recurrent::encode(const torch::Tensor&, const torch::Tensor&, AttentionRecord*) { return {}; }
torch::Tensor Recurrent::decode(const torch::Tensor&, const Memory&, DecoderCache*, AttentionRecord*) { return {}; }

}  // namespace attnscope
