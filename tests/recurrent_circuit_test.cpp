// Values of one run put into another in recurrent networks: the states after a word, and what attention saw.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "inspect/circuit/contrast_runs.h"
#include "inspect/circuit/search.h"
#include "inspect/circuit/sweep.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr double nothing = 1e-4;  // of margins of some nats, in single precision

struct Kind {
  std::string cell, attention;
  bool bidirectional = false;
};

ModelConfig small(const Kind& kind, int layers = 2) {
  ModelConfig config;
  config.architecture = "recurrent";
  config.cell = kind.cell;
  config.attention = kind.attention;
  config.bidirectional = kind.bidirectional;
  config.d_model = 16;
  config.num_encoder_layers = config.num_decoder_layers = layers;
  config.max_length = 40;
  return config;
}

// Weights so large that two sentences are not written alike.
Model wild_model(const ModelConfig& config) {
  torch::manual_seed(3);
  Model model = make_model(config, tokenizer().vocab_size());
  torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : model->parameters())
    if (parameter.dim() == 2) parameter.mul_(3);
  model->freeze();
  return model;
}

const ContrastQuestion cat_or_dog = {"the cat sat", "the dog ran", {"t", "e"}};

std::vector<int> up_to(int count) {
  std::vector<int> positions;
  for (int i = 0; i < count; ++i) positions.push_back(i);
  return positions;
}

double margin(const ContrastRuns& runs, const ChangedRun& run) {
  return runs.read(std::array{run}).front().margin;
}

Change put(AttentionPart stack, int layer, std::vector<int> positions) {
  return {ChangeKind::contrast, {ValueKind::state, stack, layer}, {}, std::move(positions), {}, {}};
}

std::vector<std::int64_t> ids_of(const std::vector<Token>& tokens) {
  std::vector<std::int64_t> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

// log p(a) − log p(b) after `memory`, asked where `runs` are.
double margin_after(const Model& model, const ContrastRuns& runs, const Memory& memory) {
  std::vector<std::int64_t> written = ids_of(runs.facts().prefix);
  written.insert(written.begin(), Tokenizer::bos_id);
  const torch::Tensor features = model->decode(torch::tensor(written).unsqueeze(0), memory);
  const torch::Tensor logits = model->logits(features.select(1, -1))[0];
  return (logits[runs.facts().a.id] - logits[runs.facts().b.id]).item<double>();
}

class RecurrentRuns : public testing::TestWithParam<Kind> {};

TEST_P(RecurrentRuns, EverythingPutInIsTheRunView) {
  const Model model = wild_model(small(GetParam()));
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  ASSERT_GT(std::abs(runs.facts().effect()), 1e-3);
  const std::vector<int> read = up_to(runs.positions(AttentionPart::encoder));
  const ChangedRun embedded{ContrastSide::corrupted, {put(AttentionPart::encoder, 0, read)}};
  const ChangedRun states{ContrastSide::corrupted,
                          {put(AttentionPart::encoder, 1, read), put(AttentionPart::encoder, 2, read)}};
  for (const ChangedRun& run : {embedded, states}) {
    EXPECT_NEAR(margin(runs, run), runs.facts().clean.margin, nothing);
    EXPECT_EQ(runs.written(run), runs.facts().clean.output);
  }
}

// With the states and inputs of the other sentence, the decoder continues as for that sentence, whatever was encoded.
TEST_P(RecurrentRuns, TheDecodersStatesAndWhatItSawAreTheRunView) {
  const Model model = wild_model(small(GetParam()));
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  const std::vector<int> written = up_to(runs.positions(AttentionPart::decoder));
  ChangedRun run{ContrastSide::corrupted,
                 {put(AttentionPart::decoder, 1, written), put(AttentionPart::decoder, 2, written)}};
  if (GetParam().attention != "none")
    run.changes.push_back({ChangeKind::contrast, {ValueKind::heads, AttentionPart::cross, 0}, {0}, written, {}, {}});
  EXPECT_NEAR(margin(runs, run), runs.facts().clean.margin, nothing);
}

TEST_P(RecurrentRuns, SideBySideDoNotMix) {
  const Model model = wild_model(small(GetParam()));
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  std::vector<ChangedRun> many;
  for (int i = 0; i < 60; ++i) {
    const AttentionPart stack = i % 3 == 0 ? AttentionPart::decoder : AttentionPart::encoder;
    many.push_back({i % 5 == 0 ? ContrastSide::clean : ContrastSide::corrupted,
                    {put(stack, i % 2 + 1, {i % runs.positions(stack)})}});
  }
  const std::vector<Odds> together = runs.read(many);
  for (std::size_t i = 0; i < many.size(); i += 7) EXPECT_NEAR(together[i].margin, margin(runs, many[i]), nothing) << i;
}

class BottleneckRuns : public RecurrentRuns {};

// The state after a word is what has been read up to it: put in, it is as if those words had been read. A cell that
// reads from the end has read the others. Attention would read the words before it too.
TEST_P(BottleneckRuns, TheStateAfterAWordIsWhatWasReadBeforeIt) {
  const Model model = wild_model(small(GetParam(), 1));
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  const std::vector<std::int64_t> clean = ids_of(runs.facts().clean.tokens),
                                  corrupted = ids_of(runs.facts().corrupted.tokens);
  constexpr int at = 5;  // within the second word
  std::vector<std::int64_t> forward = corrupted, backward = corrupted;
  std::copy(clean.begin(), clean.begin() + at + 1, forward.begin());
  std::copy(clean.begin() + at, clean.end(), backward.begin() + at);
  Memory expected = model->encode(torch::tensor(forward).unsqueeze(0), {});
  if (GetParam().bidirectional) {
    const Memory reverse = model->encode(torch::tensor(backward).unsqueeze(0), {});
    for (std::size_t i = 0; i < expected.last.size(); ++i)
      expected.last[i] = torch::cat({expected.last[i].chunk(2, 1)[0], reverse.last[i].chunk(2, 1)[1]}, 1);
  }
  const double by_state = margin(runs, {ContrastSide::corrupted, {put(AttentionPart::encoder, 1, {at})}});
  EXPECT_NEAR(by_state, margin_after(model, runs, expected), nothing);
  EXPECT_GT(std::abs(by_state - runs.facts().corrupted.margin), 1e-3);
}

TEST_P(RecurrentRuns, SweepsHaveStatesAndWhatAttentionSaw) {
  const Model model = wild_model(small(GetParam()));
  const ContrastRuns runs(*model, tokenizer(), cat_or_dog);
  const Sweep swept = sweep(runs, ContrastSide::corrupted, ChangeKind::contrast);
  EXPECT_EQ(swept.encoder_states.rows, 3);
  EXPECT_EQ(swept.encoder_states.cols, runs.positions(AttentionPart::encoder));
  EXPECT_EQ(swept.decoder_states.rows, 3);
  EXPECT_NEAR(swept.encoder_states_whole.at(0, 0).share, 1, 1e-3);
  EXPECT_TRUE(swept.encoder_feed_forward.empty() && swept.decoder_feed_forward.empty());
  EXPECT_TRUE(swept.encoder_heads.empty() && swept.decoder_heads.empty());
  const int attends = GetParam().attention == "none" ? 0 : 1;
  EXPECT_EQ(swept.cross_heads.rows, attends);
  EXPECT_EQ(swept.cross_heads.cols, attends);
  EXPECT_THAT(swept.cross_rows, SizeIs(attends));
}

TEST_P(RecurrentRuns, TheSearchFindsThePlaceAndNoHeadThatReads) {
  const Model model = wild_model(small(GetParam()));
  auto runs = std::make_shared<const ContrastRuns>(*model, tokenizer(), cat_or_dog);
  if (!tells_apart(runs->facts())) {
    // Random weights need not answer both ways; where they do not, that is what is said.
    EXPECT_THAT(find_circuit({case_of(runs)}).problem, testing::HasSubstr("the model does not distinguish them"));
    return;
  }
  const Circuit found = find_circuit({case_of(runs)});
  EXPECT_EQ(found.problem, "");
  ASSERT_THAT(found.places, SizeIs(3));
  EXPECT_NEAR(found.places.front().together.share(), 1, 1e-3);
  for (const CircuitEdge& edge : found.edges) {
    EXPECT_EQ(edge.part, AttentionPart::cross);
    EXPECT_EQ(edge.heads(), std::vector{0});
    EXPECT_EQ(edge.together.turned(), 2);
  }
  EXPECT_THAT(found.decoys, IsEmpty());
}

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  std::string name = info.param.cell + "_" + info.param.attention + (info.param.bidirectional ? "_both_ways" : "");
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(WithAttention, RecurrentRuns,
                         testing::Values(Kind{"lstm", "bahdanau"}, Kind{"gru", "bahdanau", true},
                                         Kind{"rnn", "luong-dot"}, Kind{"lstm", "luong-general", true}),
                         name_of);

const auto bottlenecks =
    testing::Values(Kind{"rnn", "none"}, Kind{"lstm", "none"}, Kind{"gru", "none", true}, Kind{"lstm", "none", true});
INSTANTIATE_TEST_SUITE_P(WithoutAttention, RecurrentRuns, bottlenecks, name_of);
INSTANTIATE_TEST_SUITE_P(WithoutAttention, BottleneckRuns, bottlenecks, name_of);

Change exchange(int query, const ContrastRuns& runs, int one, int other) {
  const std::vector<Slot>& words = runs.facts().words;
  return {ChangeKind::exchange,
          {ValueKind::heads, AttentionPart::cross, 0},
          {0},
          {query},
          words[static_cast<std::size_t>(one)].positions,
          words[static_cast<std::size_t>(other)].positions};
}

// Luong's attention looks after the cell has stepped: what it sees at one piece does not enter the next. Bahdanau's
// does.
TEST(RecurrentExchange, MattersLaterOnlyWhereWhatIsSeenEntersTheCell) {
  for (const auto& [attention, goes_on] : {std::pair("luong-dot", false), std::pair("bahdanau", true)}) {
    const Model model = wild_model(small({"lstm", attention}));
    // Asked at a later step than the first.
    ContrastFacts asked = ContrastRuns(*model, tokenizer(), cat_or_dog).facts();
    asked.prefix = {asked.a, asked.b};
    const ContrastRuns runs(*model, tokenizer(), asked);
    const int step = runs.positions(AttentionPart::decoder) - 1;
    ASSERT_EQ(step, 2);
    const int end = static_cast<int>(runs.facts().words.size()) - 1;  // of one piece: its weight goes to itself
    const auto moved = [&](int query, int one, int other) {
      return std::abs(margin(runs, {ContrastSide::clean, {exchange(query, runs, one, other)}}) -
                      runs.facts().clean.margin);
    };
    EXPECT_LT(moved(step, end, end), 1e-5) << attention;
    EXPECT_GT(moved(step, 0, 1), 1e-4) << attention;
    if (goes_on) {
      EXPECT_GT(moved(0, 0, 1), 1e-4) << attention;
    } else {
      EXPECT_LT(moved(0, 0, 1), 1e-5) << attention;
    }
  }
}

TEST(RecurrentContrasts, AClassifierWritesNothing) {
  ModelConfig config = small({"lstm", "none"});
  config.architecture = "classifier";
  config.reader = "recurrent";
  config.num_classes = 2;
  torch::manual_seed(3);
  const Model model = make_model(config, tokenizer().vocab_size());
  model->freeze();
  EXPECT_THROW(ContrastRuns(*model, tokenizer(), cat_or_dog), NotContrasting);
}

}  // namespace
}  // namespace attnscope
