#include "shell/export.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/translation.h"
#include "common/matrix_text.h"
#include "shell/captures.h"
#include "shell/lessons/handout.h"
#include "shell/timeline/timeline.h"
#include "workspaces/attention/controls.h"
#include "workspaces/attention/text.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;  // used only for path arithmetic

// Limit on files that the worker has not confirmed yet, so that a slow disk does not fill the memory.
constexpr std::size_t most_on_their_way = 3;

// Returns whether the level "Head" currently shows that head, alone or mixed with others, by tokens or by words.
bool draws(const AppState& scope, const HeadPlace& place, const Shown& shown) {
  const AttentionView& view = scope.views.of<AttentionView>();
  const HeadMap& drawn = view.map;
  return scope.layout.workspace->name == "attention" && view.level == AttentionLevel::head &&
         !drawn.choice.heads.empty() && drawn.choice.heads.front() == place && drawn.version == shown.version &&
         !drawn.pending;
}

std::optional<WorkspaceNumbers> selected_map(const AppState& scope) {
  if (scope.b && scope.comparing.side == DisplayedSide::difference) {
    const DifferenceView* both = find_difference_view(scope.layout.workspace->name);
    return both && both->numbers ? both->numbers(scope.views) : std::nullopt;
  }
  if (const auto numbers = scope.layout.workspace->numbers) return numbers(scope.views);
  const ShownMaps maps = shown_maps(scope);
  const AttentionView& view = scope.views.of<AttentionView>();
  if (!maps.newest.snapshot || maps.lacks(view.part)) return std::nullopt;
  const Shown shown = maps.of(view.part);
  const Snapshot& snapshot = *shown.snapshot;
  const HeadPlace place = selection_in(view, snapshot).place;
  if (draws(scope, place, shown)) {
    const HeadMap& drawn = view.map;
    return WorkspaceNumbers{drawn.map, drawn.row_labels, drawn.col_labels, map_name(drawn, snapshot.model)};
  }
  return WorkspaceNumbers{*map_at(snapshot, place), texts_of(row_tokens(snapshot, place.part)),
                          texts_of(col_tokens(snapshot, place.part)), head_name(place, snapshot.model)};
}

void write_numbers(AppState& scope, const std::string& path, bool replace, decltype(matrix_csv)* text) {
  const auto map = selected_map(scope);
  if (map) scope.commands.push_back(WriteFile{path, text(map->matrix, map->rows, map->cols), replace});
}

std::string film_path(const FilmOrder& film) {
  return (fs::path(film.folder) / fmt::format("film-{:05}.png", film.drawn + 1)).string();
}

void end_film(AppState& scope, Severity severity, const std::string& text) {
  scope.exports.film.reset();
  show_present(scope);
  notify(scope, severity, text);
}

std::optional<PictureOrder> next_of_film(AppState& scope) {
  FilmOrder& film = *scope.exports.film;
  if (film.drawn == film.frames.size() || film.drawn - film.written >= most_on_their_way) return std::nullopt;
  const PinnedSentence* sentence = recorded_sentence(scope);
  const Frame& frame = film.frames[film.drawn];
  const auto at = sentence ? std::ranges::find(sentence->frames, frame) : std::vector<Frame>::const_iterator();
  if (!sentence || at == sentence->frames.end()) {
    end_film(scope, Severity::warning,
             trf("The film stopped after {} pictures, because its steps are no longer shown. The pictures written so "
                 "far remain.",
                 film.drawn));
    return std::nullopt;
  }
  show_frame(scope, static_cast<std::size_t>(at - sentence->frames.begin()));
  return PictureOrder{.path = film_path(film), .replace = film.replace};
}

void end_if_written(AppState& scope) {
  const FilmOrder& film = *scope.exports.film;
  if (film.written < film.frames.size()) return;
  end_film(scope, Severity::info,
           film.written == 1 ? trf("Saved 1 picture in {}", film.folder)
                             : trf("Saved {} pictures in {}", film.written, film.folder));
}

void film_written(AppState& scope, const FileWritten& written) {
  FilmOrder& film = *scope.exports.film;
  if (!written.error.empty()) {
    return end_film(scope, Severity::error, trf("The film could not be saved: {}", written.error));
  }
  ++film.written;
  end_if_written(scope);
}

bool is_of_film(const AppState& scope, const std::string& path) {
  return scope.exports.film && fs::path(path).parent_path() == fs::path(scope.exports.film->folder);
}

}  // namespace

bool can_take_picture(const AppState& scope) {
  return scope.exports.area.high.x > scope.exports.area.low.x && !scope.exports.film;
}

void order_png(AppState& scope, const std::string& path, bool replace) {
  scope.exports.picture = {.path = path, .replace = replace};
}

void order_svg(AppState& scope, const std::string& path, bool replace) {
  scope.exports.picture = {.path = path, .replace = replace, .vector = true};
}

void order_handout(AppState& scope, const std::string& path, bool replace) {
  scope.exports.picture = {.path = path, .replace = replace, .vector = true, .handout = true};
}

void copy_workspace(AppState& scope) {
  scope.exports.picture = PictureOrder{.clipboard = true};
}

bool has_numbers(const AppState& scope) {
  return selected_map(scope).has_value();
}

std::string numbers_name(const AppState& scope) {
  std::string name = selected_map(scope)->title;
  std::ranges::replace(name, ' ', '-');
  return name;
}

void write_csv(AppState& scope, const std::string& path, bool replace) {
  write_numbers(scope, path, replace, matrix_csv);
}

void write_curves(AppState& scope, const std::string& path, bool replace) {
  const std::string text = curves_csv(scope.a.curves, scope.curves_view.weights, scope.b ? &scope.b->curves : nullptr);
  scope.commands.push_back(WriteFile{path, text, replace});
}

void write_json(AppState& scope, const std::string& path, bool replace) {
  write_numbers(scope, path, replace, matrix_json);
}

void copy_numbers(AppState& scope) {
  const auto map = selected_map(scope);
  if (!map) return;
  ImGui::SetClipboardText(matrix_csv(map->matrix, map->rows, map->cols).c_str());
  notify(scope, Severity::info, trf("Copied the numbers of {}", map->title));
}

bool can_film(const AppState& scope) {
  return recorded_sentence(scope) != nullptr && !scope.exports.film;
}

void order_film(AppState& scope, const std::string& folder, bool replace) {
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence) return;
  scope.exports.film = FilmOrder{folder, replace, sentence->frames};
  scope.timeline.playing = false;
}

void stop_film(AppState& scope) {
  if (!scope.exports.film) return;
  FilmOrder& film = *scope.exports.film;
  film.frames.resize(film.drawn);  // frames already drawn are still written
  end_if_written(scope);
}

bool can_report(const AppState& scope) {
  return !scope.a.run.folder.empty() && !shows_capture(scope) && !(scope.b && scope.b->run.folder.empty());
}

std::string report_name(const AppState& scope) {
  return trf("{}-report", scope.a.run.name);
}

void order_report(AppState& scope, const std::string& folder, bool) {
  RequestedReport wanted{{scope.saved_to.empty() ? scope.a.run.folder : scope.saved_to}, folder};
  if (scope.b) wanted.runs.push_back(scope.b->run.folder);
  scope.requests.report = std::move(wanted);
  notify(scope, Severity::info, trf("The report is being written to {}. You can continue meanwhile.", folder));
}

void receive(AppState& scope, const FileWritten& written) {
  if (is_of_film(scope, written.path)) return film_written(scope, written);
  if (written.error.empty()) {
    notify(scope, Severity::info, "Wrote " + written.path);
  } else {
    notify(scope, Severity::error, "Nothing was saved: " + written.error);
  }
}

void picture_copied(AppState& scope, const std::string& error) {
  if (error.empty()) {
    notify(scope, Severity::info, tr("Copied a picture of the workspace"));
  } else {
    notify(scope, Severity::error, trf("The picture could not be copied: {}", error));
  }
}

std::optional<PictureOrder> next_picture(AppState& scope) {
  std::optional<PictureOrder> next = std::exchange(scope.exports.picture, std::nullopt);
  if (!next && scope.exports.film) next = next_of_film(scope);
  scope.exports.taking = next.has_value();
  scope.exports.captioned = next && !next->whole_window && !next->handout;
  return next;
}

void deliver(AppState& scope, const PictureOrder& order, std::string bytes) {
  scope.exports.taking = scope.exports.captioned = false;
  if (order.clipboard) {
    scope.requests.copy_picture = std::move(bytes);
    return;
  }
  if (order.handout) bytes = handout_html(scope, bytes);
  if (is_of_film(scope, order.path)) ++scope.exports.film->drawn;
  scope.commands.push_back(WriteFile{order.path, std::move(bytes), order.replace});
}

}  // namespace attnscope
