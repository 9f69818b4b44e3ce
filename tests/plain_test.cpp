// Configuration, channels and curves: what both threads rely on, without Torch or a window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "analysis/curves.h"
#include "common/channel.h"
#include "common/error.h"
#include "common/free_memory.h"
#include "common/utf8.h"
#include "config/config.h"
#include "config/position_schemes.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::ResultOf;
using testing::ThrowsMessage;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// ---- errors

TEST(Error, QuotesOfMegabytesLeaveTheEndsOfAMessage) {
  EXPECT_STREQ(Error("model.d_model is 0, allowed: 1 to 8192").what(), "model.d_model is 0, allowed: 1 to 8192");
  for (const char* filling : {"x", "é", "語", "😀"}) {
    std::string value;
    while (value.size() < 1'000'000) value += filling;
    const std::string message = Error("model.d_model is " + value + ", it should be a number").what();
    EXPECT_LT(message.size(), longest_message + 10);
    EXPECT_GT(message.size(), longest_message - 10);
    EXPECT_TRUE(message.starts_with("model.d_model is " + std::string(filling)));
    EXPECT_TRUE(message.ends_with(std::string(filling) + ", it should be a number"));
    EXPECT_FALSE(utf8_fault(message)) << "cut within a character";
  }
}

TEST(Error, IsWhatAConfigurationIsRefusedWith) {
  nlohmann::json json = to_json(Config());
  json["model"]["d_model"] = std::string(10'000'000, 'x');
  EXPECT_THAT([&] { config_from_json(json); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("model.d_model is \"xx"), HasSubstr("but must be"),
                        ResultOf([](const std::string& text) { return text.size(); }, Lt(longest_message + 10)))));
}

// ---- configuration

TEST(Config, DefaultsPassTheCheckAndSurviveJson) {
  const Config config;
  EXPECT_NO_THROW(check(config));
  EXPECT_EQ(config_from_json(to_json(config)), config);
}

TEST(Config, EveryFieldSurvivesJsonAndText) {
  for (const ConfigField& field : config_fields()) {
    Config config;
    const FieldPointer value = field.value(config);
    if (auto* const* integer = std::get_if<std::int64_t*>(&value)) {
      const auto most = static_cast<std::int64_t>(field.limits.max);
      **integer = **integer == most ? static_cast<std::int64_t>(field.limits.min) : most;
    }
    if (field.key == "model.num_kv_heads") config.model.num_kv_heads = 2;  // a divisor of num_heads
    if (field.key == "model.num_decoder_heads") config.model.num_decoder_heads = 4;
    if (field.key == "model.rotary_width") config.model.rotary_width = 2;
    if (field.key == "model.layer_groups") config.model.layer_groups = 1;  // at most num_encoder_layers
    if (auto* const* real = std::get_if<double*>(&value)) **real = (field.limits.min + 2 * field.limits.max) / 3;
    if (auto* const* flag = std::get_if<bool*>(&value)) **flag = !**flag;
    if (auto* const* text = std::get_if<std::string*>(&value)) {
      **text = field.limits.choices.empty() ? "été \"x\"" : std::string(field.limits.choices.back());
    }
    if (field.key == "model.window_layers") config.model.window_layers = "lg";
    const bool needs_pre_norm = field.key == "model.output_norms" || field.key == "model.parallel_sublayers";
    if (needs_pre_norm) config.model.norm = "pre";
    EXPECT_NE(config, Config()) << field.key;
    Config from_text;
    if (needs_pre_norm) from_text.model.norm = "pre";
    set_field(from_text, field.key, field_text(config, field));
    EXPECT_EQ(from_text, config) << field.key;
    Config restored;
    ASSERT_NO_THROW(restored = config_from_json(nlohmann::json::parse(to_json(config).dump()))) << field.key;
    EXPECT_EQ(restored, config) << field.key;
  }
}

TEST(Config, EveryFieldHasALabelAHelpTextAndADefaultInItsRange) {
  for (const ConfigField& field : config_fields()) {
    EXPECT_FALSE(field.label.empty()) << field.key;
    EXPECT_FALSE(field.help.empty()) << field.key;
    EXPECT_EQ(&config_field(field.key), &field);
    Config config;
    EXPECT_NO_THROW(set_field(config, field.key, field_text(config, field))) << field.key;
    EXPECT_EQ(config, Config()) << field.key;
  }
}

TEST(Config, RefusalsNameFieldValueAndRange) {
  Config config;
  const auto setting = [&](const char* key, const char* text) {
    return [&config, key, text] { set_field(config, key, text); };
  };
  EXPECT_THAT(setting("model.d_model", "4"), ThrowsMessage<ConfigError>("model.d_model is 4, allowed: 8 to 8192"));
  EXPECT_THAT(setting("model.d_model", "12.5"), ThrowsMessage<ConfigError>(HasSubstr("an integer, 8 to 8192")));
  EXPECT_THAT(setting("model.dropout", "nan"), ThrowsMessage<ConfigError>(HasSubstr("allowed: 0 to 0.9")));
  EXPECT_THAT(setting("model.dropout", ""), ThrowsMessage<ConfigError>(HasSubstr("\"\"")));
  EXPECT_THAT(setting("model.dropout", "0.1x"), ThrowsMessage<ConfigError>(HasSubstr("\"0.1x\"")));
  EXPECT_THAT(setting("training.steps", "99999999999999999999"),
              ThrowsMessage<ConfigError>(HasSubstr("training.steps")));
  EXPECT_THAT(setting("training.device", "tpu"),
              ThrowsMessage<ConfigError>("training.device is \"tpu\", allowed: auto, cpu, cuda"));
  EXPECT_THAT(setting("model.tied_embeddings", "yes"), ThrowsMessage<ConfigError>(HasSubstr("allowed: true, false")));
  EXPECT_EQ(config, Config());
}

TEST(Config, UnknownFieldNamesTheNearest) {
  EXPECT_THAT(
      [] { config_field("training.d_model"); },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("training.d_model"), HasSubstr("did you mean: model.d_model"))));
  EXPECT_THAT([] { config_field("steps"); }, ThrowsMessage<ConfigError>(HasSubstr("training.steps")));
  EXPECT_THAT([] { config_field("corpus.file"); },
              ThrowsMessage<ConfigError>(HasSubstr("did you mean: corpus.seed, corpus.source, corpus.target")));
}

TEST(Config, CheckFindsHeadsThatDoNotDivide) {
  Config config;
  config.model.d_model = 100;
  config.model.num_heads = 8;
  EXPECT_THAT([&] { check(config); },
              ThrowsMessage<ConfigError>("model.num_heads is 8, allowed: divisors of model.d_model, 100"));
  config.model.d_model = 99;
  EXPECT_THAT([&] { check(config); }, ThrowsMessage<ConfigError>(HasSubstr("model.d_model is 99")));
}

TEST(Config, JsonThatIsNotAConfigurationIsRefused) {
  const auto refusal = [](const char* text) -> std::string {
    try {
      config_from_json(nlohmann::json::parse(text));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(R"({"version":3})"), "");
  EXPECT_EQ(refusal(R"({"version":3,"model":{"d_model":64}})"), "");
  EXPECT_EQ(refusal(R"({"version":3,"corpus":{"edition":6}})"), "") << "saved before there was only one edition";
  EXPECT_EQ(refusal(R"({"version":3,"corpus":{"edition":2}})"), "corpus.edition is 2, but only 6 can still be opened");
  EXPECT_THAT(refusal("[]"), HasSubstr("JSON object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("version is null, allowed: 3, 4"));
  EXPECT_THAT(refusal(R"({"version":5})"), HasSubstr("version is 5, allowed: 3, 4"));
  EXPECT_THAT(refusal(R"({"version":3,"model":{"width":64}})"), HasSubstr("model.width"));
  EXPECT_THAT(refusal(R"({"version":3,"modle":{}})"), HasSubstr("modle"));
  EXPECT_THAT(refusal(R"({"version":3,"model":[]})"), HasSubstr("model is [], but must be an object"));
  EXPECT_THAT(refusal(R"({"version":3,"model":{"d_model":"64"}})"), HasSubstr("whole number"));
  EXPECT_THAT(refusal(R"({"version":3,"model":{"d_model":64.0}})"), HasSubstr("whole number"));
  EXPECT_THAT(refusal(R"({"version":3,"model":{"tied_embeddings":1}})"), HasSubstr("true or false"));
  EXPECT_THAT(refusal(R"({"version":3,"training":{"steps":18446744073709551615}})"), HasSubstr("training.steps"));
  EXPECT_THAT(refusal(R"({"version":3,"training":{"steps":0}})"), HasSubstr("training.steps is 0, allowed: 1 to"));
}

// Which settings apply to which configuration; a dot: the setting has no effect there, and is not shown.
TEST(Config, SettingsApplyWhereTheyHaveAnEffect) {
  const std::vector<std::vector<std::pair<const char*, const char*>>> kinds = {
      {},                                                                     // t: translation
      {{"model.architecture", "decoder-only"}},                               // l
      {{"model.architecture", "masked-lm"}},                                  // m
      {{"model.architecture", "recurrent"}},                                  // r
      {{"model.architecture", "classifier"}},                                 // c
      {{"model.architecture", "classifier"}, {"model.reader", "recurrent"}},  // s
      {{"model.positions", "rope"},                                           // p
       {"model.norm", "pre"},
       {"model.window", "8"},
       {"model.tied_embeddings", "false"},
       {"tokenizer.type", "char"}},
      {{"training.optimizer", "adamw"},  // w
       {"training.schedule", "cosine"},
       {"training.batch_tokens", "500"},
       {"model.d_ff", "0"},
       {"model.norm_kind", "none"},
       {"model.scaled_attention", "false"},
       {"corpus.source", "rules"}},
      {{"model.architecture", "masked-lm"}, {"tokenizer.family", "bert"}},                                   // b
      {{"model.architecture", "decoder-only"}, {"tokenizer.family", "gpt2"}, {"corpus.source", "modular"}},  // g
  };
  const std::map<std::string_view, std::string_view> expected = {
      {"corpus.target", "t..rcspw.."},
      {"corpus.separator", "t..rcspw.."},
      {"corpus.held_out", "t..rcspw.."},
      {"corpus.modulus", ".......w.g"},
      {"corpus.operation", ".........g"},
      {"tokenizer.vocab_size", "tlmrcs.wbg"},
      {"tokenizer.family", "........bg"},
      {"model.reader", "....cs...."},
      {"model.pooling", "....cs...."},
      {"model.num_classes", ".........."},
      {"model.cell", "...r.s...."},
      {"model.attention", "...r......"},
      {"model.bidirectional", "...r.s...."},
      {"model.num_heads", "tlm.c.pwbg"},
      {"model.num_kv_heads", "tlm.c.pwbg"},
      {"model.num_decoder_heads", "t.....pw.."},
      {"model.d_head", "tlm.c.pwbg"},
      {"model.layer_groups", "..m.....b."},
      {"model.num_encoder_layers", "t.mrcspwb."},
      {"model.num_decoder_layers", "tl.r..pw.g"},
      {"model.d_ff", "tlm.c.pwbg"},
      {"model.decoder_d_ff", "t.....pw.."},
      {"model.initialization", "tlm.c.pwbg"},
      {"model.norm", "tlm.c.p.bg"},
      {"model.norm_kind", "tlm.c.pwbg"},
      {"model.norm_epsilon", "tlm.c.p.bg"},
      {"model.final_norm", "tlm.c.p.bg"},
      {"model.output_norms", "......p..."},
      {"model.parallel_sublayers", "......p..."},
      {"model.activation", "tlm.c.p.bg"},
      {"model.biases", "tlm.c.pwbg"},
      {"model.positions", "tlm.c.pwbg"},
      {"model.max_distance", "tlm.c..wbg"},
      {"model.rope_theta", "......p..."},
      {"model.rope_scaling", "......p..."},
      {"model.rotary_width", "......p..."},
      {"model.window", "tlm.c.pwbg"},
      {"model.window_layers", "......p..."},
      {"model.local_rope_theta", "......p..."},
      {"model.query_key_norm", "tlm.c.pwbg"},
      {"model.scaled_attention", "tlm.c.pwbg"},
      {"model.score_width", "tlm.c.p.bg"},
      {"model.score_cap", "tlm.c.pwbg"},
      {"model.logit_cap", "tlm.c.pwbg"},
      {"model.tied_embeddings", "tlmr..pwbg"},
      {"model.tied_inputs", "......p..."},
      {"model.scaled_embeddings", "tlm.c.pwbg"},
      {"model.d_embedding", "..m.....b."},
      {"model.embedding_norm", "tlm.c.pwbg"},
      {"model.token_types", "..m.....b."},
      {"model.head", "........b."},
      {"model.head_epsilon", "........b."},
      {"model.scaled_output", "tlm.c.pwbg"},
      {"model.padding_id", "........bg"},
      {"model.start_id", "........bg"},
      {"model.end_id", "........bg"},
      {"model.unknown_id", "........bg"},
      {"model.first_id", "........bg"},
      {"model.banned_id", "........bg"},
      {"model.mask_id", "........b."},
      {"model.ends_text", ".........g"},
      {"training.batch_size", "tlmrcsp.bg"},
      {"training.batch_tokens", "t..rcspw.."},
      {"training.batch_order", "t..rcspw.."},
      {"training.recompute", "tlm.c.pwbg"},
      {"training.weight_decay", ".......w.."},
      {"training.noam_factor", "tlmrcsp.bg"},
      {"training.learning_rate", ".......w.."},
      {"training.min_learning_rate", ".......w.."},
      {"training.teacher_forcing", "t..r..pw.."},
      {"training.masked", "..m.....b."},
      {"training.whole_words", "..m.....b."},
  };
  std::size_t limited = 0;
  for (const ConfigField& field : config_fields()) {
    std::string letters;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      Config config;
      for (const auto& [key, value] : kinds[i]) set_field(config, key, value);
      letters += is_used(config, field) ? "tlmrcspwbg"[i] : '.';
    }
    const auto found = expected.find(field.key);
    limited += found != expected.end() ? 1 : 0;
    EXPECT_EQ(letters, found != expected.end() ? found->second : "tlmrcspwbg") << field.key;
  }
  EXPECT_EQ(limited, expected.size());
}

TEST(Config, AnEmptyFileHasTheDefaults) {
  EXPECT_EQ(config_from_json(nlohmann::json::parse(R"({"version":4})")), Config());
  Config older;
  older.corpus.normalize = false;  // texts were read as they were
  EXPECT_EQ(config_from_json(nlohmann::json::parse(R"({"version":3})")), older);
}

TEST(Config, LiveFieldsAreTakenAndTheOthersNeedAReset) {
  Config edited;
  edited.training.noam_factor = 0.123456789012345;
  edited.model.dropout = 0.3;
  EXPECT_EQ(with_live_fields(Config(), edited), edited);
  edited.model.d_model = 64;
  EXPECT_NE(with_live_fields(Config(), edited), edited) << "waits for Reset";
  EXPECT_EQ(with_live_fields(Config(), edited).model.d_model, Config().model.d_model);
}

// ---- channels

TEST(Channel, QueueLosesNothingAndKeepsEachSendersOrder) {
  Queue<std::pair<int, int>> queue;
  constexpr int count = 20000;
  const auto send = [&](int sender) {
    for (int i = 0; i < count; ++i) queue.push({sender, i});
  };
  std::jthread first(send, 0);
  std::jthread second(send, 1);
  std::array<int, 2> next{};
  while (next[0] < count || next[1] < count) {
    for (const auto& [sender, i] : queue.wait()) ASSERT_EQ(i, next[static_cast<std::size_t>(sender)]++);
  }
  EXPECT_TRUE(queue.take().empty());
}

TEST(Channel, MailboxHoldsTheNewestAndKeepsWhatAReaderHolds) {
  Mailbox<int> mailbox;
  EXPECT_EQ(mailbox.get(), nullptr);
  mailbox.put(std::make_shared<const int>(1));
  const std::shared_ptr<const int> held = mailbox.get();
  EXPECT_EQ(mailbox.get(), held);
  mailbox.put(std::make_shared<const int>(2));
  EXPECT_EQ(*mailbox.get(), 2);
  EXPECT_EQ(*held, 1);
}

// ---- position schemes

TEST(PositionSchemes, EveryRowSaysWhatItsFormNeeds) {
  const ConfigField& field = config_field("model.positions");
  ASSERT_EQ(field.limits.choices.size(), position_schemes().size());
  for (std::size_t i = 0; i < field.limits.choices.size(); ++i) {
    const PositionScheme& scheme = position_schemes()[i];
    SCOPED_TRACE(scheme.name);
    EXPECT_EQ(field.limits.choices[i], scheme.name);
    EXPECT_THAT(std::string(field.help), testing::HasSubstr(std::string(scheme.tells)));
    EXPECT_EQ(&position_scheme(scheme.name), &scheme);
    const PositionForm form = scheme.form;
    const bool drawn = form != PositionForm::none;
    const bool adds = form == PositionForm::bias || form == PositionForm::vectors;
    EXPECT_STRNE(scheme.caption, "");
    EXPECT_EQ(*scheme.heading != 0, drawn);
    EXPECT_EQ(*scheme.curves != 0, drawn);
    EXPECT_EQ(*scheme.alike != 0, drawn && form != PositionForm::bias);
    EXPECT_EQ(scheme.label.empty(), !adds && form != PositionForm::rotation);
    EXPECT_EQ(scheme.term.empty(), !adds);
  }
  EXPECT_THROW(position_scheme("absolute"), ConfigError);
}

// ---- curves

MetricPoint point(std::int64_t step, double loss, std::optional<double> validation = {}) {
  MetricPoint point;
  point.step = step;
  point.set(metric("loss"), loss);
  point.set(metric("gradient_norm"), 2.0);
  if (validation) point.set(metric("validation_nll"), *validation);
  return point;
}

TEST(Curves, APointGoesToTheSeriesOfWhatWasMeasured) {
  Curves curves;
  curves.append(point(1, 5.0));
  curves.append(point(2, 4.0, 4.5));
  EXPECT_THAT(curves[metric("loss")].points().x, ElementsAre(1, 2));
  EXPECT_THAT(curves[metric("loss")].points().y, ElementsAre(5.0, 4.0));
  EXPECT_THAT(curves[metric("validation_nll")].points().x, ElementsAre(2));
  EXPECT_THAT(curves[metric("validation_nll")].points().y, ElementsAre(4.5));
  EXPECT_THAT(curves[metric("gradient_norm")].points().y, ElementsAre(2.0, 2.0));
  EXPECT_THAT(curves[metric("learning_rate")].points().y, testing::IsEmpty());
}

TEST(Curves, ResumedRunReplacesItsTail) {
  Curves curves;
  for (int step = 1; step <= 10; ++step) {
    curves.append(point(step, 10.0 - step, step % 4 == 0 ? std::optional(1.0) : std::nullopt));
  }
  curves.append(point(8, 77));
  EXPECT_THAT(curves[metric("loss")].points().x, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(curves[metric("loss")].points().y.back(), 77);
  EXPECT_EQ(curves[metric("loss")].points().y.size(), 8u);
  EXPECT_THAT(curves[metric("validation_nll")].points().x, ElementsAre(4));
  EXPECT_EQ(curves[metric("gradient_norm")].points().x.size(), 8u);
}

double noise(std::int64_t step) {
  return std::sin(static_cast<double>(step) * 1.7) + (step == 12'345 ? 100 : 0);
}

Curve noisy_curve(std::int64_t steps) {
  Curve curve;
  for (std::int64_t step = 1; step <= steps; ++step) curve.append(step, noise(step));
  return curve;
}

TEST(Curves, AreAsMeasuredUntilTheyAreLong) {
  const auto most = static_cast<std::int64_t>(Curve::most_points);
  const Curve curve = noisy_curve(most);
  EXPECT_EQ(curve.stride(), 1);
  EXPECT_EQ(curve.points().x.size(), Curve::most_points);
  EXPECT_EQ(&curve.means(), &curve.points());
  EXPECT_GT(noisy_curve(most + 1).stride(), 1);
}

TEST(Curves, HoursOfTrainingKeepNoMorePointsThanMinutes) {
  Curve curve;
  for (std::int64_t step = 1; step <= 300'000; ++step) {
    curve.append(step, noise(step));
    ASSERT_LE(curve.points().x.size(), Curve::most_points + static_cast<std::size_t>(curve.stride()));
    ASSERT_EQ(curve.points().x.back(), step) << "the newest is always there";
    ASSERT_EQ(curve.points().y.back(), noise(step));
  }
  EXPECT_GE(curve.points().x.size(), Curve::most_points / 4);
  EXPECT_EQ(std::ranges::adjacent_find(curve.points().x, std::ranges::greater_equal()), curve.points().x.end());
  for (std::size_t i = 0; i < curve.points().x.size(); ++i) {
    ASSERT_EQ(curve.points().y[i], noise(std::llround(curve.points().x[i]))) << "nothing that was not measured";
  }
  EXPECT_EQ(*std::ranges::max_element(curve.points().y), noise(12'345)) << "not even one peak is lost";
}

TEST(Curves, MeansAreThoseOfAllUpdatesOfAGroup) {
  const Curve curve = noisy_curve(100'003);
  const std::int64_t stride = curve.stride();
  ASSERT_GT(stride, 1);
  const auto expect_means = [](const Series& means, std::int64_t of) {
    std::int64_t step = 0;
    for (std::size_t i = 0; i < means.x.size(); ++i) {
      double sum = 0;
      const std::int64_t first = step + 1, last = std::min<std::int64_t>(step + of, 100'003);
      while (step < last) sum += noise(++step);
      ASSERT_EQ(means.x[i], step);
      ASSERT_NEAR(means.y[i], sum / static_cast<double>(last - first + 1), 1e-9) << "group " << i;
    }
    EXPECT_EQ(step, 100'003);
  };
  expect_means(curve.means(), stride);
  expect_means(curve.means(4 * stride), 4 * stride);
}

TEST(Curves, MeansLeaveOutWhatIsNotFinite) {
  Curve curve;
  for (std::int64_t step = 1; step <= 40'000; ++step) curve.append(step, step % 3 == 0 || step > 39'000 ? nan : 2);
  ASSERT_GT(curve.stride(), 2);
  const Series& means = curve.means();
  for (std::size_t i = 0; i < means.x.size(); ++i) {
    const bool any = means.x[i] <= 39'000;
    ASSERT_EQ(std::isnan(means.y[i]), !any) << means.x[i];
    if (any) {
      ASSERT_EQ(means.y[i], 2) << means.x[i];
    }
  }
}

TEST(Curves, LongRunThatIsResumedReplacesItsTail) {
  Curve curve = noisy_curve(100'000);
  for (std::int64_t step = 60'002; step <= 60'100; ++step) curve.append(step, 7);
  EXPECT_EQ(curve.points().x.back(), 60'100);
  EXPECT_EQ(curve.points().y.back(), 7);
  EXPECT_EQ(curve.means().x.back(), 60'100);
  EXPECT_EQ(curve.means().y.back(), 7);
  EXPECT_EQ(std::ranges::adjacent_find(curve.means().x, std::ranges::greater_equal()), curve.means().x.end());
  for (std::size_t i = 0; i < curve.points().x.size(); ++i) {
    const double step = curve.points().x[i];
    ASSERT_EQ(curve.points().y[i], step < 60'002 ? noise(std::llround(step)) : 7) << step;
  }
  curve.drop_from(1);
  EXPECT_THAT(curve.points().x, IsEmpty());
  EXPECT_THAT(curve.means().x, IsEmpty());
}

TEST(Curves, AGroupThatIsCutInTwoGoesOnWithWhatWasKeptOfIt) {
  Curve curve;
  for (std::int64_t step = 1; step <= 100'000; ++step) curve.append(step, static_cast<double>(step));
  const std::int64_t stride = curve.stride(), first = 500 * stride + 1;
  ASSERT_EQ(stride, 16);
  curve.drop_from(first + 2);  // of that group the lowest is left, at its first step
  EXPECT_EQ(curve.points().x.back(), first);
  EXPECT_EQ(curve.means().x.back(), first);
  EXPECT_EQ(curve.means().y.back(), first);
  for (std::int64_t step = first + 2; step <= first + stride; ++step) curve.append(step, 0);
  const auto of_group = [&](double step) { return step >= 8001 && step < 8017; };
  EXPECT_EQ(std::ranges::count_if(curve.points().x, of_group), 2) << "the lowest and the highest of all that it has";
  EXPECT_DOUBLE_EQ(curve.means().y.rbegin()[1], 8001.0 / 15);
}

TEST(Curves, DifferenceIsThatWhereBothHaveAPoint) {
  Curve a, b;
  for (const std::int64_t step : {1, 2, 4, 5}) a.append(step, 10.0 * static_cast<double>(step));
  for (const std::int64_t step : {2, 3, 5, 9}) b.append(step, static_cast<double>(step));
  EXPECT_THAT(difference(a, b).x, ElementsAre(2, 5));
  EXPECT_THAT(difference(a, b).y, ElementsAre(18, 45));
  EXPECT_THAT(difference(a, Curve()).x, IsEmpty());
}

TEST(Curves, DifferenceOfALongAndAShortRunIsThatOfTheirMeans) {
  const Curve a = noisy_curve(100'000);
  Curve b;
  for (std::int64_t step = 1; step <= 1000; ++step) b.append(step, noise(step) - 3);
  ASSERT_EQ(b.stride(), 1);
  const Series apart = difference(a, b);
  EXPECT_EQ(std::ssize(apart.x), 1000 / a.stride());
  for (const double y : apart.y) ASSERT_NEAR(y, 3, 1e-12);
  for (const double y : difference(b, a).y) ASSERT_NEAR(y, -3, 1e-12);
}

TEST(Metrics, PlotsAreInTheOrderOfTheTableEachWithItsOwn) {
  std::vector<std::size_t> seen;
  for (const std::vector<std::size_t>& plot : metrics_by_plot()) {
    for (const std::size_t place : plot) {
      seen.push_back(place);
      EXPECT_EQ(metric_rows[place].plot.title, metric_rows[plot.front()].plot.title);
    }
  }
  EXPECT_THAT(metrics_by_plot().front(), ElementsAre(metric("loss"), metric("validation_nll"), metric("train_nll")));
  std::ranges::sort(seen);
  for (std::size_t i = 0; i < metric_rows.size(); ++i) EXPECT_EQ(seen.at(i), i) << metric_rows[i].key;
}

TEST(Metrics, PointsAreEqualWhenTheSameWasMeasured) {
  EXPECT_EQ(point(1, 5.0), point(1, 5.0));
  EXPECT_NE(point(1, 5.0), point(1, 5.0, 4.0));
  EXPECT_NE(point(1, 5.0), point(2, 5.0));
  EXPECT_EQ(MetricPoint()[metric("loss")], std::nullopt);
}

// y over 1, 2, 3…
Series over_steps(std::vector<double> y) {
  Series series{std::vector<double>(y.size()), std::move(y)};
  std::iota(series.x.begin(), series.x.end(), 1.0);
  return series;
}

TEST(Curves, SmoothedIsTheBiasCorrectedMean) {
  EXPECT_THAT(smoothed(over_steps({2, 4, 9}), 0), ElementsAre(2, 4, 9));
  // weights on 2 and 4 after two points: 0.25 and 0.5, over 0.75
  EXPECT_THAT(smoothed(over_steps({2, 4, 8}), 0.5),
              ElementsAre(2, DoubleNear(10.0 / 3, 1e-12), DoubleNear((0.125 * 2 + 0.25 * 4 + 0.5 * 8) / 0.875, 1e-12)));
  for (const double value : smoothed(over_steps(std::vector<double>(1000, 3.5)), 0.99)) ASSERT_NEAR(value, 3.5, 1e-9);
  EXPECT_THAT(smoothed({}, 0.9), IsEmpty());
  EXPECT_THAT(smoothed({{7}, {3}}, 0.9), ElementsAre(DoubleNear(3, 1e-12)));
}

TEST(Curves, SmoothedForgetsByStepsNotByPoints) {
  // Weights two steps on: 0.25 on what was, 0.75 on what is; after two points 0.1875 and 0.75, over 0.9375.
  EXPECT_THAT(smoothed({{2, 4}, {5, 9}}, 0.5), ElementsAre(DoubleNear(5, 1e-12), DoubleNear(8.2, 1e-12)));
}

TEST(Curves, SmoothedPassesOverPointsThatAreNotFinite) {
  const std::vector<double> smooth =
      smoothed(over_steps({nan, 2.0, nan, std::numeric_limits<double>::infinity(), 4.0}), 0.5);
  ASSERT_EQ(smooth.size(), 5u);
  EXPECT_TRUE(std::isnan(smooth[0]));
  EXPECT_DOUBLE_EQ(smooth[1], 2);
  EXPECT_DOUBLE_EQ(smooth[3], 2);
  // 2 has been halved three times: its weight is 0.0625, that of 4 is 0.5.
  EXPECT_NEAR(smooth[4], (0.0625 * 2 + 0.5 * 4) / 0.5625, 1e-12);
}

Series wave(int points) {
  Series series;
  for (int i = 0; i < points; ++i) {
    series.x.push_back(i);
    series.y.push_back(std::sin(i * 0.37) * i + (i % 97 == 0 ? 1e4 : 0));
  }
  return series;
}

TEST(Curves, FewPointsAreNotThinned) {
  const Series series = wave(50);
  EXPECT_EQ(thinned(series, 0, 49, 100).y, series.y);
  EXPECT_THAT(thinned(series, 10, 12, 100).x, ElementsAre(9, 10, 11, 12, 13));
}

TEST(Curves, ThinnedKeepsEachColumnsExtremes) {
  const Series series = wave(100000);
  const double x_min = 1234.5;
  const double x_max = 91234.5;
  constexpr int columns = 300;
  const Series thin = thinned(series, x_min, x_max, columns);
  EXPECT_LE(thin.x.size(), 2u * columns + 2);
  EXPECT_TRUE(std::is_sorted(thin.x.begin(), thin.x.end()));
  EXPECT_EQ(std::adjacent_find(thin.x.begin(), thin.x.end()), thin.x.end());
  EXPECT_EQ(thin.x.front(), 1234);
  EXPECT_EQ(thin.x.back(), 91235);
  const auto extremes = [&](const Series& of) {
    std::vector<std::pair<double, double>> found(columns, {1e300, -1e300});
    for (std::size_t i = 0; i < of.x.size(); ++i) {
      if (of.x[i] < x_min || of.x[i] > x_max) continue;
      const auto column = static_cast<std::size_t>((of.x[i] - x_min) / (x_max - x_min) * columns);
      auto& [low, high] = found[std::min<std::size_t>(column, columns - 1)];
      low = std::min(low, of.y[i]);
      high = std::max(high, of.y[i]);
    }
    return found;
  };
  EXPECT_EQ(extremes(thin), extremes(series));
  for (std::size_t i = 0; i < thin.x.size(); ++i) ASSERT_EQ(thin.y[i], series.y[static_cast<std::size_t>(thin.x[i])]);
}

TEST(Curves, ThinnedBearsOddWindowsAndValues) {
  EXPECT_THAT(thinned({}, 0, 1, 10).x, IsEmpty());
  const Series series = wave(1000);
  EXPECT_THAT(thinned(series, 2000, 3000, 10).x, ElementsAre(999));
  EXPECT_THAT(thinned(series, -5, -1, 10).x, ElementsAre(0));
  EXPECT_THAT(thinned(series, 500.2, 500.8, 10).x, ElementsAre(500, 501));
  EXPECT_LE(thinned(series, 0, 999, 0).x.size(), 4u);
  EXPECT_LE(thinned(series, 900, 100, 10).x.size(), 2u);
  Series broken = wave(1000);
  std::fill(broken.y.begin() + 100, broken.y.begin() + 400, nan);
  const Series thin = thinned(broken, 0, 999, 10);
  EXPECT_LE(thin.x.size(), 20u);
  EXPECT_TRUE(std::any_of(thin.y.begin(), thin.y.end(), [](double y) { return std::isnan(y); }));  // the gap shows
}

// ---- memory

// Pages that the system provided during the work and that are empty afterwards.
std::int64_t pages_taken(const std::function<void()>& work) {
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  work();
  ::getrusage(RUSAGE_SELF, &after);
  return after.ru_minflt - before.ru_minflt;
}

TEST(Memory, WhatIsFreedIsKeptForWhoTakesItAgainAndStillGivenBack) {
  const auto take = [] {
    std::vector<std::vector<char>> blocks;
    for (int i = 0; i < 12; ++i) blocks.emplace_back(8 << 20, 'x');
  };
  keep_freed_memory();
  const std::int64_t at_first = pages_taken(take);  // few if they are large
  EXPECT_LT(pages_taken(take), at_first / 8);
  give_back_memory();
  EXPECT_GT(pages_taken(take), at_first / 2);
}

}  // namespace
}  // namespace attnscope
