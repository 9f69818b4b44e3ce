#include "session/remote/remote_session.h"
#include "common/mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "common/channel.h"
#include "common/error.h"
#include "session/directory.h"
#include "session/file_writing.h"
#include "session/remote/connected/packet_line.h"
#include "session/remote/consistency.h"
#include "session/remote/packets.h"
#include "session/remote/wire.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;

constexpr auto connecting_patience = 10s;  // until the server's Welcome
constexpr auto silence_patience = 15s;     // a server sends keep-alives more often
constexpr auto first_retry = 500ms;        // each pause between two attempts doubles …
constexpr auto last_retry = 8s;            // … up to this

// The server refuses this window: retrying would not help.
class NotWelcome : public Error {
 public:
  using Error::Error;
};

std::string reason_of(const std::error_code& error) {
  if (error == asio::error::operation_aborted) return "no answer";
  if (error == asio::error::eof) return "the other side closed the connection";
  return error.message();
}

template <class... Functions>
struct ByKind : Functions... {
  using Functions::operator()...;
};

}  // namespace

class RemoteSession::Line {
 public:
  Line(RemoteAddress server, std::string token, std::function<void()> wake)
      : server_(std::move(server)), token_(std::move(token)), wake_(std::move(wake)) {
    show({});
    say(connecting(-1));
    asio::co_spawn(io_, keep_connected(), asio::detached);
    thread_ = std::jthread([this] { io_.run(); });
  }

  ~Line() { end(); }

  void post(Command command) {
    asio::post(io_, [this, command = std::move(command)]() mutable { heed(std::move(command)); });
  }

  News poll() { return {events_.take(), snapshots_[RunSide::a].get(), snapshots_[RunSide::b].get()}; }

  Attachment attachment() const { return *attachment_.get(); }

  // Finishes pending file writes first.
  void end() {
    asio::post(io_, [this] { io_.stop(); });
    if (thread_.joinable()) thread_.join();
  }

 private:
  // ---- the connection

  asio::awaitable<void> keep_connected() {
    auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(first_retry);
    while (true) {
      std::string why;
      try {
        co_await watch();
      } catch (const NotWelcome& refused) {
        show({.line = Attachment::Line::refused, .why = refused.what()});
        const std::string text =
            fmt::format(mark("{} did not accept this window: {}"), address_text(server_), refused.what());
        say(Message{Severity::error, text});
        show_status();
        co_return;
      } catch (const std::system_error& error) {
        why = reason_of(error.code());
      } catch (const std::exception& error) {  // invalid data from the server
        why = error.what();
      }
      if (attachment_.get()->line == Attachment::Line::there) {
        pause = first_retry;
        say(Message{Severity::warning, fmt::format(mark("The connection to {} was lost: {}. It is tried again; what is "
                                                        "shown is from before"),
                                                   address_text(server_), why)});
      }
      close();
      show({.line = Attachment::Line::lost, .why = why});
      if (session_ == 0) {
        say(Progress{fmt::format(mark("No connection to {} yet: {}. Is “attnscope train --serve” running there? Trying "
                                      "again"),
                                 address_text(server_), why),
                     -1});
      }
      show_status();
      asio::steady_timer retry(io_, pause);
      co_await retry.async_wait(asio::use_awaitable);
      pause = std::min<std::chrono::milliseconds>(2 * pause, last_retry);
    }
  }

  // Runs until the connection is lost.
  asio::awaitable<void> watch() {
    expect_within(connecting_patience);
    const auto found =
        co_await Tcp::resolver(io_).async_resolve(server_.host, std::to_string(server_.port), asio::use_awaitable);
    co_await asio::async_connect(socket_, found, asio::use_awaitable);
    socket_.set_option(Tcp::no_delay(true));
    const std::string greeting = preamble() + framed(wire_bytes(ToServer(Hello{token_, session_, next_})));
    co_await asio::async_write(socket_, asio::buffer(greeting), asio::use_awaitable);
    co_await read_preamble(socket_);
    while (true) {
      ToClient packet = read_to_client(co_await read_packet(socket_, largest_news));
      check_consistency(packet);
      hear(std::move(packet));
      expect_within(silence_patience);
    }
  }

  // Closes the connection unless something arrives in time.
  void expect_within(std::chrono::steady_clock::duration patience) {
    silence_.expires_after(patience);
    silence_.async_wait([this](asio::error_code error) {
      asio::error_code ignored;
      if (!error) socket_.close(ignored);
    });
  }

  void close() {
    asio::error_code ignored;
    silence_.cancel();
    socket_.close(ignored);
    socket_ = Tcp::socket(io_);
    unsent_.clear();
    if (study_) say(StudyEnded{*std::exchange(study_, std::nullopt), nullptr});
  }

  Progress connecting(double fraction) const {
    return {fmt::format(mark("Connecting to {}"), address_text(server_)), fraction};
  }

  // ---- incoming packets

  void hear(ToClient packet) {
    std::visit(ByKind{
                   [this](const Welcome& welcome) { begin(welcome); },
                   [](const Refused& refused) { throw NotWelcome(refused.why); },
                   [this](LoggedEvent& told) {
                     next_ = told.number + 1;
                     hear(std::move(told.event));
                   },
                   [this](TransientEvent& said) { hear(std::move(said.event)); },
                   [this](ProbeReply& inspected) {
                     snapshots_[inspected.side].put(std::move(inspected.snapshot));
                     wake();
                   },
                   [](const Alive&) {},
               },
               packet);
  }

  // Repeats the last probe: a new connection has no state.
  void begin(const Welcome& welcome) {
    session_ = welcome.session;
    show({.line = Attachment::Line::there, .control = welcome.control});
    say(connecting(1));
    if (probe_) send(*probe_);
  }

  void hear(Event event) {
    if (const auto* ended = std::get_if<ComparisonEnded>(&event)) {
      if (ended->stays == RunSide::b) snapshots_[RunSide::a].put(snapshots_[RunSide::b].get());
      snapshots_[RunSide::b].put(nullptr);
    }
    if (const auto* ended = std::get_if<StudyEnded>(&event); ended && ended->study == study_) study_.reset();
    if (const auto* point = std::get_if<MetricPoint>(&event)) status_.step = point->step;
    if (const auto* status = std::get_if<Status>(&event)) {
      status_ = *status;
      return show_status();
    }
    say(std::move(event));
  }

  // Shows the address and the remote device in the window's status line.
  void show_status() {
    const Attachment now = attachment();
    Status shown = status_;
    if (now.line == Attachment::Line::there) {
      shown.device = fmt::format("{} at {}", status_.device, now.to);
    } else {
      const bool lost = now.line == Attachment::Line::lost;
      shown.activity = Activity::idle;
      shown.device = fmt::format("{}: {}{}", now.to, now.why, lost ? ", reconnecting…" : "");
    }
    say(std::move(shown));
  }

  void say(Event event) {
    events_.push(std::move(event));
    wake();
  }

  void show(Attachment attachment) {
    attachment.to = address_text(server_);
    attachment_.put(std::make_shared<const Attachment>(std::move(attachment)));
  }

  void wake() {
    if (wake_) wake_();
  }

  // ---- outgoing commands

  void heed(Command command) {
    std::visit(ByKind{
                   [this](ListDirectory& list) { say(list_directory(list.path)); },
                   [this](WriteFile& file) { say(write_wanted(file)); },
                   [this](ReadFile& file) { say(read_wanted(file)); },
                   [this](KeepRun&) { say(RunAutosaved{}); },  // the run is saved where it trains
                   [this](ListAutosaves&) { say(AutosaveList{}); },
                   [this](Probe& probe) {
                     probe_ = probe;
                     send(std::move(probe));
                   },
                   [this](StartStudy& study) { begin_study(std::move(study)); },
                   [this](auto& sent) { send(std::move(sent)); },
               },
               command);
  }

  void begin_study(StartStudy study) {
    if (!is_there()) return say(StudyEnded{study.study, nullptr});
    study_ = study.study;
    send(std::move(study));
  }

  bool is_there() const { return attachment_.get()->line == Attachment::Line::there; }

  // Drops the command while disconnected: executing it later would be a surprise.
  void send(Command command) {
    if (!is_there()) return;
    unsent_.push_back(framed(wire_bytes(ToServer(std::move(command)))));
    if (unsent_.size() == 1) write_next();
  }

  void write_next() {
    asio::async_write(socket_, asio::buffer(unsent_.front()), [this](asio::error_code error, std::size_t) {
      if (error || unsent_.empty()) return;  // the reader is notified
      unsent_.pop_front();
      if (!unsent_.empty()) write_next();
    });
  }

  asio::io_context io_;  // first member: objects that use it are destroyed before it
  const RemoteAddress server_;
  const std::string token_;
  const std::function<void()> wake_;
  Tcp::socket socket_{io_};
  asio::steady_timer silence_{io_};
  std::deque<std::string> unsent_;  // the first one is being written

  Status status_;                       // as received, with the step of the newest point
  std::uint64_t session_ = 0;           // named by the server; 0: none yet
  std::uint64_t next_ = 0;              // the first event not received
  std::optional<Probe> probe_;          // the last one posted
  std::optional<std::uint64_t> study_;  // in progress

  // The channels to the window's thread.
  Queue<Event> events_;
  PerRun<Mailbox<Snapshot>> snapshots_;
  Mailbox<Attachment> attachment_;

  std::jthread thread_;
};

RemoteSession::RemoteSession(RemoteAddress server, std::string token, std::function<void()> wake)
    : line_(std::make_unique<Line>(std::move(server), std::move(token), std::move(wake))) {}

RemoteSession::~RemoteSession() = default;

void RemoteSession::post(Command command) {
  line_->post(std::move(command));
}

Conversation::News RemoteSession::poll() {
  return line_->poll();
}

Conversation::News RemoteSession::end() {
  line_->end();
  return line_->poll();
}

Attachment RemoteSession::attachment() const {
  return line_->attachment();
}

}  // namespace attnscope
