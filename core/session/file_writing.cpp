#include "session/file_writing.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <system_error>

#include "files/storage/file.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

void make_folder_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directory(folder, error);
  if (error && !fs::is_directory(folder)) {
    throw FileError(fmt::format("cannot create the folder {}: {}", folder.string(), error.message()));
  }
}

void write(const WriteFile& wanted) {
  const fs::path path(wanted.path);
  make_folder_of(path);
  if (!wanted.replace && fs::exists(path)) {
    throw FileError(fmt::format("{} already exists and was not replaced", path.string()));
  }
  write_file(path, wanted.bytes);
}

}  // namespace

FileWritten write_wanted(const WriteFile& wanted) {
  try {
    write(wanted);
    return {wanted.path, ""};
  } catch (const std::exception& error) {
    return {wanted.path, error.what()};
  }
}

FileRead read_wanted(const ReadFile& wanted) {
  try {
    return {wanted.path, read_file(wanted.path, wanted.most_bytes), ""};
  } catch (const std::exception& error) {
    return {wanted.path, "", error.what()};
  }
}

}  // namespace attnscope
