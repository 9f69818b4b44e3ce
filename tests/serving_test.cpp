// A window's own run, served while it goes on: begun late, ended, refused.
#include "commands/desktop/serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "fake_session.h"
#include "session/remote/remote_session.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;

class ServingTest : public testing::Test {
 protected:
  void SetUp() override {
    script->history_interval = 1'000'000'000;
    script->on_step = [](std::int64_t, const YieldCallback& yield) {
      std::this_thread::sleep_for(200us);
      yield();
    };
    session.post(Reset{});
    session.post(Train{});
  }
  void TearDown() override { script->gate = true; }

  // Does what the window does every frame, until the condition holds.
  template <typename Condition>
  bool turn_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < end) {
      const std::vector<Event> events = session.poll().events;
      for (const Event& event : events)
        if (const auto* point = std::get_if<MetricPoint>(&event)) trained = point->step;
      serving.hear(events);
      if (const std::string why = serving.inspect(); !why.empty()) complaint = why;
      if (condition()) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  bool serve(const std::string& address) {
    serving.begin({.address = address, .control = false});
    return turn_until([&] { return serving.service() || !complaint.empty(); }) && complaint.empty();
  }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  Session session{[script = script] { return std::make_unique<FakeEngine>(script); }};
  Serving serving{session};
  std::int64_t trained = 0;
  std::string complaint;
};

TEST_F(ServingTest, WhoAttachesToAWindowLateSeesTheCurveFromItsFirstUpdateOn) {
  ASSERT_TRUE(turn_until([&] { return trained >= 50; }));
  ASSERT_TRUE(serve("0")) << complaint;
  EXPECT_EQ(serving.service()->token, "");
  EXPECT_EQ(serving.service()->clients, 0U);
  RemoteSession client(remote_address(serving.service()->address), "");
  std::vector<std::int64_t> steps;
  ASSERT_TRUE(turn_until([&] {
    for (const Event& event : client.poll().events)
      if (const auto* point = std::get_if<MetricPoint>(&event)) steps.push_back(point->step);
    return steps.size() >= 100;
  }));
  for (std::size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i], static_cast<std::int64_t>(i) + 1);
  EXPECT_TRUE(turn_until([&] { return serving.service()->clients == 1; }));
}

TEST_F(ServingTest, ItEndsAndTheRunGoesOn) {
  ASSERT_TRUE(serve("0")) << complaint;
  RemoteSession client(remote_address(serving.service()->address), "");
  ASSERT_TRUE(turn_until([&] { return client.attachment().line == Attachment::Line::there; }));
  serving.end();
  EXPECT_FALSE(serving.service());
  EXPECT_TRUE(turn_until([&] { return client.attachment().line == Attachment::Line::lost; }));
  const std::int64_t before = trained;
  EXPECT_TRUE(turn_until([&] { return trained > before + 20; }));
}

TEST_F(ServingTest, WhatCannotBeServedIsSaidWithItsAddress) {
  ASSERT_TRUE(serve("0")) << complaint;
  const std::string taken = serving.service()->address;
  Serving second(session);
  second.begin({.address = taken, .control = false});
  std::string why;
  ASSERT_TRUE(turn_until([&] {
    why = second.inspect();
    return !why.empty();
  }));
  EXPECT_THAT(why, testing::HasSubstr(taken));
  EXPECT_FALSE(second.service());
  serving.begin({.address = "no port", .control = false});
  ASSERT_TRUE(turn_until([&] { return !complaint.empty(); }));
  EXPECT_THAT(complaint, testing::HasSubstr("no port"));
  EXPECT_TRUE(serving.service()) << "what was served still is";
}

TEST_F(ServingTest, WhereOthersReachItTheyNeedAPassword) {
  ASSERT_TRUE(serve("0.0.0.0:0")) << complaint;
  EXPECT_GE(serving.service()->token.size(), 32U);
}

}  // namespace
}  // namespace attnscope
