// Sequence classification: the label of the typed text, the contributions of its tokens, and the confusion matrix.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "config/architecture.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/token_strip.h"
#include "widgets/words.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

std::string percent_text(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

// ---- this text

// The gradient norm of the label's loss for each token: ‖∂L/∂x‖, relative to the maximum; empty until computed.
std::vector<float> reached(const GradientsView& view, const Snapshot& snapshot) {
  if (!view.inspection || view.inspection->question.text != snapshot.source_text || view.run != snapshot.run) return {};
  const Matrix& norms = view.inspection->plain.encoder.norms;
  if (norms.rows == 0 || norms.cols != static_cast<int>(snapshot.source.size())) return {};
  std::vector<float> shares(norms.values.begin(), norms.values.begin() + norms.cols);
  const float largest = *std::ranges::max_element(shares);
  for (float& share : shares) share = largest > 0 ? share / largest : 0;
  return shares;
}

std::vector<float> pooled_by(const Snapshot& snapshot) {
  const Matrix* map = map_at(snapshot, {AttentionPart::cross, 0, 0});
  if (!map || map->rows == 0) return {};
  return {map->values.begin(), map->values.begin() + map->cols};
}

void draw_weighing(ClassesView& view, const ModelConfig& model, const Skin& skin) {
  if (!model.pools_by_weights()) {
    view.by_gradient = true;
    return quiet_words(tr("color: \u2016\u2202L/\u2202x\u2016"),
                       tr("The label depends only on the last state, so there are no weights. Shown instead: the "
                          "gradient of the label's loss at each token, as a share of the largest."),
                       skin);
  }
  if (draw_choice(tr_label("by pooling weight"), !view.by_gradient,
                  tr("The weight of each token\u2019s state in the weighted sum."), skin))
    view.by_gradient = false;
  if (draw_choice(tr_label("by gradient"), view.by_gradient,
                  tr("\u2016\u2202L/\u2202x\u2016 with L = \u2212log p of the label: how sensitive it is to each "
                     "token, as a share of the largest."),
                  skin))
    view.by_gradient = true;
  end_choices();
}

void draw_tokens(const Snapshot& snapshot, const ClassesView& view, const GradientsView& gradients, const Skin& skin) {
  const std::vector<float> weights = view.by_gradient ? reached(gradients, snapshot) : pooled_by(snapshot);
  TokenStripOptions options;
  options.show_ids = false;
  options.unseen = snapshot.unseen;
  options.weights = weights;
  options.weight_name = view.by_gradient ? tr("gradient, share of the largest:") : tr("weight in the sum:");
  draw_token_strip("pieces", snapshot.source, options, skin);
  if (view.by_gradient && weights.empty()) dim_text(tr("Backpropagating\u2026"), skin);
}

void draw_class(const Candidate& candidate, bool first, double label_width, const Skin& skin) {
  const float height = font_size(skin.fonts.ui) + skin.px(8);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::Dummy({width, height});
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("%s", trf("{}\nlogit {:.4f}\nexp({:.4f}) \u00F7 \u03A3 exp(logit) over the labels = {:.6f}",
                                candidate.token.text, candidate.logit, candidate.logit, candidate.probability)
                                .c_str());
  Painter paint(skin);
  const auto left = static_cast<float>(label_width);
  const float value_width = skin.px(56);
  const float most = std::max(skin.px(10), width - left - value_width - skin.px(10));
  const double share = std::isfinite(candidate.probability) ? static_cast<double>(candidate.probability) : 0;
  const ImVec2 low{at.x + left + skin.px(6), at.y + skin.px(2)};
  const float y = at.y + (height - font_size(skin.fonts.ui)) / 2;
  const std::string name = shortened(skin.fonts.ui, candidate.token.text, left);
  paint.text(skin.fonts.ui, {at.x, y}, first ? skin.theme.text : skin.theme.text_dim, name);
  paint.filled_rect(low, {low.x + most, at.y + height - skin.px(2)}, faded(skin.theme.grid, 0.6F), skin.px(2));
  paint.filled_rect(low, {low.x + std::max(1.0F, most * static_cast<float>(share)), at.y + height - skin.px(2)},
                    first ? skin.theme.success : skin.theme.accent, skin.px(2));
  paint.text(skin.fonts.mono, {low.x + most + skin.px(6), y}, skin.theme.text, fmt::format("{:.3f}", share));
}

// Draws the most probable labels, and the total of the others.
void draw_probabilities(const Snapshot& snapshot, const Skin& skin) {
  std::vector<Candidate> candidates = snapshot.decoding.front().candidates;
  const auto classes = static_cast<std::size_t>(snapshot.model.num_classes);
  if (candidates.size() > classes) candidates.resize(classes);  // the remaining candidates are not labels
  float label_width = skin.px(40);
  double rest = 1;
  for (const Candidate& candidate : candidates) {
    label_width = std::max(label_width, text_size(skin.fonts.ui, candidate.token.text).x);
    rest -= static_cast<double>(candidate.probability);
  }
  label_width = std::min(label_width, ImGui::GetContentRegionAvail().x * 0.4F);
  for (std::size_t i = 0; i < candidates.size(); ++i) draw_class(candidates[i], i == 0, label_width, skin);
  if (classes > candidates.size())
    draw_label(skin.fonts.small, skin.theme.text_dim,
               trf("{} other labels: {:.3f}", classes - candidates.size(), std::max(0.0, rest)), skin);
}

void draw_text(WorkspaceContext& context, ClassesView& view, GradientsView& gradients) {
  const Skin& skin = context.skin;
  const std::shared_ptr<const Snapshot>& snapshot = context.maps.complete.snapshot;
  if (!snapshot || snapshot->source_text.empty() || snapshot->decoding.empty() || !snapshot->model.is_classifier())
    return draw_quiet_note(tr("Type a text to see the probability of every label as you type."),
                           ImGui::GetContentRegionAvail(), skin);
  draw_caption(tr("This text"), short_name(snapshot->model),
               tr("Each token\u2019s state. The label is computed only from their weighted sum, their mean or the last "
                  "one (many to one)."),
               skin);
  draw_weighing(view, snapshot->model, skin);
  if (view.by_gradient) ask_for_new_gradients(context, gradients);
  draw_tokens(*snapshot, view, gradients, skin);
  ImGui::Dummy({1, skin.px(6)});
  draw_probabilities(*snapshot, skin);
  if (snapshot->model.num_classes == 1)
    draw_wrapped_label(
        skin.fonts.small, skin.theme.text_dim,
        tr("There is only one label, so its probability is always 1. Add texts with a second label to the corpus."),
        skin);
}

// ---- the held-out texts

void cell_tooltip(const Confusion& confusion, int row, int col, const Skin& skin) {
  const auto truth = static_cast<std::size_t>(row), predicted = static_cast<std::size_t>(col);
  bold_text(trf("{}, predicted as {}", confusion.labels[truth], confusion.labels[predicted]), skin);
  dim_text(trf("{} of {} texts of the class: {}", confusion.at(truth, predicted), confusion.of_class(truth),
               percent_text(static_cast<double>(confusion.at(truth, predicted)) /
                            std::max(1.0, static_cast<double>(confusion.of_class(truth))))),
           skin);
  dim_text(trf("recall of {}: {}; precision of {}: {}", confusion.labels[truth], percent_text(confusion.recall(truth)),
               confusion.labels[predicted], percent_text(confusion.precision(predicted))),
           skin);
}

void draw_confusion(WorkspaceContext& context, ClassesView& view) {
  const Skin& skin = context.skin;
  const Confusion& confusion = view.confusion;
  if (draw_choice(tr_label("shares"), !view.as_counts,
                  tr("Shares of each class's texts, one row per class: the diagonal is the recall."), skin))
    view.as_counts = false;
  if (draw_choice(tr_label("texts"), view.as_counts, tr("The number of held-out texts in each cell."), skin))
    view.as_counts = true;
  end_choices();
  const Matrix& shown = view.as_counts ? view.counts : view.shares;
  HeatmapOptions options;
  options.high = view.as_counts ? std::max(1.0F, *std::ranges::max_element(shown.values)) : 1;
  options.row_axis = tr("label");
  options.col_axis = tr("predicted");
  options.row_labels = confusion.labels;
  options.col_labels = confusion.labels;
  options.zoom = &view.zoom;
  options.tooltip = [&](int row, int col) { cell_tooltip(confusion, row, col, skin); };
  draw_heatmap("confusion", shown, 2 * view.version + (view.as_counts ? 1 : 0), {0, 0}, options, context.textures,
               skin);
}

void draw_held_out(WorkspaceContext& context, ClassesView& view) {
  const Skin& skin = context.skin;
  const bool working = context.studying || context.study.has_value();
  draw_caption(tr("Held-out texts"), trf("step {}", grouped(view.step)),
               tr("The test part of the corpus, not used in training. Balanced accuracy is the mean of the "
                  "classes\u2019 recalls; always predicting the largest class does not raise it."),
               skin);
  ImGui::BeginDisabled(working);
  if (ImGui::Button(tr_label("Recompute"))) ask_for_classes(context, view);
  ImGui::EndDisabled();
  help_tooltip(tr("Runs the measurement again with the current weights. Key: Home."), skin);
  const Confusion& confusion = view.confusion;
  if (confusion.texts() == 0 || view.run != context.live->run)
    return draw_quiet_note(working ? tr("Classifying the held-out texts\u2026")
                                   : tr("Not computed yet. Click Recompute to classify the held-out texts."),
                           ImGui::GetContentRegionAvail(), skin);
  draw_wrapped_label(skin.fonts.ui, skin.theme.text,
                     trf("Accuracy {}, balanced {}, on {} texts in {} classes; always predicting the largest class: {}",
                         percent_text(confusion.accuracy()), percent_text(confusion.balanced_accuracy()),
                         grouped(confusion.texts()), confusion.labels.size(), percent_text(confusion.largest_share())),
                     skin);
  draw_confusion(context, view);
}

}  // namespace

void ask_for_classes(WorkspaceContext& context, ClassesView& view) {
  if (!context.live || !context.live->model.is_classifier()) return;
  view.asked_of = context.live->run;
  context.study = HeldOutStudy{};
}

std::optional<WorkspaceNumbers> class_numbers(const ClassesView& view) {
  if (view.counts.empty()) return std::nullopt;
  return WorkspaceNumbers{view.counts, view.confusion.labels, view.confusion.labels, "confusion"};
}

void draw_classes(WorkspaceContext& context, OriginsView& origins) {
  ClassesView& view = origins.classes;
  const Skin& skin = context.skin;
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin); };
  if (!context.has_run) return note(tr("No run is open. Open a classifier to see the label of what you type."));
  if (!context.config.model.is_classifier())
    return note(
        tr("This view needs a classifier, but this model generates text. In the setup, choose the architecture "
           "classifier and the corpus verdicts (or a file with text, tab, label on each line), then Reset."));
  if (!context.live) return note(tr("Computing\u2026"));
  if (!context.studying && view.asked_of != context.live->run) ask_for_classes(context, view);
  // Less room for the text than in draw_beside, because a matrix of many classes needs it.
  const ImVec2 room = ImGui::GetContentRegionAvail();
  ImGui::BeginChild("text", {std::floor(room.x * 0.42F), room.y}, false, view_flags());
  draw_text(context, view, origins.gradients);
  ImGui::EndChild();
  ImGui::SameLine(0, skin.px(16));
  ImGui::BeginChild("held out", {0, room.y}, false, view_flags());
  draw_held_out(context, view);
  ImGui::EndChild();
}

}  // namespace attnscope
