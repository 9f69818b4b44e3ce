#include "files/storage/locked_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "files/storage/file.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* begun_name = "checkpoint.tmp";
constexpr const char* gone_name = "gone";  // a folder of empty files named like the files to be removed from the run

void require(const std::error_code& error, const char* doing, const fs::path& path) {
  if (error) throw FileError(fmt::format("cannot {} {}: {}", doing, path.string(), error.message()));
}

// Returns false for a link to a folder, which could point anywhere.
bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored));
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directory(path, error);
  require(error, "create the folder", path);
  if (!is_folder(path)) throw FileError(fmt::format("cannot write to {}: it is not a folder", path.string()));
}

// The existing files of a run, as relative paths; other files in the folder are left alone.
std::vector<fs::path> files_in(const RunFolder& folder) {
  std::vector<fs::path> candidates = folder.files();
  if (is_folder(folder.checkpoints())) {
    for (const std::int64_t step : kept_steps(folder)) candidates.push_back(folder.kept_weights(step));
  }
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::path& file : candidates) {
    if (fs::is_regular_file(fs::symlink_status(file, ignored))) found.push_back(file.lexically_relative(folder.path));
  }
  return found;
}

void move_into_place(const RunFolder& run) {
  const RunFolder decided = decided_checkpoint(run);
  if (!is_folder(decided.path)) return;
  std::error_code error;
  for (const fs::path& file : files_in({decided.path / gone_name})) {
    fs::remove(run.path / file, error);
    require(error, "remove", run.path / file);
  }
  for (const fs::path& file : files_in(decided)) {
    if (file.has_parent_path()) make_folder(run.checkpoints());
    check_writable(run.path / file);
    fs::rename(decided.path / file, run.path / file, error);
    require(error, "replace", run.path / file);
  }
  sync_folder(run.path);
  if (is_folder(run.checkpoints())) sync_folder(run.checkpoints());
  fs::remove_all(decided.path, error);
  require(error, "remove", decided.path);
}

Descriptor lock(const fs::path& folder) {
  Descriptor held(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Saves even on a file system without locks (NFS has none for folders).
  if (held.get() >= 0 && ::flock(held.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw FileError(fmt::format("{} is in use: another process is saving a run there", folder.string()));
  }
  return held;
}

// Returns true if the path leads to the open folder.
bool leads_to(const fs::path& path, int folder) {
  struct stat there = {}, here = {};
  return ::stat(path.c_str(), &there) == 0 && ::fstat(folder, &here) == 0 && there.st_dev == here.st_dev &&
         there.st_ino == here.st_ino;
}

}  // namespace

LockedRun::LockedRun(const fs::path& path) : folder_{path}, lock_(-1) {
  check_writable_run_folder(path);
  lock_ = lock(path);
  move_into_place(folder_);
  std::error_code ignored;  // leftovers are harmless
  fs::remove_all(path / begun_name, ignored);
  remove_leftovers(path);
  remove_leftovers(folder_.checkpoints());
}

std::optional<fs::path> LockedRun::place() const {
  if (lock_.get() < 0 || leads_to(folder_.path, lock_.get())) return folder_.path;
  std::error_code error;
  const fs::path now = fs::read_symlink(fmt::format("/proc/self/fd/{}", lock_.get()), error);
  return !error && leads_to(now, lock_.get()) ? std::optional(now) : std::nullopt;
}

void finish_checkpoint(const fs::path& path) {
  if (!is_folder(decided_checkpoint({path}).path)) return;
  try {
    LockedRun{path};
  } catch (const FileError&) {
  }
}

Checkpoint::Checkpoint(const LockedRun& run) : held_(run), run_(run.folder()), files_{run_.path / begun_name} {
  std::error_code error;
  fs::remove_all(files_.path, error);
  require(error, "remove", files_.path);
  make_folder(files_.path);
  make_folder(files_.checkpoints());
}

Checkpoint::~Checkpoint() {
  std::error_code ignored;
  fs::remove_all(files_.path, ignored);
}

void Checkpoint::remove(const fs::path& file) {
  removed_.push_back(file.lexically_relative(files_.path));
}

void Checkpoint::prune_kept_weights(std::int64_t last_step, std::int64_t count) {
  std::vector<std::int64_t> steps = kept_steps(run_);
  const auto end = std::ranges::upper_bound(steps, last_step);
  const auto begin = end - std::min<std::ptrdiff_t>(count, end - steps.begin());
  steps.erase(begin, end);
  for (const std::int64_t step : steps) remove(files_.kept_weights(step));
}

void Checkpoint::commit() {
  if (held_.place() != run_.path)
    throw FileError(fmt::format("cannot save in {}: the folder was moved meanwhile", run_.path.string()));
  std::error_code error;
  const RunFolder gone{files_.path / gone_name};
  for (const fs::path& file : removed_) {
    if (fs::exists(files_.path / file)) continue;
    fs::create_directories((gone.path / file).parent_path(), error);
    require(error, "create the folder of", gone.path / file);
    write_file(gone.path / file, "");
  }
  for (const fs::path& file : files_in(files_)) check_writable(run_.path / file);
  move_into_place(run_);  // an earlier one whose moves failed
  sync_folder(files_.path);
  fs::rename(files_.path, decided_checkpoint(run_).path, error);
  require(error, "write", decided_checkpoint(run_).path);
  sync_folder(run_.path);
  move_into_place(run_);
}

}  // namespace attnscope
