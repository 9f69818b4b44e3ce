// The commands that list the names for the command line: configuration fields, presets, built-in corpora.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "commands/commands.h"
#include "config/config.h"
#include "config/presets.h"
#include "data/corpus/corpus.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;  // for human readers, so in table order

// The field's default value as JSON.
Json value_json(const ConfigField& field) {
  Config config;
  return std::visit([](auto* value) -> Json { return *value; }, field.value(config));
}

std::string type_name(const ConfigField& field) {
  Config config;
  return std::visit(
      [](auto* value) -> std::string {
        using Value = std::remove_pointer_t<decltype(value)>;
        if (std::is_same_v<Value, bool>) return "boolean";
        if (std::is_same_v<Value, std::int64_t>) return "integer";
        return std::is_same_v<Value, double> ? "number" : "text";
      },
      field.value(config));
}

bool is_number(const ConfigField& field) {
  const Json value = value_json(field);
  return value.is_number();
}

Json to_json(const ConfigField& field) {
  Json json = {{"key", field.key}, {"label", field.label}, {"type", type_name(field)}, {"default", value_json(field)}};
  if (is_number(field)) {
    json["min"] = field.limits.min;
    json["max"] = field.limits.max;
  }
  if (!field.limits.choices.empty()) json["choices"] = field.limits.choices;
  if (!field.limits.unit.empty()) json["unit"] = field.limits.unit;
  json["live"] = field.live;
  json["meaning"] = field.help;
  return json;
}

// "1 to 4096", "adam, adamw", "true, false"; empty for arbitrary text.
std::string allowed_text(const ConfigField& field) {
  if (!field.limits.choices.empty()) return fmt::format("{}", fmt::join(field.limits.choices, ", "));
  if (is_number(field)) return fmt::format("{} to {}", field.limits.min, field.limits.max);
  return type_name(field) == "boolean" ? "true, false" : "";
}

void print_field(const ConfigField& field) {
  const Config config;
  const std::string value = field_text(config, field);
  const std::string allowed = allowed_text(field);
  fmt::print("{} = {}{}\n    {}{}\n", field.key, value.empty() ? "\"\"" : value,
             allowed.empty() ? "" : fmt::format("  ({})", allowed), field.help,
             field.live ? "; can be changed while training" : "");
}

// One row per preset or corpus: name and description.
template <typename Rows, typename ToJson>
int list(const Rows& rows, bool json, ToJson to_json) {
  if (json) {
    Json all = Json::array();
    for (const auto& row : rows) all.push_back(to_json(row));
    fmt::print("{}\n", all.dump());
    return 0;
  }
  for (const auto& row : rows) fmt::print("{:<15} {}\n", row.name, row.description);
  return 0;
}

}  // namespace

int fields(const NamesOptions& options) {
  if (!options.json) {
    std::ranges::for_each(config_fields(), print_field);
    return 0;
  }
  Json all = Json::array();
  for (const ConfigField& field : config_fields()) all.push_back(to_json(field));
  fmt::print("{}\n", all.dump());
  return 0;
}

int presets(const NamesOptions& options) {
  return list(presets(), options.json, [](const Preset& preset) {
    return Json{{"name", preset.name}, {"description", preset.description}, {"fields", preset.fields}};
  });
}

int corpora(const NamesOptions& options) {
  return list(built_in_corpora(), options.json, [](const BuiltIn& corpus) {
    return Json{{"name", corpus.name}, {"description", corpus.description}};
  });
}

}  // namespace attnscope
