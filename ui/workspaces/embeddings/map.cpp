#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "base/input.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/marks.h"
#include "widgets/number_field.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/splitter.h"
#include "widgets/words.h"
#include "workspaces/embeddings/modes.h"

namespace attnscope {
namespace {

constexpr std::size_t most_marked = 60;  // of the search results

constexpr std::array<ChoiceText<TokenColor>, 5> color_choices = {{
    {TokenColor::frequency, mark("frequency"),
     mark("How often the token occurs in a sample of the corpus, on a logarithmic scale.")},
    {TokenColor::language, mark("side"),
     mark("The side of the corpus on which the token occurs: source or target for at least nine of ten occurrences, "
          "otherwise both.")},
    {TokenColor::kind, mark("part of speech"), mark("Nouns, adjectives and verbs known to the built-in corpus.")},
    {TokenColor::gender, mark("gender"),
     mark("The grammatical gender in French; for an English noun, that of its translation.")},
    {TokenColor::number, mark("number"), mark("Singular and plural, for words known to the built-in corpus.")},
}};

// ---- the controls above the map

// Draws the label of a control; the control goes next to it.
void begin_control(const char* words, const char* help, float width, const Skin& skin) {
  const float whole = ImGui::CalcTextSize(words).x + skin.px(6) + skin.px(width);
  next_in_row(whole, skin.px(12));
  ImGui::AlignTextToFramePadding();
  quiet_words(words, help, skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(skin.px(width));
}

void draw_matrix_choice(const ModelConfig& model, EmbeddingsView& view, const Skin& skin) {
  const std::vector<EmbeddingMatrix> all = embedding_matrices(model);
  const std::string shown = matrix_title(view.inspection->matrix, model);
  ImGui::AlignTextToFramePadding();
  if (all.size() == 1) {
    quiet_words(shown, tr("This model has only one embedding matrix: its embeddings are tied (paper §3.4)."), skin);
    return;
  }
  quiet_words(tr("matrix"), tr("The embedding matrix that is shown, one vector per token."), skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(skin.px(170));
  if (!begin_combo("##matrix", shown)) return;
  for (const EmbeddingMatrix matrix : all) {
    if (!ImGui::Selectable(matrix_title(matrix, model).c_str(), matrix == view.inspection->matrix)) continue;
    view.wanted.matrix = matrix;
    view.by_tsne = false;
  }
  ImGui::EndCombo();
}

void draw_color_choice(EmbeddingsView& view, const Skin& skin) {
  const auto chosen = std::ranges::find(color_choices, view.color, &ChoiceText<TokenColor>::value);
  begin_control(tr("color"), tr(chosen->help), 120, skin);
  if (!begin_combo("##color", tr(chosen->title))) return;
  for (const auto& [value, title, help] : color_choices) {
    const bool known = is_known(*view.inspection->vocabulary, value);
    if (ImGui::Selectable(tr_label(title), value == view.color, known ? 0 : ImGuiSelectableFlags_Disabled))
      view.color = value;
    help_tooltip(known ? std::string(tr(help)) : std::string(tr(help)) + tr(" This corpus has no such labels."), skin);
  }
  ImGui::EndCombo();
}

void draw_tsne_controls(WorkspaceContext& context, EmbeddingsView& view) {
  const Skin& skin = context.skin;
  next_in_row(button_width(tr("PCA")) + button_width(tr("t-SNE")) + skin.px(8), skin.px(12));
  if (draw_choice(tr_label("PCA"), !view.by_tsne,
                  tr("Principal component analysis: the two directions of largest variance. During training each map "
                     "is rotated onto the one before (orthogonal Procrustes), so that it moves smoothly."),
                  skin))
    view.by_tsne = false;
  if (draw_choice(tr_label("t-SNE"), view.by_tsne,
                  tr("Preserves neighborhoods; distances between far groups have no meaning (van der Maaten & Hinton "
                     "2008). Computed only on request."),
                  skin))
    view.by_tsne = true;
  if (!view.by_tsne) return;
  begin_control(tr("perplexity"), tr("Roughly the number of neighbors that each token keeps."), 90, skin);
  number_slider("##perplexity", view.perplexity, 2.0F, 100.0F, "%.0f", ImGuiSliderFlags_AlwaysClamp, skin);
  const char* label = view.tsne ? tr("Recompute t-SNE") : tr("Compute t-SNE");
  next_in_row(button_width(label), skin.px(6));
  if (ImGui::Button(label)) context.study = TsneStudy{view.inspection->matrix, static_cast<double>(view.perplexity)};
  help_tooltip(trf("Exact t-SNE of the {} most frequent tokens, 1000 iterations, run between training steps. It can be "
                   "canceled above; the map can be used meanwhile.",
                   grouped(max_tsne_tokens)),
               skin);
}

void draw_search(EmbeddingsView& view, const Skin& skin) {
  const float width = clamped(ImGui::GetContentRegionAvail().x, skin.px(80), skin.px(150));
  next_in_row(skin.px(150), skin.px(12));
  ImGui::SetNextItemWidth(width);
  if (std::exchange(view.searching, false)) focus_next_item();
  const bool entered = ImGui::InputTextWithHint("##search", tr("search for a token"), &view.search,
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  help_tooltip(tr("Marks tokens that contain this text; Enter selects the first. \u201C+ing\u201D finds tokens that "
                  "continue a word."),
               skin);
  if (view.matched != view.search) {
    view.matched = view.search;
    view.matches = matching(*view.inspection->vocabulary, view.search);
  }
  if (entered && !view.matches.empty()) click_token(view, view.matches.front());
}

// ---- the map

void color_tokens(EmbeddingsView& view, const Theme& theme) {
  const std::shared_ptr<const Vocabulary>& vocabulary = view.inspection->vocabulary;
  if (!is_known(*vocabulary, view.color)) view.color = TokenColor::frequency;
  if (view.colored == vocabulary && view.colored_by == view.color && view.colored_in == theme.name) return;
  view.colors = token_colors(*vocabulary, view.color, theme);
  view.colored = vocabulary;
  view.colored_by = view.color;
  view.colored_in = theme.name;
}

double variance(const std::vector<ImVec2>& points, float ImVec2::*axis) {
  double sum = 0, squares = 0;
  for (const ImVec2 at : points) {
    sum += static_cast<double>(at.*axis);
    squares += static_cast<double>(at.*axis) * static_cast<double>(at.*axis);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, points.size()));
  return squares / count - sum / count * sum / count;
}

// The fraction of the total variance along each drawn axis. After rotation, an axis is no longer a principal component.
std::array<double, 2> shares(const EmbeddingMap& map, const std::vector<ImVec2>& points) {
  const double x = variance(points, &ImVec2::x), y = variance(points, &ImVec2::y);
  double both = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, map.shares.size()); ++i)
    both += static_cast<double>(map.shares[i]);
  const double sum = std::max(1e-12, x + y);
  return {both * x / sum, both * y / sum};
}

void draw_arrow(Painter& paint, ImVec2 from, ImVec2 to, Color32 color, const Skin& skin) {
  const float dx = to.x - from.x, dy = to.y - from.y;
  const float length = std::sqrt(dx * dx + dy * dy);
  if (!(length > skin.px(14))) return;
  const ImVec2 along{dx / length, dy / length};
  const float gap = skin.px(7), head = skin.px(8);
  const ImVec2 begin{from.x + along.x * gap, from.y + along.y * gap};
  const ImVec2 end{to.x - along.x * gap, to.y - along.y * gap};
  paint.line(begin, end, color, skin.px(2));
  for (const float side : {-0.5F, 0.5F})
    paint.line(end, {end.x - head * (along.x - side * along.y), end.y - head * (along.y + side * along.x)}, color,
               skin.px(2));
}

// a → b, and c → the answer: parallel if the analogy holds.
void draw_analogy(Painter& paint, const ScatterFrame& frame, const EmbeddingResult& inspection,
                  std::span<const ImVec2> points, const Skin& skin) {
  const auto& [a, b, c] = inspection.analogy;
  if (a < 0 || b < 0 || c < 0) return;
  const auto at = [&](int id) {
    const auto index = static_cast<std::size_t>(id);
    return frame.at(index < points.size() ? points[index] : ImVec2{NAN, NAN});
  };
  draw_arrow(paint, at(a), at(b), skin.theme.accent, skin);
  if (!inspection.answers.empty()) draw_arrow(paint, at(c), at(inspection.answers.front().id), skin.theme.accent, skin);
}

void draw_legend(const EmbeddingsView& view, ImVec2 low, const Skin& skin) {
  Painter paint(skin);
  ImFont* font = skin.fonts.small;
  const float line = font_size(font) + skin.px(2), box = skin.px(9);
  const auto entry = [&](float& y, Color32 color, std::string_view name) {
    draw_mark(paint, {low.x + box / 2, y + line / 2}, box / 2, color, skin);
    paint.text(font, {low.x + box + skin.px(5), y}, skin.theme.text_dim, name);
    y += line;
  };
  float y = low.y;
  if (view.color != TokenColor::frequency) {
    for (const auto& [color, name] : color_keys(view.color, skin.theme)) entry(y, color, name);
    return entry(y, faded(skin.theme.text_dim, 0.35F), tr("unlabeled"));
  }
  if (view.inspection->vocabulary->facts.empty())
    return paint.text(font, low, skin.theme.text_dim, tr("no frequencies: the corpus could not be read"));
  std::array<Color32, 8> stops{};
  for (std::size_t i = 0; i < stops.size(); ++i)
    stops[i] = frequency_color(static_cast<double>(i) / static_cast<double>(stops.size() - 1), skin.theme);
  const float rare = text_size(font, tr("rare")).x + skin.px(6), bar = skin.px(70);
  paint.text(font, low, skin.theme.text_dim, tr("rare"));
  paint.gradient({low.x + rare, low.y + line * 0.2F}, {low.x + rare + bar, low.y + line * 0.8F}, stops, false);
  paint.text(font, {low.x + rare + bar + skin.px(6), low.y}, skin.theme.text_dim, tr("frequent"));
}

void token_cell_tooltip(const EmbeddingsView& view, int id, const Skin& skin) {
  const EmbeddingResult& inspection = *view.inspection;
  bold_text(name_of(*inspection.vocabulary, id), skin);
  dim_text(facts_text(inspection, id), skin);
  if (!view.by_tsne) {
    const ImVec2 at = view.points.to[static_cast<std::size_t>(id)];
    dim_text(trf("(v \u2212 mean) \u00B7 axes = ({}, {})", number_text(static_cast<double>(at.x)),
                 number_text(static_cast<double>(at.y))),
             skin);
  }
  const auto found = std::ranges::find(inspection.neighbours.nearest, id, &Neighbour::id);
  if (found != inspection.neighbours.nearest.end())
    dim_text(trf("cos with {} = {}", name_of(*inspection.vocabulary, inspection.chosen),
                 number_text(static_cast<double>(found->cosine), 4)),
             skin);
  dim_text(view.slot >= 0 ? tr("click: use it as the next word of the analogy") : tr("click: list its neighbors"),
           skin);
}

void push_unique(std::vector<int>& list, int id) {
  if (id >= 0 && std::ranges::find(list, id) == list.end()) list.push_back(id);
}

// The selected token, the analogy with its answer, and the search results.
std::vector<int> marked_tokens(const EmbeddingsView& view) {
  const EmbeddingResult& inspection = *view.inspection;
  std::vector<int> marked;
  push_unique(marked, inspection.chosen);
  for (const int id : inspection.analogy) push_unique(marked, id);
  if (!inspection.answers.empty()) push_unique(marked, inspection.answers.front().id);
  for (std::size_t i = 0; i < std::min(most_marked, view.matches.size()); ++i) push_unique(marked, view.matches[i]);
  return marked;
}

void draw_map(EmbeddingsView& view, ImVec2 size, const Skin& skin) {
  const EmbeddingResult& inspection = *view.inspection;
  if (view.by_tsne && !view.tsne) {
    return draw_quiet_note(
        tr("Click \u201CCompute t-SNE\u201D above. It takes some seconds and runs in the background."), size, skin);
  }
  color_tokens(view, skin.theme);
  const std::vector<int> marked = marked_tokens(view);
  std::vector<int> important;
  for (const Neighbour& neighbour : inspection.neighbours.nearest) important.push_back(neighbour.id);
  const std::size_t near = important.size();
  for (const int id : view.important) {
    const auto end = important.begin() + static_cast<std::ptrdiff_t>(near);
    if (std::find(important.begin(), end, id) == end) important.push_back(id);
  }
  const std::span<const ImVec2> points = view.by_tsne ? view.tsne_points : view.points.now;
  std::erase_if(important, [&](int id) { return static_cast<std::size_t>(id) >= points.size(); });
  std::vector<int> marked_here = marked;
  std::erase_if(marked_here, [&](int id) { return static_cast<std::size_t>(id) >= points.size(); });
  const std::array<double, 2> share = shares(*inspection.map, view.points.to);
  const auto axis = [&](int which) {
    if (view.by_tsne) return std::string();
    return trf("axis {}: {:.1f} % of the variance", which + 1, 100 * share[static_cast<std::size_t>(which)]);
  };
  const std::string x_axis = view.by_tsne ? trf("t-SNE, perplexity {:g}: KL {:.2f} nats", view.tsne->perplexity,
                                                static_cast<double>(view.tsne->kl))
                                          : axis(0);
  const std::string y_axis = axis(1);
  ScatterOptions options;
  options.points = points;
  options.colors = std::span(view.colors).first(points.size());
  options.label = [&](int id) { return name_of(*inspection.vocabulary, id); };
  options.marked = marked_here;
  options.important = important;
  options.tooltip = [&](int id) { token_cell_tooltip(view, id, skin); };
  options.under = [&](Painter& paint, const ScatterFrame& frame) {
    draw_analogy(paint, frame, inspection, points, skin);
  };
  options.x_axis = x_axis;
  options.y_axis = y_axis;
  options.radius = points.size() > 600 ? 2.6F : 3.5F;
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ScatterResult result =
      draw_scatter("map", options, view.by_tsne ? view.tsne_scatter : view.scatter, size, skin);
  const float lines =
      view.color == TokenColor::frequency ? 1 : static_cast<float>(color_keys(view.color, skin.theme).size() + 1);
  const float height = lines * (font_size(skin.fonts.small) + skin.px(2));
  draw_legend(view, {low.x + skin.px(8), low.y + size.y - height - skin.px(6)}, skin);
  if (result.clicked >= 0) click_token(view, result.clicked);
}

}  // namespace

void draw_embedding_map(WorkspaceContext& context, EmbeddingsView& view) {
  const Skin& skin = context.skin;
  draw_matrix_choice(context.live->model, view, skin);
  draw_color_choice(view, skin);
  draw_tsne_controls(context, view);
  draw_search(view, skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float side = std::min(skin.px(std::min(context.side_width, 520.0F)), room.x * 0.45F);
  const float edge = skin.px(splitter_width + 4);
  const ImVec2 size{std::max(1.0F, room.x - side - edge), room.y};
  draw_map(view, size, skin);
  ImGui::SameLine(0, 0);
  draw_splitter("side_edge", context.side_width, room.y,
                {.min = 200, .max = 520, .standard = 340, .column_is_right = true}, skin);
  ImGui::SameLine(0, skin.px(4));
  ImGui::BeginChild("side", {0, room.y}, false);
  draw_embedding_side(view, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
