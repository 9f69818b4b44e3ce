#include "training/distributed/launch.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/programs.h"
#include "training/distributed/ranks.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* launcher_variable = "ATTNSCOPE_LAUNCHER";
constexpr int interrupted_status = 130;
// For rank 0, when another rank is lost.
constexpr std::chrono::seconds time_to_save{30};

class MeetingFile {
 public:
  MeetingFile() {
    const int file = ::mkstemp(path_.data());
    if (file < 0) throw RanksError(fmt::format("cannot create {}: {}", path_, std::strerror(errno)));
    ::close(file);
  }
  ~MeetingFile() { ::unlink(path_.c_str()); }
  MeetingFile(const MeetingFile&) = delete;
  MeetingFile& operator=(const MeetingFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "attnscope-ranks-XXXXXX").string();
};

// Receives signals synchronously instead of by handlers.
class AwaitedSignals {
 public:
  AwaitedSignals() {
    std::signal(SIGCHLD, SIG_DFL);  // if ignored, there would be no status to wait for
    sigemptyset(&awaited_);
    sigaddset(&awaited_, SIGCHLD);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction present {};
      sigaction(signal, nullptr, &present);
      if (present.sa_handler != SIG_IGN) sigaddset(&awaited_, signal);  // stays ignored under nohup
    }
    sigprocmask(SIG_BLOCK, &awaited_, &before_);
  }
  ~AwaitedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  AwaitedSignals(const AwaitedSignals&) = delete;
  AwaitedSignals& operator=(const AwaitedSignals&) = delete;

  // The next signal; empty after half a second.
  std::optional<int> next() const {
    const timespec half_a_second{0, 500'000'000};
    const int signal = sigtimedwait(&awaited_, nullptr, &half_a_second);
    return signal > 0 ? std::optional(signal) : std::nullopt;
  }

  const sigset_t& before() const { return before_; }

 private:
  sigset_t awaited_{}, before_{};
};

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < all.size(); begin = all.find('\0', begin) + 1)
    arguments.emplace_back(all.c_str() + begin);
  return arguments;
}

std::vector<std::string> environment_of_rank(int rank, int count, const std::string& meeting) {
  return environment_with({
      {"RANK", fmt::to_string(rank)},
      {"LOCAL_RANK", fmt::to_string(rank)},
      {"WORLD_SIZE", fmt::to_string(count)},
      {"LOCAL_WORLD_SIZE", fmt::to_string(count)},
      {meeting_variable, meeting},
      {launcher_variable, fmt::to_string(::getpid())},
  });
}

// The processes, by rank; all are ended by the destructor.
class RankProcesses {
 public:
  ~RankProcesses() {
    signal_all(SIGKILL);
    for (const pid_t process : running_)
      if (process != 0) ::waitpid(process, nullptr, 0);
  }

  void add(pid_t process) { running_.push_back(process); }
  bool any() const {
    return std::ranges::any_of(running_, [](pid_t process) { return process != 0; });
  }
  void signal(std::size_t rank, int what) const {
    if (running_[rank] != 0) ::kill(running_[rank], what);
  }
  void signal_all(int what, std::size_t from = 0) const {
    for (std::size_t rank = from; rank < running_.size(); ++rank) signal(rank, what);
  }

  struct End {
    std::size_t rank;
    int status;  // from waitpid
  };
  // A process that has ended and was not reported yet.
  std::optional<End> next_end() {
    for (std::size_t rank = 0; rank < running_.size(); ++rank) {
      int status = 0;
      if (running_[rank] == 0 || ::waitpid(running_[rank], &status, WNOHANG) == 0) continue;
      running_[rank] = 0;
      return End{rank, status};
    }
    return std::nullopt;
  }

 private:
  std::vector<pid_t> running_;  // 0: has ended
};

bool ended_well(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == interrupted_status);
}

int status_or_throw(const RankProcesses::End& end, const char* advice) {
  if (WIFEXITED(end.status)) return WEXITSTATUS(end.status);
  const int signal = WTERMSIG(end.status);
  throw RanksError(
      fmt::format("rank {} was ended by signal {} ({}), which stopped the others; {}", end.rank, signal,
                  strsignal(signal), advice));
}

// Waits for all to end; returns how rank 0 ended, or the first that failed.
RankProcesses::End watch(RankProcesses& processes, const AwaitedSignals& signals) {
  RankProcesses::End decisive{0, 0};
  std::optional<Clock::time_point> patience;  // deadline for rank 0 after another rank's failure
  while (processes.any()) {
    if (const auto signal = signals.next(); signal && *signal != SIGCHLD) processes.signal_all(SIGTERM);
    while (const auto end = processes.next_end()) {
      if (patience) continue;
      if (end->rank == 0) decisive = *end;
      if (ended_well(end->status)) continue;
      decisive = *end;
      patience = Clock::now() + time_to_save;
      processes.signal(0, SIGTERM);
      processes.signal_all(SIGKILL, 1);  // the other ranks have nothing to save
    }
    if (patience && Clock::now() >= *patience) processes.signal(0, SIGKILL);
  }
  return decisive;
}

}  // namespace

int launch_ranks(int count, const char* advice) {
  const MeetingFile meeting;
  const AwaitedSignals signals;
  RankProcesses processes;
  for (int rank = 0; rank < count; ++rank)
    processes.add(
        start_own_program(own_arguments(), environment_of_rank(rank, count, meeting.path()), &signals.before()));
  return status_or_throw(watch(processes, signals), advice);
}

void end_with_launcher() {
  const char* launcher = std::getenv(launcher_variable);
  if (launcher == nullptr) return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (std::to_string(::getppid()) != launcher) std::raise(SIGTERM);  // the launcher had already ended
}

}  // namespace attnscope
