#include "files/storage/comparison_folder.h"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/json_text.h"
#include "files/storage/file.h"

namespace attnscope {
namespace {

constexpr int comparison_version = 1;
constexpr std::uint64_t largest_file = 1U << 16U;  // two paths

nlohmann::json parsed(const std::filesystem::path& file) {
  const std::string bytes = read_file(file, largest_file);
  try {
    return parse_json(bytes);
  } catch (const std::exception& error) {
    throw RunError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

std::filesystem::path named_run(const ComparisonFolder& folder, const nlohmann::json& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_string() || found->get<std::string>().empty())
    throw RunError(fmt::format("{}: \"{}\" should be the folder of a run", folder.file().string(), field));
  return (folder.path / found->get<std::string>()).lexically_normal();
}

}  // namespace

bool is_comparison(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(ComparisonFolder{path}.file(), error);
}

void check_free_for_comparison(const std::filesystem::path& path) {
  if (is_comparison(path)) return;
  std::error_code error;
  const bool absent = !std::filesystem::exists(path, error);
  if (!absent && !std::filesystem::is_empty(path, error))
    throw FileError(fmt::format("{} contains something else: choose a new folder", path.string()));
}

void save_comparison(const ComparisonFolder& folder) {
  const nlohmann::ordered_json json = {
      {"version", comparison_version}, {"a", folder.a().filename().string()}, {"b", folder.b().filename().string()}};
  write_file(folder.file(), json.dump(2) + "\n");
}

ComparedRuns load_comparison(const ComparisonFolder& folder) {
  const nlohmann::json json = parsed(folder.file());
  if (!json.is_object()) throw RunError(fmt::format("{} is not a JSON object", folder.file().string()));
  if (const auto version = json.find("version"); version == json.end() || *version != comparison_version)
    throw RunError(fmt::format("{}: \"version\" should be {}", folder.file().string(), comparison_version));
  return {named_run(folder, json, "a"), named_run(folder, json, "b")};
}

}  // namespace attnscope
