#include "commands/paths.h"

#include <cstdlib>

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

std::filesystem::path config_folder() {
  return folder_of_user("XDG_CONFIG_HOME", ".config");
}

std::filesystem::path autosaves_folder() {
  const std::filesystem::path state = folder_of_user("XDG_STATE_HOME", ".local/state");
  return state.empty() ? state : state / "runs";
}

}  // namespace attnscope
