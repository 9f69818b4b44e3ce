#include "workspaces/attention_sublayers.h"

#include "widgets/heatmap.h"

namespace attnscope {

void draw_sublayers(const ShownMaps&, AttentionView&, TextureStore&, const Look& look) {
  draw_quiet_note("…", ImGui::GetContentRegionAvail(), look);
}

}  // namespace attnscope
