#include "circuit/circuit_study.h"

#include <memory>

#include "circuit/corpus_twins.h"
#include "circuit/score_split.h"
#include "circuit/search.h"
#include "circuit/sweep.h"
#include "circuit/twin_runs.h"

namespace attnscope {
namespace {

constexpr double read_by_then = 0.2;  // of the work, when the pairs have been read

// The first of the twins that the model tells apart from the sentence; none where it does so with none.
std::string first_apart(const CircuitGround& ground, const std::string& sentence,
                        const std::vector<std::string>& twins) {
  for (const std::string& twin : twins) {
    try {
      if (tells_apart(TwinRuns(ground.model, ground.tokenizer, {sentence, twin, {}}).facts())) return twin;
    } catch (const NotTwins&) {
      continue;
    }
  }
  return {};
}

}  // namespace

CircuitLook answer(const CircuitGround& ground, const CircuitStudy& study, const FractionCallback& progress) {
  CircuitLook look{.question = study.question, .offers = {}, .facts = {}, .sweeps = {}, .found = {}};
  if (ground.corpus) look.offers = twins_of(*ground.corpus, look.question.clean);
  if (look.question.corrupted.empty()) {
    look.question.corrupted = first_apart(ground, look.question.clean, look.offers);
    if (look.question.corrupted.empty()) {
      look.problem =
          "Type a contrast sentence: change one word, keep the same number of tokens, and make sure that the "
          "translation changes.";
      return look;
    }
  }
  try {
    const auto runs = std::make_shared<const TwinRuns>(ground.model, ground.tokenizer, look.question);
    look.facts = runs->facts();
    const Breath breathe = [&] { progress(0); };
    for (const ChangeKind kind : {ChangeKind::twin, ChangeKind::zero, ChangeKind::mean})
      for (const Twin of : {Twin::clean, Twin::corrupted}) look.sweeps.push_back(sweep(*runs, of, kind, breathe));
    look.found = find_circuit({case_of(runs)}, progress);
  } catch (const NotTwins& problem) {
    look.problem = problem.what();
  }
  return look;
}

CorpusCircuit answer(const CircuitGround& ground, const CorpusCircuitStudy& study, const FractionCallback& progress) {
  CorpusCircuit result{.question = study.question, .found = {}};
  if (!ground.corpus) {
    result.problem = "The run's corpus is no longer available, so there are no pairs to evaluate.";
    return result;
  }
  try {
    const TwinFacts facts = TwinRuns(ground.model, ground.tokenizer, study.question).facts();
    const CorpusCases found =
        cases_like(ground.model, ground.tokenizer, facts, twins_like(*ground.corpus, study.question),
                   [&](double fraction) { progress(read_by_then * fraction); });
    result.tried = found.tried;
    if (found.cases.empty()) {
      result.problem = "The corpus has no similar pair that the model distinguishes.";
      return result;
    }
    result.found =
        find_circuit(found.cases, [&](double fraction) { progress(read_by_then + (1 - read_by_then) * fraction); });
  } catch (const NotTwins& problem) {
    result.problem = problem.what();
  }
  return result;
}

Trial answer(const CircuitGround& ground, const TrialStudy& study, const FractionCallback& progress) {
  const TwinRuns runs(ground.model, ground.tokenizer, study.question);
  const double margin = runs.read(std::span(&study.run, 1)).front().margin;
  return {study.question, study.run, runs.written(study.run, [&] { progress(0); }), margin,
          runs.share(study.run.of, margin)};
}

SweepLook answer(const CircuitGround& ground, const SweepQuestion& question, const FractionCallback& progress) {
  SweepLook look{.question = question, .sweeps = {}};
  try {
    const TwinRuns runs(ground.model, ground.tokenizer, question.twins);
    for (const Twin of : {Twin::clean, Twin::corrupted})
      look.sweeps.push_back(sweep(runs, of, question, [&] { progress(0); }));
  } catch (const NotTwins& problem) {
    look.problem = problem.what();
  }
  return look;
}

ScoreSplit answer(const CircuitGround& ground, const ScoreQuestion& question, const FractionCallback& progress) {
  progress(0);
  try {
    return split_score(TwinRuns(ground.model, ground.tokenizer, question.twins), question);
  } catch (const NotTwins& problem) {
    return {.question = question, .problem = problem.what()};
  }
}

}  // namespace attnscope
