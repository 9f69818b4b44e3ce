// The conversation between a window and its trainer: a worker thread in this process (session.h), or another program
// (session/remote/remote_session.h).
#pragma once

#include <memory>
#include <vector>

#include "messages/messages.h"
#include "messages/snapshot.h"

namespace attnscope {

class Conversation {
 public:
  struct News {
    std::vector<Event> events;  // all since the last poll, oldest first
    // The newest snapshot of each run; the same pointer as before if there is no newer one.
    std::shared_ptr<const Snapshot> snapshot_a, snapshot_b = {};
  };

  Conversation() = default;
  virtual ~Conversation() = default;
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Does not block.
  virtual void post(Command command) = 0;
  // Does not block.
  virtual News poll() = 0;
  // Ends the conversation and returns the last news. Nothing may be posted afterwards.
  virtual News end() = 0;
};

}  // namespace attnscope
