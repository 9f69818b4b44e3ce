#include "inspect/circuit/circuit_study.h"

#include <memory>

#include "common/mark.h"
#include "common/spread.h"
#include "data/corpus/examples.h"
#include "inspect/circuit/contrast_runs.h"
#include "inspect/circuit/corpus_contrasts.h"
#include "inspect/circuit/score_split.h"
#include "inspect/circuit/search.h"
#include "inspect/circuit/sweep.h"
#include "messages/messages.h"

namespace attnscope {
namespace {

constexpr double read_by_then = 0.2;  // fraction of the work done when the pairs have been processed

// Those of the sentences that the model distinguishes from this one, at most `most`.
std::vector<std::string> distinguished(const CircuitGround& ground, const std::string& sentence,
                                       const std::vector<std::string>& contrasts, std::size_t most,
                                       const FractionCallback& progress) {
  std::vector<std::string> apart;
  for (const std::string& contrast : contrasts) {
    if (apart.size() == most) break;
    progress(0);
    try {
      if (tells_apart(ContrastRuns(ground.model, ground.tokenizer, {sentence, contrast, {}}).facts()))
        apart.push_back(contrast);
    } catch (const NotContrasting&) {
      continue;
    }
  }
  return apart;
}

// The pair of the first example sentence of the corpus that has a contrast sentence; empty if none has.
ContrastQuestion worked_example(const CircuitGround& ground, const FractionCallback& progress) {
  constexpr std::size_t most_examples = 8, most_contrasts = 3;
  for (const Example& example : spread_evenly(examples_of(*ground.corpus), most_examples)) {
    std::vector<std::string> contrasts = contrasts_of(*ground.corpus, example.source, most_contrasts);
    if (contrasts.empty()) contrasts = word_swaps_of(*ground.corpus, example.source, most_contrasts);
    const std::vector<std::string> apart = distinguished(ground, example.source, contrasts, 1, progress);
    if (!apart.empty()) return {example.source, apart.front(), {}};
  }
  return {};
}

// Suggests contrast sentences and, if none was given, uses the first that the model distinguishes. Without any, the
// result says why and has an example.
void choose_contrast(const CircuitGround& ground, CircuitResult& inspection, const FractionCallback& progress) {
  constexpr std::size_t most_swaps = 6;
  ContrastQuestion& question = inspection.question;
  if (!ground.corpus) {
    if (question.corrupted.empty())
      inspection.problem = mark(
          "There are no suggestions because the run's corpus is not available. Type a contrast sentence: change one "
          "word so that the output changes, and keep the number of tokens.");
    return;
  }
  inspection.offers = contrasts_of(*ground.corpus, question.clean);
  std::vector<std::string> apart;
  if (!inspection.offers.empty() && question.corrupted.empty())
    apart = distinguished(ground, question.clean, inspection.offers, 1, progress);
  if (inspection.offers.empty() || (apart.empty() && question.corrupted.empty())) {
    apart = distinguished(ground, question.clean, word_swaps_of(*ground.corpus, question.clean), most_swaps, progress);
    inspection.offers = apart;
  }
  if (!question.corrupted.empty()) return;
  if (!apart.empty()) {
    question.corrupted = apart.front();
    return;
  }
  inspection.example = worked_example(ground, progress);
  inspection.problem =
      inspection.example.clean.empty()
          ? mark(
                "There are no suggestions because the model gives the same output when a word of a corpus sentence is "
                "replaced. Train it further, or type a contrast sentence with the same number of tokens.")
          : mark(
                "There are no suggestions for this sentence: no word that the corpus has in the same place changes the "
                "output and keeps the number of tokens. Type a contrast sentence, or start from this example:");
}

}  // namespace

CircuitResult answer(const CircuitGround& ground, const CircuitStudy& study, const FractionCallback& progress) {
  CircuitResult inspection{
      .question = study.question, .offers = {}, .example = {}, .facts = {}, .sweeps = {}, .found = {}};
  choose_contrast(ground, inspection, progress);
  if (!inspection.problem.empty()) return inspection;
  try {
    const auto runs = std::make_shared<const ContrastRuns>(ground.model, ground.tokenizer, inspection.question);
    inspection.facts = runs->facts();
    const YieldCallback yield = [&] { progress(0); };
    for (const ChangeKind kind : {ChangeKind::contrast, ChangeKind::zero, ChangeKind::mean})
      for (const ContrastSide of : {ContrastSide::clean, ContrastSide::corrupted})
        inspection.sweeps.push_back(sweep(*runs, of, kind, yield));
    inspection.found = find_circuit({case_of(runs)}, progress);
  } catch (const NotContrasting& problem) {
    inspection.problem = problem.what();
  }
  return inspection;
}

CorpusCircuit answer(const CircuitGround& ground, const CorpusCircuitStudy& study, const FractionCallback& progress) {
  CorpusCircuit result{.question = study.question, .found = {}};
  if (!ground.corpus) {
    result.problem = mark("The run's corpus is no longer available, so there are no pairs to evaluate.");
    return result;
  }
  try {
    const ContrastFacts facts = ContrastRuns(ground.model, ground.tokenizer, study.question).facts();
    const CorpusCases found =
        cases_like(ground.model, ground.tokenizer, facts, contrasts_like(*ground.corpus, study.question),
                   [&](double fraction) { progress(read_by_then * fraction); });
    result.tried = found.tried;
    if (found.cases.empty()) {
      result.problem = mark("The corpus has no similar pair that the model distinguishes.");
      return result;
    }
    result.found =
        find_circuit(found.cases, [&](double fraction) { progress(read_by_then + (1 - read_by_then) * fraction); });
  } catch (const NotContrasting& problem) {
    result.problem = problem.what();
  }
  return result;
}

Trial answer(const CircuitGround& ground, const TrialStudy& study, const FractionCallback& progress) {
  const ContrastRuns runs(ground.model, ground.tokenizer, study.question);
  const double margin = runs.read(std::span(&study.run, 1)).front().margin;
  return {study.question, study.run, runs.written(study.run, [&] { progress(0); }), margin,
          runs.share(study.run.of, margin)};
}

SweepResult answer(const CircuitGround& ground, const SweepQuestion& question, const FractionCallback& progress) {
  SweepResult inspection{.question = question, .sweeps = {}};
  try {
    const ContrastRuns runs(ground.model, ground.tokenizer, question.contrasts);
    for (const ContrastSide of : {ContrastSide::clean, ContrastSide::corrupted})
      inspection.sweeps.push_back(sweep(runs, of, question, [&] { progress(0); }));
  } catch (const NotContrasting& problem) {
    inspection.problem = problem.what();
  }
  return inspection;
}

ScoreSplit answer(const CircuitGround& ground, const ScoreQuestion& question, const FractionCallback& progress) {
  progress(0);
  try {
    return split_score(ContrastRuns(ground.model, ground.tokenizer, question.contrasts), question);
  } catch (const NotContrasting& problem) {
    return {.question = question, .problem = problem.what()};
  }
}

}  // namespace attnscope
