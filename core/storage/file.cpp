#include "storage/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace attnscope {
namespace {

[[noreturn]] void fail(std::string_view doing, const std::filesystem::path& path, int reason) {
  throw FileError(fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(reason)));
}

// An open file, closed on the way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }

  // False if the last data did not reach the file (network file systems say so only here).
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// False with errno set if not all of it could be written.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Only a file is written to or replaced: a link could lead anywhere, and a device is not ours to replace.
void check_writable(const std::filesystem::path& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return;
  const char* kind = S_ISLNK(status.st_mode) ? "a link" : S_ISDIR(status.st_mode) ? "a folder" : "a device or a pipe";
  throw FileError(fmt::format("cannot write {}: it is {}, not a file", path.string(), kind));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

// The rename itself is only safe once the folder is on the disk. Some file systems cannot sync a folder (EINVAL).
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) fail("open the folder", folder, errno);
  if (::fsync(directory.get()) != 0 && errno != EINVAL) fail("sync the folder", folder, errno);
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("open", path, errno);
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail("read", path, errno);
  if (S_ISDIR(status.st_mode)) fail("read", path, EISDIR);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::string too_large = fmt::format("cannot read {}: it has more than {} bytes", path.string(), max_bytes);
  if (size > max_bytes) throw FileError(too_large);
  std::string bytes;
  bytes.reserve(size);
  // Read to the end and not to st_size: the file may grow, and pipes and /proc have no size.
  std::string chunk(std::size_t{1} << 18, '\0');
  while (true) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) return bytes;
    if (static_cast<std::uint64_t>(got) > max_bytes - bytes.size()) throw FileError(too_large);
    bytes.append(chunk, 0, static_cast<std::size_t>(got));
  }
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  check_writable(path);
  const std::string temporary = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0) fail("write", path, errno);
  const bool written = write_all(file.get(), bytes) && ::fsync(file.get()) == 0 && file.close() &&
                       ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    fail("write", path, reason);
  }
  sync_folder(folder_of(path));
}

void append_file(const std::filesystem::path& path, std::string_view bytes) {
  check_writable(path);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0) fail("write", path, errno);
  struct stat before = {};
  if (::fstat(file.get(), &before) != 0) fail("write", path, errno);
  if (!write_all(file.get(), bytes)) {
    const int reason = errno;
    // What was written of it goes again; if even that fails, the reader of the file has to cope with a torn end.
    (void)!::ftruncate(file.get(), before.st_size);
    fail("write", path, reason);
  }
  if (!file.close()) fail("write", path, errno);
}

}  // namespace attnscope
