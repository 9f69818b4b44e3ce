// "Compare with…": a standard pair, the present configuration with changed values, or a saved run.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "base/input.h"
#include "base/translation.h"
#include "config/comparison.h"
#include "config/pairs.h"
#include "shell/app_state.h"
#include "shell/comparing.h"
#include "shell/purposes.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr const char* compare_popup = mark("Compare with…");

// Returns true if a comparison was started.
bool draw_pairs(AppState& scope, const Skin& skin) {
  bold_text(tr("Classic pairs"), skin);
  ImGui::SameLine(0, skin.px(8));
  dim_text(tr("both start from random weights and train in lockstep"), skin);
  bool begun = false;
  for (const ClassicPair& pair : classic_pairs()) {
    if (ImGui::Button(tr_label(std::string(pair.title).c_str()), {skin.px(250), 0})) {
      const auto [a, b] = configurations(pair);
      compare_configurations(scope, a, b);
      set_sentence(scope, std::string(pair.sentence));
      begun = true;
    }
    help_tooltip(pair.watch, skin);
    ImGui::SameLine(0, skin.px(8));
    ImGui::PushTextWrapPos(skin.px(760));
    small_text(skin.theme.text_dim, std::string(pair.watch), skin);
    ImGui::PopTextWrapPos();
  }
  return begun;
}

bool contains(std::string_view text, std::string_view wanted) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return wanted.empty() || std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same) != text.end();
}

// Draws B's value of a field as text; invalid values are rejected.
void draw_value(Config& config, const ConfigField& field) {
  const std::string id = fmt::format("##{}", field.key);
  std::string text = field_text(config, field);
  ImGui::SetNextItemWidth(-1);
  bool edited = false;
  if (!field.limits.choices.empty()) {
    if (!begin_combo(id.c_str(), text)) return;
    for (const std::string_view choice : field.limits.choices) {
      if (!ImGui::Selectable(std::string(choice).c_str(), text == choice)) continue;
      text = choice;
      edited = true;
    }
    ImGui::EndCombo();
  } else if (text == "true" || text == "false") {
    bool on = text == "true";
    edited = ImGui::Checkbox(id.c_str(), &on);
    text = on ? "true" : "false";
  } else {
    edited = ImGui::InputText(id.c_str(), &text, ImGuiInputTextFlags_EnterReturnsTrue);
    edited |= ImGui::IsItemDeactivatedAfterEdit();
  }
  if (!edited) return;
  try {
    set_field(config, field.key, text);
  } catch (const ConfigError&) {  // the field reverts to its previous value
  }
}

// By its names, or by a value that it may have.
bool matches(const ConfigField& field, std::string_view filter) {
  return contains(field.key, filter) || contains(tr(field.label), filter) ||
         std::ranges::any_of(field.limits.choices, [&](std::string_view choice) { return contains(choice, filter); });
}

// Fields that differ first, then those that match the filter.
void draw_fields(ComparingView& view, const Skin& skin) {
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_RowBg;
  if (!ImGui::BeginTable("fields", 3, flags, {0, skin.px(155)})) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn(tr("field"));
  ImGui::TableSetupColumn("A");
  ImGui::TableSetupColumn("B");
  ImGui::TableHeadersRow();
  bool found = view.filter.empty();
  for (const bool differing : {true, false}) {
    for (const ConfigField& field : config_fields()) {
      const std::string a = field_text(view.a, field), b = field_text(view.b, field);
      if (!is_used(view.b, field) || (a != b) != differing) continue;
      if (!differing && !matches(field, view.filter)) continue;
      found |= !differing;
      ImGui::TableNextColumn();
      ImGui::AlignTextToFramePadding();
      colored_text(differing ? skin.theme.text : skin.theme.text_dim, tr(field.label));
      help_tooltip(fmt::format("{}\n{}", field.key, tr(field.help)), skin);
      ImGui::TableNextColumn();
      dim_text(a, skin);
      ImGui::TableNextColumn();
      draw_value(view.b, field);
    }
  }
  if (!found) {
    ImGui::TableNextColumn();
    dim_text(tr("nothing matches the filter"), skin);
  }
  ImGui::EndTable();
}

// Returns true if a comparison was started.
bool draw_own(AppState& scope, const Skin& skin) {
  ComparingView& view = scope.comparing;
  bold_text(tr("This configuration with other values in B"), skin);
  ImGui::SetNextItemWidth(skin.px(250));
  ImGui::InputTextWithHint("##filter", tr("find a field"), &view.filter);
  ImGui::SameLine(0, skin.px(8));
  plain_text(title_of(differences(view.a, view.b)));
  draw_fields(view, skin);
  const std::string complaint = config_complaint(view.b);
  if (!complaint.empty()) small_text(skin.theme.error, complaint, skin);
  ImGui::Checkbox(tr_label("Restart A as well"), &view.anew);
  help_tooltip(tr("Otherwise A continues from its current step, and Train first brings B level with it."), skin);
  ImGui::SameLine(0, skin.px(16));
  ImGui::BeginDisabled(!complaint.empty());
  const bool begun = ImGui::Button(tr_label("Compare"));
  ImGui::EndDisabled();
  help_tooltip(
      complaint.empty() ? tr("Every workspace shows both runs side by side, and their difference.") : complaint, skin);
  if (begun && view.anew) compare_configurations(scope, view.a, view.b);
  if (begun && !view.anew) scope.commands.push_back(Compare{.with = view.b});
  return begun;
}

}  // namespace

void draw_comparing(AppState& scope, const Skin& skin) {
  if (std::exchange(scope.comparing.asked, false)) ImGui::OpenPopup(tr_label(compare_popup));
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSize({std::min(skin.px(800), viewport.WorkSize.x * 0.96F), 0});
  if (!ImGui::BeginPopupModal(tr_label(compare_popup), nullptr, ImGuiWindowFlags_NoResize)) return;
  bool close = draw_pairs(scope, skin);
  ImGui::Spacing();
  ImGui::Separator();
  close |= draw_own(scope, skin);
  ImGui::Separator();
  const bool saved = ImGui::Button(tr_label("A saved run…"));
  help_tooltip(tr("Opens the run as B, next to the current one."), skin);
  ImGui::SameLine(0, skin.px(8));
  close |= ImGui::Button(tr_label("Cancel")) || key_pressed(Key::escape);
  if (close || saved) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
  if (saved) choose(scope, Purpose::compare_run);
}

}  // namespace attnscope
