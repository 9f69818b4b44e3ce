// What the model made of a pinned sentence while it was trained: gone through step by step, or played as a film.
#pragma once

#include <cstddef>
#include <string>

#include "shell/app_state.h"

namespace attnscope {

// ---- the sentence in the sentence bar
bool is_pinned(const AppState& scope);
bool can_pin(const AppState& scope);  // or unpin
void toggle_pin(AppState& scope);     // nothing when it cannot be done now
std::string pin_help(const AppState& scope);

// The sentence, if it is pinned and something of it was recorded; else null.
const PinnedSentence* recorded_sentence(const AppState& scope);

// Index of the frame whose step is nearest; there must be one.
std::size_t nearest_frame(const std::vector<Frame>& frames, double step);

// ---- what is shown of it: a recorded frame or the present, which comes after the last frame
void show_frame(AppState& scope, std::size_t index);  // nothing if there is no such frame
void show_present(AppState& scope);
void move_frame(AppState& scope, int by);

// Plays from the present frame (from the first when at the last, or in the present), or stops.
void toggle_film(AppState& scope, double now);

inline constexpr double seconds_per_frame = 0.25;  // of a film at speed 1

// Once a frame, before anything is drawn: goes on with the film, returns to the present when the frame shown has no
// place in the history any more or another sentence was typed, and lets the curves follow.
void settle_timeline(AppState& scope, double now);

// ---- the chosen weight, a query and a key of the selected head, followed over training

// What stands in the way of plotting it over training; empty if nothing does.
std::string weight_problem(const AppState& scope);
void plot_weight(AppState& scope);  // pins the sentence too; nothing when something stands in the way

}  // namespace attnscope
