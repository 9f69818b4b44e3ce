#include "workspaces/decoding/modes.h"

#include <array>

#include "base/input.h"
#include "base/translation.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/decoding/controls.h"
#include "workspaces/decoding/view.h"

namespace attnscope {
namespace {

constexpr std::array modes = {
    WorkspaceView{"steps", "Step by step", "The output grows one token at a time (paper §3.1)."},
    WorkspaceView{"tree", "Beam tree", "Every hypothesis of the beam search, and where it was pruned.", nullptr,
                  ViewNeeds::writer},
    WorkspaceView{"readings", "Side by side", "Greedy, beam search and samples on the same sentence.", nullptr,
                  ViewNeeds::writer},
    WorkspaceView{"forcing", "Teacher forcing",
                  "The decoder's probabilities for the reference, next to its free-running output.", nullptr,
                  ViewNeeds::writer},
};
static_assert(modes.size() == static_cast<std::size_t>(DecodingMode::forcing) + 1);

// ---- the keys

// The snapshot that the keys step through; null in another mode, or if there is none.
const Snapshot* stepped(const WorkspaceContext& context) {
  const bool by_step = context.views.of<DecodingView>().mode == DecodingMode::steps;
  return by_step ? context.maps.complete.snapshot.get() : nullptr;
}

template <int by>
void step_by(WorkspaceContext& context) {
  if (const Snapshot* snapshot = stepped(context)) move_step(context.views.of<DecodingView>(), *snapshot, by);
}

template <int by>
void step_to_end(WorkspaceContext& context) {
  const Snapshot* snapshot = stepped(context);
  if (!snapshot) return;
  move_step(context.views.of<DecodingView>(), *snapshot, by * static_cast<int>(snapshot->decoding.size()));
}

template <int by>
void mark_next(WorkspaceContext& context) {
  if (const Snapshot* snapshot = stepped(context)) move_candidate(context.views.of<DecodingView>(), *snapshot, by);
}

void force_or_play(WorkspaceContext& context) {
  DecodingView& view = context.views.of<DecodingView>();
  const Snapshot* snapshot = stepped(context);
  if (snapshot && snapshot->model.is_masked_lm()) {
    if (!snapshot->decoding.empty()) toggle_mask(view, *snapshot, view.time_step);
    return;
  }
  if (snapshot && !force_candidate(view, *snapshot)) toggle_play(view, *snapshot, ImGui::GetTime());
}

void rewind(WorkspaceContext& context) {
  DecodingView& view = context.views.of<DecodingView>();
  if (const Snapshot* snapshot = stepped(context); snapshot && !snapshot->model.is_masked_lm())
    rewind_to(view, *snapshot, view.time_step);
}

void let_go_of_all(WorkspaceContext& context) {
  if (!stepped(context)) return;
  context.views.of<DecodingView>().masked.clear();
  let_go(context.views.of<DecodingView>());
}

constexpr const char* stepping = mark("one step, first step, last step");
constexpr const char* marking = mark("highlight a candidate");
constexpr std::array keys = {
    WorkspaceKey{{.key = Key::left, .repeats = true}, stepping, step_by<-1>},
    WorkspaceKey{{.key = Key::right, .repeats = true}, stepping, step_by<1>},
    WorkspaceKey{{.key = Key::home}, stepping, step_to_end<-1>},
    WorkspaceKey{{.key = Key::end}, stepping, step_to_end<1>},
    WorkspaceKey{{.key = Key::up, .repeats = true}, marking, mark_next<-1>},
    WorkspaceKey{{.key = Key::down, .repeats = true}, marking, mark_next<1>},
    WorkspaceKey{
        {.key = Key::enter}, "continue with the highlighted candidate; play, stop; mask a token", force_or_play},
    WorkspaceKey{{.key = Key::backspace}, "clear the forced prefix from this step on", rewind},
    WorkspaceKey{{.key = Key::del}, "clear the whole forced prefix", let_go_of_all},
};

// ---- the picture

void draw_modes(DecodingView& view, const Skin& skin) {
  view.mode = static_cast<DecodingMode>(draw_view_choices(modes, static_cast<std::size_t>(view.mode), skin));
  draw_options_button(view, skin);
}

void draw_mode(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin) {
  // Recorded frames contain only the greedy decoding.
  if (view.mode != DecodingMode::steps && is_recorded(*shown.snapshot))
    return draw_quiet_note(recorded_note(shown), ImGui::GetContentRegionAvail(), skin);
  switch (view.mode) {
    case DecodingMode::steps:
      return draw_steps(shown, view, textures, skin);
    case DecodingMode::tree:
      return draw_tree(shown, view, textures, skin);
    case DecodingMode::readings:
      return draw_readings(shown, view, textures, skin);
    case DecodingMode::forcing:
      return draw_forcing(shown, view, skin);
  }
}

}  // namespace

std::span<const WorkspaceKey> decoding_keys() {
  return keys;
}

std::span<const WorkspaceView> decoding_modes() {
  return modes;
}

void show_mode(Views& views, std::size_t mode) {
  views.of<DecodingView>().mode = static_cast<DecodingMode>(mode);
}

void ask_for_decodings(const Views& views, Probe& probe) {
  const DecodingView& view = views.of<DecodingView>();
  probe.decoding = true;
  probe.options = view.options;
  probe.hypothesis = view.hypothesis;
  probe.tuned_lens = view.lens.tuned && view.lens.fitted;
  if (probe.text == view.masked_text) probe.masked = view.masked;
}

bool is_playing(const Views& views) {
  return views.of<DecodingView>().playing;
}

void draw_decoding(WorkspaceContext& context) {
  const Shown& shown = context.maps.complete;
  const Skin& skin = context.skin;
  DecodingView& view = context.views.of<DecodingView>();
  if (shown.snapshot->model.is_masked_lm()) return draw_fill(shown, view, context.textures, skin);
  note_branch(view.branches, shown, view.prefix.empty() ? 0 : view.typing);
  draw_modes(view, skin);
  draw_beginning_and_reference(*shown.snapshot, view, context.reference, skin);
  ImGui::BeginChild("mode", ImVec2(0, 0), false, view_flags());
  draw_mode(shown, view, context.textures, skin);
  ImGui::EndChild();
  const bool shows_lens = view.mode == DecodingMode::steps && view.picture == StepPicture::lens && view.lens.tuned;
  // Once per run: fitted again as the run trains, it would never be ready.
  if (!shows_lens || view.lens.run == context.run.run || context.studying || context.study) return;
  view.lens = {true, context.run.run, 0, std::nullopt};
  context.study = TunedLensQuestion{};
}

}  // namespace attnscope
