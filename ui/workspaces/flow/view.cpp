#include "workspaces/flow/view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/translation.h"
#include "common/clamped.h"
#include "workspaces/attention/row.h"

namespace attnscope {
namespace {

// The box of the other column at the same height, or at its end.
FlowBox beside(const ArchitectureColumn& from, const ArchitectureColumn& to, const FlowBox& box) {
  const auto at = std::ranges::find(from.boxes, box, &ArchitectureBox::box) - from.boxes.begin();
  const auto index = std::min<std::ptrdiff_t>(at, static_cast<std::ptrdiff_t>(to.boxes.size()) - 1);
  return to.boxes[static_cast<std::size_t>(index)].box;
}

std::vector<FlowBox> attentions(const ModelConfig& model) {
  std::vector<FlowBox> boxes;
  const Architecture plan = architecture_of(model);
  for (const bool decoder : {false, true}) {
    for (const ArchitectureBox& box : plan.column(decoder).boxes)
      if (attention_of(box.box)) boxes.push_back(box.box);
  }
  return boxes;
}

}  // namespace

int heads_of_box(const ModelConfig& model, const FlowBox& box) {
  return static_cast<int>(model.of_layer(box.decoder, 0).num_heads);
}

void settle(FlowView& view, const Snapshot& snapshot) {
  if (const auto place = telling_head(snapshot); place && !view.begun) {
    view.layer = place->layer;
    view.head = place->head;
  }
  view.begun = true;
  const Architecture plan = architecture_of(snapshot.model);
  if (!find_box(plan, view.box)) {
    const bool decoder = plan.encoder.boxes.empty();
    select_box(view, plan.column(decoder).boxes.front().box);
  }
  view.layer = clamped(view.layer, 0, static_cast<int>(plan.column(view.box.decoder).layers) - 1);
  view.head = clamped(view.head, 0, heads_of_box(snapshot.model, view.box) - 1);
  const auto count = static_cast<int>(tokens_of(snapshot, view.box).size());
  if (view.token && *view.token >= count) view.token.reset();
}

void select_box(FlowView& view, const FlowBox& box) {
  if (view.box == box) return;
  if (view.box.decoder != box.decoder) view.token.reset();
  view.box = box;
  view.matrix = -1;
  view.alone = false;
}

void move_box(FlowView& view, const ModelConfig& model, int up, int columns) {
  const Architecture plan = architecture_of(model);
  const ArchitectureColumn& column = plan.column(view.box.decoder);
  const ArchitectureColumn& other = plan.column(!view.box.decoder);
  const bool to_decoder = columns > 0;
  if (columns != 0 && to_decoder != view.box.decoder && !other.boxes.empty())
    return select_box(view, beside(column, other, view.box));
  const auto found = std::ranges::find(column.boxes, view.box, &ArchitectureBox::box);
  const auto at = static_cast<int>(found - column.boxes.begin()) + up;
  const int last = static_cast<int>(column.boxes.size()) - 1;
  select_box(view, column.boxes[static_cast<std::size_t>(clamped(at, 0, last))].box);
}

bool is_repeated(const FlowView& view, const ModelConfig& model) {
  const Architecture plan = architecture_of(model);
  const ArchitectureBox* box = find_box(plan, view.box);
  return box && box->repeated;
}

std::optional<AttentionPart> attention_of(const FlowBox& box) {
  if (box.part == FlowPart::cross_attention) return AttentionPart::cross;
  if (box.part != FlowPart::self_attention) return std::nullopt;
  return box.decoder ? AttentionPart::decoder : AttentionPart::encoder;
}

bool settle_on_attention(FlowView& view, const ModelConfig& model) {
  const std::vector<FlowBox> boxes = attentions(model);
  if (boxes.empty()) return false;
  const auto same_side = [&](const FlowBox& box) { return box.decoder == view.box.decoder; };
  if (!attention_of(view.box)) {
    const auto found = std::ranges::find_if(boxes, same_side);
    select_box(view, found == boxes.end() ? boxes.front() : *found);
  }
  return true;
}

void move_attention(FlowView& view, const ModelConfig& model, int by) {
  const std::vector<FlowBox> boxes = attentions(model);
  const auto at = static_cast<int>(std::ranges::find(boxes, view.box) - boxes.begin()) + by;
  if (at >= 0 && at < static_cast<int>(boxes.size())) select_box(view, boxes[static_cast<std::size_t>(at)]);
}

const std::vector<Token>& tokens_of(const Snapshot& snapshot, const FlowBox& box) {
  return box.decoder ? snapshot.target_in : snapshot.source;
}

int shown_token(const FlowView& view, const Snapshot& snapshot) {
  const std::vector<Token>& tokens = tokens_of(snapshot, view.box);
  const auto last = std::max(0, static_cast<int>(tokens.size()) - 1);
  if (view.token) return clamped(*view.token, 0, last);
  if (snapshot.model.is_language_model()) return static_cast<int>(snapshot.typed().size()) - 1;
  const int telling = telling_row(tokens);
  return telling < 0 ? last : telling;
}

std::string place_of(const FlowBox& box, int layer, const ModelConfig& model) {
  const Architecture plan = architecture_of(model);
  const ArchitectureBox* found = find_box(plan, box);
  std::string text = box.decoder ? tr("decoder") : tr("encoder");
  if (found && found->repeated) text += trf(", layer {}", layer + 1);
  return text;
}

FlowSizes sizes_of(const Snapshot& snapshot) {
  return {static_cast<std::int64_t>(snapshot.source.size()), static_cast<std::int64_t>(snapshot.target_in.size()),
          snapshot.data_flow ? snapshot.data_flow->vocab_size : 0};
}

}  // namespace attnscope
