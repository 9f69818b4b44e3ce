// Comparison of two runs: the present run is A, the other one B. Handles the session's events about B, selects which
// run the workspaces show, and draws the dialog that starts a comparison.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/skin.h"
#include "config/config.h"
#include "messages/messages.h"
#include "workspaces/compare/compare.h"

namespace attnscope {

struct AppState;

// The run that the workspaces show, or the difference of both.
enum class DisplayedSide { a, b, difference };
inline constexpr std::array<std::string_view, 3> side_names = {"a", "b", "difference"};  // as used on the command line

struct ComparingView {
  DisplayedSide side = DisplayedSide::a;  // shown in the workspaces
  bool asked = false;                     // request: open the dialog
  Config a, b;                            // configurations edited in the dialog
  std::string filter;                     // filters the fields by name
  bool anew = true;                       // reset A, too
};

// ---- actions

bool can_compare(const AppState& scope);
bool is_comparing(const AppState& scope);
bool can_keep_side(const AppState& scope);
void ask_for_comparison(AppState& scope);  // opens the dialog
void compare_with_run(AppState& scope, const std::string& path);
void compare_configurations(AppState& scope, const Config& a, const Config& b);  // initializes both randomly and trains
void keep_side(AppState& scope, RunSide side);  // ends the comparison with only that run
void show_side(AppState& scope, DisplayedSide side);
void show_next_side(AppState& scope);

// A name for A or B after the settings in which they differ: "rope"; the runs' own names if there are none.
std::string side_name(const AppState& scope, RunSide side);
// "positions: rope · alibi"
std::string comparison_title(const AppState& scope);
// A note on the two runs: one is catching up, or why they are not trained on the same data; empty: none.
std::string comparison_note(const AppState& scope);

// ---- events of the session

void receive(AppState& scope, OfRunB& event);
void receive(AppState& scope, const ComparisonEnded& ended);
void receive_b(AppState& scope, std::shared_ptr<const Snapshot> snapshot);  // ignored unless it is of the present B

// Once per frame: makes B show the same step as A.
void settle_b(AppState& scope);

// ---- drawing

// Draws A · B · A − B above the workspace; nothing without a comparison.
void draw_comparison_bar(AppState& scope, const Skin& skin);
void draw_comparing(AppState& scope, const Skin& skin);  // the dialog

// Draws A − B for the open workspace, or the reason why there is none.
void draw_difference(AppState& scope, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
