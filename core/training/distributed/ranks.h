// The processes that train one run together: each computes its share of every batch, and all receive the same sums.
// Based on LibTorch's c10d with Gloo over TCP, if available; the rest of the program knows neither.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "messages/callbacks.h"
#include "training/distributed/place.h"

namespace attnscope {

class RanksError : public Error {
 public:
  using Error::Error;
};

// Another rank's process has ended, hangs, or cannot be reached; the message contains its number.
class LostRank : public RanksError {
 public:
  using RanksError::RanksError;
};

// A rank that keeps the others waiting longer than this between two sums counts as lost.
inline constexpr std::chrono::seconds longest_wait_for_rank{30};

class Ranks {
 public:
  // `yield` is called while waiting, and may throw. `settings`: lines that must be the same on every rank. Throws
  // RanksError if this build does not support ranks, rank 0 cannot be reached, or another service answers in its place.
  explicit Ranks(const RankPlace& place, YieldCallback yield = {},
                 std::chrono::milliseconds longest_wait = longest_wait_for_rank, const std::string& settings = {});
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  bool is_first() const { return place_.rank == 0; }

  // Returns when rank 0 has called meet(), so its preparations are complete. Throws RanksError if the number of ranks
  // or the settings are not those of rank 0; the exception is thrown on every rank.
  void await_first();
  // Throws RanksError if another rank has found that it does not belong to this run. Asks at most twice a second.
  void check_mismatch();
  // Returns when all ranks have called it and are connected. Throws LostRank if some never do.
  void meet();

  // Replaces the values, of which every rank has the same number, by their sum over all ranks: bitwise identical on
  // each. Call after meet(). Throws LostRank; the values are then lost.
  void sum(std::span<double> values);
  void sum(std::span<float> values);

  // Why training ends early.
  enum class Ending { none, enough, interrupted };
  // Ends training on all ranks together: a request is transmitted with the next sum of doubles, after which all have
  // agreed. Of several reasons the last of the enumeration counts. May be called from any thread, like the next two
  // functions.
  void ask_to_end(Ending why) { asked_ = why; }
  Ending agreed() const { return agreed_; }
  // The message of the LostRank that was thrown; empty: none.
  std::string loss() const { return is_lost_ ? loss_ : std::string(); }

 private:
  struct Group;

  void await_listener() const;  // rank 0 may be started later
  void compare_with_first();
  // The other ranks that have not answered the call within that time.
  std::vector<int> absent_from(const std::string& call, std::chrono::milliseconds patience);
  template <typename Values>
  void sum_of_all(Values values);
  [[noreturn]] void lose(const std::string& why);

  using Ballot = std::array<double, 2>;  // number of requests for each Ending after none
  Ballot ballot() const;
  void count(std::span<const double> ballot);

  RankPlace place_;
  YieldCallback yield_;
  std::chrono::milliseconds longest_wait_;
  std::string settings_;  // WORLD_SIZE and what the constructor got
  std::chrono::steady_clock::time_point asked_for_mismatch_{};
  std::unique_ptr<Group> group_;
  std::atomic<Ending> asked_ = Ending::none;
  std::atomic<Ending> agreed_ = Ending::none;
  std::atomic<bool> is_lost_ = false;
  std::string loss_;  // written once, before is_lost_
};

// Throws RanksError with the reason if this program was built without support for ranks.
void check_ranks_supported();

}  // namespace attnscope
