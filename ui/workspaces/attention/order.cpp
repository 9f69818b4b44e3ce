#include "workspaces/attention/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "plain/pieces.h"
#include "widgets/choice_row.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

constexpr std::array parts = {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross};

struct OrderText {
  HeadOrder order;
  const char* title;
  const char* help;
};

constexpr std::array orders = {
    OrderText{HeadOrder::place, "by place", "Layers from top to bottom, heads from left to right."},
    OrderText{HeadOrder::entropy, "by entropy",
              "How spread a head looks: the mean over its queries of −Σ w ln w, sharpest first. Click again: the other "
              "way round."},
    OrderText{HeadOrder::distance, "by distance",
              "How far a head looks: the mean over its queries of Σ w |query − key|, in pieces, nearest first. Click "
              "again: the other way round."},
    OrderText{HeadOrder::attention, "by attention to",
              "How much of its attention a head gives to the selected piece: the mean over the queries that see it or, "
              "where a query is selected too, its weight on that key. Select pieces at the level “Head”. Click again: "
              "the other way round."},
};

bool keys_are_of(AttentionPart part, const SelectedToken& token) {
  return (part == AttentionPart::decoder) == token.target;
}

std::optional<float> attention_to(const SelectedToken& token, const HeadPlace& place, const Matrix& map,
                                  const AttentionView& view) {
  if (!keys_are_of(place.part, token) || token.index >= map.cols) return std::nullopt;
  const bool cell = place.part == view.part && view.pinned_row && view.pinned_col && *view.pinned_row < map.rows;
  if (cell) return map.at(*view.pinned_row, token.index);
  return received_by(map, token.index, place.part == AttentionPart::decoder);
}

std::optional<float> value_of(const HeadPlace& place, const Matrix& map, const AttentionView& view,
                              const std::optional<SelectedToken>& token) {
  if (view.order == HeadOrder::attention) return token ? attention_to(*token, place, map, view) : std::nullopt;
  const MapMeasures* measures = measures_at(view.measures, place);
  if (!measures) return std::nullopt;
  return view.order == HeadOrder::entropy ? measures->entropy : measures->distance;
}

bool falls(const AttentionView& view) {
  return (view.order == HeadOrder::attention) != view.reversed;
}

void sort_heads(std::vector<RankedHead>& heads, const AttentionView& view) {
  const bool falling = falls(view);
  std::ranges::stable_sort(heads, [&](const RankedHead& a, const RankedHead& b) {
    if (!a.value || !b.value) return a.value.has_value() && !b.value;
    return falling ? *a.value > *b.value : *a.value < *b.value;
  });
}

std::vector<RankedHead> valued_heads(const AttentionView& view, const ShownMaps& maps) {
  const std::optional<SelectedToken> token = selected_token(view, maps);
  std::vector<RankedHead> heads;
  for (const AttentionPart part : parts) {
    if (maps.lacks(part)) continue;
    const AttentionMaps& layers = maps_of(*maps.of(part).snapshot, part);
    for (int layer = 0; layer < static_cast<int>(layers.size()); ++layer) {
      const std::vector<Matrix>& row = layers[static_cast<std::size_t>(layer)];
      for (int head = 0; head < static_cast<int>(row.size()); ++head) {
        const HeadPlace place{part, layer, head};
        heads.push_back({place, value_of(place, row[static_cast<std::size_t>(head)], view, token)});
      }
    }
  }
  return heads;
}

std::string title_of_order(const OrderText& text, const std::optional<SelectedToken>& token) {
  if (text.order != HeadOrder::attention) return text.title;
  if (!token) return fmt::format("{} a piece", text.title);
  return fmt::format("{} {}", text.title, without_mark(token->piece));
}

}  // namespace

std::optional<SelectedToken> selected_token(const AttentionView& view, const ShownMaps& maps) {
  if (maps.lacks(view.part)) return std::nullopt;
  // The rows of cross-attention are words being written, at which nothing looks yet.
  const bool row = !view.pinned_col && view.pinned_row && view.part != AttentionPart::cross;
  const std::optional<int> chosen = row ? view.pinned_row : view.pinned_col;
  const std::vector<Token>& keys = col_tokens(*maps.of(view.part).snapshot, view.part);
  if (!chosen || *chosen >= static_cast<int>(keys.size())) return std::nullopt;
  return SelectedToken{view.part == AttentionPart::decoder, *chosen, keys[static_cast<std::size_t>(*chosen)].piece};
}

void rank_heads(AttentionView& view, const ShownMaps& maps) {
  HeadRanking& ranking = view.ranking;
  if (view.order == HeadOrder::place) return ranking.heads.clear();
  const HeadRanking::Key key{maps.newest.version, maps.complete.version, view.measures.changes,
                             view.order,          view.reversed,         view.part,
                             view.pinned_row,     view.pinned_col};
  if (ranking.key == key && !ranking.heads.empty()) return;
  ranking.key = key;
  ranking.heads = valued_heads(view, maps);
  sort_heads(ranking.heads, view);
}

void draw_order_choice(AttentionView& view, const ShownMaps& maps, const Skin& skin) {
  const std::optional<SelectedToken> token = selected_token(view, maps);
  for (const OrderText& text : orders) {
    const bool chosen = view.order == text.order;
    const std::string arrow = chosen && view.order != HeadOrder::place ? (falls(view) ? " ↓" : " ↑") : "";
    const std::string title =
        fmt::format("{}{}###order{}", title_of_order(text, token), arrow, static_cast<int>(text.order));
    if (!draw_choice(title.c_str(), chosen, text.help, skin)) continue;
    view.reversed = chosen && !view.reversed;
    view.order = text.order;
  }
}

}  // namespace attnscope
