// Probes of every architecture.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <string>
#include <vector>

#include "config/inspection_size.h"
#include "config/presets.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/readings.h"
#include "model/model.h"
#include "model/positions.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

constexpr int eos = Tokenizer::eos_id;

ModelConfig small(const std::string& architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.d_model = 16;
  config.num_heads = 2;
  config.num_decoder_layers = 2;
  config.d_ff = 32;
  config.max_length = 24;
  config.dropout = 0.5;  // must not be felt while looking
  return config;
}

Model make(const ModelConfig& config) {
  torch::manual_seed(3);
  Model model = make_model(config, tokenizer().vocab_size());
  model->freeze();
  return model;
}

// The snapshots published, the early one first.
std::vector<Snapshot> inspections(SequenceModel& model, const std::string& text,
                                  std::optional<std::string> target = {}) {
  std::vector<Snapshot> published;
  const Probe probe{.text = text, .reference = target.value_or(""), .follow_reference = target.has_value()};
  inspect_model(model, tokenizer(), probe, [&](Snapshot snapshot) { published.push_back(std::move(snapshot)); }, {});
  return published;
}

Snapshot inspect(SequenceModel& model, const std::string& text, std::optional<std::string> target = {}) {
  return inspections(model, text, std::move(target)).back();
}

std::vector<int> ids_of(const std::vector<Token>& tokens) {
  std::vector<int> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

torch::Tensor as_tensor(const std::vector<Token>& tokens) {
  const std::vector<int> ids = ids_of(tokens);
  return torch::tensor(std::vector<std::int64_t>(ids.begin(), ids.end())).unsqueeze(0);
}

void expect_shape(const AttentionMaps& maps, std::size_t layers, std::size_t heads, std::size_t rows,
                  std::size_t cols) {
  ASSERT_EQ(maps.size(), layers);
  for (const auto& layer : maps) {
    ASSERT_EQ(layer.size(), heads);
    for (const Matrix& map : layer) {
      EXPECT_EQ(map.rows, static_cast<int>(rows));
      EXPECT_EQ(map.cols, static_cast<int>(cols));
      for (int row = 0; row < map.rows; ++row) {
        float sum = 0;
        for (int col = 0; col < map.cols; ++col) sum += map.at(row, col);
        EXPECT_NEAR(sum, 1, 1e-4);
      }
    }
  }
}

// Every step's probabilities are those of one pass without a cache, and what was free to choose is the best of them.
void expect_greedy(SequenceModel& model, const Snapshot& snapshot) {
  Memory memory;
  if (!snapshot.source.empty()) memory = model.encode(as_tensor(snapshot.source), {});
  const torch::Tensor p = torch::softmax(model.logits(model.decode(as_tensor(snapshot.target_in), memory))[0], -1);
  ASSERT_EQ(snapshot.decoding.size(), snapshot.target_out.size());
  ASSERT_EQ(snapshot.target_in.size(), snapshot.target_out.size());
  for (std::size_t step = 0; step < snapshot.decoding.size(); ++step) {
    const DecodingStep& decided = snapshot.decoding[step];
    const Candidate& chosen = decided.candidates[static_cast<std::size_t>(decided.chosen)];
    EXPECT_EQ(chosen.token, snapshot.target_out[step]);
    EXPECT_NEAR(chosen.probability, p[static_cast<std::int64_t>(step)][chosen.token.id].item<float>(), 1e-5);
    EXPECT_TRUE(step < snapshot.forced || decided.chosen == 0);
    EXPECT_TRUE(step + 1 == snapshot.target_in.size() || snapshot.target_in[step + 1].id == chosen.token.id);
  }
}

TEST(InspectModel, ATranslationIsGreedyAndHoldsEveryMap) {
  const Model model = make(small("encoder-decoder"));
  const auto published = inspections(*model, "the cat");
  ASSERT_EQ(published.size(), 2u);
  EXPECT_FALSE(published[0].encoder.empty());
  EXPECT_TRUE(published[0].decoding.empty());
  const Snapshot& whole = published[1];
  EXPECT_EQ(whole.source.back().id, eos);
  EXPECT_EQ(whole.target_in.front().id, Tokenizer::bos_id);
  EXPECT_EQ(whole.forced, 0u);
  const std::size_t s = whole.source.size();
  const std::size_t t = whole.target_in.size();
  expect_shape(whole.encoder, 2, 2, s, s);
  expect_shape(whole.decoder, 2, 2, t, t);
  expect_shape(whole.cross, 2, 2, t, s);
  expect_greedy(*model, whole);
  EXPECT_EQ(whole.stopped_at_limit, whole.target_out.back().id != eos);
}

TEST(InspectModel, ATargetIsFollowed) {
  const Model model = make(small("encoder-decoder"));
  const Snapshot snapshot = inspect(*model, "the cat", "a dog");
  std::vector<int> expected = ids_of(tokenizer().encode("a dog"));
  expected.push_back(eos);
  EXPECT_EQ(ids_of(snapshot.target_out), expected);
  EXPECT_EQ(snapshot.forced, expected.size());
  EXPECT_EQ(snapshot.output_text, "a dog");
  expect_greedy(*model, snapshot);
}

// ---- steering

Snapshot steered(SequenceModel& model, const Probe& probe) {
  Snapshot latest;
  inspect_model(model, tokenizer(), probe, [&](Snapshot snapshot) { latest = std::move(snapshot); }, {});
  return latest;
}

// The ids that were generated after the prompt.
std::vector<int> output_of(const Snapshot& snapshot) {
  std::vector<int> ids = ids_of(snapshot.target_out);
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(snapshot.forced - snapshot.prefix));
  return ids;
}

std::vector<int> first_of(const std::vector<int>& ids, std::size_t count) {
  return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size()))};
}

TEST(Steering, ABeginningOfTheOutputChangesNothing) {
  for (const char* architecture : {"encoder-decoder", "decoder-only", "recurrent"}) {
    const Model model = make(small(architecture));
    const Snapshot free = inspect(*model, "the cat");
    const std::vector<int> whole = output_of(free);
    ASSERT_GT(whole.size(), 4u) << architecture;
    for (const std::size_t given : {1u, 2u, 4u}) {
      const Snapshot snapshot = steered(*model, {.text = "the cat", .prefix_ids = first_of(whole, given)});
      EXPECT_EQ(snapshot.prefix, given);
      EXPECT_EQ(first_of(output_of(snapshot), whole.size()), whole) << architecture;
      expect_greedy(*model, snapshot);
    }
  }
}

TEST(Steering, AForcedPieceIsGoneOnFromGreedily) {
  for (const char* architecture : {"encoder-decoder", "decoder-only", "recurrent"}) {
    const Model model = make(small(architecture));
    std::vector<int> prefix = first_of(output_of(inspect(*model, "the cat")), 2);
    prefix.push_back(tokenizer().encode("dog").back().id);
    const Snapshot forced = steered(*model, {.text = "the cat", .prefix_ids = prefix});
    EXPECT_EQ(first_of(output_of(forced), 3), prefix);
    expect_greedy(*model, forced);  // every piece after the prefix is the best in one uncached pass
    // Its own continuation, given in turn, is continued alike.
    const std::vector<int> longer = first_of(output_of(forced), 6);
    const Snapshot again = steered(*model, {.text = "the cat", .prefix_ids = longer});
    const std::size_t both = std::min(output_of(forced).size(), output_of(again).size());
    EXPECT_EQ(first_of(output_of(again), both), first_of(output_of(forced), both)) << architecture;
  }
}

TEST(Steering, ATypedBeginningIsItsPieces) {
  for (const char* architecture : {"encoder-decoder", "decoder-only", "recurrent"}) {
    const Model model = make(small(architecture));
    const Snapshot typed = steered(*model, {.text = "the cat", .prefix = "a dog"});
    const Snapshot chosen = steered(*model, {.text = "the cat", .prefix_ids = ids_of(tokenizer().encode("a dog"))});
    EXPECT_EQ(output_of(typed), output_of(chosen)) << architecture;
    EXPECT_EQ(typed.prefix, chosen.prefix);
  }
}

TEST(Steering, TakesWhateverIsAsked) {
  for (const char* architecture : {"encoder-decoder", "decoder-only", "recurrent"}) {
    const Model model = make(small(architecture));
    for (const std::string& prefix : {std::string("\xff\xfe\x00 \x01"), std::string(5000, 'a'), std::string("   "),
                                      std::string("</s>"), std::string("\u4E2D\u6587")}) {
      const Snapshot snapshot =
          steered(*model, {.text = "the cat", .prefix = prefix, .prefix_ids = {-1, 1 << 30, eos, 5, 5}});
      EXPECT_TRUE(snapshot.is_whole()) << architecture;
      EXPECT_LE(snapshot.target_in.size(), 24u);
      expect_greedy(*model, snapshot);
    }
  }
}

TEST(InspectModel, CandidatesAreCutAsTheOptionsSay) {
  const Model model = make(small("encoder-decoder"));
  const auto first_step = [&](SamplingOptions sampling) {
    return steered(*model, {.text = "the cat", .options = {.sampling = sampling}}).decoding.front();
  };
  for (const SamplingOptions& sampling :
       {SamplingOptions{0, 0, 1, 1}, SamplingOptions{1, 1, 1, 1}, SamplingOptions{1, 0, 1e-6, 1}}) {
    const DecodingStep step = first_step(sampling);
    EXPECT_EQ(step.candidates[0].kept, 1);
    for (std::size_t i = 1; i < step.candidates.size(); ++i) {
      EXPECT_EQ(step.candidates[i].kept, 0);
      EXPECT_GT(step.candidates[i].probability, 0);
      EXPECT_EQ(step.candidates[i].tempered > 0, sampling.temperature > 0);
    }
  }
  const DecodingStep five = first_step({2, 5, 1, 1});
  float kept = 0;
  for (std::size_t i = 0; i < five.candidates.size(); ++i) {
    kept += five.candidates[i].kept;
    EXPECT_EQ(five.candidates[i].kept > 0, i < 5);
  }
  EXPECT_NEAR(kept, 1, 1e-6);
}

// ---- language models

TEST(InspectModel, APromptIsContinued) {
  const Model model = make(small("decoder-only"));
  const auto published = inspections(*model, "the cat");
  ASSERT_EQ(published.size(), 2u);
  const Snapshot& whole = published[1];
  const std::vector<Token> prompt = tokenizer().encode("the cat");
  EXPECT_EQ(ids_of({published[0].typed().begin(), published[0].typed().end()}), ids_of(prompt));
  EXPECT_EQ(ids_of({whole.typed().begin(), whole.typed().end()}), ids_of(prompt));
  EXPECT_TRUE(whole.source.empty());
  EXPECT_TRUE(whole.encoder.empty());
  EXPECT_TRUE(whole.cross.empty());
  EXPECT_FALSE(whole.truncated);
  EXPECT_EQ(whole.target_in.size(), 24u);  // to the end of the context
  expect_shape(whole.decoder, 2, 2, 24, 24);
  expect_greedy(*model, whole);
}

TEST(InspectModel, AnEmptyPromptStartsFromALineEnd) {
  const Model model = make(small("decoder-only"));
  const Snapshot snapshot = inspect(*model, "");
  EXPECT_EQ(snapshot.target_in.front(), (Token{eos, "\u23CE"}));
  EXPECT_EQ(snapshot.forced, 0u);
  EXPECT_EQ(snapshot.target_in.size(), 24u);
  expect_greedy(*model, snapshot);
}

TEST(InspectModel, OfALongPromptTheEndIsKept) {
  const Model model = make(small("decoder-only"));
  const Snapshot snapshot = inspect(*model, "the cat sat on the mat the dog ran");
  EXPECT_TRUE(snapshot.truncated);
  const std::vector<Token> all = tokenizer().encode("the cat sat on the mat the dog ran");
  EXPECT_EQ(ids_of({snapshot.typed().begin(), snapshot.typed().end()}),
            ids_of({all.end() - 12, all.end()}));  // half of the context is left to write in
  EXPECT_EQ(snapshot.target_in.size(), 24u);
  const Snapshot fits = inspect(*model, "the cats sat");
  EXPECT_EQ(fits.typed().size(), 12u);
  EXPECT_FALSE(fits.truncated);
}

TEST(InspectModel, MapsThatWouldBeTooLargeLeaveThePromptsBeginningOut) {
  ModelConfig config = small("decoder-only");
  config.num_decoder_layers = 64;
  config.num_heads = config.d_model = 128;
  config.max_length = 4096;
  const Model model = make(config);
  std::string prompt;
  for (int i = 0; i < 200; ++i) prompt += "the cat ";
  const Snapshot snapshot = inspect(*model, prompt);
  EXPECT_TRUE(snapshot.truncated);
  EXPECT_EQ(std::ssize(snapshot.typed()), longest_inspection(config) - longest_continuation);
  EXPECT_LE(std::ssize(snapshot.target_in), longest_inspection(config));
  std::size_t bytes = 0;
  for (const std::vector<Matrix>& layer : snapshot.decoder)
    for (const Matrix& map : layer) bytes += map.values.size() * sizeof(float);
  EXPECT_LE(bytes, largest_maps);
  EXPECT_GT(bytes, largest_maps / 20 * 19);
}

TEST(InspectModel, ALineEndDoesNotStopALanguageModel) {
  const Model model = make(small("decoder-only"));
  {
    // All features are 1, and the row that outweighs all others is always written.
    const torch::NoGradGuard no_grad;
    for (auto& parameter : model->named_parameters()) {
      if (parameter.key() == "decoder.norm.weight") parameter.value().zero_();
      if (parameter.key() == "decoder.norm.bias") parameter.value().fill_(1);
    }
    model->named_parameters()["embedding.weight"][eos].fill_(9);
  }
  const Snapshot snapshot = inspect(*model, "the");
  EXPECT_EQ(snapshot.target_out.back(), (Token{eos, "\u23CE"}));
  EXPECT_EQ(snapshot.target_in.size(), 24u);
  EXPECT_EQ(snapshot.output_text, std::string(22, '\n'));
}

TEST(InspectModel, RecurrentModelsHaveOneMapOrNone) {
  for (const char* attention : {"none", "bahdanau", "luong-dot", "luong-general", "luong-concat"}) {
    ModelConfig config = small("recurrent");
    config.attention = attention;
    const Model model = make(config);
    const Snapshot snapshot = inspect(*model, "the cat");
    EXPECT_TRUE(snapshot.encoder.empty());
    EXPECT_TRUE(snapshot.decoder.empty());
    if (config.attention == "none") {
      EXPECT_TRUE(snapshot.cross.empty());
    } else {
      expect_shape(snapshot.cross, 1, 1, snapshot.target_out.size(), snapshot.source.size());
    }
    EXPECT_TRUE(snapshot.positions->empty());
    expect_greedy(*model, snapshot);
  }
}

// ---- what tells the order

std::vector<PositionTable> tables_of(const char* positions, const char* architecture = "encoder-decoder") {
  ModelConfig config = small(architecture);
  config.positions = positions;
  config.max_distance = 3;
  return *inspect(*make(config), "the cat").positions;
}

TEST(Positions, OfEverySchemeAreShown) {
  EXPECT_TRUE(tables_of("none").empty());
  EXPECT_EQ(tables_of("sinusoidal").size(), 1u);
  EXPECT_EQ(tables_of("learned").size(), 2u);
  EXPECT_EQ(tables_of("learned", "decoder-only").size(), 1u);
  const auto rope = tables_of("rope");
  ASSERT_EQ(rope.size(), 1u);
  EXPECT_EQ(rope[0].values.cols, 8);  // of a head
  EXPECT_NEAR(rope[0].values.at(5, 2), std::cos(5 * std::pow(10000.0, -2.0 / 8)), 1e-5);
  EXPECT_NEAR(rope[0].values.at(5, 3), std::sin(5 * std::pow(10000.0, -2.0 / 8)), 1e-5);
  const auto shaw = tables_of("shaw");
  ASSERT_EQ(shaw.size(), 4u);  // two layers a side
  EXPECT_EQ(shaw[1].name, "encoder, layer 2");
  EXPECT_EQ(shaw[1].first, -3);
  EXPECT_EQ(shaw[1].values.rows, 7);
  EXPECT_EQ(shaw[2].values.rows, 4);  // the decoder's future is masked
}

TEST(Positions, BiasesAreByDistance) {
  for (const char* scheme : {"alibi", "t5"}) {
    const auto tables = tables_of(scheme);
    ASSERT_EQ(tables.size(), 2u);
    EXPECT_EQ(tables[0].first, -23);
    EXPECT_EQ(tables[0].values.rows, 47);
    EXPECT_EQ(tables[1].values.rows, 24);
    EXPECT_EQ(tables[0].values.cols, 2);
  }
  const auto alibi = tables_of("alibi");
  const float slope = 1.0F / 16;  // of the first of two heads
  for (const int distance : {-23, -1, 0, 7, 23})
    EXPECT_FLOAT_EQ(alibi[0].values.at(distance + 23, 0), -slope * static_cast<float>(std::abs(distance)));
  EXPECT_FLOAT_EQ(alibi[1].values.at(0, 0), -slope * 23);
  EXPECT_FLOAT_EQ(alibi[1].values.at(23, 0), 0);
}

// ---- presets

TEST(Presets, NanogptHasThePublishedNumberOfParameters) {
  const auto parameters = [](const char* name) {
    std::int64_t count = 0;
    const Config config = with_preset(preset(name), {});
    for (const torch::Tensor& parameter : make_model(config.model, 68)->parameters()) count += parameter.numel();
    return static_cast<double>(count);
  };
  // nanoGPT counts neither biases nor positions.
  EXPECT_NEAR(parameters("nanogpt-cpu"), 0.80e6, 0.02e6);
  EXPECT_NEAR(parameters("nanogpt-gpu"), 10.65e6, 0.15e6);
}

}  // namespace
}  // namespace attnscope
