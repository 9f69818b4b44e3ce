#include "messages/circuit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "common/mark.h"

namespace attnscope {
namespace {

bool is_glyph(std::string_view token) {
  return std::ranges::all_of(token, [](char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; });
}

}  // namespace

std::vector<Slot> slots_of(std::span<const Token> tokens) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& token = tokens[i].text;
    // "didn ' t" is one word. A "." is separate if a new word follows, or only </s>.
    const bool ends = i + 1 >= tokens.size() || tokens[i + 1].text.starts_with(word_mark) || tokens[i + 1].id <= 2;
    const bool begins = slots.empty() || token.starts_with(word_mark) || tokens[i].id <= 2 || (is_glyph(token) && ends);
    if (begins) slots.push_back({});
    if (token != word_mark) slots.back().name += without_mark(token);
    slots.back().positions.push_back(static_cast<int>(i));
  }
  return slots;
}

bool goes_straight(const ValueSite& site, const PathEnd& end) {
  const bool reads_source = end.part != AttentionPart::decoder, writes = end.part != AttentionPart::encoder;
  if (site.kind == ValueKind::state)
    return site.layer == 0 && (site.part == AttentionPart::encoder ? reads_source : writes);
  if (site.part == AttentionPart::encoder)
    return end.part == AttentionPart::cross || (!writes && site.layer < end.layer);
  // Within a layer, self-attention precedes cross-attention.
  const bool same_layer = site.kind == ValueKind::heads && site.part == AttentionPart::decoder &&
                          end.part == AttentionPart::cross && site.layer == end.layer;
  return writes && (site.layer < end.layer || same_layer);
}

namespace {

std::vector<int> distinct(const std::vector<HeadRow>& members, int HeadRow::*which) {
  std::vector<int> values;
  for (const HeadRow& member : members) values.push_back(member.*which);
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace

std::vector<int> CircuitEdge::heads() const {
  return distinct(members, &HeadRow::head);
}

std::vector<int> CircuitEdge::slots() const {
  return distinct(members, &HeadRow::slot);
}

namespace {

std::string heads_text(const std::vector<HeadRow>& members) {
  std::vector<int> from_1;
  for (const int head : distinct(members, &HeadRow::head)) from_1.push_back(head + 1);
  const std::string numbers = fmt::format("{}", fmt::join(from_1, ", "));
  return from_1.size() == 1 ? fmt::format(mark("head {}"), numbers) : fmt::format(mark("heads {}"), numbers);
}

// Describes how the sum of the single heads' shares compares with their joint share.
const char* sum_text(double alone, double together) {
  constexpr double redundant = 0.7, synergy_ends = 1.3;
  if (alone < redundant * together)
    return mark("The heads are redundant (an OR): the answer flips only when all of them are patched.");
  return alone > synergy_ends * together ? mark("Their effects overlap.") : mark("Their effects add up.");
}

}  // namespace

std::string why_not_one(const CircuitEdge& edge) {
  const std::vector<int> heads = edge.heads();
  if (heads.size() < 2) return {};
  double sum = 0;
  std::vector<std::string> alone;
  for (const int head : heads) {
    const double share = edge.alone[static_cast<std::size_t>(head)].share();
    sum += share;
    alone.push_back(fmt::format(mark("head {}: {:.0f} %"), head + 1, 100 * share));
  }
  std::string text = fmt::format(mark("No single head is enough in both directions. Share of the effect, patched one "
                                      "at a time: {}; together: {:.0f} %."),
                                 fmt::join(alone, ", "), 100 * edge.together.share());
  text += std::string(" ") + sum_text(sum, edge.together.share());
  const auto fewer = [&](const std::vector<HeadRow>& members) {
    return !members.empty() && members.size() < edge.members.size();
  };
  if (fewer(edge.clean_members))
    text += " " + fmt::format(mark("Corrupting {} is enough to flip the answer."), heads_text(edge.clean_members));
  if (fewer(edge.corrupted_members))
    text +=
        " " + fmt::format(mark("Restoring {} is enough to recover the answer."), heads_text(edge.corrupted_members));
  return text;
}

const Sweep& CircuitResult::sweep(ContrastSide of, ChangeKind kind) const {
  for (const Sweep& made : sweeps)
    if (made.of == of && made.kind == kind) return made;
  throw std::out_of_range("this sweep was not computed");
}

}  // namespace attnscope
