#include "shell/panels.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "shell/actions.h"
#include "shell/captures.h"
#include "shell/export.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr std::array speeds = {0.25F, 0.5F, 1.0F, 2.0F, 4.0F, 8.0F};

// The present training step, or the last frame's if that is later.
double last_step(const AppState& scope, const PinnedSentence& sentence) {
  return static_cast<double>(std::max({scope.a.status.step, sentence.frames.back()->step, std::int64_t{1}}));
}

struct Track {
  ImVec2 low, high;  // ends of the line with the frames
  double last = 1;   // step at its right end

  float at(double step) const { return low.x + static_cast<float>(step / last) * (high.x - low.x); }
  double step_at(float x) const { return static_cast<double>((x - low.x) / (high.x - low.x)) * last; }
};

void draw_track(const AppState& scope, const PinnedSentence& sentence, const Track& track, bool hovered,
                const Skin& skin) {
  Painter paint(skin);
  const Theme& theme = skin.theme;
  const float middle = (track.low.y + track.high.y) / 2;
  paint.filled_rect({track.low.x, middle - skin.px(2)}, {track.high.x, middle + skin.px(2)}, theme.raised, skin.px(2));
  float drawn = -1e9F;  // overlapping ticks are drawn once
  for (const Frame& frame : sentence.frames) {
    const float x = std::floor(track.at(static_cast<double>(frame->step)));
    if (x < drawn + skin.px(2)) continue;
    drawn = x;
    paint.line({x, middle - skin.px(5)}, {x, middle + skin.px(5)}, theme.text_dim);
  }
  for (const std::int64_t step : scope.a.status.recorded_weights) {
    paint.filled_circle({std::floor(track.at(static_cast<double>(step))), middle - skin.px(8)}, skin.px(1.5F),
                        theme.text_dim, 8);
  }
  const Snapshot* past = scope.a.past.snapshot.get();
  const float handle = track.at(past ? static_cast<double>(past->step) : track.last);
  const Color32 color = past ? theme.warning : theme.success;
  paint.filled_rect({track.low.x, middle - skin.px(2)}, {handle, middle + skin.px(2)}, faded(color, 0.6F), skin.px(2));
  paint.filled_circle({handle, middle}, skin.px(hovered ? 7.0F : 6.0F), color, 24);
}

void track_tooltip(const AppState& scope, const Frame& frame) {
  ImGui::BeginTooltip();
  ImGui::Text(tr("step %s"), grouped(frame->step).c_str());
  plain_text(frame->output_text);
  if (std::ranges::binary_search(scope.a.status.recorded_weights, frame->step))
    ImGui::TextUnformatted(tr("weights recorded: every view can show this step, and you can intervene"));
  ImGui::EndTooltip();
}

// A click right of the last frame and closer to the right end selects the present.
void choose_at(AppState& scope, const PinnedSentence& sentence, const Track& track, float x) {
  const double step = track.step_at(x);
  const double newest = static_cast<double>(sentence.frames.back()->step);
  if (step > newest && step - newest > track.last - step) {
    show_present(scope);
  } else {
    show_frame(scope, nearest_frame(sentence.frames, step));
  }
  scope.timeline.playing = false;
}

// Empty while the current sentence is not pinned.
void draw_scrub_bar(AppState& scope, const PinnedSentence* recorded, float width, const Skin& skin) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  ImGui::InvisibleButton("track", {width, height});
  if (!recorded)
    return help_tooltip(tr("Nothing has been recorded for the sentence. Choose a pinned sentence on the left."), skin);
  const PinnedSentence& sentence = *recorded;
  const bool hovered = ImGui::IsItemHovered();
  const float margin = skin.px(7);
  const Track track{
      {corner.x + margin, corner.y}, {corner.x + width - margin, corner.y + height}, last_step(scope, sentence)};
  const float mouse = clamped(ImGui::GetIO().MousePos.x, track.low.x, track.high.x);
  if (ImGui::IsItemActive()) choose_at(scope, sentence, track, mouse);
  draw_track(scope, sentence, track, hovered || ImGui::IsItemActive(), skin);
  if (hovered) track_tooltip(scope, sentence.frames[nearest_frame(sentence.frames, track.step_at(mouse))]);
}

void draw_film_buttons(AppState& scope, bool recorded, const Skin& skin) {
  Timeline& timeline = scope.timeline;
  const bool playing = timeline.playing;
  draw_action_button(scope, find_action("film"), playing ? Icon::pause : Icon::play, skin.theme.accent, skin,
                     playing ? tr("Stop") : tr("Film"));
  ImGui::SameLine(0, skin.px(4));
  ImGui::BeginDisabled(!recorded);
  ImGui::SetNextItemWidth(ImGui::CalcTextSize("0.25×").x + ImGui::GetStyle().FramePadding.x * 2);
  if (ImGui::BeginCombo("##speed", fmt::format("{:g}×", timeline.speed).c_str(), ImGuiComboFlags_NoArrowButton)) {
    for (const float speed : speeds) {
      if (ImGui::Selectable(fmt::format("{:g}×", speed).c_str(), speed == timeline.speed)) timeline.speed = speed;
    }
    ImGui::EndCombo();
  }
  ImGui::EndDisabled();
  const std::string speed =
      trf("Speed of the film: {:g} frames per second on average. Frames that differ more are shown longer.",
          timeline.speed / seconds_per_frame);
  const char* why = tr("Nothing has been recorded for the sentence. Choose a pinned sentence on the left.");
  help_tooltip(recorded ? speed : fmt::format("{} {}", speed, why), skin);
}

void draw_sentences(AppState& scope, float width, const Skin& skin) {
  ImGui::SetNextItemWidth(width);
  const std::string shown = is_pinned(scope) ? scope.layout.sentence : tr("a pinned sentence…");
  if (begin_combo("##pinned", shown)) {
    std::string chosen;
    for (const PinnedSentence& sentence : scope.a.history.sentences()) {
      ImGui::PushID(&sentence);
      if (selectable_text(sentence.text, sentence.text == scope.layout.sentence)) chosen = sentence.text;
      ImGui::PopID();
    }
    if (!chosen.empty() && chosen != scope.layout.sentence) set_sentence(scope, chosen);
    ImGui::EndCombo();
  }
  help_tooltip(tr("Lists the pinned sentences. The selected one is shown in the sentence bar, with its recorded steps "
                  "on the line to the right."),
               skin);
}

std::string memory_text(const History& history) {
  std::size_t frames = 0;
  for (const PinnedSentence& sentence : history.sentences()) frames += sentence.frames.size();
  constexpr double mebibyte = 1 << 20;
  if (history.budget() == std::numeric_limits<std::size_t>::max())
    return trf("{:.1f} MiB · {} frames", static_cast<double>(history.bytes()) / mebibyte, frames);
  return trf("{:.1f} of {:.0f} MiB · {} frames", static_cast<double>(history.bytes()) / mebibyte,
             static_cast<double>(history.budget()) / mebibyte, frames);
}

std::string step_text(const AppState& scope) {
  const Snapshot* past = scope.a.past.snapshot.get();
  if (!past && shows_capture(scope)) return trf("last step, {}", grouped(scope.a.status.step));
  if (!past) return trf("now, step {}", grouped(scope.a.status.step));
  return trf("step {} of {}", grouped(past->step), grouped(scope.a.status.step));
}

void draw_step(const AppState& scope, float width) {
  const float x = ImGui::GetCursorPosX();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(step_text(scope).c_str());
  ImGui::SameLine(x + width);
}

void draw_memory(const AppState& scope, const std::string& text, const Skin& skin) {
  const WithFont font(skin.fonts.small);
  ImGui::AlignTextToFramePadding();
  dim_text(text, skin);
  help_tooltip(trf("Memory used by the recorded frames of all pinned sentences, and its limit. A frame is recorded "
                   "every {} steps. Near the limit, and beyond {} frames per sentence, the frames closest to their "
                   "neighbors are deleted.",
                   scope.a.run.config.training.history_interval, max_frames),
               skin);
}

// Shown while pictures of the recorded steps are being written.
void draw_film_order(AppState& scope, const Skin& skin) {
  const FilmOrder& film = *scope.exports.film;
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(tr("Saving the film"));
  ImGui::SameLine(0, skin.px(8));
  const float share = static_cast<float>(film.written) / static_cast<float>(film.frames.size());
  const std::string text = trf("{} of {}", film.written, film.frames.size());
  ImGui::ProgressBar(share, {-button_width(tr("Stop the film")) - skin.px(8), ImGui::GetFrameHeight()}, text.c_str());
  ImGui::SameLine(0, skin.px(8));
  if (ImGui::Button(tr_label("Stop the film"))) stop_film(scope);
  help_tooltip(tr("Stops saving the film. The pictures saved so far remain."), skin);
}

void draw_bar(AppState& scope, const Skin& skin) {
  if (scope.exports.film) return draw_film_order(scope, skin);
  const PinnedSentence* sentence = recorded_sentence(scope);
  const float gap = skin.px(8);
  draw_film_buttons(scope, sentence != nullptr, skin);
  ImGui::SameLine(0, gap);
  const std::string memory = memory_text(scope.a.history);
  float rest = ImGui::GetContentRegionAvail().x - button_width(tr("Live")) - gap;
  // Omits controls that would leave too little room for the line of frames.
  const auto takes = [&](float width) {
    const bool fits = rest - width - gap > skin.px(120);
    if (fits) rest -= width + gap;
    return fits;
  };
  const float sentences_width = clamped(rest * 0.2F, skin.px(80), skin.px(260));
  const float step_width = text_size(skin.fonts.ui, tr("step 000 000 of 000 000")).x;
  const bool with_sentences = takes(sentences_width);
  const bool with_step = takes(step_width);
  const bool simple = scope.layout.density == Density::simple || skin.presentation;
  const char* plot = scope.a.run.config.model.is_signed() ? tr("Plot value") : tr("Plot weight");
  const bool with_weight = !simple && takes(button_width(plot));
  const bool with_memory = !simple && takes(text_size(skin.fonts.small, memory).x);
  if (with_sentences) {
    draw_sentences(scope, sentences_width, skin);
    ImGui::SameLine(0, gap);
  }
  draw_scrub_bar(scope, sentence, std::max(skin.px(30), rest), skin);
  ImGui::SameLine(0, gap);
  if (with_step) draw_step(scope, step_width + gap);
  draw_action_button(scope, find_action("live"), skin, tr("Live"));
  if (with_weight) {
    ImGui::SameLine(0, gap);
    draw_action_button(scope, find_action("plot-weight"), skin, plot);
  }
  if (with_memory) {
    ImGui::SameLine(0, gap);
    draw_memory(scope, memory, skin);
  }
}

}  // namespace

void draw_timeline(AppState& scope, const Skin& skin) {
  if (scope.a.history.sentences().empty()) {
    scope.timeline.focused = false;
    return;
  }
  // The keys step through the frames instead of navigating between controls.
  ImGui::BeginChild("timeline", {0, ImGui::GetFrameHeight()}, false, view_flags() | ImGuiWindowFlags_NoScrollbar);
  scope.timeline.focused = ImGui::IsWindowFocused();
  draw_bar(scope, skin);
  ImGui::EndChild();
}

float timeline_height(const AppState& scope) {
  return scope.a.history.sentences().empty() ? 0 : ImGui::GetFrameHeightWithSpacing();
}

}  // namespace attnscope
