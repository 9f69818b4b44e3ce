#include "common/cache.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "commands/commands.h"
#include "files/storage/file.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

std::string megabytes(std::uintmax_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::int64_t days_unused(const CacheEntry& entry) {
  return std::chrono::floor<std::chrono::days>(fs::file_time_type::clock::now() - entry.used).count();
}

std::string corpus_of(const CacheEntry& entry) {
  const nlohmann::json about = nlohmann::json::parse(entry.about, nullptr, false);
  if (!about.is_object()) return "(incomplete)";
  const nlohmann::json name = about.value("name", nlohmann::json());
  return name.is_string() ? name.get<std::string>() : "";
}

}  // namespace

int cache(const CacheOptions& options) {
  std::uintmax_t total = 0;
  remove_leftovers(cache_folder());  // of processes that were killed while they wrote
  for (const CacheEntry& entry : cache_entries()) {
    if (options.prune && days_unused(entry) < options.days) continue;
    const std::string name = entry.path.filename().string();
    fmt::print("{:<10} {:>12} last used {:>3} days ago  {}\n", name.substr(0, name.find('-')), megabytes(entry.size),
               days_unused(entry), corpus_of(entry));
    total += entry.size;
    std::error_code error;
    if (options.prune) fs::remove(entry.path, error);
    if (error)
      throw FileError(fmt::format("cannot remove {}: {}", entry.path.string(), error.message()));
  }
  fmt::print("{} {} {}\n", megabytes(total), options.prune ? "removed from" : "in", cache_folder().string());
  return 0;
}

}  // namespace attnscope
