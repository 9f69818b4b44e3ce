// Configuration, channels and curves: what both threads rely on, without Torch or a window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "plain/channel.h"
#include "plain/config.h"
#include "plain/curves.h"
#include "plain/error.h"
#include "plain/metrics.h"
#include "plain/position_schemes.h"
#include "plain/utf8.h"

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
                  AllOf(HasSubstr("model.d_model is \"xx"), HasSubstr("it should be"),
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
    if (auto* const* real = std::get_if<double*>(&value)) **real = (field.limits.min + 2 * field.limits.max) / 3;
    if (auto* const* flag = std::get_if<bool*>(&value)) **flag = !**flag;
    if (auto* const* text = std::get_if<std::string*>(&value)) {
      **text = field.limits.choices.empty() ? "été \"x\"" : std::string(field.limits.choices.back());
    }
    EXPECT_NE(config, Config()) << field.key;
    Config from_text;
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
  EXPECT_THAT(setting("model.d_model", "12.5"), ThrowsMessage<ConfigError>(HasSubstr("a whole number, 8 to 8192")));
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
              ThrowsMessage<ConfigError>(HasSubstr("corpus.source, corpus.target, corpus.seed")));
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
  EXPECT_EQ(refusal(R"({"version":1})"), "");
  EXPECT_EQ(refusal(R"({"version":1,"model":{"d_model":64}})"), "");
  EXPECT_THAT(refusal("[]"), HasSubstr("JSON object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("version is null, allowed: 1"));
  EXPECT_THAT(refusal(R"({"version":4})"), HasSubstr("version is 4, allowed: 1, 2, 3"));
  EXPECT_THAT(refusal(R"({"version":1,"model":{"width":64}})"), HasSubstr("model.width"));
  EXPECT_THAT(refusal(R"({"version":1,"modle":{}})"), HasSubstr("modle"));
  EXPECT_THAT(refusal(R"({"version":1,"model":[]})"), HasSubstr("model is [], it should be an object"));
  EXPECT_THAT(refusal(R"({"version":1,"model":{"d_model":"64"}})"), HasSubstr("whole number"));
  EXPECT_THAT(refusal(R"({"version":1,"model":{"d_model":64.0}})"), HasSubstr("whole number"));
  EXPECT_THAT(refusal(R"({"version":1,"model":{"tied_embeddings":1}})"), HasSubstr("true or false"));
  EXPECT_THAT(refusal(R"({"version":1,"training":{"steps":18446744073709551615}})"), HasSubstr("training.steps"));
  EXPECT_THAT(refusal(R"({"version":1,"training":{"steps":0}})"), HasSubstr("training.steps is 0, allowed: 1 to"));
}

// Their runs go on with the batches that they would have had, and Reset gives the weights that it gave.
TEST(Config, OlderVersionsSayHowTheirRunsBegan) {
  for (const char* older : {R"({"version":1})", R"({"version":2,"model":{"d_model":64}})"}) {
    const Config config = config_from_json(nlohmann::json::parse(older));
    EXPECT_EQ(config.model.initialization, "unit");
    EXPECT_EQ(config.training.batch_order, "both");
    EXPECT_EQ(config_from_json(to_json(config)), config);
  }
  const Config config = config_from_json(nlohmann::json::parse(R"({"version":3})"));
  EXPECT_EQ(config, Config());
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
  EXPECT_THAT(curves[metric("loss")].x, ElementsAre(1, 2));
  EXPECT_THAT(curves[metric("loss")].y, ElementsAre(5.0, 4.0));
  EXPECT_THAT(curves[metric("validation_nll")].x, ElementsAre(2));
  EXPECT_THAT(curves[metric("validation_nll")].y, ElementsAre(4.5));
  EXPECT_THAT(curves[metric("gradient_norm")].y, ElementsAre(2.0, 2.0));
  EXPECT_THAT(curves[metric("learning_rate")].y, testing::IsEmpty());
}

TEST(Curves, ResumedRunReplacesItsTail) {
  Curves curves;
  for (int step = 1; step <= 10; ++step) {
    curves.append(point(step, 10.0 - step, step % 4 == 0 ? std::optional(1.0) : std::nullopt));
  }
  curves.append(point(8, 77));
  EXPECT_THAT(curves[metric("loss")].x, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(curves[metric("loss")].y.back(), 77);
  EXPECT_EQ(curves[metric("loss")].y.size(), 8u);
  EXPECT_THAT(curves[metric("validation_nll")].x, ElementsAre(4));
  EXPECT_EQ(curves[metric("gradient_norm")].x.size(), 8u);
}

TEST(Metrics, PlotsAreInTheOrderOfTheTableEachWithItsOwn) {
  std::vector<std::size_t> seen;
  for (const std::vector<std::size_t>& plot : metrics_by_plot()) {
    for (const std::size_t place : plot) {
      seen.push_back(place);
      EXPECT_EQ(metric_rows[place].plot.title, metric_rows[plot.front()].plot.title);
    }
  }
  EXPECT_THAT(metrics_by_plot().front(), ElementsAre(metric("loss"), metric("validation_nll")));
  std::ranges::sort(seen);
  for (std::size_t i = 0; i < metric_rows.size(); ++i) EXPECT_EQ(seen.at(i), i) << metric_rows[i].key;
}

TEST(Metrics, PointsAreEqualWhenTheSameWasMeasured) {
  EXPECT_EQ(point(1, 5.0), point(1, 5.0));
  EXPECT_NE(point(1, 5.0), point(1, 5.0, 4.0));
  EXPECT_NE(point(1, 5.0), point(2, 5.0));
  EXPECT_EQ(MetricPoint()[metric("loss")], std::nullopt);
}

TEST(Curves, SmoothedIsTheBiasCorrectedMean) {
  EXPECT_THAT(smoothed(std::vector{2.0, 4.0, 9.0}, 0), ElementsAre(2, 4, 9));
  // weights on 2 and 4 after two points: 0.25 and 0.5, over 0.75
  EXPECT_THAT(smoothed(std::vector{2.0, 4.0, 8.0}, 0.5),
              ElementsAre(2, DoubleNear(10.0 / 3, 1e-12), DoubleNear((0.125 * 2 + 0.25 * 4 + 0.5 * 8) / 0.875, 1e-12)));
  for (const double value : smoothed(std::vector<double>(1000, 3.5), 0.99)) ASSERT_NEAR(value, 3.5, 1e-9);
  EXPECT_THAT(smoothed({}, 0.9), IsEmpty());
}

TEST(Curves, SmoothedPassesOverPointsThatAreNotFinite) {
  const std::vector<double> smooth =
      smoothed(std::vector{nan, 2.0, nan, std::numeric_limits<double>::infinity(), 4.0}, 0.5);
  ASSERT_EQ(smooth.size(), 5u);
  EXPECT_TRUE(std::isnan(smooth[0]));
  EXPECT_EQ(smooth[1], 2);
  EXPECT_EQ(smooth[3], 2);
  EXPECT_NEAR(smooth[4], 10.0 / 3, 1e-12);
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

}  // namespace
}  // namespace attnscope
