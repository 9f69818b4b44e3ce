// TensorBoard's event files: a sequence of tensorflow.Event records.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attnscope {

// Counts of values in equal bins from minimum to maximum.
struct EventHistogram {
  double least = 0, largest = 0;
  double count = 0, sum = 0, sum_of_squares = 0;
  std::span<const float> bins;
};

class EventFile {
 public:
  // `time`: seconds since 1970, for every event.
  explicit EventFile(double time);

  // TensorBoard groups tags by the part before the first slash.
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
