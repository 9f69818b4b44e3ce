// Safetensors files: named arrays that any safetensors reader opens, and that run no code when read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace attnscope {

// Data that cannot be read or written as safetensors. The message names the file, the tensor and the reason.
class SafetensorsError : public Error {
 public:
  using Error::Error;
};

enum class Dtype { F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL };

// Bytes per element.
std::size_t size_of(Dtype dtype);

// The name in the format: "F32".
std::string_view name_of(Dtype dtype);

struct TensorBytes {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<std::int64_t> shape;  // empty: a scalar; containing a 0: no elements
  std::string bytes;                // little-endian, C order
  bool operator==(const TensorBytes&) const = default;
};

// The same with the bytes stored elsewhere.
struct TensorView {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};

struct Safetensors {
  std::map<std::string, std::string> metadata;
  std::vector<TensorBytes> tensors;  // in file order

  // Throws SafetensorsError if there is no tensor of this name.
  const TensorBytes& at(std::string_view name) const;
  bool operator==(const Safetensors&) const = default;
};

// Returns the file's bytes: tensors sorted by element width, widest first, then by name, so that each is aligned.
// Throws SafetensorsError for duplicate names, a shape that does not fit its bytes, and text that is not UTF-8.
std::string serialize(const Safetensors& contents);

// Throws SafetensorsError for anything the format does not allow: every byte of the data must belong to exactly one
// tensor. `where` is the prefix of error messages.
Safetensors parse_safetensors(std::string_view bytes, std::string_view where = "safetensors");

// Returns the tensors as views of `bytes`, without copies; errors as above.
std::vector<TensorView> safetensors_views(std::string_view bytes, std::string_view where);

// Throws as above, and FileError. Rejects files above 16 GiB.
Safetensors read_safetensors(const std::filesystem::path& path);

// Returns only the metadata; errors as above.
std::map<std::string, std::string> metadata_in(std::string_view bytes, std::string_view where);

// Returns only the metadata, without reading the tensors; throws like read_safetensors.
std::map<std::string, std::string> read_metadata(const std::filesystem::path& path);

void write_safetensors(const std::filesystem::path& path, const Safetensors& contents);

}  // namespace attnscope
