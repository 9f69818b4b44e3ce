#include "files/storage/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "common/descriptor.h"

namespace attnscope {
namespace {

[[noreturn]] void fail(std::string_view doing, const std::filesystem::path& path, int reason) {
  throw FileError(fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(reason)));
}

// The kind of a file that is not a regular one.
const char* kind_of(mode_t mode) {
  return S_ISLNK(mode) ? "a link" : S_ISDIR(mode) ? "a folder" : "a device or a pipe";
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

constexpr std::string_view temporary_end = ".tmp";

// The temporary name for writing `path`, unique among processes.
std::string temporary_name(const std::filesystem::path& path) {
  return fmt::format("{}.{}{}", path.string(), ::getpid(), temporary_end);
}

// The process that wrote the temporary file of this name; empty if the name is not a temporary one.
std::optional<pid_t> writer_of(std::string_view name) {
  if (!name.ends_with(temporary_end)) return std::nullopt;
  name.remove_suffix(temporary_end.size());
  const std::string_view number = name.substr(name.rfind('.') + 1);
  pid_t writer = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), writer);
  const bool read = error == std::errc() && end == number.data() + number.size() && number.size() < name.size();
  return read && writer > 0 ? std::optional(writer) : std::nullopt;
}

bool is_running(pid_t process) {
  return ::kill(process, 0) == 0 || errno != ESRCH;
}

struct OpenFile {
  Descriptor descriptor;
  std::uint64_t size;  // bytes so far
};

OpenFile open_to_read(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail("open", path, errno);
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail("read", path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw FileError(fmt::format("cannot read {}: it is {}, not a file", path.string(), kind_of(status.st_mode)));
  }
  return {std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

// Appends the result of one read call, at most `most` bytes; returns false at the end of the file.
bool read_some(const OpenFile& file, const std::filesystem::path& path, std::uint64_t most, std::string& bytes) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 18;
  const std::size_t before = bytes.size();
  bytes.resize(before + static_cast<std::size_t>(std::min(most, largest)));
  ssize_t got = -1;
  do {
    got = ::read(file.descriptor.get(), bytes.data() + before, bytes.size() - before);
  } while (got < 0 && errno == EINTR);
  if (got < 0) fail("read", path, errno);
  bytes.resize(before + static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const OpenFile file = open_to_read(path);
  const std::string too_large = fmt::format("cannot read {}: it has more than {} bytes", path.string(), max_bytes);
  if (file.size > max_bytes) throw FileError(too_large);
  std::string bytes;
  bytes.reserve(file.size);
  // Reads to the end rather than to st_size: the file may grow, and files in /proc have size 0.
  while (read_some(file, path, std::numeric_limits<std::uint64_t>::max(), bytes))
    if (bytes.size() > max_bytes) throw FileError(too_large);
  return bytes;
}

std::string read_beginning(const std::filesystem::path& path, std::uint64_t count) {
  const OpenFile file = open_to_read(path);
  std::string bytes;
  while (bytes.size() < count && read_some(file, path, count - bytes.size(), bytes)) {
  }
  return bytes;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  check_writable(path);
  const std::string temporary = temporary_name(path);
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0) fail("write", path, errno);
  const bool written = write_all(file.get(), bytes) && ::fsync(file.get()) == 0 && file.close() &&
                       ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    fail("write", path, reason);
  }
  sync_folder(folder_of(path));  // makes the rename durable
}

void append_file(const std::filesystem::path& path, std::string_view bytes) {
  check_writable(path);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0) fail("write", path, errno);
  struct stat before = {};
  if (::fstat(file.get(), &before) != 0) fail("write", path, errno);
  if (!write_all(file.get(), bytes)) {
    const int reason = errno;
    // Removes the partial write. If even that fails, the reader of the file has to handle a torn end.
    (void)!::ftruncate(file.get(), before.st_size);
    fail("write", path, reason);
  }
  if (!file.close()) fail("write", path, errno);
}

void sync_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0 || ::fsync(file.get()) != 0) fail("sync", path, errno);
}

// Some file systems cannot sync a folder (EINVAL).
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) fail("open the folder", folder, errno);
  if (::fsync(directory.get()) != 0 && errno != EINVAL) fail("sync the folder", folder, errno);
}

// A link could point anywhere, and a device must not be replaced.
void check_writable(const std::filesystem::path& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return;
  throw FileError(fmt::format("cannot write {}: it is {}, not a file", path.string(), kind_of(status.st_mode)));
}

std::filesystem::path set_aside(const std::filesystem::path& path) {
  const std::string broken = path.string() + ".broken";
  std::filesystem::path aside = broken;
  std::error_code error;
  for (int i = 2; std::filesystem::exists(std::filesystem::symlink_status(aside, error)); ++i)
    aside = fmt::format("{}.{}", broken, i);
  if (::rename(path.c_str(), aside.c_str()) != 0) fail("set aside", path, errno);
  return aside;
}

void remove_leftovers(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> leftovers;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::optional<pid_t> writer = writer_of(entry.path().filename().native());
    if (writer && !is_running(*writer) && entry.symlink_status(ignored).type() == std::filesystem::file_type::regular)
      leftovers.push_back(entry.path());
  }
  for (const std::filesystem::path& leftover : leftovers) std::filesystem::remove(leftover, ignored);
}

}  // namespace attnscope
