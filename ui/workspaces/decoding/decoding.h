// The decoding workspace: every choice the decoder had (paper §3.1, §3.2.3).
#pragma once

#include "workspaces/workspace.h"

namespace attnscope {

// What the sentence should become can be edited here.
void draw_decoding(WorkspaceContext& context);

std::span<const WorkspaceKey> decoding_keys();

// In the order of DecodingMode.
std::span<const WorkspaceView> decoding_modes();
void show_mode(Views& views, std::size_t mode);

void ask_for_decodings(const Views& views, Probe& probe);

bool is_playing(const Views& views);

}  // namespace attnscope
