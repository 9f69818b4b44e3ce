#include "workspaces/circuit/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plain/snapshot.h"

namespace attnscope {
namespace {

Matrix shares(const EffectGrid& grid) {
  Matrix matrix(grid.rows, grid.cols);
  for (std::size_t i = 0; i < grid.effects.size(); ++i) matrix.values[i] = grid.effects[i].share;
  return matrix;
}

bool is_of(const CircuitView& view, const TwinQuestion& question, std::uint64_t run) {
  return view.look && view.run == run && view.look->question == question;
}

}  // namespace

void take_circuit(CircuitView& view, CircuitLook look, std::uint64_t run, std::int64_t step) {
  if (!view.typing) view.twin = look.question.corrupted;
  view.asked = look.question;
  view.run = run;
  view.step = step;
  view.look = std::move(look);
  view.counted.reset();
  view.counting_asked = false;
  view.trial.reset();
  view.formation.reset();
  view.formation_asked = false;
  view.score.reset();
  view.score_asked.reset();
  view.score_wanted.reset();
  view.put.clear();
  make_matrices(view);
}

void take_circuit(CircuitView& view, CorpusCircuit counted, std::uint64_t run, std::int64_t) {
  if (is_of(view, counted.question, run)) view.counted = std::move(counted);
}

void take_circuit(CircuitView& view, Trial trial, std::uint64_t run, std::int64_t) {
  if (is_of(view, trial.question, run)) view.trial = std::move(trial);
}

void take_circuit(CircuitView& view, Formation formation, std::uint64_t run, std::int64_t) {
  if (!is_of(view, formation.question, run)) return;
  view.formed.assign(formation_names(formation).size(), {});
  for (const FormationPoint& point : formation.points) {
    for (std::size_t i = 0; i < view.formed.size(); ++i) {
      view.formed[i].x.push_back(static_cast<double>(point.step));
      view.formed[i].y.push_back(i == 0 ? point.difference : point.moved[i - 1]);
    }
  }
  view.formation = std::move(formation);
}

void take_circuit(CircuitView& view, ScoreSplit split, std::uint64_t run, std::int64_t) {
  if (!is_of(view, split.question.twins, run)) return;
  ++view.version;
  view.score = std::move(split);
}

void take_circuit(CircuitView& view, HeadsLook heads, std::uint64_t run, std::int64_t step) {
  view.run = run;
  view.heads_step = step;
  view.importance_rows.clear();
  view.pruning = {};
  int width = 0;
  for (const HeadImportance& head : heads.heads) {
    width = std::max(width, head.place.head + 1);
    if (head.place.head == 0)
      view.importance_rows.push_back(fmt::format("{} L{}", part_name(head.place.part), head.place.layer + 1));
  }
  view.importance = Matrix(static_cast<int>(view.importance_rows.size()), width);
  for (std::size_t i = 0; i < heads.heads.size(); ++i)
    view.importance.values[i] = static_cast<float>(1000 * heads.heads[i].exact);
  for (auto point = heads.pruning.rbegin(); point != heads.pruning.rend(); ++point) {
    view.pruning.x.push_back(point->heads_left);
    view.pruning.y.push_back(point->nll);
  }
  ++view.version;
  view.heads = std::move(heads);
}

bool has_circuit(const CircuitView& view) {
  return view.look && view.look->problem.empty();
}

const Circuit& shown_circuit(const CircuitView& view) {
  const bool counted = view.counted && view.counted->problem.empty() && view.counted->found.problem.empty();
  return counted ? view.counted->found : view.look->found;
}

float share_of(const Tally& tally, Twin of) {
  return static_cast<float>(of == Twin::clean ? tally.clean_share : tally.corrupted_share);
}

const Sweep& shown_sweep(const CircuitView& view) {
  return view.look->sweep(view.of, view.kind);
}

std::optional<ScoreQuestion> first_score(const CircuitView& view) {
  const Circuit& circuit = shown_circuit(view);
  const auto words = static_cast<int>(view.look->facts.words.size());
  for (auto hop = circuit.hops.rbegin(); hop != circuit.hops.rend(); ++hop) {
    if (hop->part != circuit.reader || hop->members.empty() || hop->read.empty()) continue;
    ScoreQuestion question{.twins = view.look->question, .sentence = Twin::clean, .place = {hop->part, hop->layer}};
    question.place.head = hop->members.front().head;
    question.from = std::min(hop->members.front().slot, words - 1);
    question.to = hop->read.front();
    if (hop->read.size() > 1) question.other = hop->read.back();
    return question;
  }
  return std::nullopt;
}

void make_matrices(CircuitView& view) {
  ++view.version;
  view.places = view.written = view.rows = {};
  view.whole.clear();
  if (!has_circuit(view)) return;
  const CircuitLook& look = *view.look;
  const Sweep& swept = look.sweep(view.of, ChangeKind::twin);
  const EffectGrid& states = look.facts.language_model ? swept.decoder_states : swept.encoder_states;
  // A word of several pieces as a whole, where the search has counted it.
  if (!look.found.places.empty()) {
    const int words = static_cast<int>(look.found.slots.size());
    view.places = Matrix(static_cast<int>(look.found.places.size()), words);
    for (int layer = 0; layer < view.places.rows; ++layer)
      for (int word = 0; word < words; ++word)
        view.places.at(layer, word) =
            share_of(look.found.places[static_cast<std::size_t>(layer)].each[static_cast<std::size_t>(word)], view.of);
  } else {
    view.places = shares(states);
  }
  if (!look.facts.language_model) view.written = shares(swept.decoder_states);
  if (look.facts.language_model) view.part = AttentionPart::decoder;
  const std::vector<EffectGrid>& layers = shown_sweep(view).rows(view.part);
  const EffectGrid& whole = shown_sweep(view).heads(view.part);
  if (layers.empty()) return;
  const int heads = layers.front().rows;
  view.rows = Matrix(static_cast<int>(layers.size()) * heads, layers.front().cols);
  for (int row = 0; row < view.rows.rows; ++row) {
    for (int col = 0; col < view.rows.cols; ++col)
      view.rows.at(row, col) = layers[static_cast<std::size_t>(row / heads)].at(row % heads, col).share;
    view.whole.push_back(whole.at(row / heads, row % heads).share);
  }
}

// ---- changes to be tried

namespace {

std::vector<int> positions_of(const CircuitView& view, const std::vector<int>& slots) {
  const TwinFacts& facts = view.look->facts;
  std::vector<int> positions;
  for (const int slot : slots) {
    if (slot >= static_cast<int>(facts.words.size())) {  // a language model's step
      positions.push_back(static_cast<int>(facts.clean.pieces.size() + facts.prefix.size()) - 1);
      continue;
    }
    const std::vector<int>& word = facts.words[static_cast<std::size_t>(slot)].positions;
    positions.insert(positions.end(), word.begin(), word.end());
  }
  return positions;
}

}  // namespace

ChangedRun states_run(const CircuitView& view, int layer, const std::vector<int>& slots) {
  const ValueSite site{ValueKind::state, view.look->found.reader, layer};
  return {view.of, {Change{ChangeKind::twin, site, {}, positions_of(view, slots), {}, {}}}};
}

ChangedRun heads_run(const CircuitView& view, AttentionPart part, int layer, const std::vector<int>& heads,
                     const std::vector<int>& positions) {
  return {view.of, {Change{view.kind, {ValueKind::heads, part, layer}, heads, positions, {}, {}}}};
}

std::vector<int> hop_positions(const CircuitView& view, const Hop& hop, int slot) {
  if (hop.part == view.look->found.reader) return positions_of(view, {slot});
  const int step = static_cast<int>(view.look->facts.prefix.size());
  if (slot == 0) return {step};
  std::vector<int> earlier(static_cast<std::size_t>(step));
  std::iota(earlier.begin(), earlier.end(), 0);
  return earlier;
}

ChangedRun hop_run(const CircuitView& view, const Hop& hop) {
  ChangedRun run{view.of, {}};
  for (const HeadRow& member : hop.members) {
    Change change{
        hop.kind, {ValueKind::heads, hop.part, hop.layer}, {member.head}, hop_positions(view, hop, member.slot), {},
        {}};
    if (hop.kind == ChangeKind::exchange) {
      change.one = positions_of(view, {hop.read.front()});
      change.other = positions_of(view, {hop.read.back()});
    }
    run.changes.push_back(std::move(change));
  }
  return run;
}

// ---- words

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string slot_names(const Circuit& circuit, const std::vector<int>& slots) {
  std::vector<std::string> names;
  for (const int slot : slots) names.push_back("\u201C" + circuit.slots[static_cast<std::size_t>(slot)] + "\u201D");
  return listed(names);
}

std::string hop_text(const Circuit& circuit, const Hop& hop) {
  std::vector<std::string> heads;
  for (const int head : hop.heads()) heads.push_back(std::to_string(head + 1));
  const bool reads = hop.part == circuit.reader;
  const std::string stack = hop.part == AttentionPart::encoder ? "encoder" : "decoder";
  return fmt::format("{} layer {}{}, {} {}{}", stack, hop.layer + 1,
                     hop.part == AttentionPart::cross ? " cross-attention" : "", heads.size() == 1 ? "head" : "heads",
                     listed(heads), reads ? " at " + slot_names(circuit, hop.slots()) : "");
}

std::vector<std::string> formation_names(const Formation& formation) {
  std::vector<std::string> names = {"the whole difference"};
  const Circuit& circuit = formation.of;
  if (!circuit.places.empty()) names.push_back("vectors at " + slot_names(circuit, circuit.places.back().slots));
  for (const Hop& hop : circuit.hops)
    names.push_back(fmt::format(
        "{} layer {}", hop.part == AttentionPart::cross ? "cross-attention" : part_name(hop.part), hop.layer + 1));
  return names;
}

std::optional<std::int64_t> formed_by(const Series& line) {
  if (line.y.empty() || line.y.back() < least_margin) return std::nullopt;
  std::size_t first = line.y.size();
  while (first > 0 && line.y[first - 1] >= line.y.back() / 2) --first;
  return static_cast<std::int64_t>(line.x[first]);
}

std::string tally_text(const Tally& tally) {
  return fmt::format("{} of {} turn, {:.2f} of the effect", tally.turned(), 2 * tally.cases, tally.share());
}

}  // namespace attnscope
