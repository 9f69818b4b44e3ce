#include "workspaces/decoding_tree.h"

#include "widgets/heatmap.h"

namespace attnscope {

void draw_tree(const Shown&, DecodingView&, TextureStore&, const Look& look) {
  draw_quiet_note("…", ImGui::GetContentRegionAvail(), look);
}

}  // namespace attnscope
