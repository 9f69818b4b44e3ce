#include "workspaces/decoding_forcing.h"

#include "widgets/heatmap.h"

namespace attnscope {

void draw_forcing(const Shown&, DecodingView&, TextureStore&, const Look& look) {
  draw_quiet_note("…", ImGui::GetContentRegionAvail(), look);
}

}  // namespace attnscope
