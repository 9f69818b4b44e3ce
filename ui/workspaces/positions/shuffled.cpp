// The sentence with its words reordered, and the model's output for each order, with and without positions.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/view.h"
#include "workspaces/positions/modes.h"

namespace attnscope {
namespace {

void draw_controls(WorkspaceContext& context, OrdersView& view) {
  const Skin& skin = context.skin;
  ImGui::BeginDisabled(context.studying || !context.live);
  if (ImGui::Button(tr_label("Shuffle again"))) {
    ++view.seed;
    ask_for_orders(context, view);
  }
  ImGui::EndDisabled();
  help_tooltip(tr("Shuffles the words again and uses the current weights. Key: Home."), skin);
  if (!context.live || context.live->model.is_recurrent() || context.live->model.positions == "none") return;
  next_in_row(checkbox_width(tr("positional encoding on (all views)")), skin.px(12));
  AttentionView& attention = context.views.of<AttentionView>();
  bool told = !attention.interventions.no_positions;
  if (ImGui::Checkbox(tr_label("positional encoding on (all views)"), &told))
    attention.interventions.no_positions = !told;
  help_tooltip(tr("Off: the input has no positional encoding, in all views, but only at inference. Attention then "
                  "treats the words as a set: the result is the same in every order."),
               skin);
}

void draw_reading(const OrderReading& reading, const OrderReading& own, const Skin& skin) {
  const bool same = reading.output == own.output;
  draw_wrapped_label(skin.fonts.ui, same ? skin.theme.text : skin.theme.warning,
                     reading.output.empty() ? tr("(nothing)") : one_line(reading.output), skin);
  draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                     trf("ln p of the first row\u2019s output: {}", number_text(reading.log_prob, 4)), skin);
}

void draw_heading(const char* text, const char* help, const Skin& skin) {
  draw_label(skin.fonts.bold, skin.theme.text, text, skin);
  help_tooltip(help, skin);
}

void draw_table(const OrderResult& inspection, const Skin& skin) {
  const bool without_positions = !inspection.orders.front().without_positions.empty();
  constexpr ImGuiTableFlags flags =
      ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_PadOuterX | ImGuiTableFlags_ScrollY;
  if (!ImGui::BeginTable("orders", without_positions ? 3 : 2, flags, {0, 0})) return;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  draw_heading(tr("The words"), tr("The original sentence first, then its words in other orders."), skin);
  ImGui::TableNextColumn();
  draw_heading(trf("with positions: {}", inspection.positions).c_str(),
               tr("The model's greedy output. Orange: different from the output for the original order."), skin);
  if (without_positions) {
    ImGui::TableNextColumn();
    draw_heading(tr("without positions"),
                 tr("The encoder has no positional encoding here: every order gives the same keys and values, so the "
                    "output cannot differ (paper \u00A73.5)."),
                 skin);
  }
  for (const WordOrder& order : inspection.orders) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    draw_wrapped_label(&order == &inspection.orders.front() ? skin.fonts.bold : skin.fonts.ui, skin.theme.text,
                       order.text, skin);
    ImGui::TableNextColumn();
    draw_reading(order.with_positions, inspection.orders.front().with_positions, skin);
    if (!without_positions) continue;
    ImGui::TableNextColumn();
    draw_reading(order.without_positions.front(), inspection.orders.front().without_positions.front(), skin);
  }
  ImGui::EndTable();
}

}  // namespace

void ask_for_orders(WorkspaceContext& context, OrdersView& view) {
  if (!context.live) return;
  view.asked = OrderQuestion{.text = context.live->source_text, .seed = view.seed};
  view.run = context.live->run;
  context.study = *view.asked;
}

std::optional<WorkspaceNumbers> order_numbers(const OrdersView& view) {
  if (!view.inspection || view.inspection->orders.empty()) return std::nullopt;
  const OrderResult& inspection = *view.inspection;
  const bool without_positions = !inspection.orders.front().without_positions.empty();
  WorkspaceNumbers numbers{Matrix(static_cast<int>(inspection.orders.size()), without_positions ? 2 : 1),
                           {},
                           {"ln p, with positions"},
                           "shuffled words"};
  if (without_positions) numbers.cols.emplace_back(tr("ln p without positions"));
  int row = 0;
  for (const WordOrder& order : inspection.orders) {
    numbers.rows.push_back(fmt::format("{} \u2192 {}", order.text, order.with_positions.output));
    numbers.matrix.at(row, 0) = static_cast<float>(order.with_positions.log_prob);
    if (without_positions) numbers.matrix.at(row, 1) = static_cast<float>(order.without_positions.front().log_prob);
    ++row;
  }
  return numbers;
}

void draw_shuffled(WorkspaceContext& context, PositionsView& positions) {
  OrdersView& view = positions.orders;
  const Skin& skin = context.skin;
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin); };
  if (!context.has_run)
    return note(tr("No run is open. Open one to see how it handles a sentence whose words are shuffled."));
  if (context.live && context.live->source_text.empty())
    return note(tr("Type a sentence. This view shuffles its words and shows the model's output for each order."));
  const bool same =
      context.live && view.asked && view.asked->text == context.live->source_text && view.run == context.live->run;
  if (context.live && !context.studying && !same) ask_for_orders(context, view);
  draw_controls(context, view);
  if (!view.inspection)
    return note(context.studying || context.study
                    ? tr("Decoding the shuffled sentences\u2026")
                    : tr("Not computed yet. Click Shuffle again to decode the sentence in several word orders."));
  if (!view.inspection->problem.empty()) return note(tr_filled(view.inspection->problem).c_str());
  draw_table(*view.inspection, skin);
}

}  // namespace attnscope
