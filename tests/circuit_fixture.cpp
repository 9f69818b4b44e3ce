#include "circuit_fixture.h"

namespace attnscope {
namespace {

EffectGrid grid(int rows, int cols, float share) {
  return {rows, cols, std::vector<Effect>(static_cast<std::size_t>(rows) * cols, {share, 1.5F, 7})};
}

Sweep fixture_sweep(ContrastSide of, ChangeKind kind, int positions, int steps) {
  Sweep sweep;
  sweep.of = of;
  sweep.kind = kind;
  sweep.encoder_states = grid(2, positions, 0.25F);
  sweep.decoder_states = grid(2, steps, 0.125F);
  sweep.encoder_feed_forward = grid(1, positions, 0.0625F);
  sweep.encoder_feed_forward_whole = grid(1, 1, 0.125F);
  sweep.encoder_heads = sweep.cross_heads = sweep.decoder_heads = grid(1, 2, 0.5F);
  sweep.encoder_rows = {grid(2, positions, 0.75F)};
  sweep.cross_rows = sweep.decoder_rows = {grid(2, steps, 0.0F)};
  return sweep;
}

Tally tally(int turned, double share) {
  return {1, turned / 2, turned - turned / 2, share, share};
}

}  // namespace

Circuit fixture_circuit(const std::vector<Slot>& words, int pairs) {
  Circuit circuit;
  for (const Slot& word : words) circuit.slots.push_back(word.name);
  circuit.pairs = pairs;
  const std::vector<Tally> each(words.size(), tally(0, 0.25));
  circuit.places = {{0, {2}, tally(2, 1), tally(0, 0), each}, {1, {1}, tally(2, 1), tally(0, 0), each}};
  CircuitEdge reading{.part = AttentionPart::encoder, .layer = 0, .members = {{1, 1}}, .read = {2}};
  CircuitEdge writing{.part = AttentionPart::cross, .layer = 0, .members = {{0, 0}}, .read = {1}};
  for (CircuitEdge* edge : {&reading, &writing}) {
    edge->together = edge->all = tally(2, 0.93);
    edge->alone = {tally(0, 0.01), tally(2, 0.93)};
    edge->ways = {{ChangeKind::contrast, {}, tally(2, 0.93)}, {ChangeKind::zero, {}, tally(0, 0.12)}};
  }
  reading.ways.push_back({ChangeKind::exchange, {0, 2}, tally(2, 0.5)});
  circuit.edges = {reading, writing};
  circuit.decoys = {{{AttentionPart::encoder, 0, 0}, 1, 2, 0.97, 0.02, tally(0, 0.008)}};
  return circuit;
}

Sweep fixture_sweep(ContrastSide of, const SweepQuestion& asked, float share) {
  Sweep sweep;
  sweep.of = of;
  if (!asked.is_exchange()) {
    sweep.encoder_states = grid(1, 4, share);
    sweep.encoder_states_whole = grid(1, 1, share);
    sweep.encoder_feed_forward = grid(1, 4, 0);
    sweep.encoder_feed_forward_whole = grid(1, 1, 0);
  }
  sweep.encoder_heads = sweep.cross_heads = sweep.decoder_heads = grid(1, 2, share);
  sweep.encoder_rows = {grid(2, 4, share)};
  sweep.cross_rows = sweep.decoder_rows = {grid(2, 2, 0)};
  return sweep;
}

CircuitResult fixture_result(const std::string& sentence) {
  CircuitResult inspection;
  inspection.question = {sentence, "because it was wide", {}};
  inspection.offers = {"because it was wide", "because it was dark"};
  const std::vector<Token> tokens = {{10, "\u2581because"}, {11, "\u2581zebra"}, {12, "\u2581tired"}, {2, "</s>"}};
  inspection.facts.clean = {sentence, tokens, "parce qu'il", 7.25};
  inspection.facts.corrupted = {"because it was wide", tokens, "parce qu'elle", -7.5};
  inspection.facts.prefix = {{20, "\u2581parce"}};
  inspection.facts.a = {21, "il"};
  inspection.facts.b = {22, "elle"};
  inspection.facts.words = slots_of(tokens);
  for (const ChangeKind kind : {ChangeKind::contrast, ChangeKind::zero, ChangeKind::mean})
    for (const ContrastSide of : {ContrastSide::clean, ContrastSide::corrupted})
      inspection.sweeps.push_back(fixture_sweep(of, kind, 4, 2));
  inspection.found = fixture_circuit(inspection.facts.words, 1);
  return inspection;
}

AttributionResult fixture_attribution(const AttributionQuestion& question) {
  AttributionResult inspection{.question = question};
  inspection.written = {"\u2581voil\u00E0", "\u2581il"};
  inspection.output = question.output < 0 ? 1 : question.output;
  inspection.logit = 4;
  const auto part = [&](LogitPartKind kind, AttentionPart attention, int head, double logit) {
    inspection.parts.push_back({kind, {attention, 0, head}, logit});
  };
  part(LogitPartKind::biases, AttentionPart::encoder, 0, 0.25);
  part(LogitPartKind::embedding, AttentionPart::encoder, 0, 0.5);
  for (const AttentionPart attention : {AttentionPart::decoder, AttentionPart::cross}) {
    part(LogitPartKind::head, attention, 0, 0.5);
    part(LogitPartKind::head, attention, 1, attention == AttentionPart::cross ? 3 : -1);
  }
  part(LogitPartKind::feed_forward, AttentionPart::decoder, 0, 0.25);
  inspection.tokens = {"\u2581the", "\u2581zebra", "</s>"};
  inspection.log_prob = -0.5;
  inspection.baseline_log_prob = -4.5;
  inspection.heads = {{{AttentionPart::cross, 0, 0}, {0.5, 0.25, 0.25}, {0.6, 0.2, 0.1}},
                      {{AttentionPart::cross, 0, 1}, {0.1, 0.8, 0.1}, {0.2, 1.6, 0.1}}};
  inspection.rollout = {0.3, 0.4, 0.3};
  inspection.gradient_input = {0.2, 0.9, -0.1};
  inspection.integrated = {1, 2.75, 0.25};
  inspection.integrated_errors = {0.01, 0.02, 0.001};
  inspection.deletion = {0.5, 3.5, 0.1};
  return inspection;
}

}  // namespace attnscope
