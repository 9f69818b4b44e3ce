// How well texts are told apart: a label each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

// What came of which class. C classes; empty where nothing was classified.
struct Confusion {
  std::vector<std::string> labels;   // C
  std::vector<std::int64_t> counts;  // C × C, a row a true class, a column a predicted one

  std::int64_t at(std::size_t truth, std::size_t predicted) const { return counts[truth * labels.size() + predicted]; }
  std::int64_t of_class(std::size_t truth) const;      // texts of it
  std::int64_t as_class(std::size_t predicted) const;  // texts taken for it
  std::int64_t texts() const;

  // Shares, 0…1; 0 of nothing.
  double accuracy() const;
  double recall(std::size_t truth) const;
  double precision(std::size_t predicted) const;
  // The mean recall of the classes of which there are texts: what always naming the largest class does not raise.
  double balanced_accuracy() const;
  // Of always naming the class of which there are most.
  double largest_share() const;

  bool operator==(const Confusion&) const = default;
};

}  // namespace attnscope
