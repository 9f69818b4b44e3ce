// A request for a forward pass and what to compute for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/heads.h"
#include "messages/batch_inspection.h"
#include "messages/data_flow.h"
#include "messages/embeddings.h"
#include "messages/interventions.h"
#include "messages/neurons.h"
#include "messages/recurrent_states.h"
#include "messages/sampling_options.h"

namespace attnscope {

// Decoding options if Probe::decoding is set. Temperature and truncation of `sampling` are also shown at every greedy
// step, where they have no effect.
struct DecodingOptions {
  SamplingOptions sampling;
  std::int64_t num_samples = 3;  // sample i uses seed + i
  std::int64_t beam = 4;
  double length_penalty = 0.6;  // α of GNMT (1609.08144 §7)
  bool operator==(const DecodingOptions&) const = default;
};

inline constexpr std::int64_t max_probe_samples = 16;
inline constexpr std::int64_t max_probe_beam = 16;

struct Probe {
  std::uint64_t request = 0;
  std::string text = {};             // the source, or a language model's prompt
  std::string reference = {};        // expected output; empty: unknown
  bool follow_reference = false;     // teacher forcing: the decoder's input is the reference, not its own output
  std::string prefix = {};           // the output starts with this text …
  std::vector<int> prefix_ids = {};  // … followed by these tokens
  std::vector<int> masked = {};      // masked-lm: positions of the source whose tokens are masked
  // The step whose recorded weights are used (Status::recorded_weights); none: the present ones.
  std::optional<std::int64_t> step = {};
  DecodingOptions options = {};
  Interventions interventions = {};  // changes to the model during the forward pass

  // ---- optional results in addition to maps and decoding
  bool decoding = false;                     // computes Snapshot::decodings
  std::vector<int> hypothesis = {};          // output to inspect, Decodings::hypothesis; empty: the best of the beam
  bool tuned_lens = false;                   // in `decodings`, once it was fitted
  std::optional<HeadPlace> inside = {};      // computes Snapshot::inside for this head
  bool sublayers = false;                    // computes Snapshot::sublayers
  std::optional<DictionaryKey> features = {};  // computes Snapshot::features if it is the dictionary trained last
  std::optional<FlowWanted> data_flow = {};  // computes Snapshot::data_flow for this box
  std::optional<RecurrentWanted> recurrent = {};    // computes Snapshot::recurrent for this layer
  std::optional<BatchWanted> batch = {};            // computes Snapshot::batch
  std::optional<EmbeddingsWanted> embeddings = {};  // computes Snapshot::embeddings
  std::string senses = {};                          // computes Snapshot::senses for this word; empty: none

  bool operator==(const Probe&) const = default;
};

}  // namespace attnscope
