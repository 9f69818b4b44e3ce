#include "workspaces/flow/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr std::array modes = {
    WorkspaceView{
        "architecture", "Architecture",
        "The model as in the paper's figure 1, with all shapes and parameter counts; each box shows its own numbers."},
    WorkspaceView{
        "lookup", "Soft database",
        "One query against all keys: how well each key matches, its weight, and how the values add up (paper §3.2)."},
    WorkspaceView{"batch", "Batch",
                  "The next training batch: tokens and padding, masks, smoothed targets, dropout (paper §5)."},
    WorkspaceView{"tensors", "Weights and gradients",
                  "The distribution of every tensor's values, of its gradient and of the sentence's activations, at "
                  "every recorded step. It reveals dead layers and exploding ones."},
    WorkspaceView{"neurons", "Neurons",
                  "The hidden units of the feed-forward sublayers: what activates each, which tokens it promotes, what "
                  "is lost without it (2012.14913)."},
    WorkspaceView{
        "contexts", "Nearest contexts",
        "The contexts of the corpus in which the model's vector is most like that of the chosen token, with its "
        "attention there (1910.05276).",
        "Contexts"},
    WorkspaceView{"probes", "Probes",
                  "Linear classifiers read labels, such as a word's sense or position, off the vectors of every layer at "
                  "every recorded step (1909.03368)."},
};
static_assert(modes.size() == static_cast<std::size_t>(FlowMode::probes) + 1);

// ---- the keys

// Null: nothing to move in.
const Snapshot* walked(const WorkspaceContext& context) {
  return context.maps.complete.snapshot.get();
}

// Moves the selection of the open view: the next box of the architecture; another attention, or one more or fewer
// summed row of the soft database; another row or position of the batch; another tensor or step.
template <int up, int columns>
void go_to(WorkspaceContext& context) {
  const Snapshot* snapshot = walked(context);
  if (!snapshot) return;
  FlowView& view = context.views.of<FlowView>();
  if (view.mode == FlowMode::architecture) return move_box(view, snapshot->model, up, columns);
  if (view.mode == FlowMode::batch) return move_in_batch(view.batch, -up, columns);
  if (view.mode == FlowMode::contexts) return move_in_contexts(view.contexts, columns - up);
  if (view.mode == FlowMode::probes) return;
  if (view.mode == FlowMode::neurons) return move_in_neurons(view.neurons, -up);
  if (view.mode == FlowMode::spread) return move_in_spreads(view.spread, -up, columns);
  if (columns != 0) return move_attention(view, snapshot->model, columns);
  const auto rows = static_cast<int>(view.lookup.shown.keys.size());
  view.lookup.added = clamped(view.lookup.added.value_or(rows) - up, 0, rows);
}

template <int by>
void go_to_token(WorkspaceContext& context) {
  const Snapshot* snapshot = walked(context);
  if (!snapshot) return;
  FlowView& view = context.views.of<FlowView>();
  const auto last = static_cast<int>(tokens_of(*snapshot, view.box).size()) - 1;
  view.token = clamped(shown_token(view, *snapshot) + by, 0, std::max(0, last));
}

template <int by>
void go_to_layer(WorkspaceContext& context) {
  FlowView& view = context.views.of<FlowView>();
  view.layer = std::max(0, view.layer + by);  // clamped when drawn
}

template <int by>
void go_to_head(WorkspaceContext& context) {
  FlowView& view = context.views.of<FlowView>();
  view.head = std::max(0, view.head + by);
}

constexpr const char* next_box = mark("next box, row, position, tensor or neuron");
constexpr const char* next_token = mark("the token that is followed");
constexpr const char* next_layer = mark("next layer, previous layer");
constexpr const char* next_head = mark("previous head, next head");
constexpr std::array keys = {
    WorkspaceKey{{.key = Key::left, .repeats = true}, next_box, go_to<0, -1>},
    WorkspaceKey{{.key = Key::right, .repeats = true}, next_box, go_to<0, 1>},
    WorkspaceKey{{.key = Key::up, .repeats = true}, next_box, go_to<1, 0>},
    WorkspaceKey{{.key = Key::down, .repeats = true}, next_box, go_to<-1, 0>},
    WorkspaceKey{{.key = Key::page_up, .repeats = true}, next_token, go_to_token<-1>},
    WorkspaceKey{{.key = Key::page_down, .repeats = true}, next_token, go_to_token<1>},
    WorkspaceKey{{.key = Key::enter}, next_layer, go_to_layer<1>},
    WorkspaceKey{{.key = Key::backspace}, next_layer, go_to_layer<-1>},
    WorkspaceKey{{.key = Key::home}, next_head, go_to_head<-1>},
    WorkspaceKey{{.key = Key::end}, next_head, go_to_head<1>},
};

bool asks_for_token(FlowPart part) {
  return part == FlowPart::logits || part == FlowPart::probabilities;
}

void draw_modes(FlowView& view, const Skin& skin) {
  view.mode = static_cast<FlowMode>(draw_view_choices(modes, static_cast<std::size_t>(view.mode), skin));
}

// "1 201 408 parameters · D = 128, F = 512, H = 4, V = 2000"
std::string summary(const Snapshot& snapshot) {
  const ModelConfig& model = snapshot.model;
  std::string sizes = fmt::format("D = {}", model.d_model);
  if (!model.is_recurrent())
    sizes += fmt::format(", H = {}, d = {}, F = {}", model.num_heads, model.head_width(), model.d_ff);
  if (!snapshot.data_flow) return sizes;
  std::int64_t total = 0;
  for (const FlowParameter& parameter : snapshot.data_flow->parameters) total += parameter.count();
  return trf("{} parameters · {}, V = {}", grouped(total), sizes, snapshot.data_flow->vocab_size);
}

void draw_summary(const Snapshot& snapshot, const Skin& skin) {
  const std::string text = summary(snapshot);
  ImGui::SameLine(0, skin.px(10));
  const bool fits = ImGui::CalcTextSize(text.c_str()).x <= ImGui::GetContentRegionAvail().x;
  if (!fits) ImGui::NewLine();
  fits ? quiet_words(text, text, skin) : small_text(skin.theme.text_dim, text, skin);
}

}  // namespace

std::span<const WorkspaceKey> flow_keys() {
  return keys;
}

std::span<const WorkspaceView> flow_modes() {
  return modes;
}

void show_flow_mode(Views& views, std::size_t mode) {
  views.of<FlowView>().mode = static_cast<FlowMode>(mode);
}

void ask_for_flow(const Views& views, Probe& probe) {
  const FlowView& view = views.of<FlowView>();
  if (view.mode == FlowMode::batch) {
    probe.batch = BatchWanted{view.batch.part, view.batch.dropout_place};
    return;
  }
  if (view.mode == FlowMode::neurons) {
    probe.features = shown_dictionary(view.neurons);
    probe.sublayers = !probe.features;
    return;
  }
  probe.data_flow = FlowWanted{.box = view.box,
                               .layer = view.layer,
                               .head = view.head,
                               .token = asks_for_token(view.box.part) ? view.token.value_or(1 << 20) : 0,
                               .convolution = view.convolution};
}

std::optional<WorkspaceNumbers> flow_numbers(const Views& views) {
  const FlowView& view = views.of<FlowView>();
  if (view.mode == FlowMode::lookup) return lookup_numbers(view.lookup);
  if (view.mode == FlowMode::batch) return batch_numbers(view.batch);
  if (view.mode == FlowMode::spread) return spread_numbers(view.spread);
  if (view.mode == FlowMode::neurons) return neuron_numbers(view.neurons);
  if (!view.shown || !view.shown->data_flow || view.shown->data_flow->matrices.empty()) return std::nullopt;
  const DataFlow& flow = *view.shown->data_flow;
  const auto last = static_cast<int>(flow.matrices.size()) - 1;
  const int index = view.matrix < 0 || view.matrix > last ? last : view.matrix;
  const FlowMatrix& matrix = flow.matrices[static_cast<std::size_t>(index)];
  const std::string place = place_of(flow.asked.box, flow.asked.layer, view.shown->model);
  return WorkspaceNumbers{matrix.values, matrix.row_labels, matrix.col_labels,
                          fmt::format("{} {}", place, matrix.name)};
}

void draw_architecture(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = clamped(room.x * 0.5F, std::min(skin.px(380), room.x * 0.6F), skin.px(560));
  draw_diagram(snapshot, view, {width, room.y}, skin);
  ImGui::SameLine(0, skin.px(10));
  ImGui::BeginChild("chosen", {0, room.y}, false, view_flags());
  draw_tensors(shown, view, textures, skin);
  ImGui::EndChild();
}

void draw_flow(WorkspaceContext& context) {
  const Shown& shown = context.maps.complete;
  const Skin& skin = context.skin;
  FlowView& view = context.views.of<FlowView>();
  view.shown = shown.snapshot;
  settle(view, *shown.snapshot);
  draw_modes(view, skin);
  view.mode == FlowMode::architecture ? draw_summary(*shown.snapshot, skin) : end_choices();
  ImGui::BeginChild("mode", {0, 0}, false, view_flags());
  // Same order as FlowMode; the last four have their own requests.
  constexpr std::array draws = {draw_architecture, draw_lookup, draw_batch};
  static_assert(draws.size() + 4 == modes.size());
  if (view.mode == FlowMode::spread) {
    draw_spread(context, view.spread);
  } else if (view.mode == FlowMode::neurons) {
    draw_neurons(context, view.neurons);
  } else if (view.mode == FlowMode::contexts) {
    draw_contexts(context, view.contexts);
  } else if (view.mode == FlowMode::probes) {
    draw_probes(context, view.probes);
  } else {
    draws[static_cast<std::size_t>(view.mode)](shown, view, context.textures, skin);
  }
  ImGui::EndChild();
}

}  // namespace attnscope
