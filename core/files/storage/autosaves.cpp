#include "files/storage/autosaves.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <system_error>

#include "common/clamped.h"
#include "files/storage/file.h"
#include "files/storage/safetensors.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 60;  // bytes
constexpr std::string_view time_form = "-20260131-235959";

std::string usable_in_path(std::string name) {
  for (char& c : name) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    if (!kept) c = '-';
  }
  name.resize(std::min(name.size(), longest_name));
  return name.empty() || name.front() == '.' ? "run" + name : name;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(entry->symlink_status(ignored))) found.push_back(entry->path());
  }
  return found;
}

// Returns none if it is locked by another process, or cannot be locked.
std::optional<LockedRun> hold(const fs::path& run) {
  try {
    return LockedRun(run);
  } catch (const FileError&) {
    return std::nullopt;
  }
}

std::int64_t saved_at(const RunFolder& run) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(run.model(), error);
  if (error) return 0;
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::file_clock::to_sys(time).time_since_epoch())
      .count();
}

// The step of the weights; 0 if unknown.
std::int64_t saved_step(const RunFolder& run) {
  try {
    const std::map<std::string, std::string> metadata = read_metadata(run.model());
    const auto step = metadata.find("step");
    std::int64_t count = 0;
    if (step != metadata.end()) std::from_chars(step->second.data(), step->second.data() + step->second.size(), count);
    return clamped<std::int64_t>(count, 0, largest_step);
  } catch (const std::runtime_error&) {
    return 0;
  }
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const std::uintmax_t size = entry->is_regular_file(ignored) ? entry->file_size(ignored) : 0;
    if (!ignored) bytes += size;
  }
  return bytes;
}

struct Left {
  LockedRun held;  // so that no other process takes it meanwhile
  std::int64_t saved_at;
};

// Newest first.
std::vector<Left> hold_left(const fs::path& folder) {
  std::vector<Left> left;
  for (const fs::path& path : folders_in(folder)) {
    std::optional<LockedRun> held = hold(path);
    if (!held) continue;
    const std::int64_t time = saved_at(held->folder());
    left.push_back({*std::move(held), time});
  }
  std::ranges::sort(left, [](const Left& a, const Left& b) {
    return a.saved_at != b.saved_at ? a.saved_at > b.saved_at : a.held.folder().path > b.held.folder().path;
  });
  return left;
}

}  // namespace

LockedRun Autosaves::make(const std::string& run_name) const {
  make_room();
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw FileError(fmt::format("cannot create the folder {}: {}", folder_.string(), error.message()));
  const std::string base = fmt::format("{}-{:%Y%m%d-%H%M%S}", usable_in_path(run_name), fmt::localtime(std::time({})));
  for (int number = 1;; ++number) {
    const fs::path path = folder_ / (number == 1 ? base : fmt::format("{}-{}", base, number));
    if (fs::create_directory(path, error)) return LockedRun(path);
    if (error) throw FileError(fmt::format("cannot create the folder {}: {}", path.string(), error.message()));
  }
}

bool Autosaves::contains(const fs::path& run) const {
  std::error_code ignored;
  return fs::equivalent(fs::absolute(run, ignored).lexically_normal().parent_path(), folder_, ignored);
}

std::string Autosaves::run_name(const fs::path& run) {
  const std::string name = run.filename().string();
  const std::size_t day = name.rfind("-20", name.size() - std::min(name.size(), time_form.size()));
  return day == std::string::npos || day == 0 ? name : name.substr(0, day);
}

std::vector<Autosave> Autosaves::left() const {
  std::vector<Autosave> runs;
  for (const Left& left : hold_left(folder_)) {
    const RunFolder& folder = left.held.folder();
    if (is_run(folder.path))
      runs.push_back({folder.path.string(), run_name(folder.path), saved_step(folder), left.saved_at});
  }
  return runs;
}

void Autosaves::make_room() const {
  std::uint64_t bytes = 0;
  std::size_t runs = 0;
  for (const Left& left : hold_left(folder_)) {
    const bool whole = is_run(left.held.folder().path);
    if (whole) bytes += bytes_in(left.held.folder().path);
    if (whole && ++runs <= 2) continue;
    if (!whole || runs >= max_runs || bytes > max_bytes) remove(left.held);
  }
}

void Autosaves::remove(const LockedRun& run) {
  std::error_code ignored;
  if (const auto place = run.place()) fs::remove_all(*place, ignored);
}

}  // namespace attnscope
