// The table of workspaces, from which tabs, menu, keys, settings and the command line are made.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workspaces/workspace.h"

namespace attnscope {

std::span<const Workspace> workspaces();

// Its neighbours of the same group, itself among them.
std::span<const Workspace> group_of(const Workspace& workspace);

// All groups, in the order of the table.
std::vector<std::span<const Workspace>> workspace_groups();

const Workspace* find_workspace(std::string_view name);  // null: there is none of that name
std::vector<std::string> workspace_names();

// The names of all workspaces' views.
std::vector<std::string> view_names();

// Brings the view of that name into its workspace, which is returned; null: there is none of that name.
const Workspace* show_view(Views& views, std::string_view name);

}  // namespace attnscope
