// Values of one run put into another, and the circuit found by it.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "inspect/circuit/circuit_study.h"
#include "inspect/circuit/contrast_runs.h"
#include "inspect/circuit/corpus_contrasts.h"
#include "inspect/circuit/formation.h"
#include "inspect/circuit/score_split.h"
#include "inspect/circuit/search.h"
#include "inspect/circuit/sweep.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr double nothing = 1e-4;  // of margins of some nats, in single precision

ModelConfig small(const std::string& architecture = "encoder-decoder") {
  ModelConfig config;
  config.architecture = architecture;
  config.d_model = 16;
  config.num_heads = 2;
  config.num_encoder_layers = 2;
  config.num_decoder_layers = 2;
  config.d_ff = 32;
  config.max_length = 40;
  return config;
}

Model random_model(const ModelConfig& config, int seed = 3) {
  torch::manual_seed(seed);
  Model model = make_model(config, tokenizer().vocab_size());
  model->freeze();
  return model;
}

// Weights so large that two sentences are not written alike.
Model wild_model(const ModelConfig& config) {
  Model model = random_model(config);
  torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : model->parameters())
    if (parameter.dim() == 2) parameter.mul_(3);
  return model;
}

const ContrastQuestion cat_or_dog = {"the cat sat", "the dog sat", {"t", "e"}};

std::vector<int> all(int count) {
  std::vector<int> positions;
  for (int i = 0; i < count; ++i) positions.push_back(i);
  return positions;
}

double margin(const ContrastRuns& runs, const ChangedRun& run) {
  return runs.read(std::array{run}).front().margin;
}

Change put(ValueSite site, std::vector<int> positions, std::vector<int> heads = {},
           ChangeKind kind = ChangeKind::contrast) {
  return {kind, site, std::move(heads), std::move(positions), {}, {}};
}

// ---- what a change does

TEST(ContrastRuns, EverythingPutInIsTheRunView) {
  for (const char* architecture : {"encoder-decoder", "decoder-only"}) {
    const Model model = wild_model(small(architecture));
    const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
    const AttentionPart part = runs.facts().language_model ? AttentionPart::decoder : AttentionPart::encoder;
    ASSERT_GT(std::abs(runs.facts().effect()), 1e-3) << architecture;
    for (int layer = 0; layer <= 2; ++layer) {
      const ChangedRun run{ContrastSide::corrupted, {put({ValueKind::state, part, layer}, all(runs.positions(part)))}};
      EXPECT_NEAR(margin(runs, run), runs.facts().clean.margin, nothing) << architecture << layer;
      if (!runs.facts().language_model) {
        EXPECT_EQ(runs.written(run), runs.facts().clean.output);
      }
    }
  }
}

TEST(ContrastRuns, TheSameValueChangesNothing) {
  const Model model = random_model(small());
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  // Before any layer, words that both sentences have are embedded alike.
  const Slot& same = runs.facts().words.front();
  ASSERT_EQ(same.name, "the");
  const ChangedRun embedded{ContrastSide::clean, {put({ValueKind::state, AttentionPart::encoder, 0}, same.positions)}};
  EXPECT_NEAR(margin(runs, embedded), runs.facts().clean.margin, 1e-6);
  // A word's weight exchanged with its own.
  Change itself = put({ValueKind::heads, AttentionPart::encoder, 0}, {5}, {0}, ChangeKind::exchange);
  itself.one = itself.other = {4};
  EXPECT_NEAR(margin(runs, {ContrastSide::clean, {itself}}), runs.facts().clean.margin, 1e-6);
}

TEST(ContrastRuns, RunsSideBySideDoNotMix) {
  const Model model = wild_model(small());
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  std::vector<ChangedRun> many;
  for (int i = 0; i < 200; ++i) {
    const AttentionPart part = i % 3 == 0   ? AttentionPart::encoder
                               : i % 3 == 1 ? AttentionPart::cross
                                            : AttentionPart::decoder;
    const ValueSite site{ValueKind::heads, part, i % 2};
    many.push_back(
        {i % 5 == 0 ? ContrastSide::clean : ContrastSide::corrupted,
         {put(site, {i % runs.positions(part == AttentionPart::encoder ? part : AttentionPart::decoder)}, {i % 2})}});
  }
  const std::vector<Odds> together = runs.read(many);
  for (std::size_t i = 0; i < many.size(); i += 17)
    EXPECT_NEAR(together[i].margin, margin(runs, many[i]), nothing) << i;
}

TEST(ContrastRuns, NothingFromAHeadIsTheHeadSwitchedOff) {
  const Model model = wild_model(small());
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  Interventions off;
  off.heads_off = {{AttentionPart::encoder, 1, 1}};
  Inspection inspection{.interventions = &off};
  std::vector<std::int64_t> source, target = {Tokenizer::bos_id};
  for (const Token& token : runs.facts().clean.tokens) source.push_back(token.id);
  for (const Token& token : runs.facts().prefix) target.push_back(token.id);
  const Memory memory = model->encode(torch::tensor(source).unsqueeze(0), {}, &inspection);
  const torch::Tensor logits =
      model->logits(model->decode(torch::tensor(target).unsqueeze(0), memory, nullptr, &inspection).select(1, -1))[0];
  const ValueSite site{ValueKind::heads, AttentionPart::encoder, 1};
  const double by_zero = margin(
      runs, {ContrastSide::clean, {put(site, all(runs.positions(AttentionPart::encoder)), {1}, ChangeKind::zero)}});
  EXPECT_NEAR(by_zero, (logits[runs.facts().a.id] - logits[runs.facts().b.id]).item<double>(), nothing);
  EXPECT_GT(std::abs(by_zero - runs.facts().clean.margin), 1e-4);
}

// Over all positions of both sentences: the decoder is given that mean by hand.
TEST(ContrastRuns, MeanAblationIsTheMeanOverBothSentences) {
  ModelConfig config = small();
  config.final_norm = false;
  const Model model = wild_model(config);
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  const auto encoded = [&](const ContrastRun& run) {
    return model->encode(torch::tensor(ids_of(run.tokens), torch::kInt64).unsqueeze(0), {});
  };
  Memory memory = encoded(runs.facts().clean);
  const torch::Tensor other = encoded(runs.facts().corrupted).states;
  constexpr int at = 5;
  memory.states = memory.states.clone();
  memory.states[0][at] = (memory.states[0].mean(0) + other[0].mean(0)) / 2;
  std::vector<int> target = ids_of(runs.facts().prefix);
  target.insert(target.begin(), Tokenizer::bos_id);
  const torch::Tensor logits =
      model->logits(model->decode(torch::tensor(target, torch::kInt64).unsqueeze(0), memory).select(1, -1))[0];
  const Change mean = put({ValueKind::state, AttentionPart::encoder, 2}, {at}, {}, ChangeKind::mean);
  EXPECT_NEAR(margin(runs, {ContrastSide::clean, {mean}}),
              (logits[runs.facts().a.id] - logits[runs.facts().b.id]).item<double>(), nothing);
}

TEST(ContrastRuns, SaysWhyTwoSentencesAreNoTwins) {
  const Model model = random_model(small());
  const auto problem = [&](const Model& of, const ContrastQuestion& question) -> std::string {
    try {
      const ContrastRuns runs(*of, tokenizer(), question);
    } catch (const NotContrasting& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(problem(model, {"the cat", "the cat", {}}), HasSubstr("are the same"));
  EXPECT_THAT(problem(model, {"the cat", "the mats", {}}), HasSubstr("8 and 9 tokens"));
  EXPECT_THAT(problem(model, {"the cat", "the mat", {"t", "zebra"}}), HasSubstr("\"zebra\" is not a single token"));
  EXPECT_THAT(problem(model, {std::string(60, 'a'), std::string(60, 'e'), {}}),
              HasSubstr("the model accepts at most 40"));
}

TEST(Slots, AreWordsAndSigns) {
  const auto token = [](const char* text, int id = 9) { return Token{id, text}; };
  const std::vector<Token> tokens = {
      token("▁didn"), token("'"), token("t"), token("▁s"), token("qu"), token("."), token("</s>", Tokenizer::eos_id)};
  const std::vector<Slot> slots = slots_of(tokens);
  EXPECT_EQ(slots, (std::vector<Slot>{{"didn't", {0, 1, 2}}, {"squ", {3, 4}}, {".", {5}}, {"</s>", {6}}}));
}

// ---- a model whose circuit is known: encoder head 2 writes down everywhere, in dimensions 2 and 6, whether "c" or "d"
// was read (0 and 4); cross-attention head 1 copies that to 3 and 7, which the output reads. All else is nought.

torch::Tensor parameter(const Model& model, const std::string& name) {
  return model->named_parameters()[name];
}

Model model_by_hand() {
  ModelConfig config = small();
  config.d_model = 8;
  config.num_encoder_layers = config.num_decoder_layers = 1;
  config.norm = "pre";
  config.positions = "none";
  config.tied_embeddings = false;
  torch::NoGradGuard no_grad;
  Model model = make_model(config, tokenizer().vocab_size());
  for (const auto& item : model->named_parameters())
    if (item.key().find("norm") == std::string::npos) item.value().zero_();
  const auto id = [](const std::string& letter) { return tokenizer().encode("a" + letter).back().id; };
  // Opposite numbers in two dimensions each, so that the layer norms leave them alone.
  const torch::Tensor read = parameter(model, "source_embedding.weight");
  const torch::Tensor written = parameter(model, "target_embedding.weight");
  for (torch::Tensor rows : {read, written}) {
    rows.select(1, 1).fill_(1);
    rows.select(1, 5).fill_(-1);
  }
  for (const auto& [letter, sign] : {std::pair("c", 1.0), std::pair("d", -1.0)}) {
    read[id(letter)].zero_();
    read[id(letter)][0] = sign;
    read[id(letter)][4] = -sign;
  }
  constexpr int d_model = 8, d = 4;
  const auto copy = [&](const std::string& attention, int head, int from, int to) {
    const int value = head * d;  // the first number of this head's values
    parameter(model, attention + ".in_proj_weight")[2 * d_model + value][from] = 8;
    parameter(model, attention + ".out_proj.weight")[to][value] = 1;
    parameter(model, attention + ".out_proj.weight")[to + 4][value] = -1;
  };
  copy("encoder.layers.0.self_attn", 1, 0, 2);
  copy("decoder.layers.0.multihead_attn", 0, 2, 3);
  parameter(model, "output_weight")[id("t")][3] = 4;
  parameter(model, "output_weight")[id("e")][3] = -4;
  model->freeze();
  return model;
}

const ContrastQuestion c_or_d = {"the c sat", "the d sat", {}};

TEST(Circuit, OneHeadIsResponsibleAndTheOthersAreNot) {
  const Model model = model_by_hand();
  const ContrastRuns runs(*model, tokenizer(), c_or_d);
  EXPECT_EQ(runs.facts().a.text, "t");
  EXPECT_EQ(runs.facts().b.text, "e");
  for (const ContrastSide of : {ContrastSide::clean, ContrastSide::corrupted}) {
    const Sweep swept = sweep(runs, of, ChangeKind::contrast);
    EXPECT_GE(swept.encoder_heads.at(0, 1).share, 0.95);
    EXPECT_LE(std::abs(swept.encoder_heads.at(0, 0).share), 0.05);
    EXPECT_GE(swept.cross_heads.at(0, 0).share, 0.95);
    EXPECT_LE(std::abs(swept.cross_heads.at(0, 1).share), 0.05);
    for (const int head : {0, 1}) EXPECT_LE(std::abs(swept.decoder_heads.at(0, head).share), 0.05);
    for (const Effect& effect : swept.encoder_feed_forward.effects) EXPECT_LE(std::abs(effect.share), 0.05);
    // Embedded, the word itself has it; nobody else has.
    const std::vector<int>& word = runs.facts().words[1].positions;
    for (int at = 0; at < swept.encoder_states.cols; ++at)
      EXPECT_NEAR(swept.encoder_states.at(0, at).share, at == word.back() ? 1 : 0, 0.05) << at;
  }
}

TEST(Circuit, TheSearchFindsTheHeadAndNothingMore) {
  const Model model = model_by_hand();
  const Circuit found = find_circuit({case_of(std::make_shared<const ContrastRuns>(*model, tokenizer(), c_or_d))});
  EXPECT_EQ(found.problem, "");
  ASSERT_THAT(found.edges, SizeIs(2));
  EXPECT_EQ(found.edges[0].part, AttentionPart::encoder);
  EXPECT_EQ(found.edges[0].heads(), std::vector{1});
  EXPECT_EQ(found.edges[1].part, AttentionPart::cross);
  EXPECT_EQ(found.edges[1].heads(), std::vector{0});
  EXPECT_EQ(found.edges[1].together.turned(), 2);
  EXPECT_EQ(found.places.front().slots, std::vector{1});
  EXPECT_EQ(found.pairs, 1);
}

// The head that carries nothing is taught to look at "c" and "d", and at them differently.
TEST(Circuit, AHeadThatOnlyLooksIsADecoy) {
  const Model model = model_by_hand();
  {
    torch::NoGradGuard no_grad;
    const torch::Tensor projections = parameter(model, "encoder.layers.0.self_attn.in_proj_weight");
    projections[0][1] = 8;      // every word's query
    projections[8 + 0][0] = 8;  // "c" is what it looks for, and "d" what it looks away from
  }
  const Circuit found = find_circuit({case_of(std::make_shared<const ContrastRuns>(*model, tokenizer(), c_or_d))});
  ASSERT_THAT(found.decoys, SizeIs(1));
  EXPECT_EQ(found.decoys[0].place, (HeadPlace{AttentionPart::encoder, 0, 0}));
  EXPECT_EQ(found.slots[static_cast<std::size_t>(found.decoys[0].to)], "c");
  EXPECT_GT(found.decoys[0].weight, 0.9);
  EXPECT_LT(found.decoys[0].corrupted_weight, 0.2);
  EXPECT_THAT(found.edges, SizeIs(2));
}

TEST(Circuit, RandomWeightsHaveNone) {
  for (const int seed : {1, 2, 3}) {
    for (const char* architecture : {"encoder-decoder", "decoder-only"}) {
      const Model model = random_model(small(architecture), seed);
      const Circuit found =
          find_circuit({case_of(std::make_shared<const ContrastRuns>(*model, tokenizer(), cat_or_dog))});
      EXPECT_THAT(found.problem, HasSubstr("No circuit found")) << architecture << seed;
      EXPECT_TRUE(found.edges.empty());
    }
  }
}

TEST(Circuit, CanBeGivenUp) {
  const Model model = model_by_hand();
  const std::vector<ContrastCase> cases = {case_of(std::make_shared<const ContrastRuns>(*model, tokenizer(), c_or_d))};
  int called = 0;
  double last = 0;
  find_circuit(cases, [&](double fraction) {
    EXPECT_GE(fraction, last);
    last = fraction;
    ++called;
  });
  EXPECT_GT(called, 5);
  EXPECT_THROW(find_circuit(cases, [](double) { throw Cancelled(); }), Cancelled);
}

// ---- an exchange, and one path alone

TEST(Sweeps, OfAnExchangeAreTheExchangesOneByOne) {
  const Model model = wild_model(small());
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  const SweepQuestion asked{cat_or_dog, runs.facts().words[0].positions, runs.facts().words[2].positions};
  const Sweep swept = sweep(runs, ContrastSide::clean, asked);
  EXPECT_TRUE(swept.encoder_states.empty());  // vectors have no weights
  double most = 0;
  for (const AttentionPart part : {AttentionPart::encoder, AttentionPart::cross}) {
    const int query = part == AttentionPart::encoder ? 2 : 0;
    Change change = put({ValueKind::heads, part, 1}, {query}, {1}, ChangeKind::exchange);
    change.one = asked.one;
    change.other = asked.other;
    EXPECT_NEAR(swept.rows(part)[1].at(1, query).margin, margin(runs, {ContrastSide::clean, {change}}), nothing);
    for (const Effect& effect : swept.heads(part).effects) most = std::max<double>(most, std::abs(effect.share));
  }
  EXPECT_GT(most, 1e-3);
  for (const Effect& effect : swept.decoder_heads.effects) EXPECT_EQ(effect.share, 0);  // it reads what is written
}

TEST(Paths, ReachWhatComesAfterThem) {
  using enum AttentionPart;
  const auto straight = [](ValueKind kind, AttentionPart part, int layer, AttentionPart end, int end_layer) {
    return goes_straight({kind, part, layer}, {end, end_layer, {}, {}});
  };
  using enum ValueKind;
  EXPECT_TRUE(straight(heads, encoder, 0, encoder, 1));
  EXPECT_FALSE(straight(heads, encoder, 1, encoder, 1));
  EXPECT_TRUE(straight(feed_forward, encoder, 1, cross, 0));
  EXPECT_FALSE(straight(feed_forward, encoder, 1, decoder, 1));  // only by way of a cross-attention
  EXPECT_FALSE(straight(heads, cross, 0, encoder, 1));
  EXPECT_TRUE(straight(heads, decoder, 1, cross, 1));
  EXPECT_FALSE(straight(heads, cross, 1, cross, 1));
  EXPECT_FALSE(straight(feed_forward, decoder, 1, cross, 1));
  EXPECT_TRUE(straight(heads, cross, 0, decoder, 1));
  EXPECT_TRUE(straight(state, encoder, 0, cross, 1));
  EXPECT_FALSE(straight(state, encoder, 1, cross, 1));
}

// All that goes straight to some heads, changed together, is their whole output changed.
TEST(Paths, AllTogetherAreTheWholeOutput) {
  using enum AttentionPart;
  struct End {
    const char* architecture;
    AttentionPart part;
    std::vector<AttentionPart> stacks;
  };
  for (const auto& [architecture, part, stacks] :
       {End{"encoder-decoder", encoder, {encoder}}, End{"encoder-decoder", cross, {encoder, decoder}},
        End{"decoder-only", decoder, {decoder}}}) {
    const Model model = wild_model(small(architecture));
    const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
    const PathEnd end{part, 1, {0}, all(runs.positions(part == encoder ? encoder : decoder))};
    ChangedRun everything{ContrastSide::corrupted, {}};
    for (const AttentionPart stack : stacks) {
      const std::vector<int> at = all(runs.positions(stack));
      const ValueSite embedded{ValueKind::state, stack, 0};
      everything.changes.push_back(put(embedded, at));
      for (int layer = 0; layer < 2; ++layer) {
        for (const AttentionPart heads : {stack, cross}) {
          const ValueSite site{ValueKind::heads, heads, layer};
          const bool is_there = heads == stack || (stack == decoder && part == cross);
          if (is_there && goes_straight(site, end)) everything.changes.push_back(put(site, at, {0, 1}));
        }
        const ValueSite added{ValueKind::feed_forward, stack, layer};
        if (goes_straight(added, end)) everything.changes.push_back(put(added, at));
      }
    }
    const ChangedRun whole{ContrastSide::corrupted, {put({ValueKind::heads, part, 1}, end.positions, {0})}};
    const double expected = margin(runs, whole);
    EXPECT_GT(std::abs(expected - runs.facts().corrupted.margin), 1e-3) << architecture;
    EXPECT_NEAR(runs.read(std::array{everything}, end, {}).front().margin, expected, nothing) << architecture;
    // And nothing changed arrives as nothing.
    EXPECT_NEAR(runs.read(std::array{ChangedRun{ContrastSide::corrupted}}, end, {}).front().margin,
                runs.facts().corrupted.margin, nothing);
  }
}

// In the model by hand the word goes by the one head alone; from it to the decoder's, and no other way.
TEST(Paths, AreThoseOfTheModelByHand) {
  const Model model = model_by_hand();
  const ContrastRuns runs(*model, tokenizer(), c_or_d);
  const std::vector<int> step = {runs.positions(AttentionPart::decoder) - 1};
  const Sweep to_writer = sweep(runs, ContrastSide::corrupted, {c_or_d, {}, {}, {AttentionPart::cross, 0, {0}, step}});
  EXPECT_GE(to_writer.encoder_heads.at(0, 1).share, 0.95);
  EXPECT_LE(std::abs(to_writer.encoder_heads.at(0, 0).share), 0.05);
  for (const Effect& effect : to_writer.encoder_states.effects) EXPECT_LE(std::abs(effect.share), 0.05);
  const std::vector<int> words = all(runs.positions(AttentionPart::encoder));
  const Sweep to_reader =
      sweep(runs, ContrastSide::corrupted, {c_or_d, {}, {}, {AttentionPart::encoder, 0, {1}, words}});
  EXPECT_GE(to_reader.encoder_states.at(0, runs.facts().words[1].positions.back()).share, 0.95);
  EXPECT_EQ(to_reader.encoder_heads.at(0, 0).share, 0);
}

TEST(Circuit, CountsTheOtherWaysToChangeItsHeads) {
  const Model model = model_by_hand();
  const auto runs = std::make_shared<const ContrastRuns>(*model, tokenizer(), c_or_d);
  const Circuit found = find_circuit({case_of(runs)});
  const CircuitEdge& edge = found.edges.front();
  ASSERT_THAT(edge.ways, SizeIs(4));
  EXPECT_EQ(edge.ways.front().kind, edge.kind);
  EXPECT_EQ(edge.ways.front().tally.turned(), edge.together.turned());
  for (const Way& way : edge.ways) {
    std::vector<Change> changes;
    for (const HeadRow& member : edge.members) {
      changes.push_back(put({ValueKind::heads, edge.part, edge.layer},
                            runs->facts().words[static_cast<std::size_t>(member.slot)].positions, {member.head},
                            way.kind));
      if (way.kind != ChangeKind::exchange) continue;
      changes.back().one = runs->facts().words[static_cast<std::size_t>(way.words.at(0))].positions;
      changes.back().other = runs->facts().words[static_cast<std::size_t>(way.words.at(1))].positions;
    }
    EXPECT_NEAR(way.tally.clean_share, runs->share(ContrastSide::clean, margin(*runs, {ContrastSide::clean, changes})),
                nothing);
    EXPECT_NEAR(way.tally.corrupted_share,
                runs->share(ContrastSide::corrupted, margin(*runs, {ContrastSide::corrupted, changes})), nothing);
  }
  // Without the head nothing is brought, neither the one answer nor the other.
  EXPECT_EQ(std::ranges::find(edge.ways, ChangeKind::zero, &Way::kind)->tally.turned(), 0);
}

// ---- why one head is not enough

CircuitEdge two_heads(double first, double second, double together) {
  CircuitEdge edge{.members = {{0, 0}, {1, 0}}};
  edge.together = {1, 1, 1, together, together};
  edge.alone = {{1, 0, 0, first, first}, {1, 0, 0, second, second}};
  return edge;
}

TEST(Circuit, SaysFromTheNumbersWhyOneHeadIsNotEnough) {
  EXPECT_THAT(why_not_one(two_heads(0.52, 0.45, 0.96)),
              HasSubstr("head 1: 52 %, head 2: 45 %; together: 96 %. Their effects add up."));
  EXPECT_THAT(why_not_one(two_heads(0.1, 0.05, 0.96)), HasSubstr("an OR"));
  EXPECT_THAT(why_not_one(two_heads(0.9, 0.8, 0.96)), HasSubstr("Their effects overlap"));
  CircuitEdge one_way = two_heads(0.5, 0.4, 0.96);
  one_way.clean_members = one_way.members;
  one_way.corrupted_members = {{1, 0}};
  EXPECT_THAT(why_not_one(one_way), testing::AllOf(HasSubstr("Restoring head 2 is enough to recover the answer"),
                                                   testing::Not(HasSubstr("Corrupting"))));
  CircuitEdge one{.members = {{0, 0}}};
  one.alone = {{1, 1, 1, 1, 1}};
  EXPECT_EQ(why_not_one(one), "");
}

// Both ways there is a set that turns the answer, of the members and no larger than they.
TEST(Circuit, TheFewestOfEitherDirectionAreMembers) {
  const Model model = model_by_hand();
  const Circuit found = find_circuit({case_of(std::make_shared<const ContrastRuns>(*model, tokenizer(), c_or_d))});
  for (const CircuitEdge& edge : found.edges) {
    EXPECT_EQ(edge.clean_members, edge.members);
    EXPECT_EQ(edge.corrupted_members, edge.members);
  }
}

// ---- why a head looks there

class Scores : public testing::TestWithParam<std::tuple<const char*, const char*, const char*, const char*>> {};

// A softmax turns a difference of scores into a ratio of weights: the model's own weights hold the sum to account.
TEST_P(Scores, TheirPartsSumToWhatTheModelsWeightsSay) {
  const auto& [architecture, norm, kind, positions] = GetParam();
  ModelConfig config = small(architecture);
  config.norm = norm;
  const bool gemma = std::string(kind) == "gemma";
  config.norm_kind = gemma ? "rms" : kind;
  config.output_norms = config.query_key_norm = gemma;
  config.score_width = gemma ? 3 : 0;
  config.positions = positions;
  config.num_kv_heads = std::string(kind) == "rms" ? 1 : 0;
  const Model model = random_model(config);
  for (auto& parameter : model->named_parameters())  // T5's begin at 0
    if (parameter.key().ends_with("relative_attention_bias")) torch::nn::init::normal_(parameter.value());
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  const AttentionPart reader = config.is_language_model() ? AttentionPart::decoder : AttentionPart::encoder;
  for (const ContrastSide contrast : {ContrastSide::clean, ContrastSide::corrupted}) {
    for (int layer = 0; layer < 2; ++layer) {
      for (int head = 0; head < 2; ++head) {
        const int from = static_cast<int>(runs.facts().words.size()) - 1;
        const ScoreSplit split = split_score(runs, {cat_or_dog, contrast, {reader, layer, head}, from, 0, from - 1});
        ASSERT_EQ(split.problem, "");
        const int at_first = config.positions == "sinusoidal" ? 3 : 2;  // the word, its place where it is added, biases
        EXPECT_THAT(split.parts, SizeIs(static_cast<std::size_t>(at_first + 3 * layer)));
        const bool told = config.positions != "sinusoidal" && config.positions != "rope";
        EXPECT_EQ(split.key_parts.back(), told ? "distance" : "biases");
        double sum = 0;
        for (const float term : split.terms.values) sum += static_cast<double>(term);
        EXPECT_NEAR(sum, split.score, 1e-4 * std::max(1.0, std::abs(split.score)));
        // Mean log weight over a word's pieces: what the softmax divides by falls out of the difference.
        const auto mean_log = [&](int slot) {
          const auto& words = runs.facts().words;
          double mean = 0, count = 0;
          for (const int query : words[static_cast<std::size_t>(from)].positions)
            for (const int key : words[static_cast<std::size_t>(slot)].positions) {
              mean += std::log(runs.weights(contrast, reader, layer)[head][query][key].item<double>());
              count += 1;
            }
          return mean / count;
        };
        EXPECT_NEAR(split.score, mean_log(0) - mean_log(from - 1), 1e-3 * std::max(1.0, std::abs(split.score)));
      }
    }
  }
}

// A bias by distance is no part of a token: it stands in the row of the biases, and is the model's own number.
TEST(ScoreParts, ABiasByDistanceBelongsToNoToken) {
  for (const char* positions : {"t5", "alibi"}) {
    ModelConfig config = small();
    config.positions = positions;
    const Model model = random_model(config);
    for (auto& parameter : model->named_parameters())
      if (parameter.key().ends_with("relative_attention_bias")) torch::nn::init::normal_(parameter.value());
    const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
    const ScoreSplit split =
        split_score(runs, {cat_or_dog, ContrastSide::clean, {AttentionPart::encoder, 1, 1}, 2, 0, -1});
    const torch::Tensor bias = runs.relative_positions(AttentionPart::encoder).bias[1];  // Q×K
    double sum = 0, count = 0;
    for (const int query : runs.facts().words[2].positions)
      for (const int key : runs.facts().words[0].positions) {
        sum += bias[query][key].item<double>();
        ++count;
      }
    ASSERT_EQ(split.key_parts.back(), "distance");
    for (int row = 0; row < split.terms.rows; ++row) {
      const double expected = split.parts[static_cast<std::size_t>(row)] == "biases" ? sum / count : 0;
      EXPECT_NEAR(split.terms.at(row, split.terms.cols - 1), expected, 1e-6) << positions << row;
    }
  }
}

// Each part that is switched off in the weights leaves its own row and column 0, and no other.
TEST(ScoreParts, HaveTheirOwnNames) {
  const std::vector<std::string> names = {"embedding", "position", "L1 H1", "L1 H2", "feed-forward 1", "biases"};
  for (const std::size_t silent : {2, 3, 4}) {
    ModelConfig config = small();
    config.positions = "sinusoidal";
    const Model model = random_model(config);
    {
      const torch::NoGradGuard no_grad;
      auto parameters = model->named_parameters();
      for (auto& parameter : parameters)
        if (parameter.key().ends_with("bias")) torch::nn::init::normal_(parameter.value(), 0, 0.1);
      torch::Tensor w_o = parameters["encoder.layers.0.self_attn.out_proj.weight"];
      if (silent == 2) w_o.slice(1, 0, 8).zero_();
      if (silent == 3) w_o.slice(1, 8, 16).zero_();
      if (silent == 4) parameters["encoder.layers.0.linear2.weight"].zero_();
      if (silent == 4) parameters["encoder.layers.0.linear2.bias"].zero_();
    }
    const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
    const ScoreSplit split =
        split_score(runs, {cat_or_dog, ContrastSide::clean, {AttentionPart::encoder, 1, 0}, 2, 0, -1});
    EXPECT_EQ(split.parts, names);
    EXPECT_EQ(split.key_parts, names);
    for (int i = 0; i < split.terms.rows; ++i) {
      double row = 0, column = 0;
      for (int j = 0; j < split.terms.rows; ++j) {
        row += std::abs(static_cast<double>(split.terms.at(i, j)));
        column += std::abs(static_cast<double>(split.terms.at(j, i)));
      }
      EXPECT_EQ(row < 1e-7 && column < 1e-7, i == static_cast<int>(silent)) << names[silent] << ", " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Scores,
                         testing::Combine(testing::Values("encoder-decoder", "decoder-only"),
                                          testing::Values("post", "pre"), testing::Values("layer", "rms", "gemma"),
                                          testing::Values("sinusoidal", "rope", "t5", "alibi", "shaw")));

// ---- pairs of a corpus

Corpus small_corpus() {
  const auto pair = [](const char* source, const char* antecedent) {
    return Pair{.source = source, .target = "", .category = "pronoun", .antecedent = antecedent, .pronoun = "il"};
  };
  Corpus corpus;
  corpus.train = {pair("the cat ran to the car as it was tired.", "cat"),
                  pair("the dog ran to the car as it was red.", "car"),
                  pair("the cow ran to the van as it was old.", "van"),
                  pair("the pig hid in the car as it was tired.", "pig"), pair("the end.", "")};
  corpus.test = {pair("the cat ran to the car as it was red.", "car")};
  return corpus;
}

TEST(CorpusContrasts, HaveTheWordsThatTheCorpusHasForTheOtherNoun) {
  const ContrastQuestion pair{"the cat ran to the car as it was tired.", "the cat ran to the car as it was red.", {}};
  const std::vector<ContrastQuestion> contrasts = contrasts_like(small_corpus(), pair);
  ASSERT_THAT(contrasts, SizeIs(3));
  EXPECT_EQ(contrasts[0].clean, "the cat ran to the car as it was red.");  // held out, and so first
  EXPECT_EQ(contrasts[0].corrupted, "the cat ran to the car as it was tired.");
  for (const ContrastQuestion& contrast : contrasts) {
    EXPECT_THAT(contrast.corrupted, HasSubstr("tired")) << contrast.clean;
    EXPECT_THAT(contrast.clean, HasSubstr("ran to"));  // another verb is another kind of sentence
  }
  EXPECT_THAT(contrasts_like(small_corpus(), pair, 2), SizeIs(2));
  EXPECT_THAT(contrasts_like(small_corpus(), {"the cat ran", "a dog ran", {}}), SizeIs(0));
}

TEST(CorpusContrasts, TheLikeliestAreOfferedFirst) {
  Corpus corpus = small_corpus();
  const auto add = [&](std::size_t like, const char* source) {
    Pair pair = corpus.train[like];
    pair.source = source;
    corpus.train.push_back(pair);
  };
  add(1, "the cat ran to the car as it was broken.");  // nothing else differs, as with "red"
  add(2, "the pig hid in the van as it was red.");     // said of two things: the better known
  add(1, "the cow hid by the car as it was blue.");    // three other words: of another kind
  const std::vector<std::string> offered = contrasts_of(corpus, "the cat ran to the car as it was tired.");
  const std::string start = "the cat ran to the car as it was ";
  ASSERT_GE(offered.size(), 3U);
  EXPECT_THAT(std::vector(offered.begin(), offered.begin() + 3),
              testing::ElementsAre(start + "red.", start + "broken.", start + "old."));
  EXPECT_THAT(contrasts_of(corpus, "the cat ran to the car as it was tired.", 1), SizeIs(1));
  EXPECT_THAT(contrasts_of(corpus, "the end."), SizeIs(0));
}

TEST(CorpusContrasts, AnyCorpusHasWordsToSwap) {
  Corpus corpus;
  const auto pair = [](const char* source) { return Pair{.source = source, .target = ""}; };
  corpus.train = {pair("a b c"), pair("a d c"), pair("a d c"), pair("a e f"), pair("g b c"), pair("h i j")};
  EXPECT_THAT(word_swaps_of(corpus, "a b c"),
              testing::ElementsAre("a d c", "g b c", "a e c"));  // between the same words, frequent first
  EXPECT_THAT(word_swaps_of(corpus, "a b c", 1), SizeIs(1));
  EXPECT_THAT(word_swaps_of(corpus, ""), SizeIs(0));
  corpus = {};
  corpus.text.train = "a b c\na d c\n";
  EXPECT_THAT(word_swaps_of(corpus, "a b c"), testing::ElementsAre("a d c"));
}

TEST(CorpusContrasts, OfTheFirstSentenceIsTheOneThatEverybodyKnows) {
  CorpusConfig config;
  const std::string tired = "The animal didn't cross the street because it was too tired.";
  const std::string wide = "The animal didn't cross the street because it was too wide.";
  EXPECT_THAT(contrasts_of(load_corpus(config), tired, 1), testing::ElementsAre(wide));
  EXPECT_THAT(contrasts_of(load_corpus(config), wide, 1), testing::ElementsAre(tired))
      << "she was tired, too, but not it";
}

TEST(CorpusContrasts, AreCountedWhereTheModelTellsThemApart) {
  const Model model = model_by_hand();
  const ContrastRuns runs(*model, tokenizer(), c_or_d);
  const CorpusCases found =
      cases_like(*model, tokenizer(), runs.facts(),
                 {{"the c ran", "the d ran", {}}, {"the d mat", "the c mat", {}}, {"the t ran", "the e ran", {}}});
  EXPECT_EQ(found.tried, 3);
  ASSERT_THAT(found.cases, SizeIs(2));
  EXPECT_EQ(found.cases[1].runs->facts().clean.text, "the c mat");  // what is answered as the pair's clean sentence is
  EXPECT_EQ(found.cases[0].slots[1].name, "c…");
  const Circuit circuit = find_circuit(found.cases);
  EXPECT_EQ(circuit.pairs, 2);
  EXPECT_EQ(circuit.edges.front().together.turned(), 4);
}

TEST(CircuitStudies, CanBeCancelledWhileAContrastIsSought) {
  const Model model = random_model(small());
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : model->parameters()) parameter.zero_();  // every sentence has the same output
  Corpus corpus;
  corpus.train =
      corpus.test = {Pair{.source = "the cat sat", .target = ""}, Pair{.source = "the dog sat", .target = ""}};
  const auto ask = [&](const FractionCallback& progress) {
    return answer(CircuitGround{*model, tokenizer(), &corpus}, CircuitStudy{{"the cat sat", "", {}}}, progress);
  };
  EXPECT_THAT(ask([](double) {}).problem, HasSubstr("gives the same output"));
  EXPECT_THROW(ask([](double) { throw std::runtime_error("cancelled"); }), std::runtime_error);
}

// ---- over training

// All vectors at once carry the whole difference, in whatever model; none of them nothing.
TEST(Formation, OfAllWordsIsTheWholeDifferenceInAnyModel) {
  Model last = wild_model(small());
  const ContrastRuns runs(*last, tokenizer(), cat_or_dog);
  FormationStudy study{cat_or_dog, runs.facts(), {}};
  const int words = static_cast<int>(runs.facts().words.size());
  study.circuit.places = {{.layer = 2, .slots = all(words), .together = {}, .rest = {}, .each = {}}};
  study.circuit.edges = {{.part = AttentionPart::cross, .layer = 1, .members = {}}};
  for (const int seed : {3, 4, 5}) {
    Model earlier = random_model(small(), seed);
    const FormationPoint point = formation_point(*earlier, tokenizer(), study, 100 * seed);
    EXPECT_EQ(point.step, 100 * seed);
    ASSERT_THAT(point.moved, SizeIs(2));
    EXPECT_NEAR(point.moved[0], point.difference, nothing);
    EXPECT_NEAR(point.moved[1], 0, nothing);
  }
}

TEST(Formation, OfPartsThatTheModelDoesNotHaveIsRefused) {
  Model model = wild_model(small());
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  FormationStudy whole{cat_or_dog, runs.facts(), {}};
  whole.circuit.places = {{.layer = 2, .slots = {0}, .together = {}, .rest = {}, .each = {}}};
  whole.circuit.edges = {{.part = AttentionPart::cross, .layer = 1, .members = {{.head = 1, .slot = 1}}}};
  EXPECT_NO_THROW(formation_point(*model, tokenizer(), whole, 1));
  const std::vector<std::function<void(FormationStudy&)>> faults = {
      [](FormationStudy& it) { it.facts.a.id = 1 << 20; },
      [](FormationStudy& it) { it.facts.b.id = -1; },
      [](FormationStudy& it) {
        it.facts.prefix.push_back({1 << 20, ""});
      },
      [](FormationStudy& it) { it.facts.prefix.resize(5000, it.facts.a); },
      [](FormationStudy& it) { it.circuit.reader = AttentionPart::decoder; },
      [](FormationStudy& it) { it.circuit.places[0].layer = 3; },
      [](FormationStudy& it) { it.circuit.places[0].layer = -1; },
      [](FormationStudy& it) { it.circuit.places[0].slots = {99}; },
      [](FormationStudy& it) { it.circuit.edges[0].layer = 2; },
      [](FormationStudy& it) { it.circuit.edges[0].members[0].head = 2; },
      [](FormationStudy& it) { it.circuit.edges[0].members[0].slot = 2; },
      [](FormationStudy& it) { it.circuit.edges[0].members[0].slot = -1; },
      [](FormationStudy& it) { it.circuit.edges[0].kind = ChangeKind::exchange; },
      [](FormationStudy& it) {
        it.circuit.edges[0] = {.part = AttentionPart::encoder, .kind = ChangeKind::exchange, .read = {0, 99}};
      }};
  for (std::size_t i = 0; i < faults.size(); ++i) {
    FormationStudy study = whole;
    faults[i](study);
    EXPECT_THROW(formation_point(*model, tokenizer(), study, 1), NotContrasting) << i;
  }
}

// The step asked about is the last model's, whatever the earlier one would have written.
TEST(Formation, IsAskedWhereTheLastModelParts) {
  Model last = wild_model(small());
  const ContrastRuns runs(*last, tokenizer(), cat_or_dog);
  Model earlier = random_model(small(), 9);
  const ContrastRuns before(*earlier, tokenizer(), runs.facts());
  EXPECT_EQ(before.facts().prefix, runs.facts().prefix);
  EXPECT_EQ(before.facts().a, runs.facts().a);
  EXPECT_EQ(before.facts().b, runs.facts().b);
  EXPECT_NE(before.facts().clean.margin, runs.facts().clean.margin);
}

}  // namespace
}  // namespace attnscope
