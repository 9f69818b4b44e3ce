// Whole sessions with a server that sends anything: what a window shows of it, or how it ends the connection.
//
// The seed corpus is stated: all events, and the forward passes for every view, of a session with the shipped run. A
// message is damaged in its bytes, or one of its numbers is; what the reader and the check of its parts let through is
// shown in its view. ATTNSCOPE_SESSION_MESSAGES=1000000 is the long form, ATTNSCOPE_SESSION_SEED another order.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "commands/desktop/machine.h"
#include "commands/desktop/machine.h"
#include "session/remote/consistency.h"
#include "session/remote/wire.h"
#include "session/session.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "ui_harness.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

// One message of the session, and the view in which it arrived.
struct Recorded {
  std::string bytes;
  std::string view;
};

class SessionFuzz : public testing::Test {
 protected:
  SessionFuzz() { scope.facts = machine_facts(); }

  void show(const std::string& view) {
    scope.layout.workspace = show_view(scope.views, view);
    shown = view;
  }

  void take(Event event) { take(std::vector<Event>{std::move(event)}, scope.a.complete.snapshot); }
  void take(std::vector<Event> events, std::shared_ptr<const Snapshot> seen) {
    receive(scope, std::move(events), std::move(seen), nullptr);
  }

  void record(const ToClient& packet) { corpus.push_back({wire_bytes(packet), shown}); }

  // The session as it is, view by view.
  void record_session() {
    Session session([] { return make_window_engine(); });
    session.post(OpenRun{scope.facts.shipped_run});
    std::shared_ptr<const Snapshot> last;
    for (const std::string& view : view_names()) {
      show(view);
      int quiet = 0;
      // At first the computing module is loaded.
      for (const auto end = std::chrono::steady_clock::now() + (last ? 6s : 60s);
           quiet < 8 && std::chrono::steady_clock::now() < end;) {
        ui.frame(draw);
        post_commands(scope, session);
        Session::News news = session.poll();
        for (const Event& event : news.events) record(TransientEvent{event});
        if (news.snapshot_a && news.snapshot_a != last) record(ProbeReply{news.snapshot_a});
        const bool waits = scope.study.has_value() || !news.snapshot_a || !news.snapshot_a->is_whole();
        quiet = news.events.empty() && news.snapshot_a == last && !waits ? quiet + 1 : 0;
        last = news.snapshot_a;
        receive(scope, std::move(news.events), std::move(news.snapshot_a), std::move(news.snapshot_b));
        std::this_thread::sleep_for(5ms);
      }
    }
    session.end();
  }

  std::string damaged(std::string bytes) {
    const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    for (std::size_t changes = 1 + below(3); changes > 0 && !bytes.empty(); --changes) {
      const std::size_t at = below(4) == 0 ? below(bytes.size()) : below(std::min<std::size_t>(bytes.size(), 4096));
      if (below(3) == 0) {
        bytes[at] = static_cast<char>(random());
      } else {  // a small number becomes another one
        const auto value = static_cast<unsigned char>(bytes[at]);
        bytes[at] = static_cast<char>(value < 0x80 ? below(0x80) : value ^ 1U << below(8));
      }
    }
    return bytes;
  }

  // Handles a packet as a window does; false: the connection ends.
  bool hear(const Recorded& message) {
    try {
      ToClient packet = read_to_client(message.bytes);
      check_consistency(packet);
      if (auto* reply = std::get_if<ProbeReply>(&packet)) {
        take({}, reply->snapshot);
      } else if (auto* said = std::get_if<TransientEvent>(&packet)) {
        take(std::move(said->event));
      }
    } catch (const WireError&) {
      return false;
    }
    show(message.view);
    for (int frame = 0; frame < 2; ++frame) {
      const float x = static_cast<float>(random() % 1280), y = static_cast<float>(random() % 720);
      ui.move({x, y}, draw);
    }
    scope.commands.clear();
    return true;
  }

  UiHarness ui{{1280, 720}};
  AppState scope;
  std::function<void()> draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
  std::string shown;
  std::vector<Recorded> corpus;
  std::mt19937 random{static_cast<unsigned>(from_environment("ATTNSCOPE_SESSION_SEED", 5))};
};

TEST_F(SessionFuzz, AnythingIsShownOrEndsTheConnection) {
  record_session();
  ASSERT_GT(corpus.size(), 2 * view_names().size());
  for (const Recorded& message : corpus) ASSERT_TRUE(hear(message)) << message.view << ": an honest message is refused";
  const int wanted = from_environment("ATTNSCOPE_SESSION_MESSAGES", 500);
  int refused = 0;
  for (int i = 0; i < wanted; ++i) {
    const Recorded& honest = corpus[random() % corpus.size()];
    if (!hear({damaged(honest.bytes), honest.view})) {
      ++refused;
      continue;
    }
    hear(honest);  // a server that is honest again
  }
  EXPECT_GT(refused, wanted / 4);
  EXPECT_LT(refused, wanted);
}

}  // namespace
}  // namespace attnscope
