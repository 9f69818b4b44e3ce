// From a model to a sentence: greedy search, beam search, sampling. A language model continues its prompt; its </s> is
// a line break and does not end the output.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/sampling.h"
#include "messages/callbacks.h"
#include "messages/decodings.h"
#include "messages/interventions.h"
#include "model/kernels/libtorch.h"
#include "model/model.h"

namespace attnscope {

struct SearchOptions {
  std::int64_t beam = 1;        // hypotheses retained at each step; 1 is greedy
  double length_penalty = 0.6;  // α of GNMT (1609.08144 §7); 0 compares plain log-probabilities
  std::int64_t limit = 0;       // maximum number of tokens, including </s>; 0: depends on the source, see output_limit
  bool eos_ends = true;         // false in a language model whose </s> is a line break
  int end = SpecialTokens().end;
  std::vector<int> prefix = {};                  // the start of every hypothesis; counts in log_prob, score and limit
  const Interventions* interventions = nullptr;  // applied to the model during the search
};

struct Hypothesis {
  std::vector<int> ids;           // without <s> and the </s> that ends it
  std::vector<double> log_probs;  // of each id, and of the final </s>
  double log_prob = 0;            // their sum
  double score = 0;               // log_prob / ((5 + |Y|) / 6)^α, where |Y| includes </s>
  bool finished = false;          // ended by </s> or a label, not by the limit
};

std::string_view describe(HypothesisState state);

// One more token for one hypothesis of a beam: a node in the tree of all candidates.
struct Extension {
  int parent = -1;  // index of the node that it extends; −1: the root
  int step = 0;     // from 0
  int token = 0;
  double log_prob = 0;  // of the token
  double total = 0;     // of the hypothesis including the token
  double score = 0;     // total / ((5 + step + 1) / 6)^α
  HypothesisState state = HypothesisState::kept;
};

// One source's tree, step by step; within a step sorted by total, 2·beam of them, because half may end there.
using SearchTree = std::vector<Extension>;

// Log-probabilities of the next token, N×V. Row n extends row rows[n] (int64 N, CPU) of the previous step by tokens[n]
// (int64 N×L, CPU); in the first step rows are 0 … B−1 and tokens are the start tokens of the B searches.
using NextLogProbs = std::function<torch::Tensor(const torch::Tensor& rows, const torch::Tensor& tokens)>;

// B parallel searches, begin: int64 B×L, up to options.limit ≥ 1; `trees`, if not null, receives one tree per search.
// Returns for each the finished hypotheses, best score first, at most `beam`; if none finished, those at the limit.
std::vector<std::vector<Hypothesis>> beam_search(const NextLogProbs& next, const torch::Tensor& begin,
                                                 const SearchOptions& options,
                                                 std::vector<SearchTree>* trees = nullptr);

// Searches with a model: source: int64 B×S, for a language model the prompts, at least one token each; padding: bool
// B×S, true at padding, or undefined, as required for prompts. Each search ends independently of the others. eos_ends
// and `end` are set to match the model. `yield` is called at every step; an exception from it leaves the model
// unchanged.
std::vector<std::vector<Hypothesis>> beam_search(SequenceModel& model, const torch::Tensor& source,
                                                 const torch::Tensor& padding, SearchOptions options,
                                                 const YieldCallback& yield = {},
                                                 std::vector<SearchTree>* trees = nullptr);

// Searches for every source or prompt, in their order. Those of similar length are searched together, on all threads;
// a hypothesis that is finished leaves its batch, and the memory is that of one batch per thread.
std::vector<std::vector<Hypothesis>> search_all(SequenceModel& model, std::span<const std::vector<int>> sources,
                                                const SearchOptions& options, const FractionCallback& progress = {});

// Samples one hypothesis token by token. source: int64 1×S. Its log-probabilities are the model's own, before
// temperature and truncation; the option `beam` is ignored.
Hypothesis sample(SequenceModel& model, const torch::Tensor& source, Sampler& sampler, SearchOptions options,
                  const YieldCallback& yield = {});

// The maximum output length for a source of this many tokens: source + 50 (§6.1), but at most the model's number of
// positions. A language model is only limited to one context length. A classifier outputs one label.
std::int64_t output_limit(const ModelConfig& config, std::int64_t source_length);

}  // namespace attnscope
