// What is asked of the model about one sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plain/batch_inspection.h"
#include "plain/data_flow.h"
#include "plain/embeddings.h"
#include "plain/heads.h"
#include "plain/interventions.h"
#include "plain/recurrent_states.h"
#include "plain/sampling.h"

namespace attnscope {

// How outputs are found, when Probe::decoding is wanted. The temperature and the cuts of `sampling` are shown at every
// step of the greedy output too, where they change nothing.
struct DecodingOptions {
  SamplingOptions sampling;
  std::int64_t num_samples = 3;  // sample i is drawn with seed + i
  std::int64_t beam = 4;
  double length_penalty = 0.6;  // α of GNMT (1609.08144 §7)
  bool operator==(const DecodingOptions&) const = default;
};

inline constexpr std::int64_t max_probe_samples = 16;
inline constexpr std::int64_t max_probe_beam = 16;

struct Probe {
  std::uint64_t request = 0;
  std::string text = {};             // the source, or a language model's prompt
  std::string reference = {};        // what should be written; empty: not known
  bool follow_reference = false;     // teacher forcing: the decoder reads the reference, not its own output
  std::string prefix = {};           // the output has to begin with this …
  std::vector<int> prefix_ids = {};  // … and then with these pieces
  // Of which the weights are looked through, if they were recorded (Status::recorded_weights); none: the present ones.
  std::optional<std::int64_t> step = {};
  DecodingOptions options = {};
  Interventions interventions = {};  // to the model while it looks

  // ---- wanted besides the maps and the decoding
  bool decoding = false;                            // Snapshot::decodings
  std::vector<int> hypothesis = {};                 // Decodings::hypothesis: of this output; empty: of the beam's best
  std::optional<HeadPlace> inside = {};             // Snapshot::inside of this head
  bool sublayers = false;                           // Snapshot::sublayers
  std::optional<FlowWanted> data_flow = {};         // Snapshot::data_flow of this box
  std::optional<RecurrentWanted> recurrent = {};    // Snapshot::recurrent of this layer
  std::optional<BatchWanted> batch = {};            // Snapshot::batch
  std::optional<EmbeddingsWanted> embeddings = {};  // Snapshot::embeddings
  std::string senses = {};                          // Snapshot::senses of this word; empty: not wanted

  bool operator==(const Probe&) const = default;
};

}  // namespace attnscope
