#include "messages/overrides.h"

#include <fmt/format.h>

#include <utility>

#include "common/mark.h"
#include "messages/snapshot.h"

namespace attnscope {
namespace {

// Names a token; if the sentence has become shorter, returns its position.
std::string token(const std::vector<Token>& tokens, int index) {
  if (index < 0 || index >= static_cast<int>(tokens.size())) return fmt::format("token {}", index + 1);
  return std::string(without_mark(tokens[static_cast<std::size_t>(index)].text));
}

std::string layer_name(const LayerPlace& layer) {
  return fmt::format("{} L{}", layer.decoder ? "decoder" : "encoder", layer.layer + 1);
}

std::string text_of(const ForcedAttention& forced, const Snapshot& seen) {
  const AttentionPart part = forced.place.part;
  return fmt::format("{}: {} → {}", head_name(forced.place, seen.model), token(row_tokens(seen, part), forced.query),
                     token(col_tokens(seen, part), forced.key));
}

std::string text_of(const ReplacedToken& replaced, const Snapshot& seen) {
  return fmt::format(mark("{} replaced by “{}”"),
                     token(replaced.target ? seen.target_in : seen.source, replaced.position), replaced.text);
}

std::string text_of(const Steering& steering) {
  const std::string minus = steering.minus.empty() ? "" : " − " + steering.minus;
  return fmt::format("{}: {:+g} × ({}{})", layer_name(steering.place), steering.factor, steering.plus, minus);
}

// The typed prefix, otherwise the chosen tokens.
std::string prefix_text(const Overrides& overrides, const Snapshot& seen) {
  std::string text = overrides.prefix.empty() ? "" : fmt::format("“{}”", overrides.prefix);
  const int first = seen.first_output();
  for (std::size_t i = 0; overrides.prefix.empty() && i < overrides.prefix_ids.size(); ++i)
    text += (i == 0 ? "" : " ") + token(seen.target_out, first + static_cast<int>(i));
  return fmt::format(mark("output starts with {}"), text);
}

}  // namespace

std::vector<Override> listed(const Overrides& overrides, const Snapshot* seen) {
  const Snapshot nothing;
  const Snapshot& named = seen ? *seen : nothing;
  std::vector<Override> list;
  const auto add = [&](OverrideKind kind, std::size_t index, std::string text) {
    list.push_back({kind, index, std::move(text)});
  };
  const Interventions& interventions = overrides.interventions;
  for (std::size_t i = 0; i < interventions.heads_off.size(); ++i)
    add(OverrideKind::head_off, i, fmt::format(mark("{} ablated"), head_name(interventions.heads_off[i], named.model)));
  for (std::size_t i = 0; i < interventions.layers_off.size(); ++i)
    add(OverrideKind::layer_off, i, fmt::format(mark("{} skipped"), layer_name(interventions.layers_off[i])));
  for (std::size_t i = 0; i < interventions.forced.size(); ++i)
    add(OverrideKind::forced_attention, i, text_of(interventions.forced[i], named));
  for (std::size_t i = 0; i < interventions.replaced.size(); ++i)
    add(OverrideKind::replaced_token, i, text_of(interventions.replaced[i], named));
  for (std::size_t i = 0; i < interventions.hidden.size(); ++i)
    add(OverrideKind::hidden_keys, i,
        fmt::format(mark("{} masked"), head_name(interventions.hidden[i].place, named.model)));
  for (std::size_t i = 0; i < interventions.steered.size(); ++i)
    add(OverrideKind::steered, i, text_of(interventions.steered[i]));
  if (interventions.other_scale)
    add(OverrideKind::other_scale, 0,
        named.model.scaled_attention ? mark("scores not divided by \u221Ad_k") : mark("scores divided by \u221Ad_k"));
  if (interventions.no_positions) add(OverrideKind::no_positions, 0, mark("without positions"));
  if (interventions.no_residuals) add(OverrideKind::no_residuals, 0, mark("no residual connections"));
  if (!overrides.prefix.empty() || !overrides.prefix_ids.empty())
    add(OverrideKind::prefix, 0, prefix_text(overrides, named));
  if (overrides.lifted_mask) add(OverrideKind::lifted_mask, 0, mark("mask removed"));
  if (overrides.step) add(OverrideKind::recorded_step, 0, fmt::format(mark("recorded step {}"), *overrides.step));
  return list;
}

}  // namespace attnscope
