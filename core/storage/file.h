// Files that are either the old ones or the new ones, never half of each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "plain/error.h"

namespace attnscope {

// A file that cannot be read or written. The message names the path and the reason.
class FileError : public Error {
 public:
  using Error::Error;
};

// The whole file; throws FileError if it cannot be read, has more than `max_bytes`, or is no file: a pipe without a
// writer would be waited for without end.
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

// Its first `count` bytes, or all of a shorter one; throws FileError as read_file.
std::string read_beginning(const std::filesystem::path& path, std::uint64_t count);

// Puts `bytes` in place of the file, or throws FileError and leaves the old one as it was: they are written to a
// temporary name beside it, synced to the disk, and renamed. What is there and is no file (a link, a device, a folder)
// is neither followed nor replaced.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Adds `bytes` at the end of the file (made if absent); or throws FileError and takes back what it could write of them.
// Follows no link, as write_file. The bytes survive the process, and only after sync_file the machine.
void append_file(const std::filesystem::path& path, std::string_view bytes);

// Waits until what was written to the file is on the disk; throws FileError.
void sync_file(const std::filesystem::path& path);

// The same for what was made, renamed and removed in the folder.
void sync_folder(const std::filesystem::path& folder);

// Throws FileError if something stands there that is no file, and that nothing may therefore take the place of.
void check_writable(const std::filesystem::path& path);

// Renames what cannot be read, so that it is neither read again nor overwritten: to FILE.broken, or the first of
// FILE.broken.2 … that is free. Returns that name; throws FileError.
std::filesystem::path set_aside(const std::filesystem::path& path);

// Removes what write_file() left in the folder in processes that were killed meanwhile. What cannot be removed stays.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace attnscope
