// A run's metrics in little memory: they are read back as they were added.
#include "engine/metric_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attnscope {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

// Values that are exact in float32; every third step has one metric less, every seventh one more.
std::vector<MetricPoint> measured(std::int64_t updates) {
  std::vector<MetricPoint> points;
  for (std::int64_t step = 1; step <= updates; ++step) {
    MetricPoint& point = points.emplace_back();
    point.step = step;
    point.set(0, static_cast<double>(step) / 8);
    if (step % 3 != 0) point.set(2, static_cast<double>(-step));
    if (step % 7 == 0) point.set(4, 0.5);
  }
  return points;
}

TEST(MetricLog, GivesBackWhatWasMeasured) {
  const std::vector<MetricPoint> points = measured(1000);
  const MetricLog log(points);
  EXPECT_EQ(log.size(), 1000U);
  EXPECT_THAT(log.from(), ElementsAreArray(points));
  EXPECT_THAT(MetricLog().from(), IsEmpty());
}

TEST(MetricLog, GivesBackWhatIsNewSinceThen) {
  const std::vector<MetricPoint> points = measured(50);
  const MetricLog log(points);
  for (std::size_t first = 0; first <= 50; ++first) {
    ASSERT_THAT(log.from(first), ElementsAreArray(points.begin() + static_cast<std::ptrdiff_t>(first), points.end()));
  }
  EXPECT_THAT(log.from(51), IsEmpty());
}

TEST(MetricLog, KeepsStepsThatAreFarApart) {
  std::vector<MetricPoint> points = measured(6);
  const std::int64_t steps[] = {3, 4, 9, 5'000'000'000, 5'000'000'001, std::int64_t{1} << 52};
  for (std::size_t i = 0; i < points.size(); ++i) points[i].step = steps[i];
  EXPECT_THAT(MetricLog(points).from(), ElementsAreArray(points));
  EXPECT_EQ(MetricLog(points).from(4).front().step, 5'000'000'001);
}

TEST(MetricLog, OfTheNewestPointMoreMayBeMeasured) {
  MetricLog log(measured(2));
  MetricPoint update;
  update.step = 3;
  log.append(update).set(4, 1.25);
  EXPECT_EQ(log.from(2).front()[4], 1.25);
  update.step = 4;
  log.append(update);
  EXPECT_EQ(log.from(2).front()[4], 1.25) << "and stays when it is the newest no more";
  EXPECT_EQ(log.from(2).back()[4], std::nullopt);
}

TEST(MetricLog, KeepsThatSomethingWasNoNumber) {
  std::vector<MetricPoint> points = measured(2);
  points[0].set(1, std::numeric_limits<double>::quiet_NaN());
  const MetricPoint kept = MetricLog(points).from().front();
  ASSERT_TRUE(kept[1]);
  EXPECT_TRUE(std::isnan(*kept[1]));
}

}  // namespace
}  // namespace attnscope
