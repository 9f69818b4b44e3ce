#include "shell/panels.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "shell/actions.h"
#include "shell/purposes.h"
#include "shell/training.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr auto mouse_lines = std::to_array<std::pair<const char*, const char*>>({
    {mark("hover"), mark("shows the exact value and both tokens")},
    {mark("click"), mark("selects a head, pins a query and a key, toggles a curve")},
    {mark("Shift + click"), mark("shows several heads together, in colors")},
    {mark("double-click"), mark("opens a head; isolates a curve; fits a plot or a map; resets a splitter")},
    {mark("wheel, drag"), mark("zoom at the cursor, pan (plots, maps)")},
    {mark("drop a file"), mark("opens a run's folder, or trains on a text file")},
});

void center_next_window() {
  ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, ImVec2(0.5F, 0.5F));
}

// The keys are in a column as wide as the longest of them.
void draw_key_lines(std::span<const KeyLine> lines, const Skin& skin) {
  float width = 0;
  for (const KeyLine& line : lines) width = std::max(width, text_size(skin.fonts.mono_small, line.keys).x);
  for (const KeyLine& line : lines) {
    const float left = ImGui::GetCursorPosX();
    {
      const WithFont mono(skin.fonts.mono_small);
      plain_text(line.keys);
    }
    ImGui::SameLine();
    ImGui::SetCursorPosX(left + width + skin.px(10));
    ImGui::TextUnformatted(line.what.c_str());
  }
}

using KeyColumns = std::vector<std::span<const KeyLine>>;

KeyColumns split_keys(std::span<const KeyLine> lines, std::size_t count) {
  KeyColumns columns;
  const std::size_t height = (lines.size() + count - 1) / count;
  for (std::size_t begin = 0; begin < lines.size(); begin += height)
    columns.push_back(lines.subspan(begin, std::min(height, lines.size() - begin)));
  return columns;
}

float unwrapped_width(std::span<const KeyLine> lines, const Skin& skin) {
  float keys = 0, what = 0;
  for (const KeyLine& line : lines) {
    keys = std::max(keys, text_size(skin.fonts.mono_small, line.keys).x);
    what = std::max(what, text_size(skin.fonts.small, line.what).x);
  }
  return keys + what + skin.px(30);
}

// Up to three columns of the same height; the last is wrapped to no less than half its width.
KeyColumns fitting_columns(std::span<const KeyLine> lines, float room, const Skin& skin) {
  for (const std::size_t count : {3U, 2U}) {
    const KeyColumns columns = split_keys(lines, count);
    float width = -unwrapped_width(columns.back(), skin) / 2;
    for (const auto& column : columns) width += unwrapped_width(column, skin);
    if (width <= room) return columns;
  }
  return {lines};
}

// The window's shortcuts, then the workspaces', then the mouse.
void draw_key_columns(const AppState& scope, const Skin& skin) {
  const WithFont small(skin.fonts.small);
  std::vector<KeyLine> lines = window_keys(scope);
  for (KeyLine& line : workspace_keys()) lines.push_back(std::move(line));
  for (const auto& [button, effect] : mouse_lines) lines.push_back({tr(button), tr(effect)});
  const float room = ImGui::GetMainViewport()->WorkSize.x - skin.px(24);
  ImGui::PushTextWrapPos(room);
  bool first = true;
  for (const std::span<const KeyLine> column : fitting_columns(lines, room, skin)) {
    if (!std::exchange(first, false)) ImGui::SameLine(0, skin.px(20));
    ImGui::BeginGroup();
    draw_key_lines(column, skin);
    ImGui::EndGroup();
  }
  ImGui::PopTextWrapPos();
}

void draw_help(AppState& scope, const Skin& skin) {
  if (scope.show_help && !ImGui::IsPopupOpen(tr_label("Keys and mouse"))) ImGui::OpenPopup(tr_label("Keys and mouse"));
  center_next_window();
  if (!ImGui::BeginPopupModal(tr_label("Keys and mouse"), &scope.show_help, ImGuiWindowFlags_AlwaysAutoResize)) return;
  draw_key_columns(scope, skin);
  ImGui::Spacing();
  dim_text(tr("“Paper” in the tooltips is Vaswani et al. 2017, Attention Is All You Need, arXiv 1706.03762."), skin);
  if (!scope.facts.version.empty()) dim_text(tr("attnscope ") + scope.facts.version, skin);
  if (!scope.facts.processor.empty()) dim_text(tr("On the CPU: ") + scope.facts.processor + ".", skin);
  if (ImGui::Button(tr_label("Close")) || key_pressed(Key::escape)) scope.show_help = false;
  if (!scope.show_help) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

void train_on(AppState& scope, const std::string& path) {
  scope.edited.corpus.source = path;
  scope.edited.corpus.target.clear();
}

void draw_dropped(AppState& scope, const Skin& skin) {
  if (!scope.dropped_file.empty() && !ImGui::IsPopupOpen(tr_label("Train on this file?"))) {
    ImGui::OpenPopup(tr_label("Train on this file?"));
  }
  center_next_window();
  if (!ImGui::BeginPopupModal(tr_label("Train on this file?"), nullptr, ImGuiWindowFlags_AlwaysAutoResize)) return;
  mono_text(scope.dropped_file, skin);
  ImGui::PushTextWrapPos(skin.px(460));
  const std::string& from = scope.edited.model.from;
  const std::string text =
      tr("Reset reads the file as sentence pairs (source, tab, target), or as running text for a decoder-only "
         "model, ") +
      (from.empty() ? std::string(tr("trains a tokenizer on it and starts a new model from random weights."))
                    : trf("and continues from the weights of {}, which are not changed.", from)) +
      tr(" The current run is kept; press Ctrl+Z to return to it.");
  plain_text(text);
  if (scope.edited.model.reads_text() && scope.dropped_file.ends_with(".tsv"))
    colored_text(skin.theme.warning, tr("A decoder-only model reads this file as running text, with its tabs. For "
                                        "sentence pairs, choose the architecture encoder-decoder in Setup first."));
  ImGui::PopTextWrapPos();
  ImGui::Spacing();
  bool close = false;
  if (ImGui::Button(tr_label("Reset and train"))) {
    train_on(scope, scope.dropped_file);
    if (can_reset(scope)) {
      reset(scope);
      scope.commands.push_back(Train{});
    } else {
      notify(scope, Severity::warning,
             tr("The file was entered in the setup, but Reset is not possible now. ") + config_complaint(scope.edited));
    }
    close = true;
  }
  help_tooltip(tr("Rebuilds corpus, tokenizer and model, and starts training."), skin);
  ImGui::SameLine();
  if (ImGui::Button(tr_label("Only enter it in the setup"))) {
    train_on(scope, scope.dropped_file);
    close = true;
  }
  help_tooltip(tr("Lets you change other settings before Reset."), skin);
  ImGui::SameLine();
  if (ImGui::Button(tr_label("Cancel")) || key_pressed(Key::escape)) close = true;
  help_tooltip(tr("Closes this dialog; nothing changes."), skin);
  if (close) {
    scope.dropped_file.clear();
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

// Draws a field with its name before it; returns true if Enter was pressed in it.
bool draw_field(const char* name, const char* hint, std::string& text, ImGuiInputTextFlags flags, const Skin& skin) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(name);
  ImGui::SameLine(skin.px(100));
  ImGui::SetNextItemWidth(skin.px(300));
  return ImGui::InputTextWithHint(fmt::format("##{}", name).c_str(), hint, &text,
                                  flags | ImGuiInputTextFlags_EnterReturnsTrue);
}

void draw_attaching(AppState& scope, const Skin& skin) {
  AttachDialog& dialog = scope.attaching;
  const char* title = tr_label("Attach to a run training elsewhere");
  if (dialog.open && !ImGui::IsPopupOpen(title)) ImGui::OpenPopup(title);
  center_next_window();
  if (!ImGui::BeginPopupModal(title, &dialog.open, ImGuiWindowFlags_AlwaysAutoResize)) return;
  if (ImGui::IsWindowAppearing()) focus_next_item();
  bool wanted = draw_field(tr("address"), "HOST:PORT", dialog.typed.address, 0, skin);
  wanted |= draw_field(tr("password"), tr("if that run requires one"), dialog.typed.token, ImGuiInputTextFlags_Password,
                       skin);
  ImGui::Spacing();
  ImGui::BeginDisabled(dialog.typed.address.empty());
  wanted |= ImGui::Button(tr_label("Open a window"));
  ImGui::EndDisabled();
  help_tooltip(
      tr("Opens a window that watches the run served there by attnscope train --serve. This window does not change."),
      skin);
  ImGui::SameLine();
  if (ImGui::Button(tr_label("Cancel")) || key_pressed(Key::escape)) dialog.open = false;
  if (wanted && !dialog.typed.address.empty()) scope.requests.attach = std::exchange(dialog, {}).typed;
  if (!dialog.open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

void wish_for_service(ServeDialog& dialog, Requests& requests, const Skin& skin) {
  if (ImGui::IsWindowAppearing()) focus_next_item();
  bool wanted = draw_field(tr("address"), "PORT", dialog.typed.address, 0, skin);
  ImGui::Checkbox(tr_label("Watchers may also train and pause the run"), &dialog.typed.control);
  ImGui::PushTextWrapPos(skin.px(400));
  ImGui::TextUnformatted(
      tr("A PORT without a host can only be reached from this machine, or through ssh -L. HOST:PORT can be reached by "
         "others; they need the password that is then shown here."));
  ImGui::PopTextWrapPos();
  ImGui::Spacing();
  ImGui::BeginDisabled(dialog.typed.address.empty());
  wanted |= ImGui::Button(tr_label("Serve"));
  ImGui::EndDisabled();
  if (wanted && !dialog.typed.address.empty()) requests.serve = dialog.typed;
}

void show_service(Service service, ServeDialog& dialog, Requests& requests, const Skin& skin) {
  draw_field(tr("address"), "", service.address, ImGuiInputTextFlags_ReadOnly, skin);
  if (!service.token.empty()) draw_field(tr("password"), "", service.token, ImGuiInputTextFlags_ReadOnly, skin);
  ImGui::TextUnformatted(trf("{} watching", service.clients).c_str());
  ImGui::Spacing();
  if (!ImGui::Button(tr_label("Stop serving"))) return;
  requests.stop_serving = true;
  dialog.open = false;
}

void draw_serving(AppState& scope, const Skin& skin) {
  ServeDialog& dialog = scope.serving;
  const char* title = tr_label("Let others watch this run");
  if (dialog.open && !ImGui::IsPopupOpen(title)) ImGui::OpenPopup(title);
  center_next_window();
  if (!ImGui::BeginPopupModal(title, &dialog.open, ImGuiWindowFlags_AlwaysAutoResize)) return;
  if (scope.service) {
    show_service(*scope.service, dialog, scope.requests, skin);
  } else {
    wish_for_service(dialog, scope.requests, skin);
  }
  ImGui::SameLine();
  if (ImGui::Button(tr_label("Close")) || key_pressed(Key::escape)) dialog.open = false;
  if (!dialog.open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

void draw_export_menu(AppState& scope, const Skin& skin) {
  if (std::exchange(scope.exports.menu_asked, false)) ImGui::OpenPopup("export");
  center_next_window();
  if (!ImGui::BeginPopup("export")) return;
  draw_menu_items(scope, Menu::exports, skin);
  ImGui::EndPopup();
}

// Performs the request that was confirmed despite losing the run.
struct GiveUp {
  AppState& scope;

  void operator()(Reset wanted) {
    wanted.discard_unsaved = true;
    scope.commands.emplace_back(std::move(wanted));
  }
  void operator()(OpenRun wanted) {
    wanted.discard_unsaved = true;
    scope.commands.emplace_back(std::move(wanted));
  }
  void operator()(const KeepRun&) { scope.requests.end = true; }
};

void draw_not_kept(AppState& scope, const Skin& skin) {
  const char* title = tr_label("Unsaved run");
  if (scope.not_saved && !ImGui::IsPopupOpen(title)) ImGui::OpenPopup(title);
  center_next_window();
  if (!ImGui::BeginPopupModal(title, nullptr, ImGuiWindowFlags_AlwaysAutoResize)) return;
  if (!scope.not_saved) {
    ImGui::CloseCurrentPopup();
    return ImGui::EndPopup();
  }
  const bool quitting = std::holds_alternative<KeepRun>(scope.not_saved->wanted);
  ImGui::PushTextWrapPos(skin.px(460));
  plain_text(trf("The current run (step {}) could not be saved automatically: {}.", grouped(scope.a.status.step),
                 scope.not_saved->why));
  ImGui::PopTextWrapPos();
  ImGui::Spacing();
  const bool stay = ImGui::Button(tr_label("Stay")) || key_pressed(Key::escape);
  help_tooltip(tr("Keeps the current run; nothing changes."), skin);
  ImGui::SameLine();
  const bool elsewhere = ImGui::Button(tr_label("Save run as…"));
  help_tooltip(tr("Saves the run in a folder on a disk with enough space."), skin);
  ImGui::SameLine();
  const bool give_up = ImGui::Button(quitting ? tr_label("Quit anyway") : tr_label("Discard the run"));
  help_tooltip(tr("Everything learned since the last save is lost."), skin);
  if (give_up) std::visit(GiveUp{scope}, scope.not_saved->wanted);
  if (stay || elsewhere || give_up) {
    scope.not_saved.reset();
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
  if (elsewhere) choose(scope, Purpose::save_run);
}

}  // namespace

void draw_dialogs(AppState& scope, const Skin& skin) {
  draw_choosing(scope, skin);
  draw_not_kept(scope, skin);
  draw_export_menu(scope, skin);
  draw_dropped(scope, skin);
  draw_attaching(scope, skin);
  draw_serving(scope, skin);
  draw_help(scope, skin);
  draw_glossary(scope, skin);
  draw_manual(scope.manual, scope.facts.manual, skin);
  draw_palette(scope, skin);
  draw_comparing(scope, skin);
  draw_experiments(scope, skin);
}

}  // namespace attnscope
