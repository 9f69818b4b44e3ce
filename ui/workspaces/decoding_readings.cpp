#include "workspaces/decoding_readings.h"

#include "widgets/heatmap.h"

namespace attnscope {

void draw_readings(const Shown&, DecodingView&, TextureStore&, const Look& look) {
  draw_quiet_note("…", ImGui::GetContentRegionAvail(), look);
}

}  // namespace attnscope
