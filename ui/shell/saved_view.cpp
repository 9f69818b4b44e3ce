#include "shell/saved_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/translation.h"
#include "common/json_text.h"
#include "common/split.h"
#include "lessons/measures.h"
#include "messages/overrides.h"
#include "shell/app_state.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;  // used only for path arithmetic
using Json = nlohmann::ordered_json;

constexpr int version = 1;
constexpr std::array<std::string_view, 3> pictures = {"matrix", "lines", "both"};  // same order as HeadPicture
constexpr std::size_t longest_text = 10'000;                                       // bytes
constexpr std::size_t most_changes = 10'000;
constexpr int most_index = 100'000;  // in tokens

// ---- writing

std::string text_of(const HeadPlace& place) {
  return fmt::format("{} {} {}", part_name(place.part), place.layer + 1, place.head + 1);
}

std::string text_of(const LayerPlace& place) {
  return fmt::format("{} {}", place.decoder ? "decoder" : "encoder", place.layer + 1);
}

Json json_of(const Interventions& changes) {
  Json json = Json::object();
  for (const HeadPlace& place : changes.heads_off) json["heads_off"].push_back(text_of(place));
  for (const LayerPlace& place : changes.layers_off) json["layers_off"].push_back(text_of(place));
  for (const ForcedAttention& forced : changes.forced)
    json["forced"].push_back({{"head", text_of(forced.place)}, {"query", forced.query}, {"key", forced.key}});
  for (const HiddenKeys& hidden : changes.hidden)
    for (const auto& [query, key] : hidden.cells)
      json["hidden"].push_back({{"head", text_of(hidden.place)}, {"query", query}, {"key", key}});
  for (const ReplacedToken& replaced : changes.replaced)
    json["replaced"].push_back(
        {{"target", replaced.target}, {"position", replaced.position}, {"id", replaced.id}, {"text", replaced.text}});
  for (const Steering& steering : changes.steered) {
    json["steered"].push_back({{"layer", text_of(steering.place)},
                               {"plus", steering.plus},
                               {"minus", steering.minus},
                               {"factor", steering.factor}});
    if (steering.is_given) json["steered"].back()["direction"] = steering.direction;
  }
  if (changes.other_scale) json["other_scale"] = true;
  if (changes.no_residuals) json["no_residuals"] = true;
  if (changes.no_positions) json["no_positions"] = true;
  return json;
}

// ---- reading

[[noreturn]] void refuse(const std::string& key, const nlohmann::json& value, const std::string& allowed) {
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > 60) text = "an unexpected value";
  throw std::invalid_argument(fmt::format("\"{}\" is {}, allowed: {}", key, text, allowed));
}

// Reads an object field by field and rejects unknown fields.
class Fields {
 public:
  Fields(const nlohmann::json& json, std::string inside) : json_(json), inside_(std::move(inside)) {
    if (!json.is_object()) throw std::invalid_argument(fmt::format("{} is not a JSON object", named("")));
  }

  void text(const char* key, std::string& value) {
    const nlohmann::json* field = take(key);
    if (!field) return;
    if (!field->is_string() || field->get_ref<const std::string&>().size() > longest_text)
      refuse(named(key), *field, fmt::format("a string of at most {} bytes", longest_text));
    value = field->get<std::string>();
  }

  void flag(const char* key, bool& value) {
    const nlohmann::json* field = take(key);
    if (!field) return;
    if (!field->is_boolean()) refuse(named(key), *field, "true or false");
    value = field->get<bool>();
  }

  template <typename Number>
  void number(const char* key, Number& value, std::int64_t low, std::int64_t high) {
    const nlohmann::json* field = take(key);
    if (!field) return;
    const bool whole = field->is_number_integer() || field->is_number_unsigned();
    if (!whole ||
        !(field->get<double>() >= static_cast<double>(low) && field->get<double>() <= static_cast<double>(high)))
      refuse(named(key), *field, fmt::format("an integer from {} to {}", low, high));
    value = static_cast<Number>(field->get<std::int64_t>());
  }

  template <typename Number>
  void number(const char* key, std::optional<Number>& value, std::int64_t low, std::int64_t high) {
    if (!json_.contains(key)) return;
    number(key, value.emplace(), low, high);
  }

  // Returns the enum value at the index of the given name.
  template <typename Enum>
  void choice(const char* key, Enum& value, std::span<const std::string_view> names) {
    const nlohmann::json* field = take(key);
    if (!field) return;
    const auto found =
        field->is_string() ? std::ranges::find(names, field->get_ref<const std::string&>()) : names.end();
    if (found == names.end()) refuse(named(key), *field, fmt::format("{}", fmt::join(names, ", ")));
    value = static_cast<Enum>(found - names.begin());
  }

  void real(const char* key, float& value, float most) {
    const nlohmann::json* field = take(key);
    if (!field) return;
    if (!field->is_number() || !(std::abs(field->get<double>()) <= static_cast<double>(most)))
      refuse(named(key), *field, fmt::format("a number from {} to {}", -most, most));
    value = field->get<float>();
  }

  void layer(const char* key, LayerPlace& value) {
    if (const nlohmann::json* field = take(key)) value = layer_in(named(key), *field);
  }

  void head(const char* key, HeadPlace& value) {
    if (const nlohmann::json* field = take(key)) value = head_in(named(key), *field);
  }

  template <typename Read>
  void each(const char* key, const Read& read) {
    const nlohmann::json* field = take(key);
    if (!field) return;
    if (!field->is_array() || field->size() > most_changes)
      refuse(named(key), *field, fmt::format("a list of at most {} items", most_changes));
    for (const nlohmann::json& item : *field) read(named(key), item);
  }

  const nlohmann::json* take(const char* key) {
    taken_.emplace_back(key);
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  void finish() const {
    for (const auto& [key, value] : json_.items())
      if (std::ranges::find(taken_, key) == taken_.end())
        throw std::invalid_argument(
            fmt::format("there is no field \"{}\", allowed: {}", named(key), fmt::join(taken_, ", ")));
  }

  static HeadPlace head_in(const std::string& key, const nlohmann::json& field) {
    const auto words =
        field.is_string() ? split(field.get_ref<const std::string&>(), " ") : std::vector<std::string_view>();
    const auto place = words.size() == 3 ? head_from(words[0], words[1], words[2]) : std::nullopt;
    if (!place)
      refuse(key, field, "a head such as \"encoder 2 1\": encoder, decoder or cross, layer and head, counted from 1");
    return *place;
  }

  static LayerPlace layer_in(const std::string& key, const nlohmann::json& field) {
    const auto words =
        field.is_string() ? split(field.get_ref<const std::string&>(), " ") : std::vector<std::string_view>();
    const auto place = words.size() == 2 ? head_from(words[0], words[1], "1") : std::nullopt;
    if (!place || place->part == AttentionPart::cross)
      refuse(key, field, "a layer such as \"encoder 2\": encoder or decoder, and the layer, counted from 1");
    return layer_of(*place);
  }

 private:
  std::string named(const std::string& key) const {
    return inside_.empty() || key.empty() ? inside_ + key : inside_ + "." + key;
  }

  const nlohmann::json& json_;
  std::string inside_;
  std::vector<std::string> taken_;
};

ForcedAttention cell_in(const std::string& key, const nlohmann::json& json) {
  ForcedAttention cell;
  Fields fields(json, key);
  fields.head("head", cell.place);
  fields.number("query", cell.query, 0, most_index);
  fields.number("key", cell.key, 0, most_index);
  fields.finish();
  return cell;
}

Steering steering_in(const std::string& key, const nlohmann::json& json) {
  Steering steering;
  Fields fields(json, key);
  fields.layer("layer", steering.place);
  fields.text("plus", steering.plus);
  fields.text("minus", steering.minus);
  fields.real("factor", steering.factor, largest_steering);
  fields.each("direction", [&](const std::string& item_key, const nlohmann::json& item) {
    if (!item.is_number()) refuse(item_key, item, "a number");
    steering.direction.push_back(item.get<float>());
  });
  steering.is_given = !steering.direction.empty();
  fields.finish();
  return steering;
}

ReplacedToken replaced_in(const std::string& key, const nlohmann::json& json) {
  ReplacedToken replaced;
  Fields fields(json, key);
  fields.flag("target", replaced.target);
  fields.number("position", replaced.position, 0, most_index);
  fields.number("id", replaced.id, -1, 10'000'000);
  fields.text("text", replaced.text);
  fields.finish();
  return replaced;
}

Interventions interventions_in(const nlohmann::json& json) {
  Interventions changes;
  Fields fields(json, "interventions");
  fields.each("heads_off", [&](const std::string& key, const nlohmann::json& item) {
    changes.heads_off.push_back(Fields::head_in(key, item));
  });
  fields.each("layers_off", [&](const std::string& key, const nlohmann::json& item) {
    changes.layers_off.push_back(Fields::layer_in(key, item));
  });
  fields.each("forced", [&](const std::string& key, const nlohmann::json& item) {
    changes.forced.push_back(cell_in(key, item));
  });
  fields.each("hidden", [&](const std::string& key, const nlohmann::json& item) { hide(changes, cell_in(key, item)); });
  fields.each("replaced", [&](const std::string& key, const nlohmann::json& item) {
    changes.replaced.push_back(replaced_in(key, item));
  });
  fields.each("steered", [&](const std::string& key, const nlohmann::json& item) {
    changes.steered.push_back(steering_in(key, item));
  });
  fields.flag("other_scale", changes.other_scale);
  fields.flag("no_residuals", changes.no_residuals);
  fields.flag("no_positions", changes.no_positions);
  fields.finish();
  return changes;
}

void read_workspace(Fields& fields, SavedView& view) {
  std::string name(view.workspace->name);
  fields.text("workspace", name);
  view.workspace = find_workspace(name);
  if (!view.workspace) refuse("workspace", name, fmt::format("{}", fmt::join(workspace_names(), ", ")));
  fields.text("view", view.view);
  std::vector<std::string> views;
  if (view.workspace->views)
    for (const WorkspaceView& each : view.workspace->views()) views.emplace_back(each.name);
  if (!view.view.empty() && std::ranges::find(views, view.view) == views.end())
    refuse("view", view.view,
           views.empty() ? "none, the workspace has only one view" : fmt::format("{}", fmt::join(views, ", ")));
}

SavedView view_in(const nlohmann::json& json) {
  SavedView view;
  Fields fields(json, "");
  int of_version = 0;
  fields.number("attnscope_view", of_version, 1, version);
  if (of_version == 0)
    throw std::invalid_argument("the field \"attnscope_view\" is missing, so this is not a saved view");
  fields.text("run", view.run);
  if (view.run.empty()) refuse("run", view.run, "a folder, or \"shipped\"");
  fields.number("step", view.step, 0, std::int64_t{1} << 40);
  fields.text("sentence", view.sentence);
  fields.text("reference", view.reference);
  read_workspace(fields, view);
  fields.choice("density", view.density, density_names());
  fields.flag("presentation", view.presentation);
  fields.head("head", view.head);
  fields.choice("picture", view.picture, pictures);
  fields.flag("words", view.words);
  fields.number("query", view.query, 0, most_index);
  fields.number("key", view.key, 0, most_index);
  if (const nlohmann::json* changes = fields.take("interventions")) view.interventions = interventions_in(*changes);
  fields.finish();
  return view;
}

// ---- in the window

// The path that identifies the run: the folder it is saved in, or was opened from.
std::string place_of_run(const AppState& scope) {
  // In a comparison, saved_to belongs to the comparison.
  const std::string& folder = scope.saved_to.empty() || scope.b ? scope.a.run.folder : scope.saved_to;
  if (folder.empty()) return folder;
  return folder == scope.facts.shipped_run ? std::string(shipped_run_name) : fs::absolute(folder).string();
}

SavedView seen_now(const AppState& scope) {
  const AttentionView& attention = scope.views.of<AttentionView>();
  const Workspace& workspace = *scope.layout.workspace;
  SavedView view{.run = place_of_run(scope),
                 .step = {},
                 .sentence = scope.layout.sentence,
                 .reference = scope.reference,
                 .workspace = &workspace,
                 .view = {},
                 .density = scope.layout.density,
                 .presentation = scope.presentation,
                 .head = attention.place(),
                 .picture = attention.picture,
                 .words = attention.words,
                 .query = attention.pinned_row,
                 .key = attention.pinned_col,
                 .interventions = attention.interventions};
  if (const Snapshot* past = scope.a.past.snapshot.get()) view.step = past->step;
  if (workspace.views) view.view = workspace.views()[workspace.shown(scope.views)].name;
  // The layer defaults to the last one of the model.
  if (const Snapshot* inspection = scope.a.complete.snapshot.get())
    view.head = selection_in(attention, *inspection).place;
  return view;
}

std::string resolved(const AppState& scope, const SavedView& view, const std::string& folder) {
  if (view.run == shipped_run_name) return scope.facts.shipped_run;
  return (fs::path(folder) / view.run).lexically_normal().string();
}

void show(AppState& scope, const SavedView& view) {
  scope.layout.workspace = view.workspace;
  if (!view.view.empty()) show_view(scope.views, view.view);
  set_density(scope.layout, view.density);
  if (scope.presentation != view.presentation) scope.requests.fullscreen_changed = true;
  scope.presentation = view.presentation;
  set_sentence(scope, view.sentence);
  if (!view.reference.empty()) scope.reference = view.reference;
  AttentionView& attention = scope.views.of<AttentionView>();
  attention.begun = true;
  select(attention, view.head);
  attention.picture = view.picture;
  attention.words = view.words;
  attention.pinned_row = view.query;
  attention.pinned_col = view.key;
  attention.interventions = view.interventions;
  show_present(scope);
  scope.focus_workspace = true;
  if (!view.step) return;
  const PinnedSentence* recorded = recorded_sentence(scope);
  if (!recorded)
    return void(notify(
        scope, Severity::warning,
        trf("Nothing was recorded for the view's sentence, so the present is shown instead of step {}.", *view.step)));
  show_frame(scope, nearest_frame(recorded->frames, static_cast<double>(*view.step)));
}

}  // namespace

std::string to_json(const SavedView& view) {
  Json json = {{"attnscope_view", version}, {"run", view.run}};
  if (view.step) json["step"] = *view.step;
  json["sentence"] = view.sentence;
  if (!view.reference.empty()) json["reference"] = view.reference;
  json["workspace"] = view.workspace->name;
  if (!view.view.empty()) json["view"] = view.view;
  json["density"] = density_names()[static_cast<std::size_t>(view.density)];
  if (view.presentation) json["presentation"] = true;
  json["head"] = text_of(view.head);
  json["picture"] = pictures[static_cast<std::size_t>(view.picture)];
  if (view.words) json["words"] = true;
  if (view.query) json["query"] = *view.query;
  if (view.key) json["key"] = *view.key;
  if (!view.interventions.empty()) json["interventions"] = json_of(view.interventions);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

SavedViewRead saved_view_from_json(std::string_view text) {
  try {
    if (text.size() > most_view_bytes) throw std::invalid_argument(fmt::format("more than {} bytes", most_view_bytes));
    return {view_in(parse_json(text)), ""};
  } catch (const nlohmann::json::exception&) {
    return {{}, "it is not JSON"};
  } catch (const std::exception& error) {
    return {{}, error.what()};
  }
}

bool can_save_view(const AppState& scope) {
  return has_run(scope) && !place_of_run(scope).empty();
}

void save_view(AppState& scope, const std::string& path, bool replace) {
  if (can_save_view(scope)) scope.commands.emplace_back(WriteFile{path, to_json(seen_now(scope)), replace});
}

void open_view(AppState& scope, SavedView view, const std::string& folder) {
  if (in_lesson(scope)) leave_lesson(scope);
  const std::string run = resolved(scope, view, folder);
  if (run.empty())
    return void(notify(scope, Severity::error,
                       tr("The run that comes with attnscope is missing. Reinstall attnscope, or open another run.")));
  const bool is_open = has_run(scope) && (run == scope.a.run.folder || run == scope.saved_to);
  if (is_open && !scope.lessons.reader) return show(scope, view);
  scope.opening_view = OpeningView{std::move(view), run, scope.a.run.run};
  scope.commands.emplace_back(OpenRun{.path = run});
}

void receive(AppState& scope, const FileRead& read) {
  if (!read.error.empty())
    return void(notify(scope, Severity::error, trf("The view could not be opened: {}", read.error)));
  SavedViewRead found = saved_view_from_json(read.bytes);
  if (found.complaint.empty())
    return open_view(scope, std::move(found.view), fs::path(read.path).parent_path().string());
  notify(scope, Severity::error, trf("The view {} could not be opened: {}", read.path, found.complaint));
}

void settle_saved_view(AppState& scope) {
  if (!scope.opening_view) return;
  // An open lesson restores the reader's run first.
  if (scope.lessons.reader) {
    if (scope.a.run.folder != scope.opening_view->folder) scope.opening_view->run_before = scope.a.run.run;
    return;
  }
  if (scope.a.run.run == scope.opening_view->run_before || scope.a.run.folder != scope.opening_view->folder) return;
  const OpeningView opened = *std::exchange(scope.opening_view, std::nullopt);
  show(scope, opened.view);
}

void give_up_view(AppState& scope) {
  if (scope.opening_view && scope.a.run.run == scope.opening_view->run_before) scope.opening_view.reset();
}

}  // namespace attnscope
