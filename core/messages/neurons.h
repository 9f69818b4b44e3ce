// The hidden units of a feed-forward sublayer: what activates each, what it promotes, and what is lost without it (Geva
// et al. 2021, arXiv 2012.14913).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/matrix.h"
#include "messages/interventions.h"
#include "messages/token.h"

namespace attnscope {

// A sparse autoencoder of a layer's activations: its features are listed like neurons.
struct DictionaryOptions {
  int width = 4;      // features, as a multiple of the number of activations
  int active = 16;    // the largest features of a token that count (TopK, 2406.04093); 0: all, with the L1 penalty
  double l1 = 0.05;   // of the features' sum, if `active` is 0 (Bricken et al. 2023)
  int steps = 1500;
  ActivationSite of = {};
  bool operator==(const DictionaryOptions&) const = default;
};

// A dictionary of activations of that layer, trained with the weights of that step.
struct DictionaryKey {
  std::int64_t step = 0;
  LayerPlace place;
  DictionaryOptions options;
  bool operator==(const DictionaryKey&) const = default;
};

// Its features in the sentence of a snapshot.
struct SentenceFeatures {
  DictionaryKey of;
  Matrix values;  // tokens × features
};

struct DictionaryFacts {
  int features = 0, dead = 0;  // dead: on no token of the sample
  double unexplained = 0;      // share of the variance of the activations
  double active = 0;           // features per token (L0)
  // (mean-ablated loss − loss through the dictionary) ÷ (mean-ablated loss − loss): 1 loses nothing
  double recovered = 0;
  // Share of the live features that correlate more with their token than every neuron of the layer with that token.
  double sharper = 0;
};

inline constexpr int strongest_neuron = -1;

struct NeuronsQuestion {
  LayerPlace place = {};
  std::optional<DictionaryOptions> dictionary = {};  // its features instead of neurons
  int neuron = 0;              // whose card is wanted; or strongest_neuron, with the largest activation
  bool over_training = false;  // also at every recorded step
  bool operator==(const NeuronsQuestion&) const = default;
};

// A row of the list. Shares and correlations are over the tokens of the sample.
struct NeuronFacts {
  float largest = 0;       // activation; of a gated sublayer without its sign
  float mean = 0;
  float active = 0;        // share of tokens with an activation above 0
  std::string token = {};  // with which the activation correlates most, and how much
  float token_r = 0;
  float position_r = 0;       // correlation with the position
  // Of a word with several senses, one sense and Pearson's r with its presence, over the occurrences of the word;
  // empty: the corpus knows none.
  std::string sense = {};
  float sense_r = 0;
  std::string promoted = {};  // the token whose logit it raises most; empty: the stack has no output matrix
  int duplicate = -1;         // an earlier neuron whose activations correlate by at least 0.99
  bool is_dead() const { return largest <= 0; }
};

// A token of the sample with its neighbors.
struct NeuronContext {
  std::vector<std::string> tokens = {};
  std::vector<float> activations = {};  // of the neuron
  int at = 0;                           // the token
  float value = 0;                      // its activation; under ablation, the increase of its target's loss in nats
};

struct NeuronEffect {
  std::string token;
  float value = 0;
};

struct NeuronPoint {
  std::int64_t step = 0;
  double largest = 0, mean = 0, active = 0;
};

struct NeuronCard {
  std::vector<NeuronContext> strongest = {};  // one per sentence
  std::vector<NeuronContext> deciles = {};    // of the activations above 0 (gated: other than 0), weakest first
  std::vector<float> histogram = {};          // tokens in equal bins from `least` to NeuronFacts::largest
  float least = 0;
  // Change of the logits per unit of activation, before the divisions of the norms that follow.
  std::vector<NeuronEffect> promoted = {}, suppressed = {};
  double nll = 0, zero = 0, mean = 0;  // nats/token: of the sample; the increase with the activation at 0, at its mean
  std::vector<NeuronContext> hurt = {};  // the tokens whose targets lose most with the activation at 0
  std::vector<NeuronPoint> points = {};  // ascending; the last with the present weights
  std::vector<float> direction = {};     // what a unit of activation adds to the residual stream, d_model numbers
};

struct NeuronsResult {
  std::string problem = {};  // why there is none, in one sentence
  NeuronsQuestion question = {};
  std::int64_t tokens = 0, sentences = 0;  // of the sample of the validation part
  std::vector<NeuronFacts> neurons = {};   // of the layer
  NeuronCard card = {};
  DictionaryFacts dictionary = {};
};

}  // namespace attnscope
