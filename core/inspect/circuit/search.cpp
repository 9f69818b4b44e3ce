#include "inspect/circuit/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "common/mark.h"
#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

constexpr double turns_enough = 0.95;     // fraction of the answers
constexpr double min_decoy_change = 0.5;  // minimal change of a weight from one sentence to the other
constexpr double does_nothing = 0.05;     // fraction of the effect

using Members = std::vector<int>;  // indices of candidates

// Which answers should flip.
struct Aim {
  int (*turned)(const Tally&);
  double (*share)(const Tally&);

  std::pair<int, double> of(const Tally& tally) const { return {turned(tally), share(tally)}; }
};
constexpr Aim both_ways = {[](const Tally& it) { return it.turned(); }, [](const Tally& it) { return it.share(); }};
constexpr Aim of_clean = {[](const Tally& it) { return it.clean_turned; },
                          [](const Tally& it) { return it.clean_share; }};
constexpr Aim of_corrupted = {[](const Tally& it) { return it.corrupted_turned; },
                              [](const Tally& it) { return it.corrupted_share; }};

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Measures the effects of candidate changes over all cases.
class Counter {
 public:
  Counter(const std::vector<ContrastCase>& cases, const YieldCallback& yield) : cases_(cases), yield_(yield) {}

  std::vector<Tally> count(const std::vector<ChangesOf>& candidates) const {
    std::vector<Tally> tallies(candidates.size());
    for (const ContrastCase& it : cases_) {
      std::vector<ChangedRun> runs;
      for (const ChangesOf& changes : candidates)
        for (const ContrastSide of : {ContrastSide::clean, ContrastSide::corrupted}) runs.push_back({of, changes(it)});
      const std::vector<Odds> odds = it.runs->read(runs, yield_);
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const double clean = odds[2 * i].margin, corrupted = odds[2 * i + 1].margin;
        Tally& tally = tallies[i];
        ++tally.cases;
        tally.clean_turned += ContrastRuns::turned(ContrastSide::clean, clean);
        tally.corrupted_turned += ContrastRuns::turned(ContrastSide::corrupted, corrupted);
        tally.clean_share += it.runs->share(ContrastSide::clean, clean) / static_cast<double>(cases_.size());
        tally.corrupted_share +=
            it.runs->share(ContrastSide::corrupted, corrupted) / static_cast<double>(cases_.size());
      }
    }
    return tallies;
  }

  Tally count(const ChangesOf& candidate) const { return count(std::vector{candidate}).front(); }

  bool turns(const Tally& tally) const {
    return tally.turned() >= turns_enough * 2 * static_cast<double>(cases_.size());
  }

  // The smallest subset of `candidates` that flips as many answers as `goal`: greedy selection, then removal of
  // unneeded ones.
  Members fewest(int candidates, const Tally& goal, const std::function<ChangesOf(const Members&)>& changes,
                 const Aim& aim = both_ways) const {
    const int wanted = aim.turned(goal);
    Members members;
    Tally reached;
    while (aim.turned(reached) < wanted && static_cast<int>(members.size()) < candidates) {
      std::vector<ChangesOf> tried;
      std::vector<Members> sets;
      for (int candidate = 0; candidate < candidates; ++candidate) {
        if (std::ranges::find(members, candidate) != members.end()) continue;
        sets.push_back(members);
        sets.back().push_back(candidate);
        tried.push_back(changes(sets.back()));
      }
      const std::vector<Tally> tallies = count(tried);
      const auto best = std::ranges::max_element(tallies, {}, [&](const Tally& it) { return aim.of(it); });
      reached = *best;
      members = sets[static_cast<std::size_t>(best - tallies.begin())];
    }
    for (std::size_t i = 0; i < members.size() && members.size() > 1;) {
      Members without = members;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      if (aim.turned(count(changes(without))) >= wanted) {
        members = without;
      } else {
        ++i;
      }
    }
    std::ranges::sort(members);
    return members;
  }

 private:
  const std::vector<ContrastCase>& cases_;
  const YieldCallback& yield_;
};

std::vector<int> positions_of(const ContrastCase& it, const std::vector<int>& slots) {
  std::vector<int> positions;
  for (const int slot : slots) {
    const std::vector<int>& of_slot = it.slots[static_cast<std::size_t>(slot)].positions;
    positions.insert(positions.end(), of_slot.begin(), of_slot.end());
  }
  return positions;
}

ChangesOf states_put(AttentionPart reader, int layer, std::vector<int> slots) {
  return [=](const ContrastCase& it) -> std::vector<Change> {
    return {{ChangeKind::contrast, {ValueKind::state, reader, layer}, {}, positions_of(it, slots), {}, {}}};
  };
}

// The positions of an edge's slots in one case.
using PositionsOf = std::function<std::vector<int>(const ContrastCase&, int slot)>;

ChangesOf heads_changed(CircuitEdge edge, const PositionsOf& positions, int one = -1, int other_one = -1) {
  return [=](const ContrastCase& it) {
    std::vector<Change> changes;
    for (const HeadRow& member : edge.members) {
      Change change{edge.kind, {ValueKind::heads, edge.part, edge.layer}, {member.head}, positions(it, member.slot), {},
                    {}};
      if (edge.kind == ChangeKind::exchange) {
        change.one = it.slots[static_cast<std::size_t>(one)].positions;
        change.other = it.slots[static_cast<std::size_t>(other_one)].positions;
      }
      changes.push_back(std::move(change));
    }
    return changes;
  };
}

// In the input's stack the slots are the sentence's words; in a translator's decoder 0 is the compared step and 1 all
// earlier steps.
PositionsOf slots_of_part(AttentionPart part, AttentionPart reader) {
  if (part == reader) return [](const ContrastCase& it, int slot) { return positions_of(it, {slot}); };
  return [](const ContrastCase& it, int slot) {
    const int step = it.runs->positions(AttentionPart::decoder) - 1;
    return slot == 0 ? std::vector{step} : numbers(step);
  };
}

std::vector<HeadRow> all_rows(int heads, const std::vector<int>& slots) {
  std::vector<HeadRow> rows;
  for (int head = 0; head < heads; ++head)
    for (const int slot : slots) rows.push_back({head, slot});
  return rows;
}

std::vector<HeadRow> chosen(const std::vector<HeadRow>& rows, const Members& members) {
  std::vector<HeadRow> some;
  for (const int member : members) some.push_back(rows[static_cast<std::size_t>(member)]);
  return some;
}

class Search {
 public:
  Search(const std::vector<ContrastCase>& cases, const FractionCallback& progress)
      : cases_(cases),
        model_(cases.front().runs->config()),
        yield_([this, progress] {
          if (progress) progress(fraction_);
        }),
        counter_(cases_, yield_) {}

  Circuit run() {
    for (const Slot& slot : cases_.front().slots) found_.slots.push_back(slot.name);
    found_.pairs = static_cast<int>(cases_.size());
    found_.reader = model_.is_language_model() ? AttentionPart::decoder : AttentionPart::encoder;
    found_.problem = problem_before();
    if (!found_.problem.empty()) return std::move(found_);
    const int layers = reader_layers(), readers = size_of(found_.reader).layers;
    const int stages = layers + 1 + readers + (model_.is_language_model() ? 0 : 2 * decoder_layers());
    int done = 0;
    const auto next = [&] { fraction_ = static_cast<double>(++done) / stages; };
    for (int layer = 0; layer <= layers; ++layer, next()) find_place(layer);
    for (int layer = 0; layer < readers; ++layer, next()) find_readers(layer);
    if (!model_.is_language_model()) {
      for (int layer = 0; layer < decoder_layers(); ++layer)
        for (const AttentionPart part : {AttentionPart::decoder, AttentionPart::cross}) {
          if (layer < size_of(part).layers) find_writers(part, layer);
          next();
        }
    }
    find_decoys();
    const bool reads =
        std::ranges::any_of(found_.edges, [&](const CircuitEdge& edge) { return edge.part == found_.reader; });
    if (!reads && !model_.is_recurrent()) {
      found_.problem = mark(
          "No circuit found: no attention head moves the difference to another position. The output uses it where it "
          "is, or other components move it.");
    }
    return std::move(found_);
  }

 private:
  PartSize size_of(AttentionPart part) const { return part_size(model_, part); }
  int decoder_layers() const { return model_.has_decoder() ? static_cast<int>(model_.num_decoder_layers) : 0; }
  int reader_layers() const {
    return model_.is_language_model() ? decoder_layers() : static_cast<int>(model_.num_encoder_layers);
  }

  std::string problem_before() const {
    for (const ContrastCase& it : cases_) {
      const ContrastFacts& facts = it.runs->facts();
      if (tells_apart(facts)) continue;
      return fmt::format(mark("No circuit found: log p({}) − log p({}) is {:.2f} for one sentence and {:.2f} for the "
                              "other, so the model "
                              "does not distinguish them."),
                         without_mark(facts.a.text), without_mark(facts.b.text), facts.clean.margin,
                         facts.corrupted.margin);
    }
    return {};
  }

  void find_place(int layer) {
    const std::vector<int> slots = numbers(static_cast<int>(found_.slots.size()));
    const auto put = [&](const std::vector<int>& which) { return states_put(found_.reader, layer, which); };
    Place place;
    place.layer = layer;
    std::vector<ChangesOf> single;
    for (const int slot : slots) single.push_back(put({slot}));
    place.each = counter_.count(single);
    place.slots = counter_.fewest(static_cast<int>(slots.size()), counter_.count(put(slots)), put);
    place.together = counter_.count(put(place.slots));
    std::vector<int> rest;
    for (const int slot : slots)
      if (std::ranges::find(place.slots, slot) == place.slots.end()) rest.push_back(slot);
    place.rest = counter_.count(put(rest));
    found_.places.push_back(std::move(place));
  }

  // Finds the heads of one layer that move information to the words that carry the difference after it.
  void find_readers(int layer) {
    const std::vector<int>& slots = found_.places[static_cast<std::size_t>(layer) + 1].slots;
    const PositionsOf positions = slots_of_part(found_.reader, found_.reader);
    CircuitEdge edge{.part = found_.reader, .layer = layer, .members = all_rows(size_of(found_.reader).heads, slots)};
    edge.all = counter_.count(heads_changed(edge, positions));
    if (!counter_.turns(edge.all)) return;
    const auto [one, other_one, exchanged] = best_exchange(edge, positions);
    const std::vector<int> words = one < 0 ? std::vector<int>() : std::vector{one, other_one};
    if (one >= 0 && (found_.exchanged.empty() || exchanged.share() > most_exchanged_.share())) {
      found_.exchanged = {one, other_one};
      most_exchanged_ = exchanged;
    }
    if (counter_.turns(exchanged)) {
      edge.kind = ChangeKind::exchange;
      edge.all = exchanged;
      edge.read = words;
    }
    complete(std::move(edge), positions, words);
  }

  // The two words common to both sentences whose swap in all heads flips most answers.
  std::tuple<int, int, Tally> best_exchange(CircuitEdge edge, const PositionsOf& positions) const {
    edge.kind = ChangeKind::exchange;
    std::vector<ChangesOf> tried;
    std::vector<std::pair<int, int>> words;
    const std::vector<int>& differ = cases_.front().runs->facts().differ;
    const auto same = [&](int slot) { return std::ranges::find(differ, slot) == differ.end(); };
    const int count = static_cast<int>(cases_.front().runs->facts().words.size());
    for (int one = 0; one < count; ++one) {
      for (int two = one + 1; two < count; ++two) {
        if (!same(one) || !same(two)) continue;
        words.emplace_back(one, two);
        tried.push_back(heads_changed(edge, positions, one, two));
      }
    }
    if (tried.empty()) return {-1, -1, {}};
    const std::vector<Tally> tallies = counter_.count(tried);
    const auto best = std::ranges::max_element(tallies, {}, &Tally::share);
    const auto [one, two] = words[static_cast<std::size_t>(best - tallies.begin())];
    return {one, two, *best};
  }

  // For a translator's decoder: finds the heads that move information to the compared step.
  void find_writers(AttentionPart part, int layer) {
    const PositionsOf positions = slots_of_part(part, found_.reader);
    for (const std::vector<int>& slots : {std::vector{0}, std::vector{0, 1}}) {
      CircuitEdge edge{.part = part, .layer = layer, .members = all_rows(size_of(part).heads, slots)};
      edge.all = counter_.count(heads_changed(edge, positions));
      if (!counter_.turns(edge.all)) continue;
      complete(std::move(edge), positions, {});
      return;
    }
  }

  // Reduces an edge with all heads that flip the answers to the smallest set. `words`: two that could be swapped, or
  // empty.
  void complete(CircuitEdge edge, const PositionsOf& positions, const std::vector<int>& words) {
    const int one = edge.read.empty() ? -1 : edge.read[0], two = edge.read.empty() ? -1 : edge.read[1];
    const std::vector<HeadRow> candidates = edge.members;
    const auto changes_among = [&](const std::vector<HeadRow>& rows) {
      return [&, rows](const Members& members) {
        CircuitEdge part = edge;
        part.members = chosen(rows, members);
        return heads_changed(std::move(part), positions, one, two);
      };
    };
    const auto changes = changes_among(candidates);
    const Members members = counter_.fewest(static_cast<int>(candidates.size()), edge.all, changes);
    edge.members = chosen(candidates, members);
    edge.together = counter_.count(changes(members));
    const auto one_way = [&](const Aim& aim) {
      const auto among = changes_among(edge.members);
      return chosen(edge.members, counter_.fewest(static_cast<int>(edge.members.size()), edge.together, among, aim));
    };
    edge.clean_members = one_way(of_clean);
    edge.corrupted_members = one_way(of_corrupted);
    std::vector<ChangesOf> alone;
    for (int head = 0; head < size_of(edge.part).heads; ++head) {
      Members own;
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto slots = edge.slots();
        if (candidates[i].head == head && std::ranges::find(slots, candidates[i].slot) != slots.end())
          own.push_back(static_cast<int>(i));
      }
      alone.push_back(changes(own));
    }
    edge.alone = counter_.count(alone);
    edge.ways = ways_of(edge, positions, words);
    if (edge.read.empty()) edge.read = read_by(edge, positions);
    found_.edges.push_back(std::move(edge));
  }

  // Alternative interventions on the members, with their effects.
  std::vector<Way> ways_of(const CircuitEdge& edge, const PositionsOf& positions, const std::vector<int>& words) const {
    std::vector<Way> ways = {{edge.kind}};
    for (const ChangeKind kind : {ChangeKind::contrast, ChangeKind::exchange, ChangeKind::zero, ChangeKind::mean})
      if (kind != edge.kind && (kind != ChangeKind::exchange || !words.empty())) ways.push_back({kind});
    std::vector<ChangesOf> changes;
    for (Way& way : ways) {
      if (way.kind == ChangeKind::exchange) way.words = words;
      CircuitEdge changed = edge;
      changed.kind = way.kind;
      changes.push_back(
          heads_changed(std::move(changed), positions, words.empty() ? -1 : words[0], words.empty() ? -1 : words[1]));
    }
    const std::vector<Tally> tallies = counter_.count(changes);
    for (std::size_t i = 0; i < ways.size(); ++i) ways[i].tally = tallies[i];
    return ways;
  }

  // The weight of a head from a slot's query to a word, in the sentence where it is larger and in the other: the mean
  // over the cases.
  struct HeadAttention {
    double more = 0, less = 0;
    double difference() const { return more - less; }
  };

  // For every word and one query; the words of both sentences have the same positions.
  std::vector<HeadAttention> attention_of(const HeadPlace& place, const PositionsOf& positions, int from) const {
    std::vector<HeadAttention> all(found_.slots.size());
    for (const ContrastCase& it : cases_) {
      const std::array maps = {
          to_matrix(it.runs->weights(ContrastSide::clean, place.part, place.layer)[place.head]),
          to_matrix(it.runs->weights(ContrastSide::corrupted, place.part, place.layer)[place.head])};
      const std::vector<int> rows = positions(it, from);
      const double part = 1.0 / static_cast<double>(rows.size() * cases_.size());
      for (std::size_t to = 0; to < all.size(); ++to) {
        std::array sums = {0.0, 0.0};
        for (const int row : rows)
          for (const int key : it.slots[to].positions)
            for (std::size_t i = 0; i < maps.size(); ++i) sums[i] += part * maps[i].at(row, key);
        all[to].more += std::max(sums[0], sums[1]);
        all[to].less += std::min(sums[0], sums[1]);
      }
    }
    return all;
  }

  static int most_different(const std::vector<HeadAttention>& all) {
    return static_cast<int>(std::ranges::max_element(all, {}, &HeadAttention::difference) - all.begin());
  }

  // The words that the members attend to more in one sentence than in the other.
  std::vector<int> read_by(const CircuitEdge& edge, const PositionsOf& positions) const {
    std::vector<int> read;
    if (edge.part == AttentionPart::cross) return found_.places.back().slots;
    if (edge.part != found_.reader) return read;
    for (const HeadRow& member : edge.members) {
      const int most = most_different(attention_of({edge.part, edge.layer, member.head}, positions, member.slot));
      if (std::ranges::find(read, most) == read.end()) read.push_back(most);
    }
    std::ranges::sort(read);
    return read;
  }

  void find_decoys() {
    const PositionsOf positions = slots_of_part(found_.reader, found_.reader);
    const std::vector<int> all = numbers(static_cast<int>(found_.slots.size()));
    const PartSize size = size_of(found_.reader);
    for (int layer = 0; layer < size.layers; ++layer) {
      for (int head = 0; head < size.heads; ++head) {
        Decoy decoy{.place = {found_.reader, layer, head}};
        for (const int from : found_.places[static_cast<std::size_t>(layer) + 1].slots) {
          const std::vector<HeadAttention> seen = attention_of(decoy.place, positions, from);
          const int to = most_different(seen);
          const HeadAttention& inspection = seen[static_cast<std::size_t>(to)];
          if (inspection.difference() <= decoy.weight - decoy.corrupted_weight) continue;
          decoy.from = from;
          decoy.to = to;
          decoy.weight = inspection.more;
          decoy.corrupted_weight = inspection.less;
        }
        if (decoy.weight - decoy.corrupted_weight < min_decoy_change) continue;
        CircuitEdge whole{.part = found_.reader, .layer = layer, .members = all_rows(1, all)};
        for (HeadRow& member : whole.members) member.head = head;
        decoy.effect = counter_.count(heads_changed(whole, positions));
        if (std::abs(decoy.effect.share()) < does_nothing) found_.decoys.push_back(decoy);
      }
    }
  }

  const std::vector<ContrastCase>& cases_;
  const ModelConfig& model_;
  double fraction_ = 0;
  YieldCallback yield_;
  Counter counter_;
  Circuit found_;
  Tally most_exchanged_;  // of found_.exchanged
};

}  // namespace

ContrastCase case_of(std::shared_ptr<const ContrastRuns> runs) {
  std::vector<Slot> slots = runs->facts().words;
  if (runs->facts().language_model) slots.push_back({mark("the step"), {runs->positions(AttentionPart::decoder) - 1}});
  return {std::move(runs), std::move(slots)};
}

Circuit find_circuit(const std::vector<ContrastCase>& cases, const FractionCallback& progress) {
  return Search(cases, progress).run();
}

ChangesOf changes_of(const Circuit& circuit, const Place& place) {
  return states_put(circuit.reader, place.layer, place.slots);
}

ChangesOf changes_of(const Circuit& circuit, const CircuitEdge& edge) {
  const bool exchanges = edge.kind == ChangeKind::exchange;
  return heads_changed(edge, slots_of_part(edge.part, circuit.reader), exchanges ? edge.read[0] : -1,
                       exchanges ? edge.read[1] : -1);
}

PathEnd end_of(const ContrastCase& it, const Circuit& circuit, const CircuitEdge& edge) {
  PathEnd end{edge.part, edge.layer, edge.heads(), {}};
  const PositionsOf positions = slots_of_part(edge.part, circuit.reader);
  for (const int slot : edge.slots())
    for (const int position : positions(it, slot)) end.positions.push_back(position);
  return end;
}

std::vector<Tally> tallies_of(const std::vector<ContrastCase>& cases, const std::vector<ChangesOf>& changes,
                              const YieldCallback& yield) {
  return Counter(cases, yield).count(changes);
}

}  // namespace attnscope
