// Circuit analysis, explaining one prediction: by position, by head, and the whole circuit; and the controls above the
// views.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "workspaces/circuit/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// ---- for the table of workspaces
void draw_circuit(WorkspaceContext& context);
std::span<const WorkspaceKey> circuit_keys();
std::span<const WorkspaceView> circuit_modes();
void show_circuit_mode(Views& views, std::size_t mode);
std::optional<WorkspaceNumbers> circuit_numbers(const Views& views);

// ---- one function per view; they require a snapshot without a problem
void draw_place(WorkspaceContext& context, CircuitView& view);
void draw_circuit_heads(WorkspaceContext& context, CircuitView& view);
void draw_circuit_picture(WorkspaceContext& context, CircuitView& view);
void draw_formation(WorkspaceContext& context, CircuitView& view);
std::optional<WorkspaceNumbers> formation_numbers(const CircuitView& view);
void draw_score(WorkspaceContext& context, CircuitView& view);
std::optional<WorkspaceNumbers> score_numbers(const CircuitView& view);
void draw_importance(WorkspaceContext& context, CircuitView& view);  // works without a snapshot
std::optional<WorkspaceNumbers> importance_numbers(const CircuitView& view);

// Requests the score decomposition once per selection, when no other study is running.
void ask_for_score(WorkspaceContext& context, CircuitView& view);

// Draws a list of the pair's words, with a name before it; −1: "nothing", if that is an option. Returns true if the
// choice changed.
bool choose_word(const char* id, const char* before, const char* help, const ContrastFacts& facts, int& slot,
                 bool optional, const Skin& skin);

// Requests the output under a change; `words` describes it.
void try_change(WorkspaceContext& context, CircuitView& view, ChangedRun run, std::string words);

// Selects which of the two runs is patched, in the maps and by clicks.
void draw_direction(CircuitView& view, const Skin& skin);

// Shows the model's output under the change tried last.
void draw_trial(const CircuitView& view, const Skin& skin);

// Shows the formula of an effect and its numbers.
void share_tooltip(const CircuitView& view, const Effect& effect, const Skin& skin);

}  // namespace attnscope
