// A window's conversation with a training elsewhere, to which it is attached.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "remote/address.h"
#include "session/conversation.h"

namespace attnscope {

// How it stands to the training elsewhere.
struct Attachment {
  enum class Line { connecting, there, lost, refused };

  std::string to = {};  // "HOST:PORT"
  Line line = Line::connecting;
  std::string why = {};  // lost, refused
  bool control = false;  // the window may train, pause and change what is live
};

// Connects by itself, again and again, and asks anew what it last asked; no metric is missed meanwhile, nor told twice.
// Files are of this machine: what the window wants listed, read and written is done here.
class RemoteSession final : public Conversation {
 public:
  // `wake` is called on a thread of its own, whenever there is something new to poll. Throws std::runtime_error where
  // the program was built without networking.
  RemoteSession(RemoteAddress server, std::string token, std::function<void()> wake = {});
  ~RemoteSession() override;

  void post(Command command) override;
  News poll() override;
  News end() override;

  // As it is now. The window is told of it in the device of its Status, in Progress while it connects first, and in a
  // Message where it may not watch.
  Attachment attachment() const;

 private:
  class Line;
  std::unique_ptr<Line> line_;
};

}  // namespace attnscope
