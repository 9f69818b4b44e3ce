#include "messages/classes.h"

#include <algorithm>
#include <numeric>

namespace attnscope {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::int64_t Confusion::of_class(std::size_t truth) const {
  std::int64_t count = 0;
  for (std::size_t predicted = 0; predicted < labels.size(); ++predicted) count += at(truth, predicted);
  return count;
}

std::int64_t Confusion::as_class(std::size_t predicted) const {
  std::int64_t count = 0;
  for (std::size_t truth = 0; truth < labels.size(); ++truth) count += at(truth, predicted);
  return count;
}

std::int64_t Confusion::texts() const {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

double Confusion::accuracy() const {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += at(i, i);
  return share(right, texts());
}

double Confusion::recall(std::size_t truth) const {
  return share(at(truth, truth), of_class(truth));
}

double Confusion::precision(std::size_t predicted) const {
  return share(at(predicted, predicted), as_class(predicted));
}

double Confusion::balanced_accuracy() const {
  double sum = 0;
  int present = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (of_class(i) == 0) continue;
    sum += recall(i);
    ++present;
  }
  return present == 0 ? 0 : sum / present;
}

double Confusion::largest_share() const {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) largest = std::max(largest, of_class(i));
  return share(largest, texts());
}

}  // namespace attnscope
