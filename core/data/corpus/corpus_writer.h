// Stores a corpus of pairs in the cache folder, and opens it again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/cache.h"
#include "data/corpus/corpus.h"

namespace attnscope {

constexpr std::uintmax_t smallest_stored = 1 << 20;  // bytes; less is read as fast as it is looked up

// The name under which the corpus of this configuration is stored: it depends on the files' contents, and for a
// built-in corpus on the program that generates it. Empty if it is too small to be worth it, or cannot be read.
std::string stored_name(const CorpusConfig& config);

// False if it is not stored.
bool open_stored(const std::string& name, const CorpusConfig& config, Corpus& corpus);

class CorpusWriter {
 public:
  explicit CorpusWriter(std::string name) : name_(std::move(name)), out_(name_) {}

  void add(const PairView& pair);
  std::size_t size() const { return begins_.size(); }

  // Splits the pairs into the parts 0 training, 1 validation and 2 test. Name and report of the corpus are set.
  void finish(Corpus& corpus, const CorpusConfig& config, const std::function<int(std::size_t)>& part_of);

 private:
  std::string name_;
  CacheWriter out_;
  std::string record_;
  std::vector<std::uint64_t> begins_;
};

}  // namespace attnscope
