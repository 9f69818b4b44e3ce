// The rows of the heads' map: the site of each, the sweep that they require, and the patch that a click tries.
#include <fmt/format.h>

#include "base/translation.h"
#include "workspaces/circuit/view.h"

namespace attnscope {
namespace {

const EffectGrid& tokens_of(const Sweep& sweep, const ValueSite& site, bool whole) {
  const bool read = site.part == AttentionPart::encoder;
  if (site.kind == ValueKind::state)
    return whole ? (read ? sweep.encoder_states_whole : sweep.decoder_states_whole)
                 : (read ? sweep.encoder_states : sweep.decoder_states);
  return whole ? (read ? sweep.encoder_feed_forward_whole : sweep.decoder_feed_forward_whole)
               : (read ? sweep.encoder_feed_forward : sweep.decoder_feed_forward);
}

}  // namespace

std::vector<RowPlace> row_places(const Sweep& sweep, AttentionPart part) {
  std::vector<RowPlace> places;
  const std::vector<EffectGrid>& layers = sweep.rows(part);
  const ValueSite embedded{ValueKind::state, part, 0};
  const bool has_tokens = part != AttentionPart::cross;
  if (has_tokens && tokens_of(sweep, embedded, false).rows == 1) places.push_back({embedded});
  for (int layer = 0; layer < static_cast<int>(layers.size()); ++layer) {
    const int heads = layers[static_cast<std::size_t>(layer)].rows;
    for (int head = 0; head < heads; ++head) places.push_back({{ValueKind::heads, part, layer}, head});
    const ValueSite added{ValueKind::feed_forward, part, layer};
    if (has_tokens && !tokens_of(sweep, added, false).empty()) places.push_back({added});
  }
  return places;
}

const Effect& effect_at(const Sweep& sweep, const RowPlace& place, int position) {
  const ValueSite& site = place.site;
  if (site.kind != ValueKind::heads) return tokens_of(sweep, site, false).at(site.layer, position);
  return sweep.rows(site.part)[static_cast<std::size_t>(site.layer)].at(place.head, position);
}

const Effect& whole_effect(const Sweep& sweep, const RowPlace& place) {
  const ValueSite& site = place.site;
  if (site.kind != ValueKind::heads) return tokens_of(sweep, site, true).at(site.layer, 0);
  return sweep.heads(site.part).at(site.layer, place.head);
}

std::string row_name(const RowPlace& place, const ContrastFacts& facts) {
  if (place.site.kind == ValueKind::heads && facts.recurrent) return tr("attention");  // there is only one
  if (place.site.kind == ValueKind::heads) return layer_and_head(place.site.layer, place.head);
  return place.site.kind == ValueKind::state ? tr("embedding") : trf("L{} feed-forward", place.site.layer + 1);
}

ChangedRun row_run(const CircuitView& view, const RowPlace& place, const std::vector<int>& positions) {
  const bool of_heads = place.site.kind == ValueKind::heads;
  Change change{view.kind, place.site, of_heads ? std::vector{place.head} : std::vector<int>(), positions, {}, {}};
  if (view.kind == ChangeKind::exchange) {
    change.one = positions_of(view, {view.exchanged[0]});
    change.other = positions_of(view, {view.exchanged[1]});
  }
  return {view.of, {std::move(change)}};
}

// ---- the sweep for the heads' map

std::optional<SweepQuestion> wanted_sweep(const CircuitView& view) {
  if (!has_circuit(view)) return std::nullopt;
  SweepQuestion question{.contrasts = view.inspection->question};
  const std::vector<CircuitEdge>& edges = shown_circuit(view).edges;
  if (view.kind == ChangeKind::exchange) {
    question.one = positions_of(view, {view.exchanged[0]});
    question.other = positions_of(view, {view.exchanged[1]});
  } else if (view.kind == ChangeKind::contrast && view.by_way >= 0 && view.by_way < static_cast<int>(edges.size())) {
    const CircuitEdge& edge = edges[static_cast<std::size_t>(view.by_way)];
    question.end = {edge.part, edge.layer, edge.heads(), {}};
    for (const int slot : edge.slots())
      for (const int position : edge_positions(view, edge, slot)) question.end.positions.push_back(position);
  } else {
    return std::nullopt;
  }
  return question;
}

const Sweep* shown_sweep(const CircuitView& view) {
  const auto wanted = wanted_sweep(view);
  if (!wanted) return &view.inspection->sweep(view.of, view.kind);
  if (!view.swept || view.swept->question != *wanted || view.swept->sweeps.empty()) return nullptr;
  return &view.swept->sweeps[view.of == ContrastSide::clean ? 0 : 1];
}

}  // namespace attnscope
