// Running text: the stream of pieces, its windows, and how well a language model predicts it.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "data/corpus/corpus.h"
#include "inspect/evaluation/evaluation.h"
#include "training/text_batches.h"
#include "training/validation.h"

namespace attnscope {
namespace {

// The windows of a batch as a batch.
Batch window_batch(std::span<const int> stream, std::int64_t batch_size, std::int64_t length, std::int64_t seed,
                   std::int64_t batch_number, torch::Device device) {
  const TextWindows windows = text_windows(stream, batch_size, length, seed, batch_number);
  return make_batch(stream, windows.places, windows.length, device);
}

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr int eos = Tokenizer::eos_id;

Tokenizer letters(const std::vector<std::string>& lines = {"ab c"}) {
  return Tokenizer(Tokenizer::train(lines, {.type = "char", .vocab_size = 100, .path = {}}));
}

std::string as_text(const Tokenizer& tokenizer, const std::vector<int>& stream) {
  std::string text;
  for (const int id : stream) text += id == eos ? "\n" : tokenizer.decode(std::vector{id});
  return text;
}

// 0, 1, 2, … tell where a window begins.
std::vector<int> counting_stream(int tokens) {
  std::vector<int> stream(static_cast<std::size_t>(tokens));
  std::iota(stream.begin(), stream.end(), 0);
  return stream;
}

std::vector<std::int64_t> values(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.contiguous();
  return {flat.data_ptr<std::int64_t>(), flat.data_ptr<std::int64_t>() + flat.numel()};
}

Model tiny_language_model(std::int64_t vocab_size, std::int64_t max_length) {
  torch::manual_seed(3);
  Model model = make_model({.architecture = "decoder-only",
                            .d_model = 16,
                            .num_heads = 2,
                            .num_decoder_layers = 1,
                            .d_ff = 32,
                            .max_length = max_length},
                           vocab_size);
  model->freeze();
  return model;
}

std::vector<int> random_stream(std::int64_t tokens, std::int64_t vocab_size) {
  torch::manual_seed(5);
  const auto drawn = values(torch::randint(Tokenizer::eos_id, vocab_size, {tokens}, torch::kInt64));
  return {drawn.begin(), drawn.end()};
}

// ---- the stream

TEST(EncodeText, PutsEosForEveryLineFeed) {
  const Tokenizer tokenizer = letters();
  const int a = tokenizer.encode("a")[0].id;
  const int b = tokenizer.encode("b")[0].id;
  EXPECT_THAT(encode_text(tokenizer, "a\n\nab\n", {}).stream, ElementsAre(a, eos, eos, a, b, eos));
  EXPECT_THAT(encode_text(tokenizer, "\n\n", {}).stream, ElementsAre(eos, eos));
  EXPECT_THAT(encode_text(tokenizer, "b\na", {}).stream, ElementsAre(b, eos, a));
  EXPECT_TRUE(encode_text(tokenizer, "", {}).stream.empty());
}

TEST(EncodeText, LosesNothingOfCharacters) {
  const std::string text =
      "  two\n\n\n a  b \n\tc\n" + std::string(70'000, 'x') + " " + std::string(40'000, 'y') + "\nend";
  const Tokenizer tokenizer = letters({text.substr(0, 20), "xyend"});
  const std::vector<int> stream = encode_text(tokenizer, text, {}).stream;
  EXPECT_EQ(stream.size(), text.size());
  EXPECT_EQ(as_text(tokenizer, stream), text);
}

TEST(EncodeText, ReadsEachLineAsItself) {
  const std::vector<std::string> lines = {"the cat sat", "on the mat"};
  const Tokenizer tokenizer(Tokenizer::train(lines, {.type = "bpe", .vocab_size = 30, .path = {}}));
  std::vector<int> expected;
  for (const std::string& line : lines) {
    for (const Token& token : tokenizer.encode(line)) expected.push_back(token.id);
    expected.push_back(eos);
  }
  EXPECT_EQ(encode_text(tokenizer, "the cat sat\non the mat\n", {}).stream, expected);
}

TEST(EncodeText, CanBeGivenUp) {
  struct GivenUp {};
  EXPECT_THROW(encode_text(letters(), "a\nb\n", [] { throw GivenUp(); }), GivenUp);
}

// ---- windows

TEST(WindowBatch, IsShiftedByOne) {
  const std::vector<int> stream = counting_stream(1000);
  const Batch batch = window_batch(stream, 64, 16, 1, 0, torch::kCPU);
  EXPECT_EQ(batch.target_in.sizes(), (std::vector<std::int64_t>{64, 16}));
  EXPECT_TRUE(torch::equal(batch.target_out, batch.target_in + 1));
  EXPECT_TRUE(torch::equal(batch.target_in, batch.target_in.select(1, 0).unsqueeze(1) + torch::arange(16)));
  EXPECT_FALSE(batch.source.defined());
  EXPECT_FALSE(batch.source_padding.defined());
  EXPECT_EQ(batch.tokens, 64 * 16);
}

TEST(WindowBatch, IsAFunctionOfSeedAndNumber) {
  const std::vector<int> stream = counting_stream(100'000);
  const auto first = window_batch(stream, 8, 4, 1, 7, torch::kCPU).target_in;
  torch::manual_seed(99);
  EXPECT_TRUE(torch::equal(window_batch(stream, 8, 4, 1, 7, torch::kCPU).target_in, first));
  EXPECT_FALSE(torch::equal(window_batch(stream, 8, 4, 2, 7, torch::kCPU).target_in, first));
  EXPECT_FALSE(torch::equal(window_batch(stream, 8, 4, 1, 8, torch::kCPU).target_in, first));
}

// Of 12 pieces, a window of 3 and the piece behind it begin at 0 … 8.
TEST(WindowBatch, BeginsEverywhereEquallyOften) {
  const std::vector<int> stream = counting_stream(12);
  std::vector<int> counts(12);
  for (std::int64_t number = 0; number < 100; ++number) {
    for (const std::int64_t place :
         values(window_batch(stream, 90, 3, 4, number, torch::kCPU).target_in.select(1, 0))) {
      ++counts.at(static_cast<std::size_t>(place));
    }
  }
  EXPECT_THAT(std::vector(counts.begin(), counts.begin() + 9), Each(AllOf(Ge(850), Le(1150))));
  EXPECT_THAT(std::vector(counts.begin() + 9, counts.end()), Each(0));
}

TEST(WindowBatch, UsesWhatThereIsOfAShortStream) {
  const Batch exact = window_batch(counting_stream(5), 2, 4, 1, 0, torch::kCPU);
  EXPECT_THAT(values(exact.target_out), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
  const Batch shorter = window_batch(counting_stream(3), 2, 4, 1, 0, torch::kCPU);
  EXPECT_THAT(values(shorter.target_in), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(shorter.tokens, 4);
  EXPECT_THAT(values(window_batch(counting_stream(2), 1, 64, 1, 0, torch::kCPU).target_out), ElementsAre(1));
}

TEST(WindowBatch, RefusesAStreamWithNothingToPredict) {
  for (const int tokens : {0, 1}) {
    try {
      window_batch(counting_stream(tokens), 1, 4, 1, 0, torch::kCPU);
      FAIL() << tokens << " pieces have no next one";
    } catch (const CorpusError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::to_string(tokens) + " tokens"));
    }
  }
}

TEST(MakeBatch, PadsBeyondTheEndOfTheStream) {
  const std::vector<int> stream = {5, 6, 7, 8};
  const Batch batch = make_batch(stream, std::vector<std::int64_t>{0, 2}, 3, torch::kCPU);
  EXPECT_THAT(values(batch.target_in), ElementsAre(5, 6, 7, 7, 8, 0));
  EXPECT_THAT(values(batch.target_out), ElementsAre(6, 7, 8, 8, 0, 0));
  EXPECT_EQ(batch.targets, 4);
  EXPECT_EQ(batch.tokens, 4);
}

// ---- evaluation

// −log p of stream[i] after the pieces of its window, each in a pass of its own.
double nats_alone(SequenceModel& model, const std::vector<int>& stream, std::int64_t i) {
  const std::int64_t length = model.config().max_length;
  std::vector<std::int64_t> left;
  for (std::int64_t j = i / length * length; j <= i; ++j) left.push_back(j == 0 ? eos : stream[j - 1]);
  const torch::Tensor logits = model.logits(model.decode(torch::tensor(left).unsqueeze(0), Memory()));
  return -logits[0][-1].log_softmax(-1)[stream[i]].item<double>();
}

double nats_of_windows(SequenceModel& model, const std::vector<int>& stream, const std::vector<std::int64_t>& windows) {
  const std::int64_t length = model.config().max_length;
  double nats = 0;
  for (const std::int64_t window : windows) {
    const std::int64_t end = std::min<std::int64_t>((window + 1) * length, std::ssize(stream));
    for (std::int64_t i = window * length; i < end; ++i) nats += nats_alone(model, stream, i);
  }
  return nats;
}

TEST(TextLikelihood, PredictsEveryPieceOnce) {
  const Model model = tiny_language_model(12, 8);
  for (const std::int64_t tokens : {1, 7, 8, 9, 61}) {
    const std::vector<int> stream = random_stream(tokens, 12);
    std::vector<std::int64_t> windows(static_cast<std::size_t>((tokens + 7) / 8));
    std::iota(windows.begin(), windows.end(), 0);
    const double expected = nats_of_windows(*model, stream, windows);
    for (const std::int64_t batch_size : {1, 3, 100}) {
      const auto found = negative_log_likelihood(*model, stream, batch_size, all_windows, {});
      EXPECT_EQ(found.tokens, tokens);
      EXPECT_NEAR(found.nats, expected, 1e-5 * expected) << tokens << " pieces, batches of " << batch_size;
    }
  }
}

TEST(TextLikelihood, TakesWindowsFromAllOverTheStream) {
  const Model model = tiny_language_model(12, 8);
  const std::vector<int> stream = random_stream(77, 12);  // 10 windows, the last of 5
  const auto found = negative_log_likelihood(*model, stream, 2, 4, {});
  EXPECT_EQ(found.tokens, 32);
  const double expected = nats_of_windows(*model, stream, {0, 2, 5, 7});
  EXPECT_NEAR(found.nats, expected, 1e-5 * expected);
  EXPECT_EQ(negative_log_likelihood(*model, stream, 2, 4, {}).nats, found.nats);
  EXPECT_EQ(negative_log_likelihood(*model, stream, 2, 10, {}).tokens, 77);
}

TEST(TextLikelihood, BreathesAfterEveryBatch) {
  const Model model = tiny_language_model(12, 8);
  const std::vector<int> stream = random_stream(77, 12);
  int yields = 0;
  negative_log_likelihood(*model, stream, 2, all_windows, [&] { ++yields; });
  EXPECT_EQ(yields, 5);
}

TEST(TextLikelihood, OfNothingIsNothing) {
  const Model model = tiny_language_model(12, 8);
  const auto found = negative_log_likelihood(*model, std::vector<int>{}, 2, all_windows, {});
  EXPECT_EQ(found.nats, 0);
  EXPECT_EQ(found.tokens, 0);
}

TEST(EvaluateText, CountsBitsByCharacter) {
  const std::string text = "éa  b\n\nbbé a\n";
  const Tokenizer tokenizer = letters({"éab "});
  const Model model = tiny_language_model(tokenizer.vocab_size(), 8);
  const TextEvaluation found = evaluate_text(*model, tokenizer, text, {});
  EXPECT_EQ(found.characters, 13);
  EXPECT_EQ(found.nll.tokens, 13);
  const double expected = nats_of_windows(*model, encode_text(tokenizer, text, {}).stream, {0, 1});
  EXPECT_NEAR(found.nll.nats, expected, 1e-5 * expected);
  EXPECT_NEAR(found.bits_per_character(), expected / std::log(2) / 13, 1e-5);
}

// All pieces equally likely: log2 of the vocabulary, whatever the text.
TEST(EvaluateText, OfAUniformModelIsTheVocabulary) {
  const Tokenizer tokenizer = letters({"abcdefghijkl"});
  ASSERT_EQ(tokenizer.vocab_size(), 16);
  const Model model = tiny_language_model(16, 8);
  torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : model->parameters()) parameter.zero_();
  EXPECT_NEAR(evaluate_text(*model, tokenizer, "abc\nfed\n\nghi", {}).bits_per_character(), 4, 1e-6);
  EXPECT_EQ(evaluate_text(*model, tokenizer, "", {}).bits_per_character(), 0);
}

// ---- characters: those that the pieces stand for

std::int64_t characters(const Tokenizer& tokenizer, const std::string& text) {
  return evaluate_text(*tiny_language_model(tokenizer.vocab_size(), 8), tokenizer, text, {}).characters;
}

class EvaluatedCharacters : public testing::TestWithParam<const char*> {
 protected:
  const Tokenizer tokenizer{Tokenizer::train(std::vector<std::string>{"the cat sat on the mat", "a dog ran to the end"},
                                             {.type = GetParam(), .vocab_size = 30, .path = {}})};
};

TEST_P(EvaluatedCharacters, AreThoseOfTheText) {
  EXPECT_EQ(characters(tokenizer, "the cat\nsat on\n\na mat"), 21);
  EXPECT_EQ(characters(tokenizer, "the"), 3);
  EXPECT_EQ(characters(tokenizer, "\n\n"), 2);
  EXPECT_EQ(characters(tokenizer, ""), 0);
}

// SentencePiece drops them, so nothing predicts them.
TEST_P(EvaluatedCharacters, AreWithoutSpacesThatNoPieceStandsFor) {
  EXPECT_EQ(characters(tokenizer, "  the   cat \n sat on  \n   \na mat "), 21);
  EXPECT_EQ(characters(tokenizer, "    "), 0);
}

TEST_P(EvaluatedCharacters, OfAnUnknownRunAreAllOfIt) {
  EXPECT_EQ(characters(tokenizer, "\u4E2D\u6587 the \u6587\u4E2D\n\u4E2D"), 11);
}

TEST_P(EvaluatedCharacters, OfPassagesAreThoseOfTheirLine) {
  std::string line;
  for (int i = 0; i < 10'000; ++i) line += "the cat ";
  EXPECT_EQ(characters(tokenizer, line), 79'999);
  EXPECT_EQ(characters(tokenizer, std::string(70'000, 'a')), 70'000);
  EXPECT_EQ(characters(tokenizer, std::string(70'000, ' ') + "the cat"), 7);
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, EvaluatedCharacters, testing::Values("bpe", "unigram"));

TEST(EvaluateText, OfSingleCharactersCountsEverySpace) {
  EXPECT_EQ(characters(letters(), "  ab   c \n  \n"), 13);
  EXPECT_EQ(characters(letters({"ab"}), " a b"), 4) << "a space that is unknown";
}

TEST(EvaluateText, ReportsProgress) {
  const Tokenizer tokenizer = letters();
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "ab";
  const Model model = tiny_language_model(tokenizer.vocab_size(), 64);
  std::vector<double> fractions;
  evaluate_text(*model, tokenizer, text, [&](double fraction) { fractions.push_back(fraction); });
  EXPECT_GE(fractions.size(), 5u);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1);
}

}  // namespace
}  // namespace attnscope
