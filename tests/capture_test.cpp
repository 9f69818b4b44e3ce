// Captures: what is read, every refusal, the round trip of what is saved, and what attention alone tells of a head.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "analysis/attention_measures.h"
#include "analysis/head_scores.h"
#include "analysis/hidden_states.h"
#include "common/base64.h"
#include "fake_session.h"
#include "files/captures/capture.h"
#include "files/captures/page.h"
#include "files/storage/file.h"
#include "files/storage/safetensors.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Json = nlohmann::json;

namespace fs = std::filesystem;

const std::vector<std::string> bank = {"[CLS]", "the", "bank", "[SEP]"};

TensorBytes tensor(const std::string& name, std::vector<std::int64_t> shape, std::vector<float> values) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  values.resize(static_cast<std::size_t>(count), values.empty() ? 0 : values.back());
  return {name, Dtype::F32, std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float))};
}

// Attention that is the same to all keys.
TensorBytes even(const std::string& name, std::int64_t layers, std::int64_t heads, std::int64_t queries,
                 std::int64_t keys) {
  return tensor(name, {layers, heads, queries, keys}, {1 / static_cast<float>(keys)});
}

Safetensors capture_of(const Json& sentences, std::vector<TensorBytes> tensors) {
  Safetensors contents;
  contents.metadata = {{"format", "attnscope-capture"}, {"version", "1"}, {"sentences", sentences.dump()}};
  contents.tensors = std::move(tensors);
  return contents;
}

Safetensors one_sentence(const Json& more = Json::object()) {
  Json sentence = {{"text", "the bank"}, {"source", bank}};
  sentence.update(more);
  return capture_of(Json::array({sentence}), {even("0/5/encoder", 2, 3, 4, 4)});
}

class CaptureTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  CaptureContents load(const Safetensors& contents) const {
    write_safetensors(file, contents);
    return load_capture(file, 7);
  }

  std::string refusal(const Safetensors& contents) const {
    try {
      load(contents);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  fs::path folder = fs::temp_directory_path() / ("capture_test." + std::to_string(::getpid()));
  fs::path file = folder / "mine.safetensors";
};

TEST_F(CaptureTest, TokensAndOneTensorAreEnough) {
  const CaptureContents capture = load(one_sentence());
  ASSERT_EQ(capture.sentences.size(), 1U);
  EXPECT_EQ(capture.sentences[0].text, "the bank");
  ASSERT_EQ(capture.sentences[0].frames.size(), 1U);
  const Snapshot& frame = *capture.sentences[0].frames[0];
  EXPECT_EQ(frame.step, 5);
  EXPECT_EQ(frame.run, 7U);
  EXPECT_EQ(texts_of(frame.source), bank);
  EXPECT_EQ(frame.encoder.size(), 2U);
  EXPECT_EQ(frame.encoder[1].size(), 3U);
  EXPECT_FLOAT_EQ(frame.encoder[1][2].at(3, 0), 0.25F);
  EXPECT_TRUE(frame.is_whole());
  EXPECT_TRUE(frame.model.has_weights());
  EXPECT_EQ(part_size(frame.model, AttentionPart::encoder), (PartSize{2, 3}));
  EXPECT_EQ(part_size(frame.model, AttentionPart::cross), (PartSize{}));
}

TEST_F(CaptureTest, ASecondSentenceBeginsAtAnyToken) {
  for (const int begin : {0, 3})
    EXPECT_EQ(load(one_sentence({{"sentence_b", begin}})).sentences[0].frames[0]->captured->second, begin);
}

TEST_F(CaptureTest, RaggedSentencesStepsPairsLossesAndLabels) {
  const Json sentences = {{{"source", {"a", "b"}}, {"labels", {{"model", "small"}}}},
                          {{"source", {"a", "b"}}, {"labels", {{"model", "large"}}}},
                          {{"source", {"x"}}, {"target", {"<s>", "\n", "😀"}}, {"output", {"\n", "😀", "</s>"}}}};
  Safetensors contents =
      capture_of(sentences, {even("0/0/encoder", 1, 1, 2, 2), even("1/10/encoder", 12, 12, 2, 2),
                             even("1/9/encoder", 12, 12, 2, 2), even("2/3/cross", 6, 8, 3, 1)});
  contents.metadata["loss"] = R"({"10": 1.5, "9": 2})";
  const CaptureContents capture = load(contents);
  ASSERT_EQ(capture.sentences.size(), 3U);
  EXPECT_EQ(capture.sentences[0].text, "a b");
  EXPECT_EQ(capture.sentences[1].text, "a b (large)") << "equal texts are told apart";
  ASSERT_EQ(capture.sentences[1].frames.size(), 2U);
  EXPECT_EQ(capture.sentences[1].frames[0]->step, 9);
  const Snapshot& pair = *capture.sentences[2].frames[0];
  EXPECT_THAT(texts_of(pair.target_out), ElementsAre("\n", "😀", "</s>"));
  EXPECT_EQ(part_size(pair.model, AttentionPart::cross), (PartSize{6, 8}));
  ASSERT_EQ(capture.losses.size(), 2U);
  EXPECT_EQ(capture.losses[0].step, 9);
  EXPECT_EQ(capture.losses[1][metric("loss")], 1.5);
}

TEST_F(CaptureTest, HalfPrecisionKeepsItsValues) {
  Safetensors contents = one_sentence();
  TensorBytes& half = contents.tensors[0];
  const auto fill = [&](Dtype dtype, std::uint16_t bits) {
    half.dtype = dtype;
    half.shape = {1, 1, 4, 4};
    half.bytes.clear();
    for (int i = 0; i < 16; ++i) half.bytes.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
  };
  fill(Dtype::F16, 0x3400);  // 0.25
  EXPECT_FLOAT_EQ(load(contents).sentences[0].frames[0]->encoder[0][0].at(1, 1), 0.25F);
  fill(Dtype::F16, 0x0001);  // the smallest subnormal
  EXPECT_FLOAT_EQ(load(contents).sentences[0].frames[0]->encoder[0][0].at(1, 1), 0x1p-24F);
  fill(Dtype::BF16, 0x3E80);
  EXPECT_FLOAT_EQ(load(contents).sentences[0].frames[0]->encoder[0][0].at(1, 1), 0.25F);
  fill(Dtype::F16, 0x7C00);  // infinity
  EXPECT_THAT(refusal(contents), HasSubstr("not a finite number"));
}

TEST_F(CaptureTest, SignedValuesAreNotWeights) {
  Safetensors contents = one_sentence();
  contents.tensors = {tensor("0/5/encoder", {1, 1, 4, 4}, {-1, 2, -std::numeric_limits<float>::infinity(), 0.5F})};
  EXPECT_THAT(refusal(contents), AllOf(HasSubstr("query 0, key 0: -1 is negative"), HasSubstr("signed = true")));
  contents.metadata["signed"] = "true";
  const Snapshot frame = *load(contents).sentences[0].frames[0];
  EXPECT_TRUE(frame.model.is_signed());
  EXPECT_FALSE(frame.model.has_weights());
  EXPECT_EQ(frame.encoder[0][0].at(0, 0), -1);
  EXPECT_EQ(frame.encoder[0][0].at(0, 2), -std::numeric_limits<float>::infinity()) << "a masked score";
}

TEST_F(CaptureTest, RowsNeedNotSumToOne) {
  Safetensors contents = one_sentence();
  contents.tensors = {tensor("0/5/encoder", {1, 1, 4, 4}, {0.3F})};
  EXPECT_FALSE(load(contents).model.has_weights());
  contents.tensors = {tensor("0/5/encoder", {1, 1, 4, 4}, {0.251F})};
  EXPECT_TRUE(load(contents).model.has_weights()) << "rounded weights";
}

TEST_F(CaptureTest, ADecoderIsMaskedOnlyIfNothingAttendsAhead) {
  const Json sentences = {{{"target", {"a", "b"}}}};
  Safetensors contents = capture_of(sentences, {tensor("0/0/decoder", {1, 1, 2, 2}, {1, 0, 0.5F, 0.5F})});
  EXPECT_TRUE(is_causal(load(contents).model, AttentionPart::decoder));
  contents.tensors = {even("0/0/decoder", 1, 1, 2, 2)};
  EXPECT_FALSE(is_causal(load(contents).model, AttentionPart::decoder));
}

TEST_F(CaptureTest, EveryMismatchNamesSentenceTensorAndBothNumbers) {
  const auto with_tensor = [](TensorBytes changed) {
    Safetensors contents = one_sentence();
    contents.tensors = {std::move(changed)};
    return contents;
  };
  const Json pair = {{"target", {"x", "y"}}};
  const auto with_second = [](const Json& more, TensorBytes added) {
    Safetensors contents = one_sentence(more);
    contents.tensors.push_back(std::move(added));
    return contents;
  };
  const std::vector<std::pair<Safetensors, std::vector<const char*>>> cases = {
      {with_tensor(even("0/5/encoder", 1, 1, 512, 512)),
       {"mine.safetensors", "sentence 0 (\"the bank\")", "tensor \"0/5/encoder\"", "512 queries", "4 source tokens"}},
      {with_tensor(even("0/5/encoder", 1, 1, 4, 3)), {"3 keys", "4 source tokens"}},
      {with_tensor(even("0/5/decoder", 1, 1, 4, 4)), {"\"0/5/decoder\"", "no target tokens"}},
      {with_second(pair, even("0/5/cross", 1, 1, 3, 4)), {"\"0/5/cross\"", "3 queries", "2 target tokens"}},
      {with_tensor(tensor("0/5/encoder", {1, 4, 4}, {1})), {"[1, 4, 4] has 3 dimensions, not 4"}},
      {with_tensor(tensor("0/5/encoder", {0, 3, 4, 4}, {})), {"0 layers of 3 heads"}},
      {with_tensor(even("1/5/encoder", 1, 1, 4, 4)), {"no sentence 1", "has 1"}},
      {with_tensor(even("0/five/encoder", 1, 1, 4, 4)), {"0/five/encoder", "SENTENCE/STEP/WHAT"}},
      {with_tensor(even("0/5/weights", 1, 1, 4, 4)), {"0/5/weights", "encoder, decoder, cross, hidden, logits"}},
      {with_tensor(even("encoder", 1, 1, 4, 4)), {"SENTENCE/STEP/WHAT"}},
      {with_tensor(even("0/05/encoder", 1, 1, 4, 4)), {"SENTENCE/STEP/WHAT"}},
      {with_tensor(tensor("0/5/hidden", {3, 4, 8}, {1})), {"step 5 has no attention"}},
      {with_second(Json::object(), tensor("0/5/hidden", {2, 4, 8}, {1})),
       {"2 layers of hidden states", "2 layers of attention need 3"}},
      {with_second(Json::object(), tensor("0/5/hidden", {3, 5, 8}, {1})), {"5 tokens", "4 source tokens"}},
      {with_second(pair, tensor("0/5/logits", {2, 3}, {1})), {"no \"candidates\""}},
      {with_second({{"target", {"x"}}, {"candidates", {"p", "q"}}}, tensor("0/5/logits", {1, 3}, {1})),
       {"3 columns", "2 candidate tokens"}},
      {one_sentence({{"source", {"a", 3}}}), {"token 1 of \"source\" is number"}},
      {one_sentence({{"source", "the bank"}}), {"\"source\" is string, not a list"}},
      {one_sentence({{"target", {"x"}}, {"output", {"x", "y"}}}), {"2 output tokens, but 1 target"}},
      {one_sentence({{"grid", {3, 2}}}), {"3 × 2 has 6 patches", "4 source tokens"}},
      {one_sentence({{"grid", {-1, 2}}}), {"\"grid\" is -1"}},
      {one_sentence({{"sentence_b", 4}}), {"\"sentence_b\" is 4", "up to 3"}},
      {one_sentence({{"steps", {{"6", {{"source", {"a"}}}}}}}), {"\"steps\" names step \"6\""}},
      {capture_of(Json::array(), {}), {"at least one sentence"}},
      {capture_of(Json::array({Json{{"source", bank}}}), {}), {"no tensor belongs to it"}},
      {capture_of(Json::array({Json{{"text", "nothing"}}}), {even("0/0/encoder", 1, 1, 1, 1)}),
       {"neither source nor target"}},
  };
  for (const auto& [contents, parts] : cases) {
    const std::string text = refusal(contents);
    for (const char* part : parts) EXPECT_THAT(text, HasSubstr(part));
  }
  Safetensors other = one_sentence();
  other.metadata = {{"format", "pt"}};
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("is not a capture"), HasSubstr("open the folder of its run")));
  other = one_sentence();
  other.metadata["version"] = "2";
  EXPECT_THAT(refusal(other), HasSubstr("version is \"2\", allowed: 1"));
  other = one_sentence();
  other.metadata["sentences"] = "[{";
  EXPECT_THAT(refusal(other), HasSubstr("\"sentences\" is not JSON"));
  other = one_sentence();
  other.metadata["loss"] = R"({"x": 1})";
  EXPECT_THAT(refusal(other), HasSubstr("at step \"x\""));
  other = one_sentence();
  other.metadata["signed"] = "yes";
  EXPECT_THAT(refusal(other), HasSubstr("allowed: true, false"));
  other = one_sentence();
  other.tensors[0] = {"0/5/encoder", Dtype::I32, {1, 1, 4, 4}, std::string(64, '\0')};
  EXPECT_THAT(refusal(other), HasSubstr("is I32, allowed: F32, F16, BF16"));
}

// A file with any damaged byte opens or is refused with a message.
TEST_F(CaptureTest, DamagedBytesAreRefusedOrRead) {
  write_safetensors(file, one_sentence({{"grid", {2, 2}}, {"labels", {{"model", "x"}}}}));
  const std::string whole = read_file(file, 1 << 20);
  for (std::size_t at = 0; at < whole.size() - 400; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (at % 2 == 0 ? 0x15 : 0x80));
    write_file(file, damaged);
    try {
      EXPECT_EQ(load_capture(file, 1).sentences.size(), 1U);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("mine.safetensors"));
    }
  }
}

// One frame with a candidate whose text is markup.
PinnedSentence sentence_with_candidates() {
  auto frame = std::make_shared<Snapshot>();
  frame->step = 30;
  frame->source = {{5, "a"}, {6, "</script>"}};
  frame->target_in = {{1, "<s>"}};
  frame->target_out = {{7, "x"}};
  frame->encoder = {{Matrix(2, 2)}};
  frame->encoder[0][0].values = {0.125F, 0.875F, 0.1F, 0.9F};
  frame->decoding = {{.candidates = {{{7, "x"}, 1, 0.7F, 0.7F, 0.7F}, {{8, "</script>"}, 0, 0.1F, 0.1F, 0.1F}},
                      .chosen = 0,
                      .entropy = 0.25F,
                      .reference = {}}};
  return {"a", {frame}};
}

TEST_F(CaptureTest, CandidatesAndLossesReopenTheSame) {
  const PinnedSentence sentence = sentence_with_candidates();
  write_file(file, capture_bytes({&sentence, 1}, {.labels = {{"run", "mine"}}, .losses = {{1, 30}, {2.5, 0.1F}}}));
  const CaptureContents capture = load_capture(file, 1);
  const Snapshot& frame = *capture.sentences[0].frames[0];
  ASSERT_EQ(frame.decoding.size(), 1U);
  EXPECT_EQ(frame.decoding[0].entropy, 0.25F);
  ASSERT_EQ(frame.decoding[0].candidates.size(), 2U);
  EXPECT_EQ(frame.decoding[0].candidates[1].token.text, "</script>");
  EXPECT_EQ(frame.decoding[0].candidates[1].probability, 0.1F);
  EXPECT_EQ(frame.captured->labels[0].value, "mine");
  ASSERT_EQ(capture.losses.size(), 2U);
  EXPECT_EQ(capture.losses[1].step, 30);
  EXPECT_EQ(capture.losses[1][metric("loss")], 0.1F);
}

TEST_F(CaptureTest, AWrongPredictionIsRefused) {
  for (const char* predictions : {R"([{"entropy": 0, "candidates": [["x", 1.5]]}])", "[]", "\"x\""}) {
    const Json one_output = Json::array({"x"});
    write_safetensors(file, one_sentence({{"target", one_output}, {"predictions", Json::parse(predictions)}}));
    EXPECT_THAT([&] { load_capture(file, 1); },
                testing::ThrowsMessage<SafetensorsError>(HasSubstr("\"predictions\"")));
  }
}

TEST_F(CaptureTest, APageContainsItsCapture) {
  const PinnedSentence sentence = sentence_with_candidates();
  const std::string bytes = capture_bytes({&sentence, 1});
  const fs::path page = fs::path(file).replace_extension(".html");
  const std::string html = page_html("<p>{{facts}}</p><script id=\"capture\">{{capture}}</script>", bytes,
                                     {"fr", [](const char*) { return "<b>"; }});
  EXPECT_THAT(html, testing::Not(HasSubstr("<b>")));  // a word must not end the element
  write_file(page, html);
  EXPECT_EQ(capture_in_page(page), bytes);
  EXPECT_EQ(load_capture(page, 1).sentences[0].text, "a");
  EXPECT_TRUE(is_capture_name(page.string()));
  for (const std::string& damaged : {std::string("<html></html>"), html.substr(0, html.size() - 12), std::string()}) {
    write_file(page, damaged);
    EXPECT_THAT([&] { load_capture(page, 1); },
                testing::ThrowsMessage<SafetensorsError>(HasSubstr("not an interactive page of attnscope")));
  }
  EXPECT_THROW(page_html("", bytes, {}), Error);
  fs::remove(page);
}

TEST_F(CaptureTest, APageLeavesOutStepsUntilItFits) {
  PinnedSentence sentence{"long", {}};
  for (int step = 1; step <= 9; ++step) {
    auto frame = std::make_shared<Snapshot>();
    frame->step = step;
    frame->encoder = {{Matrix(1024, 1024)}, {Matrix(1024, 1024)}};  // 8 MiB
    sentence.frames.push_back(frame);
  }
  std::size_t left_out = 0;
  const std::vector<PinnedSentence> thinned = thinned_for_page({sentence, {"without frames", {}}}, left_out);
  ASSERT_EQ(thinned.size(), 1U);
  std::vector<std::int64_t> steps;
  for (const Frame& frame : thinned[0].frames) steps.push_back(frame->step);
  EXPECT_THAT(steps, testing::ElementsAre(1, 5, 9));
  EXPECT_EQ(left_out, 6U);
  auto frame = std::make_shared<Snapshot>();
  frame->encoder = {{Matrix(3000, 3000)}};
  EXPECT_THROW(thinned_for_page({{"too long", {frame}}}, left_out), Error);
}

TEST(Base64, GivesTheBytesBack) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    bytes += static_cast<char>(i);
  }
  EXPECT_EQ(to_base64("M"), "TQ==");
  EXPECT_EQ(from_base64(""), "");
  for (const char* wrong : {"TQ=", "T", "TQ==TQ==", "T Q=", "TQ\n=", "===="}) EXPECT_FALSE(from_base64(wrong)) << wrong;
}

TEST_F(CaptureTest, WhatIsSavedReopensTheSame) {
  PinnedSentence sentence{"a b", {}};
  for (const std::int64_t step : {10, 20}) {
    auto frame = std::make_shared<Snapshot>();
    frame->step = step;
    frame->source_text = "a b";
    frame->output_text = "step " + std::to_string(step);
    frame->source = {{5, "\u2581a"}, {6, "\u2581b"}};
    frame->target_in = {{1, "<s>"}, {7, "\u2581x"}};
    frame->target_out = {{7, "\u2581x"}, {2, "</s>"}};
    if (step == 10) frame->target_in.pop_back(), frame->target_out.pop_back();
    const int written = static_cast<int>(frame->target_in.size());
    frame->encoder = {{Matrix(2, 2)}};
    frame->encoder[0][0].values = {0.125F, 0.875F, 0.3F, 0.7F};
    frame->decoder = {{Matrix(written, written)}};
    for (int i = 0; i < written; ++i) frame->decoder[0][0].at(i, 0) = 1;
    frame->cross = {{Matrix(written, 2)}};
    for (int i = 0; i < written; ++i) frame->cross[0][0].at(i, 1) = 1;
    sentence.frames.push_back(frame);
  }
  write_file(file, capture_bytes({&sentence, 1}));
  const CaptureContents capture = load_capture(file, 1);
  ASSERT_EQ(capture.sentences.size(), 1U);
  ASSERT_EQ(capture.sentences[0].frames.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Snapshot &saved = *sentence.frames[i], &read = *capture.sentences[0].frames[i];
    EXPECT_EQ(read.step, saved.step);
    EXPECT_EQ(read.source_text, saved.source_text);
    EXPECT_EQ(read.output_text, saved.output_text);
    EXPECT_EQ(texts_of(read.source), texts_of(saved.source));
    EXPECT_EQ(texts_of(read.target_in), texts_of(saved.target_in));
    EXPECT_EQ(texts_of(read.target_out), texts_of(saved.target_out));
    EXPECT_EQ(read.encoder, saved.encoder);
    EXPECT_EQ(read.decoder, saved.decoder);
    EXPECT_EQ(read.cross, saved.cross);
    EXPECT_TRUE(is_causal(read.model, AttentionPart::decoder));
  }
}

TEST_F(CaptureTest, LogitsBecomeCandidates) {
  const Json sentence = {{"source", {"a"}}, {"target", {"x"}}, {"candidates", {"p", "q"}}};
  const CaptureContents capture = load(capture_of(Json::array({sentence}), {even("0/0/cross", 1, 1, 1, 1),
                                                       tensor("0/0/logits", {1, 2}, {0, std::log(3.0F)})}));
  const DecodingStep& step = capture.sentences[0].frames[0]->decoding.at(0);
  EXPECT_EQ(step.candidates[0].token.text, "q");
  EXPECT_FLOAT_EQ(step.candidates[0].probability, 0.75F);
}

TEST_F(CaptureTest, RowsOfLogitsPredictTheNextTokens) {
  Json sentence = {{"target", {"x", "y"}}, {"candidates", {"p", "q"}}};
  const auto output = [&] {
    const std::vector<TensorBytes> tensors = {even("0/0/decoder", 1, 1, 2, 2),
                                              tensor("0/0/logits", {2, 2}, {0, 1, 0, 1})};
    return texts_of(load(capture_of(Json::array({sentence}), tensors)).sentences[0].frames[0]->target_out);
  };
  EXPECT_THAT(output(), ElementsAre("y", "q"));
  sentence["output"] = {"p", "p"};
  EXPECT_THAT(output(), ElementsAre("p", "p"));
}

// ---- words

std::vector<std::string> words(const std::vector<std::string>& texts) {
  std::vector<Token> tokens;
  for (const std::string& text : texts) tokens.push_back({-1, text});
  std::vector<std::string> words;
  for (const WordSpan& word : words_of(tokens)) words.push_back(word.text);
  return words;
}

TEST(CapturedWords, EveryMarkOfAWordIsKnown) {
  EXPECT_THAT(words({"[CLS]", "un", "##afford", "##able", "the", "[SEP]"}),
              ElementsAre("[CLS]", "unaffordable", "the", "[SEP]"));
  EXPECT_THAT(words({"The", "\u0120ani", "mal"}), ElementsAre("The", "animal"));
  EXPECT_THAT(words({"\u2581ani", "mal", "\u2581it"}), ElementsAre("animal", "it"));
  EXPECT_THAT(words({"the", "bank"}), ElementsAre("the", "bank")) << "tokens without marks are words";
}

// ---- scores

TEST(HeadScores, KnownAnswers) {
  Snapshot snapshot;
  for (const char* text : {"[CLS]", "a", "b", "a"}) snapshot.source.push_back({-1, text});
  Matrix previous(4, 4);  // every query attends to the token before it, the first to itself
  for (int row = 0; row < 4; ++row) previous.at(row, std::max(0, row - 1)) = 1;
  Matrix induction(4, 4);  // the second "a" attends to "b", all others to [CLS]
  for (int row = 0; row < 4; ++row) induction.at(row, row == 3 ? 2 : 0) = 1;
  snapshot.encoder = {{previous, induction}};
  const std::vector<HeadScores> scores = head_scores({&snapshot});
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_DOUBLE_EQ(*scores[0].previous, 1);
  EXPECT_DOUBLE_EQ(scores[0].entropy, 0);
  EXPECT_DOUBLE_EQ(scores[0].first, 0.5);
  EXPECT_DOUBLE_EQ(*scores[0].distance, 0.75);
  EXPECT_DOUBLE_EQ(*scores[1].induction, 1);
  EXPECT_DOUBLE_EQ(scores[1].special, 0.75);
  EXPECT_DOUBLE_EQ(*scores[1].previous, 2.0 / 3);
}

TEST(HeadScores, EveryQueryCountsOnce) {
  Snapshot one, three;  // their queries attend to the first token: all of one, and none but one of three
  for (const char* text : {"a", "b", "c"}) three.source.push_back({-1, text});
  one.source = {{-1, "a"}};
  one.encoder = {{Matrix(1, 1)}};
  one.encoder[0][0].at(0, 0) = 1;
  three.encoder = {{Matrix(3, 3)}};
  for (int row = 0; row < 3; ++row) three.encoder[0][0].at(row, row) = 1;
  const HeadScores scores = head_scores({&one, &three}).front();
  EXPECT_EQ(scores.sentences, 2);
  EXPECT_DOUBLE_EQ(scores.first, 0.5) << "2 of 4 queries";
}

TEST(HeadScores, SpecialTokensAreKnownByTheirForm) {
  for (const char* token : {"[CLS]", "[SEP]", "<s>", "</s>", "<|endoftext|>", "[unused]"})
    EXPECT_EQ(is_special_token(token), std::string_view(token) != "[unused]") << token;
  for (const char* token : {"the", "[1]", "<", "[]", "<>"}) EXPECT_FALSE(is_special_token(token)) << token;
}

// ---- hidden states

TEST(HiddenStates, KnownAnswers) {
  Matrix first(3, 2), opposite(3, 2);
  first.values = {1, 0, 0, 2, -1, -2};
  for (std::size_t i = 0; i < first.values.size(); ++i) opposite.values[i] = -3 * first.values[i];
  const std::vector<Matrix> states = {first, first, opposite};
  const Matrix similarity = layer_similarity(states);
  EXPECT_NEAR(similarity.at(0, 1), 1, 1e-6);
  EXPECT_NEAR(similarity.at(2, 0), -1, 1e-6);
  const std::vector<HiddenLayer> layers = hidden_layers(states);
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_NEAR(layers[0].shares[0] + layers[0].shares[1], 1, 1e-5) << "two dimensions have two axes";
  EXPECT_GE(layers[0].shares[0], layers[0].shares[1]);
  const auto distance = [](const Matrix& points, int a, int b) {
    return std::hypot(points.at(a, 0) - points.at(b, 0), points.at(a, 1) - points.at(b, 1));
  };
  EXPECT_NEAR(distance(layers[0].points, 0, 1), std::sqrt(5.0F), 1e-4) << "projection keeps distances in the plane";
  EXPECT_NEAR(distance(layers[2].points, 0, 1), 3 * std::sqrt(5.0F), 1e-3);
  const std::vector<Matrix> same = {Matrix(4, 3)};
  EXPECT_EQ(hidden_layers(same)[0].shares[0], 0) << "all tokens at one point";
}

// ---- the session

class CaptureSession : public SessionTest {};

TEST_F(CaptureSession, OpensLikeARunAndGivesTheModelBack) {
  const fs::path file = fs::temp_directory_path() / ("capture_session." + std::to_string(::getpid()) + ".safetensors");
  write_safetensors(file, one_sentence());
  start_with_run();
  session->post(OpenRun{file.string()});
  ASSERT_TRUE(wait_for([&] { return !all<RunOpened>().empty(); }));
  const RunOpened opened = all<RunOpened>().front();
  EXPECT_TRUE(opened.config.model.is_capture());
  ASSERT_EQ(opened.examples.size(), 1U);
  session->post(Probe{.request = 1, .text = opened.examples[0].source});
  ASSERT_TRUE(wait_for([&] { return snapshot && snapshot->captured; }));
  EXPECT_EQ(snapshot->run, opened.run);
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return said("a capture has no model").has_value(); }));

  seen.clear();
  write_file(file, "damaged");
  session->post(OpenRun{file.string()});
  ASSERT_TRUE(wait_for([&] { return said("Could not open the capture").has_value(); }));
  EXPECT_THAT(all<RunOpened>(), IsEmpty()) << "the present one stays";

  session->post(OpenRun{"a run"});
  ASSERT_TRUE(wait_for([&] { return !all<RunOpened>().empty(); }));
  EXPECT_FALSE(all<RunOpened>().back().config.model.is_capture());
  EXPECT_NE(all<RunOpened>().back().run, opened.run);
  fs::remove(file);
}

}  // namespace
}  // namespace attnscope
