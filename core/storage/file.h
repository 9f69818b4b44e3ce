// Files that are either the old ones or the new ones, never half of each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attnscope {

// A file that cannot be read or written. The message names the path and the reason.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The whole file; throws FileError if it cannot be read or has more than `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

// Puts `bytes` in place of the file, or throws FileError and leaves the old one as it was: they are written to a
// temporary name beside it, synced to the disk, and renamed. What is there and is no file (a link, a device, a folder)
// is neither followed nor replaced.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Adds `bytes` at the end of the file (made if absent); or throws FileError and takes back what it could write of them.
// Follows no link, as write_file.
void append_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace attnscope
