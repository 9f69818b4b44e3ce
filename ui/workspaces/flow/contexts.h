// View "Nearest contexts": where in the corpus a vector is most like that of the chosen token.
#pragma once

#include <optional>

#include "messages/nearest.h"
#include "workspaces/asked_once.h"
#include "workspaces/workspace.h"

namespace attnscope {

struct ContextsView {
  AskedOnce<NearestQuestion, NearestResult> study = {.question = {.token = -1}};  // a pronoun, or the last token
};

void take_contexts(ContextsView& view, NearestResult result, std::uint64_t run, std::int64_t step);

// Moves to the next or previous token.
void move_in_contexts(ContextsView& view, int by);

void draw_contexts(WorkspaceContext& context, ContextsView& view);

}  // namespace attnscope
