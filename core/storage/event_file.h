// TensorBoard's event files: records of tensorflow.Event, one behind the other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attnscope {

// How many values lie in each of equal bins from the least to the largest.
struct EventHistogram {
  double least = 0, largest = 0;
  double count = 0, sum = 0, sum_of_squares = 0;
  std::span<const float> bins;
};

class EventFile {
 public:
  // `time`: seconds since 1970, of every event.
  explicit EventFile(double time);

  // By the names under which TensorBoard groups them: what stands before the first slash is the group.
  void scalar(std::string_view tag, std::int64_t step, double value);
  void histogram(std::string_view tag, std::int64_t step, const EventHistogram& histogram);
  void picture(std::string_view tag, std::int64_t step, int width, int height, std::string_view png);

  const std::string& bytes() const { return bytes_; }

 private:
  void add(std::int64_t step, const std::string& value);

  double time_;
  std::string bytes_;
};

}  // namespace attnscope
