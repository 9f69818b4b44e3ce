#include "workspaces/attention_inside.h"

#include "widgets/heatmap.h"

namespace attnscope {

void draw_inside(const ShownMaps&, AttentionView&, TextureStore&, const Look& look) {
  draw_quiet_note("…", ImGui::GetContentRegionAvail(), look);
}

}  // namespace attnscope
