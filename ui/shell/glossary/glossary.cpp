#include "shell/glossary/glossary.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/folded.h"
#include "base/input.h"
#include "base/translation.h"
#include "shell/actions.h"
#include "shell/app_state.h"
#include "shell/glossary/term_pictures.h"
#include "shell/panels.h"
#include "widgets/words.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

// Rank of a match: the name starts with the text (0), contains it (1), or the meaning contains it (2); 3: no match.
int distance(const Term& term, const std::string& typed) {
  const std::size_t at = folded(tr(term.name)).find(typed);
  if (at != std::string::npos) return at == 0 ? 0 : 1;
  return folded(tr(term.meaning)).find(typed) != std::string::npos ? 2 : 3;
}

// Indices of the terms, sorted in the window's language.
std::vector<int> in_order() {
  std::vector<std::pair<std::string, int>> names;
  for (const Term& term : glossary()) names.emplace_back(folded(tr(term.name)), static_cast<int>(names.size()));
  std::ranges::sort(names);
  std::vector<int> order;
  for (const auto& [name, place] : names) order.push_back(place);
  return order;
}

// Indices of the matches, the best first.
std::vector<int> found(const std::string& typed) {
  const auto far = [&](int place) { return distance(glossary()[static_cast<std::size_t>(place)], typed); };
  std::vector<int> places = in_order();
  std::erase_if(places, [&](int place) { return far(place) == 3; });
  std::ranges::stable_sort(places, {}, far);
  return places;
}

void draw_list(GlossaryView& view, float width, float height, const Skin& skin) {
  ImGui::BeginGroup();
  // Not in a child window: later releases of Dear ImGui would not give it keyboard focus there.
  ImGui::SetNextItemWidth(width);
  if (ImGui::IsWindowAppearing()) focus_next_item();
  const bool changed = ImGui::InputTextWithHint("##typed", tr("search"), &view.typed);
  const std::vector<int> places = found(folded(view.typed));
  if (changed && !places.empty()) view.chosen = places.front();
  ImGui::BeginChild("names", {width, height - ImGui::GetFrameHeightWithSpacing()});
  for (const int place : places) {
    const std::string name(tr(glossary()[static_cast<std::size_t>(place)].name));
    if (ImGui::Selectable(name.c_str(), view.chosen == place, ImGuiSelectableFlags_DontClosePopups))
      view.chosen = place;
    if (view.scrolls && view.chosen == place) ImGui::SetScrollHereY(0.5F);
  }
  view.scrolls = false;
  if (places.empty()) small_text(skin.theme.text_dim, tr("No matching terms"), skin);
  ImGui::EndChild();
  ImGui::EndGroup();
}

void show(AppState& scope, std::string_view name) {
  scope.glossary.open = false;
  const auto is_setting = [&](const ConfigField& field) { return field.key == name; };
  if (std::ranges::any_of(config_fields(), is_setting)) return show_field(scope, name);
  const Workspace* of_view = show_view(scope.views, name);
  show_workspace(scope, of_view ? *of_view : *find_workspace(name));
}

void draw_term(AppState& scope, const Term& term, float height, const Skin& skin) {
  ImGui::BeginChild("term", {0, height});
  bold_text(tr(term.name), skin);
  ImGui::Spacing();
  wrapped_text(skin.theme.text, tr(term.meaning));
  if (!term.formula.empty()) {
    ImGui::Spacing();
    const WithFont mono(skin.fonts.mono);
    wrapped_text(skin.theme.accent, term.formula);
  }
  if (has_picture(term.name)) {
    ImGui::Dummy({1, skin.px(6)});
    draw_term_picture(term.name, skin);
  }
  if (!term.source.empty()) {
    ImGui::Spacing();
    small_text(skin.theme.text_dim, term.source, skin);
  }
  ImGui::Spacing();
  if (!term.shown.empty() && ImGui::Button(tr_label("Show me"))) show(scope, term.shown);
  ImGui::EndChild();
}

}  // namespace

void open_glossary(AppState& scope, std::string_view name) {
  const auto found = std::ranges::find(glossary(), name, &Term::name);
  scope.glossary = {.open = true, .typed = {}, .chosen = static_cast<int>(found - glossary().begin()), .scrolls = true};
}

void draw_glossary(AppState& scope, const Skin& skin) {
  const char* title = tr_label("Glossary");
  GlossaryView& view = scope.glossary;
  if (view.open && !ImGui::IsPopupOpen(title)) ImGui::OpenPopup(title);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const ImVec2 size{std::min(skin.px(640), viewport.WorkSize.x * 0.94F),
                    std::min(skin.px(420), viewport.WorkSize.y * 0.86F)};
  ImGui::SetNextWindowSize(size);
  ImGui::SetNextWindowPos(viewport.GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
  if (!ImGui::BeginPopupModal(title, &view.open, ImGuiWindowFlags_NoResize)) return;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float footer = ImGui::GetFrameHeightWithSpacing();
  draw_list(view, room.x * 0.36F, room.y - footer, skin);
  ImGui::SameLine(0, skin.px(16));
  draw_term(scope, glossary()[static_cast<std::size_t>(view.chosen)], room.y - footer, skin);
  if (ImGui::Button(tr_label("Close")) || key_pressed(Key::escape)) view.open = false;
  if (!view.open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace attnscope
