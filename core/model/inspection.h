// A look inside one pass of a model: what is kept of it and what is changed in it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "kernels/libtorch.h"
#include "model/cells.h"
#include "plain/heads.h"
#include "plain/interventions.h"
#include "plain/patching.h"
#include "plain/sublayers.h"

namespace attnscope {

// One B×H×Q×K tensor a layer; a recurrent decoder's attention is one layer with one head.
using AttentionWeights = std::vector<torch::Tensor>;

// The numbers of one attention sublayer; see HeadInside. Of all heads: B×H×…
struct HeadTensors {
  torch::Tensor q, k, v;               // B×H×L×d
  torch::Tensor bias, relative_v;      // H×Q×K or B×H×Q×K, and (2k+1)×d; or undefined
  torch::Tensor heads_output, output;  // B×Q×D
  torch::Tensor w_o, b_o;
  bool scaled = true;
};

// See SublayerEffect; B×L, and B×L×d_ff.
struct SublayerTensors {
  bool decoder = false;
  int layer = 0;
  Sublayer sublayer = Sublayer::self_attention;
  torch::Tensor norm_in, norm_added, norm_out, cosine;
  torch::Tensor active;  // of feed-forward sublayers
  // B×L×D: what came in, what the sublayer was given of it (in pre-norm its norm), what it gave, what goes out.
  torch::Tensor x, input, added, out;
};

// What runs left at every site, a run a row: R×L×D; of heads R×H×Q×d, before W_O. Of a recurrent layer R×L×W: after
// every token h of both directions and, in an LSTM, c of both.
using RunValues = std::map<ValueSite, torch::Tensor>;

// In one row of the pass, a value is replaced by what another run had there.
struct Put {
  std::int64_t row = 0;
  ValueSite site;
  int head = 0;           // of heads
  int position = 0;       // negative: all that stands at the site, of every head
  std::int64_t from = 0;  // which run of Patches::values
};

// In one row of the pass, the weights that a query has on two words are exchanged: each word gets what the other had,
// evenly over its pieces.
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

// Handed through a pass by whoever wants one. A pass with a cache sees its own tokens alone.
struct Inspection {
  // ---- wanted
  const Interventions* interventions = nullptr;
  const Patches* patches = nullptr;  // not in a pass with a cache
  bool values_wanted = false;
  std::optional<HeadPlace> head_wanted = {};  // keep the numbers of its sublayer
  bool sublayers_wanted = false;
  bool hidden_wanted = false;
  bool states_wanted = false;
  bool cells_wanted = false;
  // What enters a stack, what its layers leave and what heads give is kept in `values` as part of a graph, and so are
  // the cells' states: after backward() their gradients are there. Parameters stay as they are.
  bool gradients_wanted = false;

  // ---- kept; the weights always, before dropout and after what was changed
  AttentionWeights encoder = {};  // Q = K = S
  AttentionWeights decoder = {};  // Q = T, K = T (with a cache: the past as well)
  AttentionWeights cross = {};    // Q = T, K = S
  std::optional<HeadTensors> head = {};
  std::vector<SublayerTensors> sublayers = {};
  std::vector<torch::Tensor> hidden = {};  // B×T×D after every decoder layer, before the last norm
  RunValues values = {};                   // as they were before any was replaced
  // B×L×D of what is read first (the source, a language model's text): embedded, and after every layer; of a recurrent
  // encoder the top layer alone.
  std::vector<torch::Tensor> states = {};
  // Of a recurrent network: the states after every token, in the order of the text; layer by layer, of a bidirectional
  // one both directions of each.
  std::vector<std::vector<CellState>> encoder_cells = {}, decoder_cells = {};
};

// For Inspection::states; x: B×L×D.
void keep_state(Inspection* inspection, const torch::Tensor& x);

// For Inspection::cells_wanted and values_wanted, and for gradients.
void keep_cells(Inspection& inspection, bool decoder, std::size_t num_layers,
                const std::vector<std::vector<CellState>>& cells);

// Keeps what stands at a site, if it is wanted; → the same with what is put there. `first`: the position of the value's
// first token; what comes later is kept behind what was there.
torch::Tensor patched(Inspection* inspection, const ValueSite& site, const torch::Tensor& value,
                      std::int64_t first = 0);

// What is put after the tokens of a stack's recurrent layers; none where nothing is.
StateHook states_put(const Inspection* inspection, AttentionPart stack);

// What an Inspection, or none, means to one layer. `first_query` is the position of the pass's first token.
class LayerInspection {
 public:
  LayerInspection(Inspection* inspection, bool decoder, std::size_t layer, std::int64_t first_query)
      : inspection_(inspection), decoder_(decoder), layer_(static_cast<int>(layer)), first_query_(first_query) {}

  bool is_off() const;

  // Scores are divided by √d_k where the model does not, and not where it does.
  bool has_other_scale() const;

  // What a sublayer adds stands alone.
  bool has_no_residuals() const;

  bool changes_weights(AttentionPart part) const;

  // weights: B×H×Q×K → without the keys that are hidden, and with what is forced.
  torch::Tensor changed(torch::Tensor weights, AttentionPart part) const;

  void keep_weights(const torch::Tensor& weights, AttentionPart part);

  // heads: B×H×Q×d → zero where a head is off, and with what is put there.
  torch::Tensor heads(torch::Tensor heads, AttentionPart part);

  // As heads(), of `num_heads` that stand side by side: B×Q×Hd.
  torch::Tensor side_by_side(const torch::Tensor& heads, std::int64_t num_heads, AttentionPart part);

  // What a feed-forward network adds, B×L×D → with what is put there.
  torch::Tensor feed_forward(const torch::Tensor& added) const;

  // Calls `make` only if this attention's numbers are wanted.
  void keep_head(AttentionPart part, const std::function<HeadTensors()>& make);

  // A sublayer turned x into `out` by adding `added`, which it made of `input`; all B×L×D. `active` may be undefined.
  void keep_sublayer(Sublayer sublayer, const torch::Tensor& x, const torch::Tensor& input, const torch::Tensor& added,
                     const torch::Tensor& out, const torch::Tensor& active);

  // The layer was left out: zeros B×H×Q×K stand for its weights, so that every layer keeps its place.
  void keep_nothing(AttentionPart part, const torch::Tensor& x, std::int64_t num_heads, std::int64_t num_keys);

  void keep_hidden(const torch::Tensor& x);

 private:
  AttentionWeights& kept(AttentionPart part);
  void hide(const torch::Tensor& weights, const HiddenKeys& hidden) const;
  void force(const torch::Tensor& weights, const ForcedAttention& forced) const;

  Inspection* inspection_;
  bool decoder_;
  int layer_;
  std::int64_t first_query_;
};

// ids B×L with the pieces that are replaced; the first of them stands at position `first`.
torch::Tensor replaced_ids(const Inspection* inspection, const torch::Tensor& ids, bool target, std::int64_t first);

}  // namespace attnscope
