#include "shell/dialogs/palette.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/folded.h"
#include "base/input.h"
#include "base/terms.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "config/presets.h"
#include "shell/actions.h"
#include "shell/app_state.h"
#include "shell/captures.h"
#include "shell/glossary/glossary.h"
#include "shell/panels.h"
#include "widgets/words.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

constexpr const char* palette_popup = "palette";
constexpr int visible_rows = 12;

// ---- entries

const char* menu_title(const Action& action) {
  if (!action.place.menu) return action.things.empty() ? tr("Keys") : tr("Right click");
  return tr(std::ranges::find(menus, *action.place.menu, &std::pair<Menu, const char*>::first)->second);
}

void add_actions(std::vector<PaletteEntry>& entries, const AppState& scope) {
  for (const Action& action : actions()) {
    if (action.name == "palette" || action.name == "escape") continue;
    entries.push_back({action.title(scope), menu_title(action), help_of(action, scope),
                       action.key.chord ? chord_text(*action.key.chord) : "", applies(action, scope), action.act});
  }
}

void add_views(std::vector<PaletteEntry>& entries, const AppState& scope) {
  for (const Workspace& workspace : workspaces()) {
    const auto show = [&workspace](AppState& shown) { show_workspace(shown, workspace); };
    const char* absent = absence(scope, workspace);
    entries.push_back({tr(title_of(workspace, scope.a.run.config.model)), tr("View"),
                       absent ? absent : tr(workspace.help), chord_text(group_key(workspace)), !absent, show});
    if (!workspace.views) continue;
    const auto views = workspace.views();
    for (std::size_t i = 0; i < views.size(); ++i) {
      const auto show_it = [&workspace, i](AppState& shown) {
        workspace.show(shown.views, i);
        show_workspace(shown, workspace);
      };
      const char* missing = absence(scope, views[i]);
      entries.push_back(
          {tr(views[i].title), tr(workspace.title), missing ? missing : tr(views[i].help), "", !missing, show_it});
    }
  }
}

void add_settings(std::vector<PaletteEntry>& entries, const AppState& scope) {
  for (const ConfigField& field : config_fields()) {
    const std::string section(field.key.substr(0, field.key.find('.')));
    const bool used = is_used(scope.edited, field);
    const auto show = [key = field.key](AppState& shown) { show_field(shown, key); };
    std::string help(used ? tr(field.help) : tr("The current architecture does not use this setting."));
    if (!field.limits.choices.empty())
      help += '\n' + trf("Values: {}", fmt::to_string(fmt::join(field.limits.choices, ", ")));
    entries.push_back({std::string(tr(field.label)), tr("Setup: ") + section, std::move(help), "", used, show});
  }
  for (const BuiltinCorpus& corpus : scope.facts.corpora) {
    const auto take = [name = corpus.name](AppState& chosen) {
      chosen.edited.corpus.source = name;
      chosen.edited.corpus.target.clear();
      show_field(chosen, "corpus.source");
    };
    entries.push_back({corpus.name, tr("Corpus"),
                       std::string(tr(std::string_view(corpus.description))) + tr(" Applied on Reset."), "", true,
                       take});
  }
  for (const Preset& preset : presets()) {
    const auto take = [&preset](AppState& chosen) {
      chosen.edited = with_preset(preset, chosen.edited.corpus);
      show_field(chosen, "model.architecture");
    };
    entries.push_back(
        {std::string(preset.name), tr("Preset"), trf("{} Applied on Reset.", tr(preset.description)), "", true, take});
  }
}

void add_terms(std::vector<PaletteEntry>& entries) {
  for (const Term& term : glossary())
    entries.push_back({std::string(tr(term.name)), tr("Glossary"), std::string(tr(term.meaning)), "", true,
                       [name = term.name](AppState& scope) { open_glossary(scope, name); }});
}

void add_manual(std::vector<PaletteEntry>& entries, const AppState& scope) {
  for (const ManualPage& page : scope.facts.manual)
    for (const MarkdownBlock& block : page.blocks) {
      if (block.kind != MarkdownBlock::Kind::heading) continue;
      const std::string heading = plain_text_of(block.line);
      entries.push_back({heading, tr("Manual"), page.title(), "", true,
                         [link = page.name + ".md#" + heading_anchor(heading)](AppState& shown) {
                           follow_link(shown.manual, shown.facts.manual, link);
                         }});
    }
}

void add_lessons(std::vector<PaletteEntry>& entries, const AppState& scope) {
  const Language language = language_of(scope);
  for (std::size_t i = 0; i < scope.facts.lessons.size(); ++i) {
    const Lesson& lesson = scope.facts.lessons[i];
    entries.push_back({lesson.title.in(language), tr("Lesson"), lesson.question.in(language), "",
                       has_run(scope) && !shows_capture(scope), [i](AppState& begun) { begin_lesson(begun, i); }});
  }
}

// ---- search

bool begins_word(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0) return true;
  return false;
}

// 0: no match for the word.
int score_of(const PaletteEntry& entry, const std::string& word) {
  const std::string title = folded(entry.title);
  if (begins_word(title, word)) return 4;
  if (title.find(word) != std::string::npos) return 3;
  if (folded(entry.where).find(word) != std::string::npos) return 2;
  return folded(entry.help).find(word) != std::string::npos ? 1 : 0;
}

// 0: at least one word does not match.
int score_of(const PaletteEntry& entry, const std::vector<std::string>& words) {
  int sum = 0;
  for (const std::string& word : words) {
    const int score = score_of(entry, word);
    if (score == 0) return 0;
    sum += score;
  }
  return sum;
}

// ---- the popup

// While a field handles history callbacks, Dear ImGui does not move the focus with the arrow keys.
int on_history(ImGuiInputTextCallbackData* data) {
  static_cast<Palette*>(data->UserData)->chosen += data->EventKey == ImGuiKey_UpArrow ? -1 : 1;
  return 0;
}

// Returns true if clicked.
bool draw_entry(const PaletteEntry& entry, int row, bool chosen, const Skin& skin) {
  ImGui::PushID(row);
  ImGui::BeginDisabled(!entry.applies);
  const bool clicked = ImGui::Selectable("##entry", chosen, ImGuiSelectableFlags_DontClosePopups);
  ImGui::EndDisabled();
  if (!entry.help.empty()) help_tooltip(entry.help, skin);
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Theme& theme = skin.theme;
  const float middle = (low.y + high.y) / 2;
  const float key = entry.key.empty() ? 0 : text_size(skin.fonts.small, entry.key).x + skin.px(10);
  const float where = text_size(skin.fonts.small, entry.where).x;
  const auto right = [&](const std::string& text, float x) {
    const char* begin = text.c_str();
    draw_text(list, skin.fonts.small, {x, middle - font_size(skin.fonts.small) / 2}, theme.text_dim, begin,
              begin + text.size());
  };
  const std::string title = shortened(skin.fonts.ui, entry.title, high.x - low.x - key - where - skin.px(24));
  draw_text(list, skin.fonts.ui, {low.x + skin.px(4), middle - font_size(skin.fonts.ui) / 2},
            entry.applies ? theme.text : theme.text_dim, title.c_str());
  right(entry.where, high.x - skin.px(4) - key - where);
  if (key > 0) right(entry.key, high.x + skin.px(6) - key);
  ImGui::PopID();
  return clicked;
}

// Returns the entry that was clicked or confirmed with Enter; null: none.
const PaletteEntry* draw_list(Palette& palette, const std::vector<PaletteEntry>& found, bool entered,
                              const Skin& skin) {
  const auto last = static_cast<int>(found.size()) - 1;
  palette.chosen = clamped(palette.chosen, 0, std::max(0, last));
  if (found.empty()) {
    small_text(skin.theme.text_dim, tr("No matching entries"), skin);
    return nullptr;
  }
  const PaletteEntry* taken = entered ? &found[static_cast<std::size_t>(palette.chosen)] : nullptr;
  const int first = clamped(palette.chosen - visible_rows / 2, 0, std::max(0, last + 1 - visible_rows));
  for (int row = first; row <= std::min(last, first + visible_rows - 1); ++row) {
    const PaletteEntry& entry = found[static_cast<std::size_t>(row)];
    if (draw_entry(entry, row, row == palette.chosen, skin)) taken = &entry;
  }
  small_text(skin.theme.text_dim, trf("{} of {} · ↑ ↓ select, Enter opens", palette.chosen + 1, last + 1), skin);
  const PaletteEntry& chosen = found[static_cast<std::size_t>(palette.chosen)];
  if (!chosen.applies) draw_wrapped_label(skin.fonts.small, skin.theme.warning, chosen.help, skin);
  return taken && taken->applies ? taken : nullptr;
}

void place_popup(const Skin& skin) {
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const float width = std::min(skin.px(620), viewport.WorkSize.x * 0.92F);
  ImGui::SetNextWindowPos({viewport.WorkPos.x + (viewport.WorkSize.x - width) / 2, viewport.WorkPos.y + skin.px(48)});
  ImGui::SetNextWindowSize({width, 0});
}

}  // namespace

std::vector<PaletteEntry> palette_entries(const AppState& scope) {
  std::vector<PaletteEntry> entries;
  add_views(entries, scope);
  add_actions(entries, scope);
  add_settings(entries, scope);
  add_terms(entries);
  add_manual(entries, scope);
  add_lessons(entries, scope);
  return entries;
}

std::vector<PaletteEntry> found_in(const std::vector<PaletteEntry>& entries, const std::string& typed) {
  std::vector<std::string> words;
  std::istringstream stream(folded(typed));
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty()) return entries;
  std::vector<std::pair<int, const PaletteEntry*>> scored;
  for (const PaletteEntry& entry : entries)
    if (const int score = score_of(entry, words); score > 0) scored.emplace_back(score, &entry);
  std::ranges::stable_sort(scored, std::ranges::greater(), &std::pair<int, const PaletteEntry*>::first);
  std::vector<PaletteEntry> found;
  for (const auto& [score, entry] : scored) found.push_back(*entry);
  return found;
}

void draw_palette(AppState& scope, const Skin& skin) {
  Palette& palette = scope.palette;
  const bool opened = std::exchange(palette.asked, false);
  if (opened) {
    palette = {};
    ImGui::OpenPopup(palette_popup);
  }
  place_popup(skin);
  if (!ImGui::BeginPopup(palette_popup)) return;
  if (opened) focus_next_item();
  ImGui::SetNextItemWidth(-1);
  const std::string before = palette.typed;
  const bool entered = ImGui::InputTextWithHint(
      "##typed", tr("Type what you want to see or do"), &palette.typed,
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackHistory, on_history, &palette);
  if (palette.typed != before) palette.chosen = 0;
  const std::vector<PaletteEntry> found = found_in(palette_entries(scope), palette.typed);
  const PaletteEntry* taken = draw_list(palette, found, entered, skin);
  const bool closes = taken || key_pressed(Key::escape);
  if (closes) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
  if (!closes) return;
  scope.focus_workspace = true;
  if (taken) taken->act(scope);
  if (scope.focus_sentence || !scope.field_to_show.empty()) scope.focus_workspace = false;  // a field takes the keys
}

}  // namespace attnscope
