#include "workspaces/decoding/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

// The output next to the reference tokens.
struct Courses {
  explicit Courses(const Snapshot& from) : snapshot(from), first(static_cast<std::size_t>(from.first_output())) {
    const std::size_t both = std::min(snapshot.gold.size(), free_size());
    std::size_t same = 0;
    while (same < both && snapshot.gold[same].token.id == written(same).id) ++same;
    divergence = same;
  }

  const Snapshot& snapshot;
  std::size_t first;           // index of the first output token that was not typed
  std::size_t divergence = 0;  // the first step at which they differ; rows(): none

  std::size_t free_size() const { return snapshot.target_out.size() - first; }
  std::size_t rows() const { return std::max(snapshot.gold.size(), free_size()); }
  const Token& written(std::size_t row) const { return snapshot.target_out[first + row]; }
  const DecodingStep& step(std::size_t row) const { return snapshot.decoding[first + row]; }
  float probability(std::size_t row) const {
    return step(row).candidates[static_cast<std::size_t>(step(row).chosen)].probability;
  }
  bool given(std::size_t row) const { return first + row < snapshot.forced; }
};

// Without a reference, during an intervention, the unmodified model's output serves as the reference.
bool is_untouched_output(const Snapshot& snapshot) {
  if (!snapshot.untouched) return false;
  const Courses untouched(*snapshot.untouched);
  if (untouched.free_size() != snapshot.gold.size()) return false;
  for (std::size_t i = 0; i < snapshot.gold.size(); ++i) {
    if (untouched.written(i).id != snapshot.gold[i].token.id) return false;
  }
  return true;
}

// ---- the likelihoods of both, one line each

struct Likelihood {
  double log_prob = 0;
  std::size_t tokens = 0;

  double nll() const { return tokens == 0 ? 0 : -log_prob / static_cast<double>(tokens); }
};

// Over that many tokens, with the probability of each.
Likelihood likelihood_of(std::size_t tokens, const auto& probability) {
  Likelihood sum{0, tokens};
  for (std::size_t i = 0; i < tokens; ++i) sum.log_prob += std::log(static_cast<double>(probability(i)));
  return sum;
}

constexpr std::array<std::pair<const char*, const char*>, 5> likelihood_columns = {{
    {"", mark("The same model and source: the reference, and the model's own output.")},
    {mark("Σ log p"), mark("Log-probability of the whole output, in nats.")},
    {mark("tokens"), mark("Number of tokens, </s> included.")},
    {mark("nats/token"), mark("Mean of −ln p over the tokens: the evaluation loss, without label smoothing.")},
    {mark("perplexity"),
     mark("exp(nats/token): the number of equally probable tokens that the model chooses from, on average (§6.1).")},
}};

void draw_likelihood_row(const char* name, const Likelihood& likelihood, const Skin& skin) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(name);
  const WithFont mono(skin.fonts.mono);
  for (const std::string& cell : {number_text(likelihood.log_prob), std::to_string(likelihood.tokens),
                                  number_text(likelihood.nll(), 4), number_text(std::exp(likelihood.nll()))}) {
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(cell.c_str());
  }
}

void draw_likelihoods(const Courses& courses, const Skin& skin) {
  if (!ImGui::BeginTable("likelihoods", static_cast<int>(likelihood_columns.size()), ImGuiTableFlags_SizingFixedFit))
    return;
  ImGui::TableNextRow();
  for (const auto& [title, help] : likelihood_columns) {
    ImGui::TableNextColumn();
    quiet_words(tr(title), tr(help), skin);
  }
  const bool untouched = is_untouched_output(courses.snapshot);
  const std::vector<GoldStep>& gold = courses.snapshot.gold;
  draw_likelihood_row(untouched ? tr("original model's output") : tr("reference"),
                      likelihood_of(gold.size(), [&](std::size_t i) { return gold[i].probability; }), skin);
  draw_likelihood_row(tr("free-running output"),
                      likelihood_of(courses.free_size(), [&](std::size_t i) { return courses.probability(i); }), skin);
  ImGui::EndTable();
}

void draw_verdict(const Courses& courses, const Skin& skin) {
  const bool same = courses.divergence == courses.rows();
  const std::string text =
      same ? tr("The free-running output is the reference: both read the same tokens at every step.")
           : trf("First divergence at step {}: from here the free-running decoder reads its own output.",
                 courses.divergence + 1);
  colored_text(same ? skin.theme.success : skin.theme.warning, text);
  help_tooltip(tr("In training the decoder reads the reference tokens so far, whatever it would have generated "
                  "(teacher forcing, paper §3.1: the outputs are shifted right). Running freely it reads its own "
                  "output, so one mistake affects everything after it."),
               skin);
}

// ---- step by step

constexpr std::array<std::pair<const char*, const char*>, 7> step_columns = {{
    {mark("step"), mark("Click a row to see that step in “Step by step”.")},
    {mark("reference"), mark("The reference token.")},
    {mark("probability"), mark("Its probability when the decoder reads the reference tokens before it.")},
    {mark("rank"), mark("Its rank among all tokens; 1 is the most probable.")},
    {mark("prediction"), mark("The most probable token when the decoder reads the reference.")},
    {mark("free-running"), mark("The token that the decoder generates when it reads its own output (greedy).")},
    {mark("probability"), mark("The probability of the generated token when the decoder reads its own output.")},
}};

void draw_bar(float probability, Color32 color, const Skin& skin) {
  ImFont* font = skin.fonts.mono_small;
  const std::string value = fmt::format("{:.3f}", probability);
  const float value_width = text_size(font, "0.000").x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetTextLineHeight();
  const float width = ImGui::GetContentRegionAvail().x;
  const float room = std::max(1.0F, width - value_width - skin.px(6));
  ImGui::Dummy({width, height});
  if (!ImGui::IsItemVisible()) return;
  Painter paint(skin);
  paint.filled_rect({at.x, at.y + skin.px(2)}, {at.x + room, at.y + height - skin.px(2)}, skin.theme.background,
                    skin.px(2));
  paint.filled_rect({at.x, at.y + skin.px(2)},
                    {at.x + room * clamped(probability, 0.0F, 1.0F), at.y + height - skin.px(2)}, color, skin.px(2));
  paint.text(font, {at.x + room + skin.px(5), at.y + (height - font_size(font)) * 0.5F}, skin.theme.text_dim, value);
}

void draw_token_cell(const std::string& token, Color32 color, const Skin& skin) {
  const WithFont mono(skin.fonts.mono);
  colored_text(color, token);
}

std::string gold_text(const GoldStep& step) {
  return trf("with the reference so far: {}, p = {:.6f}, −ln p = {} nats, rank {}; the model predicts {}",
             step.token.text, step.probability, number_text(-std::log(static_cast<double>(step.probability))),
             step.rank, step.best.text);
}

std::string free_text(const Courses& courses, std::size_t row) {
  std::string text =
      trf("\nwith its own output: {} {}, p = {:.6f}", courses.given(row) ? tr("forced to") : tr("it generates"),
          courses.written(row).text, courses.probability(row));
  if (const auto& reference = courses.step(row).reference) {
    text += trf("; the reference token {} has p = {:.6f}, rank {} there", reference->token.text,
                reference->probability, reference->rank);
  }
  return text;
}

void row_tooltip(const Courses& courses, std::size_t row, const Skin& skin) {
  std::string text;
  if (row < courses.snapshot.gold.size()) text += gold_text(courses.snapshot.gold[row]);
  if (row < courses.free_size()) text += free_text(courses, row);
  const WithFont mono(skin.fonts.mono);
  help_tooltip(text, skin);
}

class StepTable {
 public:
  StepTable(const Courses& courses, DecodingView& view, const Skin& skin)
      : courses_(courses), view_(view), skin_(skin) {}

  void draw() {
    if (!ImGui::BeginTable("steps", static_cast<int>(step_columns.size()),
                           ImGuiTableFlags_ScrollY | ImGuiTableFlags_PadOuterX))
      return;
    draw_headings();
    for (std::size_t row = 0; row < courses_.rows(); ++row) draw_row(row);
    ImGui::EndTable();
  }

 private:
  void draw_headings() {
    const std::array widths = {38, 96, 0, 40, 96, 104, 0};  // 0: shares the remaining width
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool fixed = widths[i] > 0;
      ImGui::TableSetupColumn(step_columns[i].first,
                              fixed ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch,
                              fixed ? skin_.px(static_cast<float>(widths[i])) : 1);
    }
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (const auto& [title, help] : step_columns) {
      ImGui::TableNextColumn();
      ImGui::TableHeader(title);
      help_tooltip(help, skin_);
    }
  }

  void draw_row(std::size_t row) {
    ImGui::TableNextRow();
    if (row == courses_.divergence)
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0, mixed(skin_.theme.panel, skin_.theme.warning, 0.3F));
    else if (row > courses_.divergence)
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0, mixed(skin_.theme.panel, skin_.theme.warning, 0.07F));
    ImGui::TableNextColumn();
    const int step = static_cast<int>(courses_.first + row);
    const auto last = static_cast<int>(courses_.snapshot.decoding.size()) - 1;
    if (ImGui::Selectable(std::to_string(row + 1).c_str(), view_.time_step == step,
                          ImGuiSelectableFlags_SpanAllColumns)) {
      view_.playing = false;
      view_.time_step = std::min(step, last);
    }
    row_tooltip(courses_, row, skin_);
    if (row < courses_.snapshot.gold.size()) draw_gold(courses_.snapshot.gold[row]);
    ImGui::TableSetColumnIndex(5);
    if (row < courses_.free_size()) draw_free(row);
  }

  void draw_gold(const GoldStep& gold) {
    const Theme& theme = skin_.theme;
    ImGui::TableNextColumn();
    draw_token_cell(gold.token.text, theme.text, skin_);
    ImGui::TableNextColumn();
    draw_bar(gold.probability, theme.series[0], skin_);
    ImGui::TableNextColumn();
    draw_token_cell(std::to_string(gold.rank), gold.rank > 1 ? theme.warning : theme.text_dim, skin_);
    ImGui::TableNextColumn();
    draw_token_cell(gold.best.text, gold.rank > 1 ? theme.warning : theme.text_dim, skin_);
  }

  void draw_free(std::size_t row) {
    const Theme& theme = skin_.theme;
    const bool parts = row == courses_.divergence;
    draw_token_cell(courses_.written(row).text + (parts ? " ←" : ""),
                    courses_.given(row) ? theme.success
                    : parts             ? theme.warning
                                        : theme.text,
                    skin_);
    ImGui::TableNextColumn();
    draw_bar(courses_.probability(row), theme.series[1], skin_);
  }

  const Courses& courses_;
  DecodingView& view_;
  const Skin& skin_;
};

}  // namespace

void draw_forcing(const Shown& shown, DecodingView& view, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  if (snapshot.gold.empty()) {
    return draw_quiet_note(tr("This view compares the model's own output with a reference. Type a reference above, or "
                              "choose a corpus example with ▼ next to the sentence."),
                           ImGui::GetContentRegionAvail(), skin);
  }
  const Courses courses(snapshot);
  draw_likelihoods(courses, skin);
  draw_verdict(courses, skin);
  StepTable(courses, view, skin).draw();
}

}  // namespace attnscope
