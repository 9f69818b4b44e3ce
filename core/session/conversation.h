// What a window and whatever trains for it say to each other: a worker thread beside it (session.h), or a program
// elsewhere (remote/remote_session.h).
#pragma once

#include <memory>
#include <vector>

#include "plain/messages.h"
#include "plain/snapshot.h"

namespace attnscope {

class Conversation {
 public:
  struct News {
    std::vector<Event> events;                 // all since the last poll, oldest first
    std::shared_ptr<const Snapshot> snapshot;  // the newest; the same pointer as before when nothing is new
    std::shared_ptr<const Snapshot> other;     // likewise, of the run that it is compared with; null: there is none
  };

  Conversation() = default;
  virtual ~Conversation() = default;
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Never waits for the other side.
  virtual void post(Command command) = 0;
  // Likewise.
  virtual News poll() = 0;
  // Ends it, and returns the last words. Nothing may be posted afterwards.
  virtual News end() = 0;
};

}  // namespace attnscope
