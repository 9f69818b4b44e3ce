// Neurons of a feed-forward sublayer, and what they respond to in a sample of the validation part.
#pragma once

#include <memory>
#include <vector>

#include "inspect/evaluation/dictionary.h"
#include "inspect/evaluation/token_sample.h"
#include "messages/neurons.h"
#include "messages/snapshot.h"

namespace attnscope {

// Why a model's neurons, or the features of its dictionary, cannot be listed; empty: they can.
std::string neurons_problem(const ModelConfig& config, const NeuronsQuestion& question);

// W×D: row i is added to the residual stream per unit of activation i; with a norm of the sublayer's output, before its
// division.
torch::Tensor added_rows(const SequenceModel& model, const LayerPlace& place, const ActivationSite& of);

// The same for the features of a dictionary, F×D; null: for neurons.
torch::Tensor written_rows(const SequenceModel& model, const LayerPlace& place, const SparseDictionary* dictionary);

// The activations on every token of a sample, N×W: the vectors of a dictionary.
TokenSample activation_sample(SequenceModel& model, const std::vector<Batch>& batches, const LayerPlace& place,
                              const ActivationSite& of, const YieldCallback& yield);

// The activations of the dictionary's features in the sentence of a whole snapshot, with its interventions: tokens of
// the layer's stack × features; empty if the layer is skipped.
Matrix sentence_features(SequenceModel& model, const Snapshot& snapshot, const LayerPlace& place,
                         const SparseDictionary& dictionary);

// The activations of the layer's neurons, or of a dictionary's features, on every token of a sample. The model is
// frozen.
class NeuronSample {
 public:
  // `dictionary` is null for neurons.
  NeuronSample(SequenceModel& model, const std::vector<Batch>& batches, const LayerPlace& place,
               std::shared_ptr<const SparseDictionary> dictionary, const YieldCallback& yield);

  std::int64_t tokens() const { return sample_.tokens(); }
  std::int64_t sentences() const { return std::ssize(sample_.sentences) - 1; }

  // `pairs` are those of the sample if the corpus knows the senses of its words, and otherwise none.
  std::vector<NeuronFacts> facts(const SequenceModel& model, const Tokenizer& tokenizer, const PairList& pairs,
                                 const YieldCallback& yield) const;
  // `neuron` is one of those that facts() lists.
  NeuronCard card(SequenceModel& model, const Tokenizer& tokenizer, int neuron, const YieldCallback& yield) const;
  NeuronPoint point(int neuron, std::int64_t step) const;

  // For a dictionary; `neurons` are those of the same layer, and `nll` is the loss of the sample (NeuronCard::nll).
  DictionaryFacts dictionary_facts(SequenceModel& model, const NeuronSample& neurons, double nll,
                                   const YieldCallback& yield) const;

 private:
  // What the strongest is chosen by: gated activations may be large and negative.
  torch::Tensor strength(const torch::Tensor& activations) const;
  void add_senses(const std::vector<std::string>& senses, std::vector<NeuronFacts>& facts) const;
  torch::Tensor losses(SequenceModel& model, const Inspection& changed, const YieldCallback& yield) const;
  Inspection held(int neuron, double activation) const;
  torch::Tensor correlations(const torch::Tensor& standard, const torch::Tensor& inverse,
                             const torch::Tensor& counts) const;
  NeuronContext context(const Tokenizer& tokenizer, const torch::Tensor& activations, std::int64_t row) const;
  std::vector<NeuronContext> contexts(const Tokenizer& tokenizer, const torch::Tensor& activations,
                                      const torch::Tensor& values, std::size_t most) const;

  LayerPlace place_;
  std::shared_ptr<const SparseDictionary> dictionary_;
  bool has_signs_;
  TokenSample sample_;
};

}  // namespace attnscope
