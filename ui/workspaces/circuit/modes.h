// Why a model says what it says: the place, the heads, the picture of the whole; and the controls above them.
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

// ---- a view each; there is a look without a problem
void draw_place(WorkspaceContext& context, CircuitView& view);
void draw_circuit_heads(WorkspaceContext& context, CircuitView& view);
void draw_circuit_picture(WorkspaceContext& context, CircuitView& view);
void draw_formation(WorkspaceContext& context, CircuitView& view);
std::optional<WorkspaceNumbers> formation_numbers(const CircuitView& view);
void draw_score(WorkspaceContext& context, CircuitView& view);
std::optional<WorkspaceNumbers> score_numbers(const CircuitView& view);
void draw_importance(WorkspaceContext& context, CircuitView& view);  // needs no look
std::optional<WorkspaceNumbers> importance_numbers(const CircuitView& view);

// Once for what is chosen, when nothing else is worked out.
void ask_for_score(WorkspaceContext& context, CircuitView& view);

// A list of the pair's words, with a name before it; −1: "nothing", where that is among them. True when another is
// chosen.
bool choose_word(const char* id, const char* before, const char* help, const ContrastFacts& facts, int& slot,
                 bool optional, const Skin& skin);

// Asks for what is written then; `words` tells the change.
void try_change(WorkspaceContext& context, CircuitView& view, ChangedRun run, std::string words);

// Which of the two runs the maps and clicks change.
void draw_direction(CircuitView& view, const Skin& skin);

// What the change that was tried last has the model write.
void draw_trial(const CircuitView& view, const Skin& skin);

// The formula of a share and its numbers.
void share_tooltip(const CircuitView& view, const Effect& effect, const Skin& skin);

}  // namespace attnscope
