// The processes that train one run together: each computes its share of every batch, and all take the same sums. Where
// LibTorch has c10d with Gloo, over TCP; nothing else of the program knows either.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "distributed/place.h"
#include "plain/callbacks.h"
#include "plain/error.h"

namespace attnscope {

class RanksError : public Error {
 public:
  using Error::Error;
};

// Another rank's process has ended, hangs, or cannot be reached; the message has its number.
class LostRank : public RanksError {
 public:
  using RanksError::RanksError;
};

// A rank that keeps the others waiting for longer, between two sums, is lost.
inline constexpr std::chrono::seconds longest_wait_for_rank{30};

class Ranks {
 public:
  // `breathe` is called while it waits, and may throw. Throws RanksError if this program cannot have ranks, or rank 0
  // cannot be reached.
  explicit Ranks(const RankPlace& place, YieldCallback yield = {},
                 std::chrono::milliseconds longest_wait = longest_wait_for_rank);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  bool is_first() const { return place_.rank == 0; }

  // Returns when rank 0 has called meet(): what it has prepared is there.
  void await_first();
  // Returns when all ranks have called it, and are connected. Throws LostRank if some never do.
  void meet();

  // In place of the values, of which every rank has as many, stands their sum over all ranks: the same, bit by bit, on
  // each. After meet(). Throws LostRank; the values are then lost.
  void sum(std::span<double> values);
  void sum(std::span<float> values);

  // Why training ends before its time.
  enum class Ending { none, enough, interrupted };
  // All end it together: what one has asked for rides on the next sum of doubles, and after that all have agreed. Of
  // several reasons the last of the enumeration counts. From any thread, as the two functions that follow.
  void ask_to_end(Ending why) { asked_ = why; }
  Ending agreed() const { return agreed_; }
  // What the LostRank said that was thrown; empty: none was.
  std::string loss() const { return is_lost_ ? loss_ : std::string(); }

 private:
  struct Group;

  // Those of the others that have not answered the call within that time.
  std::vector<int> absent_from(const std::string& call, std::chrono::milliseconds patience);
  template <typename Values>
  void sum_of_all(Values values);
  [[noreturn]] void lose(const std::string& why);

  using Ballot = std::array<double, 2>;  // how many have asked for each of the endings after none
  Ballot ballot() const;
  void count(std::span<const double> ballot);

  RankPlace place_;
  YieldCallback yield_;
  std::chrono::milliseconds longest_wait_;
  std::unique_ptr<Group> group_;
  std::atomic<Ending> asked_ = Ending::none;
  std::atomic<Ending> agreed_ = Ending::none;
  std::atomic<bool> is_lost_ = false;
  std::string loss_;  // written once, before is_lost_
};

// Whether this program was built to have ranks; throws RanksError, saying why, if not.
void check_ranks_supported();

}  // namespace attnscope
