#include "window/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "common/clamped.h"
#include "common/json_text.h"
#include "files/storage/file.h"

namespace attnscope {
namespace {

constexpr std::uintmax_t largest_file = 1u << 20;
constexpr int smallest_window = 320;
constexpr int largest_window = 16384;

int window_length(const nlohmann::json& json, const char* key, int otherwise) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return otherwise;
  return static_cast<int>(clamped<std::int64_t>(found->get<std::int64_t>(), smallest_window, largest_window));
}

WindowPlace place_from_json(const nlohmann::json& json) {
  WindowPlace place;
  place.width = window_length(json, "width", place.width);
  place.height = window_length(json, "height", place.height);
  const auto number = [&](const char* key) { return json.contains(key) && json[key].is_number_integer(); };
  if (number("x") && number("y")) {
    const auto within = [](std::int64_t value) {
      return static_cast<int>(clamped<std::int64_t>(value, -largest_window, largest_window));
    };
    place.corner = {within(json["x"].get<std::int64_t>()), within(json["y"].get<std::int64_t>())};
  }
  place.maximized = json.contains("maximized") && json["maximized"].is_boolean() && json["maximized"].get<bool>();
  return place;
}

nlohmann::json to_json(const WindowPlace& place) {
  nlohmann::json json = {{"width", place.width}, {"height", place.height}, {"maximized", place.maximized}};
  if (place.corner) {
    json["x"] = place.corner->x;
    json["y"] = place.corner->y;
  }
  return json;
}

SettingsRead settings_from_text(const std::string& text) {
  const nlohmann::json json = parse_json(text);
  if (!json.is_object()) throw std::runtime_error("the file is not a JSON object");
  SettingsRead read;
  if (json.contains("layout")) {
    LayoutRead layout = layout_from_json(json["layout"].dump());
    read.settings.layout = std::move(layout.layout);
    read.complaint = std::move(layout.complaint);
  }
  if (const auto window = json.find("window"); window != json.end() && window->is_object())
    read.settings.window = place_from_json(*window);
  return read;
}

// Moves the file aside and returns a message with the reason and its new path.
std::string move_aside(const std::filesystem::path& file, const std::string& reason) {
  std::string state;
  try {
    state = "the file was moved to " + set_aside(file).string();
  } catch (const FileError& error) {
    state = error.what();
  }
  return fmt::format("Settings were reset to their defaults because {} cannot be read ({}); {}", file.string(), reason,
                     state);
}

}  // namespace

SettingsRead read_settings(const std::filesystem::path& file) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return {{first_layout()}, ""};
  try {
    SettingsRead read = settings_from_text(read_file(file, largest_file));
    if (!read.complaint.empty()) read.complaint = fmt::format("{}: {}", file.string(), read.complaint);
    return read;
  } catch (const std::exception& problem) {
    return {{}, move_aside(file, problem.what())};
  }
}

void write_settings(const std::filesystem::path& file, const Settings& settings) {
  const nlohmann::json json = {
      {"version", 1},
      {"window", to_json(settings.window)},
      {"layout", nlohmann::json::parse(layout_to_json(settings.layout))},
  };
  std::filesystem::create_directories(file.parent_path());
  remove_leftovers(file.parent_path());
  write_file(file, json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace attnscope
