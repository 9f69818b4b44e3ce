// The table of workspaces, from which tabs, menu, shortcuts, settings and the command line are generated.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workspaces/workspace.h"

namespace attnscope {

std::span<const Workspace> workspaces();

// The workspaces of the same group, including itself.
std::span<const Workspace> group_of(const Workspace& workspace);

// All groups, in table order.
std::vector<std::span<const Workspace>> workspace_groups();

const Workspace* find_workspace(std::string_view name);  // null: no workspace has that name
std::vector<std::string> workspace_names();

// The names of the views of all workspaces.
std::vector<std::string> view_names();

// The title of its tab for that model.
const char* title_of(const Workspace& workspace, const ModelConfig& model);

// The reason why the workspace cannot show that snapshot in any of its views; null: it can.
const char* workspace_refusal(const Workspace& workspace, const Snapshot& snapshot);

// Switches to the view of that name in its workspace, and returns the workspace; null: no view has that name.
const Workspace* show_view(Views& views, std::string_view name);

}  // namespace attnscope
