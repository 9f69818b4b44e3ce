// Two runs in the window: the present one is A, the one beside it B. What the session says of B, which of them the
// workspaces show, and the dialog that begins a comparison.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/shown.h"
#include "base/skin.h"
#include "plain/config.h"
#include "plain/curves.h"
#include "plain/history.h"
#include "plain/messages.h"
#include "workspaces/compare/compare.h"

namespace attnscope {

struct AppState;

enum class RunSide { a, b, difference };
inline constexpr std::array<std::string_view, 3> side_names = {"a", "b", "difference"};  // on the command line

// B, received as A is.
struct OtherRun {
  RunOpened run;
  Status status;
  Curves curves;
  History history;
  Shown newest;
  Shown complete;
  Shown past;        // its frame of the recorded step that A shows, or the nearest; no snapshot: the present is shown
  Shown inspection;  // through the weights of a recorded step, newest
};

struct ComparingView {
  RunSide side = RunSide::a;  // what the workspaces show
  bool asked = false;         // the dialog is to be opened
  Config a, b;                // as they are put together in it
  std::string filter;         // of the fields
  bool anew = true;           // A begins anew, too
};

// ---- what can be done

bool can_compare(const AppState& scope);
bool is_comparing(const AppState& scope);
bool can_keep_side(const AppState& scope);
void ask_for_comparison(AppState& scope);  // opens the dialog
void compare_with_run(AppState& scope, const std::string& path);
void compare_configurations(AppState& scope, const Config& a, const Config& b);  // both from random weights, and trains
void keep_side(AppState& scope, RunSide side);                                   // alone
void show_side(AppState& scope, RunSide side);
void show_next_side(AppState& scope);

// What A or B is called for what they differ in: "rope"; their own names where they differ in nothing.
std::string side_name(const AppState& scope, RunSide side);
// "positions: rope · alibi"
std::string comparison_title(const AppState& scope);
// What is to be known of the two: that one catches up, or why they are not trained on the same; empty: nothing.
std::string comparison_note(const AppState& scope);

// ---- what the session reported

void receive(AppState& scope, OfOther& event);
void receive(AppState& scope, const ComparisonEnded& ended);
void receive_other(AppState& scope, std::shared_ptr<const Snapshot> snapshot);

// Once a frame: B shows the step that A shows.
void settle_other(AppState& scope);

// ---- drawn

// A · B · A − B, above the workspace; nothing while nothing is compared.
void draw_comparison_bar(AppState& scope, const Skin& skin);
void draw_comparing(AppState& scope, const Skin& skin);  // the dialog

// What the open workspace shows of A − B, or why there is none.
void draw_difference(AppState& scope, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
