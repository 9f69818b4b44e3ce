// Why the model generated one token: its logit as a sum of the decoder's components, and its probability by input
// token.
#pragma once

#include <string>
#include <vector>

#include "common/matrix.h"
#include "config/heads.h"

namespace attnscope {

struct AttributionQuestion {
  std::string text;
  int output = -1;  // index of the generated token; −1: the last one that is not punctuation
  bool operator==(const AttributionQuestion&) const = default;
};

enum class LogitPartKind {
  embedding,     // of the last input token, with its position
  head,          // through its part of W_O
  feed_forward,  // with its own biases
  biases,        // of W_O, of the norms and of the output, summed
};

// The contribution of one component to the chosen token's logit, with the scale of every norm fixed as in this forward
// pass.
struct LogitPart {
  LogitPartKind kind = LogitPartKind::embedding;
  HeadPlace place = {};  // of a head; for a feed-forward network only the layer is used
  double logit = 0;
};

// One head of the attention over the input tokens, at the step that generated the chosen token.
struct ReadingHead {
  HeadPlace place;
  std::vector<double> weights;  // α_j of each token
  std::vector<double> norms;    // ‖α_j v_j W_O‖ (2004.10102); empty for recurrent networks and pooling
};

struct AttributionResult {
  AttributionQuestion question;
  std::string problem = {};               // why there is no result, in one sentence
  std::vector<std::string> written = {};  // the tokens that can be chosen
  int output = 0;                         // the chosen one

  // ---- the logit (direct logit attribution)
  double logit = 0;                   // of the chosen token, as output by the model
  std::vector<LogitPart> parts = {};  // their sum is the logit
  std::string parts_problem = {};     // why there are none, in one sentence

  // ---- attribution of the chosen token's log p to the input tokens, in nats
  std::vector<std::string> tokens = {};
  double log_prob = 0;
  double baseline_log_prob = 0;  // with every input token replaced by the unknown token
  std::vector<ReadingHead> heads = {};
  std::vector<double> rollout = {};            // 2005.00928; empty for recurrent networks
  std::vector<double> gradient_input = {};     // ∂ log p/∂x_j · x_j, x_j the embedding
  std::vector<double> integrated = {};         // 1703.01365, from the baseline's embeddings to the input's
  int integrated_at = 0;                       // number of integration points
  std::vector<double> integrated_errors = {};  // per token: the change from half as many points
  std::vector<double> deletion = {};           // log p − log p without the token
};

}  // namespace attnscope
