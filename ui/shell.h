// The whole window: menu, toolbar, setup, workspaces, curves, sentence bar, messages.
#pragma once

#include "look.h"
#include "scope.h"
#include "textures.h"

namespace attnscope {

// One frame, between ImGui::NewFrame and ImGui::Render. What the user did is in `scope` afterwards.
void draw_shell(Scope& scope, TextureStore& textures, const Look& look);

}  // namespace attnscope
