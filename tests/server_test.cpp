// A session that is watched over loopback: by windows that behave, and by what does not.
#include "session/remote/server.h"
#include "common/split.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "fake_session.h"
#include "messages/metrics.h"
#include "session/recap.h"
#include "session/remote/address.h"
#include "session/remote/packets.h"
#include "session/remote/permission.h"
#include "session/remote/remote_session.h"
#include "session/remote/wire.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;

TEST(RemoteAddress, IsAPortOrAHostAndAPort) {
  EXPECT_EQ(address_text(remote_address("7007")), "127.0.0.1:7007");
  EXPECT_EQ(address_text(remote_address("gpu.example:7007")), "gpu.example:7007");
  EXPECT_EQ(address_text(remote_address("[::1]:7007")), "[::1]:7007");
  for (const char* text : {"", ":", ":7007", "host:", "host", "host:70070", "host:-1", "::1:7007", "host:7 "})
    EXPECT_THROW(remote_address(text), AddressError) << text;
}

TEST(Permission, WhoWatchesOnlyLooks) {
  EXPECT_FALSE(refusal(Probe{}, false));
  EXPECT_FALSE(refusal(StartStudy{.study = 1, .question = HeldOutStudy{}}, false));
  for (const Command& command : {Command(Train{}), Command(Pause{}), Command(Step{}), Command(Adjust{}),
                                 Command(Pin{"a"}), Command(Unpin{"a"})}) {
    EXPECT_TRUE(refusal(command, false));
    EXPECT_FALSE(refusal(command, true));
  }
}

TEST(Permission, NobodyElsewhereNamesFilesOrPutsAnotherRunThere) {
  for (const Command& command : {Command(Reset{}), Command(OpenRun{}), Command(SaveRun{}), Command(Compare{}),
                                 Command(EndComparison{}), Command(ListDirectory{}), Command(WriteFile{}),
                                 Command(ReadFile{}), Command(KeepRun{}), Command(ListAutosaves{})}) {
    EXPECT_TRUE(refusal(command, true));
  }
}

TEST(Permission, WhatIsMeasuredIsBounded) {
  for (const CostQuestion& question : {CostQuestion{.longest = 1 << 30}, CostQuestion{.seconds = 1e9},
                                       CostQuestion{.seconds = std::nan("")}, CostQuestion{.megabytes = 1e9}})
    EXPECT_TRUE(refusal(StartStudy{.study = 1, .question = question}, true));
  FormationStudy formation;
  EXPECT_FALSE(refusal(StartStudy{.study = 1, .question = formation}, false));
  formation.circuit.edges.resize(1000);
  EXPECT_TRUE(refusal(StartStudy{.study = 1, .question = formation}, true));
  formation = {};
  formation.facts.corrupted.text.resize(1 << 20, 'a');
  EXPECT_TRUE(refusal(StartStudy{.study = 1, .question = formation}, true));
}

// A window elsewhere, and all that it has heard.
class Window {
 public:
  explicit Window(const RemoteAddress& server, const std::string& token = {}) : session_(server, token) {}

  template <typename Condition>
  bool wait_for(Condition condition) {
    return wait_until([&] { poll(); }, condition);
  }

  bool wait_for_line(Attachment::Line line) {
    return wait_for([&] { return attachment.line == line; });
  }
  bool wait_until_there() { return wait_for_line(Attachment::Line::there); }
  bool wait_for_inspection(std::uint64_t request) {
    return wait_for([&] { return snapshot && snapshot->request == request && snapshot->output_text == "whole"; });
  }
  bool wait_for_step(std::int64_t step) {
    return wait_for([&] { return !steps.empty() && steps.back() >= step; });
  }
  bool wait_until_logged(const std::string& text) {
    return wait_for([&] {
      return std::ranges::any_of(said, [&](const std::string& what) { return what.find(text) != std::string::npos; });
    });
  }

  void post(Command command) { session_.post(std::move(command)); }

  // Every update from the first on, none twice.
  bool has_every_step() const {
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i] != static_cast<std::int64_t>(i) + 1) return false;
    return true;
  }

  Attachment attachment;
  std::shared_ptr<const Snapshot> snapshot;
  std::vector<std::int64_t> steps;  // of the run opened last
  std::vector<std::string> said, progress_of_work;
  std::vector<Frame> frames;
  std::string run;
  Status status;
  std::vector<StudyEnded> ended;
  bool run_kept = false;
  bool corpus_read = false;

 private:
  void poll() {
    Conversation::News news = session_.poll();
    attachment = session_.attachment();
    snapshot = news.snapshot_a;
    for (const Event& event : news.events) {
      if (const auto* progress = std::get_if<Progress>(&event)) progress_of_work.push_back(progress->what);
      if (const auto* opened = std::get_if<RunOpened>(&event)) {
        run = opened->name;
        steps.clear();
        frames.clear();
      }
      if (const auto* point = std::get_if<MetricPoint>(&event)) steps.push_back(point->step);
      if (const auto* message = std::get_if<Message>(&event)) said.push_back(message->text);
      if (const auto* recorded = std::get_if<FrameRecorded>(&event)) frames.push_back(recorded->frame);
      if (const auto* told = std::get_if<Status>(&event)) status = *told;
      if (std::holds_alternative<RunAutosaved>(event)) run_kept = true;
      if (std::holds_alternative<CorpusRead>(event)) corpus_read = true;
      if (const auto* study = std::get_if<StudyEnded>(&event)) ended.push_back(*study);
    }
  }

  RemoteSession session_;
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A socket in the hands of somebody who means ill, or whose program is half dead.
class Stranger {
 public:
  explicit Stranger(const RemoteAddress& server) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in address = loopback(server.port);
    ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  ~Stranger() { ::close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void send(const std::string& bytes) {
    [[maybe_unused]] const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void send_packet(const ToServer& packet) { send(framed(wire_bytes(packet))); }
  static std::string framed(const std::string& bytes) {
    const std::uint32_t size = htonl(static_cast<std::uint32_t>(bytes.size()));
    return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + bytes;
  }
  static std::string preamble(std::uint32_t protocol = remote_protocol) {
    const std::uint32_t number = htonl(protocol);
    return std::string(remote_magic) + std::string(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  // All that comes until the other side closes.
  std::string read_all() {
    std::string all;
    std::vector<char> some(1 << 16);
    for (ssize_t got = 0; (got = ::recv(socket_, some.data(), some.size(), 0)) > 0;)
      all.append(some.data(), static_cast<std::size_t>(got));
    return all;
  }

 private:
  const int socket_;
};

// A way between a window and a station that can be cut.
class Relay {
 public:
  explicit Relay(RemoteAddress server) : server_(std::move(server)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in any = loopback(0);
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof(any));
    ::listen(listener_, 8);
    accepting_ = std::jthread([this] { accept(); });
  }
  ~Relay() {
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    cut();
    for (std::jthread& pump : pumps_) pump.join();
    ::close(listener_);
    for (const int socket : sockets_) ::close(socket);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  RemoteAddress address() const {
    sockaddr_in bound{};
    socklen_t size = sizeof(bound);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size);
    return {.port = ntohs(bound.sin_port)};
  }

  void cut() {
    std::lock_guard lock(mutex_);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }

 private:
  void accept() {
    for (int window = 0; (window = ::accept(listener_, nullptr, nullptr)) >= 0;) {
      const int server = ::socket(AF_INET, SOCK_STREAM, 0);
      const sockaddr_in there = loopback(server_.port);
      ::connect(server, reinterpret_cast<const sockaddr*>(&there), sizeof(there));
      std::lock_guard lock(mutex_);
      sockets_.insert(sockets_.end(), {window, server});
      pumps_.emplace_back([=] { pump(window, server); });
      pumps_.emplace_back([=] { pump(server, window); });
    }
  }
  static void pump(int from, int to) {
    std::vector<char> some(1 << 14);
    for (ssize_t got = 0; (got = ::recv(from, some.data(), some.size(), 0)) > 0;)
      if (::send(to, some.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) break;
    ::shutdown(to, SHUT_RDWR);
  }

  const RemoteAddress server_;
  const int listener_;
  std::mutex mutex_;
  std::vector<int> sockets_;
  std::vector<std::jthread> pumps_;
  std::jthread accepting_;
};

std::int64_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  return 0;
}

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    script->history_interval = 1'000'000'000;
    script->on_step = [](std::int64_t, const YieldCallback& yield) {
      std::this_thread::sleep_for(200us);
      yield();
    };
  }
  void TearDown() override {
    script->gate = true;
    close();
    teller_ = {};
  }

  // A run that trains, with a station.
  void serve(const std::string& token = {}, bool control = false) {
    session = std::make_unique<Session>([script = script] { return std::make_unique<FakeEngine>(script); });
    options.token = token;
    options.control = control;
    open();
    session->post(Reset{});
    session->post(Train{});
  }

  void open(std::vector<Event> before = {}) {
    server = std::make_unique<Server>(options, *session);
    server->tell(std::move(before));
    teller_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::vector<Event> events = session->poll().events;
        for (const Event& event : events)
          if (const auto* point = std::get_if<MetricPoint>(&event)) trained = point->step;
        server->tell(std::move(events));
        std::this_thread::sleep_for(1ms);
      }
    });
  }

  void close() {
    teller_ = {};
    server.reset();
  }

  RemoteAddress address() const { return server->address(); }

  bool goes_on_training() {
    const std::int64_t before = trained;
    const auto end = Clock::now() + patience;
    while (Clock::now() < end && trained < before + 20) std::this_thread::sleep_for(1ms);
    return trained >= before + 20;
  }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  ServerOptions options;
  std::unique_ptr<Session> session;
  std::unique_ptr<Server> server;
  std::atomic<std::int64_t> trained = 0;

 private:
  std::jthread teller_;
};

TEST_F(ServerTest, AWindowElsewhereSeesWhatTrains) {
  serve();
  Window window(address());
  ASSERT_TRUE(window.wait_until_there());
  EXPECT_EQ(window.attachment.to, address_text(address()));
  ASSERT_TRUE(window.wait_for_step(50));
  EXPECT_TRUE(window.has_every_step());
  EXPECT_EQ(window.run, "reset 1");
  ASSERT_TRUE(window.wait_for([&] { return window.status.activity == Activity::training; }));
  window.post(Probe{.request = 1, .text = "The cat sleeps."});
  ASSERT_TRUE(window.wait_for_inspection(1));
  EXPECT_EQ(window.snapshot->source_text, "The cat sleeps.");
}

TEST_F(ServerTest, ALookIsTakenAnewWhileTheModelLearns) {
  serve();
  Window window(address());
  ASSERT_TRUE(window.wait_until_there());
  window.post(Probe{.request = 1, .text = "a"});
  ASSERT_TRUE(window.wait_for_inspection(1));
  const std::int64_t first = window.snapshot->step;
  EXPECT_TRUE(window.wait_for([&] { return window.snapshot->step > first; }));
}

TEST_F(ServerTest, EachWatcherIsAnsweredItsOwnQuestion) {
  serve();
  Window one(address()), other(address());
  ASSERT_TRUE(one.wait_until_there() && other.wait_until_there());
  one.post(Probe{.request = 5, .text = "one"});
  other.post(Probe{.request = 5, .text = "other"});
  ASSERT_TRUE(one.wait_for_inspection(5) && other.wait_for_inspection(5));
  const std::int64_t step = std::max(one.snapshot->step, other.snapshot->step);
  ASSERT_TRUE(one.wait_for([&] { return one.snapshot->step > step; }));
  ASSERT_TRUE(other.wait_for([&] { return other.snapshot->step > step; }));
  EXPECT_EQ(one.snapshot->source_text, "one");
  EXPECT_EQ(other.snapshot->source_text, "other");
}

TEST_F(ServerTest, OnlyWhoAskedHearsWhyALookFailed) {
  script->on_decode = [](const Probe& probe, const YieldCallback&) {
    if (probe.text == "bad") throw std::runtime_error("no such piece");
  };
  serve();
  Window one(address()), other(address());
  ASSERT_TRUE(one.wait_until_there() && other.wait_until_there());
  one.post(Probe{.request = 1, .text = "bad"});
  EXPECT_TRUE(one.wait_until_logged("no such piece"));
  other.post(Probe{.request = 1, .text = "good"});
  EXPECT_TRUE(other.wait_for_inspection(1));
  EXPECT_THAT(other.said, testing::Each(testing::Not(testing::HasSubstr("no such piece"))));
}

TEST_F(ServerTest, WhoComesLateHearsAllFromTheFirstUpdateOn) {
  serve();
  ASSERT_TRUE(goes_on_training());
  ASSERT_TRUE(goes_on_training());
  Window window(address());
  ASSERT_TRUE(window.wait_for_step(trained));
  EXPECT_TRUE(window.has_every_step());
}

TEST_F(ServerTest, ARunOpenedWithItsCurveAndFramesBringsThem) {
  const auto frame = std::make_shared<Snapshot>();
  frame->source_text = "pinned";
  frame->step = 3;
  script->opened_history = {{"pinned", {frame}}};
  serve();
  session->post(Pause{});
  session->post(OpenRun{"somewhere"});
  Window window(address());
  ASSERT_TRUE(window.wait_for([&] { return !window.frames.empty(); }));
  EXPECT_EQ(window.run, "open somewhere");
  EXPECT_FALSE(window.corpus_read);
  session->post(Probe{.request = 1, .text = "a sentence"});  // after which it is
  EXPECT_TRUE(window.wait_for([&] { return window.corpus_read; }));
  EXPECT_EQ(window.frames.front()->source_text, "pinned");
}

TEST_F(ServerTest, ALineThatWasCutIsTakenUpAgainWithoutAGap) {
  serve();
  Relay relay(address());
  Window window(relay.address());
  ASSERT_TRUE(window.wait_for_step(30));
  window.post(Probe{.request = 9, .text = "still asked"});
  ASSERT_TRUE(window.wait_for_inspection(9));
  for (int i = 0; i < 3; ++i) {
    const std::int64_t step = window.steps.back();
    relay.cut();
    ASSERT_TRUE(window.wait_for_line(Attachment::Line::lost));
    EXPECT_NE(window.attachment.why, "");
    ASSERT_TRUE(window.wait_until_there());
    ASSERT_TRUE(window.wait_for_step(step + 100));
    ASSERT_TRUE(window.has_every_step());
  }
  EXPECT_TRUE(window.wait_for([&] { return window.snapshot->step > 300; }));
  EXPECT_EQ(window.snapshot->request, 9U);
}

TEST_F(ServerTest, AWindowThatWasThereBeforeFindsTheStationThatComesAgain) {
  serve();
  const RemoteAddress there = address();
  Window window(there);
  ASSERT_TRUE(window.wait_for_step(10));
  close();
  ASSERT_TRUE(window.wait_for_line(Attachment::Line::lost));
  session = std::make_unique<Session>([script = script] { return std::make_unique<FakeEngine>(script); });
  options.address = there;
  open();
  session->post(Reset{with_seed(2)});
  session->post(Train{});
  ASSERT_TRUE(window.wait_for([&] { return window.run == "reset 2" && window.steps.size() > 10; }));
  EXPECT_TRUE(window.has_every_step());
}

TEST_F(ServerTest, TheLastIsHeardBeforeItCloses) {
  serve();
  Window window(address());
  ASSERT_TRUE(window.wait_for_step(10));
  session->post(Pause{});
  ASSERT_TRUE(window.wait_for([&] { return window.status.activity == Activity::paused; }));
  std::this_thread::sleep_for(5ms);
  close();
  EXPECT_TRUE(window.wait_until_logged("The remote training has ended"));
  EXPECT_EQ(window.steps.back(), trained);
}

TEST_F(ServerTest, ATokenIsAskedFor) {
  serve("0123456789abcdef");
  Window without(address()), wrong(address(), "0123456789abcdeF"), right(address(), "0123456789abcdef");
  ASSERT_TRUE(without.wait_for_line(Attachment::Line::refused));
  ASSERT_TRUE(wrong.wait_for_line(Attachment::Line::refused));
  EXPECT_TRUE(right.wait_for_step(10));
  EXPECT_EQ(without.attachment.why, "a token is required there");
  EXPECT_EQ(wrong.attachment.why, "the token is wrong");
  EXPECT_TRUE(wrong.steps.empty());
}

TEST_F(ServerTest, AThousandWrongTokensGetNothing) {
  serve("0123456789abcdef");
  for (int i = 0; i < 1000; ++i) {
    Stranger stranger(address());
    stranger.send(Stranger::preamble());
    stranger.send_packet(Hello{"0123456789abcde" + std::to_string(i), 0, 0});
    const std::string heard = stranger.read_all();
    ASSERT_EQ(heard.substr(12), wire_bytes(ToClient(Refused{"the token is wrong"})));
  }
  EXPECT_TRUE(goes_on_training());
}

TEST_F(ServerTest, WhoWatchesChangesNothing) {
  serve();
  Window window(address());
  ASSERT_TRUE(window.wait_until_there());
  EXPECT_FALSE(window.attachment.control);
  window.post(Pause{});
  ASSERT_TRUE(window.wait_until_logged("Read-only window"));
  window.post(SaveRun{"/tmp/elsewhere"});
  window.post(OpenRun{"/etc"});
  ASSERT_TRUE(window.wait_until_logged("only where they are training"));
  EXPECT_TRUE(goes_on_training());
  EXPECT_EQ(script->times("save /tmp/elsewhere") + script->times("open /etc"), 0U);
}

TEST_F(ServerTest, WithControlItPausesAndTrains) {
  serve("", true);
  Window window(address());
  ASSERT_TRUE(window.wait_until_there());
  EXPECT_TRUE(window.attachment.control);
  ASSERT_TRUE(window.wait_for([&] { return window.status.activity == Activity::training; }));  // or there is no pause
  window.post(Pause{});
  ASSERT_TRUE(window.wait_for([&] { return window.status.activity == Activity::paused; }));
  window.post(Train{});
  ASSERT_TRUE(window.wait_for([&] { return window.status.activity == Activity::training; }));
}

TEST_F(ServerTest, StudiesTakeTurns) {
  serve();
  Window one(address()), other(address());
  ASSERT_TRUE(one.wait_until_there() && other.wait_until_there());
  one.post(StartStudy{.study = 1, .question = HeldOutStudy{}});
  other.post(StartStudy{.study = 1, .question = HeldOutStudy{}});
  ASSERT_TRUE(one.wait_for([&] { return !one.ended.empty(); }));
  ASSERT_TRUE(other.wait_for([&] { return !other.ended.empty(); }));
  EXPECT_EQ(one.ended.front().study, 1U);
  EXPECT_TRUE(one.ended.front().result && other.ended.front().result);
  one.post(StartStudy{.study = 2, .question = CostQuestion{.seconds = 1e9}});
  ASSERT_TRUE(one.wait_for([&] { return one.ended.size() == 2; }));
  EXPECT_FALSE(one.ended.back().result);
}

TEST_F(ServerTest, FilesAreThoseOfTheWindowsMachine) {
  serve();
  Window window(address());
  ASSERT_TRUE(window.wait_until_there());
  const std::string path = testing::TempDir() + "written_at_the_window";
  window.post(WriteFile{path, "numbers", true});
  ASSERT_TRUE(window.wait_for([&] { return ::access(path.c_str(), R_OK) == 0; }));
  ::unlink(path.c_str());
  window.post(KeepRun{});
  EXPECT_TRUE(window.wait_for([&] { return window.run_kept; }));
  EXPECT_EQ(window.said, std::vector<std::string>());
}

TEST_F(ServerTest, StrangersAreLetGo) {
  serve();
  const std::string hello = wire_bytes(ToServer(Hello{}));
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), Stranger::preamble(remote_protocol + 1),
        Stranger::preamble() + std::string("\xff\xff\xff\xff", 4), Stranger::preamble() + Stranger::framed("no packet"),
        Stranger::preamble() + Stranger::framed(wire_bytes(ToServer(Command(Train{})))),
        Stranger::preamble() + Stranger::framed(hello) + Stranger::framed("no packet"),
        Stranger::preamble() + Stranger::framed(hello) + std::string("\x01\x00\x00\x00", 4)}) {
    Stranger stranger(address());
    stranger.send(bytes);
    EXPECT_TRUE(stranger.read_all().starts_with(remote_magic));  // and then the other side has closed
  }
  EXPECT_TRUE(goes_on_training());
}

TEST_F(ServerTest, WhoReadsNothingOrSaysHalfAWordHoldsUpNobody) {
  script->on_decode = [](const Probe&, const YieldCallback& yield) { yield(); };
  serve();
  Stranger silent(address()), half(address());
  half.send(Stranger::preamble().substr(0, 5));
  silent.send(Stranger::preamble());
  silent.send_packet(Hello{});
  for (std::uint64_t i = 1; i <= 200; ++i)
    silent.send_packet(Command(Probe{.request = i, .text = std::string(4000, 'x')}));
  Window window(address());
  ASSERT_TRUE(window.wait_for_step(200));
  window.post(Probe{.request = 1, .text = "answered"});
  EXPECT_TRUE(window.wait_for_inspection(1));
  EXPECT_TRUE(goes_on_training());
}

// ATTNSCOPE_SILENCE seconds of it; a minute is longer than it is put up with.
TEST_F(ServerTest, WhoReadsNothingForLongTakesNoMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer keeps what was freed";
#endif
  serve();
  Stranger silent(address());
  silent.send(Stranger::preamble());
  silent.send_packet(Hello{});
  ASSERT_TRUE(goes_on_training());
  const char* asked = std::getenv("ATTNSCOPE_SILENCE");
  const auto end = Clock::now() + std::chrono::seconds(asked ? std::atoi(asked) : 2);
  const std::int64_t before = resident_kilobytes();
  while (Clock::now() < end) {
    silent.send_packet(Command(Probe{.request = 1, .text = std::string(4000, 'x')}));
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_TRUE(goes_on_training());
  EXPECT_LE(resident_kilobytes() - before, 16 * 1024 + trained) << "the log's own growth is less than 1 kB an update";
}

// The same happens in a window that serves its own run.
TEST_F(ServerTest, AStationThatComesLateTellsWhatWasBefore) {
  session = std::make_unique<Session>([script = script] { return std::make_unique<FakeEngine>(script); });
  session->post(Reset{});
  session->post(Train{});
  Recap recap;
  while (trained < 50)
    for (const Event& event : session->poll().events) {
      recap.hear(event);
      if (const auto* point = std::get_if<MetricPoint>(&event)) trained = point->step;
    }
  open(recap.events());
  Window window(address());
  ASSERT_TRUE(window.wait_for_step(60));
  EXPECT_TRUE(window.has_every_step());
  EXPECT_EQ(server->clients(), 1U);
}

TEST_F(ServerTest, FiftyWatchersAreServedAndNoMoreThanSoMany) {
  script->on_step = [](std::int64_t, const YieldCallback& yield) {
    std::this_thread::sleep_for(10ms);
    yield();
  };
  serve();
  std::vector<std::unique_ptr<Window>> windows;
  for (int i = 0; i < 50; ++i) windows.push_back(std::make_unique<Window>(address()));
  for (const auto& window : windows) {
    window->post(Probe{.request = 1, .text = "one of many"});
    ASSERT_TRUE(window->wait_for_step(20));
  }
  std::vector<std::unique_ptr<Stranger>> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back(std::make_unique<Stranger>(address()));
    many.back()->send(Stranger::preamble());
    many.back()->send_packet(Hello{});
  }
  const std::string heard = many.back()->read_all();  // which ends: it was let go, with a word or without
  EXPECT_TRUE(heard.empty() || heard.find("64 windows are attached already") != std::string::npos);
  EXPECT_TRUE(goes_on_training());
}

// Connections that say nothing are the first to go: they keep no window out.
TEST_F(ServerTest, IdleConnectionsKeepNobodyOut) {
  serve("a token of sixteen characters");
  std::vector<std::unique_ptr<Stranger>> idle;
  for (int i = 0; i < 200; ++i) idle.push_back(std::make_unique<Stranger>(address()));
  Window window(address(), "a token of sixteen characters");
  EXPECT_TRUE(window.wait_until_there());
  EXPECT_TRUE(window.wait_for_step(20));
}

TEST_F(ServerTest, WhatIsOutOfRangeIsAnsweredWithTheReason) {
  serve();
  Window window(address());
  ASSERT_TRUE(window.wait_until_there());
  window.post(StartStudy{.study = 1, .question = CostQuestion{.seconds = 1e9}});
  EXPECT_TRUE(window.wait_until_logged("1e+09 seconds; allowed: up to 120"));
  window.post(StartStudy{.study = 2, .question = TsneStudy{.perplexity = 0}});
  EXPECT_TRUE(window.wait_until_logged("a perplexity of 0; allowed: 1 to 1000"));
}

// Without control a study takes at most a twentieth of the time; 20 slices of 4 ms then last 1.6 s.
TEST_F(ServerTest, AStudyOfWhoOnlyWatchesGivesWayToTraining) {
  std::atomic<bool> begun = false;
  std::atomic<std::int64_t> milliseconds = 0;
  script->on_study = [&](const FractionCallback& progress) {
    begun = true;
    const auto begin = Clock::now();
    for (int slice = 0; slice < 20; ++slice) {
      std::this_thread::sleep_for(4ms);
      progress(slice / 20.0);
    }
    milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
  };
  for (const bool control : {false, true}) {
    serve("", control);
    Window window(address());
    ASSERT_TRUE(window.wait_until_there());
    ASSERT_TRUE(window.wait_for_step(20));
    const std::int64_t before = trained;
    window.post(StartStudy{.study = 1, .question = HeldOutStudy{}});
    ASSERT_TRUE(window.wait_for([&] { return !window.ended.empty(); }));
    EXPECT_TRUE(window.ended.front().result);
    if (!control) {
      EXPECT_GE(milliseconds, 20 * 4 * 19);
      EXPECT_GT(trained, before + 100);
    }
    const std::int64_t limited = milliseconds;
    if (control) {
      EXPECT_LT(limited, 20 * 4 * 19) << "who has control is not slowed down";
    }
    close();
    session.reset();
  }
}

TEST_F(ServerTest, AWindowSaysThatNothingListens) {
  Window window({"127.0.0.1", 1});
  EXPECT_TRUE(window.wait_for([&] { return window.progress_of_work.size() >= 2; }));
  EXPECT_THAT(window.progress_of_work.back(), testing::StartsWith("No connection to 127.0.0.1:1 yet: Connection refu"));
}

TEST_F(ServerTest, APrintedAddressCanBeConnectedTo) {
  options.address.host = "0.0.0.0";
  serve("a token of sixteen characters");
  const std::string printed = reachable_text(address());
  EXPECT_EQ(printed.find("0.0.0.0"), std::string::npos) << printed;
  for (const std::string_view one : split(printed, ", ")) {
    Window window(remote_address(one), "a token of sixteen characters");
    EXPECT_TRUE(window.wait_until_there()) << one;
  }
  EXPECT_EQ(reachable_text({"192.168.1.7", 4000}), "192.168.1.7:4000");
}

// A server that sends what it likes: the window ends the connection, and says why.
TEST(HostileServer, PartsThatDoNotFitEndTheConnection) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any = loopback(0);
  ::bind(listener, reinterpret_cast<const sockaddr*>(&any), sizeof(any));
  ::listen(listener, 8);
  socklen_t size = sizeof(any);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&any), &size);
  Snapshot seen;
  seen.positions = std::make_shared<const std::vector<PositionTable>>();
  seen.source.resize(3);
  seen.encoder = {{Matrix(2, 2), Matrix(2, 2)}};  // of two tokens, and there are three
  const std::string sent = Stranger::preamble() + Stranger::framed(wire_bytes(ToClient(Welcome{7, false}))) +
                           Stranger::framed(wire_bytes(ToClient(ProbeReply{std::make_shared<Snapshot>(seen)})));
  std::jthread serving([&] {
    for (int client = 0; (client = ::accept(listener, nullptr, nullptr)) >= 0; ::close(client))
      ::send(client, sent.data(), sent.size(), MSG_NOSIGNAL), std::this_thread::sleep_for(200ms);
  });
  {
    Window window({.port = ntohs(any.sin_port)});
    EXPECT_TRUE(window.wait_for([&] {
      return window.attachment.line == Attachment::Line::lost &&
             window.attachment.why.find("an attention map and the tokens") != std::string::npos;
    })) << window.attachment.why;
    EXPECT_FALSE(window.snapshot);
  }
  ::shutdown(listener, SHUT_RDWR);
  serving.join();
  ::close(listener);
}

TEST_F(ServerTest, AnAddressThatIsTakenIsNamed) {
  serve();
  const RemoteAddress taken = address();
  try {
    options.address = taken;
    Server second(options, *session);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(address_text(taken)), std::string::npos);
  }
}

}  // namespace
}  // namespace attnscope
