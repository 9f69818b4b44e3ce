// A model's runs on two sentences with the same number of tokens, and on interventions between them.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/error.h"
#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/circuit.h"
#include "model/model.h"

namespace attnscope {

// The two sentences cannot be compared in this model; the message says why in one sentence.
class NotContrasting : public Error {
 public:
  using Error::Error;
};

// They can be compared, but the model's output is the same for both.
class NoDifference : public NotContrasting {
 public:
  using NotContrasting::NotContrasting;
};

// The model is frozen (SequenceModel::freeze), and must outlive this.
class ContrastRuns {
 public:
  // Throws NotContrasting, and TokenizerError for text that cannot be tokenized.
  ContrastRuns(SequenceModel& model, const Tokenizer& tokenizer, const ContrastQuestion& question);

  // Asks another model the same question at the same point: after the prefix of `asked`, between its two tokens.
  // Nothing is generated.
  ContrastRuns(SequenceModel& model, const Tokenizer& tokenizer, const ContrastFacts& asked);

  const ContrastFacts& facts() const { return facts_; }
  const ModelConfig& config() const { return model_.config(); }

  // Results in the order of `runs`; as many as fit run in one batch. `yield` is called between the batches.
  std::vector<Odds> read(std::span<const ChangedRun> runs, const YieldCallback& yield = {}) const;

  // Path patching: measures only the direct path to these heads, with everything else on the way held fixed
  // (SweepQuestion::end). Not for recurrent networks, where everything passes through the states.
  std::vector<Odds> read(std::span<const ChangedRun> runs, const PathEnd& end, const YieldCallback& yield) const;

  // With the residual stream of both sentences changed: 2×L×D, the clean one first.
  std::vector<Odds> read(const ActivationChange& change) const;

  // The fraction of the other sentence's answer in such a run's margin; see Effect.
  double share(ContrastSide of, double margin) const;

  // True if the other sentence's answer is the more probable one.
  static bool turned(ContrastSide of, double margin) { return of == ContrastSide::clean ? margin < 0 : margin > 0; }

  // Greedy output of the model under these interventions, from beginning to end. Positions beyond the sentence's own
  // run are not changed.
  std::string written(const ChangedRun& run, const YieldCallback& yield = {}) const;

  // The number of positions of a site, in the sweeps and studies.
  int positions(AttentionPart part) const;

  // One sentence's recorded value at a site: L×D; for heads H×L×d, before W_O.
  torch::Tensor value(ContrastSide contrast, const ValueSite& site) const;

  // The model's parameter; undefined if it has none of that name.
  torch::Tensor parameter(const std::string& name) const;

  // The relative positions used by self-attention.
  RelativePositions relative_positions(AttentionPart part) const {
    return model_.relative_positions(part, positions(part));
  }

  // The attention weights of one sentence's run, H×Q×K; Q and K as in positions().
  torch::Tensor weights(ContrastSide contrast, AttentionPart part, int layer) const;

 private:
  ContrastRuns(SequenceModel& model, const Tokenizer& tokenizer) : model_(model), tokenizer_(tokenizer) {}
  void read_contrasts(const std::string& clean, const std::string& corrupted);
  void write_both(const ContrastQuestion& question);
  void fill_both(const ContrastQuestion& question);
  void run_to_step();
  torch::Tensor source(ContrastSide contrast) const;
  void keep_runs();
  std::vector<Odds> read_side_by_side(std::span<const ChangedRun> runs) const;
  std::vector<Odds> read_path(std::span<const ChangedRun> runs, const PathEnd& end) const;
  torch::Tensor logits_of(std::span<const ChangedRun> runs, bool encode, Inspection& inspection) const;
  std::vector<Odds> odds_of(const torch::Tensor& logits) const;
  bool changes_encoder(const ChangedRun& run) const;
  Patches patches_of(std::span<const ChangedRun> runs) const;

  SequenceModel& model_;
  const Tokenizer& tokenizer_;
  ContrastFacts facts_;
  std::vector<int> prefix_;  // the decoder's input: <s> and the prefix; in a language model only the prefix
  std::int64_t asked_ = -1;  // the position whose prediction is compared: the last, or the mask
  Memory memory_;            // 2×S×D, of both sentences
  RunValues values_;         // rows: clean, corrupted, zero, mean
  Inspection kept_;          // the attention weights of both
};

}  // namespace attnscope
