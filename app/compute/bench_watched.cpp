// A run with remote viewers: the cost of two windows attached over loopback, and the time to an answer.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>

#include "compute/bench.h"
#include "engine/torch_engine.h"
#include "session/remote/remote_session.h"
#include "session/remote/server.h"
#include "session/session.h"

namespace attnscope {
namespace {

constexpr int rounds = 5;
constexpr int clients = 2;
constexpr int questions = 20;
constexpr std::chrono::milliseconds undisturbed{3000};
constexpr std::chrono::milliseconds between_questions{150};
constexpr std::chrono::minutes longest_answer{2};

// A window's request and the response.
struct Asker {
  Conversation& to;
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;

  void ask(const std::string& text) { to.post(Probe{.request = ++asked, .text = text}); }
  void inspect(const Conversation::News& news) {
    if (news.snapshot_a) answered = news.snapshot_a->request;
  }
};

class WatchedRun {
 public:
  explicit WatchedRun(const std::string& run)
      : session_([] { return std::make_unique<TorchEngine>(); }), server_({}, session_), here_{session_} {
    session_.post(OpenRun{run});
    turn_until([this] { return opened_; });
    session_.post(Train{});
    turn_until([this] { return updates_ > 0; });
  }

  // Each inspects its own sentence, again and again while the model learns.
  void attach() {
    for (int i = 0; i < clients; ++i) {
      windows_.push_back(std::make_unique<RemoteSession>(server_.address(), ""));
      there_.push_back({*windows_.back()});
      there_.back().ask(sentence(i));
    }
    turn_until([this] { return std::ranges::all_of(there_, [](const Asker& it) { return it.answered == it.asked; }); });
  }
  void detach() {
    there_.clear();
    windows_.clear();
  }

  double updates_per_second() {
    const std::int64_t before = updates_;
    const auto begin = Clock::now();
    turn_until([&] { return Clock::now() >= begin + undisturbed; });
    return static_cast<double>(updates_ - before) / milliseconds_since(begin) * 1000;
  }

  // Milliseconds from a requested sentence to its attention, locally or at the first attached window.
  double answer(bool elsewhere) {
    const auto pause = Clock::now() + between_questions;
    turn_until([&] { return Clock::now() >= pause; });
    Asker& asker = elsewhere ? there_.front() : here_;
    asker.ask(sentence(static_cast<int>(asker.asked)));
    const auto begin = Clock::now();
    turn_until([&] { return asker.answered == asker.asked; });
    return milliseconds_since(begin);
  }

 private:
  static std::string sentence(int number) {
    return "The animal didn't cross the street because it was too " + std::string(number % 2 == 0 ? "tired" : "wide") +
           std::string(static_cast<std::size_t>(number % 5), '.');
  }

  template <typename Condition>
  void turn_until(const Condition& done) {
    const auto give_up = Clock::now() + longest_answer;
    while (!done()) {
      if (Clock::now() > give_up) throw std::runtime_error("the worker did not answer within two minutes");
      turn();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void turn() {
    Conversation::News news = session_.poll();
    here_.inspect(news);
    for (const Event& event : news.events) {
      if (std::holds_alternative<RunOpened>(event)) opened_ = true;
      if (std::holds_alternative<MetricPoint>(event)) ++updates_;
      if (const auto* message = std::get_if<Message>(&event); message && message->severity == Severity::error)
        throw std::runtime_error(message->text);
    }
    server_.tell(std::move(news.events));
    for (Asker& asker : there_) asker.inspect(asker.to.poll());
  }

  Session session_;
  Server server_;
  Asker here_;
  std::vector<std::unique_ptr<RemoteSession>> windows_;
  std::vector<Asker> there_;
  bool opened_ = false;
  std::int64_t updates_ = 0;
};

}  // namespace

std::vector<Measurement> measure_watched(const std::string& run) {
  WatchedRun watched(run);
  std::vector<double> shares, alone;
  for (int round = 0; round < rounds; ++round) {
    alone.push_back(watched.updates_per_second());
    watched.attach();
    shares.push_back(watched.updates_per_second() / alone.back());
    watched.detach();
  }
  watched.attach();
  std::vector<double> here, there;
  for (int i = 0; i < questions; ++i) {
    here.push_back(watched.answer(false));
    there.push_back(watched.answer(true));
  }
  return {{"served, no viewers: training steps", median(alone), "/s"},
          {"  with two windows attached over loopback, relative speed", 100 * median(shares), "%"},
          {"  sentence to its attention while training, local", median(here), "ms"},
          {"  sentence to its attention while training, attached window", median(there), "ms"}};
}

}  // namespace attnscope
