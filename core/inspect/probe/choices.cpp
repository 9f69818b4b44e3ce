#include "analysis/sampling.h"
#include "inspect/probe/choices.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

namespace attnscope {
namespace {

constexpr std::int64_t num_candidates = 10;
constexpr int ranks_a_decade = 12;
constexpr const char* line_end = "\u23CE";  // ⏎

// softmax(logits / temperature) before and after truncation; a diverged model with non-finite logits is not truncated.
NextProbabilities cut(std::span<const float> logits, const SamplingOptions& sampling) {
  try {
    return next_probabilities(logits, sampling);
  } catch (const std::domain_error&) {
    return {std::vector<double>(logits.size()), std::vector<double>(logits.size())};
  }
}

}  // namespace

Token token_of(int id, const Tokenizer& tokenizer, const ModelConfig& model) {
  const bool ends_line = !model.writing_ends() && id == model.special().end;
  return ends_line ? Token{id, line_end} : tokenizer.as_token(id);
}

Choice::Choice(const torch::Tensor& logits, const Tokenizer& tokenizer, const ModelConfig& model)
    : logits_(logits.to(torch::kCPU, torch::kFloat32).contiguous()),
      log_p_(torch::log_softmax(logits_, 0)),
      tokenizer_(tokenizer),
      model_(model) {}

std::vector<int> Choice::best_ids(std::int64_t count) const {
  const torch::Tensor best = std::get<1>(logits_.topk(std::min(count, logits_.size(0))));
  return {best.data_ptr<std::int64_t>(), best.data_ptr<std::int64_t>() + best.numel()};
}

float Choice::probability(int id) const {
  return std::exp(log_p_.data_ptr<float>()[id]);
}

int Choice::rank(int id) const {
  return static_cast<int>((logits_ > logits_[id]).sum().item<std::int64_t>()) + 1;
}

DecodingStep Choice::step(std::optional<int> given, const SamplingOptions& sampling) const {
  const std::span logits(logits_.data_ptr<float>(), static_cast<std::size_t>(logits_.numel()));
  const NextProbabilities next = cut(logits, sampling);
  std::vector<int> ids = best_ids(num_candidates);
  if (given && std::find(ids.begin(), ids.end(), *given) == ids.end()) ids.push_back(*given);

  DecodingStep step;
  for (const int id : ids) {
    step.candidates.push_back({token(id), logits[id], probability(id), static_cast<float>(next.before[id]),
                               static_cast<float>(next.after[id])});
  }
  if (!given && ids.front() == model_.banned_id) step.chosen = 1;
  if (given) step.chosen = static_cast<int>(std::find(ids.begin(), ids.end(), *given) - ids.begin());
  step.entropy = -(log_p_.exp() * log_p_).nan_to_num(0).sum().item<float>();
  return step;
}

GoldStep Choice::gold(int id) const {
  return {token(id), probability(id), rank(id), token(best_ids(1).front())};
}

std::vector<Guess> Choice::best(std::int64_t count) const {
  std::vector<Guess> guesses;
  for (const int id : best_ids(count)) guesses.push_back({token(id), probability(id)});
  return guesses;
}

std::vector<float> Choice::ranked(const std::vector<int>& ranks) const {
  const torch::Tensor sorted = std::get<0>(log_p_.sort(0, true));
  std::vector<float> probabilities;
  for (const int rank : ranks) probabilities.push_back(std::exp(sorted.data_ptr<float>()[rank - 1]));
  return probabilities;
}

std::vector<int> plotted_ranks(std::int64_t vocab_size) {
  std::vector<int> ranks;
  for (int i = 0;; ++i) {
    const double rank = std::round(std::pow(10.0, static_cast<double>(i) / ranks_a_decade));
    if (rank >= static_cast<double>(vocab_size)) break;
    if (ranks.empty() || ranks.back() != static_cast<int>(rank)) ranks.push_back(static_cast<int>(rank));
  }
  ranks.push_back(static_cast<int>(vocab_size));
  return ranks;
}

}  // namespace attnscope
