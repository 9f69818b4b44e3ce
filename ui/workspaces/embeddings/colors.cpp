#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "workspaces/embeddings/modes.h"

namespace attnscope {
namespace {

constexpr double mostly = 0.9;  // fraction of occurrences on one side that determines the language

// The index of a token's legend entry; −1: none.
int key_of(const TokenFacts& facts, TokenColor by) {
  switch (by) {
    case TokenColor::frequency:
      break;
    case TokenColor::language: {
      if (facts.count == 0) return -1;
      const double source = static_cast<double>(facts.on_source) / static_cast<double>(facts.count);
      return source >= mostly ? 0 : source <= 1 - mostly ? 1 : 2;
    }
    case TokenColor::kind:
      return static_cast<int>(facts.word.kind) - 1;
    case TokenColor::gender:
      return static_cast<int>(facts.word.gender) - 1;
    case TokenColor::number:
      return static_cast<int>(facts.word.number) - 1;
  }
  return -1;
}

double log_of(std::int64_t count) {
  return std::log1p(static_cast<double>(count));
}

}  // namespace

Color32 frequency_color(double share, const Theme& theme) {
  // Frequent tokens contrast with the background.
  const double t = theme.name == ThemeName::dark ? 0.25 + 0.75 * share : 0.9 - 0.85 * share;
  return map_color(ColorMap::viridis, static_cast<float>(t));
}

bool is_known(const Vocabulary& vocabulary, TokenColor by) {
  if (by == TokenColor::frequency) return true;
  if (by == TokenColor::language) return vocabulary.has_sides;
  return vocabulary.knows_words;
}

std::vector<Color32> token_colors(const Vocabulary& vocabulary, TokenColor by, const Theme& theme) {
  const std::size_t count = vocabulary.tokens.size();
  std::vector<Color32> colors(count, faded(theme.text_dim, 0.55F));
  if (vocabulary.facts.empty()) return colors;
  if (by == TokenColor::frequency) {
    const std::int64_t most = std::ranges::max_element(vocabulary.facts, {}, &TokenFacts::count)->count;
    for (std::size_t id = 0; id < count; ++id)
      colors[id] = frequency_color(log_of(vocabulary.facts[id].count) / std::max(1e-9, log_of(most)), theme);
    return colors;
  }
  const std::vector<ColorKey> keys = color_keys(by, theme);
  for (std::size_t id = 0; id < count; ++id) {
    const int key = key_of(vocabulary.facts[id], by);
    if (key >= 0) colors[id] = keys[static_cast<std::size_t>(key)].color;
    // Known values contrast with unknown ones.
    else
      colors[id] = faded(theme.text_dim, 0.35F);
  }
  return colors;
}

std::vector<ColorKey> color_keys(TokenColor by, const Theme& theme) {
  const auto& series = theme.series;
  switch (by) {
    case TokenColor::frequency:
      return {};
    case TokenColor::language:
      return {{series[0], tr("source side")}, {series[1], tr("target side")}, {series[2], tr("both")}};
    case TokenColor::kind:
      return {{series[0], tr("noun")}, {series[1], tr("adjective")}, {series[2], tr("verb")}};
    case TokenColor::gender:
      return {{series[0], tr("masculine in French")}, {series[1], tr("feminine in French")}};
    case TokenColor::number:
      return {{series[0], tr("singular")}, {series[1], tr("plural")}};
  }
  return {};
}

std::string facts_text(const EmbeddingResult& inspection, int id) {
  const Vocabulary& vocabulary = *inspection.vocabulary;
  std::string text = trf("id {}", id);
  if (vocabulary.facts.empty()) return text;
  const TokenFacts& facts = vocabulary.facts[static_cast<std::size_t>(id)];
  text += trf(", {}\u00A0\u00D7 in a sample of the corpus", grouped(facts.count));
  if (vocabulary.has_sides && facts.count > 0) text += trf(", {} on the source side", grouped(facts.on_source));
  std::string words;
  for (const TokenColor by : {TokenColor::kind, TokenColor::gender, TokenColor::number}) {
    const int key = key_of(facts, by);
    if (key >= 0)
      words += (words.empty() ? "" : ", ") + color_keys(by, theme(ThemeName::dark))[static_cast<std::size_t>(key)].name;
  }
  return words.empty() ? text : text + "\n" + words;
}

std::string cosine_text(const EmbeddingResult& inspection, int id, float cosine) {
  return trf(
      "cos = x·y / (\u2016x\u2016 \u2016y\u2016) = {} in all {} dimensions\ndistance of the unit vectors \u221A(2 "
      "\u2212 2 cos) = {}\n{}",
      number_text(static_cast<double>(cosine), 4), inspection.width,
      number_text(std::sqrt(std::max(0.0, 2 - 2 * static_cast<double>(cosine))), 4), facts_text(inspection, id));
}

}  // namespace attnscope
