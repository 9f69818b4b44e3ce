#include "training/distributed/ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <torch/types.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include "common/descriptor.h"
#include "common/split.h"

#ifdef ATTNSCOPE_HAS_GLOO
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif

namespace attnscope {

#ifdef ATTNSCOPE_HAS_GLOO

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Time for all ranks to load their training data.
constexpr std::chrono::minutes longest_preparation{10};
// Time for a healthy rank to notice that another is lost, and to answer.
constexpr std::chrono::seconds longest_roll_call{5};
constexpr milliseconds inspection_interval{50};
// Time for rank 0's machine to answer a first question.
constexpr std::chrono::seconds longest_handshake{8};
constexpr milliseconds mismatch_interval{500};
constexpr const char* settings_key = "settings/0";
constexpr const char* mismatch_key = "mismatch";

// LibTorch's errors have several lines, with a backtrace.
std::string first_line(const std::exception& error) {
  const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = of_torch != nullptr ? of_torch->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

std::string ranks_text(const std::vector<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Throws RanksError if the host is unknown.
Addresses addresses_of(const std::string& host, int port, int socket_type) {
  addrinfo hints{};
  hints.ai_socktype = socket_type;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0)
    throw RanksError(fmt::format("MASTER_ADDR={} in the environment: {}", host, ::gai_strerror(error)));
  return {found, &::freeaddrinfo};
}

// This machine's address on the route to `host`: the address of its own host name may not be reachable from elsewhere.
// Empty if there is no route. Throws RanksError if the host is unknown.
std::string address_towards(const std::string& host) {
  const Addresses addresses = addresses_of(host, 9, SOCK_DGRAM);
  const Descriptor socket(::socket(addresses->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  char name[NI_MAXHOST] = "";
  // Connecting a datagram socket sends nothing.
  if (::connect(socket.get(), addresses->ai_addr, addresses->ai_addrlen) == 0 &&
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &length) == 0) {
    ::getnameinfo(reinterpret_cast<sockaddr*>(&own), length, name, sizeof name, nullptr, 0, NI_NUMERICHOST);
  }
  return name;
}

// True if something listens at the port of rank 0's machine; it need not be rank 0. Throws RanksError if the host is
// unknown.
bool accepts_connections(const RankPlace& place) {
  const Addresses addresses = addresses_of(place.host, place.port, SOCK_STREAM);
  constexpr timeval longest{2, 0};
  for (const addrinfo* it = addresses.get(); it != nullptr; it = it->ai_next) {
    const Descriptor socket(::socket(it->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
    if (::connect(socket.get(), it->ai_addr, it->ai_addrlen) == 0) return true;
  }
  return false;
}

// This process's connections to that port: a store gives no access to its own.
std::vector<int> connections_to(int port) {
  std::vector<int> connections;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    sockaddr_in peer{};  // an IPv6 address has its port at the same offset
    socklen_t length = sizeof peer;
    if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) != 0) continue;
    if ((peer.sin_family == AF_INET || peer.sin_family == AF_INET6) && ntohs(peer.sin_port) == port)
      connections.push_back(descriptor);
  }
  return connections;
}

// A store's calls wait forever for a hanging process or a broken connection. This sets a timeout on connections to that
// port.
void limit_waits(int port, std::chrono::seconds longest) {
  const timeval limit{longest.count(), 0};
  for (const int connection : connections_to(port))
    for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
      ::setsockopt(connection, SOL_SOCKET, direction, &limit, sizeof limit);
}

// While it lives, connections to the port that have got no answer in time are shut down: a service that is not a store
// may never give one.
class AnswerWatch {
 public:
  explicit AnswerWatch(int port)
      : thread_([port](const std::stop_token& stop) {
          std::optional<Clock::time_point> connected;
          while (!stop.stop_requested()) {
            const std::vector<int> connections = port == 0 ? std::vector<int>() : connections_to(port);
            if (!connections.empty() && !connected) connected = Clock::now();
            if (connected && Clock::now() - *connected > longest_handshake)
              for (const int connection : connections) ::shutdown(connection, SHUT_RDWR);
            std::this_thread::sleep_for(inspection_interval);
          }
        }) {}

 private:
  std::jthread thread_;
};

std::vector<std::uint8_t> bytes_of_text(const std::string& text) {
  return {text.begin(), text.end()};
}

// "training.steps=100 on rank 0, training.steps=200 on rank 1": the first line that differs; empty: none.
std::string difference(const std::string& first, const std::string& own, int rank) {
  const std::vector<std::string_view> a = split(first, "\n"), b = split(own, "\n");
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string_view one = i < a.size() ? a[i] : "nothing", other = i < b.size() ? b[i] : "nothing";
    if (one != other) return fmt::format("rank 0 has {}, rank {} has {}", one, rank, other);
  }
  return {};
}

// Later releases use libuv for a store by default, and Debian builds them without it.
template <typename Options>
void do_without_libuv(Options& options) {
  if constexpr (requires { options.useLibUV; }) options.useLibUV = false;
}

c10::intrusive_ptr<c10d::Store> store_of(const RankPlace& place) {
  if (!place.file.empty()) return c10::make_intrusive<c10d::FileStore>(place.file, place.size);
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.port);
  options.isServer = place.rank == 0 && !place.agent_listens;
  options.waitWorkers = false;
  options.timeout = longest_handshake;  // later releases repeat a failed handshake until then
  do_without_libuv(options);
  auto store = c10::make_intrusive<c10d::TCPStore>(place.host, options);
  store->setTimeout(longest_preparation);
  return c10::make_intrusive<c10d::PrefixStore>("attnscope" + place.attempt, store);
}

// While it lives, SIGPIPE is blocked in this thread and in threads started by it: Gloo writes without MSG_NOSIGNAL, and
// a broken connection there is unrelated to the readers of this program's output.
class WithoutBrokenPipes {
 public:
  WithoutBrokenPipes() {
    sigemptyset(&broken_pipe_);
    sigaddset(&broken_pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~WithoutBrokenPipes() {
    constexpr timespec at_once{};
    ::sigtimedwait(&broken_pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutBrokenPipes(const WithoutBrokenPipes&) = delete;
  WithoutBrokenPipes& operator=(const WithoutBrokenPipes&) = delete;

 private:
  sigset_t broken_pipe_{};
  sigset_t before_{};
};

auto device_of(const RankPlace& place, const std::string& address) {
  if (!place.interface.empty()) return c10d::ProcessGroupGloo::createDeviceForInterface(place.interface);
  return address.empty() ? c10d::ProcessGroupGloo::createDefaultDevice()
                         : c10d::ProcessGroupGloo::createDeviceForHostname(address);
}

}  // namespace

struct Ranks::Group {
  std::string address;  // of this machine
  c10::intrusive_ptr<c10d::Store> store;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;  // null before meeting, and after a rank was lost
};

void check_ranks_supported() {}

Ranks::Ranks(const RankPlace& place, YieldCallback yield, milliseconds longest_wait, const std::string& settings)
    : place_(place),
      yield_(std::move(yield)),
      longest_wait_(longest_wait),
      settings_(fmt::format("WORLD_SIZE={}\n{}", place.size, settings)),
      group_(std::make_unique<Group>()) {
  group_->address = place.file.empty() ? address_towards(place.host) : "127.0.0.1";
  await_listener();
  try {
    const AnswerWatch watch(place_.file.empty() ? place_.port : 0);
    group_->store = store_of(place_);
    if (is_first()) group_->store->set(settings_key, bytes_of_text(settings_));
    group_->store->check({settings_key});
  } catch (const std::exception& error) {
    throw RanksError(
        fmt::format("rank {} cannot connect to the others at {}: {}{}", place.rank,
                    place.file.empty() ? fmt::format("{}:{}", place.host, place.port) : place.file, first_line(error),
                    place.file.empty() ? ". Another service may be using that port: choose another MASTER_PORT" : ""));
  }
}

Ranks::~Ranks() = default;

void Ranks::await_listener() const {
  if (!place_.file.empty() || (is_first() && !place_.agent_listens)) return;
  const Clock::time_point end = Clock::now() + longest_preparation;
  while (!accepts_connections(place_)) {
    if (Clock::now() >= end) {
      throw RanksError(
          fmt::format("rank {}: nothing listens at {}:{}. Start rank 0, with the same MASTER_ADDR and MASTER_PORT",
                      rank(), place_.host, place_.port));
    }
    if (yield_) yield_();
    std::this_thread::sleep_for(inspection_interval);
  }
}

std::vector<int> Ranks::absent_from(const std::string& call, milliseconds patience) {
  const auto answer_of = [&](int rank) { return fmt::format("{}/{}", call, rank); };
  std::vector<int> absent(static_cast<std::size_t>(size()));
  std::iota(absent.begin(), absent.end(), 0);
  const Clock::time_point end = Clock::now() + patience;
  try {
    group_->store->set(answer_of(rank()), std::vector<std::uint8_t>{1});
    while (true) {
      std::erase_if(absent, [&](int other) { return group_->store->check({answer_of(other)}); });
      if (absent.empty() || Clock::now() >= end) return absent;
      check_mismatch();
      if (yield_) yield_();
      std::this_thread::sleep_for(inspection_interval);
    }
  } catch (const Cancelled&) {
    throw;
  } catch (const RanksError&) {
    throw;
  } catch (const std::exception&) {
    return {0};  // the process that hosts the store
  }
}

void Ranks::check_mismatch() {
  if (Clock::now() - asked_for_mismatch_ < mismatch_interval) return;
  asked_for_mismatch_ = Clock::now();
  if (!group_->store->check({mismatch_key})) return;
  const std::vector<std::uint8_t> text = group_->store->get(mismatch_key);
  throw RanksError(std::string(text.begin(), text.end()));
}

void Ranks::compare_with_first() {
  const std::vector<std::uint8_t> first = group_->store->get(settings_key);
  const std::string what = difference(std::string(first.begin(), first.end()), settings_, rank());
  if (what.empty()) return;
  const std::string text = fmt::format("the ranks do not train the same run: {}", what);
  group_->store->set(mismatch_key, bytes_of_text(text));
  throw RanksError(text);
}

void Ranks::await_first() {
  const auto wait_for = [this](const char* key) {
    while (!group_->store->check({key})) {
      check_mismatch();
      if (yield_) yield_();
      std::this_thread::sleep_for(inspection_interval);
    }
  };
  try {
    wait_for(settings_key);
    compare_with_first();
    wait_for("prepared/0");
  } catch (const Cancelled&) {
    throw;
  } catch (const RanksError&) {
    throw;
  } catch (const std::exception& error) {
    throw LostRank(fmt::format("rank 0 ended before training began: {}", first_line(error)));
  }
}

void Ranks::meet() {
  const std::vector<int> absent = absent_from("prepared", longest_preparation);
  if (!absent.empty()) {
    throw LostRank(
        fmt::format("{} did not connect within {} minutes", ranks_text(absent), longest_preparation.count()));
  }
  const WithoutBrokenPipes of_gloo;
  try {
    const auto options = c10d::ProcessGroupGloo::Options::create(longest_wait_);
    options->devices.push_back(device_of(place_, group_->address));
    group_->gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(group_->store, rank(), size(), options);
  } catch (const std::exception& error) {
    throw LostRank(fmt::format("cannot reach the other ranks: {}", first_line(error)));
  }
}

void Ranks::lose(const std::string& why) {
  if (!is_lost_) {
    loss_ = why;
    is_lost_ = true;
  }
  throw LostRank(why);
}

template <typename Values>
void Ranks::sum_of_all(Values values) {
  if (!group_->gloo) lose("another rank was lost");
  try {
    std::vector<at::Tensor> tensors{torch::from_blob(values.data(), static_cast<std::int64_t>(values.size()),
                                                     c10::CppTypeToScalarType<typename Values::element_type>::value)};
    group_->gloo->allreduce(tensors)->wait();
    return;
  } catch (const std::exception& error) {
    // This closes the other ranks' connections too, so each of them answers the roll call.
    group_->gloo.reset();
    limit_waits(place_.port, longest_roll_call);
    std::vector<int> absent = absent_from("there", std::min<milliseconds>(longest_wait_, longest_roll_call));
    // Rank 0 may be busy with work that only it does; it repeats the roll call when it returns.
    if (absent.size() > 1 && absent.front() == 0) absent.erase(absent.begin());
    lose(fmt::format("lost {}, which ended, hangs or cannot be reached: {}",
                     absent.empty() ? "a rank" : ranks_text(absent), first_line(error)));
  }
}

Ranks::Ballot Ranks::ballot() const {
  const Ending asked = asked_;
  return {asked == Ending::enough ? 1.0 : 0.0, asked == Ending::interrupted ? 1.0 : 0.0};
}

void Ranks::count(std::span<const double> ballot) {
  if (agreed_ == Ending::none && ballot[0] > 0) agreed_ = Ending::enough;
  if (ballot[1] > 0) agreed_ = Ending::interrupted;
}

void Ranks::sum(std::span<double> values) {
  std::vector<double> with_ballot(values.begin(), values.end());
  std::ranges::copy(ballot(), std::back_inserter(with_ballot));
  sum_of_all(std::span(with_ballot));
  std::copy_n(with_ballot.begin(), values.size(), values.begin());
  count(std::span(with_ballot).subspan(values.size()));
}

void Ranks::sum(std::span<float> values) {
  sum_of_all(values);
}

#else

struct Ranks::Group {};

void check_ranks_supported() {
  throw RanksError(
      "this build cannot train on several ranks: it has no Gloo (libgloo-dev), or its LibTorch has no c10d");
}

Ranks::Ranks(const RankPlace&, YieldCallback, std::chrono::milliseconds, const std::string&) : longest_wait_(0) {
  check_ranks_supported();
}
Ranks::~Ranks() = default;
void Ranks::await_first() {}
void Ranks::check_mismatch() {}
void Ranks::meet() {}
void Ranks::sum(std::span<double>) {}
void Ranks::sum(std::span<float>) {}

#endif

}  // namespace attnscope
