#include "shell/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "common/json_text.h"

namespace attnscope {
namespace {

// Same order as Density.
constexpr std::array<std::string_view, 3> densities = {"simple", "standard", "everything"};

constexpr std::size_t longest_sentence = 10000;  // bytes saved per sentence

constexpr std::string_view of_system = "system";

std::string_view language_text(std::optional<Language> language) {
  return language ? language_codes[static_cast<std::size_t>(*language)] : of_system;
}

std::string_view text_of(Density density) {
  return densities[static_cast<std::size_t>(density)];
}

// Reads known fields one by one and notes those it could not use.
class Reader {
 public:
  explicit Reader(const nlohmann::json& json) : json_(json) {}

  void number(const char* key, float& value, float low, float high) {
    if (!json_.contains(key)) return;
    const auto& field = json_[key];
    // The comparison also rejects NaN.
    if (!field.is_number() || !(field.get<double>() >= low && field.get<double>() <= high)) return refuse(key);
    value = field.get<float>();
  }

  void flag(const char* key, bool& value) {
    if (!json_.contains(key)) return;
    if (!json_[key].is_boolean()) return refuse(key);
    value = json_[key].get<bool>();
  }

  void text(const char* key, std::string& value) {
    if (!json_.contains(key)) return;
    if (!usable_text(json_[key])) return refuse(key);
    value = json_[key].get<std::string>();
  }

  void texts(const char* key, std::vector<std::string>& values, std::size_t most) {
    if (!json_.contains(key)) return;
    if (!json_[key].is_array()) return refuse(key);
    for (const auto& item : json_[key]) {
      if (values.size() == most) break;
      if (!usable_text(item)) return refuse(key);
      values.push_back(item.get<std::string>());
    }
  }

  std::string complaint() const {
    if (refused_.empty()) return {};
    return fmt::format("Settings: {} could not be used and was reset to the default.", fmt::join(refused_, ", "));
  }

  void refuse(const char* key) { refused_.push_back(fmt::format("\"{}\"", key)); }

 private:
  static bool usable_text(const nlohmann::json& field) {
    return field.is_string() && field.get_ref<const std::string&>().size() <= longest_sentence;
  }

  const nlohmann::json& json_;
  std::vector<std::string> refused_;
};

void read_names(Reader& reader, Layout& layout) {
  std::string name(layout.workspace->name);
  reader.text("workspace", name);
  const Workspace* workspace = find_workspace(name);
  if (workspace)
    layout.workspace = workspace;
  else
    reader.refuse("workspace");

  name = text_of(layout.density);
  reader.text("density", name);
  const auto density = std::ranges::find(densities, name);
  if (density == densities.end())
    reader.refuse("density");
  else
    layout.density = static_cast<Density>(density - densities.begin());

  name = of_system;
  reader.text("theme", name);
  if (name == theme_text(theme_from(name)))
    layout.theme = theme_from(name);
  else if (name != of_system)
    reader.refuse("theme");

  name = of_system;
  reader.text("language", name);
  const auto code = std::ranges::find(language_codes, name);
  if (code != language_codes.end())
    layout.language = static_cast<Language>(code - language_codes.begin());
  else if (name != of_system)
    reader.refuse("language");
}

}  // namespace

std::span<const std::string_view> density_names() {
  return densities;
}

void set_density(Layout& layout, Density density) {
  layout.density = density;
  layout.setup_open = layout.curves_open = density != Density::simple;
}

Layout first_layout() {
  Layout layout;
  set_density(layout, Density::simple);
  layout.workspace = find_workspace("glance");
  layout.sentence_edited = false;
  return layout;
}

std::string layout_to_json(const Layout& layout) {
  const nlohmann::ordered_json json = {
      {"setup_width", layout.setup_width},
      {"curves_width", layout.curves_width},
      {"heads_width", layout.side_width},
      {"setup_open", layout.setup_open},
      {"curves_open", layout.curves_open},
      {"workspace", layout.workspace->name},
      {"theme", layout.theme ? theme_text(*layout.theme) : of_system},
      {"language", language_text(layout.language)},
      {"zoom", layout.zoom},
      {"density", text_of(layout.density)},
      {"sentence", layout.sentence},
      {"sentence_edited", layout.sentence_edited},
      {"recent", layout.recent},
      {"recent_runs", layout.recent_runs},
      {"last_run", layout.last_run},
      {"continue_last_run", layout.continue_last_run},
      {"offered_run", layout.offered_run},
  };
  // A pasted sentence may be invalid UTF-8, which must not lose the other settings.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

LayoutRead layout_from_json(std::string_view text) {
  nlohmann::json json;
  try {
    json = parse_json(text);
  } catch (const std::exception&) {  // also if it is not an object
  }
  if (!json.is_object()) return {Layout{}, "Settings: the file is not a JSON object; the defaults are used instead."};

  LayoutRead read;
  Reader reader(json);
  reader.number("setup_width", read.layout.setup_width, 100, 2000);
  reader.number("curves_width", read.layout.curves_width, 100, 2000);
  reader.number("heads_width", read.layout.side_width, 100, 2000);
  reader.flag("setup_open", read.layout.setup_open);
  reader.flag("curves_open", read.layout.curves_open);
  reader.number("zoom", read.layout.zoom, min_zoom, max_zoom);
  reader.text("sentence", read.layout.sentence);
  reader.flag("sentence_edited", read.layout.sentence_edited);
  // Older settings files call it a history.
  reader.texts(json.contains("recent") ? "recent" : "history", read.layout.recent, max_recent);
  reader.texts("recent_runs", read.layout.recent_runs, max_recent_runs);
  reader.text("last_run", read.layout.last_run);
  reader.flag("continue_last_run", read.layout.continue_last_run);
  reader.text("offered_run", read.layout.offered_run);
  read_names(reader, read.layout);
  read.complaint = reader.complaint();
  return read;
}

}  // namespace attnscope
