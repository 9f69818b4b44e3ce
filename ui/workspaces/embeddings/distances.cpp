#include <fmt/format.h>
#include <imgui.h>

#include <cmath>
#include <numbers>

#include "base/numbers.h"
#include "widgets/heatmap.h"
#include "widgets/words.h"
#include "workspaces/embeddings/modes.h"

namespace attnscope {
namespace {

constexpr float farthest = 2;

// What the same words are from each other as rows of the identity matrix.
Matrix one_hot_distances(int count) {
  Matrix distances(count, count);
  for (int row = 0; row < count; ++row)
    for (int col = 0; col < count; ++col) distances.at(row, col) = row == col ? 0 : std::numbers::sqrt2_v<float>;
  return distances;
}

HeatmapOptions options_of(const std::vector<std::string>& words) {
  HeatmapOptions options;
  options.low = 0;
  options.high = farthest;
  options.row_labels = options.col_labels = words;
  return options;
}

}  // namespace

void draw_distances(const ModelConfig& model, EmbeddingsView& view, TextureStore& textures, const Skin& skin) {
  const EmbeddingLook& look = *view.look;
  if (look.apart.empty()) {
    const std::string& problem = look.chosen_problem;
    return draw_quiet_note(
        problem.empty() ? "Choose a piece on the map: its neighbours are compared here." : problem.c_str(),
        ImGui::GetContentRegionAvail(), skin);
  }
  std::vector<std::string> words;
  for (const int id : look.apart_ids) words.push_back(name_of(*look.vocabulary, id));
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(20), width = std::floor((room.x - gap) / 2);
  const std::string others = fmt::format("{}, its nearest pieces, and frequent words far from it", words.front());
  const HeatmapOptions options = options_of(words);

  ImGui::BeginChild("one-hot", {width, room.y}, false, ImGuiWindowFlags_NoScrollbar);
  draw_caption("One-hot",
               fmt::format("a place of {} a piece: all \u221A2 apart",
                           grouped(static_cast<std::int64_t>(look.vocabulary->pieces.size()))),
               "A vector with a single 1 says which piece it is and nothing else: every two are \u221A(1\u00B2 + "
               "1\u00B2) = \u221A2 apart, "
               "king from queen as far as from a comma.",
               skin);
  HeatmapOptions plain = options;
  plain.tooltip = [&](int row, int col) {
    ImGui::Text("%s \u00B7 %s", words[static_cast<std::size_t>(row)].c_str(),
                words[static_cast<std::size_t>(col)].c_str());
    ImGui::TextUnformatted(row == col ? "0: the same piece" : "\u221A(1\u00B2 + 1\u00B2) = \u221A2 = 1.4142");
  };
  draw_heatmap("one-hot", one_hot_distances(look.apart.rows), static_cast<std::uint64_t>(look.apart.rows), {0, 0},
               plain, textures, skin);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("learned", {0, room.y}, false, ImGuiWindowFlags_NoScrollbar);
  draw_caption("Learned", fmt::format("{} numbers a piece: near is alike", look.width),
               fmt::format("The rows of the {} at step {}, each to length 1: {}.", matrix_title(look.matrix, model),
                           grouped(look.step), others),
               skin);
  HeatmapOptions learned = options;
  learned.tooltip = [&](int row, int col) {
    const auto distance = static_cast<double>(look.apart.at(row, col));
    ImGui::Text("%s \u00B7 %s", words[static_cast<std::size_t>(row)].c_str(),
                words[static_cast<std::size_t>(col)].c_str());
    ImGui::Text("\u221A(2 \u2212 2 cos) = %s, cos = %s", number_text(distance, 4).c_str(),
                number_text(1 - distance * distance / 2, 4).c_str());
  };
  const HeatmapResult result = draw_heatmap("learned", look.apart, view.apart_version, {0, 0}, learned, textures, skin);
  const int label = result.row_label >= 0 ? result.row_label : result.col_label;
  if (result.label_clicked && label >= 0) choose_piece(view, look.apart_ids[static_cast<std::size_t>(label)]);
  ImGui::EndChild();
}

}  // namespace attnscope
