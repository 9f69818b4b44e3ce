// Pinned sentences: thinning within a budget, curves of one weight, and the history's file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "files/storage/file.h"
#include "files/storage/history_file.h"
#include "files/storage/safetensors.h"
#include "messages/history.h"

namespace attnscope {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

constexpr const char* sentence = "The animal didn't cross the street";

// Weights that differ from cell to cell, head to head and step to step.
AttentionMaps maps(std::int64_t layers, std::int64_t heads, int rows, int cols, std::int64_t step) {
  AttentionMaps made(layers, std::vector<Matrix>(heads, Matrix(rows, cols)));
  float value = static_cast<float>(step);
  for (auto& layer : made) {
    for (Matrix& map : layer) {
      for (float& weight : map.values) weight = std::fmod(value += 0.37F, 1.0F);
    }
  }
  return made;
}

std::vector<Token> tokens(int count, int first_id) {
  std::vector<Token> made;
  for (int i = 0; i < count; ++i) made.push_back({first_id + i, "\u2581piece" + std::to_string(first_id + i)});
  return made;
}

// The number of candidates depends on the step, so that the counts differ.
std::vector<DecodingStep> decoding(int count) {
  std::vector<DecodingStep> made;
  for (int i = 0; i < count; ++i) {
    DecodingStep& step = made.emplace_back();
    for (const Token& token : tokens(2 + i % 3, 20))
      step.candidates.push_back({token, 0.5F + static_cast<float>(i), 0.25F, 0.25F, 0.25F});
    step.chosen = 1;
    step.entropy = 0.125F * static_cast<float>(i);
  }
  return made;
}

// Layers and heads differ in number: neither is taken for the other unseen.
ModelConfig model_with_four_heads() {
  ModelConfig model;
  model.num_heads = 4;
  model.num_decoder_layers = 2;
  return model;
}

Snapshot inspect(std::int64_t step, const std::string& text = sentence,
                    const ModelConfig& model = model_with_four_heads(), int written = 4) {
  Snapshot made;
  made.run = 3;
  made.step = step;
  made.request = 99;
  made.model = model;
  made.source_text = text;
  made.output_text = "L'animal à l'étape " + std::to_string(1'000'000 + step);  // as long at every step
  made.target_in = tokens(written, 5);
  made.target_out = tokens(written, 6);
  made.decoding = decoding(written);
  made.truncated = step % 2 == 1;
  made.stopped_at_limit = step % 3 == 1;
  made.forced = model.is_language_model() ? 2 : 0;
  if (!model.is_language_model()) made.source = tokens(3, 40);
  if (!model.is_language_model() && !model.is_recurrent()) made.encoder = maps(2, 4, 3, 3, step);
  if (!model.is_recurrent()) made.decoder = maps(2, 4, written, written, step);
  if (model.is_recurrent()) made.cross = maps(1, 1, written, 3, step);
  if (!model.is_language_model() && !model.is_recurrent()) made.cross = maps(2, 4, written, 3, step);
  made.positions = std::make_shared<const std::vector<PositionTable>>(1);
  return made;
}

Frame frame(std::int64_t step, const std::string& text = sentence) {
  return frame_of(inspect(step, text));
}

std::vector<std::int64_t> steps(const PinnedSentence* pinned) {
  std::vector<std::int64_t> found;
  for (const Frame& seen : pinned->frames) found.push_back(seen->step);
  return found;
}

auto kept_parts(const Snapshot& s) {
  return std::tie(s.step, s.model, s.source_text, s.output_text, s.source, s.target_in, s.target_out, s.forced,
                  s.truncated, s.stopped_at_limit, s.encoder, s.decoder, s.cross, s.decoding);
}

// ---- what is kept

TEST(History, AFrameIsTheLookWithoutTheTablesOfPositions) {
  const Snapshot whole = inspect(7);
  const Frame kept = frame_of(whole);
  EXPECT_EQ(kept_parts(*kept), kept_parts(whole));
  EXPECT_EQ(kept->run, 3u);
  ASSERT_TRUE(kept->positions);
  EXPECT_THAT(*kept->positions, IsEmpty());
}

TEST(History, KeepsFramesOfPinnedSentencesByStep) {
  History history;
  EXPECT_TRUE(history.pin("a"));
  EXPECT_FALSE(history.pin("a"));
  for (const std::int64_t step : {0, 50, 100}) {
    history.add(frame(step, "a"));
    history.add(frame(step, "b"));  // not pinned
  }
  EXPECT_EQ(history.sentences().size(), 1u);
  EXPECT_THAT(steps(history.find("a")), ElementsAre(0, 50, 100));
  EXPECT_EQ(history.find("b"), nullptr);
}

TEST(History, AFrameOfTheSameStepReplacesAndTrainingTakenBackDropsWhatItSaw) {
  History history;
  history.pin("a");
  for (const std::int64_t step : {0, 50, 100, 150}) history.add(frame(step, "a"));
  const Frame again = frame(150, "a");
  history.add(again);
  EXPECT_THAT(steps(history.find("a")), ElementsAre(0, 50, 100, 150));
  EXPECT_EQ(history.find("a")->frames.back(), again);
  history.add(frame(70, "a"));
  EXPECT_THAT(steps(history.find("a")), ElementsAre(0, 50, 70));
  history.truncate(50);
  EXPECT_THAT(steps(history.find("a")), ElementsAre(0, 50));
  history.truncate(std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(steps(history.find("a")), ElementsAre(0, 50));
}

TEST(History, BytesFollowEveryChange) {
  const std::size_t one = bytes_of(*frame(0));
  History history;
  history.pin(sentence);
  history.pin("other");
  EXPECT_EQ(history.bytes(), 0u);
  for (const std::int64_t step : {0, 50, 100}) history.add(frame(step));
  history.add(frame(0, "other"));
  EXPECT_EQ(history.bytes(), 3 * one + bytes_of(*frame(0, "other")));
  EXPECT_TRUE(history.unpin("other"));
  EXPECT_FALSE(history.unpin("other"));
  history.truncate(0);
  EXPECT_EQ(history.bytes(), one);
  history.clear();
  EXPECT_EQ(history.bytes(), 0u);
  EXPECT_THAT(history.find(sentence)->frames, IsEmpty());
}

TEST(History, BytesCountMapsCandidatesAndTexts) {
  const std::size_t plain = bytes_of(*frame(0));
  Snapshot more = inspect(0);
  more.encoder[0][0] = Matrix(103, 103);  // instead of 3 × 3
  EXPECT_EQ(bytes_of(more), plain + (103 * 103 - 9) * sizeof(float));
  more = inspect(0);
  more.output_text = std::string(1000, 'x');
  EXPECT_GE(bytes_of(more), plain + 900);
  more = inspect(0);
  more.decoding[0].candidates.resize(100);
  EXPECT_GE(bytes_of(more), plain + 90 * sizeof(Candidate));
}

TEST(History, RefusesMoreSentencesThanCanBeLookedAt) {
  History history;
  for (std::size_t i = 0; i < max_pinned; ++i) EXPECT_TRUE(history.pin(std::to_string(i)));
  EXPECT_FALSE(history.pin("one more"));
  history.unpin("3");
  EXPECT_TRUE(history.pin("one more"));
}

// ---- thinning

TEST(History, ThinningDropsTheFrameWhoseNeighboursAreClosestTheOldestOfSeveral) {
  History history(5 * bytes_of(*frame(0)));
  history.pin(sentence);
  for (const std::int64_t step : {0, 100, 110, 120, 400}) history.add(frame(step));
  EXPECT_EQ(history.bytes(), history.budget());
  history.add(frame(500));
  EXPECT_THAT(steps(history.find(sentence)), ElementsAre(0, 100, 120, 400, 500));  // 110: its neighbours are 20 apart
  history.add(frame(600));
  EXPECT_THAT(steps(history.find(sentence)), ElementsAre(0, 120, 400, 500, 600));  // 100: 120
  history.add(frame(700));
  EXPECT_THAT(steps(history.find(sentence)), ElementsAre(0, 120, 400, 600, 700));  // 500 before 600: 200 each
}

TEST(History, StaysWithinItsBudgetAndEvenForALongTraining) {
  constexpr std::size_t room = 64;
  History history(room * bytes_of(*frame(0)));
  history.pin(sentence);
  for (std::int64_t step = 0; step <= 100'000; step += 50) {
    history.add(frame(step));
    ASSERT_LE(history.bytes(), history.budget());
    const std::vector<std::int64_t> kept = steps(history.find(sentence));
    ASSERT_EQ(kept.front(), 0);
    ASSERT_EQ(kept.back(), step);
    if (step < 50 * 64) continue;
    ASSERT_EQ(kept.size(), room);
    // Evenly: no gap is more than three times the mean.
    std::int64_t widest = 0;
    for (std::size_t i = 1; i < kept.size(); ++i) widest = std::max(widest, kept[i] - kept[i - 1]);
    ASSERT_LE(widest, 3 * step / static_cast<std::int64_t>(room - 1)) << "at step " << step;
  }
}

TEST(History, ThinsAllSentencesAlike) {
  History history(40 * bytes_of(*frame(0, "a")));
  history.pin("a");
  history.pin("b");
  for (std::int64_t step = 0; step < 5000; step += 50) {
    history.add(frame(step, "a"));
    history.add(frame(step, "b"));
  }
  const std::size_t of_a = history.find("a")->frames.size();
  const std::size_t of_b = history.find("b")->frames.size();
  EXPECT_EQ(of_a + of_b, 40u);
  EXPECT_NEAR(static_cast<double>(of_a), static_cast<double>(of_b), 3);
}

TEST(History, KeepsTheFirstAndTheLastEvenWhenTheyAreTooMuch) {
  History history(1);
  history.pin(sentence);
  for (const std::int64_t step : {0, 50, 100, 150}) history.add(frame(step));
  EXPECT_THAT(steps(history.find(sentence)), ElementsAre(0, 150));
  EXPECT_GT(history.bytes(), history.budget());
}

TEST(History, HoldsSoManyFramesOfASentenceHoweverLongItIsTrained) {
  Snapshot tiny;
  History history;
  for (const char* text : {"a", "b"}) history.pin(text);
  const auto last = static_cast<std::int64_t>(4 * max_frames);
  for (std::int64_t step = 0; step <= last; ++step) {
    tiny.step = step;
    for (const char* text : {"a", "b"}) {
      tiny.source_text = text;
      if (text[0] == 'a' || step % 40 == 0) history.add(frame_of(tiny));
    }
  }
  const std::vector<std::int64_t> kept = steps(history.find("a"));
  ASSERT_EQ(kept.size(), max_frames);
  EXPECT_EQ(kept.front(), 0);
  EXPECT_EQ(kept.back(), last);
  for (std::size_t i = 1; i < kept.size(); ++i) EXPECT_LE(kept[i] - kept[i - 1], 8) << "over the whole training";
  EXPECT_EQ(history.find("b")->frames.size(), 31U) << "one that has few loses none to another";
}

TEST(History, TwoThatAreToldTheSameHoldTheSameFrames) {
  const std::size_t budget = 20 * bytes_of(*frame(0));
  History worker(budget);
  History window(budget);
  for (History* history : {&worker, &window}) history->pin(sentence);
  for (std::int64_t step = 0; step < 5000; step += 50) {
    const Frame seen = frame(step);
    worker.add(seen);
    window.add(seen);
  }
  EXPECT_EQ(worker.find(sentence)->frames, window.find(sentence)->frames);
  const History copy(worker.sentences());
  EXPECT_EQ(copy.find(sentence)->frames, worker.find(sentence)->frames);
  EXPECT_EQ(copy.bytes(), worker.bytes());
}

// ---- one weight over the training

TEST(WeightCurve, FollowsOneCellAndPassesOverFramesWithoutIt) {
  std::vector<Frame> frames;
  for (const int written : {2, 5, 3}) {
    Snapshot seen =
        inspect(100 * static_cast<std::int64_t>(frames.size() + 1), sentence, model_with_four_heads(), written);
    seen.encoder[1][3].at(2, 0) = 0.25F * static_cast<float>(written);
    if (written > 2) seen.cross[0][2].at(2, 1) = 0.125F * static_cast<float>(written);
    frames.push_back(frame_of(seen));
  }
  const Series always = weight_curve(frames, {AttentionPart::encoder, 1, 3}, 2, 0);
  EXPECT_THAT(always.x, ElementsAre(100, 200, 300));
  EXPECT_THAT(always.y, ElementsAre(0.5, 1.25, 0.75));
  const Series later = weight_curve(frames, {AttentionPart::cross, 0, 2}, 2, 1);  // the first writes two pieces only
  EXPECT_THAT(later.x, ElementsAre(200, 300));
  EXPECT_THAT(later.y, ElementsAre(0.625, 0.375));
}

TEST(WeightCurve, OfWhatDoesNotExistIsEmpty) {
  const std::vector<Frame> frames = {frame(1), frame(2)};
  for (const AttentionPart part : {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross}) {
    EXPECT_EQ(weight_curve(frames, {part, 1, 3}, 0, 0).x.size(), 2u);
    for (const HeadPlace place : {HeadPlace{part, 2, 0}, {part, -1, 0}, {part, 0, 4}, {part, 0, -1}}) {
      EXPECT_THAT(weight_curve(frames, place, 0, 0).x, IsEmpty());
    }
    for (const auto& [row, col] : {std::pair(-1, 0), {0, -1}, {4, 0}, {0, 4}}) {
      EXPECT_THAT(weight_curve(frames, {part, 0, 0}, row, col).x, IsEmpty());
    }
  }
  EXPECT_THAT(weight_curve({}, {}, 0, 0).x, IsEmpty());
}

// ---- the file

class HistoryFile : public testing::Test {
 protected:
  fs::path file = fs::temp_directory_path() / ("attnscope-history-" + std::to_string(::getpid()) + ".safetensors");
  ModelConfig model = model_with_four_heads();

  void TearDown() override { fs::remove(file); }

  void save_two_frames() {
    History history;
    history.pin("été \"x\"\n");
    history.pin(sentence);
    history.add(frame_of(inspect(0, sentence, model)));
    history.add(frame_of(inspect(50, sentence, model, 6)));
    save_history(file, history);
  }

  // Writes the file again with `edit` done to it; returns why it is refused.
  template <typename Edit>
  std::string refusal(const Edit& edit) {
    Safetensors contents = read_safetensors(file);
    edit(contents);
    const fs::path edited = file.string() + ".edited";
    write_safetensors(edited, contents);
    std::string reason = "not refused";
    try {
      load_history(edited, model, 1);
    } catch (const SafetensorsError& error) {
      reason = error.what();
      EXPECT_THAT(reason, HasSubstr(edited.string()));
    }
    fs::remove(edited);
    return reason;
  }

  // The same for an edit of the JSON.
  template <typename Edit>
  std::string refusal_of_json(const Edit& edit) {
    return refusal([&](Safetensors& contents) {
      nlohmann::json json = nlohmann::json::parse(contents.metadata.at("history"));
      edit(json);
      contents.metadata["history"] = json.dump();
    });
  }

  // The same for an edit of one tensor.
  template <typename Edit>
  std::string refusal_of_tensor(const std::string& name, const Edit& edit) {
    return refusal([&](Safetensors& contents) {
      const auto found = std::ranges::find(contents.tensors, name, &TensorBytes::name);
      ASSERT_NE(found, contents.tensors.end()) << name;
      edit(*found);
    });
  }
};

template <typename Number>
void set_first(TensorBytes& tensor, Number value) {
  std::memcpy(tensor.bytes.data(), &value, sizeof(value));
}

TEST_F(HistoryFile, LoadedFramesEqualThoseSaved) {
  ModelConfig language_model = model_with_four_heads();
  language_model.architecture = "decoder-only";
  ModelConfig recurrent = model_with_four_heads();
  recurrent.architecture = "recurrent";
  for (const ModelConfig& config : {model_with_four_heads(), language_model, recurrent}) {
    History saved;
    for (const std::string text : {sentence, "été \"x\"\n\t", ""}) {
      saved.pin(text);
      for (const int step : {0, 1, 50, 70}) saved.add(frame_of(inspect(step, text, config, 3 + step % 4)));
    }
    saved.pin("never looked at");
    save_history(file, saved);
    const History loaded = load_history(file, config, 8);
    ASSERT_EQ(loaded.sentences().size(), saved.sentences().size());
    EXPECT_EQ(loaded.bytes(), saved.bytes());
    for (std::size_t i = 0; i < saved.sentences().size(); ++i) {
      const PinnedSentence& expected = saved.sentences()[i];
      const PinnedSentence& found = loaded.sentences()[i];
      EXPECT_EQ(found.text, expected.text);
      ASSERT_EQ(steps(&found), steps(&expected));
      for (std::size_t j = 0; j < expected.frames.size(); ++j) {
        EXPECT_EQ(kept_parts(*found.frames[j]), kept_parts(*expected.frames[j]));
        EXPECT_EQ(found.frames[j]->run, 8u);
        EXPECT_TRUE(found.frames[j]->positions);
      }
    }
  }
}

TEST_F(HistoryFile, HasItsMapsWhereAnySafetensorsReaderFindsThem) {
  save_two_frames();
  const Safetensors contents = read_safetensors(file);
  EXPECT_EQ(contents.at("1/50/encoder").shape, (std::vector<std::int64_t>{2, 4, 3, 3}));
  EXPECT_EQ(contents.at("1/50/decoder").shape, (std::vector<std::int64_t>{2, 4, 6, 6}));
  EXPECT_EQ(contents.at("1/50/cross").shape, (std::vector<std::int64_t>{2, 4, 6, 3}));
}

TEST_F(HistoryFile, TextThatIsNotUtf8DoesNotLoseTheRun) {
  History history;
  history.pin("\xff\xfe sentence");
  history.add(frame(0, "\xff\xfe sentence"));
  save_history(file, history);
  EXPECT_THAT(load_history(file, model, 1).sentences()[0].text, HasSubstr(" sentence"));
}

TEST_F(HistoryFile, CutShortAnywhereItIsRefusedByName) {
  save_two_frames();
  const std::string bytes = read_file(file, 1 << 20);
  for (std::size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 97) {
    write_file(file, std::string_view(bytes).substr(0, length));
    try {
      load_history(file, model, 1);
      ADD_FAILURE() << "not refused at " << length;
    } catch (const SafetensorsError& error) {
      EXPECT_THAT(error.what(), HasSubstr(file.string()));
    }
  }
  fs::remove(file);
  EXPECT_THROW(load_history(file, model, 1), FileError);
}

TEST_F(HistoryFile, RefusesTextThatIsNoHistory) {
  save_two_frames();
  const auto with = [&](const std::string& text) {
    return refusal([&](Safetensors& contents) { contents.metadata["history"] = text; });
  };
  EXPECT_THAT(refusal([](Safetensors& contents) { contents.metadata.clear(); }), HasSubstr("there is no \"history\""));
  for (const char* text : {"", "{", "[]", "7", "null", "{}", "{\"version\":1}", "{\"version\":1,\"tokens\":[]}"}) {
    EXPECT_THAT(with(text), HasSubstr("JSON")) << text;
  }
  EXPECT_THAT(with(std::string(200'000, '[')), HasSubstr("more than 32"));
  EXPECT_THAT(refusal_of_json([](auto& json) { json["version"] = 2; }), HasSubstr("version is 2, allowed: 1"));
  EXPECT_THAT(refusal_of_json([](auto& json) { json["tokens"][0] = 5; }), HasSubstr("JSON"));
  EXPECT_THAT(refusal_of_json([](auto& json) { json["sentences"][0]["text"] = 5; }), HasSubstr("JSON"));
  EXPECT_THAT(refusal_of_json([](auto& json) { json["sentences"][1]["frames"] = 5; }), HasSubstr("JSON"));
  EXPECT_THAT(refusal_of_json([](auto& json) { json["sentences"][1]["frames"][0].erase("output"); }),
              HasSubstr("JSON"));
}

TEST_F(HistoryFile, RefusesSentencesAndStepsThatAreTooManyOrTwiceOrBackwards) {
  save_two_frames();
  EXPECT_THAT(refusal_of_json([](auto& json) {
                for (int i = 0; i < 20; ++i) json["sentences"].push_back({{"text", std::to_string(i)}, {"frames", {}}});
              }),
              HasSubstr("of 22 sentences; allowed: 10000 of 16"));
  EXPECT_THAT(refusal_of_json([](auto& json) {
                for (int i = 0; i < 10'000; ++i) json["sentences"][0]["frames"].push_back({{"step", i}});
              }),
              HasSubstr("10002 frames"));
  EXPECT_THAT(refusal_of_json([](auto& json) { json["sentences"][0]["text"] = sentence; }), HasSubstr("appears twice"));
  for (const std::int64_t step : {std::int64_t{-1}, std::int64_t{50}, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_THAT(refusal_of_json([&](auto& json) { json["sentences"][1]["frames"][0]["step"] = step; }),
                AnyOf(HasSubstr("after step"), HasSubstr("there is no")));
  }
}

TEST_F(HistoryFile, RefusesNumbersThatDoNotFitTogether) {
  save_two_frames();
  const auto shape = [&](const char* name, std::vector<std::int64_t> wanted) {
    return refusal_of_tensor(name, [&](TensorBytes& tensor) { tensor.shape = std::move(wanted); });
  };
  EXPECT_THAT(shape("1/0/encoder", {2, 4, 9, 1}), HasSubstr("encoder has the shape [2, 4, 9, 1], not [2, 4, 3, 3]"));
  EXPECT_THAT(shape("1/0/encoder", {4, 2, 3, 3}), HasSubstr("frame 1/0: encoder"));
  EXPECT_THAT(shape("1/50/cross", {144}), HasSubstr("frame 1/50: cross"));
  EXPECT_THAT(refusal_of_tensor("1/0/decoder", [](TensorBytes& tensor) { tensor.name = "1/0/x"; }),
              HasSubstr("frame 1/0: there is no decoder"));
  EXPECT_THAT(refusal_of_tensor("1/0/cross", [](TensorBytes& tensor) { tensor.dtype = Dtype::I32; }),
              HasSubstr("cross is I32, not F32"));
  EXPECT_THAT(refusal_of_tensor("1/0/cross", [](TensorBytes& tensor) { set_first(tensor, std::nanf("")); }),
              HasSubstr("cross contains a value that is not finite"));
  for (const std::int32_t index : {-1, 1000, std::numeric_limits<std::int32_t>::min()}) {
    for (const char* name : {"1/0/source", "1/0/target_in", "1/0/candidates"}) {
      EXPECT_THAT(refusal_of_tensor(name, [&](TensorBytes& tensor) { set_first(tensor, index); }),
                  HasSubstr("frame 1/0: token " + std::to_string(index)));
    }
    for (const char* name : {"1/0/chosen", "1/0/candidate_counts"}) {
      EXPECT_THAT(refusal_of_tensor(name, [&](TensorBytes& tensor) { set_first(tensor, index); }),
                  HasSubstr("frame 1/0: decoding step 0"));
    }
  }
  EXPECT_THAT(refusal_of_tensor("1/0/candidate_counts", [](TensorBytes& tensor) { set_first(tensor, 3); }),
              HasSubstr("decoding step"));
  EXPECT_THAT(refusal_of_json([](auto& json) { json["sentences"][1]["frames"][0]["forced"] = 5; }),
              HasSubstr("5 of them forced"));
}

TEST_F(HistoryFile, RefusesFramesOfAnotherModel) {
  save_two_frames();
  model.num_heads = 8;
  EXPECT_THAT(refusal([](Safetensors&) {}), HasSubstr("not [2, 8, 3, 3]"));
  model.architecture = "decoder-only";
  EXPECT_THAT(refusal([](Safetensors&) {}), HasSubstr("a source of 3 tokens in a model that is decoder-only"));
}

}  // namespace
}  // namespace attnscope
