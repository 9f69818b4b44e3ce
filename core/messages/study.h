// A study: a long computation on the model as it is when the study starts. It runs between training steps while
// inspections and training continue, reports progress, can be canceled, and ends in one immutable result.
#pragma once

#include <cstdint>
#include <variant>

#include "messages/attribution.h"
#include "messages/circuit.h"
#include "messages/cost.h"
#include "messages/decodings.h"
#include "messages/embeddings.h"
#include "messages/evaluation.h"
#include "messages/fourier.h"
#include "messages/gradients.h"
#include "messages/head_importance.h"
#include "messages/induction.h"
#include "messages/length.h"
#include "messages/nearest.h"
#include "messages/neurons.h"
#include "messages/order.h"
#include "messages/senses.h"
#include "messages/tensor_spread.h"

namespace attnscope {

// The quality of translations of the test part (greedy decoding), or of a language model's predictions on it.
struct HeldOutStudy {};

// An exact t-SNE of one embedding, limited to the max_tsne_tokens most frequent tokens.
struct TsneStudy {
  EmbeddingMatrix matrix = EmbeddingMatrix::source;
  double perplexity = 30;
};

// The heads, and the words, that carry the difference between two sentences. Without a corrupted sentence, one is
// searched in the corpus.
struct CircuitStudy {
  ContrastQuestion question;
};

// The same over all similar pairs of the corpus.
struct CorpusCircuitStudy {
  ContrastQuestion question;
};

// The output of a run under a change.
struct TrialStudy {
  ContrastQuestion question;
  ChangedRun run;
};

// The parts of the circuit found for that question, over the steps with recorded weights.
struct FormationStudy {
  ContrastQuestion question;
  ContrastFacts facts;
  Circuit circuit;
};

// SweepQuestion: the effect of every head and feed-forward, by a swap or along one path. ScoreQuestion: why a head
// attends to a word. HeadsQuestion: the loss without each head, and with more and more heads ablated;
// HeadsHistoryQuestion: the same at every step with recorded weights. AttributionQuestion: why a token was generated.
// GradientQuestion: how far a token's loss reaches back. CostQuestion: the cost by length of layers of the run's width.
// LengthQuestion: translation quality by source length, also beyond training. OrderQuestion: the output for a sentence
// with shuffled words. InductionQuestion: which heads continue repeated tokens. FourierQuestion: the frequencies of a
// model of modular arithmetic. NeuronsQuestion: what the hidden units of a layer respond to. ProbingQuestion: what
// linear probes read off the layers. TunedLensQuestion: fits the tuned lens. NearestQuestion: the corpus's contexts
// with vectors like that of a token.
using StudyQuestion =
    std::variant<HeldOutStudy, TsneStudy, CircuitStudy, CorpusCircuitStudy, TrialStudy, FormationStudy, SweepQuestion,
                 ScoreQuestion, HeadsQuestion, HeadsHistoryQuestion, AttributionQuestion, GradientQuestion,
                 CostQuestion, LengthQuestion, OrderQuestion, TensorsQuestion, InductionQuestion, FourierQuestion,
                 NeuronsQuestion, NearestQuestion, ProbingQuestion, TunedLensQuestion>;

struct StudyResult {
  std::uint64_t run = 0;  // as in Snapshot
  std::int64_t step = 0;  // optimizer steps of the weights
  std::variant<Evaluation, TextEvaluation, TsneMap, CircuitResult, CorpusCircuit, Trial, Formation, SweepResult,
               ScoreSplit, HeadsResult, HeadsHistory, AttributionResult, GradientResult, CostResult, LengthResult,
               OrderResult, TensorsResult, InductionResult, FourierResult, NeuronsResult, NearestResult,
               ProbingResult, TunedLensResult>
      answer;
};

}  // namespace attnscope
