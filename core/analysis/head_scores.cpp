#include "analysis/head_scores.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/attention_measures.h"

namespace attnscope {
namespace {

// A sum and what it is divided by.
struct Mean {
  double sum = 0;
  int count = 0;

  void add(double value, int times = 1) {
    sum += value * times;
    count += times;
  }
  std::optional<double> value() const { return count == 0 ? std::nullopt : std::optional(sum / count); }
};

// For every query, the key after the previous occurrence of the same token; −1: it has not occurred.
std::vector<int> induction_keys(const std::vector<Token>& tokens) {
  std::vector<int> keys;
  std::map<std::string_view, int> last;
  for (int i = 0; i < static_cast<int>(tokens.size()); ++i) {
    const auto [seen, is_new] = last.try_emplace(tokens[static_cast<std::size_t>(i)].text, i);
    keys.push_back(is_new ? -1 : std::exchange(seen->second, i) + 1);
  }
  return keys;
}

struct Sums {
  int sentences = 0;
  Mean entropy, first, special, distance, previous, induction;
};

void add(Sums& sums, const Matrix& map, const Snapshot& snapshot, AttentionPart part) {
  const MapMeasures measures = measures_of(map, is_causal(snapshot.model, part));
  const std::vector<Token>& keys = col_tokens(snapshot, part);
  for (int row = 0; row < map.rows; ++row) {
    double special = 0;
    for (int col = 0; col < map.cols; ++col)
      if (is_special_token(keys[static_cast<std::size_t>(col)].text)) special += map.at(row, col);
    sums.special.add(special);
    sums.first.add(map.at(row, 0));
  }
  ++sums.sentences;
  sums.entropy.add(measures.entropy, map.rows);
  if (part == AttentionPart::cross) return;
  sums.distance.add(measures.distance, map.rows);
  for (int row = 1; row < map.rows; ++row) sums.previous.add(map.at(row, row - 1));
  const std::vector<int> after = induction_keys(keys);
  for (int row = 0; row < map.rows; ++row)
    if (after[static_cast<std::size_t>(row)] >= 0)
      sums.induction.add(map.at(row, after[static_cast<std::size_t>(row)]));
}

}  // namespace

bool is_special_token(std::string_view token) {
  if (token.size() < 3) return false;
  const bool angle = token.front() == '<' && token.back() == '>';
  const bool square = token.front() == '[' && token.back() == ']' &&
                      std::ranges::all_of(token.substr(1, token.size() - 2),
                                          [](char sign) { return (sign >= 'A' && sign <= 'Z') || sign == '_'; });
  return angle || square;
}

std::vector<HeadScores> head_scores(const std::vector<const Snapshot*>& sentences) {
  std::map<std::tuple<AttentionPart, int, int>, Sums> sums;
  for (const Snapshot* sentence : sentences)
    for (const AttentionPart part : attention_parts) {
      const AttentionMaps& maps = maps_of(*sentence, part);
      for (int layer = 0; layer < static_cast<int>(maps.size()); ++layer)
        for (int head = 0; head < static_cast<int>(maps[static_cast<std::size_t>(layer)].size()); ++head)
          add(sums[{part, layer, head}], *map_at(*sentence, {part, layer, head}), *sentence, part);
    }
  std::vector<HeadScores> scores;
  for (const auto& [place, of] : sums)
    scores.push_back({.place = {std::get<0>(place), std::get<1>(place), std::get<2>(place)},
                      .sentences = of.sentences,
                      .entropy = *of.entropy.value(),
                      .first = *of.first.value(),
                      .special = *of.special.value(),
                      .distance = of.distance.value(),
                      .previous = of.previous.value(),
                      .induction = of.induction.value()});
  return scores;
}

}  // namespace attnscope
