// The fill command: a masked language model's candidates for every mask in the lines of stdin.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands/attention_json.h"
#include "commands/commands.h"
#include "commands/say.h"
#include "compute/input_lines.h"
#include "compute/opening.h"
#include "engine/torch_engine.h"
#include "inspect/probe/bounded_tokens.h"
#include "inspect/probe/choices.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

struct FilledMask {
  int position = 0;
  std::vector<Guess> candidates;
};

class Filler {
 public:
  Filler(TorchEngine& engine, const FillOptions& options) : engine_(engine), options_(options) {}

  void fill(const std::string& line, std::int64_t number) {
    const std::vector<FilledMask> masks = is_usable(line, number) ? masks_of(line, number) : std::vector<FilledMask>();
    if (options_.json) return write_json(line, masks);
    for (const FilledMask& mask : masks) {
      for (const Guess& guess : mask.candidates) fmt::print("{} {:.4f}  ", guess.token.text, guess.probability);
      fmt::print("\n");
    }
    if (masks.empty()) fmt::print("\n");
  }

 private:
  std::vector<FilledMask> masks_of(const std::string& line, std::int64_t number) {
    const ModelConfig& model = engine_.config().model;
    bool truncated = false;
    tokens_ = source_tokens(engine_.tokenizer(), line, model.max_length, truncated);
    if (truncated)
      say("line {}: longer than the model's context of {} tokens: only its first {} tokens are used", number,
          model.max_length, tokens_.size() - 1);  // without its end token
    std::vector<FilledMask> masks;
    for (int i = 0; i < std::ssize(tokens_); ++i)
      if (tokens_[static_cast<std::size_t>(i)].id == model.mask_id) masks.push_back({i, {}});
    if (masks.empty()) {
      say("line {}: there is no {}", number, engine_.tokenizer().token(static_cast<int>(model.mask_id)));
      return masks;
    }
    SequenceModel& network = engine_.model();
    const Memory memory = network.encode(ids_tensor(ids_of(tokens_), network.device()), {});
    const torch::Tensor logits = network.logits(network.decode({}, memory)[0]);
    for (FilledMask& mask : masks)
      mask.candidates = Choice(logits[mask.position], engine_.tokenizer(), model).best(options_.top);
    return masks;
  }

  void write_json(const std::string& line, const std::vector<FilledMask>& masks) {
    nlohmann::json json = {{"source", line}, {"masks", nlohmann::json::array()}};
    std::vector<int> ids = ids_of(tokens_);
    for (const FilledMask& mask : masks) {
      nlohmann::json candidates = nlohmann::json::array();
      for (const Guess& guess : mask.candidates)
        candidates.push_back({{"id", guess.token.id}, {"token", guess.token.text}, {"probability", guess.probability}});
      json["masks"].push_back({{"position", mask.position}, {"candidates", candidates}});
      ids[static_cast<std::size_t>(mask.position)] = mask.candidates.front().token.id;
    }
    if (!masks.empty()) {
      json["filled"] = engine_.tokenizer().decode(ids);
      json["pseudo_log_likelihood"] = pseudo_log_likelihood(line);
    }
    fmt::print("{}\n", json_line(json));
  }

  double pseudo_log_likelihood(const std::string& line) {
    double sum = 0;
    inspect_model(engine_.model(), engine_.tokenizer(), {.text = line, .decoding = true},
                  [&](const Snapshot& snapshot) {
                    sum = 0;
                    for (const float log_prob : snapshot.masked_log_probs) sum += static_cast<double>(log_prob);
                  },
                  {});
    return sum;
  }

  TorchEngine& engine_;
  const FillOptions& options_;
  std::vector<Token> tokens_;  // of the line
};

}  // namespace

int fill(const FillOptions& options) {
  TorchEngine engine;
  open_model(engine, options.run, options.step);
  if (!engine.config().model.fills_masks())
    throw std::runtime_error("this model predicts no masked tokens: open a masked language model such as BERT");
  Filler filler(engine, options);
  std::string line;
  for (std::int64_t number = 1; next_line(line, number); ++number) {
    filler.fill(line, number);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace attnscope
