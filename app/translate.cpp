#include <fmt/format.h>

#include <cstdio>
#include <iostream>

#include "commands.h"
#include "decoding/search.h"
#include "session/torch_engine.h"
#include "training/evaluation.h"

namespace attnscope {

int translate(const TranslateOptions& options) {
  TorchEngine engine;
  engine.open_run(options.run, {});
  const torch::Device device = engine.model().device();
  std::string text;
  for (std::int64_t number = 1; std::getline(std::cin, text); ++number) {
    const auto pair = encode_pair(engine.tokenizer(), {text, ""}, engine.config().model.max_length);
    if (!pair) {
      fmt::print(stderr, "line {}: longer than the model's {} pieces, left empty\n", number,
                 engine.config().model.max_length);
      fmt::print("\n");
      continue;
    }
    const std::vector<std::int64_t> only = {0};
    const Batch batch = make_batch({&*pair, 1}, only, device);
    const auto best =
        beam_search(engine.model(), batch.source, {.beam = options.beam, .length_penalty = options.length_penalty})
            .front();
    if (!best.finished) fmt::print(stderr, "line {}: cut at {} pieces\n", number, best.ids.size());
    fmt::print("{}\n", engine.tokenizer().decode(best.ids));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace attnscope
