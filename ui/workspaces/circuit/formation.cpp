// Formation of the circuit: the effect of each part over the training steps whose weights were recorded.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <map>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/words.h"
#include "workspaces/circuit/modes.h"

namespace attnscope {
namespace {

constexpr std::size_t fewest_steps = 2;  // required for a line

// "At these recorded steps, components had reached half of their final effect: step 2 000: total difference, …; …."
std::string order_text(const std::vector<std::string>& names, const std::vector<Series>& lines) {
  std::map<std::int64_t, std::vector<std::string>> by_step;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (const auto step = formed_by(lines[i])) by_step[*step].push_back(names[i]);
  if (by_step.empty()) return tr("No component has a notable effect at any of these steps.");
  std::vector<std::string> parts;
  for (const auto& [step, formed] : by_step) parts.push_back(trf("step {}: {}", grouped(step), listed(formed)));
  return trf("At these recorded steps, components had reached half of their final effect: {}.", fmt::join(parts, "; "));
}

}  // namespace

std::optional<WorkspaceNumbers> formation_numbers(const CircuitView& view) {
  if (!view.formation) return std::nullopt;
  const auto& points = view.formation->points;
  WorkspaceNumbers numbers{Matrix(static_cast<int>(points.size()), static_cast<int>(view.formed.size())),
                           {},
                           formation_names(*view.formation),
                           "when the circuit formed, nats"};
  for (int row = 0; row < numbers.matrix.rows; ++row) {
    numbers.rows.push_back(fmt::format("step {}", points[static_cast<std::size_t>(row)].step));
    for (int col = 0; col < numbers.matrix.cols; ++col)
      numbers.matrix.at(row, col) =
          static_cast<float>(view.formed[static_cast<std::size_t>(col)].y[static_cast<std::size_t>(row)]);
  }
  return numbers;
}

void draw_formation(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin); };
  if (!view.formation) return note(tr("Patching at every recorded step\u2026"));
  if (view.formation->points.size() < fewest_steps) {
    return note(
        tr("This view compares earlier steps of the training, but no earlier weights were recorded. Train in this "
           "window, which records some, or set training.kept_checkpoints so that the run saves some."));
  }
  const std::vector<std::string> names = formation_names(*view.formation);
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, order_text(names, view.formed), skin);
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Color32 color = i == 0 ? skin.theme.text_dim : series_color(skin.theme, i - 1);
    lines.push_back({.name = names[i], .series = &view.formed[i], .color = color});
  }
  const ContrastFacts& facts = view.inspection->facts;
  if (context.live) view.formation_axis.marker = static_cast<double>(context.live->step);
  draw_plot(
      "formation", lines, {0, 0}, view.formation_axis, view.formation_plot,
      {.title = tr("Effect, nats"),
       .help = trf("Effect on log p({}) \u2212 log p({}) at the first divergence: its change when the component's "
                   "activation is patched from the other sentence, averaged over both directions. The circuit is that "
                   "of the newest weights; its components are patched at every recorded step.",
                   without_mark(facts.a.text), without_mark(facts.b.text)),
       .x_label = tr("optimizer steps"),
       .whole_x = true},
      skin);
}

}  // namespace attnscope
