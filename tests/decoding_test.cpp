// Beam search against brute force, the cache against decoding anew, sampling against its probabilities.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/sampling.h"
#include "data/tokenizer/tokenizer.h"
#include "inspect/probe/readings.h"
#include "architectures_fixture.h"
#include "model/kernels/thread_pool.h"
#include "training/decoding/search.h"
#include "training/decoding/stepper.h"

namespace attnscope {
namespace {

using Ids = std::vector<int>;

torch::Tensor begin_of_sentence() {
  return torch::full({1, 1}, Tokenizer::bos_id, torch::kInt64);
}

// ---- beam search over a toy language

constexpr std::int64_t toy_vocab_size = 6;

// The next piece depends on the whole prefix. prefixes: int64 N×t → N×V
torch::Tensor toy_log_probs(const torch::Tensor& prefixes) {
  torch::Tensor scores = torch::empty({prefixes.size(0), toy_vocab_size}, torch::kFloat64);
  for (std::int64_t row = 0; row < prefixes.size(0); ++row) {
    std::uint64_t state = 88172645463325252ULL;
    for (std::int64_t i = 0; i < prefixes.size(1); ++i)
      state = (state ^ static_cast<std::uint64_t>(prefixes[row][i].item<std::int64_t>() + 1)) * 6364136223846793005ULL;
    for (std::int64_t token = 0; token < toy_vocab_size; ++token) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      scores[row][token] = static_cast<double>(state >> 40U) / 4194304.0;
    }
    scores[row][0] = scores[row][1] = -1e9;  // never padding, never <s>
  }
  return torch::log_softmax(scores, 1);
}

// Asks a function of whole prefixes step by step.
NextLogProbs stepwise(std::function<torch::Tensor(const torch::Tensor&)> of_prefixes) {
  return [of_prefixes, prefixes = torch::Tensor()](const torch::Tensor& rows, const torch::Tensor& tokens) mutable {
    prefixes = prefixes.defined() ? torch::cat({prefixes.index_select(0, rows), tokens}, 1) : tokens;
    return of_prefixes(prefixes);
  };
}

std::vector<Hypothesis> toy_beam(const SearchOptions& options) {
  return beam_search(stepwise(toy_log_probs), begin_of_sentence(), options).front();
}

// Every sentence of at most `limit` pieces with </s>, by brute force.
void all_sentences(Ids& ids, std::vector<double> log_probs, std::int64_t limit, std::vector<Hypothesis>& found) {
  torch::Tensor prefix = torch::empty({1, static_cast<std::int64_t>(ids.size()) + 1}, torch::kInt64);
  prefix[0][0] = 1;
  for (std::size_t i = 0; i < ids.size(); ++i) prefix[0][static_cast<std::int64_t>(i) + 1] = ids[i];
  const torch::Tensor next = toy_log_probs(prefix)[0];
  log_probs.push_back(next[2].item<double>());
  const double total = std::accumulate(log_probs.begin(), log_probs.end(), 0.0);
  const auto length = static_cast<double>(log_probs.size());
  found.push_back({ids, log_probs, total, total / std::pow((5 + length) / 6, 0.6), true});
  if (static_cast<std::int64_t>(log_probs.size()) >= limit) return;
  for (int token = 3; token < toy_vocab_size; ++token) {
    ids.push_back(token);
    log_probs.back() = next[token].item<double>();
    all_sentences(ids, log_probs, limit, found);
    ids.pop_back();
  }
}

TEST(Search, AWideBeamFindsWhatBruteForceFinds) {
  std::vector<Hypothesis> all;
  Ids ids;
  all_sentences(ids, {}, 4, all);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  const auto beam = toy_beam({.beam = 200, .length_penalty = 0.6, .limit = 4});
  ASSERT_GE(beam.size(), 5U);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(beam[i].ids, all[i].ids);
    EXPECT_NEAR(beam[i].score, all[i].score, 1e-9);
    EXPECT_NEAR(beam[i].log_prob, all[i].log_prob, 1e-9);
    EXPECT_THAT(beam[i].log_probs, testing::Pointwise(testing::DoubleNear(1e-9), all[i].log_probs));
  }
}

TEST(Search, ScoresAreGnmtsLengthPenalty) {
  for (const auto& hypothesis : toy_beam({.beam = 4, .length_penalty = 1.0, .limit = 6})) {
    const auto length = static_cast<double>(hypothesis.ids.size() + 1);
    EXPECT_NEAR(hypothesis.score, hypothesis.log_prob / ((5 + length) / 6), 1e-9);
  }
}

TEST(Search, SideBySideIsOneByOne) {
  const torch::Tensor begin = torch::tensor({{1, 3}, {1, 4}, {1, 5}}, torch::kInt64);
  for (const std::int64_t beam : {1, 3}) {
    const SearchOptions options{.beam = beam, .limit = 9};
    const auto together = beam_search(stepwise(toy_log_probs), begin, options);
    ASSERT_EQ(together.size(), 3U);
    for (int row = 0; row < 3; ++row) {
      const auto alone = beam_search(stepwise(toy_log_probs), begin.slice(0, row, row + 1), options).front();
      ASSERT_EQ(together[row].size(), alone.size());
      for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(together[row][i].ids, alone[i].ids);
    }
  }
}

TEST(Search, StopsAtTheLimitAndSaysSo) {
  const auto endless = [](const torch::Tensor& prefixes) {
    torch::Tensor scores = torch::full({prefixes.size(0), 5}, -1e9);
    scores.select(1, 4).fill_(0);
    return torch::log_softmax(scores, 1);
  };
  const auto best = beam_search(stepwise(endless), begin_of_sentence(), {.beam = 1, .limit = 7}).front().front();
  EXPECT_FALSE(best.finished);
  EXPECT_EQ(best.ids.size(), 7U);
  EXPECT_EQ(best.log_probs.size(), 7U);
}

TEST(Search, WhatIsNotANumberEndsAtTheLimit) {
  const auto broken = [](const torch::Tensor& prefixes) { return torch::full({prefixes.size(0), 50}, NAN); };
  for (const std::int64_t beam : {1, 4}) {
    const auto found = beam_search(stepwise(broken), begin_of_sentence(), {.beam = beam, .limit = 7}).front();
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().log_prob, -std::numeric_limits<double>::infinity());
  }
}

// ---- search with models: the cache against decoding everything anew

constexpr std::int64_t vocab_size = 30;

struct Case {
  const char* name;
  const char* architecture;
  const char* variant;  // positions; for recurrent models the cell
  const char* attention = "bahdanau";
};

void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.name;
}

Model made(const Case& tested, std::int64_t max_length = 24) {
  ModelConfig config{
      .architecture = tested.architecture, .d_model = 16, .num_heads = 2, .num_decoder_layers = 2, .d_ff = 32};
  config.max_length = max_length;
  config.max_distance = 3;
  (config.is_recurrent() ? config.cell : config.positions) = tested.variant;
  config.attention = tested.attention;
  torch::manual_seed(11);
  const Model model = make_model(config, vocab_size);
  torch::NoGradGuard no_grad;
  // Spread, so that the choices are clear and differ from row to row; T5's biases are zero at first.
  for (torch::Tensor& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter) * 0.3);
  model->freeze();
  return model;
}

torch::Tensor random_ids(std::int64_t rows, std::int64_t length) {
  return torch::randint(4, vocab_size, {rows, length}, torch::kInt64);
}

// log P of the piece after each prefix, the whole prefix decoded anew; of a language model the prefix has the prompt.
NextLogProbs anew(SequenceModel& model, const torch::Tensor& source) {
  const Memory memory = model.config().is_language_model() ? Memory() : model.encode(source, {});
  return stepwise([&model, memory](const torch::Tensor& prefixes) {
    torch::NoGradGuard no_grad;
    const torch::Tensor features = model.decode(prefixes, memory.repeated(prefixes.size(0)));
    return torch::log_softmax(model.logits(features.select(1, -1)), -1);
  });
}

class SearchWithModel : public testing::TestWithParam<Case> {};

TEST_P(SearchWithModel, WithTheCacheIsWithout) {
  const Model model = made(GetParam());
  const bool language_model = model->config().is_language_model();
  const SearchOptions base{.length_penalty = 0.6, .limit = 15, .eos_ends = !language_model};
  for (const std::int64_t beam : {1, 4}) {
    SearchOptions options = base;
    options.beam = beam;
    for (int trial = 0; trial < 4; ++trial) {
      const torch::Tensor source = random_ids(1, 6);
      const auto cached = beam_search(*model, source, {}, options).front();
      const torch::Tensor begin = language_model ? source : begin_of_sentence();
      const auto expected = beam_search(anew(*model, source), begin, options).front();
      ASSERT_EQ(cached.size(), expected.size());
      for (std::size_t i = 0; i < cached.size(); ++i) {
        EXPECT_EQ(cached[i].ids, expected[i].ids);
        EXPECT_EQ(cached[i].finished, expected[i].finished);
        EXPECT_THAT(cached[i].log_probs, testing::Pointwise(testing::DoubleNear(1e-4), expected[i].log_probs));
      }
    }
  }
}

TEST_P(SearchWithModel, ABeamOfOneIsGreedy) {
  const Model model = made(GetParam());
  const bool language_model = model->config().is_language_model();
  for (int trial = 0; trial < 4; ++trial) {
    const torch::Tensor source = random_ids(1, 5);
    NextLogProbs next = anew(*model, source);
    torch::Tensor tokens = language_model ? source : begin_of_sentence();
    Ids expected;
    for (int length = 0; length < 12; ++length) {
      const int best = static_cast<int>(next(torch::zeros({1}, torch::kInt64), tokens).argmax().item<std::int64_t>());
      if (best == Tokenizer::eos_id && !language_model) break;
      expected.push_back(best);
      tokens = torch::full({1, 1}, best, torch::kInt64);
    }
    EXPECT_EQ(beam_search(*model, source, {}, {.beam = 1, .limit = 12}).front().front().ids, expected);
  }
}

TEST_P(SearchWithModel, LogProbsAreThoseOfTeacherForcing) {
  const Model model = made(GetParam());
  const torch::Tensor source = random_ids(1, 5);
  Sampler sampler({.temperature = 1.5, .top_k = 12});
  auto found = beam_search(*model, source, {}, {.beam = 3, .limit = 10}).front();
  found.push_back(sample(*model, source, sampler, {.limit = 10}));
  for (const Hypothesis& hypothesis : found) {
    Ids tokens = hypothesis.ids;
    if (hypothesis.finished) tokens.push_back(Tokenizer::eos_id);
    const torch::Tensor out = torch::tensor(std::vector<std::int64_t>(tokens.begin(), tokens.end()), torch::kInt64);
    const bool language_model = model->config().is_language_model();
    const torch::Tensor begin = language_model ? source : begin_of_sentence();
    const torch::Tensor in = torch::cat({begin, out.slice(0, 0, -1).unsqueeze(0)}, 1);
    torch::NoGradGuard no_grad;
    const Memory memory = language_model ? Memory() : model->encode(source, {});
    const torch::Tensor log_p = torch::log_softmax(model->logits(model->decode(in, memory))[0], -1);
    const torch::Tensor forced = log_p.slice(0, begin.size(1) - 1).gather(1, out.unsqueeze(1)).squeeze(1);
    ASSERT_EQ(hypothesis.log_probs.size(), tokens.size());
    double sum = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_NEAR(hypothesis.log_probs[i], forced[static_cast<std::int64_t>(i)].item<double>(), 1e-4);
      sum += hypothesis.log_probs[i];
    }
    EXPECT_NEAR(hypothesis.log_prob, sum, 1e-9);
  }
}

TEST_P(SearchWithModel, ABatchIsItsRows) {
  const Model model = made(GetParam());
  const bool language_model = model->config().is_language_model();
  torch::Tensor source = random_ids(4, 7);
  torch::Tensor padding;
  if (!language_model) {  // the last rows are shorter; prompts stand side by side only when equally long
    source.slice(0, 2).slice(1, 4).fill_(Tokenizer::pad_id);
    padding = source.eq(Tokenizer::pad_id);
  }
  for (const std::int64_t beam : {1, 3}) {
    const SearchOptions options{.beam = beam, .limit = 12};
    const auto together = beam_search(*model, source, padding, options);
    for (std::int64_t row = 0; row < 4; ++row) {
      const std::int64_t length = !language_model && row >= 2 ? 4 : 7;
      const torch::Tensor one = source.slice(0, row, row + 1).slice(1, 0, length);
      const auto alone = beam_search(*model, one, {}, options).front();
      ASSERT_EQ(together[row].size(), alone.size());
      for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(together[row][i].ids, alone[i].ids);
    }
  }
}

TEST_P(SearchWithModel, TheColdestSampleIsGreedyAndASeedRepeatsItself) {
  const Model model = made(GetParam());
  const torch::Tensor source = random_ids(1, 5);
  const SearchOptions options{.limit = 15};
  Sampler cold({.temperature = 0}), nearly({.temperature = 1e-4});
  const Ids greedy = beam_search(*model, source, {}, options).front().front().ids;
  EXPECT_EQ(sample(*model, source, cold, options).ids, greedy);
  EXPECT_EQ(sample(*model, source, nearly, options).ids, greedy);

  const auto five = [&](std::int64_t seed) {
    Sampler sampler({.temperature = 2, .seed = seed});
    std::vector<Ids> drawn;
    for (int i = 0; i < 5; ++i) drawn.push_back(sample(*model, source, sampler, options).ids);
    return drawn;
  };
  EXPECT_EQ(five(3), five(3));
  EXPECT_NE(five(3), five(4));
  EXPECT_NE(five(3)[0], five(3)[1]) << "a sampler goes on";
}

TEST_P(SearchWithModel, ABreathThatThrowsLeavesTheModelUsable) {
  const Model model = made(GetParam());
  const torch::Tensor source = random_ids(1, 5);
  const auto expected = beam_search(*model, source, {}, {.beam = 2, .limit = 9}).front().front().ids;
  int yields = 0;
  const auto give_up = [&] {
    if (++yields == 2) throw Cancelled();
  };
  Sampler sampler({});
  EXPECT_THROW(beam_search(*model, source, {}, {.beam = 2, .limit = 9}, give_up), Cancelled);
  EXPECT_EQ(yields, 2);
  yields = 1;
  EXPECT_THROW(sample(*model, source, sampler, {.limit = 9}, give_up), Cancelled);
  EXPECT_EQ(beam_search(*model, source, {}, {.beam = 2, .limit = 9}).front().front().ids, expected);
}

INSTANTIATE_TEST_SUITE_P(
    Models, SearchWithModel,
    testing::Values(Case{"Sinusoidal", "encoder-decoder", "sinusoidal"}, Case{"Learned", "encoder-decoder", "learned"},
                    Case{"Rope", "encoder-decoder", "rope"}, Case{"Alibi", "encoder-decoder", "alibi"},
                    Case{"T5", "encoder-decoder", "t5"}, Case{"Shaw", "encoder-decoder", "shaw"},
                    Case{"LanguageModelSinusoidal", "decoder-only", "sinusoidal"},
                    Case{"LanguageModelRope", "decoder-only", "rope"},
                    Case{"LanguageModelAlibi", "decoder-only", "alibi"}, Case{"LanguageModelT5", "decoder-only", "t5"},
                    Case{"LanguageModelShaw", "decoder-only", "shaw"}, Case{"Bottleneck", "recurrent", "rnn", "none"},
                    Case{"Bahdanau", "recurrent", "lstm", "bahdanau"},
                    Case{"Luong", "recurrent", "gru", "luong-general"}),
    [](const auto& tested) { return std::string(tested.param.name); });

// ---- what a hypothesis attended to

TEST_P(SearchWithModel, AttentionIsThatOfEveryStep) {
  const Model model = made(GetParam(), 12);
  const bool language_model = model->config().is_language_model();
  const torch::Tensor source = random_ids(1, 5);
  const Hypothesis hypothesis = beam_search(*model, source, {}, {.beam = 2, .limit = 10}).front().front();
  const HypothesisAttention attention = attention_of(*model, source, hypothesis);
  Ids inputs = language_model ? Ids() : Ids{Tokenizer::bos_id};
  for (std::int64_t i = 0; language_model && i < 5; ++i)
    inputs.push_back(static_cast<int>(source[0][i].item<std::int64_t>()));
  inputs.insert(inputs.end(), hypothesis.ids.begin(), hypothesis.ids.end());
  if (!hypothesis.finished) inputs.pop_back();
  // A language model has read 5 + 10 pieces, of which it never read the last, and knows 12.
  EXPECT_EQ(attention.queries, language_model ? Ids(inputs.end() - 12, inputs.end()) : inputs);
  EXPECT_EQ(attention.keys.size(), language_model ? 12U : 5U);
  const std::size_t layers = !model->config().is_recurrent() ? 2 : model->config().attention == "none" ? 0 : 1;
  ASSERT_EQ(attention.maps.size(), layers);
  for (const auto& heads : attention.maps) {
    for (const Matrix& map : heads) {
      ASSERT_EQ(map.rows, static_cast<int>(attention.queries.size()));
      ASSERT_EQ(map.cols, static_cast<int>(attention.keys.size()));
      EXPECT_NEAR(std::accumulate(map.values.begin(), map.values.end(), 0.0), map.rows, 1e-4);
    }
  }
}

// ---- a language model beyond its context

TEST(LanguageModel, GoesOnWithTheNewestHalfOfItsContext) {
  const Model model = made({"", "decoder-only", "learned"}, 8);
  torch::Tensor context = random_ids(1, 5);
  const Hypothesis found = beam_search(*model, context, {}, {.beam = 1, .limit = 30}).front().front();
  ASSERT_EQ(found.ids.size(), 30U);
  EXPECT_FALSE(found.finished);
  for (const int id : found.ids) {
    torch::NoGradGuard no_grad;
    const torch::Tensor features = model->decode(context, {});
    ASSERT_EQ(model->logits(features.select(1, -1)).argmax().item<std::int64_t>(), id);
    context = torch::cat({context, torch::full({1, 1}, id, torch::kInt64)}, 1);
    if (context.size(1) > 8) context = context.slice(1, context.size(1) - 4);
  }
}

TEST(LanguageModel, ABeamGoesOnBeyondTheContextToo) {
  const Model model = made({"", "decoder-only", "rope"}, 8);
  const auto found = beam_search(*model, random_ids(1, 3), {}, {.beam = 4, .limit = 20}).front();
  ASSERT_EQ(found.size(), 4U);
  for (const Hypothesis& hypothesis : found) EXPECT_EQ(hypothesis.ids.size(), 20U);
}

TEST(LanguageModel, TakesAPromptOfAnyLength) {
  const Model model = made({"", "decoder-only", "sinusoidal"}, 8);
  const auto written = [&](const torch::Tensor& prompt) {
    return beam_search(*model, prompt, {}, {}).front().front().ids;
  };
  for (const std::int64_t length : {1, 7, 8, 9, 40}) {
    const torch::Tensor prompt = random_ids(1, length);
    EXPECT_EQ(written(prompt).size(), 8U);
    if (length > 8) {
      EXPECT_EQ(written(prompt), written(prompt.slice(1, length - 4)));
    }
  }
}

TEST(LanguageModel, ALinesEndEndsNothing) {
  const Model model = made({"", "decoder-only", "none"});
  {
    torch::NoGradGuard no_grad;  // every feature is 1, and only </s> answers to it
    const auto parameters = model->named_parameters();
    parameters["decoder.norm.weight"].zero_();
    parameters["decoder.norm.bias"].fill_(1);
    parameters["embedding.weight"].zero_()[Tokenizer::eos_id] = 1;
  }
  const Hypothesis found = beam_search(*model, random_ids(1, 3), {}, {.beam = 2, .limit = 5}).front().front();
  EXPECT_EQ(found.ids, Ids(5, Tokenizer::eos_id));
  EXPECT_FALSE(found.finished);
}

TEST(LanguageModel, AContinuationReadsOnAfterItsPrompt) {
  const std::vector<std::string> text = {"the animal sleeps", "the street is wide", "the man sleeps"};
  const Tokenizer tokenizer(Tokenizer::train(text, {.type = "bpe", .vocab_size = 40, .path = ""}));
  const Ids prompt = prompt_ids(tokenizer, "the animal");
  Ids next = prompt_ids(tokenizer, "sleeps");
  EXPECT_EQ(continued_text(tokenizer, prompt, next), " sleeps");
  next.push_back(Tokenizer::eos_id);
  EXPECT_EQ(continued_text(tokenizer, prompt, next), " sleeps\n");
  next.insert(next.end(), prompt.begin(), prompt.end());
  EXPECT_EQ(continued_text(tokenizer, prompt, next), " sleeps\nthe animal");
  EXPECT_EQ(continued_text(tokenizer, prompt, {}), "");

  const Ids nothing = prompt_ids(tokenizer, "");
  EXPECT_EQ(nothing, Ids{Tokenizer::eos_id});
  EXPECT_EQ(continued_text(tokenizer, nothing, prompt), "the animal");
  EXPECT_EQ(decode_lines(tokenizer, Ids{2, 2}), "\n\n");
}

// ---- sampling

const std::vector<float> falling = {2.0F, 1.0F, 0.0F, -1.0F, -2.0F};

std::vector<std::size_t> possible(const std::vector<double>& probabilities) {
  std::vector<std::size_t> ids;
  for (std::size_t id = 0; id < probabilities.size(); ++id) {
    if (probabilities[id] > 0) ids.push_back(id);
  }
  return ids;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(Sampling, ProbabilitiesAreTheSoftmaxOverTheTemperature) {
  for (const double temperature : {0.5, 1.0, 3.0}) {
    const auto [before, after] = next_probabilities(falling, {.temperature = temperature});
    EXPECT_EQ(before, after);
    EXPECT_NEAR(sum(before), 1, 1e-12);
    for (std::size_t id = 1; id < falling.size(); ++id)
      EXPECT_NEAR(before[id - 1] / before[id], std::exp(1 / temperature), 1e-9);
  }
}

TEST(Sampling, TopKKeepsTheBestAndRenormalises) {
  const std::vector<float> logits = {0.0F, 3.0F, 1.0F, 2.0F};
  const auto [before, after] = next_probabilities(logits, {.top_k = 2});
  EXPECT_EQ(possible(after), (std::vector<std::size_t>{1, 3}));
  EXPECT_NEAR(sum(before), 1, 1e-12);
  EXPECT_NEAR(sum(after), 1, 1e-12);
  EXPECT_NEAR(after[1] / after[3], before[1] / before[3], 1e-12);
  EXPECT_EQ(possible(next_probabilities(logits, {.top_k = 1}).after), std::vector<std::size_t>{1});
  for (const std::int64_t all : {0, 4, 5, 1000000}) {
    EXPECT_EQ(next_probabilities(logits, {.top_k = all}).after, before);
  }
}

TEST(Sampling, AmongEqualsTheSmallerIdIsKept) {
  const std::vector<float> logits = {1.0F, 5.0F, 1.0F, 1.0F, 5.0F};
  EXPECT_EQ(possible(next_probabilities(logits, {.top_k = 3}).after), (std::vector<std::size_t>{0, 1, 4}));
  const std::vector<float> equal(4, 7.0F);
  EXPECT_EQ(possible(next_probabilities(equal, {.top_p = 0.5}).after), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(possible(next_probabilities(equal, {.top_p = 0.51}).after), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(possible(next_probabilities(equal, {.temperature = 0}).after), std::vector<std::size_t>{0});
}

TEST(Sampling, TopPKeepsTheFewestPiecesThatAreSoProbable) {
  std::vector<float> logits;
  for (const double p : {0.1, 0.4, 0.3, 0.2}) logits.push_back(static_cast<float>(std::log(p)));
  const auto kept = [&](double top_p, std::int64_t top_k = 0) {
    return possible(next_probabilities(logits, {.top_k = top_k, .top_p = top_p}).after);
  };
  EXPECT_EQ(kept(1e-300), std::vector<std::size_t>{1});
  EXPECT_EQ(kept(0.39), std::vector<std::size_t>{1});
  EXPECT_EQ(kept(0.41), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(kept(0.69), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(kept(0.71), (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(kept(0.91), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(kept(1), (std::vector<std::size_t>{0, 1, 2, 3}));
  // After top-k: of what it left, 0.4 and 0.3 renormalised, the first is 0.57.
  EXPECT_EQ(kept(0.56, 2), std::vector<std::size_t>{1});
  EXPECT_EQ(kept(0.58, 2), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(kept(1, 2), (std::vector<std::size_t>{1, 2}));
}

TEST(Sampling, TheNucleusFollowsTheTemperature) {
  EXPECT_EQ(possible(next_probabilities(falling, {.temperature = 0.2, .top_p = 0.9}).after).size(), 1U);
  EXPECT_EQ(possible(next_probabilities(falling, {.temperature = 50, .top_p = 0.9}).after).size(), 5U);
}

TEST(Sampling, ProbabilitiesThatAreTinyStayPossibleWithoutACut) {
  const std::vector<float> logits = {0.0F, -30.0F};
  EXPECT_EQ(possible(next_probabilities(logits, {.top_k = 2}).after).size(), 2U);
  const std::vector<float> three = {0.0F, -30.0F, -31.0F};
  EXPECT_EQ(possible(next_probabilities(three, {.top_k = 2}).after).size(), 2U);
}

TEST(Sampling, DrawsAreAsFrequentAsTheyAreProbable) {
  constexpr int draws = 20000;
  for (const SamplingOptions& options : {SamplingOptions{}, SamplingOptions{.temperature = 2, .top_k = 4, .seed = 7},
                                         SamplingOptions{.top_p = 0.95, .seed = 8}}) {
    const std::vector<double> expected = next_probabilities(falling, options).after;
    Sampler sampler(options);
    std::vector<int> counts(falling.size());
    for (int i = 0; i < draws; ++i) ++counts.at(static_cast<std::size_t>(sampler.draw(falling)));
    double chi_square = 0;
    for (std::size_t id = 0; id < counts.size(); ++id) {
      if (expected[id] == 0) {
        EXPECT_EQ(counts[id], 0);
        continue;
      }
      const double mean = draws * expected[id];
      chi_square += (counts[id] - mean) * (counts[id] - mean) / mean;
    }
    EXPECT_LT(chi_square, 18.5) << "4 degrees of freedom exceed this once in a thousand";
  }
}

TEST(Sampling, TheDrawIsTheInverseOfTheDistribution) {
  std::mt19937_64 random(1);
  const std::vector<float> equal(1000, 0.0F);
  Sampler sampler({.seed = 1});
  for (int i = 0; i < 100; ++i) {
    const double u = static_cast<double>(random() >> 11U) / 9007199254740992.0;
    EXPECT_NEAR(sampler.draw(equal), std::floor(u * 1000), 1);
  }
  const std::vector<float> only = {-std::numeric_limits<float>::infinity(), 3.0F,
                                   -std::numeric_limits<float>::infinity()};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sampler.draw(only), 1);
}

TEST(Sampling, OptionsAreRefusedByName) {
  const auto message = [](const SamplingOptions& options) -> std::string {
    try {
      Sampler sampler(options);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  using testing::AllOf, testing::HasSubstr;
  EXPECT_THAT(message({.temperature = -0.5}), AllOf(HasSubstr("temperature"), HasSubstr("-0.5"), HasSubstr("100")));
  EXPECT_THAT(message({.temperature = NAN}), HasSubstr("temperature"));
  EXPECT_THAT(message({.temperature = 1e9}), HasSubstr("temperature"));
  EXPECT_THAT(message({.top_k = -1}), AllOf(HasSubstr("top-k"), HasSubstr("-1")));
  EXPECT_THAT(message({.top_p = 0}), HasSubstr("top-p"));
  EXPECT_THAT(message({.top_p = 1.5}), AllOf(HasSubstr("top-p"), HasSubstr("1.5")));
  EXPECT_THAT(message({.top_p = NAN}), HasSubstr("top-p"));
  EXPECT_THAT(message({.seed = -1}), HasSubstr("seed"));
  EXPECT_EQ(message({.temperature = 0, .top_k = 1000000, .top_p = 1e-6}), "");
}

TEST(Sampling, NothingIsDrawnFromWhatIsNoDistribution) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& logits :
       std::vector<std::vector<float>>{{1, NAN}, {NAN, NAN}, {1, infinity}, {-infinity, -infinity}, {}}) {
    EXPECT_THROW(next_probabilities(logits, {}), std::domain_error);
    EXPECT_THROW(next_probabilities(logits, {.temperature = 0}), std::domain_error);
  }
}

// ---- many sources at once

TEST(SearchAll, WritesWhatEverySourceGivesByItself) {
  std::mt19937 random(2);
  std::vector<std::vector<int>> sources;
  for (int i = 0; i < 70; ++i) {
    sources.emplace_back();
    for (auto n = 1 + random() % 9; n > 0; --n) sources.back().push_back(4 + static_cast<int>(random() % 40));
  }
  kernels::set_pool_size(2);
  for (const NamedModel& named : every_architecture()) {
    torch::manual_seed(4);
    const Model model = make_model(named.config, small_vocab_size);
    model->freeze();
    for (const std::int64_t beam : {1, 4}) {
      const SearchOptions options{.beam = beam, .limit = 12};
      double last = 0;
      const auto found = search_all(*model, sources, options, [&](double fraction) { last = fraction; });
      EXPECT_EQ(last, 1);
      ASSERT_THAT(found, testing::SizeIs(sources.size()));
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const torch::Tensor source =
            torch::tensor(std::vector<std::int64_t>(sources[i].begin(), sources[i].end())).unsqueeze(0);
        const auto alone = beam_search(*model, source, {}, options).front();
        ASSERT_EQ(found[i].size(), alone.size()) << named.name;
        EXPECT_EQ(found[i].front().ids, alone.front().ids) << named.name << ", beam " << beam << ", source " << i;
        EXPECT_NEAR(found[i].front().score, alone.front().score, 1e-4) << named.name;
      }
    }
  }
  kernels::set_pool_size(1);
}

}  // namespace
}  // namespace attnscope
