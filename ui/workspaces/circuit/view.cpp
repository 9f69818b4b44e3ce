#include "workspaces/circuit/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/numbers.h"
#include "base/translation.h"
#include "messages/snapshot.h"

namespace attnscope {
namespace {

Matrix shares(const EffectGrid& grid) {
  Matrix matrix(grid.rows, grid.cols);
  for (std::size_t i = 0; i < grid.effects.size(); ++i) matrix.values[i] = grid.effects[i].share;
  return matrix;
}

// The words that the circuit swaps, else the first two words that both sentences share.
std::vector<int> words_to_exchange(const CircuitResult& inspection) {
  if (inspection.found.exchanged.size() == 2) return inspection.found.exchanged;
  std::vector<int> words;
  for (int slot = 0; slot < static_cast<int>(inspection.facts.words.size()) && words.size() < 2; ++slot)
    if (std::ranges::find(inspection.facts.differ, slot) == inspection.facts.differ.end()) words.push_back(slot);
  return words.size() == 2 ? words : std::vector<int>();
}

bool is_of(const CircuitView& view, const ContrastQuestion& question, std::uint64_t run) {
  return view.inspection && view.run == run && view.inspection->question == question;
}

}  // namespace

std::optional<std::vector<std::string>> words_between(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c != ',' && c != ' ') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  if (!words.empty() && words.size() != 2) return std::nullopt;
  return words;
}

void take_circuit(CircuitView& view, CircuitResult inspection, std::uint64_t run, std::int64_t step) {
  if (!view.typing) {
    view.contrast = inspection.question.corrupted;
    view.between = fmt::format("{}", fmt::join(inspection.question.between, ", "));
  }
  view.asked = inspection.question;
  view.run = run;
  view.step = step;
  view.inspection = std::move(inspection);
  view.counted.reset();
  view.counting_asked = false;
  view.trial.reset();
  view.formation.reset();
  view.formation_asked = false;
  view.score.reset();
  view.score_asked.reset();
  view.score_wanted.reset();
  view.put.clear();
  view.sweep_asked.reset();
  view.swept.reset();
  view.by_way = -1;
  view.exchanged = words_to_exchange(*view.inspection);
  make_matrices(view);
}

void take_circuit(CircuitView& view, CorpusCircuit counted, std::uint64_t run, std::int64_t) {
  if (!is_of(view, counted.question, run)) return;
  view.counted = std::move(counted);
  view.by_way = -1;  // edge indices may have changed
}

void take_circuit(CircuitView& view, SweepResult swept, std::uint64_t run, std::int64_t) {
  if (!is_of(view, swept.question.contrasts, run)) return;
  view.swept = std::move(swept);
  make_matrices(view);
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
  if (!is_of(view, split.question.contrasts, run)) return;
  ++view.version;
  view.score = std::move(split);
}

namespace {

constexpr std::size_t most_prunings = 6;  // limited by the number of distinct colors

Series pruning_of(const HeadsResult& inspection) {
  Series series;
  for (auto point = inspection.pruning.rbegin(); point != inspection.pruning.rend(); ++point) {
    series.x.push_back(point->heads_left);
    series.y.push_back(point->nll);
  }
  return series;
}

}  // namespace

void take_circuit(CircuitView& view, HeadsResult heads, std::uint64_t run, std::int64_t step) {
  view.run = run;
  view.heads_step = step;
  view.importance_rows.clear();
  int width = 0;
  for (const HeadImportance& head : heads.heads) {
    width = std::max(width, head.place.head + 1);
    if (head.place.head == 0)
      view.importance_rows.push_back(fmt::format("{} L{}", part_name(head.place.part), head.place.layer + 1));
  }
  // Stacks may differ in their number of heads: such cells stay blank.
  view.importance = Matrix(static_cast<int>(view.importance_rows.size()), width);
  std::ranges::fill(view.importance.values, std::numeric_limits<float>::quiet_NaN());
  int row = -1;
  for (const HeadImportance& head : heads.heads) {
    row += head.place.head == 0;
    view.importance.at(row, head.place.head) = static_cast<float>(1000 * head.exact);
  }
  view.pruning = pruning_of(heads);
  ++view.version;
  view.heads = std::move(heads);
}

void take_circuit(CircuitView& view, HeadsHistory history, std::uint64_t run, std::int64_t) {
  view.history_of = run;
  ++view.version;
  view.history_rows.clear();
  view.history_cols.clear();
  view.prunings.clear();
  view.pruning_names.clear();
  const std::vector<HeadsPoint>& points = history.points;
  if (history.problem.empty() && !points.empty()) {
    for (const HeadImportance& head : points.back().inspection.heads)
      view.history_rows.push_back(
          fmt::format("{} {}", part_name(head.place.part), layer_and_head(head.place.layer, head.place.head)));
    view.history = Matrix(static_cast<int>(view.history_rows.size()), static_cast<int>(points.size()));
    for (int col = 0; col < view.history.cols; ++col) {
      const HeadsPoint& point = points[static_cast<std::size_t>(col)];
      view.history_cols.push_back(grouped(point.step));
      for (int row = 0; row < view.history.rows; ++row)
        view.history.at(row, col) =
            static_cast<float>(1000 * point.inspection.heads[static_cast<std::size_t>(row)].exact);
    }
    const std::size_t shown = std::min(points.size(), most_prunings);
    for (std::size_t i = 0; i < shown; ++i) {
      const HeadsPoint& point = points[shown < 2 ? 0 : i * (points.size() - 1) / (shown - 1)];
      view.prunings.push_back(pruning_of(point.inspection));
      view.pruning_names.push_back(tr("step ") + grouped(point.step));
    }
  }
  view.heads_history = std::move(history);
}

bool has_circuit(const CircuitView& view) {
  return view.inspection && view.inspection->problem.empty();
}

const Circuit& shown_circuit(const CircuitView& view) {
  const bool counted = view.counted && view.counted->problem.empty() && view.counted->found.problem.empty();
  return counted ? view.counted->found : view.inspection->found;
}

float share_of(const Tally& tally, ContrastSide of) {
  return static_cast<float>(of == ContrastSide::clean ? tally.clean_share : tally.corrupted_share);
}

std::optional<ScoreQuestion> first_score(const CircuitView& view) {
  const Circuit& circuit = shown_circuit(view);
  const auto words = static_cast<int>(view.inspection->facts.words.size());
  for (auto edge = circuit.edges.rbegin(); edge != circuit.edges.rend(); ++edge) {
    if (edge->part != circuit.reader || edge->members.empty() || edge->read.empty()) continue;
    ScoreQuestion question{
        .contrasts = view.inspection->question, .sentence = ContrastSide::clean, .place = {edge->part, edge->layer}};
    question.place.head = edge->members.front().head;
    question.from = std::min(edge->members.front().slot, words - 1);
    question.to = edge->read.front();
    if (edge->read.size() > 1) question.other = edge->read.back();
    return question;
  }
  return std::nullopt;
}

void make_matrices(CircuitView& view) {
  ++view.version;
  view.places = view.written = view.rows = {};
  view.row_places.clear();
  view.whole.clear();
  if (!has_circuit(view)) return;
  const CircuitResult& inspection = *view.inspection;
  const Sweep& swept = inspection.sweep(view.of, ChangeKind::contrast);
  const EffectGrid& states = inspection.facts.language_model ? swept.decoder_states : swept.encoder_states;
  // Treats a word of several tokens as a unit if the search did.
  if (!inspection.found.places.empty()) {
    const int words = static_cast<int>(inspection.found.slots.size());
    view.places = Matrix(static_cast<int>(inspection.found.places.size()), words);
    for (int layer = 0; layer < view.places.rows; ++layer)
      for (int word = 0; word < words; ++word)
        view.places.at(layer, word) = share_of(
            inspection.found.places[static_cast<std::size_t>(layer)].each[static_cast<std::size_t>(word)], view.of);
  } else {
    view.places = shares(states);
  }
  if (!inspection.facts.language_model) view.written = shares(swept.decoder_states);
  // Skips parts in which this model has no heads.
  for (const AttentionPart part : attention_parts)
    if (swept.rows(view.part).empty() && !swept.rows(part).empty()) view.part = part;
  const Sweep* shown = shown_sweep(view);
  view.row_places = shown ? row_places(*shown, view.part) : std::vector<RowPlace>();
  if (view.row_places.empty()) return;
  view.rows = Matrix(static_cast<int>(view.row_places.size()), shown->rows(view.part).front().cols);
  for (int row = 0; row < view.rows.rows; ++row) {
    const RowPlace& place = view.row_places[static_cast<std::size_t>(row)];
    for (int col = 0; col < view.rows.cols; ++col) view.rows.at(row, col) = effect_at(*shown, place, col).share;
    view.whole.push_back(whole_effect(*shown, place).share);
  }
}

// ---- patches to try

std::vector<int> positions_of(const CircuitView& view, const std::vector<int>& slots) {
  const ContrastFacts& facts = view.inspection->facts;
  std::vector<int> positions;
  for (const int slot : slots) {
    if (slot >= static_cast<int>(facts.words.size())) {  // the last position of a language model
      positions.push_back(static_cast<int>(facts.clean.tokens.size() + facts.prefix.size()) - 1);
      continue;
    }
    const std::vector<int>& word = facts.words[static_cast<std::size_t>(slot)].positions;
    positions.insert(positions.end(), word.begin(), word.end());
  }
  return positions;
}

ChangedRun states_run(const CircuitView& view, int layer, const std::vector<int>& slots) {
  const ValueSite site{ValueKind::state, view.inspection->found.reader, layer};
  return {view.of, {Change{ChangeKind::contrast, site, {}, positions_of(view, slots), {}, {}}}};
}

std::vector<int> edge_positions(const CircuitView& view, const CircuitEdge& edge, int slot) {
  if (edge.part == view.inspection->found.reader) return positions_of(view, {slot});
  const int step = static_cast<int>(view.inspection->facts.prefix.size());
  if (slot == 0) return {step};
  std::vector<int> earlier(static_cast<std::size_t>(step));
  std::iota(earlier.begin(), earlier.end(), 0);
  return earlier;
}

ChangedRun edge_run(const CircuitView& view, const CircuitEdge& edge, const Way& way) {
  ChangedRun run{view.of, {}};
  for (const HeadRow& member : edge.members) {
    Change change{
        way.kind, {ValueKind::heads, edge.part, edge.layer}, {member.head}, edge_positions(view, edge, member.slot), {},
        {}};
    if (way.kind == ChangeKind::exchange) {
      change.one = positions_of(view, {way.words[0]});
      change.other = positions_of(view, {way.words[1]});
    }
    run.changes.push_back(std::move(change));
  }
  return run;
}

// ---- words

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? tr(" and ") : ", ") + names[i];
  return text;
}

std::string slot_names(const Circuit& circuit, const std::vector<int>& slots) {
  std::vector<std::string> names;
  for (const int slot : slots) names.push_back(trf("\u201C{}\u201D", circuit.slots[static_cast<std::size_t>(slot)]));
  return listed(names);
}

std::string edge_text(const Circuit& circuit, const CircuitEdge& edge) {
  std::vector<std::string> heads;
  for (const int head : edge.heads()) heads.push_back(std::to_string(head + 1));
  const bool reads = edge.part == circuit.reader;
  const std::string stack = edge.part == AttentionPart::encoder ? tr("encoder") : tr("decoder");
  return trf("{} layer {}{}, {} {}{}", stack, edge.layer + 1,
             edge.part == AttentionPart::cross ? tr(" cross-attention") : "",
             heads.size() == 1 ? tr("head") : tr("heads"), listed(heads),
             reads ? tr(" at ") + slot_names(circuit, edge.slots()) : "");
}

std::vector<std::string> formation_names(const Formation& formation) {
  std::vector<std::string> names = {tr("total difference")};
  const Circuit& circuit = formation.of;
  if (!circuit.places.empty()) names.push_back(tr("vectors at ") + slot_names(circuit, circuit.places.back().slots));
  for (const CircuitEdge& edge : circuit.edges)
    names.push_back(trf("{} layer {}",
                        edge.part == AttentionPart::cross ? tr("cross-attention") : tr(part_name(edge.part)),
                        edge.layer + 1));
  return names;
}

std::optional<std::int64_t> formed_by(const Series& line) {
  if (line.y.empty() || line.y.back() < least_margin) return std::nullopt;
  std::size_t first = line.y.size();
  while (first > 0 && line.y[first - 1] >= line.y.back() / 2) --first;
  return static_cast<std::int64_t>(line.x[first]);
}

std::string way_text(const Circuit& circuit, const Way& way) {
  switch (way.kind) {
    case ChangeKind::contrast:
      return tr("patched from the other sentence");
    case ChangeKind::zero:
      return tr("zero ablation");
    case ChangeKind::mean:
      return tr("mean ablation");
    case ChangeKind::exchange:
      return tr("attention weights on ") + slot_names(circuit, way.words) + tr(" swapped");
  }
  return "";
}

std::string percent_text(double share) {
  return fmt::format("{:.0f} %", std::abs(share) < 0.005 ? 0 : 100 * share);  // avoids "-0 %"
}

std::string tally_text(const Tally& tally) {
  return trf("flips {} of {} answers ({} of the effect)", tally.turned(), 2 * tally.cases, percent_text(tally.share()));
}

}  // namespace attnscope
