#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/marks.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/embeddings/modes.h"

namespace attnscope {
namespace {

Color32 group_color(int group, const Theme& theme) {
  return series_color(theme, static_cast<std::size_t>(group));
}

void inspect(SensesView& view, const std::string& word) {
  view.typed = view.word = word;
}

// A field for the word, and the words with several senses in the corpus.
void draw_word(SensesView& view, bool& searching, const Skin& skin) {
  ImGui::AlignTextToFramePadding();
  quiet_words(tr("word"),
              tr("A word of the corpus's source side. Its sentences are searched, ignoring upper and lower case."),
              skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(skin.px(110));
  if (std::exchange(searching, false)) focus_next_item();
  ImGui::InputTextWithHint("##word", tr("a word"), &view.typed, ImGuiInputTextFlags_EnterReturnsTrue);
  if (ImGui::IsItemDeactivatedAfterEdit() && !view.typed.empty()) view.word = view.typed;
  help_tooltip(tr("Press Enter to search for it."), skin);
  if (view.inspection)
    for (const std::string& word : view.inspection->suggestions)
      if (draw_choice(word.c_str(), word == view.word, tr("Shows this word, which has several senses in the corpus."),
                      skin))
        inspect(view, word);
  end_choices();
}

// The names of groups are words of the corpus, except for these two.
std::string tr_group(const SenseResult& inspection, std::size_t group) {
  const std::string& name = inspection.groups[group];
  const bool only = inspection.groups.size() == 1, last = group + 1 == inspection.groups.size();
  return (only && name == "all") || (last && name == "others") ? tr(name.c_str()) : name;
}

void draw_groups(const SenseResult& inspection, const Skin& skin) {
  std::vector<int> counts(inspection.groups.size());
  for (const Occurrence& occurrence : inspection.occurrences) ++counts[static_cast<std::size_t>(occurrence.group)];
  const std::string words =
      trf("{} sentences, colored by {}{}", inspection.occurrences.size(), tr_filled(inspection.grouped_by),
          inspection.lowered ? tr("; the word is lowercased in all, so that it is a single token") : "");
  small_text(skin.theme.text_dim, words, skin);
  const WithFont small(skin.fonts.small);
  for (std::size_t group = 0; group < inspection.groups.size(); ++group) {
    const std::string name = fmt::format("{} ({})", tr_group(inspection, group), counts[group]);
    const float dot = skin.px(9);
    if (group > 0) next_in_row(ImGui::CalcTextSize(name.c_str()).x + dot + skin.px(6), skin.px(14));
    Painter paint(skin);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetTextLineHeight();
    draw_mark(paint, {corner.x + dot / 2, corner.y + line / 2}, dot / 2,
              group_color(static_cast<int>(group), skin.theme), skin);
    ImGui::Dummy({dot, line});
    ImGui::SameLine(0, skin.px(6));
    draw_label(skin.fonts.small, skin.theme.text, name, skin);
  }
}

void occurrence_tooltip(const SenseResult& inspection, const Occurrence& occurrence, const Skin& skin) {
  ImGui::PushTextWrapPos(skin.px(380));
  bold_text(tr_group(inspection, static_cast<std::size_t>(occurrence.group)), skin);
  plain_text(occurrence.sentence);
  if (!occurrence.translation.empty()) colored_text(skin.theme.text_dim, occurrence.translation);
  ImGui::PopTextWrapPos();
}

// A line above the picture: the separation of the groups, as number and bar.
void draw_separation(const SenseLayer& layer, float width, const Skin& skin) {
  bold_text(shortened(skin.fonts.bold, tr_filled(layer.name), width), skin);
  const std::string number = number_text(static_cast<double>(layer.separation), 3);
  quiet_words(tr("separation ") + number,
              tr("The mean silhouette of the groups, in all dimensions and not on the map: (b \u2212 a) / max(a, b) of "
                 "every sentence, with a its mean distance to its own group and b that to the nearest other group. 1: "
                 "well separated; 0: mixed; negative: closer to another group."),
              skin);
  const std::string probe = trf("probe {:.0f} %, control {:.0f} %", 100 * layer.probe, 100 * layer.control);
  quiet_words(shortened(skin.fonts.ui, probe, width),
              tr("Accuracy on held-out sentences of a linear classifier that reads the group from this vector (mean of "
                 "five folds). Control: the same with shuffled groups, which shows how much the classifier itself can "
                 "memorize (1909.03368)."),
              skin);
  Painter paint(skin);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float height = skin.px(4);
  paint.filled_rect(corner, {corner.x + width, corner.y + height}, skin.theme.raised, height / 2);
  const float full = clamped(layer.separation, 0.0F, 1.0F) * width;
  if (full >= 1) paint.filled_rect(corner, {corner.x + full, corner.y + height}, skin.theme.accent, height / 2);
  ImGui::Dummy({width, height});
}

int draw_layer(const SenseResult& inspection, std::size_t at, SensesView& view, ImVec2 size, const Skin& skin) {
  const SenseLayer& layer = inspection.layers[at];
  ImGui::BeginChild(static_cast<ImGuiID>(at + 1), size, false, ImGuiWindowFlags_NoScrollbar);
  draw_separation(layer, size.x, skin);
  std::vector<Color32> colors;
  for (const Occurrence& occurrence : inspection.occurrences)
    colors.push_back(faded(group_color(occurrence.group, skin.theme), 0.85F));
  std::vector<int> marked;
  if (view.pointed >= 0 && view.pointed < static_cast<int>(colors.size())) marked.push_back(view.pointed);
  const bool same = layer.shares[0] == 0;
  const std::string x_axis = same ? tr("all at one point") : trf("axis 1: {:.0f} %", 100 * layer.shares[0]);
  const std::string y_axis = same ? "" : trf("axis 2: {:.0f} % of the variance", 100 * layer.shares[1]);
  ScatterOptions options;
  options.points = view.layers[at].now;
  options.colors = colors;
  options.marked = marked;
  options.x_axis = x_axis;
  options.y_axis = y_axis;
  options.radius = 4;
  options.tooltip = [&](int row) {
    occurrence_tooltip(inspection, inspection.occurrences[static_cast<std::size_t>(row)], skin);
  };
  const int hovered = draw_scatter("layer", options, view.scatters[at], {0, 0}, skin).hovered;
  ImGui::EndChild();
  return hovered;
}

// Draws as many layers side by side as fit.
void draw_layers(const SenseResult& inspection, SensesView& view, const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const int count = static_cast<int>(inspection.layers.size());
  const float gap = skin.px(12);
  const int fitting = std::max(1, static_cast<int>((room.x + gap) / (skin.px(150) + gap)));
  const int rows = (count + fitting - 1) / fitting;
  const int cols = (count + rows - 1) / rows;
  const ImVec2 size{
      std::floor((room.x - gap * static_cast<float>(cols - 1)) / static_cast<float>(cols)),
      std::max(skin.px(170), std::floor((room.y - gap * static_cast<float>(rows - 1)) / static_cast<float>(rows)))};
  ImGui::BeginChild("layers", room, false);
  int hovered = -1;
  for (int i = 0; i < count; ++i) {
    if (i % cols != 0) ImGui::SameLine(0, gap);
    hovered = std::max(hovered, draw_layer(inspection, static_cast<std::size_t>(i), view, size, skin));
  }
  view.pointed = hovered;
  ImGui::EndChild();
}

}  // namespace

void draw_senses(WorkspaceContext& context, EmbeddingsView& view) {
  const Skin& skin = context.skin;
  SensesView& senses = view.senses;
  draw_word(senses, view.searching, skin);
  const auto room = [] { return ImGui::GetContentRegionAvail(); };
  if (!senses.inspection || senses.inspection->word != senses.word)
    return draw_quiet_note(tr("Searching the corpus…"), room(), skin);
  if (!senses.inspection->problem.empty())
    return draw_quiet_note(tr_filled(senses.inspection->problem).c_str(), room(), skin);
  draw_groups(*senses.inspection, skin);
  draw_layers(*senses.inspection, senses, skin);
}

}  // namespace attnscope
