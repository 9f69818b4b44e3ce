#include "shell/timeline/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/attention_mix.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "messages/snapshot.h"
#include "workspaces/attention/text.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

// Index of the displayed frame; the number of frames if it is the present.
std::size_t frame_index(const AppState& scope, const std::vector<Frame>& frames) {
  const auto found = std::ranges::find(frames, scope.a.past.snapshot);
  return static_cast<std::size_t>(found - frames.begin());
}

// The frame may have been thinned out, or dropped because the run was reset to an earlier step.
void return_to_what_there_is(AppState& scope) {
  Shown& past = scope.a.past;
  if (!past.snapshot) return;
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence || past.snapshot->source_text != sentence->text || past.snapshot->run != sentence->frames.back()->run) {
    return show_present(scope);
  }
  const bool there = frame_index(scope, sentence->frames) < sentence->frames.size();
  if (!there) show_frame(scope, nearest_frame(sentence->frames, static_cast<double>(past.snapshot->step)));
}

// The mean absolute difference of the weights that both have, and a share for another output.
double change(const Snapshot& a, const Snapshot& b) {
  double sum = 0, count = 0;
  for (const AttentionPart part : attention_parts) {
    const auto before = all_of(maps_of(a, part)), after = all_of(maps_of(b, part));
    for (std::size_t map = 0; map < std::min(before.size(), after.size()); ++map) {
      const std::vector<float>&from = before[map]->values, &to = after[map]->values;
      if (from.size() != to.size()) continue;
      for (std::size_t i = 0; i < from.size(); ++i) sum += static_cast<double>(std::abs(to[i] - from[i]));
      count += before[map]->rows;
    }
  }
  constexpr double of_output = 0.2;  // as much as a tenth of every query's attention
  return (count > 0 ? sum / count : 0) + (a.output_text == b.output_text ? 0 : of_output);
}

void go_on_with_film(AppState& scope, double now) {
  Timeline& timeline = scope.timeline;
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence || !scope.a.past.snapshot) timeline.playing = false;
  if (!timeline.playing) return;
  const std::size_t frame = frame_index(scope, sentence->frames), next = frame + 1;
  if (timeline.seconds.size() != sentence->frames.size()) timeline.seconds = film_seconds(sentence->frames);
  const double seconds = frame < timeline.seconds.size() ? timeline.seconds[frame] : seconds_per_frame;
  if (now - timeline.frame_began < seconds / static_cast<double>(timeline.speed)) return;
  timeline.frame_began = now;
  if (next < sentence->frames.size()) show_frame(scope, next);
  timeline.playing = next + 1 < sentence->frames.size();
}

// ---- the selected weight

std::string weight_title(const Selection& chosen, const Snapshot& snapshot) {
  const Token& query = row_tokens(snapshot, chosen.place.part)[static_cast<std::size_t>(*chosen.row)];
  const Token& key = col_tokens(snapshot, chosen.place.part)[static_cast<std::size_t>(*chosen.col)];
  return fmt::format("{} → {} · {}", without_mark(query.text), without_mark(key.text),
                     head_name(chosen.place, snapshot.model));
}

}  // namespace

bool is_pinned(const AppState& scope) {
  return scope.a.history.find(scope.layout.sentence) != nullptr;
}

bool can_pin(const AppState& scope) {
  if (!has_run(scope) || !may_control(scope) || scope.a.status.activity == Activity::preparing) return false;
  return is_pinned(scope) || (scope.a.history.sentences().size() < max_pinned && !is_blank(scope.layout.sentence));
}

void toggle_pin(AppState& scope) {
  if (!can_pin(scope)) return;
  if (is_pinned(scope)) {
    scope.commands.push_back(Unpin{scope.layout.sentence});
  } else {
    scope.commands.push_back(Pin{scope.layout.sentence});
  }
}

std::string pin_help(const AppState& scope) {
  if (is_pinned(scope)) return tr("Unpins the sentence and deletes its recorded steps.");
  if (scope.a.history.sentences().size() >= max_pinned) {
    return trf("{} sentences are pinned, which is the maximum. Unpin one first.", max_pinned);
  }
  return trf(
      "Pins the sentence: its attention maps and output are recorded now and every {} steps, saved with the run, and "
      "can be played back as a film.",
      scope.a.run.config.training.history_interval);
}

const PinnedSentence* recorded_sentence(const AppState& scope) {
  const PinnedSentence* sentence = scope.a.history.find(scope.layout.sentence);
  return sentence && !sentence->frames.empty() ? sentence : nullptr;
}

std::size_t nearest_frame(const std::vector<Frame>& frames, double step) {
  const auto distance = [step](const Frame& frame) { return std::abs(static_cast<double>(frame->step) - step); };
  return static_cast<std::size_t>(std::ranges::min_element(frames, {}, distance) - frames.begin());
}

void show_frame(AppState& scope, std::size_t index) {
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence || index >= sentence->frames.size()) return;
  Shown& past = scope.a.past;
  if (past.snapshot != sentence->frames[index]) past = {sentence->frames[index], ++scope.versions};
}

void show_present(AppState& scope) {
  scope.a.past = {};
  scope.timeline.playing = false;
}

void move_frame(AppState& scope, int by) {
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence) return;
  scope.timeline.playing = false;
  const auto count = static_cast<int>(sentence->frames.size());
  const int index = clamped(static_cast<int>(frame_index(scope, sentence->frames)) + by, 0, count);
  if (index == count) return show_present(scope);
  show_frame(scope, static_cast<std::size_t>(index));
}

std::vector<double> film_seconds(const std::vector<Frame>& frames) {
  constexpr double shortest = 0.04, longest = 6 * seconds_per_frame;
  std::vector<double> seconds(frames.size(), seconds_per_frame);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < frames.size(); ++i) sum += seconds[i] = change(*frames[i], *frames[i + 1]);
  for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
    const double share = sum > 0 ? seconds[i] / sum * static_cast<double>(frames.size() - 1) : 1;
    seconds[i] = clamped(share * seconds_per_frame, shortest, longest);
  }
  return seconds;
}

void toggle_film(AppState& scope, double now) {
  Timeline& timeline = scope.timeline;
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence) return;
  timeline.playing = !timeline.playing;
  if (!timeline.playing) return;
  timeline.frame_began = now;
  timeline.seconds = film_seconds(sentence->frames);
  if (frame_index(scope, sentence->frames) + 1 >= sentence->frames.size()) show_frame(scope, 0);
}

void settle_timeline(AppState& scope, double now) {
  return_to_what_there_is(scope);
  go_on_with_film(scope, now);
  scope.a.past.inspection_comes = inspected_step(scope).has_value();
  follow_history(scope.curves_view.weights, scope.a.history);
  const Snapshot* past = scope.a.past.snapshot.get();
  scope.curves_view.axis.marker = past ? std::optional(static_cast<double>(past->step)) : std::nullopt;
}

// ---- the selected weight

std::string weight_problem(const AppState& scope) {
  const ShownMaps maps = shown_maps(scope);
  const AttentionView& view = scope.views.of<AttentionView>();
  if (!maps.newest.snapshot || maps.lacks(view.part)) return tr("No attention to plot yet.");
  const Selection chosen = selection_in(view, *maps.of(view.part).snapshot);
  if (!chosen.row || !chosen.col) {
    return tr(
        "Select a query and a key in the Attention workspace first: click the token of a row and that of a column.");
  }
  if (scope.curves_view.weights.size() >= max_weight_curves) {
    return trf("{} weights are plotted, which is the maximum. Remove one first.", max_weight_curves);
  }
  if (!is_pinned(scope) && !can_pin(scope)) return tr("The sentence cannot be pinned now.");
  return {};
}

void plot_weight(AppState& scope) {
  if (!weight_problem(scope).empty()) return;
  const AttentionView& view = scope.views.of<AttentionView>();
  const Snapshot& snapshot = *shown_maps(scope).of(view.part).snapshot;
  const Selection chosen = selection_in(view, snapshot);
  WeightCurve curve;
  curve.sentence = scope.layout.sentence;
  curve.place = chosen.place;
  curve.row = *chosen.row;
  curve.col = *chosen.col;
  curve.title = weight_title(chosen, snapshot);
  auto& weights = scope.curves_view.weights;
  const bool known = std::ranges::any_of(weights, [&](const WeightCurve& weight) {
    return weight.sentence == curve.sentence && weight.place == curve.place && weight.row == curve.row &&
           weight.col == curve.col;
  });
  if (!known) weights.push_back(std::move(curve));
  scope.layout.curves_open = true;
  if (!is_pinned(scope)) toggle_pin(scope);
}

}  // namespace attnscope
