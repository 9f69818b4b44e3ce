// From a model to a sentence: greedy and beam search, sampling. A language model continues its prompt instead, and its
// </s> is a line's end that ends nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "kernels/libtorch.h"
#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/decodings.h"
#include "plain/interventions.h"
#include "plain/sampling.h"

namespace attnscope {

struct SearchOptions {
  std::int64_t beam = 1;        // hypotheses kept at each step; 1 is greedy
  double length_penalty = 0.6;  // α of GNMT (1609.08144 §7); 0 compares plain log-probabilities
  std::int64_t limit = 0;       // pieces at most, </s> included; 0: by the source, see output_limit
  bool eos_ends = true;         // not in a language model whose </s> is a line's end
  int end = SpecialTokens().end;
  std::vector<int> prefix = {};  // what every hypothesis begins with; it counts in log_prob, score and limit
  const Interventions* interventions = nullptr;  // to the model while it searches
};

struct Hypothesis {
  std::vector<int> ids;           // without <s> and the </s> that ends it
  std::vector<double> log_probs;  // of each id, and of the </s> that ends it
  double log_prob = 0;            // their sum
  double score = 0;               // log_prob / ((5 + |Y|) / 6)^α, |Y| counting </s>
  bool finished = false;          // ended by </s>, or a label; not by the limit
};

std::string_view describe(HypothesisState state);

// One more piece for one hypothesis of a beam: a node of the tree of all that was considered.
struct Extension {
  int parent = -1;  // index of the node it goes on from; −1: the beginning
  int step = 0;     // from 0
  int token = 0;
  double log_prob = 0;  // of the piece
  double total = 0;     // of the hypothesis with it
  double score = 0;     // total / ((5 + step + 1) / 6)^α
  HypothesisState state = HypothesisState::kept;
};

// One source's, step by step; within a step the best total first, 2·beam of them: half of those may end there.
using SearchTree = std::vector<Extension>;

// Log-probabilities of the next piece, N×V. Row n goes on from row rows[n] (int64 N, CPU) of the step before with
// tokens[n] (int64 N×L, CPU); in the first step rows are 0 … B−1 and tokens what each of the B searches begins with.
using NextLogProbs = std::function<torch::Tensor(const torch::Tensor& rows, const torch::Tensor& tokens)>;

// B searches side by side, begin: int64 B×L, up to options.limit ≥ 1; `trees`, where given, becomes one a search. Of
// each the hypotheses that ended, best score first, at most `beam`; if none did, those that stand at the limit.
std::vector<std::vector<Hypothesis>> beam_search(const NextLogProbs& next, const torch::Tensor& begin,
                                                 const SearchOptions& options,
                                                 std::vector<SearchTree>* trees = nullptr);

// With a model: source: int64 B×S, for a language model the prompts, at least one piece each; padding: bool B×S, true
// at padding, or undefined, as prompts need it. No search is any longer for those beside it. eos_ends and `end` are set
// as the model wants them. `breathe` is called at every step; what it throws leaves the model as it is.
std::vector<std::vector<Hypothesis>> beam_search(SequenceModel& model, const torch::Tensor& source,
                                                 const torch::Tensor& padding, SearchOptions options,
                                                 const YieldCallback& yield = {},
                                                 std::vector<SearchTree>* trees = nullptr);

// One hypothesis drawn piece by piece. source: int64 1×S. Its log-probabilities are the model's own, before temperature
// and cuts; of the options, `beam` means nothing here.
Hypothesis sample(SequenceModel& model, const torch::Tensor& source, Sampler& sampler, SearchOptions options,
                  const YieldCallback& yield = {});

// The longest output for a source of this many pieces: source + 50 (§6.1), and no more than the model has positions. A
// language model has no such limit: a context's worth. A classifier writes one label.
std::int64_t output_limit(const ModelConfig& config, std::int64_t source_length);

}  // namespace attnscope
