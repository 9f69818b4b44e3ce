#include "session/remote/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/config.h"
#include "session/remote/wire.h"
#include "session/remote/wire_fields.h"

namespace attnscope {
namespace {

void expect(bool fits, const char* what) {
  if (!fits) throw WireError(fmt::format("the parts of a message do not fit each other: {}", what));
}

bool is_index(std::int64_t index, std::size_t count) {
  return index >= 0 && static_cast<std::uint64_t>(index) < count;
}

bool are_indices(const std::vector<int>& indices, std::size_t count) {
  return std::ranges::all_of(indices, [&](int index) { return is_index(index, count); });
}

bool has_size(const Matrix& matrix, std::size_t rows, std::size_t cols) {
  return static_cast<std::size_t>(matrix.rows) == rows && static_cast<std::size_t>(matrix.cols) == cols;
}

bool is_empty_or(const Matrix& matrix, std::size_t rows, std::size_t cols) {
  return matrix.empty() || has_size(matrix, rows, cols);
}

bool covers(const Matrix& matrix, int rows, int cols) {
  return matrix.rows >= rows && matrix.cols >= cols;
}

// ---- one rule per message; messages without a rule have no parts that must fit each other

bool has_maps_of(const AttentionMaps& maps, PartSize size, std::size_t queries, std::size_t keys) {
  return maps.size() <= static_cast<std::size_t>(std::max(size.layers, 1)) &&
         std::ranges::all_of(maps, [&](const std::vector<Matrix>& heads) {
           return heads.size() == maps.front().size() && !heads.empty() &&
                  std::ranges::all_of(heads, [&](const Matrix& map) { return has_size(map, queries, keys); });
         });
}

bool fits(const HeadInside& head, std::size_t queries, std::size_t keys) {
  const auto d = static_cast<std::size_t>(head.q.cols), width = static_cast<std::size_t>(head.heads_output.cols);
  const auto output = static_cast<std::size_t>(head.output.cols);
  return has_size(head.q, queries, d) && has_size(head.k, keys, d) &&
         has_size(head.v, keys, static_cast<std::size_t>(head.v.cols)) && is_empty_or(head.bias, queries, keys) &&
         (head.relative_v.empty() || (head.relative_v.cols == head.v.cols && head.relative_v.rows % 2 == 1)) &&
         has_size(head.heads_output, queries, width) && has_size(head.w_o, output, width) &&
         has_size(head.b_o, 1, output) && has_size(head.output, queries, output);
}

bool fits(const SublayerEffect& effect, std::size_t tokens) {
  return effect.layer >= 0 && effect.norm_in.size() == tokens && effect.norm_added.size() == tokens &&
         effect.norm_out.size() == tokens && effect.cosine.size() == tokens &&
         is_empty_or(effect.active, tokens, static_cast<std::size_t>(effect.active.cols));
}

void check(const Snapshot& seen) {
  expect(seen.target_in.size() == seen.target_out.size(), "the decoder's inputs and outputs");
  expect(seen.prefix <= seen.forced && seen.forced <= seen.target_out.size(), "the given part of the output");
  expect(seen.decoding.size() <= seen.target_out.size(), "the decoding and the output");
  for (const std::size_t count : {seen.replaced.size(), seen.masked_log_probs.size()})
    expect(count == 0 || count == seen.source.size(), "the predictions and the sentence");
  expect(!seen.model.is_masked_lm() || seen.decoding.empty() || seen.decoding.size() == seen.source.size(),
         "the predictions and the sentence");
  for (const AttentionPart part : attention_parts)
    expect(has_maps_of(maps_of(seen, part), part_size(seen.model, part), row_tokens(seen, part).size(),
                       col_tokens(seen, part).size()),
           "an attention map and the tokens");
  for (const UnseenWord& word : seen.unseen)
    expect(word.begin >= 0 && word.begin <= word.end && is_index(word.end - 1, seen.typed().size() + 1),
           "a word and the tokens");
  if (seen.inside) {
    const HeadPlace& place = seen.inside->place;
    expect(map_at(seen, place) != nullptr && place.layer >= 0 && place.head >= 0 &&
               fits(*seen.inside, row_tokens(seen, place.part).size(), col_tokens(seen, place.part).size()),
           "the inside of a head and the tokens");
  }
  for (const SublayerEffect& effect : seen.sublayers)
    expect(fits(effect, (effect.decoder ? seen.target_in : seen.source).size()), "a sublayer and the tokens");
  if (seen.features)
    expect(is_empty_or(seen.features->values, (seen.features->of.place.decoder ? seen.target_in : seen.source).size(),
                       static_cast<std::size_t>(seen.features->values.cols)),
           "the features and the tokens");
  if (seen.positions)
    for (const PositionTable& table : *seen.positions) expect(!table.values.empty(), "a table of positions");
}

void check(const DecodingStep& step) {
  expect(is_index(step.chosen, step.candidates.size()), "a step's token and its candidates");
}

// The sizes of the operands that the arithmetic of one cell needs, for every operation.
bool has_operands(const FlowMatrix& matrix, const std::vector<FlowMatrix>& all) {
  static const Matrix none;
  const auto operand = [&](std::size_t i) -> const Matrix& {
    return i < matrix.operands.size() ? all[static_cast<std::size_t>(matrix.operands[i])].values : none;
  };
  const Matrix &one = operand(0), &two = operand(1), &three = operand(2);
  const int rows = matrix.values.rows, cols = matrix.values.cols;
  const auto same = [&](const Matrix& other) { return covers(other, rows, cols); };
  switch (matrix.op) {
    case FlowOp::given:
    case FlowOp::learned:
    case FlowOp::log_sum:
      return true;
    case FlowOp::picked:
      return covers(one, rows, 1);
    case FlowOp::sum:
    case FlowOp::times:
      return same(one) && same(two);
    case FlowOp::product:
    case FlowOp::convolved:
      return one.rows >= rows && covers(two, one.cols, cols) && (matrix.operands.size() < 3 || covers(three, 1, cols));
    case FlowOp::rotated:
      return same(one) && same(two) && cols % 2 == 0;
    case FlowOp::scores:
      return matrix.operands.empty() ||
             (one.rows >= rows && covers(two, cols, one.cols) && (matrix.operands.size() < 3 || same(three)));
    case FlowOp::softmax:
      return same(one) && (!matrix.causal || rows <= one.cols);
    case FlowOp::moments:
    case FlowOp::mean_square:
      return one.rows >= rows;
    case FlowOp::rms_normalized:
      return same(one) && covers(two, rows, 1) && covers(three, 1, cols);
    case FlowOp::normalized:
      return same(one) && covers(two, rows, 2) && covers(three, 2, cols);
    case FlowOp::spread:
      return one.cols >= cols && (rows <= 2 || two.cols >= cols);
    case FlowOp::beside:
      return one.cols + two.cols >= cols && !matrix.operands.empty() &&
             (one.cols >= cols || matrix.operands.size() > 1);
    case FlowOp::share:
      return same(one) && covers(two, rows, 1);
    case FlowOp::at_distance:
    case FlowOp::by_distance:
      return one.rows >= rows && one.cols > 0 && cols > 0;
    default:
      return same(one);
  }
}

void check(const DataFlow& flow) {
  expect(flow.problem.empty() == !flow.matrices.empty(), "a data flow and its matrices");
  for (std::size_t i = 0; i < flow.matrices.size(); ++i) {
    const FlowMatrix& matrix = flow.matrices[i];
    const auto labels = [](const std::vector<std::string>& names, int count) {
      return names.empty() || names.size() == static_cast<std::size_t>(count);
    };
    expect(!matrix.values.empty() && are_indices(matrix.operands, i) && has_operands(matrix, flow.matrices) &&
               labels(matrix.row_labels, matrix.values.rows) && labels(matrix.col_labels, matrix.values.cols),
           "a matrix and its operands");
  }
}

void check(const RecurrentStates& states) {
  const std::size_t tokens = states.tokens.size(), units = static_cast<std::size_t>(states.h.cols);
  expect(has_size(states.h, tokens, units) && is_empty_or(states.c, tokens, units) &&
             has_size(states.first_h, 1, units) && is_empty_or(states.first_c, 1, units) &&
             (states.c.empty() || !states.first_c.empty()),
         "states and tokens");
  for (const CellGate& gate : states.gates)
    expect(has_size(gate.values, tokens, units) && has_size(gate.from_input, tokens, units) &&
               has_size(gate.from_state, tokens, units),
           "gates and tokens");
  expect(states.attention.size() <= 1 && states.read_out.size() <= states.source.size() &&
             is_empty_or(states.handed, states.handed_names.size(), static_cast<std::size_t>(states.handed.cols)),
         "what is handed to the decoder");
  const std::size_t source = states.source.size(), written = states.written.size();
  for (const StateAttention& attention : states.attention) {
    const auto width = static_cast<std::size_t>(attention.asked.cols);
    expect(has_size(attention.weights, written, source) && has_size(attention.energies, written, source) &&
               has_size(attention.states, written, static_cast<std::size_t>(attention.states.cols)) &&
               has_size(attention.memory, source, static_cast<std::size_t>(attention.contexts.cols)) &&
               has_size(attention.contexts, written, static_cast<std::size_t>(attention.contexts.cols)) &&
               has_size(attention.asked, written, width) && has_size(attention.keys, source, width) &&
               (attention.v.empty() || attention.v.size() == width),
           "an attention over states and the tokens");
  }
}

void check(const BatchSide& side) {
  const auto cells = static_cast<std::int64_t>(side.rows) * side.cols;
  expect(side.rows >= 0 && side.cols >= 0 && std::ssize(side.ids) == cells && std::ssize(side.tokens) == cells,
         "a batch and its tokens");
}

void check(const BatchInspection& batch) {
  if (!batch.problem.empty()) return;
  expect(batch.target_in.rows == batch.target_out.rows && batch.target_in.cols == batch.target_out.cols &&
             batch.target_out.rows > 0 && batch.target_out.cols > 0 &&
             (batch.source.rows == 0 || batch.source.rows == batch.target_in.rows),
         "the two sides of a batch");
  expect(batch.dropout_places.empty() || is_index(batch.asked.dropout_place, batch.dropout_places.size()),
         "a dropout mask and its place");
}

void check(const HypothesisInspection& seen) {
  for (const std::vector<Matrix>& heads : seen.maps)
    for (const Matrix& map : heads)
      expect(heads.size() == seen.maps.front().size() && has_size(map, seen.queries.size(), seen.keys.size()),
             "an output and its attention");
}

void check(const Reading& reading) {
  expect(reading.tokens.size() == reading.log_probs.size(), "an output and its probabilities");
}

void check(const Decodings& decodings) {
  for (std::size_t i = 0; i < decodings.tree.size(); ++i) {
    const BeamNode& node = decodings.tree[i];
    const int before = node.parent < 0            ? -1
                       : is_index(node.parent, i) ? decodings.tree[static_cast<std::size_t>(node.parent)].step
                                                  : -2;
    expect(node.parent >= -1 && node.step == before + 1, "the search tree");
  }
  for (const std::vector<float>& step : decodings.ranked)
    expect(!step.empty() && step.size() == decodings.ranks.size(), "probabilities by rank");
  for (const LensRow& row : decodings.lens)
    expect(row.layer >= 0 && row.cells.size() == decodings.lens.front().cells.size(), "the logit lens");
}

void check(const Vocabulary& vocabulary) {
  expect(vocabulary.facts.empty() || vocabulary.facts.size() == vocabulary.tokens.size(), "tokens and their counts");
}

void check(const EmbeddingResult& result) {
  expect(result.vocabulary != nullptr && (result.map != nullptr || !result.problem.empty()), "embeddings");
  const std::size_t tokens = result.vocabulary->tokens.size();
  expect(!result.map || has_size(result.map->points, tokens, 2), "a map and the vocabulary");
  const auto are_tokens = [&](const std::vector<Neighbour>& list) {
    return std::ranges::all_of(list, [&](const Neighbour& one) { return is_index(one.id, tokens); });
  };
  expect(result.chosen >= -1 && result.chosen < std::ssize(result.vocabulary->tokens) &&
             are_tokens(result.neighbours.nearest) && are_tokens(result.earlier.nearest) &&
             are_tokens(result.answers) && are_indices(result.apart_ids, tokens) &&
             has_size(result.apart, result.apart_ids.size(), result.apart_ids.size()),
         "neighbors and the vocabulary");
  for (const int id : result.analogy) expect(id >= -1 && id < std::ssize(result.vocabulary->tokens), "an analogy");
}

void check(const SenseResult& result) {
  for (const Occurrence& occurrence : result.occurrences)
    expect(is_index(occurrence.group, result.groups.size()), "a sentence and its sense");
  for (const SenseLayer& layer : result.layers)
    expect(has_size(layer.points, result.occurrences.size(), 2), "vectors and sentences");
  expect(!result.problem.empty() || !result.layers.empty(), "senses");
}

void check(const TsneMap& map) {
  expect(has_size(map.points, map.ids.size(), 2) && std::ranges::is_sorted(map.ids) &&
             (map.ids.empty() || map.ids.front() >= 0),
         "a map and its tokens");
}

void check(const TensorHistory& history) {
  expect(!history.points.empty(), "a tensor and its steps");
}

void check(const ContrastFacts& facts) {
  const std::size_t tokens = facts.clean.tokens.size();
  expect(facts.corrupted.tokens.size() == tokens && are_indices(facts.differ, facts.words.size()), "two sentences");
  for (const Slot& word : facts.words)
    expect(!word.positions.empty() && are_indices(word.positions, tokens), "a word and the tokens");
}

void check(const Sweep& sweep) {
  for (const auto& [whole, rows] :
       {std::pair(&sweep.encoder_heads, &sweep.encoder_rows), std::pair(&sweep.decoder_heads, &sweep.decoder_rows),
        std::pair(&sweep.cross_heads, &sweep.cross_rows)})
    expect((rows->empty() && whole->empty()) || static_cast<int>(rows->size()) == whole->rows, "a sweep's layers");
}

void check(const Circuit& circuit) {
  const std::size_t slots = circuit.slots.size();
  for (const Place& place : circuit.places)
    expect(place.layer >= 0 && are_indices(place.slots, slots) && (place.each.empty() || place.each.size() == slots),
           "a position and the words");
  for (const CircuitEdge& edge : circuit.edges) {
    const std::size_t own = edge.part == circuit.reader ? slots : 2;
    const auto are_rows = [&](const std::vector<HeadRow>& rows) {
      return std::ranges::all_of(rows, [&](const HeadRow& row) { return row.head >= 0 && is_index(row.slot, own); });
    };
    expect(edge.layer >= 0 && !edge.members.empty() && are_rows(edge.members) && are_rows(edge.clean_members) &&
               are_rows(edge.corrupted_members) && are_indices(edge.read, slots),
           "an edge and the words");
    for (const HeadRow& row : edge.members) expect(is_index(row.head, edge.alone.size()), "an edge and its heads");
    for (const Way& way : edge.ways) expect(are_indices(way.words, slots), "an edge and the words");
  }
  expect(are_indices(circuit.exchanged, slots) && (circuit.exchanged.empty() || circuit.exchanged.size() == 2),
         "swapped words");
  for (const Decoy& decoy : circuit.decoys)
    expect(is_index(decoy.from, slots) && is_index(decoy.to, slots) && decoy.place.layer >= 0 && decoy.place.head >= 0,
           "a decoy and the words");
}

void check(const CircuitResult& result) {
  if (!result.problem.empty()) return;
  const int tokens = static_cast<int>(result.facts.clean.tokens.size());
  for (const ContrastSide of : {ContrastSide::clean, ContrastSide::corrupted})
    for (const ChangeKind kind : {ChangeKind::contrast, ChangeKind::zero, ChangeKind::mean})
      expect(std::ranges::any_of(result.sweeps, [&](const Sweep& it) { return it.of == of && it.kind == kind; }),
             "a circuit and its sweeps");
  for (const Sweep& sweep : result.sweeps) {
    const auto has = [&](const EffectGrid& grid, int columns) { return grid.empty() || grid.cols >= columns; };
    expect(has(sweep.encoder_states, tokens) && has(sweep.encoder_feed_forward, tokens), "a sweep and the tokens");
  }
}

void check(const ScoreSplit& split) {
  expect(!split.problem.empty() || has_size(split.terms, split.parts.size(), split.key_parts.size()),
         "a score and its parts");
}

void check(const Formation& formation) {
  const std::size_t parts = formation.of.edges.size() + (formation.of.places.empty() ? 0 : 1);
  for (const FormationPoint& point : formation.points) expect(point.moved.size() == parts, "a step and the parts");
}

void check(const HeadsResult& result) {
  expect(!result.problem.empty() || (result.pruning.size() == result.heads.size() + 1 && !result.heads.empty()),
         "heads and their importance");
  for (const HeadImportance& head : result.heads)
    expect(head.place.layer >= 0 && is_index(head.place.head, result.heads.size()), "a head and its number");
  expect(result.heads.empty() || result.heads.front().place.head == 0, "the first head");
}

void check(const HeadsHistory& history) {
  for (const HeadsPoint& point : history.points)
    expect(point.inspection.heads.size() == history.points.back().inspection.heads.size(), "a step and the heads");
}

void check(const InductionResult& result) {
  if (!result.problem.empty()) return;
  expect(!result.points.empty(), "induction scores and their steps");
  const std::size_t heads = result.points.back().heads.size();
  for (const InductionPoint& point : result.points) expect(point.heads.size() == heads, "a step and the heads");
  for (const InductionTrial* trial : {&result.without_induction, &result.without_others})
    expect(trial->heads_off.size() <= heads, "ablated heads and the heads");
  for (const Matrix* matrix : {&result.composition.q, &result.composition.k, &result.composition.v})
    expect(matrix->empty() || has_size(*matrix, heads, heads), "a composition and the heads");
  if (!result.circuits) return;
  const std::size_t tokens = result.circuits->tokens.size();
  expect(has_size(result.circuits->qk, tokens, tokens) && has_size(result.circuits->ov, tokens, tokens),
         "a head's circuits and the tokens");
}

void check(const FourierResult& result) {
  if (!result.problem.empty()) return;
  const std::size_t numbers = result.numbers.size();
  expect(!result.points.empty() && numbers > 1, "a spectrum and its steps");
  for (const FourierPoint& point : result.points)
    expect(point.power.size() == numbers / 2, "a step and the frequencies");
  expect(result.circles.size() == result.key.size() &&
             (result.neuron.empty() || has_size(result.neuron, numbers, numbers)),
         "the key frequencies and the numbers");
  for (const Matrix& circle : result.circles) expect(has_size(circle, numbers, 2), "a circle and the numbers");
  for (const int key : result.key) expect(key > 0 && std::cmp_less_equal(key, numbers / 2), "a key frequency");
}

void check(const NeuronContext& context) {
  expect(context.tokens.size() == context.activations.size() && context.at >= 0 &&
             std::cmp_less(context.at, context.tokens.size()),
         "a neuron's activations and the tokens");
}

void check(const NeuronsResult& result) {
  if (!result.problem.empty()) return;
  expect(result.question.neuron >= 0 && std::cmp_less(result.question.neuron, result.neurons.size()),
         "a neuron and its layer");
  for (const NeuronFacts& neuron : result.neurons)
    expect(std::cmp_less(neuron.duplicate, result.neurons.size()), "a duplicate neuron");
  for (const auto* contexts : {&result.card.strongest, &result.card.deciles, &result.card.hurt})
    for (const NeuronContext& context : *contexts) check(context);
}

void check(const ProbingResult& result) {
  if (!result.problem.empty()) return;
  const std::size_t layers = result.layers.size();
  expect(!result.points.empty() && result.counts.size() == result.classes.size() &&
             result.directions.size() == layers,
         "probes, their classes and layers");
  for (const ProbingPoint& point : result.points)
    expect(point.accuracy.size() == layers && point.control.size() == layers, "probes and their layers");
  for (const Matrix& direction : result.directions)
    expect(std::cmp_equal(direction.rows, result.classes.size()), "a probe's directions and its classes");
}

void check(const TunedLensResult& result) {
  expect(result.logit_kl.size() == result.tuned_kl.size(), "the tuned lens and the logit lens");
}

void check(const NearestResult& result) {
  for (const NearestContext& found : result.contexts) check(found.context);
}

void check(const AttributionResult& result) {
  if (!result.problem.empty()) return;
  const std::size_t tokens = result.tokens.size();
  const auto fits_or_empty = [&](const std::vector<double>& values) {
    return values.empty() || values.size() == tokens;
  };
  expect(is_index(result.output, result.written.size()) && tokens > 1 && result.deletion.size() == tokens &&
             result.integrated.size() == tokens && result.integrated_errors.size() == tokens &&
             result.gradient_input.size() == tokens && fits_or_empty(result.rollout),
         "an attribution and the tokens");
  for (const ReadingHead& head : result.heads)
    expect(head.weights.size() == tokens && fits_or_empty(head.norms), "a head and the tokens");
}

void check(const StackGradients& gradients) {
  expect(is_empty_or(gradients.norms, static_cast<std::size_t>(gradients.norms.rows), gradients.tokens.size()) &&
             gradients.norms.empty() == gradients.tokens.empty(),
         "gradients and tokens");
}

void check(const GradientResult& result) {
  expect(!result.problem.empty() || is_index(result.output, result.written.size()), "gradients and the output");
}

void check(const Confusion& confusion) {
  expect(confusion.counts.size() == confusion.labels.size() * confusion.labels.size(), "labels and their counts");
}

void check(const OrderResult& result) {
  expect(!result.problem.empty() || !result.orders.empty(), "word orders");
}

void check(const WordOrder& order) {
  expect(order.without_positions.size() <= 1, "a word order");
}

void check(const PinnedSentence& pinned) {
  expect(std::ranges::none_of(pinned.frames, [](const Frame& frame) { return frame == nullptr; }) &&
             std::ranges::is_sorted(pinned.frames, {}, [](const Frame& frame) { return frame->step; }),
         "a pinned sentence and its frames");
}

void check(const FrameRecorded& recorded) {
  expect(recorded.frame != nullptr, "a frame");
}

void check(const ProbeReply& reply) {
  expect(reply.snapshot != nullptr && reply.snapshot->positions != nullptr, "a reply");
}

// ---- every message within a message

template <typename T>
void check_all(const T& value);

template <typename T>
void check_items(const std::vector<T>& values) {
  if constexpr (!std::is_arithmetic_v<T>)
    for (const T& value : values) check_all(value);
}

template <typename T>
constexpr bool is_list = false;
template <typename T>
constexpr bool is_list<std::vector<T>> = true;
template <typename T>
constexpr bool is_array = false;
template <typename T, std::size_t n>
constexpr bool is_array<std::array<T, n>> = true;
template <typename T>
constexpr bool is_pointer = false;
template <typename T>
constexpr bool is_pointer<std::optional<T>> = true;
template <typename T>
constexpr bool is_pointer<std::shared_ptr<const T>> = true;
template <typename T>
constexpr bool is_variant = false;
template <typename... Kinds>
constexpr bool is_variant<std::variant<Kinds...>> = true;
// Read as a whole, each with rules of its own.
template <typename T>
constexpr bool is_leaf = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string> ||
                         std::is_same_v<T, Config> || std::is_same_v<T, ModelConfig> || std::is_same_v<T, Matrix> ||
                         std::is_same_v<T, EffectGrid> || std::is_same_v<T, MetricPoint>;

template <typename T>
void check_all(const T& value) {
  if constexpr (is_leaf<T>) {
    return;
  } else if constexpr (is_list<T>) {
    check_items(value);
  } else if constexpr (is_array<T>) {
    for (const auto& item : value) check_all(item);
  } else if constexpr (is_pointer<T>) {
    if (value) check_all(*value);
  } else if constexpr (is_variant<T>) {
    std::visit([](const auto& held) { check_all(held); }, value);
  } else {
    if constexpr (requires { check(value); }) check(value);
    std::apply([](const auto&... fields) { (check_all(fields), ...); }, fields_of(value));
  }
}

}  // namespace

void check_consistency(const ToServer& packet) {
  check_all(packet);
}

void check_consistency(const ToClient& packet) {
  check_all(packet);
}

}  // namespace attnscope
