#include "commands/paths.h"

#include <cstdlib>

#include "files/storage/file.h"

namespace attnscope {
namespace {

// The XDG base directory specification requires relative paths to be ignored.
std::filesystem::path absolute_from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return {};
  const std::filesystem::path path(value);
  return path.is_absolute() ? path : std::filesystem::path();
}

// The program's folder inside the variable's folder, or else inside `otherwise` in the home folder.
std::filesystem::path folder_of_user(const char* variable, const char* otherwise) {
  if (const auto base = absolute_from_environment(variable); !base.empty()) return base / "attnscope";
  const auto home = absolute_from_environment("HOME");
  return home.empty() ? home : home / otherwise / "attnscope";
}

}  // namespace

std::filesystem::path asset_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "share" / "attnscope";
}

std::filesystem::path shipped_run() {
  return asset_folder() / "english-french";
}

std::string page_template() {
  constexpr std::uint64_t most_bytes = 1 << 20;
  try {
    return read_file(asset_folder() / "page.html", most_bytes);
  } catch (const FileError&) {
    return {};
  }
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) letter == '\'' ? quoted += "'\\''" : quoted += letter;
  return quoted + "'";
}

std::filesystem::path config_folder() {
  return folder_of_user("XDG_CONFIG_HOME", ".config");
}

std::filesystem::path autosaves_folder() {
  const std::filesystem::path state = folder_of_user("XDG_STATE_HOME", ".local/state");
  return state.empty() ? state : state / "runs";
}

}  // namespace attnscope
