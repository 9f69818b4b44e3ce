#include "workspaces/attention/view.h"

#include <algorithm>

#include "analysis/matrix_algebra.h"
#include "common/clamped.h"
#include "workspaces/attention/row.h"

namespace attnscope {
namespace {

void move_in_list(AttentionView& view, int by) {
  const std::vector<RankedHead>& heads = view.ranking.heads;
  const auto found = std::ranges::find(heads, view.place(), &RankedHead::place);
  const int from = found == heads.end() ? 0 : static_cast<int>(found - heads.begin());
  const int to = from + by;
  if (to >= 0 && to < static_cast<int>(heads.size())) select(view, heads[static_cast<std::size_t>(to)].place);
}

}  // namespace

HeadChoice AttentionView::choice() const {
  HeadChoice choice{{place()}, mix, words, pair};
  choice.heads.insert(choice.heads.end(), together.begin(), together.end());
  return choice;
}

bool has_part(const ModelConfig& model, AttentionPart part) {
  return part_size(model, part).layers > 0;
}

void settle(AttentionView& view, const ModelConfig& model) {
  if (has_part(model, view.part)) return;
  for (const AttentionPart part : attention_parts) {
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

Selection selection_in(const AttentionView& view, const Snapshot& snapshot) {
  const AttentionMaps& maps = maps_of(snapshot, view.part);
  Selection selection{view.place(), view.pinned_row, view.pinned_col};
  selection.place.layer = clamped(view.layer, 0, std::max(0, static_cast<int>(maps.size()) - 1));
  selection.place.head = clamped(view.head, 0, std::max(0, heads_of(maps) - 1));
  const auto rows = static_cast<int>(row_tokens(snapshot, view.part).size());
  const auto cols = static_cast<int>(col_tokens(snapshot, view.part).size());
  if (selection.row && *selection.row >= rows) selection.row.reset();
  if (selection.col && *selection.col >= cols) selection.col.reset();
  return selection;
}

void clamp_to(AttentionView& view, const Snapshot& snapshot) {
  const AttentionMaps& maps = maps_of(snapshot, view.part);
  const Selection selection = selection_in(view, snapshot);
  view.layer = selection.place.layer;
  view.head = selection.place.head;
  view.pinned_row = selection.row;
  view.pinned_col = selection.col;
  std::erase_if(view.together, [&](const HeadPlace& place) {
    const auto layer = static_cast<std::size_t>(place.layer);
    return place == view.place() || layer >= maps.size() || place.head >= static_cast<int>(maps[layer].size());
  });
}

void select(AttentionView& view, const HeadPlace& place) {
  if (view.part != place.part) {
    let_go(view);
    view.zoom = {};
  }
  view.together.clear();
  view.part = place.part;
  view.layer = place.layer;
  view.head = place.head;
}

void toggle_together(AttentionView& view, const HeadPlace& place) {
  if (place.part != view.part) return select(view, place);
  if (view.mix != HeadMix::together_mean) view.mix = HeadMix::one;
  const auto found = std::ranges::find(view.together, place);
  if (found != view.together.end()) {
    view.together.erase(found);
  } else if (place != view.place()) {
    view.together.push_back(place);
  } else if (!view.together.empty()) {
    view.layer = view.together.front().layer;
    view.head = view.together.front().head;
    view.together.erase(view.together.begin());
  }
}

Color32 color_of(const AttentionView& view, const HeadPlace& place, const Theme& theme) {
  const std::vector<HeadPlace> heads = view.choice().heads;
  const auto found = std::ranges::find(heads, place);
  if (found == heads.end()) return 0;
  return series_color(theme, static_cast<std::size_t>(found - heads.begin()));
}

void move_level(AttentionView& view, const ModelConfig& model, int by) {
  if (model.is_recurrent()) return;
  const int level = static_cast<int>(view.level) + by;
  view.level = static_cast<AttentionLevel>(clamped(level, 0, static_cast<int>(AttentionLevel::sublayers)));
}

void toggle_row(AttentionView& view, int row) {
  view.pinned_row = view.pinned_row == row ? std::nullopt : std::optional(row);
}

void toggle_col(AttentionView& view, int col) {
  view.pinned_col = view.pinned_col == col ? std::nullopt : std::optional(col);
}

void let_go(AttentionView& view) {
  view.pinned_row.reset();
  view.pinned_col.reset();
}

void measure_heads(const ShownMaps& maps, AttentionView& view) {
  std::size_t budget = cells_measured_a_frame;
  view.measures.pending = false;
  for (const AttentionPart part : attention_parts) {
    if (maps.lacks(part)) {
      view.measures.parts[static_cast<std::size_t>(part)].clear();  // of another model
      continue;
    }
    const Shown& shown = maps.of(part);
    measure(view.measures, part, shown, budget);
  }
}

void move_selection(AttentionView& view, const Snapshot& snapshot, int heads, int layers) {
  clamp_to(view, snapshot);
  if (view.level == AttentionLevel::model && !view.ranking.heads.empty())
    return move_in_list(view, heads + layers * view.ranking.columns);
  const int head = clamped(view.head + heads, 0, std::max(0, heads_of(maps_of(snapshot, view.part)) - 1));
  select(view, {view.part, view.layer, head});
  const int layer = view.layer + layers;
  const auto count = [&](AttentionPart part) { return static_cast<int>(maps_of(snapshot, part).size()); };
  if (layer >= 0 && layer < count(view.part)) {
    view.layer = layer;
    return;
  }
  // After the last layer of a part comes the first layer of the next part.
  const int next = static_cast<int>(view.part) + (layers > 0 ? 1 : -1);
  if (next < 0 || next >= static_cast<int>(attention_parts.size()) ||
      count(attention_parts[static_cast<std::size_t>(next)]) == 0)
    return;
  const AttentionPart part = attention_parts[static_cast<std::size_t>(next)];
  select(view, {part, layers > 0 ? 0 : count(part) - 1, view.head});
}

void move_pinned_row(AttentionView& view, const Snapshot& snapshot, int rows) {
  const auto count = static_cast<int>(row_tokens(snapshot, view.part).size());
  if (count == 0) return;
  const int from = view.pinned_row.value_or(first_row(snapshot, view.part));
  view.pinned_row = clamped(from + rows, 0, count - 1);
}

int first_row(const Snapshot& snapshot, AttentionPart part) {
  if (snapshot.model.is_language_model() || (snapshot.captured && snapshot.source.empty()))
    return static_cast<int>(snapshot.typed().size()) - 1;
  const int row = telling_row(row_tokens(snapshot, part));
  return snapshot.captured ? std::max(0, row) : row;  // a capture's tokens need not mark words
}

float brightest(const AttentionView& view, const HeadPlace& place, bool always) {
  const MapMeasures* measures = measures_at(view.measures, place);
  return (view.full_contrast || always) && measures && measures->largest > 0 ? measures->largest : 1.0F;
}

int heads_of(const AttentionMaps& maps) {
  return maps.empty() ? 0 : static_cast<int>(maps.front().size());
}

// ---- statistics of every head

void measure(HeadMeasures& all, AttentionPart part, const Shown& shown, std::size_t& budget) {
  const ModelConfig& model = shown.snapshot->model;
  const AttentionMaps& maps = maps_of(*shown.snapshot, part);
  auto& layers = all.parts[static_cast<std::size_t>(part)];
  layers.resize(maps.size());
  for (std::size_t layer = 0; layer < maps.size(); ++layer) {
    layers[layer].resize(maps[layer].size());
    for (std::size_t head = 0; head < maps[layer].size(); ++head) {
      MeasuredHead& measured = layers[layer][head];
      if (measured.version == shown.version) continue;
      if (budget == 0) {
        all.pending = true;
        return;
      }
      const Matrix& map = maps[layer][head];
      measured = {shown.version, MapMeasures{.largest = largest_size(map.values)}};
      if (model.has_weights()) measured.measures = measures_of(map, is_causal(model, part));
      budget -= std::min(budget, map.values.size());
      ++all.changes;
    }
  }
}

const MapMeasures* measures_at(const HeadMeasures& all, const HeadPlace& place) {
  const auto& layers = all.parts[static_cast<std::size_t>(place.part)];
  const auto layer = static_cast<std::size_t>(place.layer);
  const auto head = static_cast<std::size_t>(place.head);
  if (layer >= layers.size() || head >= layers[layer].size() || layers[layer][head].version == 0) return nullptr;
  return &layers[layer][head].measures;
}

}  // namespace attnscope
