// A model's runs on two sentences of the same number of pieces, and on what comes of changing one of them.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/circuit.h"
#include "plain/error.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// Two sentences cannot be compared in this model; the message says why, in one sentence.
class NotContrasting : public Error {
 public:
  using Error::Error;
};

// They can be, and the model writes the same for both.
class NoDifference : public NotContrasting {
 public:
  using NotContrasting::NotContrasting;
};

// The model stands still (SequenceModel::freeze), and outlives this.
class ContrastRuns {
 public:
  // Throws NotContrasting, and TokenizerError for what cannot be read.
  ContrastRuns(SequenceModel& model, const Tokenizer& tokenizer, const ContrastQuestion& question);

  // The same asked where `asked` was, of another model: after its prefix, between its two pieces. Nothing is written by
  // this one.
  ContrastRuns(SequenceModel& model, const Tokenizer& tokenizer, const ContrastFacts& asked);

  const ContrastFacts& facts() const { return facts_; }
  const ModelConfig& config() const { return model_.config(); }

  // In the order of `runs`; side by side in one pass, as many as fit. `breathe` is called between the passes.
  std::vector<Odds> read(std::span<const ChangedRun> runs, const YieldCallback& yield = {}) const;

  // The same of what goes straight to these heads alone, everything else on the way held as it was
  // (SweepQuestion::end). Not of a recurrent network, whose states all else passes through.
  std::vector<Odds> read(std::span<const ChangedRun> runs, const PathEnd& end, const YieldCallback& yield) const;

  // How much of the other sentence's answer the margin of such a run has; see Effect.
  double share(ContrastSide of, double margin) const;

  // True if it is the other sentence's answer that is the more probable one.
  static bool turned(ContrastSide of, double margin) { return of == ContrastSide::clean ? margin < 0 : margin > 0; }

  // What is written, from its beginning to its end, by a model that is changed like this: greedily. What stands at
  // positions that neither sentence's own run has read is not changed.
  std::string written(const ChangedRun& run, const YieldCallback& yield = {}) const;

  // Of a site, how many positions it has, in the sweeps and studies.
  int positions(AttentionPart part) const;

  // What one sentence's run left at a site: L×D; of heads H×L×d, before W_O.
  torch::Tensor value(ContrastSide contrast, const ValueSite& site) const;

  // Of the model; undefined where it has none of that name.
  torch::Tensor parameter(const std::string& name) const;

  // What self-attention is told of the distances of two pieces.
  RelativePositions relative_positions(AttentionPart part) const {
    return model_.relative_positions(part, positions(part));
  }

  // The weights of one sentence's run, H×Q×K; Q and K as positions() counts them.
  torch::Tensor weights(ContrastSide contrast, AttentionPart part, int layer) const;

 private:
  ContrastRuns(SequenceModel& model, const Tokenizer& tokenizer) : model_(model), tokenizer_(tokenizer) {}
  void read_contrasts(const std::string& clean, const std::string& corrupted);
  void write_both(const ContrastQuestion& question);
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
  std::vector<int> prefix_;  // the decoder's input: <s> and the prefix; of a language model the prefix alone
  Memory memory_;            // 2×S×D, of both sentences
  RunValues values_;         // rows: clean, corrupted, nothing, the mean
  Inspection kept_;          // the weights of both
};

}  // namespace attnscope
