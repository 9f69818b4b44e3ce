// Mechanisms that a model learned, measured on inputs that the view draws itself: no sentence is needed.
#pragma once

#include <span>

#include "workspaces/mechanisms/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// ---- for the table of workspaces
void draw_mechanisms(WorkspaceContext& context);
std::span<const WorkspaceKey> mechanism_keys();
std::span<const WorkspaceView> mechanism_modes();
void show_mechanism_mode(Views& views, std::size_t mode);
std::optional<WorkspaceNumbers> mechanism_numbers(const Views& views);

// ---- one function per view
void draw_induction(WorkspaceContext& context, InductionView& view);
void draw_fourier(WorkspaceContext& context, FourierView& view);
void draw_runs(WorkspaceContext& context, RunsView& view);

}  // namespace attnscope
