// Atomic file replacement: a file is always the old or the new version, never part of each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/error.h"

namespace attnscope {

// A file that cannot be read or written. The message names the path and the reason.
class FileError : public Error {
 public:
  using Error::Error;
};

// Returns the whole file. Throws FileError if it cannot be read, exceeds `max_bytes`, or is not a regular file (reading
// a pipe without a writer would block forever).
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

// Returns the first `count` bytes, or all of a shorter file; throws FileError like read_file.
std::string read_beginning(const std::filesystem::path& path, std::uint64_t count);

// Replaces the file with `bytes`, or throws FileError and leaves the old one unchanged. Writes to a temporary name in
// the same folder, syncs and renames. Anything that is not a regular file (a link, a device, a folder) is neither
// followed nor replaced.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Appends `bytes` to the file (created if absent); on failure throws FileError and truncates to the old size. Follows
// no links, like write_file. The bytes survive a crash of the process, but a crash of the machine only after sync_file.
void append_file(const std::filesystem::path& path, std::string_view bytes);

// Waits until everything written to the file is on disk; throws FileError.
void sync_file(const std::filesystem::path& path);

// Does the same for files created, renamed and removed in the folder.
void sync_folder(const std::filesystem::path& folder);

// Throws FileError if the path exists and is not a regular file, and must therefore not be replaced.
void check_writable(const std::filesystem::path& path);

// Renames an unreadable file, so that it is neither read again nor overwritten: to FILE.broken, or the first free one
// of FILE.broken.2 …. Returns that name; throws FileError.
std::filesystem::path set_aside(const std::filesystem::path& path);

// Removes temporary files of write_file() left by killed processes. Files that cannot be removed stay.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace attnscope
