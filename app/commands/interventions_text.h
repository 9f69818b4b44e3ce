// Interventions as they are written on the command line. Layers and heads are counted from 1, pieces from 0, as in the
// JSON that attend prints.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plain/config.h"
#include "plain/heads.h"
#include "plain/interventions.h"
#include "plain/snapshot.h"

namespace attnscope {

struct InterventionsText {
  std::vector<std::string> heads_off;   // "encoder.2.3"
  std::vector<std::string> layers_off;  // "decoder.1"
  std::vector<std::string> forced;      // "encoder.2.3:10->1"
  std::vector<std::string> replaced;    // "source.4=wide"
  std::vector<std::string> hidden;      // "encoder.2.3:10->1"
  std::optional<bool> divided = {};     // scores by √d_k; absent: as the model was trained
};

// Throw ConfigError naming what is wrong and what is allowed, also for a layer or head that such a model has not.
Interventions interventions_from(const InterventionsText& text, const ModelConfig& model);
AttentionPart part_from(std::string_view name);

// Throws ConfigError if one of the changes that the look was asked for changed nothing in it: a query, a key or a token
// beyond the sentence, a key that the decoder must not see, a text without a piece.
void check_in_context(const Interventions& asked, const Snapshot& inspection);

// Throws ConfigError if such a model has no such head.
void check_place(const HeadPlace& place, const ModelConfig& model);

}  // namespace attnscope
