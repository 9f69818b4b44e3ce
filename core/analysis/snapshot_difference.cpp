#include "analysis/snapshot_difference.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>

namespace attnscope {
namespace {

std::vector<ComparedWord> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<ComparedWord> found;
  for (std::string word; stream >> word;) found.push_back({word, true});
  return found;
}

// The unmodified model's probabilities of the tokens of the modified snapshot's gold output. Without a reference that
// is its own output, the most probable token of each step.
std::vector<float> gold_before(const Snapshot& untouched) {
  std::vector<float> probabilities;
  for (const GoldStep& step : untouched.gold) probabilities.push_back(step.probability);
  if (!probabilities.empty()) return probabilities;
  for (auto step = static_cast<std::size_t>(untouched.first_output()); step < untouched.decoding.size(); ++step) {
    const DecodingStep& decided = untouched.decoding[step];
    probabilities.push_back(decided.candidates[static_cast<std::size_t>(decided.chosen)].probability);
  }
  return probabilities;
}

double log_prob(std::span<const float> probabilities) {
  double sum = 0;
  for (const float probability : probabilities) sum += std::log(static_cast<double>(probability));
  return sum;
}

// The number of leading decoder inputs that are equal: the inputs of these rows are equal.
int shared_rows(const Snapshot& a, const Snapshot& b) {
  const auto [end, other] = std::ranges::mismatch(a.target_in, b.target_in);
  return static_cast<int>(end - a.target_in.begin());
}

// Returns true for weights set by an intervention, which are no result.
bool is_set(const Interventions& interventions, const HeadPlace& place, int query) {
  if (std::ranges::find(interventions.layers_off, layer_of(place)) != interventions.layers_off.end()) return true;
  const auto hides = [&](const HiddenKeys& it) {
    return it.place == place && std::ranges::find(it.cells, query, &HiddenKeys::Cell::query) != it.cells.end();
  };
  return std::ranges::any_of(interventions.hidden, hides) ||
         std::ranges::any_of(interventions.forced,
                             [&](const ForcedAttention& it) { return it.place == place && it.query == query; });
}

void find_in_map(const Snapshot& changed, const HeadPlace& place, const Matrix& before, const Matrix& after, int rows,
                 std::optional<WeightChange>& largest) {
  if (before.cols != after.cols && place.part != AttentionPart::decoder) return;
  for (int row = 0; row < std::min({rows, before.rows, after.rows}); ++row) {
    if (is_set(changed.interventions, place, row)) continue;
    for (int col = 0; col < std::min(before.cols, after.cols); ++col) {
      const float change = std::abs(after.at(row, col) - before.at(row, col));
      if (change > 0 && (!largest || change > std::abs(largest->after - largest->before)))
        largest = WeightChange{place, row, col, before.at(row, col), after.at(row, col)};
    }
  }
}

std::optional<WeightChange> largest_change(const Snapshot& changed) {
  std::optional<WeightChange> largest;
  for (const AttentionPart part : attention_parts) {
    const AttentionMaps& before = maps_of(*changed.untouched, part);
    const AttentionMaps& after = maps_of(changed, part);
    const int rows = part == AttentionPart::encoder ? static_cast<int>(changed.source.size())
                                                    : shared_rows(changed, *changed.untouched);
    for (std::size_t layer = 0; layer < std::min(before.size(), after.size()); ++layer) {
      for (std::size_t head = 0; head < std::min(before[layer].size(), after[layer].size()); ++head) {
        find_in_map(changed, {part, static_cast<int>(layer), static_cast<int>(head)}, before[layer][head],
                    after[layer][head], rows, largest);
      }
    }
  }
  return largest;
}

}  // namespace

void compare_words(std::string_view before, std::string_view after, SnapshotDifference& difference) {
  std::vector<ComparedWord>& a = difference.before = words(before);
  std::vector<ComparedWord>& b = difference.after = words(after);
  // common[i][j]: length of the longest common subsequence of the suffixes from a[i] and b[j]
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i].word == b[j].word ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].word == b[j].word) {
      a[i++].differs = b[j++].differs = false;
    } else if (common[i + 1][j] >= common[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

SnapshotDifference snapshot_difference(const Snapshot& changed) {
  SnapshotDifference difference;
  compare_words(changed.untouched->output_text, changed.output_text, difference);
  difference.reference = !changed.untouched->gold.empty();
  difference.gold_before = gold_before(*changed.untouched);
  difference.gold_before.resize(changed.gold.size());
  difference.log_prob_before = log_prob(difference.gold_before);
  std::vector<float> after;
  for (const GoldStep& step : changed.gold) after.push_back(step.probability);
  difference.log_prob_after = log_prob(after);
  difference.largest = largest_change(changed);
  return difference;
}

}  // namespace attnscope
