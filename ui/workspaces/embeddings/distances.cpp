#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/words.h"
#include "workspaces/embeddings/modes.h"

namespace attnscope {
namespace {

constexpr float farthest = 2;

// Pairwise distances of the same words as one-hot vectors.
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

// Distances of all pairs of tokens: learned ones vary, one-hot ones are all equal.
void draw_histogram(const EmbeddingMap& map, float height, const Skin& skin) {
  bold_text(tr("Distances"), skin);
  ImGui::SameLine(0, skin.px(8));
  quiet_words(tr("learned and one-hot"),
              tr("Distances between two tokens' vectors, scaled to length 1: \u221A(2 \u2212 2 cos). One-hot vectors "
                 "are all \u221A2 = 1.414 apart, so they carry no similarity."),
              skin);
  constexpr int bins = 40;
  constexpr double longest = 2;
  std::array<int, bins> counts{};
  for (const float distance : map.distances)
    ++counts[static_cast<std::size_t>(
        clamped(static_cast<int>(static_cast<double>(distance) / longest * bins), 0, bins - 1))];
  const int most = std::max(1, *std::ranges::max_element(counts));
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const float line = font_size(skin.fonts.small);
  const ImVec2 size{ImGui::GetContentRegionAvail().x, height};
  const float base = low.y + size.y;
  const auto x_at = [&](double distance) { return low.x + static_cast<float>(distance / longest) * size.x; };
  Painter paint(skin);
  for (int bin = 0; bin < bins; ++bin) {
    const float bar =
        static_cast<float>(counts[static_cast<std::size_t>(bin)]) / static_cast<float>(most) * (size.y - 2 * line);
    if (bar > 0)
      paint.filled_rect({x_at(longest * bin / bins), base - bar}, {x_at(longest * (bin + 1) / bins) - 1, base},
                        skin.theme.series[0]);
  }
  const float one_hot = x_at(std::numbers::sqrt2);
  paint.filled_rect({one_hot - skin.px(1.5F), low.y + line}, {one_hot + skin.px(1.5F), base}, skin.theme.series[1]);
  const std::string_view word = tr("one-hot: all \u221A2");
  paint.text(skin.fonts.small, {one_hot - text_size(skin.fonts.small, word).x - skin.px(6), low.y},
             skin.theme.series[1], word);
  paint.text(skin.fonts.small, {low.x, low.y}, skin.theme.series[0], tr("learned"));
  paint.line({low.x, base}, {low.x + size.x, base}, skin.theme.border);
  paint.text(skin.fonts.small, {low.x, base + skin.px(2)}, skin.theme.text_dim, tr("0: same"));
  const std::string_view far = tr("2: opposite");
  paint.text(skin.fonts.small, {low.x + size.x - text_size(skin.fonts.small, far).x, base + skin.px(2)},
             skin.theme.text_dim, far);
  ImGui::Dummy({size.x, size.y + line + skin.px(4)});
  if (!map.distances.empty())
    help_tooltip(trf("{} random pairs of the {} tokens in use: median {}, from {} to {}.",
                     grouped(static_cast<std::int64_t>(map.distances.size())), grouped(map.used),
                     number_text(static_cast<double>(map.distances[map.distances.size() / 2])),
                     number_text(static_cast<double>(map.distances.front())),
                     number_text(static_cast<double>(map.distances.back()))),
                 skin);
}

}  // namespace

void draw_distances(const ModelConfig& model, EmbeddingsView& view, TextureStore& textures, const Skin& skin) {
  const EmbeddingResult& inspection = *view.inspection;
  if (inspection.apart.empty()) {
    const std::string problem = tr_filled(inspection.chosen_problem);
    return draw_quiet_note(
        problem.empty()
            ? tr("Choose a token on the map: this view compares the distances between it and its neighbors.")
            : problem.c_str(),
        ImGui::GetContentRegionAvail(), skin);
  }
  std::vector<std::string> words;
  for (const int id : inspection.apart_ids) words.push_back(name_of(*inspection.vocabulary, id));
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(20), width = std::floor((room.x - gap) / 2);
  // The height that the maps can use, with the histogram below them.
  const float height = std::max(skin.px(120), std::min(width + skin.px(30), room.y - skin.px(150)));
  const std::string others = trf("{}, its nearest tokens, and frequent words far from it", words.front());
  const HeatmapOptions options = options_of(words);

  ImGui::BeginChild("one-hot", {width, height}, false, ImGuiWindowFlags_NoScrollbar);
  draw_caption(tr("One-hot"),
               trf("one of {} dimensions per token: all \u221A2 apart",
                   grouped(static_cast<std::int64_t>(inspection.vocabulary->tokens.size()))),
               tr("A vector with a single 1 identifies the token and nothing else: any two are \u221A(1\u00B2 + "
                  "1\u00B2) = \u221A2 apart, king as far from queen as from a comma."),
               skin);
  HeatmapOptions plain = options;
  plain.tooltip = [&](int row, int col) {
    plain_text(fmt::format("{} \u00B7 {}", words[static_cast<std::size_t>(row)], words[static_cast<std::size_t>(col)]));
    ImGui::TextUnformatted(row == col ? tr("0: the same token") : "\u221A(1\u00B2 + 1\u00B2) = \u221A2 = 1.4142");
  };
  draw_heatmap("one-hot", one_hot_distances(inspection.apart.rows), static_cast<std::uint64_t>(inspection.apart.rows),
               {0, 0}, plain, textures, skin);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("learned", {0, height}, false, ImGuiWindowFlags_NoScrollbar);
  draw_caption(tr("Learned"), trf("{} numbers per token: near means similar", inspection.width),
               trf("The rows of the {} at step {}, scaled to length 1: {}.", matrix_title(inspection.matrix, model),
                   grouped(inspection.step), others),
               skin);
  HeatmapOptions learned = options;
  learned.tooltip = [&](int row, int col) {
    const auto distance = static_cast<double>(inspection.apart.at(row, col));
    plain_text(fmt::format("{} \u00B7 {}", words[static_cast<std::size_t>(row)], words[static_cast<std::size_t>(col)]));
    ImGui::Text(tr("\u221A(2 \u2212 2 cos) = %s, cos = %s"), number_text(distance, 4).c_str(),
                number_text(1 - distance * distance / 2, 4).c_str());
  };
  const HeatmapResult result =
      draw_heatmap("learned", inspection.apart, view.apart_version, {0, 0}, learned, textures, skin);
  const int label = result.row_label >= 0 ? result.row_label : result.col_label;
  if (result.label_clicked && label >= 0) choose_token(view, inspection.apart_ids[static_cast<std::size_t>(label)]);
  ImGui::EndChild();
  draw_histogram(*inspection.map,
                 clamped(ImGui::GetContentRegionAvail().y - 3 * ImGui::GetTextLineHeight(), skin.px(64), skin.px(220)),
                 skin);
}

}  // namespace attnscope
