// The whole window: menu, toolbar, setup, workspaces, curves, sentence bar, messages.
#pragma once

#include "base/skin.h"
#include "base/textures.h"
#include "shell/scope.h"

namespace attnscope {

// One frame, between ImGui::NewFrame and ImGui::Render. What the user did is in `scope` afterwards.
void draw_shell(Scope& scope, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
