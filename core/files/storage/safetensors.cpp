#include "files/storage/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/json_text.h"
#include "common/other_formats.h"
#include "files/storage/file.h"
#include "files/storage/safetensors_header.h"

namespace attnscope {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian; so is the memory we copy");

constexpr std::uint64_t max_file_bytes = std::uint64_t{16} << 30;
constexpr std::size_t length_bytes = 8;  // the header's length precedes the header

struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  std::size_t size;
};
constexpr std::array<DtypeRow, 10> dtypes = {{
    {Dtype::F64, "F64", 8},
    {Dtype::F32, "F32", 4},
    {Dtype::F16, "F16", 2},
    {Dtype::BF16, "BF16", 2},
    {Dtype::I64, "I64", 8},
    {Dtype::I32, "I32", 4},
    {Dtype::I16, "I16", 2},
    {Dtype::I8, "I8", 1},
    {Dtype::U8, "U8", 1},
    {Dtype::BOOL, "BOOL", 1},
}};

const DtypeRow& row_of(Dtype dtype) {
  return *std::ranges::find(dtypes, dtype, &DtypeRow::dtype);
}

Dtype dtype_named(std::string_view name) {
  const auto row = std::ranges::find(dtypes, name, &DtypeRow::name);
  if (row == dtypes.end()) throw SafetensorsError(fmt::format("unknown dtype \"{}\"", name));
  return row->dtype;
}

// Returns the bytes of a tensor of this shape; throws SafetensorsError if the number exceeds 64 bits.
std::uint64_t byte_count(std::span<const std::int64_t> shape, Dtype dtype) {
  std::uint64_t count = size_of(dtype);
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw SafetensorsError(fmt::format("negative extent {} in the shape", extent));
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count)) {
      throw SafetensorsError(fmt::format("the shape [{}] is too large", fmt::join(shape, ", ")));
    }
  }
  return count;
}

void check_fits(const TensorBytes& tensor) {
  const std::uint64_t wanted = byte_count(tensor.shape, tensor.dtype);
  if (tensor.bytes.size() != wanted) {
    throw SafetensorsError(fmt::format("the shape [{}] of {} takes {} bytes, not {}", fmt::join(tensor.shape, ", "),
                                       name_of(tensor.dtype), wanted, tensor.bytes.size()));
  }
}

// Runs `body`; adds the file to the message of its errors.
template <typename Body>
auto naming(std::string_view where, std::string_view bytes, const Body& body) {
  try {
    return body();
  } catch (const SafetensorsError& error) {
    if (const std::string other = other_format(bytes.substr(0, 64), std::string(where)); !other.empty())
      throw SafetensorsError(fmt::format("{}: is {}", where, other));
    throw SafetensorsError(fmt::format("{}: {}", where, error.what()));
  }
}

// Runs `body`; adds the tensor to the message of its errors.
template <typename Body>
auto within_tensor(std::string_view name, const Body& body) {
  try {
    return body();
  } catch (const SafetensorsError& error) {
    throw SafetensorsError(fmt::format("tensor \"{}\": {}", name, error.what()));
  }
}

// Checks that every byte of the data belongs to exactly one tensor.
void check_covers(std::vector<TensorHeader> headers, std::uint64_t data_bytes) {
  std::ranges::sort(headers, {}, [](const TensorHeader& h) { return std::pair(h.begin, h.end); });
  std::uint64_t end = 0;
  for (const TensorHeader& header : headers) {
    within_tensor(header.name, [&] {
      if (header.begin < end) throw SafetensorsError(fmt::format("overlaps another at byte {}", header.begin));
      if (header.begin > end)
        throw SafetensorsError(fmt::format("leaves a hole from byte {} to {}", end, header.begin));
    });
    end = header.end;
  }
  if (end != data_bytes) {
    throw SafetensorsError(fmt::format("the tensors end at byte {} of the data, the data at {}", end, data_bytes));
  }
}

TensorView read_tensor(const TensorHeader& header, std::string_view data) {
  return within_tensor(header.name, [&] {
    if (header.begin > header.end)
      throw SafetensorsError(fmt::format("data_offsets [{}, {}] are reversed", header.begin, header.end));
    if (header.end > data.size()) {
      throw SafetensorsError(
          fmt::format("incomplete: it ends at byte {} of the data, and the file has only {}. Copy "
                      "or download the file again",
                      header.end, data.size()));
    }
    TensorView tensor{header.name, dtype_named(header.dtype), header.shape, {}};
    if (byte_count(tensor.shape, tensor.dtype) != header.end - header.begin) {
      throw SafetensorsError(fmt::format("data_offsets [{}, {}] do not fit the shape [{}] of {}", header.begin,
                                         header.end, fmt::join(tensor.shape, ", "), header.dtype));
    }
    tensor.bytes = data.substr(header.begin, header.end - header.begin);
    return tensor;
  });
}

// The header's length in bytes, as stored in front of it.
std::uint64_t header_length(std::string_view bytes) {
  if (bytes.size() < length_bytes) throw SafetensorsError("too short for a header");
  std::uint64_t header_bytes = 0;
  std::copy_n(bytes.data(), length_bytes, reinterpret_cast<char*>(&header_bytes));
  if (header_bytes <= max_header_bytes) return header_bytes;
  throw SafetensorsError(fmt::format("a header of {} bytes; at most {} are allowed", header_bytes, max_header_bytes));
}

SafetensorsHeader header_of(std::string_view bytes) {
  const std::uint64_t header_bytes = header_length(bytes);
  if (header_bytes > bytes.size() - length_bytes) {
    throw SafetensorsError(fmt::format("truncated: the header has {} bytes, the file {}", header_bytes, bytes.size()));
  }
  return parse_header(bytes.substr(length_bytes, header_bytes));
}

std::vector<TensorView> views_of(SafetensorsHeader header, std::string_view bytes) {
  const std::string_view data = bytes.substr(length_bytes + header_length(bytes));
  std::vector<TensorView> views;
  std::ranges::stable_sort(header.tensors, {}, &TensorHeader::begin);
  for (const TensorHeader& tensor : header.tensors) views.push_back(read_tensor(tensor, data));
  check_covers(std::move(header.tensors), data.size());
  return views;
}

Safetensors parse(std::string_view bytes) {
  SafetensorsHeader header = header_of(bytes);
  Safetensors contents;
  contents.metadata = std::move(header.metadata);
  for (TensorView& view : views_of(std::move(header), bytes)) {
    contents.tensors.push_back({std::move(view.name), view.dtype, std::move(view.shape), std::string(view.bytes)});
  }
  return contents;
}

std::vector<const TensorBytes*> in_file_order(const Safetensors& contents) {
  std::vector<const TensorBytes*> order;
  for (const TensorBytes& tensor : contents.tensors) order.push_back(&tensor);
  std::ranges::sort(order, [](const TensorBytes* a, const TensorBytes* b) {
    const std::size_t a_size = size_of(a->dtype);
    const std::size_t b_size = size_of(b->dtype);
    return a_size != b_size ? a_size > b_size : a->name < b->name;
  });
  return order;
}

std::string header_text(const Safetensors& contents, std::span<const TensorBytes* const> order) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!contents.metadata.empty()) header[std::string(metadata_key)] = contents.metadata;
  // Appends to the underlying vector: a lookup per name would take quadratic time.
  auto& entries = header.get_ref<nlohmann::ordered_json::object_t&>();
  std::set<std::string_view> names;
  std::uint64_t begin = 0;
  for (const TensorBytes* tensor : order) {
    within_tensor(tensor->name, [&] {
      check_fits(*tensor);
      if (tensor->name == metadata_key) throw SafetensorsError("this name is reserved for the metadata");
      if (!names.insert(tensor->name).second) throw SafetensorsError("appears twice");
    });
    const std::uint64_t end = begin + tensor->bytes.size();
    const nlohmann::ordered_json entry = {
        {"dtype", name_of(tensor->dtype)}, {"shape", tensor->shape}, {"data_offsets", {begin, end}}};
    entries.push_back({tensor->name, entry});
    begin = end;
  }
  try {
    return header.dump();
  } catch (const nlohmann::json::exception& error) {
    throw SafetensorsError(fmt::format("a name or the metadata is not UTF-8: {}", message_of(error)));
  }
}

}  // namespace

std::size_t size_of(Dtype dtype) {
  return row_of(dtype).size;
}

std::string_view name_of(Dtype dtype) {
  return row_of(dtype).name;
}

const TensorBytes& Safetensors::at(std::string_view name) const {
  const auto tensor = std::ranges::find(tensors, name, &TensorBytes::name);
  if (tensor == tensors.end()) throw SafetensorsError(fmt::format("there is no tensor \"{}\"", name));
  return *tensor;
}

std::string serialize(const Safetensors& contents) {
  const std::vector<const TensorBytes*> order = in_file_order(contents);
  std::string header = header_text(contents, order);
  header.append((8 - header.size() % 8) % 8, ' ');  // aligns the data to 8 bytes
  if (header.size() > max_header_bytes) {
    throw SafetensorsError(
        fmt::format("a header of {} bytes; at most {} are allowed", header.size(), max_header_bytes));
  }
  const std::uint64_t header_bytes = header.size();
  std::string bytes(reinterpret_cast<const char*>(&header_bytes), length_bytes);
  std::size_t total = length_bytes + header.size();
  for (const TensorBytes* tensor : order) total += tensor->bytes.size();
  bytes.reserve(total);
  bytes += header;
  for (const TensorBytes* tensor : order) bytes += tensor->bytes;
  return bytes;
}

Safetensors parse_safetensors(std::string_view bytes, std::string_view where) {
  return naming(where, bytes, [&] { return parse(bytes); });
}

std::vector<TensorView> safetensors_views(std::string_view bytes, std::string_view where) {
  return naming(where, bytes, [&] { return views_of(header_of(bytes), bytes); });
}

Safetensors read_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(read_file(path, max_file_bytes), path.string());
}

std::map<std::string, std::string> metadata_in(std::string_view bytes, std::string_view where) {
  return naming(where, bytes, [&] { return header_of(bytes).metadata; });
}

std::map<std::string, std::string> read_metadata(const std::filesystem::path& path) {
  return naming(path.string(), {}, [&] {
    const std::uint64_t header_bytes = header_length(read_beginning(path, length_bytes));
    return header_of(read_beginning(path, length_bytes + header_bytes)).metadata;
  });
}

void write_safetensors(const std::filesystem::path& path, const Safetensors& contents) {
  write_file(path, naming(path.string(), {}, [&] { return serialize(contents); }));
}

}  // namespace attnscope
