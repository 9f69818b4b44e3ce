// Parses interventions from the command line. Layers and heads are counted from 1, tokens from 0, as in attend's JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/heads.h"
#include "data/tokenizer/tokenizer.h"
#include "messages/interventions.h"
#include "messages/snapshot.h"

namespace attnscope {

struct InterventionsText {
  std::vector<std::string> heads_off;   // "encoder.2.3"
  std::vector<std::string> layers_off;  // "decoder.1"
  std::vector<std::string> forced;      // "encoder.2.3:10->1"
  std::vector<std::string> replaced;    // "source.4=wide"
  std::vector<std::string> hidden;      // "encoder.2.3:10->1"
  std::vector<std::string> steered = {};  // "2:4:king:man", "2:4:feature=17"
  std::optional<bool> divided = {};     // scale scores by 1/√d_k; absent: as in training
};

// Throws ConfigError naming the error and the allowed values, also for a layer or head that the model does not have.
// The directions of neurons and features are still empty.
Interventions interventions_from(const InterventionsText& text, const ModelConfig& model);
// The activations of that layer with that name (site_text). Throws ConfigError naming the layer's.
ActivationSite site_from(std::string_view text, const LayerPlace& place, const ModelConfig& model);
AttentionPart part_from(std::string_view name);

// Throws ConfigError if a requested intervention is not the one that the inspection shows: a query, key or token beyond
// the sentence, a key masked for the decoder, or a replacement that is not exactly one token.
void check_in_context(const Interventions& asked, const Snapshot& inspection, const Tokenizer& tokenizer);

// Throws ConfigError if the model has no such head.
void check_place(const HeadPlace& place, const ModelConfig& model);

}  // namespace attnscope
