// Inspection of one forward pass: recorded values and interventions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "config/heads.h"
#include "messages/interventions.h"
#include "messages/patching.h"
#include "messages/sublayers.h"
#include "model/cells.h"
#include "model/kernels/libtorch.h"

namespace attnscope {

// One B×H×Q×K tensor per layer; a recurrent decoder's attention counts as one layer with one head.
using AttentionWeights = std::vector<torch::Tensor>;

// The tensors of one attention sublayer; see HeadInside. With all heads: B×H×…
struct HeadTensors {
  torch::Tensor q, k, v;               // B×H×L×d
  torch::Tensor bias, relative_v;      // H×Q×K or B×H×Q×K, and (2k+1)×d; or undefined
  torch::Tensor heads_output, output;  // B×Q×D
  torch::Tensor w_o, b_o;
  bool scaled = true;
  double score_width = 0, score_cap = 0;
  std::int64_t window = 0;
};

// See SublayerEffect; B×L, and B×L×d_ff.
struct SublayerTensors {
  bool decoder = false;
  int layer = 0;
  Sublayer sublayer = Sublayer::self_attention;
  torch::Tensor norm_in, norm_added, norm_out, cosine;
  torch::Tensor active;  // of feed-forward sublayers
  // B×L×D: the residual stream before, the sublayer's input (in pre-norm the normalized x), its output, and the
  // residual stream after.
  torch::Tensor x, input, added, out;
};

// The values of several runs at every site, one row per run: R×L×D; for heads R×H×Q×d, before W_O. For a recurrent
// layer R×L×W: h of both directions after every token and, in an LSTM, c of both.
using RunValues = std::map<ValueSite, torch::Tensor>;

// Activation patching: in one row of the pass, a value is replaced by another run's value at the same site.
struct Put {
  std::int64_t row = 0;
  ValueSite site;
  int head = 0;           // for head sites
  int position = 0;       // negative: all positions of the site and every head
  std::int64_t from = 0;  // row of Patches::values to patch from
};

// In one row of the pass, a query's attention weights on two words are swapped: each word gets the other's total
// weight, spread evenly over its tokens.
struct Exchange {
  std::int64_t row = 0;
  HeadPlace place;
  int query = 0;
  std::vector<int> one, other;  // the words' positions
};

struct Patches {
  const RunValues* values = nullptr;
  std::vector<Put> puts;
  std::vector<Exchange> exchanges;
};

// Activations x of a layer, B×L×W, are replaced by change(x).
struct ActivationChange {
  LayerPlace place;
  std::function<torch::Tensor(const torch::Tensor&)> change;
  ActivationSite of = {};
};

// For a decoder-only model: only the first of so many queries attends to the first key.
Interventions first_token_masked(const ModelConfig& config, std::int64_t queries);

// Passed through a forward pass that is inspected. A pass with a cache sees only its own tokens.
struct Inspection {
  // ---- requests
  const Interventions* interventions = nullptr;
  const Patches* patches = nullptr;  // not in a pass with a cache
  bool values_wanted = false;
  std::vector<ActivationChange> changes = {};
  std::optional<HeadPlace> head_wanted = {};  // record the tensors of its sublayer
  bool sublayers_wanted = false;
  std::optional<LayerPlace> layer_wanted = {};  // whose sublayers; nullopt: of all layers
  bool hidden_wanted = false;
  bool states_wanted = false;
  bool cells_wanted = false;
  // Records stack inputs, layer outputs, head outputs and cell states in `values` as part of the autograd graph, so
  // their gradients exist after backward(). Parameters do not require gradients.
  bool gradients_wanted = false;

  // ---- results; attention weights are always recorded, before dropout and after interventions
  AttentionWeights encoder = {};  // Q = K = S
  AttentionWeights decoder = {};  // Q = T, K = T (with a cache: the past as well)
  AttentionWeights cross = {};    // Q = T, K = S
  std::optional<HeadTensors> head = {};
  std::vector<SublayerTensors> sublayers = {};
  std::vector<torch::Tensor> hidden = {};  // B×T×D after every decoder layer, before the final norm
  RunValues values = {};                   // before any replacement
  // B×L×D of the first stack (on the source, or a language model's text): the embedding and the output of every layer;
  // for a recurrent encoder only the top layer.
  std::vector<torch::Tensor> states = {};
  // For recurrent networks: the states after every token in text order; layer by layer, with both directions of a
  // bidirectional layer.
  std::vector<std::vector<CellState>> encoder_cells = {}, decoder_cells = {};
};

// Records x (B×L×D) in Inspection::states.
void keep_state(Inspection* inspection, const torch::Tensor& x);

// Serves Inspection::cells_wanted, values_wanted and gradients_wanted.
void keep_cells(Inspection& inspection, bool decoder, std::size_t num_layers,
                const std::vector<std::vector<CellState>>& cells);

// Records the value at a site if requested, and returns it with patches applied. `first`: position of the value's first
// token; later tokens are appended to the recorded value.
torch::Tensor patched(Inspection* inspection, const ValueSite& site, const torch::Tensor& value,
                      std::int64_t first = 0);

// The hook that patches the states of a stack's recurrent layers; empty if nothing is patched there.
StateHook states_put(const Inspection* inspection, AttentionPart stack);

// One layer's view of an Inspection, which may be null. `first_query` is the position of the pass's first token.
class LayerInspection {
 public:
  LayerInspection(Inspection* inspection, bool decoder, std::size_t layer, std::int64_t first_query)
      : inspection_(inspection), decoder_(decoder), layer_(static_cast<int>(layer)), first_query_(first_query) {}

  bool is_off() const;

  // True if the override flips the model's scaling of scores by 1/√d_k.
  bool has_other_scale() const;

  // True if the sublayer outputs are not added to the residual stream.
  bool has_no_residuals() const;

  bool changes_weights(AttentionPart part) const;

  // weights: B×H×Q×K → the same with hidden keys removed and forced weights applied.
  torch::Tensor changed(torch::Tensor weights, AttentionPart part) const;

  void keep_weights(const torch::Tensor& weights, AttentionPart part);

  // heads: B×H×Q×d → the same with ablated heads set to zero and patches applied.
  torch::Tensor heads(torch::Tensor heads, AttentionPart part);

  // Same as heads(), for `num_heads` concatenated heads: B×Q×Hd.
  torch::Tensor side_by_side(const torch::Tensor& heads, std::int64_t num_heads, AttentionPart part);

  // The activations of a feed-forward network's hidden units, B×L×F, with the changes to them.
  torch::Tensor neurons(torch::Tensor active) const;

  // The layer's output, B×L×D, with the changes to it.
  torch::Tensor stream(torch::Tensor x);

  // Patches the output of a feed-forward network, B×L×D.
  torch::Tensor feed_forward(const torch::Tensor& added) const;

  // Calls `make` only if this attention's tensors are requested.
  void keep_head(AttentionPart part, const std::function<HeadTensors()>& make);

  // Records a sublayer that computed `added` from `input` and turned x into `out`; all B×L×D. `active` may be
  // undefined.
  void keep_sublayer(Sublayer sublayer, const torch::Tensor& x, const torch::Tensor& input, const torch::Tensor& added,
                     const torch::Tensor& out, const torch::Tensor& active);

  // Records a skipped layer: zeros B×H×Q×K as its weights, so that layer indices stay valid.
  void keep_nothing(AttentionPart part, const torch::Tensor& x, std::int64_t num_heads, std::int64_t num_keys);

  void keep_hidden(const torch::Tensor& x);

 private:
  AttentionWeights& kept(AttentionPart part);
  bool is_here(const ActivationChange& change, ActivationKind kind) const;
  void hide(const torch::Tensor& weights, const HiddenKeys& hidden) const;
  void force(const torch::Tensor& weights, const ForcedAttention& forced) const;

  Inspection* inspection_;
  bool decoder_;
  int layer_;
  std::int64_t first_query_;
};

// ids B×L with the replaced tokens; the first id is at position `first`.
torch::Tensor replaced_ids(const Inspection* inspection, const torch::Tensor& ids, bool target, std::int64_t first);

}  // namespace attnscope
