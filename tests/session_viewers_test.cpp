// Others who look through the model beside the window.
#include "fake_session.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;

class SessionViewers : public SessionTest {
 protected:
  void poll_viewers() {
    for (ViewerAnswer& answer : session->poll_viewer_requests()) answers.push_back(std::move(answer));
  }

  // A whole look at `text` was given to the guest.
  bool has_seen(ViewerId viewer, const std::string& text) {
    poll_viewers();
    return std::ranges::any_of(answers, [&](const ViewerAnswer& it) {
      const auto* inspection = std::get_if<std::shared_ptr<const Snapshot>>(&it.answer);
      return it.viewer == viewer && inspection && (*inspection)->source_text == text &&
             (*inspection)->output_text == "whole";
    });
  }

  std::vector<ViewerAnswer> answers;
};

TEST_F(SessionViewers, AreAnsweredEachItsOwnAndTheWindowSeesNoneOfIt) {
  start_with_run();
  session->post(Probe{.request = 1, .text = "window"});
  ASSERT_TRUE(wait_for_whole_snapshot(1));
  session->ask({7, Probe{.request = 1, .text = "seven"}});
  session->ask({8, Probe{.request = 1, .text = "eight"}});
  ASSERT_TRUE(wait_for([&] { return has_seen(7, "seven") && has_seen(8, "eight"); }));
  EXPECT_EQ(snapshot->source_text, "window");
}

TEST_F(SessionViewers, AskAgainAfterAnotherRunWithoutBeingTold) {
  start_with_run();
  session->ask({7, Probe{.request = 1, .text = "seven"}});
  ASSERT_TRUE(wait_for([&] { return has_seen(7, "seven"); }));
  answers.clear();
  session->post(Reset{with_seed(2)});
  EXPECT_TRUE(wait_for([&] { return has_seen(7, "seven"); }));
}

TEST_F(SessionViewers, WhoHasGoneIsNotLookedForAnyMore) {
  start_with_run();
  session->ask({7, Probe{.request = 1, .text = "seven"}});
  ASSERT_TRUE(wait_for([&] { return has_seen(7, "seven"); }));
  session->ask({7, std::nullopt});
  session->ask({8, Probe{.request = 1, .text = "eight"}});
  ASSERT_TRUE(wait_for([&] { return has_seen(8, "eight"); }));
  answers.clear();
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return has_seen(8, "eight"); }));
  EXPECT_TRUE(std::ranges::none_of(answers, [](const ViewerAnswer& it) { return it.viewer == 7; }));
}

TEST_F(SessionViewers, HearThemselvesWhyALookFailed) {
  script->on_decode = [](const Probe& probe, const YieldCallback&) {
    if (probe.text == "bad") throw std::runtime_error("no such piece");
  };
  start_with_run();
  session->ask({7, Probe{.request = 1, .text = "bad"}});
  ASSERT_TRUE(wait_for([&] {
    poll_viewers();
    return std::ranges::any_of(answers,
                               [](const ViewerAnswer& it) { return std::holds_alternative<Message>(it.answer); });
  }));
  EXPECT_FALSE(said("no such piece"));
}

TEST_F(SessionViewers, HoweverManyAskLeaveTrainingMostOfTheTime) {
  std::atomic<std::int64_t> inspecting = 0;  // ns
  script->on_decode = [&](const Probe&, const YieldCallback& yield) {
    const auto begin = Clock::now();
    std::this_thread::sleep_for(2ms);
    yield();
    inspecting += std::chrono::nanoseconds(Clock::now() - begin).count();
  };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::training; }));
  const auto begin = Clock::now();
  for (std::uint64_t request = 1; Clock::now() - begin < 500ms; ++request) {
    for (ViewerId viewer = 1; viewer <= 30; ++viewer)
      session->ask({viewer, Probe{.request = request, .text = "flood"}});
    std::this_thread::sleep_for(1ms);
    poll_viewers();
  }
  const std::chrono::nanoseconds all = Clock::now() - begin;
  EXPECT_LT(static_cast<double>(inspecting), 0.4 * static_cast<double>(all.count()));
  EXPECT_GT(answers.size(), 10U);
}

// A run that was made elsewhere is trained on from where it stands, and given back.
TEST_F(SessionViewers, RunsThatAreThereAreTakenOver) {
  const auto engine = std::make_shared<FakeEngine>(script);
  RunOpened opened = engine->reset(with_seed(5), [](const Progress&) {});
  session = std::make_unique<Session>(std::vector<HeldEngine>{{engine, std::move(opened)}});
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return all<MetricPoint>().size() > 5; }));
  EXPECT_EQ(all<RunOpened>().size(), 1U);
  session->end();
  EXPECT_GT(engine->status().step, 5);
  EXPECT_EQ(script->times("destroyed"), 0U);
}

}  // namespace
}  // namespace attnscope
