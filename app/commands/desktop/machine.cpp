#include "commands/desktop/machine.h"

#include <torch/cuda.h>

#include <string>

#include "corpus/corpus.h"
#include "engine/torch_engine.h"

namespace attnscope {
std::unique_ptr<Engine> make_torch_engine(std::int64_t spare_cores) {
  return std::make_unique<TorchEngine>(Cores{.spare = spare_cores});
}

Facts machine_facts() {
  Facts facts;
  facts.cuda_available = torch::cuda::is_available();
  facts.version = ATTNSCOPE_VERSION;
  for (const BuiltIn& corpus : built_in_corpora()) {
    facts.corpora.push_back({std::string(corpus.name), std::string(corpus.description)});
  }
  return facts;
}

}  // namespace attnscope
