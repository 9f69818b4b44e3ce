#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
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

// Beside the layer's number, so that heads of both parts are told apart.
double place_of(const HeadPlace& place) {
  return place.layer + 1 + (place.part == AttentionPart::encoder ? -0.06 : 0.06);
}

void head_tooltip(const HeadDistance& head, const Snapshot& snapshot) {
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(trf("{}: {:.3f} pieces away", head_name(head.place, snapshot.model), head.distance).c_str());
  ImGui::TextDisabled(
      "%s",
      trf("the mean over the queries of \u03A3 w |query \u2212 key|; all keys alike would give {:.3f}", head.alike)
          .c_str());
  ImGui::EndTooltip();
}

void draw_heads(Painter& paint, const PlotFrame& frame, const LocalityView& view, const Snapshot& snapshot,
                const Skin& skin) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const HeadDistance* pointed = nullptr;
  for (const HeadDistance& head : view.heads) {
    const ImVec2 at{frame.x_at(place_of(head.place)), frame.y_at(head.distance)};
    paint.filled_circle(at, skin.px(4), faded(color_of(head.place.part, skin), 0.75F));
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
  if (!snapshot)
    return draw_quiet_note(tr("No sentence has been decoded yet: open a run and type one below."), room, skin);
  settle(view, snapshot);
  if (view.heads.empty())
    return draw_quiet_note(
        snapshot->model.is_recurrent()
            ? tr("A recurrent network has no self-attention, so no distances: choose another architecture.")
            : tr("This look has no self-attention of two pieces or more: type a longer sentence."),
        room, skin);
  draw_wrapped_label(
      skin.fonts.small, skin.theme.text_dim,
      tr("How far from its own place each head of self-attention looks, in pieces, on this sentence. Lines: the mean "
         "of a layer\u2019s heads; dashed: what heads that look at all keys alike would have."),
      skin);
  std::vector<PlotLine> lines;
  for (const PartDistances& part : view.parts)
    lines.push_back({.name = part_name(part.part), .series = &part.means, .color = color_of(part.part, skin)});
  PlotOptions options;
  options.title = tr("Mean distance by layer");
  options.help =
      tr("The mean over the queries of \u03A3 w |query \u2212 key|, of every head (dots) and of a layer\u2019s heads "
         "together (lines). Cross-attention has no distance: its queries and keys stand in different sentences.");
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
