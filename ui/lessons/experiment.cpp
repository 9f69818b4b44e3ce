#include "lessons/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "config/presets.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;  // used only for path arithmetic
using Json = nlohmann::json;

std::string text_at(const Json& json, std::string_view field, bool needed) {
  const auto found = json.find(field);
  if (found == json.end() && !needed) return {};
  if (found == json.end()) throw std::runtime_error(fmt::format("\"{}\" is missing", field));
  if (!found->is_string()) throw std::runtime_error(fmt::format("\"{}\" must be a text", field));
  return found->get<std::string>();
}

// A language that is missing shows the English text.
Words words_at(const Json& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_object())
    throw std::runtime_error(fmt::format("\"{}\" must be an object with the text per language: {{\"en\": …}}", field));
  Words words;
  const std::string english = text_at(*found, language_codes[0], true);
  for (std::size_t i = 0; i < language_codes.size(); ++i) {
    const std::string text = text_at(*found, language_codes[i], false);
    words.by_language[i] = text.empty() ? english : text;
  }
  return words;
}

Config config_at(const Json& json, const fs::path& folder) {
  Config config = with_preset(preset(text_at(json, "preset", true)), {});
  const Json set = json.value("set", Json::object());
  if (!set.is_object()) throw std::runtime_error("\"set\" must be an object with a text per configuration field");
  for (const auto& [key, value] : set.items())
    set_field(config, key, value.is_string() ? value.get<std::string>() : value.dump());
  for (std::string* path : {&config.corpus.source, &config.corpus.target})
    if (path->starts_with("./")) *path = (folder / *path).lexically_normal().string();
  check(config);
  return config;
}

constexpr std::array<std::string_view, 10> fields = {"place", "title", "text", "duration", "figure",
                                                     "preset", "set", "view", "sentence", "lesson"};

Experiment experiment_of(const Json& json, const fs::path& folder) {
  if (!json.is_object()) throw std::runtime_error("not a JSON object");
  for (const auto& [field, value] : json.items())
    if (std::ranges::find(fields, field) == fields.end())
      throw std::runtime_error(fmt::format("\"{}\" is not a field, allowed: {}", field, fmt::join(fields, ", ")));
  const Json place = json.value("place", Json(1000));
  if (!place.is_number_integer()) throw std::runtime_error("\"place\" must be a whole number");
  Experiment experiment{.name = folder.filename().string(),
                        .folder = folder.string(),
                        .place = place.get<int>(),
                        .title = words_at(json, "title"),
                        .text = words_at(json, "text"),
                        .duration = words_at(json, "duration"),
                        .figure = text_at(json, "figure", true),
                        .config = config_at(json, folder),
                        .view = text_at(json, "view", true),
                        .sentence = text_at(json, "sentence", false),
                        .lesson = text_at(json, "lesson", false)};
  const std::vector<std::string> views = view_names();
  if (std::ranges::find(views, experiment.view) == views.end())
    throw std::runtime_error(fmt::format("\"view\" is \"{}\", allowed: {}", experiment.view, fmt::join(views, ", ")));
  return experiment;
}

}  // namespace

std::string lesson_file_of(const Experiment& experiment) {
  const fs::path name = fs::path(experiment.lesson).filename();  // one of its own may have the experiment's before it
  return (fs::path(experiment.folder) / (name.string() + ".lesson")).string();
}

ExperimentRead read_experiment(std::string_view json, const std::string& path) {
  try {
    return {experiment_of(Json::parse(json), fs::path(path).parent_path()), {}};
  } catch (const std::exception& error) {
    return {{}, fmt::format("{}: {}", path, error.what())};
  }
}

}  // namespace attnscope
