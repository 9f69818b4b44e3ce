#include "shell/dialogs/context_menu.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <utility>

#include "base/translation.h"
#include "shell/actions.h"
#include "shell/app_state.h"
#include "shell/glossary/glossary.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr const char* context_popup = "context";
constexpr std::size_t most_terms = 4;

bool says_anything(const Pointed& pointed) {
  return pointed.thing != HoverTarget::label || !terms_of(pointed).empty();
}

// The target over which the right button was released without a drag.
std::optional<Pointed> asked_about() {
  constexpr float still = 16;  // maximum motion, in squared pixels
  if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup) || !ImGui::IsMouseReleased(ImGuiMouseButton_Right)) return {};
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseDragMaxDistanceSqr[ImGuiMouseButton_Right] > still) return {};
  const std::optional<Pointed> pointed = hovered_target();
  return pointed && says_anything(*pointed) ? pointed : std::nullopt;
}

void draw_heading(const Pointed& pointed, const Skin& skin) {
  if (pointed.name.empty()) return;
  const std::string text = pointed.value.empty() ? pointed.name : fmt::format("{}   {}", pointed.name, pointed.value);
  dim_text(shortened(skin.fonts.ui, one_line(text), skin.px(360)), skin);
  ImGui::Separator();
}

void draw_terms(AppState& scope, const Pointed& pointed) {
  const std::vector<const Term*> terms = terms_of(pointed);
  if (terms.empty()) return;
  ImGui::Separator();
  for (const Term* term : terms)
    if (ImGui::MenuItem(trf("Explain: {}", tr(term->name)).c_str(), term == terms.front() ? "F1" : nullptr))
      open_glossary(scope, term->name);
}

}  // namespace

std::vector<const Term*> terms_of(const Pointed& pointed) {
  std::vector<const Term*> terms;
  const auto add = [&](const Term* term) {
    if (term && std::ranges::find(terms, term) == terms.end() && terms.size() < most_terms) terms.push_back(term);
  };
  add(term_of(pointed.about));
  for (const Term* term : terms_in(pointed.name)) add(term);
  for (const Term* term : terms_in(pointed.help)) add(term);
  return terms;
}

std::optional<Pointed> target_at_keyboard() {
  const bool walks = ImGui::GetIO().NavVisible;
  for (const auto& thing : {walks ? focused_target() : std::nullopt, chosen_target(), hovered_target()})
    if (thing && says_anything(*thing)) return thing;
  return {};
}

void draw_context_menu(AppState& scope, const Skin& skin) {
  const bool by_key = std::exchange(scope.context_menu.asked, false);
  if (std::optional<Pointed> asked = by_key ? target_at_keyboard() : asked_about()) {
    scope.context_menu.about = std::move(asked);
    ImGui::OpenPopup(context_popup);
  }
  const std::optional<Pointed>& about = scope.context_menu.about;
  if (about && about->place.x != 0) ImGui::SetNextWindowPos(about->place, ImGuiCond_Appearing);
  if (!ImGui::BeginPopup(context_popup)) return;
  const Pointed pointed = *scope.context_menu.about;
  draw_heading(pointed, skin);
  draw_target_items(scope, pointed.thing, skin);
  draw_terms(scope, pointed);
  ImGui::EndPopup();
}

}  // namespace attnscope
