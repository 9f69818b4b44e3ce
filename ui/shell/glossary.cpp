#include "shell/glossary.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>

#include "base/input.h"
#include "base/translation.h"
#include "shell/actions.h"
#include "shell/panels.h"
#include "shell/scope.h"
#include "widgets/words.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

bool has(std::string_view text, std::string_view typed) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::ranges::search(text, typed, same).begin() != text.end() || typed.empty();
}

void draw_list(GlossaryView& view, float width, float height, const Skin& skin) {
  ImGui::BeginChild("terms", {width, height});
  ImGui::SetNextItemWidth(-1);
  ImGui::InputTextWithHint("##typed", tr("search"), &view.typed);
  ImGui::BeginChild("names", {0, 0});
  bool any = false;
  const std::span<const Term> terms = glossary();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!has(tr(terms[i].name), view.typed) && !has(tr(terms[i].meaning), view.typed)) continue;
    any = true;
    const std::string name(tr(terms[i].name));
    if (ImGui::Selectable(name.c_str(), view.chosen == static_cast<int>(i), ImGuiSelectableFlags_DontClosePopups))
      view.chosen = static_cast<int>(i);
    if (view.scrolls && view.chosen == static_cast<int>(i)) ImGui::SetScrollHereY(0.5F);
  }
  view.scrolls = false;
  if (!any) small_text(skin.theme.text_dim, tr("No term has that."), skin);
  ImGui::EndChild();
  ImGui::EndChild();
}

void show(Scope& scope, std::string_view name) {
  scope.glossary.open = false;
  const auto is_setting = [&](const ConfigField& field) { return field.key == name; };
  if (std::ranges::any_of(config_fields(), is_setting)) return show_field(scope, name);
  const Workspace* of_view = show_view(scope.views, name);
  show_workspace(scope, of_view ? *of_view : *find_workspace(name));
}

void draw_term(Scope& scope, const Term& term, float height, const Skin& skin) {
  ImGui::BeginChild("term", {0, height});
  bold_text(tr(term.name), skin);
  ImGui::Spacing();
  wrapped_text(skin.theme.text, tr(term.meaning));
  if (!term.formula.empty()) {
    ImGui::Spacing();
    const WithFont mono(skin.fonts.mono);
    wrapped_text(skin.theme.accent, term.formula);
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

void open_glossary(Scope& scope, std::string_view name) {
  const auto found = std::ranges::find(glossary(), name, &Term::name);
  scope.glossary = {.open = true, .typed = {}, .chosen = static_cast<int>(found - glossary().begin()), .scrolls = true};
}

void draw_glossary(Scope& scope, const Skin& skin) {
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
