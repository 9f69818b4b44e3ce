// A study: long work over the model as it stands when the study begins. It is posted, done between updates while looks
// and training go on, tells how far it is, can be taken back, and ends in one result that does not change any more.
#pragma once

#include <cstdint>
#include <variant>

#include "plain/attribution.h"
#include "plain/circuit.h"
#include "plain/cost.h"
#include "plain/embeddings.h"
#include "plain/evaluation.h"
#include "plain/gradients.h"
#include "plain/head_importance.h"
#include "plain/length.h"
#include "plain/order.h"
#include "plain/tensor_spread.h"

namespace attnscope {

// How well the test part of the corpus is translated (greedily) or, by a language model, predicted.
struct HeldOutStudy {};

// The map of one embedding by exact t-SNE, of at most max_tsne_tokens: the most frequent ones.
struct TsneStudy {
  EmbeddingMatrix matrix = EmbeddingMatrix::source;
  double perplexity = 30;
};

// Which heads, at which words, carry the difference between two sentences. No corrupted sentence: one of the corpus is
// looked for.
struct CircuitStudy {
  ContrastQuestion question;
};

// The same over all pairs of the corpus that are like this one.
struct CorpusCircuitStudy {
  ContrastQuestion question;
};

// What is written when a run is changed.
struct TrialStudy {
  ContrastQuestion question;
  ChangedRun run;
};

// The parts of the circuit that was found for that question, over the steps whose weights were recorded.
struct FormationStudy {
  ContrastQuestion question;
  ContrastFacts facts;
  Circuit circuit;
};

// SweepQuestion: what every head and feed-forward does, by an exchange or along one path. ScoreQuestion: why a head
// looks at a word. HeadsQuestion: what is lost without each head, and without more and more of them;
// HeadsHistoryQuestion: the same at every step whose weights were recorded. AttributionQuestion: why a piece was
// written. GradientQuestion: how far a written piece's loss reaches back. CostQuestion: what layers of the run's width
// cost, by length. LengthQuestion: how well sources are translated by their length, beyond training too. OrderQuestion:
// what is written of a sentence whose words are shuffled.
using StudyQuestion =
    std::variant<HeldOutStudy, TsneStudy, CircuitStudy, CorpusCircuitStudy, TrialStudy, FormationStudy, SweepQuestion,
                 ScoreQuestion, HeadsQuestion, HeadsHistoryQuestion, AttributionQuestion, GradientQuestion,
                 CostQuestion, LengthQuestion, OrderQuestion, TensorsQuestion>;

struct StudyResult {
  std::uint64_t run = 0;  // as in Snapshot
  std::int64_t step = 0;  // optimizer updates that the weights have had
  std::variant<Evaluation, TextEvaluation, TsneMap, CircuitResult, CorpusCircuit, Trial, Formation, SweepResult,
               ScoreSplit, HeadsResult, HeadsHistory, AttributionResult, GradientResult, CostResult, LengthResult,
               OrderResult, TensorsResult>
      answer;
};

}  // namespace attnscope
