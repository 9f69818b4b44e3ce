#include "workspaces/circuit/attribution.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "analysis/attribution_methods.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "messages/snapshot.h"
#include "widgets/heatmap.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

// ---- numbers

std::string part_title(const LogitPart& part) {
  if (part.kind == LogitPartKind::feed_forward) return trf("feed-forward of layer {}", part.place.layer + 1);
  return trf("{} layer {} head {}",
             part.place.part == AttentionPart::cross ? tr("cross-attention") : tr("self-attention"),
             part.place.layer + 1, part.place.head + 1);
}

bool has_place(const LogitPart& part) {
  return part.kind == LogitPartKind::head || part.kind == LogitPartKind::feed_forward;
}

double logit_of(const AttributionResult& inspection, LogitPartKind kind) {
  const auto part = std::ranges::find(inspection.parts, kind, &LogitPart::kind);
  return part == inspection.parts.end() ? 0 : part->logit;
}

// The parts of a layer are in the order of the forward pass, the same in every layer.
void make_parts(AttributionView& view) {
  view.cells.clear();
  std::ranges::copy_if(view.inspection->parts, std::back_inserter(view.cells), has_place);
  view.parts = {};
  if (view.cells.empty()) return;
  const int layers = view.cells.back().place.layer + 1;
  view.parts = Matrix(layers, static_cast<int>(view.cells.size()) / layers);
  for (std::size_t i = 0; i < view.parts.values.size(); ++i)
    view.parts.values[i] = static_cast<float>(view.cells[i].logit);
}

void make_tokens(AttributionView& view) {
  view.methods = token_methods(*view.inspection, view.head);
  view.agreement = method_agreement(view.methods);
  view.tokens = Matrix(static_cast<int>(view.methods.size()), static_cast<int>(view.inspection->tokens.size()));
  for (int row = 0; row < view.tokens.rows; ++row) {
    const std::vector<double>& values = view.methods[static_cast<std::size_t>(row)].values;
    double most = 0;
    for (const double value : values) most = std::max(most, std::abs(value));
    for (int col = 0; col < view.tokens.cols; ++col)
      view.tokens.at(row, col) = most > 0 ? static_cast<float>(values[static_cast<std::size_t>(col)] / most) : 0;
  }
}

void make_numbers(AttributionView& view) {
  ++view.version;
  if (!view.inspection->problem.empty()) return;
  make_parts(view);
  make_tokens(view);
}

// ---- questions

void ask(WorkspaceContext& context, AttributionView& view, int output) {
  if (!context.live) return;
  view.asked = AttributionQuestion{context.live->source_text, output};
  view.run = context.live->run;
  context.study = *view.asked;
}

void ask_if_new(WorkspaceContext& context, AttributionView& view, int first) {
  if (!context.live || context.studying || context.study || context.live->source_text.empty()) return;
  const bool same = view.asked && view.asked->text == context.live->source_text && view.run == context.live->run;
  if (!same) ask(context, view, first);
}

void draw_written(WorkspaceContext& context, AttributionView& view) {
  const Skin& skin = context.skin;
  ImGui::AlignTextToFramePadding();
  quiet_words(tr("why"), tr("The output token to explain, given the tokens before it."), skin);
  for (std::size_t i = 0; i < view.inspection->written.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    ImGui::SameLine(0, skin.px(4));
    const std::string token(without_mark(view.inspection->written[i]));
    if (draw_choice(token.empty() ? " " : token.c_str(), view.inspection->output == static_cast<int>(i),
                    tr("Explain this token."), skin))
      ask(context, view, static_cast<int>(i));
    ImGui::PopID();
  }
  next_in_row(button_width(tr("Recompute")), skin.px(10));
  ImGui::BeginDisabled(context.studying || !context.live);
  if (ImGui::Button(tr_label("Recompute"))) ask(context, view, view.inspection->output);
  ImGui::EndDisabled();
  help_tooltip(tr("Runs the analysis again with the current sentence and weights."), skin);
}

// ---- pictures

HeatmapOptions signed_options(const Matrix& matrix, float high, const Skin& skin) {
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  for (const float value : matrix.values) high = std::max(high, std::abs(value));
  options.low = -high;
  options.high = high;
  options.square = false;
  return options;
}

void choose_head(AttributionView& view, const LogitPart& part) {
  const auto head = std::ranges::find(view.inspection->heads, part.place, &ReadingHead::place);
  if (part.kind != LogitPartKind::head || head == view.inspection->heads.end()) return;
  view.head = static_cast<std::size_t>(head - view.inspection->heads.begin());
  make_numbers(view);
}

void draw_parts(WorkspaceContext& context, AttributionView& view, float height) {
  const Skin& skin = context.skin;
  const AttributionResult& inspection = *view.inspection;
  const std::string token(without_mark(inspection.written[static_cast<std::size_t>(inspection.output)]));
  draw_caption(
      tr("Direct logit attribution"),
      trf("{} = {}: embedding {}, biases {}, and the cells below", token, number_text(inspection.logit, 3),
          number_text(logit_of(inspection, LogitPartKind::embedding), 3),
          number_text(logit_of(inspection, LogitPartKind::biases), 3)),
      tr("The residual stream at this step is a sum. With the layer norms' scales frozen as in this forward pass, the "
         "logit is a sum too: w \u00B7 (gain \u2299 (part \u2212 its mean) / \u03C3); all components add up to it. "
         "What a component changes in the scales and through later layers is not included."),
      skin);
  std::vector<std::string> rows, cols;
  for (int row = 0; row < view.parts.rows; ++row) rows.push_back(trf("layer {}", row + 1));
  for (int col = 0; col < view.parts.cols; ++col) {
    const LogitPart& part = view.cells[static_cast<std::size_t>(col)];
    cols.push_back(part.kind == LogitPartKind::feed_forward
                       ? tr("feed-forward")
                       : fmt::format("{} {}", part.place.part == AttentionPart::cross ? tr("cross") : tr("self"),
                                     part.place.head + 1));
  }
  HeatmapOptions options = signed_options(view.parts, 1e-6F, skin);
  options.row_labels = rows;
  options.col_labels = cols;
  options.row_axis = tr("layer");
  options.col_axis = tr("part");
  options.zoom = &view.parts_zoom;
  const auto cell = [&](int row, int col) -> const LogitPart& {
    return view.cells[static_cast<std::size_t>(row * view.parts.cols + col)];
  };
  if (view.head < inspection.heads.size()) {
    for (int i = 0; i < static_cast<int>(view.cells.size()); ++i)
      if (view.cells[static_cast<std::size_t>(i)].kind == LogitPartKind::head &&
          view.cells[static_cast<std::size_t>(i)].place == inspection.heads[view.head].place) {
        options.selected_row = i / view.parts.cols;
        options.selected_col = i % view.parts.cols;
      }
  }
  options.tooltip = [&](int row, int col) {
    bold_text(part_title(cell(row, col)), skin);
    dim_text(trf("adds {:+.4f} to the logit, {:.4f}", cell(row, col).logit, inspection.logit), skin);
    dim_text(trf("all components: {:.4f}", parts_sum(inspection)), skin);
    if (std::ranges::count(inspection.heads, cell(row, col).place, &ReadingHead::place) > 0)
      dim_text(tr("click: show its weights below"), skin);
  };
  const HeatmapResult mouse =
      draw_heatmap("parts", view.parts, view.version, {0, height}, options, context.textures, skin);
  if (mouse.clicked) choose_head(view, cell(mouse.row, mouse.col));
}

const char* method_help(const std::string& name) {
  if (name == "leave-one-out") return tr("log p \u2212 log p without the token (leave-one-out)");
  if (name == "integrated gradients")
    return tr(
        "(x \u2212 x\u2032) \u00B7 mean of \u2202 log p/\u2202x along the path from x\u2032, the unknown token "
        "(1703.01365)");
  if (name == "weights") return tr("\u03B1 of the chosen head, at this step");
  if (name == "rollout") return tr("\u220F (\u00BD W + \u00BD I), mean over heads (2005.00928)");
  if (name.find("input") != std::string::npos) return tr("\u2202 log p/\u2202x \u00B7 x, x the token's embedding");
  return tr("\u2016\u03B1 v W_O\u2016 of the chosen head (2004.10102)");
}

void draw_tokens(WorkspaceContext& context, AttributionView& view, const std::vector<std::string>& names, ImVec2 size) {
  const Skin& skin = context.skin;
  const AttributionResult& inspection = *view.inspection;
  std::vector<std::string> cols;
  for (const std::string& token : inspection.tokens) cols.emplace_back(without_mark(token));
  HeatmapOptions options = signed_options({}, 1, skin);
  options.row_labels = names;
  options.col_labels = cols;
  options.row_axis = tr("share of the row\u2019s maximum");
  options.col_axis = tr("input token");
  options.zoom = &view.tokens_zoom;
  options.tooltip = [&](int row, int col) {
    const TokenMethod& method = view.methods[static_cast<std::size_t>(row)];
    bold_text(fmt::format("{}, \u201C{}\u201D: {:.4f}", tr(method.name), cols[static_cast<std::size_t>(col)],
                          method.values[static_cast<std::size_t>(col)]),
              skin);
    dim_text(method_help(method.name), skin);
    if (method.name == "integrated gradients")
      dim_text(trf("all tokens together: log p {:.3f} \u2212 {:.3f}, up to an error of {:.2f} %; this one up to {:.2g} "
                   "nats",
                   inspection.log_prob, inspection.baseline_log_prob, 100 * completeness_error(inspection),
                   inspection.integrated_errors[static_cast<std::size_t>(col)]),
               skin);
  };
  draw_heatmap("pieces", view.tokens, view.version, size, options, context.textures, skin);
}

void draw_agreement(WorkspaceContext& context, AttributionView& view) {
  const Skin& skin = context.skin;
  HeatmapOptions options = signed_options({}, 1, skin);
  options.first_row = options.first_col = 1;  // the numbers in the neighboring picture's names
  options.row_axis = tr("rank correlation");
  options.col_axis = tr("with");
  options.legend = false;  // the neighboring picture has the same range
  options.zoom = &view.agreement_zoom;
  options.tooltip = [&](int row, int col) {
    bold_text(trf("{} and {}: {:.3f}", tr_filled(view.methods[static_cast<std::size_t>(row)].name),
                  tr_filled(view.methods[static_cast<std::size_t>(col)].name), view.agreement.at(row, col)),
              skin);
    dim_text(tr("Spearman\u2019s \u03C1 between the tokens\u2019 importances, ignoring their sign"), skin);
  };
  draw_heatmap("agreement", view.agreement, view.version, {0, 0}, options, context.textures, skin);
}

void draw_inspection(WorkspaceContext& context, AttributionView& view) {
  const Skin& skin = context.skin;
  const AttributionResult& inspection = *view.inspection;
  if (context.live && context.live->step != view.step)
    draw_label(
        skin.fonts.small, skin.theme.text_dim,
        trf("Computed at step {}. Recompute updates it to step {}.", grouped(view.step), grouped(context.live->step)),
        skin);
  if (view.parts.empty())
    draw_wrapped_label(skin.fonts.ui, skin.theme.text_dim, tr_filled(inspection.parts_problem), skin);
  else
    draw_parts(context, view, std::floor(ImGui::GetContentRegionAvail().y * 0.38F));
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, tr_filled(attribution_sentence(inspection, view.head)), skin);
  const std::string of =
      view.head < inspection.heads.size()
          ? trf("attention of {} layer {} head {}", tr(part_name(inspection.heads[view.head].place.part)),
                inspection.heads[view.head].place.layer + 1, inspection.heads[view.head].place.head + 1)
          : std::string();
  draw_caption(tr("Importance of each input token, by method"), of,
               tr("For log p of the chosen token, in nats; attention weights have no unit. Each row is scaled to its "
                  "maximum. Attention weights are not an explanation (1902.10186, 1908.04626): the matrix on the right "
                  "shows how closely their ranking agrees with leaving tokens out."),
               skin);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < view.methods.size(); ++i)
    names.push_back(fmt::format("{} {}", i + 1, tr_filled(view.methods[i].name)));
  draw_tokens(context, view, names, {std::floor(ImGui::GetContentRegionAvail().x * 0.66F), 0});
  ImGui::SameLine(0, skin.px(10));
  draw_agreement(context, view);
}

}  // namespace

void take_attribution(AttributionView& view, AttributionResult inspection, std::uint64_t run, std::int64_t step) {
  if (!view.asked || *view.asked != inspection.question || view.run != run) return;
  view.step = step;
  view.head = strongest_head(inspection);
  view.inspection = std::move(inspection);
  make_numbers(view);
}

std::optional<WorkspaceNumbers> attribution_numbers(const AttributionView& view) {
  if (!view.inspection || view.methods.empty()) return std::nullopt;
  WorkspaceNumbers numbers{view.tokens, {}, view.inspection->tokens, "attribution"};
  for (int row = 0; row < numbers.matrix.rows; ++row) {
    const TokenMethod& method = view.methods[static_cast<std::size_t>(row)];
    numbers.rows.push_back(method.name);
    for (int col = 0; col < numbers.matrix.cols; ++col)
      numbers.matrix.at(row, col) = static_cast<float>(method.values[static_cast<std::size_t>(col)]);
  }
  return numbers;
}

void draw_attribution(WorkspaceContext& context, AttributionView& view, int first) {
  ask_if_new(context, view, first);
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), context.skin); };
  if (context.live && context.live->source_text.empty())
    return note(
        tr("Type a sentence. This view then shows which heads, layers and input tokens each output token depends "
           "on."));
  const bool answered = view.inspection && context.live && view.run == context.live->run && view.asked &&
                        view.inspection->question.text == view.asked->text;
  if (!answered) return note(tr("Computing the attribution\u2026"));
  draw_written(context, view);
  if (!view.inspection->problem.empty()) return note(tr_filled(view.inspection->problem).c_str());
  draw_inspection(context, view);
}

}  // namespace attnscope
