#include "commands/paths.h"

#include <cstdlib>

namespace attnscope {
namespace {

// The XDG base directory specification has relative paths ignored.
std::filesystem::path absolute_from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return {};
  const std::filesystem::path path(value);
  return path.is_absolute() ? path : std::filesystem::path();
}

}  // namespace

std::filesystem::path asset_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "share" / "attnscope";
}

std::filesystem::path shipped_run() {
  return asset_folder() / "english-french";
}

std::filesystem::path config_folder() {
  if (const auto config = absolute_from_environment("XDG_CONFIG_HOME"); !config.empty()) return config / "attnscope";
  const auto home = absolute_from_environment("HOME");
  return home.empty() ? home : home / ".config" / "attnscope";
}

}  // namespace attnscope
