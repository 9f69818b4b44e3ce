#include "files/storage/event_file.h"

#include <array>
#include <bit>

#include "files/storage/protobuf.h"

namespace attnscope {
namespace {

using protobuf::delimited, protobuf::raw, protobuf::fixed64, protobuf::fixed32, protobuf::varint;

// ---- records: length, its checksum, data, its checksum

// CRC-32C (Castagnoli), bit-reversed.
std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? crc >> 1U ^ 0x82F63B78U : crc >> 1U;
    table[i] = crc;
  }
  return table;
}

// Masked like in TFRecord: rotated and offset, so that checksums of checksums are meaningful.
std::uint32_t masked_checksum(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = make_table();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xFFU] ^ crc >> 8U;
  return std::rotr(crc ^ 0xFFFFFFFFU, 15) + 0xA282EAD8U;
}

std::string record(std::string_view bytes) {
  const std::string length = raw(static_cast<std::uint64_t>(bytes.size()));
  return length + raw(masked_checksum(length)) + std::string(bytes) + raw(masked_checksum(bytes));
}

// Fields of tensorflow.Event, Summary.Value, HistogramProto and Summary.Image (tensorboard/compat/proto).
namespace event {
constexpr int wall_time = 1, step = 2, file_version = 3, summary = 5;
}
namespace summary {
constexpr int value = 1;
}
namespace value {
constexpr int tag = 1, simple_value = 2, image = 4, histogram = 5;
}
namespace histogram_proto {
constexpr int least = 1, largest = 2, count = 3, sum = 4, sum_of_squares = 5, limits = 6, bins = 7;
}
namespace image_proto {
constexpr int height = 1, width = 2, colorspace = 3, encoded = 4;
constexpr std::int64_t rgba = 4;
}  // namespace image_proto

}  // namespace

EventFile::EventFile(double time) : time_(time) {
  bytes_ = record(fixed64(event::wall_time, time) + delimited(event::file_version, "brain.Event:2"));
}

void EventFile::add(std::int64_t step, const std::string& value) {
  bytes_ += record(fixed64(event::wall_time, time_) + varint(event::step, step) +
                   delimited(event::summary, delimited(summary::value, value)));
}

void EventFile::scalar(std::string_view tag, std::int64_t step, double value) {
  add(step, delimited(value::tag, tag) + fixed32(value::simple_value, static_cast<float>(value)));
}

void EventFile::histogram(std::string_view tag, std::int64_t step, const EventHistogram& histogram) {
  std::string limits, bins;
  const double width = (histogram.largest - histogram.least) / static_cast<double>(histogram.bins.size());
  for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
    const bool last = i + 1 == histogram.bins.size();
    limits += raw(last ? histogram.largest : histogram.least + width * static_cast<double>(i + 1));
    bins += raw(static_cast<double>(histogram.bins[i]));
  }
  using namespace histogram_proto;
  add(step, delimited(value::tag, tag) +
                delimited(value::histogram, fixed64(least, histogram.least) + fixed64(largest, histogram.largest) +
                                                fixed64(count, histogram.count) + fixed64(sum, histogram.sum) +
                                                fixed64(sum_of_squares, histogram.sum_of_squares) +
                                                delimited(histogram_proto::limits, limits) +
                                                delimited(histogram_proto::bins, bins)));
}

void EventFile::picture(std::string_view tag, std::int64_t step, int width, int height, std::string_view png) {
  add(step, delimited(value::tag, tag) +
                delimited(value::image, varint(image_proto::height, height) + varint(image_proto::width, width) +
                                            varint(image_proto::colorspace, image_proto::rgba) +
                                            delimited(image_proto::encoded, png)));
}

}  // namespace attnscope
