#include "workspaces/decoding/view.h"

#include <algorithm>

#include "common/clamped.h"

namespace attnscope {
namespace {

int last_step(const Snapshot& snapshot) {
  return std::max(0, static_cast<int>(snapshot.decoding.size()) - 1);
}

// The generated IDs from the first free position to before `step`.
std::vector<int> written_before(const Snapshot& snapshot, int step) {
  const int first = snapshot.first_output();
  return ids_of(std::span(snapshot.target_out).subspan(first, std::max(0, step - first)));
}

// Returns whether results for the older output are valid for the newer one.
bool same_output(const Snapshot& older, const Snapshot& newer) {
  return older.run == newer.run && older.step <= newer.step && older.source_text == newer.source_text &&
         older.interventions == newer.interventions && older.target_out == newer.target_out;
}

}  // namespace

void go_to(DecodingView& view, const Snapshot& snapshot, int step) {
  const int wanted = step < 0 && view.time_step < 0 ? static_cast<int>(snapshot.forced) : step;
  const int reached = clamped(wanted, 0, last_step(snapshot));
  if (reached != view.time_step) view.candidate = -1;
  view.time_step = reached;
}

void visit(DecodingView& view, const Snapshot& snapshot, int step) {
  view.playing = false;
  go_to(view, snapshot, step);
}

void move_step(DecodingView& view, const Snapshot& snapshot, int steps) {
  visit(view, snapshot, view.time_step + steps);
}

void toggle_play(DecodingView& view, const Snapshot& snapshot, double now) {
  view.playing = !view.playing && last_step(snapshot) > 0;
  view.time_step_began = now;
  if (view.playing && view.time_step == last_step(snapshot)) go_to(view, snapshot, static_cast<int>(snapshot.forced));
}

void advance(DecodingView& view, const Snapshot& snapshot, double now) {
  if (!view.playing || now - view.time_step_began < seconds_per_step) return;
  view.time_step_began = now;
  go_to(view, snapshot, view.time_step + 1);
  if (view.time_step == last_step(snapshot)) view.playing = false;
}

void steer(DecodingView& view, std::vector<int> ids) {
  let_go(view);
  view.prefix_ids = std::move(ids);
}

void force(DecodingView& view, const Snapshot& snapshot, int step, int id) {
  if (step < snapshot.first_output()) return;
  std::vector<int> ids = written_before(snapshot, step);
  ids.push_back(id);
  steer(view, std::move(ids));
}

void rewind_to(DecodingView& view, const Snapshot& snapshot, int step) {
  steer(view, written_before(snapshot, step));
}

void let_go(DecodingView& view) {
  view.playing = false;
  view.candidate = -1;
  view.prefix.clear();
  view.prefix_ids.clear();
}

void move_candidate(DecodingView& view, const Snapshot& snapshot, int by) {
  if (snapshot.decoding.empty() || view.time_step < 0 || view.time_step > last_step(snapshot)) return;
  const auto count = static_cast<int>(snapshot.decoding[static_cast<std::size_t>(view.time_step)].candidates.size());
  view.playing = false;
  view.candidate = clamped(view.candidate + by, -1, count - 1);
}

bool force_candidate(DecodingView& view, const Snapshot& snapshot) {
  if (snapshot.decoding.empty() || view.candidate < 0 || view.time_step < 0 || view.time_step > last_step(snapshot))
    return false;
  const auto& candidates = snapshot.decoding[static_cast<std::size_t>(view.time_step)].candidates;
  if (view.candidate >= static_cast<int>(candidates.size())) return false;
  force(view, snapshot, view.time_step, candidates[static_cast<std::size_t>(view.candidate)].token.id);
  return true;
}

const Decodings* decodings_of(const Shown& shown, DecodingView& view) {
  if (is_recorded(*shown.snapshot)) return nullptr;
  if (shown.snapshot->decodings) {
    view.settled = shown;
    return shown.snapshot->decodings.get();
  }
  const Snapshot* before = view.settled.snapshot.get();
  return before && same_output(*before, *shown.snapshot) ? before->decodings.get() : nullptr;
}

}  // namespace attnscope
