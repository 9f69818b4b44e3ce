#include "messages/run_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace attnscope {

std::vector<std::string_view> differing_keys(const std::vector<ListedRun>& runs) {
  std::vector<std::string_view> keys;
  for (const ConfigField& field : config_fields()) {
    const auto text = [&](const ListedRun& run) { return field_text(run.config, field); };
    const bool used = std::ranges::any_of(runs, [&](const ListedRun& run) { return is_used(run.config, field); });
    const bool alike = std::ranges::all_of(runs, [&](const ListedRun& run) { return text(run) == text(runs.front()); });
    if (used && !alike) keys.push_back(field.key);
  }
  return keys;
}

std::string setting_text(const ListedRun& run, std::string_view key) {
  const ConfigField& field = config_field(key);
  return is_used(run.config, field) ? field_text(run.config, field) : "–";
}

std::optional<double> setting_number(const ListedRun& run, std::string_view key) {
  const std::string text = setting_text(run, key);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' || !std::isfinite(number) ? std::nullopt : std::optional(number);
}

}  // namespace attnscope
