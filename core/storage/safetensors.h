// Named arrays in a file that any safetensors reader opens, and that runs no code when it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plain/error.h"

namespace attnscope {

// What cannot be read as safetensors, or written. The message names the file, the tensor and the reason.
class SafetensorsError : public Error {
 public:
  using Error::Error;
};

enum class Dtype { F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL };

// Bytes an element takes.
std::size_t size_of(Dtype dtype);

// As the format writes it: "F32".
std::string_view name_of(Dtype dtype);

struct TensorBytes {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<std::int64_t> shape;  // empty: a scalar; a 0 in it: no elements
  std::string bytes;                // little-endian, C order
  bool operator==(const TensorBytes&) const = default;
};

// The same where the bytes lie elsewhere.
struct TensorView {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};

struct Safetensors {
  std::map<std::string, std::string> metadata;
  std::vector<TensorBytes> tensors;  // as they lie in the file

  // Throws SafetensorsError if there is no tensor of this name.
  const TensorBytes& at(std::string_view name) const;
  bool operator==(const Safetensors&) const = default;
};

// The file's bytes: tensors sorted by the width of their elements, widest first, then by name, so that each is aligned.
// Throws SafetensorsError for a name given twice, a shape that does not fit its bytes, and text that is not UTF-8.
std::string serialize(const Safetensors& contents);

// Throws SafetensorsError for anything the format does not allow: no byte of the file is left unexplained, none is
// used twice. `where` begins the error's message.
Safetensors parse_safetensors(std::string_view bytes, std::string_view where = "safetensors");

// The tensors as they lie in `bytes`, none copied; errors as above.
std::vector<TensorView> safetensors_views(std::string_view bytes, std::string_view where);

// As above, and FileError. Files above 16 GiB are refused.
Safetensors read_safetensors(const std::filesystem::path& path);

// What stands beside the tensors, without reading these; throws as read_safetensors.
std::map<std::string, std::string> read_metadata(const std::filesystem::path& path);

void write_safetensors(const std::filesystem::path& path, const Safetensors& contents);

}  // namespace attnscope
