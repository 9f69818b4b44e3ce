#include "shell/timeline.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "shell/toolbar.h"
#include "shell/weight_choice.h"
#include "widgets/painter.h"
#include "widgets/tooltip.h"

namespace attnscope {
namespace {

constexpr std::array speeds = {0.25F, 0.5F, 1.0F, 2.0F, 4.0F, 8.0F};

// Of the frame shown; the number of frames when the present is.
std::size_t frame_index(const Scope& scope, const std::vector<Frame>& frames) {
  const auto found = std::ranges::find(frames, scope.timeline.past.snapshot);
  return static_cast<std::size_t>(found - frames.begin());
}

// The frame may have been thinned out, or the training that it saw taken back.
void return_to_what_there_is(Scope& scope) {
  Shown& past = scope.timeline.past;
  if (!past.snapshot) return;
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence || past.snapshot->source_text != sentence->text || past.snapshot->run != sentence->frames.back()->run) {
    return show_present(scope);
  }
  const bool there = frame_index(scope, sentence->frames) < sentence->frames.size();
  if (!there) show_frame(scope, nearest_frame(sentence->frames, static_cast<double>(past.snapshot->step)));
}

void go_on_with_film(Scope& scope, double now) {
  Timeline& timeline = scope.timeline;
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence || !timeline.past.snapshot) timeline.playing = false;
  if (!timeline.playing || now - timeline.frame_began < seconds_per_frame / static_cast<double>(timeline.speed)) return;
  const std::size_t next = frame_index(scope, sentence->frames) + 1;
  timeline.frame_began = now;
  if (next < sentence->frames.size()) show_frame(scope, next);
  timeline.playing = next + 1 < sentence->frames.size();
}

// ---- the bar

// From the beginning of training to its present step, or the last frame's.
double last_step(const Scope& scope, const PinnedSentence& sentence) {
  return static_cast<double>(std::max({scope.status.step, sentence.frames.back()->step, std::int64_t{1}}));
}

struct Track {
  ImVec2 low, high;  // of the line on which the frames lie
  double last = 1;   // step at its right end

  float at(double step) const { return low.x + static_cast<float>(step / last) * (high.x - low.x); }
  double step_at(float x) const { return static_cast<double>((x - low.x) / (high.x - low.x)) * last; }
};

void draw_track(const Scope& scope, const PinnedSentence& sentence, const Track& track, bool hovered,
                const Look& look) {
  Painter paint(look);
  const Theme& theme = look.theme;
  const float middle = (track.low.y + track.high.y) / 2;
  paint.filled_rect({track.low.x, middle - look.px(2)}, {track.high.x, middle + look.px(2)}, theme.raised, look.px(2));
  float drawn = -1e9F;  // ticks that would lie on one another are one
  for (const Frame& frame : sentence.frames) {
    const float x = std::floor(track.at(static_cast<double>(frame->step)));
    if (x < drawn + look.px(2)) continue;
    drawn = x;
    paint.line({x, middle - look.px(5)}, {x, middle + look.px(5)}, theme.text_dim);
  }
  const Snapshot* past = scope.timeline.past.snapshot.get();
  const float handle = track.at(past ? static_cast<double>(past->step) : track.last);
  const Color32 color = past ? theme.warning : theme.success;
  paint.filled_rect({track.low.x, middle - look.px(2)}, {handle, middle + look.px(2)}, faded(color, 0.6F), look.px(2));
  paint.filled_circle({handle, middle}, look.px(hovered ? 7.0F : 6.0F), color, 24);
}

void track_tooltip(const Frame& frame) {
  ImGui::BeginTooltip();
  ImGui::Text("step %s", grouped(frame->step).c_str());
  ImGui::TextUnformatted(frame->output_text.c_str());
  ImGui::EndTooltip();
}

// Right of the last frame, nearer to the right end, is the present.
void choose_at(Scope& scope, const PinnedSentence& sentence, const Track& track, float x) {
  const double step = track.step_at(x);
  const double newest = static_cast<double>(sentence.frames.back()->step);
  if (step > newest && step - newest > track.last - step) {
    show_present(scope);
  } else {
    show_frame(scope, nearest_frame(sentence.frames, step));
  }
  scope.timeline.playing = false;
}

// Empty while the sentence in the sentence bar is another than those pinned.
void draw_scrub_bar(Scope& scope, const PinnedSentence* recorded, float width, const Look& look) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  ImGui::InvisibleButton("track", {width, height});
  if (!recorded)
    return help_tooltip("Nothing is recorded of the sentence below. Choose a pinned one on the left.", look);
  const PinnedSentence& sentence = *recorded;
  const bool hovered = ImGui::IsItemHovered();
  const float margin = look.px(7);
  const Track track{
      {corner.x + margin, corner.y}, {corner.x + width - margin, corner.y + height}, last_step(scope, sentence)};
  const float mouse = std::clamp(ImGui::GetIO().MousePos.x, track.low.x, track.high.x);
  if (ImGui::IsItemActive()) choose_at(scope, sentence, track, mouse);
  draw_track(scope, sentence, track, hovered || ImGui::IsItemActive(), look);
  if (hovered) track_tooltip(sentence.frames[nearest_frame(sentence.frames, track.step_at(mouse))]);
}

void draw_film_buttons(Scope& scope, bool recorded, const Look& look) {
  Timeline& timeline = scope.timeline;
  const bool playing = timeline.playing;
  if (icon_button(playing ? "Stop" : "Film", playing ? Icon::pause : Icon::play, look.theme.accent, recorded,
                  "Plays what was recorded of this sentence as a film, to the last frame (Enter while this bar has the "
                  "keyboard).",
                  look)) {
    toggle_film(scope, ImGui::GetTime());
  }
  ImGui::SameLine(0, look.px(4));
  ImGui::BeginDisabled(!recorded);
  ImGui::SetNextItemWidth(ImGui::CalcTextSize("0.25×").x + ImGui::GetStyle().FramePadding.x * 2);
  if (ImGui::BeginCombo("##speed", fmt::format("{:g}×", timeline.speed).c_str(), ImGuiComboFlags_NoArrowButton)) {
    for (const float speed : speeds) {
      if (ImGui::Selectable(fmt::format("{:g}×", speed).c_str(), speed == timeline.speed)) timeline.speed = speed;
    }
    ImGui::EndCombo();
  }
  help_tooltip(fmt::format("Speed of the film: {:g} frames a second.", timeline.speed / seconds_per_frame), look);
  ImGui::EndDisabled();
}

void draw_sentences(Scope& scope, float width, const Look& look) {
  ImGui::SetNextItemWidth(width);
  const std::string shown = is_pinned(scope) ? scope.layout.sentence : "a pinned sentence…";
  if (ImGui::BeginCombo("##pinned", shown.c_str())) {
    std::string chosen;
    for (const PinnedSentence& sentence : scope.history.sentences()) {
      ImGui::PushID(&sentence);
      if (ImGui::Selectable(sentence.text.c_str(), sentence.text == scope.layout.sentence)) chosen = sentence.text;
      ImGui::PopID();
    }
    if (!chosen.empty() && chosen != scope.layout.sentence) set_sentence(scope, chosen);
    ImGui::EndCombo();
  }
  help_tooltip(
      "The pinned sentences. The one chosen comes into the sentence bar; what the model made of it at every "
      "recorded step lies on the line beside.",
      look);
}

std::string memory_text(const History& history) {
  std::size_t frames = 0;
  for (const PinnedSentence& sentence : history.sentences()) frames += sentence.frames.size();
  constexpr double mebibyte = 1 << 20;
  return fmt::format("{:.1f} of {:.0f} MiB · {} frames", static_cast<double>(history.bytes()) / mebibyte,
                     static_cast<double>(history.budget()) / mebibyte, frames);
}

std::string step_text(const Scope& scope) {
  const Snapshot* past = scope.timeline.past.snapshot.get();
  if (!past) return fmt::format("now, step {}", grouped(scope.status.step));
  return fmt::format("step {} of {}", grouped(past->step), grouped(scope.status.step));
}

float button_width(const char* label) {
  return ImGui::CalcTextSize(label).x + ImGui::GetStyle().FramePadding.x * 2;
}

void draw_step(const Scope& scope, float width) {
  const float x = ImGui::GetCursorPosX();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(step_text(scope).c_str());
  ImGui::SameLine(x + width);
}

void draw_live(Scope& scope, const Look& look) {
  ImGui::BeginDisabled(!scope.timeline.past.snapshot);
  if (ImGui::Button("Live")) show_present(scope);
  ImGui::EndDisabled();
  help_tooltip(
      "Returns to the present: all views follow the model again (End; Escape while this bar has the keyboard).", look);
}

void draw_plot_weight(Scope& scope, const Look& look) {
  const std::string problem = weight_problem(scope);
  ImGui::BeginDisabled(!problem.empty());
  if (ImGui::Button("Plot weight")) plot_weight(scope);
  ImGui::EndDisabled();
  help_tooltip(
      "How much the chosen query attends to the chosen key, over the recorded steps: a curve beneath the loss. " +
          problem,
      look);
}

void draw_memory(const Scope& scope, const std::string& text, const Look& look) {
  const WithFont font(look.fonts.small);
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  help_tooltip(fmt::format("Memory that the recorded frames of all pinned sentences take, and their budget. One is "
                           "recorded every {} updates; near the budget those go whose neighbours are closest.",
                           scope.run.config.training.history_interval),
               look);
}

// While pictures of the recorded steps are being written.
void draw_film_order(Scope& scope, const Look& look) {
  const FilmOrder& film = *scope.exports.film;
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("Writing the film");
  ImGui::SameLine(0, look.px(8));
  const float share = static_cast<float>(film.written) / static_cast<float>(film.frames.size());
  const std::string text = fmt::format("{} of {}", film.written, film.frames.size());
  ImGui::ProgressBar(share, {-button_width("Stop the film") - look.px(8), ImGui::GetFrameHeight()}, text.c_str());
  ImGui::SameLine(0, look.px(8));
  if (ImGui::Button("Stop the film")) stop_film(scope);
  help_tooltip("The pictures written so far stay.", look);
}

void draw_bar(Scope& scope, const Look& look) {
  if (scope.exports.film) return draw_film_order(scope, look);
  const PinnedSentence* sentence = recorded_sentence(scope);
  const float gap = look.px(8);
  draw_film_buttons(scope, sentence != nullptr, look);
  ImGui::SameLine(0, gap);
  const std::string memory = memory_text(scope.history);
  float rest = ImGui::GetContentRegionAvail().x - button_width("Live") - gap;
  // What there is no room for beside a useful line of frames is left out.
  const auto takes = [&](float width) {
    const bool fits = rest - width - gap > look.px(120);
    if (fits) rest -= width + gap;
    return fits;
  };
  const float sentences_width = std::clamp(rest * 0.2F, look.px(80), look.px(260));
  const float step_width = text_size(look.fonts.ui, "step 000 000 of 000 000").x;
  const bool with_sentences = takes(sentences_width);
  const bool with_step = takes(step_width);
  const bool with_weight = takes(button_width("Plot weight"));
  const bool with_memory = takes(text_size(look.fonts.small, memory.c_str()).x);
  if (with_sentences) {
    draw_sentences(scope, sentences_width, look);
    ImGui::SameLine(0, gap);
  }
  draw_scrub_bar(scope, sentence, std::max(look.px(30), rest), look);
  ImGui::SameLine(0, gap);
  if (with_step) draw_step(scope, step_width + gap);
  draw_live(scope, look);
  if (with_weight) {
    ImGui::SameLine(0, gap);
    draw_plot_weight(scope, look);
  }
  if (with_memory) {
    ImGui::SameLine(0, gap);
    draw_memory(scope, memory, look);
  }
}

}  // namespace

bool is_pinned(const Scope& scope) {
  return scope.history.find(scope.layout.sentence) != nullptr;
}

bool can_pin(const Scope& scope) {
  if (scope.run.run == 0 || scope.status.activity == Activity::preparing) return false;
  return is_pinned(scope) || (scope.history.sentences().size() < max_pinned && !is_blank(scope.layout.sentence));
}

void toggle_pin(Scope& scope) {
  if (!can_pin(scope)) return;
  if (is_pinned(scope)) {
    scope.commands.push_back(Unpin{scope.layout.sentence});
  } else {
    scope.commands.push_back(Pin{scope.layout.sentence});
  }
}

std::string pin_help(const Scope& scope) {
  if (is_pinned(scope)) return "Unpins the sentence; what was recorded of it is forgotten (Ctrl+P).";
  if (scope.history.sentences().size() >= max_pinned) {
    return fmt::format("{} sentences are pinned, and no more can be: unpin one first.", max_pinned);
  }
  return fmt::format(
      "Pins the sentence: what the model makes of it is recorded now and every {} updates, saved with the run, and can "
      "be gone through and played as a film (Ctrl+P).",
      scope.run.config.training.history_interval);
}

const PinnedSentence* recorded_sentence(const Scope& scope) {
  const PinnedSentence* sentence = scope.history.find(scope.layout.sentence);
  return sentence && !sentence->frames.empty() ? sentence : nullptr;
}

std::size_t nearest_frame(const std::vector<Frame>& frames, double step) {
  const auto distance = [step](const Frame& frame) { return std::abs(static_cast<double>(frame->step) - step); };
  return static_cast<std::size_t>(std::ranges::min_element(frames, {}, distance) - frames.begin());
}

void show_frame(Scope& scope, std::size_t index) {
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence || index >= sentence->frames.size()) return;
  Shown& past = scope.timeline.past;
  if (past.snapshot != sentence->frames[index]) past = {sentence->frames[index], ++scope.versions};
}

void show_present(Scope& scope) {
  scope.timeline.past = {};
  scope.timeline.playing = false;
}

void move_frame(Scope& scope, int by) {
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence) return;
  scope.timeline.playing = false;
  const auto count = static_cast<int>(sentence->frames.size());
  const int index = std::clamp(static_cast<int>(frame_index(scope, sentence->frames)) + by, 0, count);
  if (index == count) return show_present(scope);
  show_frame(scope, static_cast<std::size_t>(index));
}

void toggle_film(Scope& scope, double now) {
  Timeline& timeline = scope.timeline;
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence) return;
  timeline.playing = !timeline.playing;
  if (!timeline.playing) return;
  timeline.frame_began = now;
  if (frame_index(scope, sentence->frames) + 1 >= sentence->frames.size()) show_frame(scope, 0);
}

void settle_timeline(Scope& scope, double now) {
  return_to_what_there_is(scope);
  go_on_with_film(scope, now);
  follow_history(scope.curves_view.weights, scope.history);
  const Snapshot* past = scope.timeline.past.snapshot.get();
  scope.curves_view.axis.marker = past ? std::optional(static_cast<double>(past->step)) : std::nullopt;
}

void draw_timeline(Scope& scope, const Look& look) {
  if (scope.history.sentences().empty()) {
    scope.timeline.focused = false;
    return;
  }
  // The keys go through the frames, not from one control to the next.
  ImGui::BeginChild("timeline", {0, ImGui::GetFrameHeight()}, false,
                    ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_NoScrollbar);
  scope.timeline.focused = ImGui::IsWindowFocused();
  draw_bar(scope, look);
  ImGui::EndChild();
}

float timeline_height(const Scope& scope, const Look&) {
  return scope.history.sentences().empty() ? 0 : ImGui::GetFrameHeightWithSpacing();
}

}  // namespace attnscope
