// A window's conversation with a remote training session.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "session/conversation.h"
#include "session/remote/address.h"

namespace attnscope {

// The state of the connection to the remote session.
struct Attachment {
  enum class Line { connecting, there, lost, refused };

  std::string to = {};  // "HOST:PORT"
  Line line = Line::connecting;
  std::string why = {};  // reason if lost or refused
  bool control = false;  // the window may train, pause and change live fields
};

// Reconnects automatically and repeats its last probe; no metric is lost or duplicated. Files are local: the window's
// directory listings, reads and writes are done here.
class RemoteSession final : public Conversation {
 public:
  // `wake` is called on a separate thread whenever there is something new to poll. Throws std::runtime_error if the
  // program was built without networking.
  RemoteSession(RemoteAddress server, std::string token, std::function<void()> wake = {});
  ~RemoteSession() override;

  void post(Command command) override;
  News poll() override;
  News end() override;

  // The present state. The window also gets it from the device of its Status, from Progress during the first
  // connection, and from a Message if access is refused.
  Attachment attachment() const;

 private:
  class Line;
  std::unique_ptr<Line> line_;
};

}  // namespace attnscope
