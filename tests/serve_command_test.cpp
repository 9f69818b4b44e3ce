// `attnscope train --serve`: the same training, watched over loopback.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "commands/commands.h"
#include "common/programs.h"
#include "files/storage/run_folder.h"
#include "messages/metrics.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"
#include "session/remote/remote_session.h"
#include "training/distributed/ranks.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto patience = 60s;  // only ever spent by a test that fails

std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  socklen_t size = sizeof(address);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

class ServedTrain : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder);
    save_config(folder / "config.json", tiny_config());
  }
  void TearDown() override { fs::remove_all(folder); }

  TrainOptions options(const std::string& name, std::int64_t steps) const {
    TrainOptions wanted;
    wanted.config_file = (folder / "config.json").string();
    wanted.out = (folder / name).string();
    wanted.steps = steps;
    wanted.pin = {"a b c"};
    return wanted;
  }

  using Time = std::chrono::steady_clock::time_point;

  // Attaches as soon as the run is served: a window of its own would retry at growing intervals.
  static std::unique_ptr<RemoteSession> attached_window(const std::string& server, Time end) {
    auto window = std::make_unique<RemoteSession>(remote_address(server), "");
    while (window->attachment().line != Attachment::Line::there && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
      if (window->attachment().line == Attachment::Line::lost)
        window = std::make_unique<RemoteSession>(remote_address(server), "");
    }
    return window;
  }

  void watch(const TrainOptions& served) {
    watch(served.serve, [&] { return train(served); });
  }

  // A window that is attached to what `train` serves there until it ends, with the exit status that it returns.
  void watch(const std::string& server, const std::function<int()>& train) {
    auto training = std::async(std::launch::async, train);
    const auto end = std::chrono::steady_clock::now() + patience;
    const std::unique_ptr<RemoteSession> attached = attached_window(server, end);
    RemoteSession& window = *attached;
    window.post(Probe{.request = 7, .text = "a b c d"});
    bool over = false;
    while (!over && std::chrono::steady_clock::now() < end) {
      over = training.wait_for(1ms) == std::future_status::ready && window.attachment().line == Attachment::Line::lost;
      hear(window.poll());
    }
    EXPECT_EQ(training.get(), 0);
  }

  void hear(Conversation::News news) {
    if (news.snapshot_a && news.snapshot_a->is_whole()) inspection = news.snapshot_a;
    if (news.snapshot_b) snapshot_b = news.snapshot_b;
    for (const Event& event : news.events) {
      if (const auto* point = std::get_if<MetricPoint>(&event)) points.push_back(*point);
      if (std::holds_alternative<FrameRecorded>(event)) ++frames;
      const auto* other = std::get_if<OfRunB>(&event);
      if (other && std::holds_alternative<MetricPoint>(other->what)) ++other_points;
    }
  }

  fs::path folder = fs::temp_directory_path() / ("attnscope-serve-" + std::to_string(::getpid()));
  std::vector<MetricPoint> points;
  std::size_t other_points = 0, frames = 0;
  std::shared_ptr<const Snapshot> inspection, snapshot_b;
};

TEST_F(ServedTrain, LearnsTheSameAndIsSeenWhole) {
  const TrainOptions alone = options("alone", 400);
  ASSERT_EQ(train(alone), 0);
  TrainOptions served = options("served", 400);
  served.serve = "127.0.0.1:" + std::to_string(free_port());
  watch(served);
  ASSERT_EQ(points.size(), 400U);
  const std::vector<MetricPoint> expected = load_metrics(RunFolder{alone.out}.metrics());
  ASSERT_EQ(expected.size(), 400U);
  for (std::size_t i = 0; i < points.size(); ++i) {
    ASSERT_EQ(points[i].step, static_cast<std::int64_t>(i) + 1);
    ASSERT_EQ(points[i][metric("loss")], expected[i][metric("loss")]);
    ASSERT_EQ(points[i][metric("validation_nll")], expected[i][metric("validation_nll")]);
  }
  EXPECT_EQ(load_metrics(RunFolder{served.out}.metrics()).size(), 400U);
  EXPECT_GT(frames, 1U);
  ASSERT_TRUE(inspection);
  EXPECT_EQ(inspection->request, 7U);
  EXPECT_FALSE(inspection->encoder.empty());
}

// In separate processes, as the program starts them.
TEST_F(ServedTrain, WhatSeveralRanksTrainIsSeenWhole) {
  try {
    check_ranks_supported();
  } catch (const RanksError& error) {
    GTEST_SKIP() << error.what();
  }
  const TrainOptions served = options("ranks", 400);
  const std::string server = "127.0.0.1:" + std::to_string(free_port());
  watch(server, [&] {
    return status_at_end(
        start_program({ATTNSCOPE_PROGRAM, "train", "--quiet", "--ranks", "2", "--serve", server, "--config",
                       served.config_file, "--out", served.out, "--steps", "400", "--pin", "a b c"},
                      NamelessFile("")));
  });
  const std::vector<MetricPoint> saved = load_metrics(RunFolder{served.out}.metrics());
  ASSERT_EQ(saved.size(), 400U);
  ASSERT_EQ(points.size(), 400U);
  for (std::size_t i = 0; i < points.size(); ++i) {
    ASSERT_EQ(points[i].step, static_cast<std::int64_t>(i) + 1);
    ASSERT_EQ(points[i][metric("loss")], saved[i][metric("loss")]);
  }
  EXPECT_GT(frames, 1U);
  ASSERT_TRUE(inspection);
  EXPECT_EQ(inspection->request, 7U);
  EXPECT_FALSE(inspection->encoder.empty());
}

TEST_F(ServedTrain, TwoRunsAreSeenSideBySide) {
  TrainOptions served = options("both", 200);
  served.compare = {"model.dropout=0"};
  served.serve = std::to_string(free_port());
  watch(served);
  EXPECT_EQ(points.size(), 200U);
  EXPECT_EQ(other_points, 200U);
  EXPECT_TRUE(inspection);
  EXPECT_TRUE(snapshot_b);
}

}  // namespace
}  // namespace attnscope
