#include "workspaces/attention_view.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "workspaces/attention_row.h"

namespace attnscope {
namespace {

constexpr std::array parts = {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross};

}  // namespace

bool ShownMaps::lacks(AttentionPart part) const {
  const Shown& shown = of(part);
  return !shown.snapshot || maps_of(*shown.snapshot, part).empty();
}

bool has_part(const ModelConfig& model, AttentionPart part) {
  if (model.is_language_model()) return part == AttentionPart::decoder;
  if (model.is_recurrent()) return part == AttentionPart::cross && model.attention != "none";
  return true;
}

void settle(AttentionView& view, const ModelConfig& model) {
  if (has_part(model, view.part)) return;
  for (const AttentionPart part : parts) {
    if (!has_part(model, part)) continue;
    return select(view, {part, view.layer, view.head});
  }
}

void begin(AttentionView& view, const Snapshot& snapshot) {
  if (view.begun || snapshot.encoder.empty()) return;
  view.begun = true;
  const std::optional<HeadPlace> place = telling_head(snapshot);
  if (!place) return;
  select(view, *place);
}

AttentionView clamped(AttentionView view, const Snapshot& snapshot) {
  const AttentionMaps& maps = maps_of(snapshot, view.part);
  view.layer = std::clamp(view.layer, 0, std::max(0, static_cast<int>(maps.size()) - 1));
  view.head = std::clamp(view.head, 0, std::max(0, heads_of(maps) - 1));
  const auto rows = static_cast<int>(row_tokens(snapshot, view.part).size());
  const auto cols = static_cast<int>(col_tokens(snapshot, view.part).size());
  if (view.pinned_row && *view.pinned_row >= rows) view.pinned_row.reset();
  if (view.pinned_col && *view.pinned_col >= cols) view.pinned_col.reset();
  return view;
}

void select(AttentionView& view, const HeadPlace& place) {
  if (view.part != place.part) {
    view.pinned_row.reset();
    view.pinned_col.reset();
  }
  view.part = place.part;
  view.layer = place.layer;
  view.head = place.head;
}

float mean_row_entropy(const Matrix& weights) {
  if (weights.rows == 0) return 0;
  double sum = 0;
  for (const float weight : weights.values) {
    if (weight > 0) sum -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
  }
  return static_cast<float>(sum / weights.rows);
}

void move_selection(AttentionView& view, const Snapshot& snapshot, int heads, int layers) {
  view = clamped(view, snapshot);
  view.head = std::clamp(view.head + heads, 0, std::max(0, heads_of(maps_of(snapshot, view.part)) - 1));
  const int layer = view.layer + layers;
  const auto count = [&](AttentionPart part) { return static_cast<int>(maps_of(snapshot, part).size()); };
  if (layer >= 0 && layer < count(view.part)) {
    view.layer = layer;
    return;
  }
  // Past the last layer of a part begins the next part.
  const int next = static_cast<int>(view.part) + (layers > 0 ? 1 : -1);
  if (next < 0 || next >= static_cast<int>(parts.size()) || count(parts[static_cast<std::size_t>(next)]) == 0) return;
  const AttentionPart part = parts[static_cast<std::size_t>(next)];
  select(view, {part, layers > 0 ? 0 : count(part) - 1, view.head});
}

void move_pinned_row(AttentionView& view, const Snapshot& snapshot, int rows) {
  const auto count = static_cast<int>(row_tokens(snapshot, view.part).size());
  if (count == 0) return;
  const int from = view.pinned_row.value_or(first_row(snapshot, view.part));
  view.pinned_row = std::clamp(from + rows, 0, count - 1);
}

const std::vector<Token>& row_tokens(const Snapshot& snapshot, AttentionPart part) {
  switch (part) {
    case AttentionPart::encoder:
      return snapshot.source;
    case AttentionPart::decoder:
      return snapshot.target_in;
    case AttentionPart::cross:
      return snapshot.target_out;
  }
  return snapshot.source;
}

const std::vector<Token>& col_tokens(const Snapshot& snapshot, AttentionPart part) {
  return part == AttentionPart::decoder ? snapshot.target_in : snapshot.source;
}

int first_row(const Snapshot& snapshot, AttentionPart part) {
  if (snapshot.model.is_language_model()) return static_cast<int>(snapshot.typed().size()) - 1;
  return telling_row(row_tokens(snapshot, part));
}

// The weight drawn in the brightest colour.
float brightest(const Matrix& map, bool full_contrast) {
  if (!full_contrast || map.empty()) return 1;
  return *std::max_element(map.values.begin(), map.values.end());
}

int heads_of(const AttentionMaps& maps) {
  return maps.empty() ? 0 : static_cast<int>(maps.front().size());
}

}  // namespace attnscope
