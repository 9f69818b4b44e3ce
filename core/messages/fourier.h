// Grokking of modular arithmetic (Power et al. 2022, arXiv 2201.02177): the periodic structure of a model trained on
// the corpus modular (Nanda et al. 2023, 2301.05217).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/matrix.h"

namespace attnscope {

struct FourierQuestion {
  int neuron = 0;  // whose activations are wanted
  bool operator==(const FourierQuestion&) const = default;
};

struct FourierPoint {
  std::int64_t step = 0;
  std::vector<double> power = {};  // of frequency 1, 2, …: share of the embedding's variance over the numbers
  double loss = 0;        // over all pairs, nats
  double restricted = 0;  // the same, of logits without all but the key frequencies
  double excluded = 0;    // of the training pairs, of logits without the key frequencies
};

struct FourierResult {
  std::string problem = {};  // why there is none, in one sentence
  FourierQuestion question = {};
  int modulus = 0;
  bool multiplies = false;  // numbers are then in the order of a generator's powers, in which × is addition
  bool has_losses = false;  // restricted and excluded; not for x²+y²
  std::vector<FourierPoint> points = {};  // ascending; the last with the present weights
  // ---- of the present weights
  std::vector<int> key = {};          // frequencies with more than three times the mean power
  std::vector<int> numbers = {};      // in the order of `circles` and of the Fourier transform
  std::vector<Matrix> circles = {};   // of every key frequency: numbers × 2, the embedding on its cosine and sine
  int num_neurons = 0;                // of the last feed-forward sublayer
  Matrix neuron = {};                 // activation of the neuron at “=”, first × second number
};

}  // namespace attnscope
