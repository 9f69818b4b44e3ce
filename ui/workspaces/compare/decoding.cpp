#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/painter.h"
#include "widgets/words.h"
#include "workspaces/compare/view.h"

namespace attnscope {
namespace {

void draw_output(const char* side, const std::string& name, const std::vector<ComparedWord>& words, double log_prob,
                 Color32 color, const Skin& skin) {
  draw_side_name(side, name, color, skin);
  ImGui::SameLine(0, skin.px(10));
  draw_label(skin.fonts.small, skin.theme.text_dim, trf("log-probability {}", number_text(log_prob, 2)), skin);
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  bool first = true;
  for (const ComparedWord& word : words) {
    const float width = text_size(skin.fonts.bold, word.word).x;
    if (!first && ImGui::GetItemRectMax().x + skin.px(6) + width < right) ImGui::SameLine(0, skin.px(6));
    first = false;
    draw_label(word.differs ? skin.fonts.bold : skin.fonts.ui, word.differs ? color : skin.theme.text, word.word, skin);
  }
  if (words.empty()) draw_label(skin.fonts.ui, skin.theme.text_dim, tr("nothing"), skin);
  ImGui::Dummy({1, skin.px(4)});
}

std::string parted_text(const char* side, const char* other, const DivergingToken& token) {
  const std::string there =
      token.in_other ? trf("{:.3f} in {}", *token.in_other, other) : trf("not among the candidates of {}", other);
  return trf("{} generates {} (p = {:.3f}, {})", side, without_mark(token.token.text), token.probability, there);
}

std::string parting_text(const ComparedOutputs& outputs) {
  if (outputs.same()) return trf("Both outputs are the same, {} tokens.", outputs.shared);
  if (!outputs.a || !outputs.b) return trf("The first {} tokens are the same; then one output ends.", outputs.shared);
  return trf("First divergence at token {}: {}, {}.", outputs.shared + 1, parted_text("A", "B", *outputs.a),
             parted_text("B", "A", *outputs.b));
}

const Candidate* chosen_at(const Snapshot& snapshot, int step) {
  const auto index = static_cast<std::size_t>(snapshot.first_output() + step);
  if (index >= snapshot.decoding.size()) return nullptr;
  const DecodingStep& decided = snapshot.decoding[index];
  return &decided.candidates[static_cast<std::size_t>(decided.chosen)];
}

// Draws a probability as number and bar next to its token.
void draw_choice_of(const Candidate* chosen, bool parted, Color32 color, const Skin& skin) {
  if (!chosen) return;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight();
  Painter(skin).filled_rect(corner, {corner.x + width * chosen->probability, corner.y + height}, faded(color, 0.22F),
                            skin.px(2));
  draw_label(skin.fonts.mono, skin.theme.text_dim, fmt::format("{:.3f}", chosen->probability), skin);
  ImGui::SameLine(0, skin.px(8));
  draw_label(skin.fonts.mono, parted ? color : skin.theme.text, without_mark(chosen->token.text), skin);
}

// Token by token, in both.
void draw_steps(const Snapshot& a, const Snapshot& b, const BothContext& context) {
  const Skin& skin = context.skin;
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;
  if (!ImGui::BeginTable("steps of both", 3, flags, ImGui::GetContentRegionAvail())) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("#", ImGuiTableColumnFlags_WidthFixed, text_size(skin.fonts.mono, "000").x);
  ImGui::TableSetupColumn("A");
  ImGui::TableSetupColumn("B");
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  ImGui::TableNextColumn();
  ImGui::TableNextColumn();
  draw_side_name("A", context.name_a, color_of_a(skin), skin);
  ImGui::TableNextColumn();
  draw_side_name("B", context.name_b, color_of_b(skin), skin);
  const auto steps = static_cast<int>(std::max(a.decoding.size() - static_cast<std::size_t>(a.first_output()),
                                               b.decoding.size() - static_cast<std::size_t>(b.first_output())));
  for (int step = 0; step < steps; ++step) {
    const Candidate* of_a = chosen_at(a, step);
    const Candidate* of_b = chosen_at(b, step);
    const bool parted = !of_a || !of_b || of_a->token.text != of_b->token.text;
    ImGui::TableNextColumn();
    draw_label(skin.fonts.mono, skin.theme.text_dim, fmt::to_string(step + 1), skin);
    ImGui::TableNextColumn();
    draw_choice_of(of_a, parted, color_of_a(skin), skin);
    ImGui::TableNextColumn();
    draw_choice_of(of_b, parted, color_of_b(skin), skin);
  }
  ImGui::EndTable();
}

}  // namespace

void draw_both_decoding(BothContext& context) {
  const Skin& skin = context.skin;
  BothDecodingView& made = context.views.of<BothDecodingView>();
  const Shown& a = context.a.complete;
  const Shown& b = context.b.complete;
  if (!a.snapshot || !b.snapshot)
    return draw_quiet_note(tr("Both models are still decoding…"), ImGui::GetContentRegionAvail(), skin);
  if (made.made_of != versions_of(a, b)) {
    made.made_of = versions_of(a, b);
    made.outputs = compare_outputs(*a.snapshot, *b.snapshot);
  }
  const ComparedOutputs& outputs = made.outputs;
  if (!outputs.why_not.empty())
    return draw_quiet_note(tr_filled(outputs.why_not).c_str(), ImGui::GetContentRegionAvail(), skin);
  draw_output("A", context.name_a, outputs.words.before, outputs.log_prob_a, color_of_a(skin), skin);
  draw_output("B", context.name_b, outputs.words.after, outputs.log_prob_b, color_of_b(skin), skin);
  draw_wrapped_label(skin.fonts.ui, outputs.same() ? skin.theme.text_dim : skin.theme.warning, parting_text(outputs),
                     skin);
  ImGui::Dummy({1, skin.px(4)});
  draw_steps(*a.snapshot, *b.snapshot, context);
}

// The probabilities that both give to each one's output, up to its last step.
std::optional<WorkspaceNumbers> both_decoding_numbers(const Views& views) {
  const BothDecodingView& made = views.of<BothDecodingView>();
  if (made.made_of == BothVersions{} || !made.outputs.why_not.empty()) return std::nullopt;
  WorkspaceNumbers numbers{
      Matrix(1, 3), {"sentence"}, {"shared tokens", "log p of A", "log p of B"}, "decoding A and B"};
  numbers.matrix.at(0, 0) = static_cast<float>(made.outputs.shared);
  numbers.matrix.at(0, 1) = static_cast<float>(made.outputs.log_prob_a);
  numbers.matrix.at(0, 2) = static_cast<float>(made.outputs.log_prob_b);
  return numbers;
}

}  // namespace attnscope
