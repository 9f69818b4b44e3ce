// Classification results: one label per text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

// Confusion matrix of C classes; empty if nothing was classified.
struct Confusion {
  std::vector<std::string> labels;   // C
  std::vector<std::int64_t> counts;  // C × C, one row per true class, one column per predicted class

  std::int64_t at(std::size_t truth, std::size_t predicted) const { return counts[truth * labels.size() + predicted]; }
  std::int64_t of_class(std::size_t truth) const;      // texts of the class
  std::int64_t as_class(std::size_t predicted) const;  // texts predicted as the class
  std::int64_t texts() const;

  // Shares in 0…1; 0 if empty.
  double accuracy() const;
  double recall(std::size_t truth) const;
  double precision(std::size_t predicted) const;
  // The mean recall of the classes that occur. Always predicting the largest class does not raise it.
  double balanced_accuracy() const;
  // The accuracy of always predicting the largest class.
  double largest_share() const;

  bool operator==(const Confusion&) const = default;
};

}  // namespace attnscope
