#include "compute/circuit_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "inspect/circuit/sweep.h"
#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

Json texts_json(const std::vector<Token>& tokens) {
  return texts_of(tokens);
}

Json run_json(const ContrastRun& run) {
  return {{"text", run.text}, {"tokens", texts_json(run.tokens)}, {"output", run.output}, {"margin", run.margin}};
}

Json grid_json(const EffectGrid& grid) {
  Json rows = Json::array();
  for (int row = 0; row < grid.rows; ++row) {
    Json cells = Json::array();
    for (int col = 0; col < grid.cols; ++col) cells.push_back(grid.at(row, col).share);
    rows.push_back(std::move(cells));
  }
  return rows;
}

Json heads_json(const EffectGrid& whole, const std::vector<EffectGrid>& rows) {
  Json by_row = Json::array();
  for (const EffectGrid& layer : rows) by_row.push_back(grid_json(layer));
  return {{"whole", grid_json(whole)}, {"row_by_row", by_row}};
}

Json tally_json(const Tally& tally) {
  return {{"share", tally.share()},
          {"flipped", tally.turned()},
          {"of", 2 * tally.cases},
          {"clean", {{"share", tally.clean_share}, {"flipped", tally.clean_turned}}},
          {"corrupted", {{"share", tally.corrupted_share}, {"flipped", tally.corrupted_turned}}}};
}

Json names_json(const Circuit& circuit, const std::vector<int>& slots) {
  Json names = Json::array();
  for (const int slot : slots) names.push_back(circuit.slots[static_cast<std::size_t>(slot)]);
  return names;
}

Json place_json(const Circuit& circuit, const Place& place) {
  Json each = Json::object();
  for (std::size_t slot = 0; slot < place.each.size(); ++slot)
    each[fmt::format("{} {}", slot, circuit.slots[slot])] = tally_json(place.each[slot]);
  return {{"after_layers", place.layer},
          {"words", names_json(circuit, place.slots)},
          {"together", tally_json(place.together)},
          {"all_others", tally_json(place.rest)},
          {"each", each}};
}

Json rows_json(const Circuit& circuit, const CircuitEdge& edge, const std::vector<HeadRow>& rows) {
  Json json = Json::array();
  for (const HeadRow& row : rows) {
    const std::string at = edge.part == circuit.reader ? circuit.slots[static_cast<std::size_t>(row.slot)]
                           : row.slot == 0             ? "the step"
                                                       : "before the step";
    json.push_back({{"head", row.head + 1}, {"at", at}});
  }
  return json;
}

const char* way_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::contrast:
      return "from the corrupted sentence";
    case ChangeKind::exchange:
      return "swap";
    case ChangeKind::zero:
      return "zero_ablation";
    case ChangeKind::mean:
      return "mean";
  }
  return "";
}

Json ways_json(const Circuit& circuit, const CircuitEdge& edge) {
  Json json = Json::object();
  for (const Way& way : edge.ways) {
    json[way_name(way.kind)] = tally_json(way.tally);
    if (!way.words.empty()) json[way_name(way.kind)]["words"] = names_json(circuit, way.words);
  }
  return json;
}

Json edge_json(const Circuit& circuit, const CircuitEdge& edge) {
  Json alone = Json::array();
  for (const Tally& tally : edge.alone) alone.push_back(tally_json(tally));
  return {{"part", part_name(edge.part)},
          {"layer", edge.layer + 1},
          {"why_not_one", why_not_one(edge)},
          {"fewest_to_spoil", rows_json(circuit, edge, edge.clean_members)},
          {"fewest_to_bring_back", rows_json(circuit, edge, edge.corrupted_members)},
          {"change", way_name(edge.kind)},
          {edge.kind == ChangeKind::exchange ? "swapped" : "read", names_json(circuit, edge.read)},
          {"members", rows_json(circuit, edge, edge.members)},
          {"together", tally_json(edge.together)},
          {"ways", ways_json(circuit, edge)},
          {"all_heads", tally_json(edge.all)},
          {"each_head_there", alone}};
}

Json decoy_json(const Circuit& circuit, const Decoy& decoy) {
  return {{"part", part_name(decoy.place.part)},
          {"layer", decoy.place.layer + 1},
          {"head", decoy.place.head + 1},
          {"from", circuit.slots[static_cast<std::size_t>(decoy.from)]},
          {"to", circuit.slots[static_cast<std::size_t>(decoy.to)]},
          {"weight", decoy.weight},
          {"weight_in_corrupted", decoy.corrupted_weight},
          {"effect", tally_json(decoy.effect)}};
}

// ---- named interventions

struct Figure {
  std::string group, name;
  ChangesOf changes;
};

std::vector<int> positions_at(const ContrastCase& it, const std::vector<int>& slots) {
  std::vector<int> positions;
  for (const int slot : slots) {
    const std::vector<int>& of = it.slots[static_cast<std::size_t>(slot)].positions;
    positions.insert(positions.end(), of.begin(), of.end());
  }
  return positions;
}

// All subsets if there are few heads, otherwise each head and all together.
std::vector<std::vector<int>> sets_of_heads(int heads) {
  std::vector<std::vector<int>> sets;
  if (heads > 4) {
    for (int head = 0; head < heads; ++head) sets.push_back({head});
    sets.emplace_back();
    for (int head = 0; head < heads; ++head) sets.back().push_back(head);
    return sets;
  }
  for (int bits = 1; bits < 1 << heads; ++bits) {
    sets.emplace_back();
    for (int head = 0; head < heads; ++head)
      if ((bits >> head & 1) != 0) sets.back().push_back(head);
  }
  return sets;
}

std::string heads_name(const std::vector<int>& heads, int all) {
  if (static_cast<int>(heads.size()) == all) return "all heads";
  std::vector<int> from_1;
  for (const int head : heads) from_1.push_back(head + 1);
  return fmt::format("{} {}", heads.size() == 1 ? "head" : "heads", fmt::join(from_1, " "));
}

class Figures {
 public:
  Figures(const std::vector<ContrastCase>& cases, std::vector<int> at, std::vector<int> exchanged)
      : model_(cases.front().runs->config()),
        slots_(cases.front().slots),
        at_(std::move(at)),
        exchanged_(std::move(exchanged)) {
    language_model_ = model_.is_language_model();
    reader_ = language_model_ ? AttentionPart::decoder : AttentionPart::encoder;
    layers_ = static_cast<int>(language_model_ ? model_.num_decoder_layers : model_.num_encoder_layers);
    for (const int slot : at_) words_.push_back({slot});
    if (at_.size() > 1) words_.push_back(at_);
  }

  std::vector<Figure> all() {
    for (int layer = 1; layer <= layers_; ++layer) add_states(layer);
    const int readers = part_size(model_, reader_).layers;
    for (int layer = 0; layer < readers; ++layer) add_reading(layer);
    if (exchanged_.size() == 2)
      for (int layer = 0; layer < readers; ++layer) add_exchanges(layer);
    if (!language_model_)
      for (int layer = 0; layer < static_cast<int>(model_.num_decoder_layers); ++layer) add_writing(layer);
    return std::move(figures_);
  }

 private:
  std::string name_of(const std::vector<int>& slots) const {
    std::vector<std::string> names;
    for (const int slot : slots) names.push_back(slots_[static_cast<std::size_t>(slot)].name);
    return fmt::format("{}", fmt::join(names, " and "));
  }

  void add_states(int layer) {
    const std::string group = model_.is_recurrent() ? fmt::format("state after layer {}", layer)
                              : layer == layers_    ? (language_model_ ? "last layer's output" : "encoder output")
                                                    : fmt::format("residual stream before layer {}", layer + 1);
    const ValueSite site{ValueKind::state, reader_, layer};
    for (const std::vector<int>& slots : words_) add_put(group, name_of(slots), site, {}, slots);
    std::vector<int> rest;
    for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot)
      if (std::ranges::find(at_, slot) == at_.end()) rest.push_back(slot);
    add_put(group, "all but " + name_of(at_), site, {}, rest);
  }

  void add_reading(int layer) {
    const std::string group = fmt::format("layer {} head output at {}", layer + 1, name_of(at_));
    const int all = part_size(model_, reader_).heads;
    for (const std::vector<int>& heads : sets_of_heads(all))
      add_put(group, heads_name(heads, all), {ValueKind::heads, reader_, layer}, heads, at_);
  }

  void add_put(std::string group, std::string name, ValueSite site, std::vector<int> heads, std::vector<int> slots) {
    figures_.push_back({std::move(group), std::move(name), [=](const ContrastCase& it) -> std::vector<Change> {
                          return {{ChangeKind::contrast, site, heads, positions_at(it, slots), {}, {}}};
                        }});
  }

  void add_exchanges(int layer) {
    const std::string group = fmt::format("weights on {} swapped in layer {}", name_of(exchanged_), layer + 1);
    const int all = part_size(model_, reader_).heads;
    for (const std::vector<int>& heads : sets_of_heads(all)) {
      for (const std::vector<int>& slots : words_) {
        figures_.push_back({group, heads_name(heads, all) + ", " + name_of(slots),
                            [this_slots = slots, heads, layer, reader = reader_,
                             words = exchanged_](const ContrastCase& it) -> std::vector<Change> {
                              return {{ChangeKind::exchange,
                                       {ValueKind::heads, reader, layer},
                                       heads,
                                       positions_at(it, this_slots),
                                       positions_at(it, {words[0]}),
                                       positions_at(it, {words[1]})}};
                            }});
      }
    }
  }

  void add_writing(int layer) {
    for (const AttentionPart part : {AttentionPart::decoder, AttentionPart::cross}) {
      const PartSize size = part_size(model_, part);
      if (layer >= size.layers) continue;
      const std::string group = fmt::format("decoder layer {} {}-attention output at the step", layer + 1,
                                            part == AttentionPart::cross ? "cross" : "self");
      for (const std::vector<int>& heads : sets_of_heads(size.heads)) {
        figures_.push_back({group, heads_name(heads, size.heads), [=](const ContrastCase& it) -> std::vector<Change> {
                              const int step = it.runs->positions(AttentionPart::decoder) - 1;
                              return {{ChangeKind::contrast, {ValueKind::heads, part, layer}, heads, {step}, {}, {}}};
                            }});
      }
    }
  }

  const ModelConfig& model_;
  const std::vector<Slot>& slots_;
  std::vector<int> at_, exchanged_;
  std::vector<std::vector<int>> words_;
  bool language_model_ = false;
  AttentionPart reader_ = AttentionPart::encoder;
  int layers_ = 0;
  std::vector<Figure> figures_;
};

// The attention in both runs from the words `at` to the contrasting words and the swapped words.
Json weights_json(const ContrastCase& it, ContrastSide contrast, const std::vector<int>& at, std::vector<int> to) {
  const ModelConfig& model = it.runs->config();
  const AttentionPart part = model.is_language_model() ? AttentionPart::decoder : AttentionPart::encoder;
  const std::vector<int>& differ = it.runs->facts().differ;
  to.insert(to.end(), differ.begin(), differ.end());
  Json json = Json::object();
  const PartSize size = part_size(model, part);
  for (int layer = 0; layer < size.layers; ++layer) {
    for (int head = 0; head < size.heads; ++head) {
      const Matrix map = to_matrix(it.runs->weights(contrast, part, layer)[head]);
      for (const int from : at) {
        for (const int word : to) {
          const std::vector<int> rows = positions_at(it, {from});
          double sum = 0;
          for (const int row : rows)
            for (const int key : positions_at(it, {word})) sum += map.at(row, key);
          json[fmt::format("layer {} head {}, {} → {}", layer + 1, head + 1,
                           it.slots[static_cast<std::size_t>(from)].name,
                           it.slots[static_cast<std::size_t>(word)].name)] = sum / static_cast<double>(rows.size());
        }
      }
    }
  }
  return json;
}

}  // namespace

std::string words_text(const Circuit& circuit, const std::vector<int>& slots) {
  std::vector<std::string> names;
  for (const int slot : slots) names.push_back(circuit.slots.at(static_cast<std::size_t>(slot)));
  return fmt::format("{}", fmt::join(names, ", "));
}

Json facts_json(const ContrastFacts& facts) {
  Json words = Json::array();
  for (const Slot& slot : facts.words) words.push_back({{"word", slot.name}, {"positions", slot.positions}});
  return {{"between", {facts.a.text, facts.b.text}},
          {"prefix", texts_json(facts.prefix)},
          {"clean", run_json(facts.clean)},
          {"corrupted", run_json(facts.corrupted)},
          {"words", words}};
}

Json pairs_json(const CorpusCases& found) {
  Json pairs = Json::array();
  for (const ContrastCase& it : found.cases) {
    const ContrastFacts& facts = it.runs->facts();
    pairs.push_back({{"clean", facts.clean.text},
                     {"corrupted", facts.corrupted.text},
                     {"margins", {facts.clean.margin, facts.corrupted.margin}}});
  }
  return {{"tried", found.tried}, {"distinguished", found.cases.size()}, {"pairs", pairs}};
}

Json sweep_json(const Sweep& sweep) {
  Json json = Json::object();
  const auto add_tokens = [&](const char* name, const EffectGrid& grid) {
    if (!grid.empty()) json[name] = grid_json(grid);
  };
  add_tokens("decoder_states", sweep.decoder_states);
  add_tokens("decoder_feed_forward", sweep.decoder_feed_forward);
  if (!sweep.decoder_heads.empty()) json["decoder_heads"] = heads_json(sweep.decoder_heads, sweep.decoder_rows);
  add_tokens("encoder_states", sweep.encoder_states);
  add_tokens("encoder_feed_forward", sweep.encoder_feed_forward);
  if (!sweep.encoder_heads.empty()) json["encoder_heads"] = heads_json(sweep.encoder_heads, sweep.encoder_rows);
  if (!sweep.cross_heads.empty()) json["cross_heads"] = heads_json(sweep.cross_heads, sweep.cross_rows);
  return json;
}

namespace {

Json asked_sweeps_json(const ContrastRuns& runs, const SweepQuestion& question) {
  return {{"denoising", sweep_json(sweep(runs, ContrastSide::corrupted, question))},
          {"noising", sweep_json(sweep(runs, ContrastSide::clean, question))}};
}

}  // namespace

Json paths_json(const ContrastCase& it, const Circuit& circuit) {
  Json json = Json::array();
  if (it.runs->facts().recurrent) return json;
  for (const CircuitEdge& edge : circuit.edges) {
    Json path = {{"to",
                  {{"part", part_name(edge.part)},
                   {"layer", edge.layer + 1},
                   {"members", rows_json(circuit, edge, edge.members)}}}};
    path.update(asked_sweeps_json(*it.runs, {.contrasts = {}, .end = end_of(it, circuit, edge)}));
    json.push_back(std::move(path));
  }
  return json;
}

Json exchange_json(const ContrastCase& it, const std::vector<int>& words) {
  const auto slot = [&](std::size_t i) -> const Slot& { return it.slots[static_cast<std::size_t>(words[i])]; };
  Json json = {{"words", {slot(0).name, slot(1).name}}};
  json.update(asked_sweeps_json(*it.runs, {{}, slot(0).positions, slot(1).positions, {}}));
  return json;
}

Json circuit_json(const Circuit& circuit) {
  Json json = {{"pairs", circuit.pairs}, {"words", circuit.slots}};
  if (!circuit.problem.empty()) json["problem"] = circuit.problem;
  json["swapped"] = names_json(circuit, circuit.exchanged);
  json["places"] = json["edges"] = json["decoys"] = Json::array();
  for (const Place& place : circuit.places) json["places"].push_back(place_json(circuit, place));
  for (const CircuitEdge& edge : circuit.edges) json["edges"].push_back(edge_json(circuit, edge));
  for (const Decoy& decoy : circuit.decoys) json["decoys"].push_back(decoy_json(circuit, decoy));
  return json;
}

Json formation_json(const Formation& formation) {
  Json json = Json::array();
  for (const FormationPoint& point : formation.points)
    json.push_back({{"step", point.step}, {"difference", point.difference}, {"moved", point.moved}});
  return json;
}

Json score_json(const ScoreSplit& split, const ContrastFacts& facts) {
  const auto word = [&](int slot) { return facts.words[static_cast<std::size_t>(slot)].name; };
  const ScoreQuestion& asked = split.question;
  Json json = {{"part", part_name(asked.place.part)},
               {"layer", asked.place.layer + 1},
               {"head", asked.place.head + 1},
               {"from", word(asked.from)},
               {"to", word(asked.to)}};
  if (asked.other >= 0) json["other"] = word(asked.other);
  json["score"] = split.score;
  json["parts"] = split.parts;
  json["key_parts"] = split.key_parts;
  json["terms"] = Json::array();
  for (int row = 0; row < split.terms.rows; ++row) {
    const auto begin = split.terms.values.begin() + static_cast<std::ptrdiff_t>(row) * split.terms.cols;
    json["terms"].push_back(std::vector<float>(begin, begin + split.terms.cols));
  }
  return json;
}

Json figures_json(const std::vector<ContrastCase>& cases, const std::vector<int>& at,
                  const std::vector<int>& exchanged) {
  const std::vector<Figure> figures = Figures(cases, at, exchanged).all();
  std::vector<ChangesOf> changes;
  for (const Figure& figure : figures) changes.push_back(figure.changes);
  if (cases.size() > 1) {
    Json json = Json::object();
    const std::vector<Tally> tallies = tallies_of(cases, changes);
    for (std::size_t i = 0; i < figures.size(); ++i) json[figures[i].group][figures[i].name] = tally_json(tallies[i]);
    return json;
  }
  Json json = {{"clean", Json::object()}, {"corrupted", Json::object()}};
  for (const ContrastSide of : {ContrastSide::clean, ContrastSide::corrupted}) {
    std::vector<ChangedRun> runs;
    for (const ChangesOf& it : changes) runs.push_back({of, it(cases.front())});
    const std::vector<Odds> odds = cases.front().runs->read(runs);
    const double sign = of == ContrastSide::clean ? 1 : -1;
    Json& own = json[of == ContrastSide::clean ? "clean" : "corrupted"];
    for (std::size_t i = 0; i < figures.size(); ++i) own[figures[i].group][figures[i].name] = sign * odds[i].margin;
    own["weights"] = weights_json(cases.front(), of, at, exchanged);
  }
  return json;
}

}  // namespace attnscope
