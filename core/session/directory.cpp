#include "session/directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "files/storage/comparison_folder.h"
#include "files/storage/run_folder.h"
#include "files/storage/run_list.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

fs::path home_directory() {
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? fs::path(home) : fs::path("/");
}

fs::path absolute_path(const std::string& path) {
  const fs::path asked = path.empty() ? home_directory() : fs::path(path);
  std::error_code error;
  fs::path absolute = fs::absolute(asked, error);
  if (error) absolute = asked;  // the working directory is gone; reading reports it
  absolute = absolute.lexically_normal();
  const bool trailing_slash = !absolute.has_filename() && absolute != absolute.root_path();
  return trailing_slash ? absolute.parent_path() : absolute;
}

// An entry that vanished or cannot be inspected is still listed, as an empty file.
DirectoryEntry describe(const fs::directory_entry& found) {
  std::error_code error;
  DirectoryEntry entry;
  entry.name = found.path().filename().string();
  entry.is_directory = found.is_directory(error);
  if (entry.is_directory) {
    entry.is_run = is_run(found.path()) || is_comparison(found.path()) || is_sweep(found.path());
  } else {
    const std::uintmax_t size = found.file_size(error);
    entry.size = error ? 0 : size;
  }
  return entry;
}

bool shown_before(const DirectoryEntry& left, const DirectoryEntry& right) {
  if (left.is_directory != right.is_directory) return left.is_directory;
  return left.name < right.name;
}

}  // namespace

DirectoryListed list_directory(const std::string& path) {
  fs::path directory = absolute_path(path);
  DirectoryListed listed;
  std::error_code error;
  if (fs::is_regular_file(directory, error)) directory = directory.parent_path();
  listed.path = directory.string();
  error.clear();
  fs::directory_iterator entries(directory, error);
  while (!error && entries != fs::directory_iterator()) {
    listed.entries.push_back(describe(*entries));
    entries.increment(error);
  }
  if (error) listed.error = fmt::format("cannot read {}: {}", listed.path, error.message());
  std::sort(listed.entries.begin(), listed.entries.end(), shown_before);
  return listed;
}

}  // namespace attnscope
