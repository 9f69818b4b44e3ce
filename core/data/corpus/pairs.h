// Sentence pairs, in memory or in a mapped file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/cache.h"

namespace attnscope {

struct Pair {
  std::string source;
  std::string target;
  // "pronoun", "reasons", "circumstances", "two senses", "royalty", "kinds", "distance", "greeting", "basic", or ""
  std::string category = {};
  std::string antecedent = {};  // pronoun pairs: the English noun that "it" refers to; else ""
  std::string pronoun = {};     // pronoun pairs: "il" or "elle", which the French must contain; else ""
  bool operator==(const Pair&) const = default;
};

// Its texts, where they are stored.
struct PairView {
  std::string_view source, target, category = {}, antecedent = {}, pronoun = {};
  PairView(std::string_view source_text, std::string_view target_text) : source(source_text), target(target_text) {}
  PairView(const Pair& pair)
      : source(pair.source),
        target(pair.target),
        category(pair.category),
        antecedent(pair.antecedent),
        pronoun(pair.pronoun) {}
};

// Every pair is stored as its texts, each ended by a zero byte, which no line contains.
void append_record(std::string& text, const PairView& pair);

class PairList {
 public:
  PairList() = default;
  PairList(std::initializer_list<Pair> pairs) : PairList(std::vector<Pair>(pairs)) {}
  PairList(const std::vector<Pair>& pairs);
  // Records in a file, at these offsets.
  PairList(std::shared_ptr<const CacheFile> file, Numbers<std::uint64_t> begins)
      : file_(std::move(file)), begins_(std::move(begins)) {}

  std::size_t size() const { return begins_.size(); }
  bool empty() const { return size() == 0; }
  PairView view(std::size_t i) const;
  Pair operator[](std::size_t i) const;
  Pair back() const { return (*this)[size() - 1]; }
  void push_back(const Pair& pair);  // not of a file
  operator std::vector<Pair>() const { return {begin(), end()}; }
  bool operator==(const PairList& other) const;

  // Calls use(view) for each, in order, and leaves no page of a file in memory.
  template <typename Use>
  void for_each(Use use) const {
    constexpr std::size_t per_release = 1 << 10;  // the system maps 16 pages around each that is read
    for (std::size_t i = 0; i < size(); ++i) {
      use(view(i));
      if (i % per_release == per_release - 1) release();
    }
  }
  void release() const {
    if (file_) file_->release();
  }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Pair;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Pair;
    Iterator() = default;
    Iterator(const PairList* list, std::size_t i) : list_(list), i_(i) {}
    Pair operator*() const { return (*list_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator operator++(int) { return {list_, i_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const PairList* list_ = nullptr;
    std::size_t i_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  std::string own_;
  std::shared_ptr<const CacheFile> file_;
  Numbers<std::uint64_t> begins_;
};

}  // namespace attnscope
