#include "inspect/circuit/formation.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "inspect/circuit/contrast_runs.h"
#include "inspect/circuit/search.h"

namespace attnscope {
namespace {

bool is_below(int number, std::size_t count) {
  return number >= 0 && std::cmp_less(number, count);
}

bool are_below(std::span<const int> numbers, std::size_t count) {
  return std::ranges::all_of(numbers, [&](int number) { return is_below(number, count); });
}

void require(bool fits) {
  if (!fits)
    throw NotContrasting("The request names tokens, words or heads that this model or these sentences do not have.");
}

void check_tokens(const ContrastFacts& facts, const SequenceModel& model) {
  std::vector<int> ids = {facts.a.id, facts.b.id};
  for (const Token& token : facts.prefix) ids.push_back(token.id);
  require(are_below(ids, static_cast<std::size_t>(model.vocab_size())));
  require(std::cmp_less(facts.prefix.size(), model.config().max_length));
}

void check_edge(const CircuitEdge& edge, const ContrastCase& it, AttentionPart reader) {
  const PartSize size = part_size(it.runs->config(), edge.part);
  require(edge.layer >= 0 && edge.layer < size.layers);
  const std::size_t slots = edge.part == reader ? it.slots.size() : 2;  // CircuitEdge::members
  for (const HeadRow& member : edge.members)
    require(member.head >= 0 && member.head < size.heads && is_below(member.slot, slots));
  require(edge.kind != ChangeKind::exchange || (edge.read.size() == 2 && are_below(edge.read, it.slots.size())));
}

// Validates the circuit, which may have been found by another model and received over the network.
void check_circuit(const Circuit& circuit, const ContrastCase& it) {
  const ModelConfig& model = it.runs->config();
  require(circuit.reader == (model.is_language_model() ? AttentionPart::decoder : AttentionPart::encoder));
  const auto layers = model.is_language_model() ? model.num_decoder_layers : model.num_encoder_layers;
  for (const Place& place : circuit.places)
    require(place.layer >= 0 && place.layer <= layers && are_below(place.slots, it.slots.size()));
  for (const CircuitEdge& edge : circuit.edges) check_edge(edge, it, circuit.reader);
}

}  // namespace

FormationPoint formation_point(SequenceModel& model, const Tokenizer& tokenizer, const FormationStudy& study,
                               std::int64_t step, const YieldCallback& yield) {
  check_tokens(study.facts, model);
  const auto runs = std::make_shared<const ContrastRuns>(model, tokenizer, study.facts);
  const ContrastCase it = case_of(runs);
  check_circuit(study.circuit, it);
  std::vector<ChangesOf> parts;
  if (!study.circuit.places.empty()) parts.push_back(changes_of(study.circuit, study.circuit.places.back()));
  for (const CircuitEdge& edge : study.circuit.edges) parts.push_back(changes_of(study.circuit, edge));
  std::vector<ChangedRun> changed;
  for (const ChangesOf& part : parts)
    for (const ContrastSide of : {ContrastSide::clean, ContrastSide::corrupted}) changed.push_back({of, part(it)});
  const std::vector<Odds> odds = runs->read(changed, yield);
  const ContrastFacts& facts = runs->facts();
  FormationPoint point{.step = step, .difference = facts.effect(), .moved = {}};
  for (std::size_t i = 0; i < odds.size(); i += 2) {
    const double lost = facts.clean.margin - odds[i].margin;
    const double gained = odds[i + 1].margin - facts.corrupted.margin;
    point.moved.push_back((lost + gained) / 2);
  }
  return point;
}

}  // namespace attnscope
