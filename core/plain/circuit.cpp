#include "plain/circuit.h"

#include <algorithm>
#include <cctype>

namespace attnscope {
namespace {

bool is_sign(std::string_view piece) {
  return std::ranges::all_of(piece, [](char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; });
}

}  // namespace

std::vector<Slot> slots_of(std::span<const Token> pieces) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string& piece = pieces[i].piece;
    // "didn ' t" is a word, and so is "." where the next one begins or nothing follows but </s>.
    const bool ends = i + 1 >= pieces.size() || pieces[i + 1].piece.starts_with(word_mark) || pieces[i + 1].id <= 2;
    const bool begins = slots.empty() || piece.starts_with(word_mark) || pieces[i].id <= 2 || (is_sign(piece) && ends);
    if (begins) slots.push_back({});
    if (piece != word_mark) slots.back().name += without_mark(piece);
    slots.back().positions.push_back(static_cast<int>(i));
  }
  return slots;
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

std::vector<int> Hop::heads() const {
  return distinct(members, &HeadRow::head);
}

std::vector<int> Hop::slots() const {
  return distinct(members, &HeadRow::slot);
}

}  // namespace attnscope
