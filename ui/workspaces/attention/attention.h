// The attention workspace (paper §3.2): from the whole model to one head's own numbers.
#pragma once

#include "workspaces/workspace.h"

namespace attnscope {

void draw_attention(WorkspaceContext& context);

std::span<const WorkspaceKey> attention_keys();

// In the order of AttentionLevel.
std::span<const WorkspaceView> attention_levels();
void show_level(Views& views, std::size_t level);

void ask_for_level(const Views& views, Probe& probe);

// Something about the heads is still being worked out.
bool is_measuring(const Views& views);

}  // namespace attnscope
