#include "workspaces/attention/head_map.h"

#include <algorithm>
#include <utility>

#include "analysis/attention_mix.h"
#include "analysis/matrix_algebra.h"
#include "base/translation.h"

namespace attnscope {
namespace {

// The unmodified model's map of that head, if it exists.
const Matrix* untouched_map(const Snapshot& snapshot, const HeadPlace& place) {
  return snapshot.untouched ? map_at(*snapshot.untouched, place) : nullptr;
}

std::vector<WordSpan> spans_of(const std::vector<Token>& tokens, bool words) {
  if (words) return spaced_words_of(tokens);
  std::vector<WordSpan> spans;
  for (int i = 0; i < static_cast<int>(tokens.size()); ++i)
    spans.push_back({tokens[static_cast<std::size_t>(i)].text, i, i + 1});
  return spans;
}

std::vector<std::string> labels_of(const std::vector<WordSpan>& spans) {
  std::vector<std::string> labels;
  for (const WordSpan& span : spans) labels.push_back(one_line(span.text));
  return labels;
}

std::vector<const Matrix*> heads_of(const HeadChoice& choice, const Snapshot& snapshot) {
  std::vector<const Matrix*> heads;
  for (const HeadPlace& place : choice.heads) heads.push_back(map_at(snapshot, place));
  return heads;
}

// By tokens. The rollout is computed separately.
Matrix mixed_map(const HeadChoice& choice, const Snapshot& snapshot) {
  const HeadPlace& place = choice.heads.front();
  const AttentionMaps& maps = maps_of(snapshot, place.part);
  const std::vector<Matrix>& layer = maps[static_cast<std::size_t>(place.layer)];
  switch (choice.mix) {
    case HeadMix::together_mean:
      return mean_map(heads_of(choice, snapshot));
    case HeadMix::layer_mean:
      return mean_map(all_of(layer));
    case HeadMix::layer_max:
      return max_map(all_of(layer));
    case HeadMix::part_mean:
      return mean_map(all_of(maps));
    case HeadMix::part_max:
      return max_map(all_of(maps));
    case HeadMix::difference:
      return difference(*map_at(snapshot, place), *untouched_map(snapshot, place));
    case HeadMix::one:
    case HeadMix::rollout:
      break;
  }
  return *map_at(snapshot, place);
}

bool has_distributions(HeadMix mix, const ModelConfig& model) {
  return model.has_weights() && mix != HeadMix::layer_max && mix != HeadMix::part_max && mix != HeadMix::difference;
}

// Advances the rollout by one layer, because all layers of a deep model with long sentences would delay a frame.
// Returns true when complete.
bool roll_on(HeadMap& made, const Snapshot& snapshot) {
  const HeadPlace& place = made.choice.heads.front();
  const AttentionMaps& maps = maps_of(snapshot, place.part);
  made.rolled = rolled_through(made.rolled, maps[static_cast<std::size_t>(made.rolled_layers++)]);
  return made.rolled_layers > place.layer;
}

void merge_words(HeadMap& made) {
  const auto merge = [&](Matrix& map) {
    if (!map.empty()) map = merged(map, made.rows, made.cols);
  };
  merge(made.map);
  merge(made.before);
  for (Matrix& line : made.lines) merge(line);
}

// Only that part of the pictures, rows and columns from `begin` to `end`.
struct Range {
  int begin, end;
};
Matrix cropped(const Matrix& map, Range rows, Range cols) {
  if (map.empty()) return map;
  Matrix part(rows.end - rows.begin, cols.end - cols.begin);
  for (int row = 0; row < part.rows; ++row)
    for (int col = 0; col < part.cols; ++col) part.at(row, col) = map.at(rows.begin + row, cols.begin + col);
  return part;
}

void keep_range(std::vector<WordSpan>& spans, std::vector<std::string>& labels, int& second, Range range) {
  spans = {spans.begin() + range.begin, spans.begin() + range.end};
  labels = labels_of(spans);
  second = second < 0 ? -1 : std::max(0, second - range.begin);
}

void filter_pair(HeadMap& made, const Snapshot& snapshot) {
  const auto first_of_b = [&](const std::vector<WordSpan>& spans) {
    const int second = second_sentence(snapshot);
    const auto found = std::ranges::find_if(spans, [&](const WordSpan& span) { return span.end > second; });
    const bool of_pair = second >= 0 && made.choice.heads.front().part == AttentionPart::encoder;
    return of_pair && found != spans.end() ? static_cast<int>(found - spans.begin()) : -1;
  };
  made.second_row = first_of_b(made.rows);
  made.second_col = first_of_b(made.cols);
  if (made.choice.pair == PairFilter::all || made.second_row <= 0 || made.second_col <= 0) return;
  const bool from_b = made.choice.pair == PairFilter::b_to_a || made.choice.pair == PairFilter::b_to_b;
  const bool to_b = made.choice.pair == PairFilter::a_to_b || made.choice.pair == PairFilter::b_to_b;
  const Range rows = from_b ? Range{made.second_row, made.map.rows} : Range{0, made.second_row};
  const Range cols = to_b ? Range{made.second_col, made.map.cols} : Range{0, made.second_col};
  made.map = cropped(made.map, rows, cols);
  made.before = cropped(made.before, rows, cols);
  for (Matrix& line : made.lines) line = cropped(line, rows, cols);
  keep_range(made.rows, made.row_labels, made.second_row, rows);
  keep_range(made.cols, made.col_labels, made.second_col, cols);
}

void summarise(HeadMap& made, const ModelConfig& model) {
  const bool whole = made.choice.pair == PairFilter::all || made.second_row < 0;
  const bool sums = whole && has_distributions(made.choice.mix, model);
  made.entropies = sums ? row_entropies(made.map) : std::vector<float>();
  made.received = made.is_signed() ? std::vector<float>() : received(made.map, made.causal);
  made.largest = largest_size(made.map.values);
}

// Converts a map by tokens to what is drawn.
void finish(HeadMap& made, Matrix map, const Snapshot& snapshot) {
  const HeadPlace& place = made.choice.heads.front();
  made.map = std::move(map);
  made.captured_signs = snapshot.model.is_signed();
  made.before = made.is_difference() ? *untouched_map(snapshot, place) : Matrix();
  made.causal = is_causal(snapshot.model, place.part);
  made.rows = spans_of(row_tokens(snapshot, place.part), made.choice.words);
  made.cols = spans_of(col_tokens(snapshot, place.part), made.choice.words);
  made.row_labels = labels_of(made.rows);
  made.col_labels = labels_of(made.cols);
  made.lines.clear();
  if (made.choice.mix == HeadMix::one || made.choice.mix == HeadMix::together_mean)
    for (const Matrix* head : heads_of(made.choice, snapshot)) made.lines.push_back(*head);
  if (made.choice.words) merge_words(made);
  filter_pair(made, snapshot);
  if (made.is_signed()) made.lines = {gains(made.map), losses(made.map)};
  if (made.lines.empty()) made.lines = {made.map};
  summarise(made, snapshot.model);
  ++made.stamp;
}

}  // namespace

const char* refusal(HeadMix mix, const HeadChoice& choice, const Snapshot& snapshot) {
  const HeadPlace& place = choice.heads.front();
  if (mix == HeadMix::one) return nullptr;
  if (mix == HeadMix::difference) {
    if (!snapshot.untouched) return tr("No intervention is active. Add one with Intervene\u2026.");
    const Matrix* before = untouched_map(snapshot, place);
    const Matrix& now = *map_at(snapshot, place);
    const bool alike = before && before->rows == now.rows && before->cols == now.cols;
    return alike ? nullptr
                 : tr("With the interventions the output has another length, so the two maps cannot be compared.");
  }
  if (snapshot.model.is_recurrent()) return tr("This model has only one map.");
  if (mix == HeadMix::together_mean && choice.heads.size() < 2)
    return tr("Select more heads first: Shift + click their thumbnails.");
  if (mix == HeadMix::rollout && !snapshot.model.has_weights())
    return tr("Rollout multiplies attention weights, but the rows of this capture do not sum to 1.");
  if (mix == HeadMix::rollout && place.part == AttentionPart::cross)
    return tr(
        "Rollout is defined for self-attention, whose queries and keys come from the same sequence. In cross-attention "
        "they come from different ones.");
  return nullptr;
}

void update(HeadMap& made, HeadChoice choice, const Shown& shown) {
  const Snapshot& snapshot = *shown.snapshot;
  if (refusal(choice.mix, choice, snapshot)) choice.mix = HeadMix::one;
  if (made.version == shown.version && made.choice == choice && !made.pending) return;
  if (made.version != shown.version || made.choice != choice) {
    if (made.choice != choice) made.map = {};
    made.choice = std::move(choice);
    made.version = shown.version;
    made.rolled = {};
    made.rolled_layers = 0;
  }
  if (made.choice.mix != HeadMix::rollout) {
    made.pending = false;
    return finish(made, mixed_map(made.choice, snapshot), snapshot);
  }
  // Layers that fit into one frame are computed immediately, so that no outdated map is shown next to the new
  // selection.
  constexpr double most_products = 3e7;
  const double side = static_cast<double>(row_tokens(snapshot, made.choice.heads.front().part).size());
  double products = 0;
  made.pending = true;
  do {
    made.pending = !roll_on(made, snapshot);
    products += side * side * side;
  } while (made.pending && products < most_products);
  if (!made.pending || made.map.rows == 0) finish(made, made.rolled, snapshot);
}

int place_of(int token, const std::vector<WordSpan>& spans) {
  const auto found =
      std::ranges::find_if(spans, [&](const WordSpan& span) { return token >= span.begin && token < span.end; });
  return found == spans.end() ? -1 : static_cast<int>(found - spans.begin());
}

}  // namespace attnscope
