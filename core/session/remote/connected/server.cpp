#include "session/remote/server.h"
#include "common/mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include "session/remote/connected/packet_line.h"
#include "session/remote/consistency.h"
#include "session/remote/event_log.h"
#include "session/remote/packets.h"
#include "session/remote/permission.h"
#include "session/remote/wire.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto alive_interval = 5s;                        // maximum between two packets
constexpr auto greeting_patience = 5s;                     // until a client has sent its greeting
constexpr auto reading_patience = 30s;                     // until it has received the next bytes
constexpr auto farewell_patience = 2s;                     // until all have received the last packet
constexpr auto command_interval = 5ms;                     // minimum between two commands of one client
constexpr std::size_t most_connections = 2 * max_clients;  // including those that have not sent a greeting
constexpr std::size_t max_statements = 64;                 // messages queued for one client
constexpr std::size_t bytes_at_once = std::size_t{256} << 10;

// Compares in constant time, wherever the strings differ.
bool is_same_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char c = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(c ^ secret[i]);
  }
  return difference == 0;
}

std::uint64_t random_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

Tcp::endpoint endpoint_of(asio::io_context& io, const RemoteAddress& address) {
  asio::error_code error;
  const auto found = Tcp::resolver(io).resolve(address.host, std::to_string(address.port), error);
  if (error || found.empty())
    throw std::runtime_error(fmt::format("{}: no such address: {}", address_text(address), error.message()));
  return *found.begin();
}

asio::ip::tcp::acceptor listening(asio::io_context& io, const RemoteAddress& address) {
  try {
    return {io, endpoint_of(io, address)};
  } catch (const std::system_error& error) {
    throw std::runtime_error(fmt::format("{}: cannot listen there: {}", address_text(address), error.code().message()));
  }
}

// One connection, which counts as a client after its greeting.
struct Client {
  Client(asio::io_context& io, Tcp::socket socket_, ViewerId viewer_)
      : socket(std::move(socket_)), nudge(io), viewer(viewer_) {}

  // Cancels all pending reads and writes.
  void let_go() {
    asio::error_code ignored;
    socket.close(ignored);
    nudge.cancel();
  }

  void say(Event event) {
    if (said.size() == max_statements) said.pop_front();
    said.push_back(std::move(event));
  }

  Tcp::socket socket;
  asio::steady_timer nudge;  // canceled when there is something to write
  const ViewerId viewer;
  bool greeted = false;
  Clock::time_point waiting_since = Clock::now();  // for its greeting, or for it to take the next bytes
  bool writing = false;

  // ---- what it has not received yet
  std::uint64_t next = 0;  // index in the log
  bool status = true;
  std::deque<Event> said;
  PerRun<std::shared_ptr<const Snapshot>> inspections;  // the newest not yet sent

  std::optional<StartStudy> study;  // requested, waits for its turn
};
using ClientPointer = std::shared_ptr<Client>;

}  // namespace

bool is_loopback(const RemoteAddress& address) {
  asio::io_context io;
  return endpoint_of(io, address).address().is_loopback();
}

class Server::Desk {
 public:
  Desk(const ServerOptions& options, Session& session)
      : options_(options), session_(session), acceptor_(listening(io_, options.address)) {
    asio::co_spawn(io_, accept(), asio::detached);
    asio::co_spawn(io_, watch_over(), asio::detached);
    thread_ = std::jthread([this] { run(); });
  }

  ~Desk() {
    asio::post(io_, [this] { begin_farewell(); });
    thread_.join();
  }

  RemoteAddress address() const { return {options_.address.host, acceptor_.local_endpoint().port()}; }

  std::size_t clients() const { return greeted_; }

  void tell(std::vector<Event> events) {
    asio::post(io_, [this, events = std::move(events)] {
      for (const Event& event : events) hear(event);
      for (ViewerAnswer& answer : session_.poll_viewer_requests()) hand_over(std::move(answer));
      nudge_all();
    });
  }

 private:
  // A lack of memory for the clients does not end training.
  void run() {
    while (true) {
      try {
        io_.run();
        return;
      } catch (const std::exception&) {
        continue;
      }
    }
  }

  // ---- connecting and disconnecting clients

  asio::awaitable<void> accept() {
    for (ViewerId viewer = 1;; ++viewer) {
      asio::error_code error;
      Tcp::socket socket = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (!acceptor_.is_open()) co_return;
      if (error) {  // usually too many open files: retries a little later
        asio::steady_timer pause(io_, 100ms);
        co_await pause.async_wait(asio::use_awaitable);
        continue;
      }
      if (clients_.size() >= most_connections) let_go_of_a_stranger();
      if (clients_.size() < 2 * most_connections) {
        socket.set_option(Tcp::no_delay(true), error);
        const auto client = std::make_shared<Client>(io_, std::move(socket), viewer);
        clients_[viewer] = client;
        asio::co_spawn(io_, serve(client), asio::detached);
      }
    }
  }

  // Makes room: the connection that has waited longest without a greeting goes first, so that connections that say
  // nothing keep no window out.
  void let_go_of_a_stranger() {
    const auto idle = std::ranges::find_if(
        clients_, [](const auto& entry) { return !entry.second->greeted && entry.second->socket.is_open(); });
    if (idle != clients_.end()) idle->second->let_go();
  }

  // Disconnects clients that exceed a time limit.
  asio::awaitable<void> watch_over() {
    while (!leaving_) {
      asio::error_code ignored;
      watch_.expires_after(1s);
      co_await watch_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      for (const auto& [viewer, client] : clients_) {
        const auto waited = Clock::now() - client->waiting_since;
        if ((!client->greeted && waited > greeting_patience) || (client->writing && waited > reading_patience))
          client->let_go();
      }
    }
  }

  asio::awaitable<void> serve(ClientPointer client) {
    std::string refusal;
    try {
      co_await asio::async_write(client->socket, asio::buffer(preamble()), asio::use_awaitable);
      co_await read_preamble(client->socket);
      refusal = greet(*client, read_to_server(co_await read_packet(client->socket, largest_greeting)));
      if (refusal.empty()) {
        asio::co_spawn(io_, write(client), asio::detached);
        co_await heed_commands(client);
      }
    } catch (const std::exception&) {  // connection lost, or invalid data received
    }
    if (!refusal.empty()) co_await refuse(client, refusal);
    forget(*client);
  }

  // Returns why the client is refused; empty: accepted.
  std::string greet(Client& client, const ToServer& packet) {
    const auto* hello = std::get_if<Hello>(&packet);
    if (hello == nullptr) return "a window must introduce itself first";
    if (!options_.token.empty() && !is_same_secret(hello->token, options_.token))
      return hello->token.empty() ? "a token is required there" : "the token is wrong";
    const auto watch = std::ranges::count_if(clients_, [](const auto& entry) { return entry.second->greeted; });
    if (static_cast<std::size_t>(watch) >= max_clients) return fmt::format("{} windows are attached already", watch);
    client.greeted = true;
    ++greeted_;
    client.next = hello->session == session_number_ ? std::clamp(hello->next, log_.first(), log_.end()) : log_.first();
    return "";
  }

  static asio::awaitable<void> refuse(ClientPointer client, std::string why) {
    try {
      const std::string bytes = framed(wire_bytes(ToClient(Refused{std::move(why)})));
      co_await asio::async_write(client->socket, asio::buffer(bytes), asio::use_awaitable);
    } catch (const std::system_error&) {  // disconnected
    }
  }

  void forget(Client& client) {
    client.let_go();
    if (client.greeted) --greeted_;
    clients_.erase(client.viewer);
    session_.ask({client.viewer, std::nullopt});
    if (studied_for_ == client.viewer) session_.post(CancelStudy{});
    if (leaving_ && clients_.empty()) farewell_.cancel();
  }

  // Sends everything pending first.
  void begin_farewell() {
    leaving_ = true;
    acceptor_.close();
    watch_.cancel();
    for (const auto& [viewer, client] : clients_) {
      client->say(Message{Severity::info, mark("The remote training has ended")});
      if (!client->greeted) client->let_go();
    }
    nudge_all();
    farewell_.expires_after(farewell_patience);
    farewell_.async_wait([this](asio::error_code error) {
      if (!error) io_.stop();
    });
    if (clients_.empty()) farewell_.cancel();
  }

  // ---- requests

  asio::awaitable<void> heed_commands(ClientPointer client) {
    asio::steady_timer pause(io_);
    while (true) {
      ToServer packet = read_to_server(co_await read_packet(client->socket, largest_command));
      check_consistency(packet);
      auto* command = std::get_if<Command>(&packet);
      if (command == nullptr) co_return;
      heed(*client, std::move(*command));
      pause.expires_after(command_interval);
      co_await pause.async_wait(asio::use_awaitable);
    }
  }

  void heed(Client& client, Command command) {
    if (const auto why = refusal(command, options_.control)) {
      client.say(*why);
      if (const auto* study = std::get_if<StartStudy>(&command)) client.say(StudyEnded{study->study, nullptr});
      client.nudge.cancel();
    } else if (auto* probe = std::get_if<Probe>(&command)) {
      session_.ask({client.viewer, std::move(*probe)});
    } else if (auto* study = std::get_if<StartStudy>(&command)) {
      ask_for_study(client, std::move(*study));
    } else if (std::holds_alternative<CancelStudy>(command)) {
      ask_for_study(client, std::nullopt);
    } else {
      session_.post(std::move(command));
    }
  }

  // ---- studies: one at a time, in turn

  void ask_for_study(Client& client, std::optional<StartStudy> asked) {
    if (client.study) client.say(StudyEnded{client.study->study, nullptr});
    client.study = std::move(asked);
    if (studied_for_ == client.viewer) session_.post(CancelStudy{});
    client.nudge.cancel();
    begin_next_study();
  }

  void begin_next_study() {
    if (studied_for_ || windows_study_) return;
    const auto wants = [](const auto& entry) { return entry.second->study.has_value(); };
    auto found = std::find_if(clients_.upper_bound(last_studied_for_), clients_.end(), wants);
    if (found == clients_.end()) found = std::ranges::find_if(clients_, wants);
    if (found == clients_.end()) return;
    StartStudy asked = *std::exchange(found->second->study, std::nullopt);
    studied_for_ = last_studied_for_ = found->first;
    client_count_ = std::exchange(asked.study, ++studies_);
    asked.gives_way = !options_.control;
    session_.post(std::move(asked));
  }

  void tell_of_study(Event event) {
    const auto client = clients_.find(*studied_for_);
    if (client != clients_.end()) client->second->say(std::move(event));
  }

  // ---- events of the session

  void hear(const Event& event) {
    if (log_.record(event)) return;
    const auto say_to_all = [this](const Event& said) {
      for (const auto& [viewer, client] : clients_)
        if (client->greeted) client->say(said);
    };
    if (const auto* status = std::get_if<Status>(&event)) {
      statuses_[RunSide::a] = *status;
      each_owes_status();
    } else if (const auto* of_b = std::get_if<OfRunB>(&event)) {
      statuses_[RunSide::b] = std::get<Status>(of_b->what);
      each_owes_status();
    } else if (const auto* progress = std::get_if<StudyProgress>(&event)) {
      if (is_ours(progress->study)) {
        tell_of_study(StudyProgress{client_count_, progress->fraction});
      } else {
        windows_study_ = true;
      }
    } else if (const auto* ended = std::get_if<StudyEnded>(&event)) {
      if (is_ours(ended->study)) {
        tell_of_study(StudyEnded{client_count_, ended->result});
        studied_for_.reset();
      } else {
        windows_study_ = false;
      }
      begin_next_study();
    } else if (std::holds_alternative<Message>(event) || std::holds_alternative<Progress>(event)) {
      say_to_all(event);
    }
  }

  bool is_ours(std::uint64_t study) const { return studied_for_ && study == studies_; }

  void each_owes_status() {
    for (const auto& [viewer, client] : clients_) client->status = true;
  }

  void hand_over(ViewerAnswer answer) {
    const auto found = clients_.find(answer.viewer);
    if (found == clients_.end()) return;
    if (auto* message = std::get_if<Message>(&answer.answer)) {
      found->second->say(std::move(*message));
    } else {
      found->second->inspections[answer.side] = std::get<0>(std::move(answer.answer));
    }
  }

  void nudge_all() {
    for (const auto& [viewer, client] : clients_) client->nudge.cancel();
  }

  // ---- replies

  asio::awaitable<void> write(ClientPointer client) {
    try {
      co_await write_bytes(*client, framed(wire_bytes(ToClient(Welcome{session_number_, options_.control}))));
      while (client->socket.is_open()) {
        std::string bytes = news_for(*client);
        if (bytes.empty()) {
          if (leaving_) break;
          asio::error_code nudged;
          client->nudge.expires_after(alive_interval);
          co_await client->nudge.async_wait(asio::redirect_error(asio::use_awaitable, nudged));
          if (nudged) continue;
          bytes = framed(wire_bytes(ToClient(Alive{})));
        }
        co_await write_bytes(*client, bytes);
      }
    } catch (const std::exception&) {  // connection lost
    }
    client->let_go();  // the reading coroutine ends too
  }

  static asio::awaitable<void> write_bytes(Client& client, std::string bytes) {
    client.writing = true;
    client.waiting_since = Clock::now();
    const auto all_of_it = [&client](const asio::error_code& error, std::size_t) -> std::size_t {
      client.waiting_since = Clock::now();
      return error ? 0 : bytes_at_once;
    };
    co_await asio::async_write(client.socket, asio::buffer(bytes), all_of_it, asio::use_awaitable);
    client.writing = false;
  }

  // Returns pending packets, several at once, with only the newest snapshots. Empty: nothing new.
  std::string news_for(Client& client) {
    std::string bytes;
    client.next = std::max(client.next, log_.first());
    while (client.next < log_.end() && bytes.size() < bytes_at_once) {
      const std::string packet = log_.packet(client.next++);
      if (!packet.empty() && packet.size() <= largest_news) bytes += framed(packet);
    }
    if (client.next < log_.end()) return bytes;
    if (std::exchange(client.status, false)) {
      for (const RunSide side : both_sides)
        if (const auto& status = statuses_[side])
          bytes += framed(wire_bytes(ToClient(TransientEvent{event_of(side, *status)})));
    }
    for (; !client.said.empty() && bytes.size() < bytes_at_once; client.said.pop_front())
      bytes += checked(TransientEvent{std::move(client.said.front())});
    for (const RunSide side : both_sides) {
      auto& inspection = client.inspections[side];
      if (inspection) bytes += checked(ProbeReply{std::exchange(inspection, nullptr), side});
    }
    return bytes;
  }

  static std::string checked(ToClient packet) {
    const std::string bytes = wire_bytes(packet);
    if (bytes.size() <= largest_news) return framed(bytes);
    return framed(wire_bytes(ToClient(TransientEvent{Message{
        Severity::warning, fmt::format(mark("The requested result has {} MB, more than can be sent: it was left out"),
                                       bytes.size() >> 20)}})));
  }

  asio::io_context io_;  // first member: objects that use it are destroyed before it
  const ServerOptions options_;
  Session& session_;
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer watch_{io_};
  asio::steady_timer farewell_{io_};
  bool leaving_ = false;
  std::map<ViewerId, ClientPointer> clients_;  // including those that have not sent a greeting
  std::atomic<std::size_t> greeted_ = 0;       // number of clients after their greeting

  const std::uint64_t session_number_ = random_number();
  EventLog log_;
  PerRun<std::optional<Status>> statuses_ = {{Status{}, std::nullopt}};

  std::uint64_t studies_ = std::uint64_t{1} << 48;  // number of the last one, in a range apart from those of a window
  std::uint64_t client_count_ = 0;                  // the client's own number for it
  std::optional<ViewerId> studied_for_;             // the client of the running study; none: no study is running
  bool windows_study_ = false;  // the local window's study is running; the clients' studies wait for it
  ViewerId last_studied_for_ = 0;

  std::jthread thread_;
};

Server::Server(const ServerOptions& options, Session& session) : desk_(std::make_unique<Desk>(options, session)) {}

Server::~Server() = default;

RemoteAddress Server::address() const {
  return desk_->address();
}

std::size_t Server::clients() const {
  return desk_->clients();
}

void Server::tell(std::vector<Event> events) {
  desk_->tell(std::move(events));
}

}  // namespace attnscope
