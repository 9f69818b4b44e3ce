#include "model/inspection.h"

#include <algorithm>
#include <span>

#include "model/kernels/attention.h"

namespace attnscope {
namespace {

bool is_inside(std::int64_t index, std::int64_t size) {
  return index >= 0 && index < size;
}

// Swaps the weights of two words in one query's row (K).
void exchange(const torch::Tensor& weights, const std::vector<int>& one, const std::vector<int>& other) {
  const torch::Tensor at_one = torch::tensor(one, torch::kInt64).to(weights.device());
  const torch::Tensor at_other = torch::tensor(other, torch::kInt64).to(weights.device());
  const torch::Tensor of_one = weights.index_select(0, at_one).sum();
  const torch::Tensor of_other = weights.index_select(0, at_other).sum();
  weights.index_fill_(0, at_one, of_other / static_cast<double>(one.size()));
  weights.index_fill_(0, at_other, of_one / static_cast<double>(other.size()));
}

// weights: Q×K; does nothing if the query is not part of this pass.
void exchange_at(const torch::Tensor& weights, std::int64_t query, const Exchange& it) {
  if (is_inside(query, weights.size(0))) exchange(weights.select(0, query), it.one, it.other);
}

// Concatenates h of every direction, then c: B×L×W.
torch::Tensor states_value(std::span<const std::vector<CellState>> directions) {
  std::vector<torch::Tensor> h, c;
  for (const std::vector<CellState>& states : directions) {
    std::vector<torch::Tensor> of_h, of_c;
    for (const CellState& state : states) {
      of_h.push_back(state.h);
      if (state.c.defined()) of_c.push_back(state.c);
    }
    h.push_back(torch::stack(of_h, 1));
    if (!of_c.empty()) c.push_back(torch::stack(of_c, 1));
  }
  h.insert(h.end(), c.begin(), c.end());
  return torch::cat(h, 2);
}

// Starts a graph at a value that no graph leads to.
torch::Tensor with_gradient(const torch::Tensor& value) {
  if (!value.requires_grad()) return value.detach().requires_grad_();
  value.retain_grad();
  return value;
}

}  // namespace

Interventions first_token_masked(const ModelConfig& config, std::int64_t queries) {
  HiddenKeys hidden{.place = {.part = AttentionPart::decoder}, .cells = {}};
  for (int query = 1; query < queries; ++query) hidden.cells.push_back({query, 0});
  Interventions masked;
  const PartSize size = part_size(config, AttentionPart::decoder);
  for (hidden.place.layer = 0; hidden.place.layer < size.layers; ++hidden.place.layer)
    for (hidden.place.head = 0; hidden.place.head < size.heads; ++hidden.place.head) masked.hidden.push_back(hidden);
  return masked;
}

bool LayerInspection::is_off() const {
  if (!inspection_ || !inspection_->interventions) return false;
  const auto& off = inspection_->interventions->layers_off;
  return std::find(off.begin(), off.end(), LayerPlace{decoder_, layer_}) != off.end();
}

bool LayerInspection::has_other_scale() const {
  return inspection_ && inspection_->interventions && inspection_->interventions->other_scale;
}

bool LayerInspection::has_no_residuals() const {
  return inspection_ && inspection_->interventions && inspection_->interventions->no_residuals;
}

bool LayerInspection::changes_weights(AttentionPart part) const {
  if (!inspection_) return false;
  const auto is_here = [&](const auto& change) { return change.place.part == part && change.place.layer == layer_; };
  if (inspection_->patches && std::ranges::any_of(inspection_->patches->exchanges, is_here)) return true;
  if (!inspection_->interventions) return false;
  return std::ranges::any_of(inspection_->interventions->forced, is_here) ||
         std::ranges::any_of(inspection_->interventions->hidden, is_here);
}

torch::Tensor LayerInspection::changed(torch::Tensor weights, AttentionPart part) const {
  weights = weights.clone();
  const auto is_here = [&](const HeadPlace& place) {
    return place.part == part && place.layer == layer_ && is_inside(place.head, weights.size(1));
  };
  if (inspection_->patches) {
    for (const Exchange& it : inspection_->patches->exchanges)
      if (is_here(it.place))
        exchange_at(weights.select(0, it.row).select(0, it.place.head), it.query - first_query_, it);
  }
  if (!inspection_->interventions) return weights;
  for (const HiddenKeys& hidden : inspection_->interventions->hidden)
    if (is_here(hidden.place)) hide(weights, hidden);
  for (const ForcedAttention& forced : inspection_->interventions->forced)
    if (is_here(forced.place)) force(weights, forced);
  return weights;
}

// softmax over the remaining keys: their weights, renormalized.
void LayerInspection::hide(const torch::Tensor& weights, const HiddenKeys& hidden) const {
  const torch::Tensor head = weights.select(1, hidden.place.head);  // B×Q×K
  for (const HiddenKeys::Cell& cell : hidden.cells) {
    const std::int64_t query = cell.query - first_query_;
    if (is_inside(query, head.size(1)) && is_inside(cell.key, head.size(2)))
      head.select(1, query).select(1, cell.key).zero_();
  }
  head.div_(head.sum(-1, /*keepdim=*/true).clamp_min(1e-30));
}

void LayerInspection::force(const torch::Tensor& weights, const ForcedAttention& forced) const {
  const std::int64_t query = forced.query - first_query_;
  if (!is_inside(query, weights.size(2)) || !is_inside(forced.key, weights.size(3))) return;
  const torch::Tensor row = weights.select(1, forced.place.head).select(1, query);  // B×K
  row.zero_();
  row.select(1, forced.key).fill_(1);
}

void LayerInspection::keep_weights(const torch::Tensor& weights, AttentionPart part) {
  if (inspection_) kept(part).push_back(weights.detach());
}

torch::Tensor LayerInspection::heads(torch::Tensor heads, AttentionPart part) {
  heads = patched(inspection_, {ValueKind::heads, part, layer_}, heads);
  if (!inspection_) return heads;
  for (const ActivationChange& change : inspection_->changes) {
    if (!is_here(change, ActivationKind::head) || part_of(change.place, change.of) != part) continue;
    heads = heads.clone();
    heads.select(1, change.of.head).copy_(change.change(heads.select(1, change.of.head)));
  }
  if (!inspection_->interventions) return heads;
  bool copied = false;
  for (const HeadPlace& off : inspection_->interventions->heads_off) {
    if (off.part != part || off.layer != layer_ || !is_inside(off.head, heads.size(1))) continue;
    if (!copied) heads = heads.clone();
    copied = true;
    heads.select(1, off.head).zero_();
  }
  return heads;
}

torch::Tensor LayerInspection::side_by_side(const torch::Tensor& heads, std::int64_t num_heads, AttentionPart part) {
  if (!inspection_) return heads;
  return this->heads(kernels::split_heads(heads, num_heads), part).transpose(1, 2).flatten(2);
}

bool LayerInspection::is_here(const ActivationChange& change, ActivationKind kind) const {
  return change.of.kind == kind && change.place == LayerPlace{decoder_, layer_};
}

torch::Tensor LayerInspection::neurons(torch::Tensor active) const {
  if (!inspection_) return active;
  for (const ActivationChange& change : inspection_->changes)
    if (is_here(change, ActivationKind::hidden)) active = change.change(active);
  return active;
}

torch::Tensor LayerInspection::stream(torch::Tensor x) {
  if (!inspection_) return x;
  const LayerPlace here{decoder_, layer_};
  for (const ActivationChange& change : inspection_->changes)
    if (is_here(change, ActivationKind::stream)) x = change.change(x);
  if (!inspection_->interventions) return x;
  for (const Steering& steering : inspection_->interventions->steered) {
    if (steering.place != here || std::cmp_not_equal(steering.direction.size(), x.size(-1))) continue;
    x = x + torch::tensor(steering.direction).to(x.device(), x.scalar_type()) * steering.factor;
  }
  // What follows, such as the final norm, reads the changed stream.
  if (auto& recorded = inspection_->sublayers;
      !recorded.empty() && LayerPlace{recorded.back().decoder, recorded.back().layer} == here)
    recorded.back().out = x.detach();
  return x;
}

torch::Tensor LayerInspection::feed_forward(const torch::Tensor& added) const {
  return patched(inspection_,
                 {ValueKind::feed_forward, decoder_ ? AttentionPart::decoder : AttentionPart::encoder, layer_}, added);
}

void LayerInspection::keep_head(AttentionPart part, const std::function<HeadTensors()>& make) {
  if (!inspection_ || !inspection_->head_wanted) return;
  if (inspection_->head_wanted->part == part && inspection_->head_wanted->layer == layer_) inspection_->head = make();
}

void LayerInspection::keep_sublayer(Sublayer sublayer, const torch::Tensor& x, const torch::Tensor& input,
                                    const torch::Tensor& added, const torch::Tensor& out, const torch::Tensor& active) {
  if (!inspection_ || !inspection_->sublayers_wanted) return;
  if (inspection_->layer_wanted.value_or(LayerPlace{decoder_, layer_}) != LayerPlace{decoder_, layer_}) return;
  const auto norm = [](const torch::Tensor& tensor) { return tensor.detach().norm(2, -1); };  // B×L
  inspection_->sublayers.push_back({decoder_, layer_, sublayer, norm(x), norm(added), norm(out),
                                    torch::cosine_similarity(x.detach(), out.detach(), -1),
                                    active.defined() ? active.detach() : active, x.detach(), input.detach(),
                                    added.detach(), out.detach()});
}

void LayerInspection::keep_nothing(AttentionPart part, const torch::Tensor& x, std::int64_t num_heads,
                                   std::int64_t num_keys) {
  if (inspection_) kept(part).push_back(torch::zeros({x.size(0), num_heads, x.size(1), num_keys}, x.options()));
}

void LayerInspection::keep_hidden(const torch::Tensor& x) {
  if (inspection_ && inspection_->hidden_wanted && decoder_) inspection_->hidden.push_back(x.detach());
}

void keep_state(Inspection* inspection, const torch::Tensor& x) {
  if (inspection && inspection->states_wanted) inspection->states.push_back(x.detach());
}

torch::Tensor patched(Inspection* inspection, const ValueSite& site, const torch::Tensor& value, std::int64_t first) {
  if (!inspection) return value;
  if (inspection->gradients_wanted && site.kind != ValueKind::feed_forward)
    return inspection->values[site] = with_gradient(value);
  const std::int64_t along = value.dim() - 2;  // the position dimension
  if (inspection->values_wanted) {
    torch::Tensor& kept = inspection->values[site];
    kept = first == 0 ? value.detach() : torch::cat({kept, value.detach()}, along);
  }
  if (!inspection->patches) return value;
  // One row: L×D, or Q×d for a head.
  const auto row_of = [&](const torch::Tensor& of, std::int64_t row, int head) {
    const torch::Tensor one = of.select(0, row);
    return site.kind == ValueKind::heads ? one.select(0, head) : one;
  };
  torch::Tensor changed;
  for (const Put& put : inspection->patches->puts) {
    if (put.site != site) continue;
    if (!changed.defined()) changed = value.clone();
    const torch::Tensor& source = inspection->patches->values->at(site);
    if (put.position < 0) {
      changed.select(0, put.row).copy_(source.slice(along, first, first + value.size(along)).select(0, put.from));
      continue;
    }
    if (!is_inside(put.position - first, value.size(along))) continue;
    row_of(changed, put.row, put.head)
        .select(0, put.position - first)
        .copy_(row_of(source, put.from, put.head).select(0, put.position));
  }
  return changed.defined() ? changed : value;
}

StateHook states_put(const Inspection* inspection, AttentionPart stack) {
  const Patches* patches = inspection ? inspection->patches : nullptr;
  const auto is_here = [stack](const Put& put) {
    return put.site.kind == ValueKind::state && put.site.part == stack && put.site.layer > 0;
  };
  if (!patches || std::ranges::none_of(patches->puts, is_here)) return {};
  return [patches, stack](std::int64_t layer, std::int64_t direction, std::int64_t token, CellState state) {
    const ValueSite site{ValueKind::state, stack, static_cast<int>(layer) + 1};
    bool copied = false;
    for (const Put& put : patches->puts) {
      if (put.site != site || (put.position >= 0 && put.position != token)) continue;
      if (!copied) state = {state.h.clone(), state.c.defined() ? state.c.clone() : state.c};
      copied = true;
      const torch::Tensor value = patches->values->at(site).select(0, put.from).select(0, token);  // W
      const std::int64_t width = state.h.size(1), of_h = state.c.defined() ? value.size(0) / 2 : value.size(0);
      const auto put_in = [&](const torch::Tensor& into, std::int64_t begin) {
        into.select(0, put.row).copy_(value.slice(0, begin, begin + width));
      };
      put_in(state.h, direction * width);
      if (state.c.defined()) put_in(state.c, of_h + direction * width);
    }
    return state;
  };
}

void keep_cells(Inspection& inspection, bool decoder, std::size_t num_layers,
                const std::vector<std::vector<CellState>>& cells) {
  if (inspection.values_wanted) {
    const std::size_t directions = cells.size() / num_layers;
    const AttentionPart stack = decoder ? AttentionPart::decoder : AttentionPart::encoder;
    for (std::size_t layer = 0; layer < num_layers; ++layer)
      inspection.values[{ValueKind::state, stack, static_cast<int>(layer) + 1}] =
          states_value(std::span(cells).subspan(layer * directions, directions)).detach();
  }
  if (!inspection.cells_wanted && !inspection.gradients_wanted) return;
  if (inspection.gradients_wanted)
    for (const std::vector<CellState>& cell : cells)
      for (const CellState& state : cell) state.h.retain_grad();
  (decoder ? inspection.decoder_cells : inspection.encoder_cells) = cells;
}

AttentionWeights& LayerInspection::kept(AttentionPart part) {
  switch (part) {
    case AttentionPart::encoder:
      return inspection_->encoder;
    case AttentionPart::decoder:
      return inspection_->decoder;
    case AttentionPart::cross:
      return inspection_->cross;
  }
  return inspection_->encoder;
}

torch::Tensor replaced_ids(const Inspection* inspection, const torch::Tensor& ids, bool target, std::int64_t first) {
  if (!inspection || !inspection->interventions) return ids;
  torch::Tensor changed = ids;
  for (const ReplacedToken& replaced : inspection->interventions->replaced) {
    const std::int64_t position = replaced.position - first;
    if (replaced.target != target || !is_inside(position, ids.size(1))) continue;
    if (changed.is_same(ids)) changed = ids.clone();
    changed.select(1, position).fill_(replaced.id);
  }
  return changed;
}

}  // namespace attnscope
