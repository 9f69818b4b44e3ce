#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/marks.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"
#include "workspaces/positions/modes.h"

namespace attnscope {
namespace {

Color32 color_of(AttentionPart part, const Skin& skin) {
  return skin.theme.series[part == AttentionPart::encoder ? 0 : 1];
}

// Offset from the layer's number, so that the heads of both parts are distinguishable.
double place_of(const HeadPlace& place) {
  return place.layer + 1 + (place.part == AttentionPart::encoder ? -0.06 : 0.06);
}

void head_tooltip(const HeadDistance& head, const Snapshot& snapshot) {
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(trf("{}: {:.3f} tokens away", head_name(head.place, snapshot.model), head.distance).c_str());
  ImGui::TextDisabled(
      "%s",
      trf("mean over the queries of \u03A3 w |query \u2212 key|; equal weights would give {:.3f}", head.alike).c_str());
  ImGui::EndTooltip();
}

void draw_heads(Painter& paint, const PlotFrame& frame, const LocalityView& view, const Snapshot& snapshot,
                const Skin& skin) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const HeadDistance* pointed = nullptr;
  for (const HeadDistance& head : view.heads) {
    const ImVec2 at{frame.x_at(place_of(head.place)), frame.y_at(head.distance)};
    draw_mark(paint, at, skin.px(4), faded(color_of(head.place.part, skin), 0.75F), skin);
    if (std::hypot(at.x - mouse.x, at.y - mouse.y) < skin.px(7)) pointed = &head;
  }
  if (pointed && ImGui::IsItemHovered()) head_tooltip(*pointed, snapshot);
}

}  // namespace

void draw_locality(WorkspaceContext& context, PositionsView& positions) {
  const Skin& skin = context.skin;
  LocalityView& view = positions.locality;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const std::shared_ptr<const Snapshot>& snapshot = context.maps.complete.snapshot;
  if (!snapshot) return draw_quiet_note(tr("No sentence has been decoded yet. Open a run and type one."), room, skin);
  settle(view, snapshot);
  if (!snapshot->model.has_weights())
    return draw_quiet_note(
        tr("This view averages distances by attention weight, but the rows of this capture do not sum to 1."), room,
        skin);
  if (view.heads.empty())
    return draw_quiet_note(
        snapshot->model.is_recurrent()
            ? tr("This view shows attention distances, but a recurrent network has no self-attention. Choose another "
                 "architecture in the setup.")
            : tr("There are no distances to show: self-attention needs at least two tokens. Type a longer sentence."),
        room, skin);
  draw_wrapped_label(
      skin.fonts.small, skin.theme.text_dim,
      tr("Mean distance in tokens between a query and what it attends to, for each self-attention head on this "
         "sentence. Lines: the mean of a layer\u2019s heads; dashed: heads with equal weights on all keys."),
      skin);
  std::vector<PlotLine> lines;
  for (const PartDistances& part : view.parts)
    lines.push_back({.name = tr(part_name(part.part)), .series = &part.means, .color = color_of(part.part, skin)});
  PlotOptions options;
  options.title = tr("Mean distance by layer");
  options.help = tr(
      "The mean over the queries of \u03A3 w |query \u2212 key|, for every head (dots) and averaged over a "
      "layer\u2019s heads (lines). Cross-attention has no distance: its queries and keys are in different sentences.");
  options.x_label = tr("layer");
  options.whole_x = true;
  options.x_data = PlotRange{0.7, view.layers + 0.3};
  options.y_limits = PlotRange{0, 1.1 * view.highest};
  options.over = [&](Painter& paint, const PlotFrame& frame) {
    for (const PartDistances& part : view.parts) {
      const float y = frame.y_at(part.alike), dash = skin.px(6);
      for (float x = frame.low.x; x < frame.high.x; x += 2 * dash)
        paint.line({x, y}, {std::min(x + dash, frame.high.x), y}, faded(color_of(part.part, skin), 0.6F));
    }
    draw_heads(paint, frame, view, *snapshot, skin);
  };
  draw_plot("distances", lines, {0, 0}, view.axis, view.plot, options, skin);
}

}  // namespace attnscope
