#include "shell/export.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/input.h"
#include "plain/matrix_text.h"
#include "shell/scope.h"
#include "shell/timeline.h"
#include "shell/toolbar.h"
#include "widgets/token_strip.h"
#include "widgets/tooltip.h"
#include "workspaces/attention/controls.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;  // paths as text alone

struct KindText {
  ExportKind kind;
  const char* item;
  const char* help;
  const char* extension;
  Browsing browsing;
};

constexpr std::array kinds = {
    KindText{ExportKind::png, "Picture of the workspace as PNG…", "The workspace as it stands here, as pixels.", ".png",
             Browsing::save_png},
    KindText{
        ExportKind::svg, "Picture of the workspace as SVG…",
        "The workspace as it stands here, as shapes and text that can be scaled and edited: for papers and slides.",
        ".svg", Browsing::save_svg},
    KindText{ExportKind::csv, "Numbers as CSV…",
             "The weights shown, or those of the selected head, with both tokens, as comma-separated values.", ".csv",
             Browsing::save_csv},
    KindText{ExportKind::json, "Numbers as JSON…",
             "The weights shown, or those of the selected head, with both tokens, as JSON.", ".json",
             Browsing::save_json},
    KindText{
        ExportKind::film, "Film as numbered PNGs…",
        "The workspace at every recorded step of the pinned sentence: film-00001.png, film-00002.png and so on, in "
        "a folder.",
        "", Browsing::save_film},
};

const KindText& text_of(ExportKind kind) {
  return *std::ranges::find(kinds, kind, &KindText::kind);
}

// Files that the worker has not answered for yet: a slow disk must not fill the memory.
constexpr std::size_t most_on_their_way = 3;

struct SelectedMap {
  const Matrix& map;
  std::vector<std::string> rows;
  std::vector<std::string> cols;
  std::string title;
};

// Whether the level "Head" draws that head now, alone or mixed with others, in pieces or in words.
bool draws(const Scope& scope, const HeadPlace& place, const Shown& shown) {
  const HeadMap& drawn = scope.attention.map;
  return scope.layout.workspace == Workspace::attention && scope.attention.level == AttentionLevel::head &&
         !drawn.choice.heads.empty() && drawn.choice.heads.front() == place && drawn.version == shown.version &&
         !drawn.pending;
}

std::optional<SelectedMap> selected_map(const Scope& scope) {
  const ShownMaps maps = shown_maps(scope);
  if (!maps.newest.snapshot || maps.lacks(scope.attention.part)) return std::nullopt;
  const Shown shown = maps.of(scope.attention.part);
  const Snapshot& snapshot = *shown.snapshot;
  const HeadPlace place = selection_in(scope.attention, snapshot).place;
  if (draws(scope, place, shown)) {
    const HeadMap& drawn = scope.attention.map;
    return SelectedMap{drawn.map, drawn.row_labels, drawn.col_labels, map_name(drawn, snapshot.model)};
  }
  const auto& layer = maps_of(snapshot, place.part)[static_cast<std::size_t>(place.layer)];
  return SelectedMap{layer[static_cast<std::size_t>(place.head)], token_labels(row_tokens(snapshot, place.part)),
                     token_labels(col_tokens(snapshot, place.part)), place_text(place, snapshot.model)};
}

// A name to begin with.
std::string proposed_name(const Scope& scope, ExportKind kind) {
  const std::string extension = text_of(kind).extension;
  if (kind == ExportKind::film) return "film";
  if (kind == ExportKind::png || kind == ExportKind::svg) {
    return std::string(workspace_name(scope.layout.workspace)) + extension;
  }
  std::string name = selected_map(scope)->title;
  std::ranges::replace(name, ' ', '-');
  return name + extension;
}

std::string with_extension(std::string path, ExportKind kind) {
  const std::string_view extension = text_of(kind).extension;
  return path.ends_with(extension) ? path : path.append(extension);
}

bool is_there(const Scope& scope, const std::string& path) {
  const DirectoryListed& listing = scope.browser.listing;
  const fs::path wanted(path);
  return wanted.parent_path() == fs::path(listing.path) &&
         std::ranges::find(listing.entries, wanted.filename().string(), &DirectoryEntry::name) != listing.entries.end();
}

void order(Scope& scope, ExportKind kind, const std::string& path, bool replace) {
  switch (kind) {
    case ExportKind::png:
    case ExportKind::svg:
      scope.exports.picture = PictureOrder{kind, path, replace};
      break;
    case ExportKind::csv:
    case ExportKind::json:
      if (const auto map = selected_map(scope)) {
        const auto text = kind == ExportKind::csv ? matrix_csv : matrix_json;
        scope.commands.push_back(WriteFile{path, text(map->map, map->rows, map->cols), replace});
      }
      break;
    case ExportKind::film:
      if (const PinnedSentence* sentence = recorded_sentence(scope)) {
        scope.exports.film = FilmOrder{path, replace, sentence->frames};
        scope.timeline.playing = false;
      }
      break;
  }
}

std::string film_path(const FilmOrder& film) {
  return (fs::path(film.folder) / fmt::format("film-{:05}.png", film.drawn + 1)).string();
}

void end_film(Scope& scope, Severity severity, const std::string& text) {
  scope.exports.film.reset();
  show_present(scope);
  notify(scope, severity, text);
}

std::optional<PictureOrder> next_of_film(Scope& scope) {
  FilmOrder& film = *scope.exports.film;
  if (film.drawn == film.frames.size() || film.drawn - film.written >= most_on_their_way) return std::nullopt;
  const PinnedSentence* sentence = recorded_sentence(scope);
  const Frame& frame = film.frames[film.drawn];
  const auto at = sentence ? std::ranges::find(sentence->frames, frame) : std::vector<Frame>::const_iterator();
  if (!sentence || at == sentence->frames.end()) {
    end_film(scope, Severity::warning,
             fmt::format("The film ends after {} pictures: its steps are no longer shown.", film.drawn));
    return std::nullopt;
  }
  show_frame(scope, static_cast<std::size_t>(at - sentence->frames.begin()));
  return PictureOrder{ExportKind::png, film_path(film), film.replace};
}

void end_if_written(Scope& scope) {
  const FilmOrder& film = *scope.exports.film;
  if (film.written < film.frames.size()) return;
  end_film(scope, Severity::info,
           fmt::format("Wrote {} picture{} to {}", film.written, film.written == 1 ? "" : "s", film.folder));
}

void film_written(Scope& scope, const FileWritten& written) {
  FilmOrder& film = *scope.exports.film;
  if (!written.error.empty()) {
    return end_film(scope, Severity::error, fmt::format("The film could not be written: {}", written.error));
  }
  ++film.written;
  end_if_written(scope);
}

bool is_of_film(const Scope& scope, const std::string& path) {
  return scope.exports.film && fs::path(path).parent_path() == fs::path(scope.exports.film->folder);
}

void draw_question(Scope& scope, const Look& look) {
  constexpr const char* title = "Replace what is there?";
  std::optional<ReplaceQuestion>& question = scope.exports.question;
  if (question && !ImGui::IsPopupOpen(title)) ImGui::OpenPopup(title);
  ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, ImVec2(0.5F, 0.5F));
  if (!ImGui::BeginPopupModal(title, nullptr, ImGuiWindowFlags_AlwaysAutoResize)) return;
  if (!question) {
    ImGui::CloseCurrentPopup();
    return ImGui::EndPopup();
  }
  ImGui::PushTextWrapPos(look.px(460));
  ImGui::TextUnformatted(question->path.c_str());
  ImGui::TextUnformatted(question->kind == ExportKind::film
                             ? "This folder is there already. Pictures in it that have a film's names are replaced."
                             : "This file is there already.");
  ImGui::PopTextWrapPos();
  ImGui::Spacing();
  const bool replace = ImGui::Button("Replace");
  help_tooltip("The old file is gone once the new one is written whole.", look);
  ImGui::SameLine();
  const bool keep = ImGui::Button("Keep it") || key_pressed(Key::escape);
  help_tooltip("Writes nothing.", look);
  if (replace) order(scope, question->kind, question->path, true);
  if (replace || keep) {
    question.reset();
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace

bool can_export(const Scope& scope, ExportKind kind) {
  switch (kind) {
    case ExportKind::png:
    case ExportKind::svg:
      return scope.exports.area.high.x > scope.exports.area.low.x && !scope.exports.film;
    case ExportKind::csv:
    case ExportKind::json:
      return selected_map(scope).has_value();
    case ExportKind::film:
      return recorded_sentence(scope) != nullptr && !scope.exports.film;
  }
  return false;
}

void choose_export(Scope& scope, ExportKind kind) {
  if (!can_export(scope, kind)) return;
  browse(scope, text_of(kind).browsing);
  scope.browser.name = proposed_name(scope, kind);
}

void export_to(Scope& scope, ExportKind kind, const std::string& path) {
  const std::string whole = with_extension(path, kind);
  if (is_there(scope, whole)) {
    scope.exports.question = ReplaceQuestion{kind, whole};
  } else {
    order(scope, kind, whole, false);
  }
}

void copy_numbers(Scope& scope) {
  const auto map = selected_map(scope);
  if (!map) return;
  ImGui::SetClipboardText(matrix_csv(map->map, map->rows, map->cols).c_str());
  notify(scope, Severity::info, fmt::format("Copied the weights of {}", map->title));
}

void draw_export_items(Scope& scope, const Look& look) {
  for (const KindText& text : kinds) {
    if (text.kind == ExportKind::csv || text.kind == ExportKind::film) ImGui::Separator();
    if (ImGui::MenuItem(text.item, nullptr, false, can_export(scope, text.kind))) choose_export(scope, text.kind);
    help_tooltip(text.help, look);
    if (text.kind != ExportKind::json) continue;
    if (ImGui::MenuItem("Copy numbers", nullptr, false, can_export(scope, ExportKind::csv))) copy_numbers(scope);
    help_tooltip("The weights of the selected head, to be pasted into a spreadsheet.", look);
  }
}

void draw_export_dialogs(Scope& scope, const Look& look) {
  if (std::exchange(scope.exports.menu_asked, false)) ImGui::OpenPopup("export");
  ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, ImVec2(0.5F, 0.5F));
  if (ImGui::BeginPopup("export")) {
    draw_export_items(scope, look);
    ImGui::EndPopup();
  }
  draw_question(scope, look);
}

void stop_film(Scope& scope) {
  if (!scope.exports.film) return;
  FilmOrder& film = *scope.exports.film;
  film.frames.resize(film.drawn);  // those that are drawn are still written
  end_if_written(scope);
}

void receive(Scope& scope, const FileWritten& written) {
  if (is_of_film(scope, written.path)) return film_written(scope, written);
  if (written.error.empty()) return notify(scope, Severity::info, "Wrote " + written.path);
  notify(scope, Severity::error, "Nothing was written: " + written.error);
}

std::optional<PictureOrder> next_picture(Scope& scope) {
  std::optional<PictureOrder> next = std::exchange(scope.exports.picture, std::nullopt);
  if (!next && scope.exports.film) next = next_of_film(scope);
  scope.exports.taking = next.has_value();
  return next;
}

void deliver(Scope& scope, const PictureOrder& order, std::string bytes) {
  scope.exports.taking = false;
  if (is_of_film(scope, order.path)) ++scope.exports.film->drawn;
  scope.commands.push_back(WriteFile{order.path, std::move(bytes), order.replace});
}

}  // namespace attnscope
