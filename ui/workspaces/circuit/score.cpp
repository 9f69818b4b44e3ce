// Score decomposition (QK): the query's parts times the key's parts, for one attention score.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/matrix_algebra.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/heatmap.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/circuit/modes.h"

namespace attnscope {
namespace {

constexpr std::size_t told = 3;  // number of terms in the sentence above the map

std::string word_name(const ContrastFacts& facts, int slot) {
  return slot < 0 ? tr("none") : "\u201C" + facts.words[static_cast<std::size_t>(slot)].name + "\u201D";
}

std::string score_name(const ScoreQuestion& question, const ContrastFacts& facts) {
  const auto score = [&](int to) {
    return trf("score({} \u2192 {})", word_name(facts, question.from), word_name(facts, to));
  };
  return question.other < 0 ? score(question.to) : score(question.to) + " \u2212 " + score(question.other);
}

// ---- selection

bool choose_head(ScoreQuestion& question, const PartSize& size, const Skin& skin) {
  ImGui::AlignTextToFramePadding();
  quiet_words(tr("head"), tr("A self-attention head over the input tokens."), skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(skin.px(90));
  const std::string shown = layer_and_head(question.place.layer, question.place.head);
  if (!begin_combo("##head", shown)) return false;
  bool changed = false;
  for (int layer = 0; layer < size.layers; ++layer) {
    for (int head = 0; head < size.heads; ++head) {
      const bool chosen = question.place.layer == layer && question.place.head == head;
      if (!ImGui::Selectable(layer_and_head(layer, head).c_str(), chosen) || chosen) continue;
      question.place.layer = layer;
      question.place.head = head;
      changed = true;
    }
  }
  ImGui::EndCombo();
  return changed;
}

bool choose_sentence(ScoreQuestion& question, const Skin& skin) {
  const ContrastSide before = question.sentence;
  next_in_row(button_width(tr("sentence")) + button_width(tr("contrast sentence")), skin.px(12));
  if (draw_choice(tr_label("sentence"), before == ContrastSide::clean, tr("Scores in the sentence's forward pass."),
                  skin))
    question.sentence = ContrastSide::clean;
  if (draw_choice(tr_label("contrast sentence"), before == ContrastSide::corrupted,
                  tr("Scores in the contrast sentence's forward pass."), skin))
    question.sentence = ContrastSide::corrupted;
  end_choices();
  return question.sentence != before;
}

void draw_controls(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const ContrastFacts& facts = view.inspection->facts;
  ScoreQuestion question = *view.score_wanted;
  const PartSize size = part_size(context.maps.complete.snapshot->model, question.place.part);
  bool changed = choose_head(question, size, skin);
  changed |= choose_word("##from", tr("from"), tr("The attending word: its query."), facts, question.from, false, skin);
  changed |= choose_word("##to", tr("to"), tr("The attended word: its key."), facts, question.to, false, skin);
  changed |=
      choose_word("##other", tr("rather than"),
                  tr("Subtracts the score with this word. A softmax depends only on differences between scores."),
                  facts, question.other, true, skin);
  changed |= choose_sentence(question, skin);
  if (changed) view.score_wanted = question;
}

// ---- results

struct Term {
  int query = 0, key = 0;
  float value = 0;
};

// The terms with the largest absolute values.
std::vector<Term> largest_terms(const Matrix& terms) {
  std::vector<Term> all;
  for (int row = 0; row < terms.rows; ++row)
    for (int col = 0; col < terms.cols; ++col) all.push_back({row, col, terms.at(row, col)});
  const std::size_t count = std::min(told, all.size());
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(count), std::ranges::greater(),
                            [](const Term& term) { return std::abs(term.value); });
  all.resize(count);
  return all;
}

std::string sum_text(const ScoreSplit& split, const ContrastFacts& facts) {
  std::string text =
      trf("{} = {}, the sum of all cells:", score_name(split.question, facts), number_text(split.score, 2));
  for (const Term& term : largest_terms(split.terms)) {
    const double share = split.score != 0 ? 100 * static_cast<double>(term.value) / split.score : 0.0;
    text += fmt::format(" {} \u00D7 {} {} ({} %);", tr_filled(split.parts[static_cast<std::size_t>(term.query)]),
                        tr_filled(split.key_parts[static_cast<std::size_t>(term.key)]),
                        number_text(static_cast<double>(term.value), 2), number_text(share, 0));
  }
  text.back() = '.';
  return text;
}

void draw_terms(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const ScoreSplit& split = *view.score;
  const ContrastFacts& facts = view.inspection->facts;
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, sum_text(split, facts), skin);
  draw_caption(
      tr("Query component \u00D7 key component"), tr("before the softmax"),
      tr("The residual stream is a sum: word embedding, position, and what earlier heads and feed-forward networks "
         "added. With the layer norms' scales frozen, q and k are sums too, and q\u00B7k/\u221Ad_k is the sum of all "
         "products (Elhage et al. 2021). A relative position bias (T5, ALiBi, Shaw) has its own column."),
      skin);
  std::vector<std::string> rows, cols;
  for (const std::string& part : split.parts) rows.push_back(tr_filled(part));
  for (const std::string& part : split.key_parts) cols.push_back(tr_filled(part));
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  const float range = color_range(split.terms.values);
  options.low = -range;
  options.high = range;
  options.square = false;
  options.row_labels = rows;
  options.col_labels = cols;
  options.row_axis = tr("query: ") + word_name(facts, split.question.from);
  options.col_axis = tr("key: ") + word_name(facts, split.question.to) +
                     (split.question.other < 0 ? "" : tr(" minus ") + word_name(facts, split.question.other));
  options.zoom = &view.score_zoom;
  options.tooltip = [&](int row, int col) {
    bold_text(
        trf("query's {} \u00D7 key's {}", rows[static_cast<std::size_t>(row)], cols[static_cast<std::size_t>(col)]),
        skin);
    const bool distance = col == static_cast<int>(split.parts.size());
    dim_text(distance ? tr("relative position bias of the two words") : "(W_Q a)\u00B7(W_K b) / \u221Ad_k", skin);
    bold_text(
        trf("{} of {}", number_text(static_cast<double>(split.terms.at(row, col)), 4), number_text(split.score, 4)),
        skin);
  };
  draw_heatmap("terms", split.terms, view.version, {0, 0}, options, context.textures, skin);
}

}  // namespace

void ask_for_score(WorkspaceContext& context, CircuitView& view) {
  if (!has_circuit(view) || context.studying || context.study) return;
  if (!view.score_wanted) view.score_wanted = first_score(view);
  if (!view.score_wanted || view.score_asked == view.score_wanted) return;
  view.score_asked = view.score_wanted;
  context.study = *view.score_wanted;
}

std::optional<WorkspaceNumbers> score_numbers(const CircuitView& view) {
  if (!view.score || view.score->terms.empty()) return std::nullopt;
  return WorkspaceNumbers{view.score->terms, view.score->parts, view.score->key_parts,
                          score_name(view.score->question, view.inspection->facts)};
}

void draw_score(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const auto note = [&](const std::string& text) {
    draw_quiet_note(text.c_str(), ImGui::GetContentRegionAvail(), skin);
  };
  if (!view.score_wanted)
    return note(
        tr("No head carries the difference from another word, so there is no attention score to explain. Try another "
           "contrast sentence, for example one under Suggestions."));
  draw_controls(context, view);
  if (!view.score) return note(tr("Decomposing the score\u2026"));
  if (!view.score->problem.empty()) return note(tr_filled(view.score->problem));
  draw_terms(context, view);
}

}  // namespace attnscope
