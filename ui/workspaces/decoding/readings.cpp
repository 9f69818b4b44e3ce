#include "workspaces/decoding/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/token_strip.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

enum class Column { method, output, log_prob, length, score, bleu };

struct ColumnText {
  const char* title;
  const char* help;
  float width;  // at scale 1; 0: the remaining width
};

constexpr std::array columns = {
    ColumnText{mark("method"),
               mark("Greedy takes the most probable token at every step; beam search retains several hypotheses; "
                    "sampling draws every token at random (paper §6.1). Click to sort by a column."),
               74},
    ColumnText{mark("output"),
               mark("The line under each token is its probability before temperature, top-k and top-p; a full line is "
                    "1. Outlined: greedy chose another token. Click a token to see what it attends to."),
               0},
    ColumnText{mark("Σ log p"), mark("The log-probability of the whole output, in nats: the sum over its tokens."), 58},
    ColumnText{mark("tokens"), mark("Number of tokens, </s> included."), 78},
    ColumnText{mark("score"), mark("Σ log p divided by the length penalty; beam search ranks by it (1609.08144 §7)."),
               58},
    ColumnText{mark("BLEU"), mark("Computed against the reference as in sacrebleu; 100 is the reference itself."), 52},
};

bool any_bleu(const std::vector<Reading>& readings) {
  return std::ranges::any_of(readings, [](const Reading& reading) { return reading.bleu.has_value(); });
}

double best_bleu(const std::vector<Reading>& readings) {
  double best = 0;
  for (const Reading& reading : readings) best = std::max(best, reading.bleu.value_or(0));
  return best;
}

double sort_key(const Reading& reading, Column column) {
  if (column == Column::log_prob) return reading.log_prob;
  if (column == Column::length) return static_cast<double>(reading.tokens.size());
  if (column == Column::score) return reading.score;
  return column == Column::bleu ? reading.bleu.value_or(-1) : 0;  // 0: original order: greedy, beam, samples
}

// Indices into `readings`, sorted by the selected column.
std::vector<std::size_t> sorted(const std::vector<Reading>& readings) {
  std::vector<std::size_t> order(readings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || specs->SpecsCount == 0) return order;
  const auto column = static_cast<Column>(specs->Specs[0].ColumnIndex);
  const bool descending = specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  if (descending && column == Column::method) std::ranges::reverse(order);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const double key = sort_key(readings[i], column);
    return descending ? -key : key;
  });
  return order;
}

std::string name_of(const Reading& reading) {
  if (reading.method == Method::greedy) return tr("greedy");
  return fmt::format("{} {}", reading.method == Method::beam ? tr("beam") : tr("sample"), reading.number);
}

const char* help_of(Method method) {
  if (method == Method::greedy) return tr("The most probable token at every step.");
  if (method == Method::beam) return tr("One of the outputs that beam search found, best score first.");
  return tr(
      "Sampled token by token after temperature, top-k and top-p. Each sample has its own seed, so the same settings "
      "draw it again.");
}

class Table {
 public:
  Table(const Decodings& decodings, DecodingView& view, const Skin& skin)
      : decodings_(decodings), view_(view), skin_(skin), best_bleu_(best_bleu(decodings.readings)) {}

  void draw(float height) {
    const bool bleu = any_bleu(decodings_.readings);
    const auto flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate | ImGuiTableFlags_ScrollY |
                       ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_PadOuterX;
    const int count = static_cast<int>(columns.size()) - (bleu ? 0 : 1);
    if (!ImGui::BeginTable("readings", count, flags, ImVec2(0, height))) return;
    draw_headings(count);
    for (const std::size_t i : sorted(decodings_.readings)) {
      ImGui::PushID(static_cast<int>(i));
      draw_row(i, bleu);
      ImGui::PopID();
    }
    view_.readings.height = ImGui::GetCursorPosY() + ImGui::GetStyle().CellPadding.y;
    ImGui::EndTable();
  }

 private:
  void draw_headings(int count) {
    for (int i = 0; i < count; ++i) {
      const ColumnText& column = columns[static_cast<std::size_t>(i)];
      const bool fixed = column.width > 0;
      ImGuiTableColumnFlags flags = fixed ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch;
      if (static_cast<Column>(i) == Column::output) flags |= ImGuiTableColumnFlags_NoSort;
      if (static_cast<Column>(i) != Column::method) flags |= ImGuiTableColumnFlags_PreferSortDescending;
      ImGui::TableSetupColumn(tr(column.title), flags, fixed ? skin_.px(column.width) : 1);
    }
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int i = 0; i < count; ++i) {
      ImGui::TableSetColumnIndex(i);
      ImGui::TableHeader(tr(columns[static_cast<std::size_t>(i)].title));
      help_tooltip(tr(columns[static_cast<std::size_t>(i)].help), skin_);
    }
  }

  void draw_row(std::size_t index, bool bleu) {
    const Reading& reading = decodings_.readings[index];
    const std::vector<int> ids = ids_of(reading.tokens);
    const bool selected = ids == decodings_.hypothesis.ids;
    ImGui::TableNextRow();
    if (selected)
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0, mixed(skin_.theme.panel, skin_.theme.accent, 0.16F));
    ImGui::TableSetColumnIndex(0);
    bool clicked = ImGui::Selectable(name_of(reading).c_str(), selected);
    help_tooltip(trf("{}\n{}\nClick to see below what it attends to.", help_of(reading.method), reading.text), skin_);
    ImGui::TableSetColumnIndex(1);
    clicked |= draw_output(reading, view_.readings.differing[index]);
    if (clicked) view_.hypothesis = ids;
    draw_numbers(reading);
    if (bleu) draw_bleu(*reading.bleu);
  }

  bool draw_output(const Reading& reading, std::span<const int> differing) {
    std::vector<float> probabilities;
    for (const double log_prob : reading.log_probs) probabilities.push_back(static_cast<float>(std::exp(log_prob)));
    TokenStripOptions options;
    options.show_ids = false;
    options.weights = probabilities;
    options.weights_below = true;
    options.weight_name = tr("probability");
    options.marked = differing;
    options.marked_note = tr("greedy chose another token");
    const bool clicked = draw_token_strip("pieces", reading.tokens, options, skin_).clicked >= 0;
    if (!reading.finished) {
      const WithFont small(skin_.fonts.small);
      quiet_words(trf("stopped at the limit of {} tokens", reading.tokens.size()),
                  tr("The model did not generate </s>. For a source, outputs are limited to 50 tokens more than the "
                     "source (paper §6.1); a language model never ends."),
                  skin_);
    }
    return clicked;
  }

  void draw_numbers(const Reading& reading) {
    const std::string sums =
        trf("Σ log p of {} tokens = {}\n{}", reading.tokens.size(), number_text(reading.log_prob),
            score_arithmetic(reading.log_prob, reading.log_probs.size(), decodings_.length_penalty));
    const std::array cells = {number_text(reading.log_prob, 2), std::to_string(reading.tokens.size()),
                              number_text(reading.score)};
    const WithFont mono(skin_.fonts.mono);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      ImGui::TableSetColumnIndex(static_cast<int>(Column::log_prob) + static_cast<int>(i));
      ImGui::TextUnformatted(cells[i].c_str());
      const WithFont ui(skin_.fonts.ui);
      help_tooltip(sums, skin_);
    }
  }

  void draw_bleu(double bleu) {
    ImGui::TableSetColumnIndex(static_cast<int>(Column::bleu));
    const bool best = bleu >= best_bleu_ && bleu > 0;
    const WithFont mono(skin_.fonts.mono);
    colored_text(best ? skin_.theme.success : skin_.theme.text, number_text(bleu, 1));
    const WithFont small(skin_.fonts.small);
    if (best) colored_text(skin_.theme.success, tr("best"));
  }

  const Decodings& decodings_;
  DecodingView& view_;
  const Skin& skin_;
  double best_bleu_;
};

void prepare(ReadingsView& view, const Shown& shown) {
  if (view.version == shown.version) return;
  view.version = shown.version;
  view.differing.clear();
  const std::vector<Reading>& readings = shown.snapshot->decodings->readings;
  for (const Reading& reading : readings) view.differing.push_back(differing(reading.tokens, readings.front().tokens));
}

}  // namespace

void draw_readings(const Shown& newest, DecodingView& view, TextureStore& textures, const Skin& skin) {
  const Shown shown = settled(newest, view, skin);
  if (!shown.snapshot) return;
  prepare(view.readings, shown);
  const float space = ImGui::GetContentRegionAvail().y;
  const float height = clamped(view.readings.height, skin.px(60), std::max(skin.px(60), space * 0.6F));
  Table(*shown.snapshot->decodings, view, skin).draw(height);
  ImGui::Dummy(ImVec2(0, skin.px(2)));
  draw_hypothesis(shown, view, textures, skin);
}

}  // namespace attnscope
