#include "inspect/circuit/circuit_study.h"

#include <memory>

#include "inspect/circuit/contrast_runs.h"
#include "inspect/circuit/corpus_contrasts.h"
#include "inspect/circuit/score_split.h"
#include "inspect/circuit/search.h"
#include "inspect/circuit/sweep.h"

namespace attnscope {
namespace {

constexpr double read_by_then = 0.2;  // fraction of the work done when the pairs have been processed

// The first of the contrast sentences that the model distinguishes from the sentence; empty if there is none.
std::string first_apart(const CircuitGround& ground, const std::string& sentence,
                        const std::vector<std::string>& contrasts) {
  for (const std::string& contrast : contrasts) {
    try {
      if (tells_apart(ContrastRuns(ground.model, ground.tokenizer, {sentence, contrast, {}}).facts())) return contrast;
    } catch (const NotContrasting&) {
      continue;
    }
  }
  return {};
}

}  // namespace

CircuitResult answer(const CircuitGround& ground, const CircuitStudy& study, const FractionCallback& progress) {
  CircuitResult inspection{.question = study.question, .offers = {}, .facts = {}, .sweeps = {}, .found = {}};
  if (ground.corpus) inspection.offers = contrasts_of(*ground.corpus, inspection.question.clean);
  if (inspection.question.corrupted.empty()) {
    inspection.question.corrupted = first_apart(ground, inspection.question.clean, inspection.offers);
    if (inspection.question.corrupted.empty()) {
      inspection.problem =
          "Type a contrast sentence: change one word, keep the same number of tokens, and make sure that the "
          "translation changes.";
      return inspection;
    }
  }
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
    result.problem = "The run's corpus is no longer available, so there are no pairs to evaluate.";
    return result;
  }
  try {
    const ContrastFacts facts = ContrastRuns(ground.model, ground.tokenizer, study.question).facts();
    const CorpusCases found =
        cases_like(ground.model, ground.tokenizer, facts, contrasts_like(*ground.corpus, study.question),
                   [&](double fraction) { progress(read_by_then * fraction); });
    result.tried = found.tried;
    if (found.cases.empty()) {
      result.problem = "The corpus has no similar pair that the model distinguishes.";
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
