// The worker thread and the two ends of its conversation with the window.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "plain/channel.h"
#include "plain/messages.h"
#include "plain/snapshot.h"
#include "session/engine.h"

namespace attnscope {

class Session {
 public:
  // `make_engine` runs on the worker thread, which alone touches the engine. `wake` is called on the worker thread,
  // with no lock held, whenever there is something new to poll (glfwPostEmptyEvent); it may be empty.
  explicit Session(std::function<std::unique_ptr<Engine>()> make_engine, std::function<void()> wake = {});

  ~Session();  // ends

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Never waits for the worker.
  void post(Command command);

  struct News {
    std::vector<Event> events;                 // all since the last poll, oldest first
    std::shared_ptr<const Snapshot> snapshot;  // the newest; the same pointer as before when nothing is new
    std::shared_ptr<const Snapshot> other;     // likewise, of the run that it is compared with; null: there is none
  };
  // Never waits for the worker.
  News poll();

  // Asks the worker to stop at its next breath, waits until it has saved what it was asked to save, and returns its
  // last words. Nothing may be posted afterwards.
  News end();

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
  std::jthread thread_;
};

}  // namespace attnscope
