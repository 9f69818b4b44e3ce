// The snapshots of a pinned sentence recorded during training: stepped through, or played as a film.
#pragma once

#include <cstddef>
#include <string>

#include "shell/app_state.h"

namespace attnscope {

// ---- pinning the sentence in the sentence bar
bool is_pinned(const AppState& scope);
bool can_pin(const AppState& scope);  // pin or unpin
void toggle_pin(AppState& scope);     // does nothing if unavailable
std::string pin_help(const AppState& scope);

// The pinned sentence if frames of it were recorded; otherwise null.
const PinnedSentence* recorded_sentence(const AppState& scope);

// Index of the frame closest to a step; `frames` must not be empty.
std::size_t nearest_frame(const std::vector<Frame>& frames, double step);

// ---- the frame on display: a recorded one, or the present, which follows the last frame
void show_frame(AppState& scope, std::size_t index);  // does nothing if there is no such frame
void show_present(AppState& scope);
void move_frame(AppState& scope, int by);

// Starts playing at the current frame (at the first one if at the last frame or the present), or stops.
void toggle_film(AppState& scope, double now);

inline constexpr double seconds_per_frame = 0.25;  // at speed 1, on average

// The time to show each frame at speed 1: in proportion to the change of attention and output to the next one.
std::vector<double> film_seconds(const std::vector<Frame>& frames);

// Call once per frame, before anything is drawn. Advances the film, updates the weight curves, and returns to the
// present if the displayed frame is no longer in the history or the sentence changed.
void settle_timeline(AppState& scope, double now);

// ---- the selected weight (a query and a key of the selected head), plotted over training

// The reason why it cannot be plotted over training; empty if it can.
std::string weight_problem(const AppState& scope);
void plot_weight(AppState& scope);  // also pins the sentence; does nothing if there is a problem

}  // namespace attnscope
