// The worker thread and the two ends of its conversation with the window.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "plain/channel.h"
#include "session/conversation.h"
#include "session/engine.h"

namespace attnscope {

// A run and what holds it. The engine is the session's alone until that has ended.
struct HeldEngine {
  std::shared_ptr<Engine> engine;
  RunOpened opened;
};

// Who looks through the model besides the window, each with a question of its own. Numbers are the caller's.
using ViewerId = std::uint64_t;

struct ViewerQuestion {
  ViewerId viewer = 0;
  std::optional<Probe> probe;  // none: the guest has gone
};

struct ViewerAnswer {
  ViewerId viewer = 0;
  // What was seen, or why nothing was.
  std::variant<std::shared_ptr<const Snapshot>, Message> answer;
  bool of_other = false;  // of the run that the present one is compared with
};

class Session final : public Conversation {
 public:
  // `make_engine` runs on the worker thread, which alone touches the engine. `wake` is called on the worker thread,
  // with no lock held, whenever there is something new to poll (glfwPostEmptyEvent); it may be empty.
  explicit Session(std::function<std::unique_ptr<Engine>()> make_engine, std::function<void()> wake = {});

  // With runs that are there already: one, or two that are compared.
  explicit Session(std::vector<HeldEngine> runs, std::function<void()> wake = {});

  ~Session() override;  // ends

  void post(Command command) override;
  News poll() override;

  // Asks the worker to stop at its next breath, waits until it has saved what it was asked to save, and returns its
  // last words.
  News end() override;

  // Looks for guests take less of the worker's time than those for the window, whatever is asked: see worker.cpp. They
  // have turns; of each only the newest question is answered, and while the model learns answered anew.
  void ask(ViewerQuestion question);
  std::vector<ViewerAnswer> poll_viewer_requests();  // all since the last poll, oldest first

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
  std::jthread thread_;
};

}  // namespace attnscope
