#include "decoding/search.h"

#include <algorithm>
#include <cmath>

#include "tokenizer/tokenizer.h"

namespace attnscope {
namespace {

double length_penalised(double log_prob, std::size_t length, double alpha) {
  return log_prob / std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

torch::Tensor as_tensor(const std::vector<Hypothesis>& hypotheses) {
  const auto length = static_cast<std::int64_t>(hypotheses.front().ids.size());
  torch::Tensor prefixes = torch::empty({static_cast<std::int64_t>(hypotheses.size()), length + 1}, torch::kInt64);
  auto* out = prefixes.data_ptr<std::int64_t>();
  for (const Hypothesis& hypothesis : hypotheses) {
    *out++ = Tokenizer::bos_id;
    out = std::copy(hypothesis.ids.begin(), hypothesis.ids.end(), out);
  }
  return prefixes;
}

// One step: every live hypothesis by every piece. Those of the best `beam` that end become finished; the best `beam`
// that go on stay alive.
void extend(std::vector<Hypothesis>& live, std::vector<Hypothesis>& finished, const torch::Tensor& next_log_probs,
            const SearchOptions& options) {
  const std::int64_t vocab_size = next_log_probs.size(1);
  std::vector<double> log_probs;
  for (const Hypothesis& hypothesis : live) log_probs.push_back(hypothesis.log_prob);
  const torch::Tensor totals =
      next_log_probs.to(torch::kFloat64) + torch::tensor(log_probs, torch::kFloat64).unsqueeze(1);  // N×V
  const std::int64_t wanted = std::min<std::int64_t>(2 * options.beam, totals.numel());  // half of them may end here
  const auto [values, indices] = totals.flatten().topk(wanted);
  std::vector<Hypothesis> extended;
  for (std::int64_t rank = 0; rank < wanted && static_cast<std::int64_t>(extended.size()) < options.beam; ++rank) {
    const auto index = indices[rank].item<std::int64_t>();
    Hypothesis hypothesis = live[index / vocab_size];
    hypothesis.log_prob = values[rank].item<double>();
    hypothesis.score = length_penalised(hypothesis.log_prob, hypothesis.ids.size() + 1, options.length_penalty);
    const int piece = static_cast<int>(index % vocab_size);
    if (piece != Tokenizer::eos_id) {
      hypothesis.ids.push_back(piece);
      extended.push_back(std::move(hypothesis));
    } else if (rank < options.beam) {
      hypothesis.finished = true;
      finished.push_back(std::move(hypothesis));
    }
  }
  live = std::move(extended);
}

}  // namespace

std::vector<Hypothesis> beam_search(const NextLogProbs& next, const SearchOptions& options) {
  std::vector<Hypothesis> live(1);
  std::vector<Hypothesis> finished;
  for (std::int64_t length = 0; length < options.limit && !live.empty(); ++length) {
    extend(live, finished, next(as_tensor(live)), options);
    if (static_cast<std::int64_t>(finished.size()) >= options.beam) break;
  }
  if (finished.empty()) finished = std::move(live);
  std::stable_sort(finished.begin(), finished.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (static_cast<std::int64_t>(finished.size()) > options.beam) finished.resize(options.beam);
  return finished;
}

std::vector<Hypothesis> beam_search(SequenceModel& model, const torch::Tensor& source, SearchOptions options) {
  torch::NoGradGuard no_grad;
  model.eval();
  const Memory memory = model.encode(source, {});
  const NextLogProbs next = [&](const torch::Tensor& prefixes) {
    const torch::Tensor decoded = model.decode(prefixes.to(source.device()), memory.repeated(prefixes.size(0)));
    return torch::log_softmax(model.logits(decoded.select(1, -1)), -1).cpu();
  };
  if (options.limit == 0) options.limit = output_limit(model.config(), source.size(1));
  return beam_search(next, options);
}

std::vector<std::vector<int>> greedy_search(SequenceModel& model, const torch::Tensor& source,
                                            const torch::Tensor& source_padding) {
  torch::NoGradGuard no_grad;
  model.eval();
  const std::int64_t rows = source.size(0);
  const Memory memory = model.encode(source, source_padding);
  torch::Tensor output = torch::full({rows, 1}, Tokenizer::bos_id, source.options());
  torch::Tensor ended = torch::zeros({rows}, source.options().dtype(torch::kBool));
  const std::int64_t limit = output_limit(model.config(), source.size(1));
  for (std::int64_t length = 0; length < limit && !ended.all().item<bool>(); ++length) {
    const torch::Tensor decoded = model.decode(output, memory);
    const torch::Tensor piece = model.logits(decoded.select(1, -1)).argmax(-1);  // B
    output = torch::cat({output, piece.unsqueeze(1)}, 1);
    ended = ended.logical_or(piece.eq(Tokenizer::eos_id));
  }
  std::vector<std::vector<int>> ids(rows);
  const torch::Tensor table = output.cpu().contiguous();
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto* piece = table.data_ptr<std::int64_t>() + row * table.size(1) + 1;
    for (std::int64_t i = 1; i < table.size(1) && *piece != Tokenizer::eos_id; ++i)
      ids[row].push_back(static_cast<int>(*piece++));
  }
  return ids;
}

std::int64_t output_limit(const ModelConfig& config, std::int64_t source_length) {
  return std::min(config.max_length, source_length + 50);
}

}  // namespace attnscope
