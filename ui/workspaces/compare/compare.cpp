#include "workspaces/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/translation.h"
#include "widgets/words.h"
#include "workspaces/compare/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

constexpr std::array difference_views = {
    DifferenceView{"attention", draw_both_attention, both_attention_numbers},
    DifferenceView{"decoding", draw_both_decoding, both_decoding_numbers},
    DifferenceView{"positions", draw_both_positions, both_positions_numbers},
    DifferenceView{"embeddings", draw_both_embeddings, nullptr},
};

}  // namespace

const DifferenceView* find_difference_view(std::string_view workspace) {
  const auto found = std::ranges::find(difference_views, workspace, &DifferenceView::workspace);
  return found == difference_views.end() ? nullptr : &*found;
}

std::string difference_titles() {
  std::string titles;
  for (std::size_t i = 0; i < difference_views.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == difference_views.size() ? tr(" and ") : ", ";
    titles += before + std::string(tr(find_workspace(difference_views[i].workspace)->title));
  }
  return titles;
}

BothVersions versions_of(const Shown& a, const Shown& b) {
  return {a.version, b.version};
}

void draw_side_name(const char* side, const std::string& name, Color32 color, const Skin& skin) {
  draw_label(skin.fonts.bold, color, side, skin);
  if (name.empty()) return;
  ImGui::SameLine(0, skin.px(8));
  draw_label(skin.fonts.ui, skin.theme.text, name, skin);
}

Color32 color_of_a(const Skin& skin) {
  return skin.theme.series[0];
}

Color32 color_of_b(const Skin& skin) {
  return skin.theme.series[1];
}

}  // namespace attnscope
