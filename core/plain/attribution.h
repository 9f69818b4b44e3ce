// Why one piece was written: its logit taken apart by what the decoder added up, and its probability by what was read.
#pragma once

#include <string>
#include <vector>

#include "plain/heads.h"
#include "plain/matrix.h"

namespace attnscope {

struct AttributionQuestion {
  std::string text;
  int output = -1;  // which of the pieces written; −1: the last that is more than a sign
  bool operator==(const AttributionQuestion&) const = default;
};

enum class LogitPartKind {
  embedding,     // the piece read last, with its position
  head,          // through its part of W_O
  feed_forward,  // with its own biases
  biases,        // of W_O, of the norms and of the output, all together
};

// What one part adds to the chosen piece's logit, every norm's scale held as it was in this pass.
struct LogitPart {
  LogitPartKind kind = LogitPartKind::embedding;
  HeadPlace place = {};  // of a head; of a feed-forward network only the layer counts
  double logit = 0;
};

// One head of the attention that reads the pieces, at the step that wrote the chosen one.
struct ReadingHead {
  HeadPlace place;
  std::vector<double> weights;  // α_j of each piece
  std::vector<double> norms;    // ‖α_j v_j W_O‖ (2004.10102); none of a recurrent network or a pooling
};

struct AttributionResult {
  AttributionQuestion question;
  std::string problem = {};               // why there is nothing, in one sentence
  std::vector<std::string> written = {};  // which pieces can be chosen
  int output = 0;                         // which was

  // ---- the logit (direct logit attribution)
  double logit = 0;                   // of the chosen piece, as the model gives it
  std::vector<LogitPart> parts = {};  // their sum is the logit
  std::string parts_problem = {};     // why there are none, in one sentence

  // ---- the pieces read, of log p of the chosen one, nats
  std::vector<std::string> tokens = {};
  double log_prob = 0;
  double baseline_log_prob = 0;  // with every piece read an unknown one
  std::vector<ReadingHead> heads = {};
  std::vector<double> rollout = {};         // 2005.00928; none of a recurrent network
  std::vector<double> gradient_input = {};  // ∂ log p/∂x_j · x_j, x_j as embedded
  std::vector<double> integrated = {};      // 1703.01365, from the baseline's embeddings to these
  int integrated_at = 0;                    // so many points of the way
  std::vector<double> deletion = {};        // log p − log p without the piece
};

// Σ parts.
double parts_sum(const AttributionResult& inspection);

// |Σ integrated − (log p − log p of the baseline)| as a share of the latter; less than 0.001 nats counts as 0.001.
double completeness_error(const AttributionResult& inspection);

// Of `heads`, the one that adds most to the logit or takes most from it; 0 where parts are not known.
std::size_t strongest_head(const AttributionResult& inspection);

// One way to tell how much every piece matters.
struct TokenMethod {
  std::string name;
  std::vector<double> values;  // one a piece
};

// Deletion, the truth of it, first; the weights and norms are those of heads[head]. A way that this model does not know
// is left out.
std::vector<TokenMethod> token_methods(const AttributionResult& inspection, std::size_t head);

// Rank correlations (Spearman) between how much each piece matters by any two methods, whatever its sign.
Matrix method_agreement(const std::vector<TokenMethod>& methods);

// One sentence: what leaving pieces out says, and how far each of the other methods agrees with it.
std::string attribution_sentence(const AttributionResult& inspection, std::size_t head);

}  // namespace attnscope
