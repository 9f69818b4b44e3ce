#include "data/corpus/pairs.h"

#include <algorithm>

namespace attnscope {

void append_record(std::string& text, const PairView& pair) {
  for (const std::string_view field : {pair.source, pair.target, pair.category, pair.antecedent, pair.pronoun})
    text.append(field).push_back('\0');
}

PairList::PairList(const std::vector<Pair>& pairs) {
  for (const Pair& pair : pairs) push_back(pair);
}

void PairList::push_back(const Pair& pair) {
  begins_.push_back(own_.size());
  append_record(own_, pair);
}

PairView PairList::view(std::size_t i) const {
  const char* next = (file_ ? file_->content().data() : own_.data()) + begins_[i];
  const auto field = [&] {
    const std::string_view text(next);
    next += text.size() + 1;
    return text;
  };
  PairView pair(field(), {});
  for (std::string_view* const text : {&pair.target, &pair.category, &pair.antecedent, &pair.pronoun}) *text = field();
  return pair;
}

Pair PairList::operator[](std::size_t i) const {
  const PairView pair = view(i);
  return {std::string(pair.source), std::string(pair.target), std::string(pair.category), std::string(pair.antecedent),
          std::string(pair.pronoun)};
}

bool PairList::operator==(const PairList& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

}  // namespace attnscope
