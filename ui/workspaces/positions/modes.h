// Positional encodings: the model's own numbers, and how sinusoids and rotations work; one view each.
#pragma once

#include <optional>
#include <span>

#include "workspaces/positions/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// ---- for the table of workspaces
void draw_positions(WorkspaceContext& context);
std::span<const WorkspaceKey> position_keys();
std::span<const WorkspaceView> position_modes();
void show_position_mode(Views& views, std::size_t mode);
std::optional<WorkspaceNumbers> position_mode_numbers(const Views& views);

// ---- one function per view
void draw_turning(WorkspaceContext& context, PositionsView& view);
void draw_wavelengths(WorkspaceContext& context, PositionsView& view);
void draw_locality(WorkspaceContext& context, PositionsView& view);
void draw_shuffled(WorkspaceContext& context, PositionsView& view);
std::optional<WorkspaceNumbers> order_numbers(const OrdersView& view);

// Requests the model's outputs for the present sentence with its words reordered.
void ask_for_orders(WorkspaceContext& context, OrdersView& view);

}  // namespace attnscope
