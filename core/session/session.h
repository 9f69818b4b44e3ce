// The worker thread and the two ends of its conversation with the window.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "common/channel.h"
#include "messages/engine.h"
#include "session/conversation.h"

namespace attnscope {

// A run and its engine. Only the session uses the engine until the session has ended.
struct HeldEngine {
  std::shared_ptr<Engine> engine;
  RunOpened opened;
};

// Clients other than the window that send probes of their own. The caller chooses the numbers.
using ViewerId = std::uint64_t;

struct ViewerQuestion {
  ViewerId viewer = 0;
  std::optional<Probe> probe;  // none: the viewer has left
};

struct ViewerAnswer {
  ViewerId viewer = 0;
  // The snapshot, or why there is none.
  std::variant<std::shared_ptr<const Snapshot>, Message> answer;
  RunSide side = RunSide::a;
};

class Session final : public Conversation {
 public:
  // `make_engine` runs on the worker thread, the only user of the engine. `wake` is called on the worker thread,
  // without locks, whenever there is something new to poll (glfwPostEmptyEvent); it may be empty.
  explicit Session(std::function<std::unique_ptr<Engine>()> make_engine, std::function<void()> wake = {});

  // Starts with existing runs: one, or two that are compared.
  explicit Session(std::vector<HeldEngine> runs, std::function<void()> wake = {});

  ~Session() override;  // calls end()

  void post(Command command) override;
  News poll() override;

  // Asks the worker to stop at its next yield, waits until it has saved everything requested, and returns its last
  // news.
  News end() override;

  // Probes for viewers get less of the worker's time than those of the window: see worker.cpp. Viewers are served in
  // turn; only the newest question of each is answered, and repeatedly while the model trains.
  void ask(ViewerQuestion question);
  std::vector<ViewerAnswer> poll_viewer_requests();  // all since the last poll, oldest first

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
  std::jthread thread_;
};

}  // namespace attnscope
