// Training data: sentence pairs or, for a language model, running text; built-in corpora generated from a seed, and the
// user's own files.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "config/config.h"
#include "data/corpus/drawn.h"
#include "data/corpus/pairs.h"

namespace attnscope {

// Running text in UTF-8: lines ending in \n, except the last one of a part, which may be truncated.
struct Text {
  std::string train;
  std::string validation;
  std::string test;
  bool operator==(const Text&) const = default;
};

// A skipped line of a file, and the reason.
struct SkippedLine {
  std::string file;
  std::int64_t line = 0;  // from 1
  std::string reason;
};

struct CorpusReport {
  std::int64_t lines_read = 0;
  std::int64_t duplicates = 0;        // lines whose pair occurred earlier in the file
  std::int64_t skipped = 0;           // unusable lines
  std::vector<SkippedLine> examples;  // the first 20 of both kinds
};

struct Corpus {
  std::string name;  // of the built-in corpus or of the file
  PairList train;
  PairList validation;
  PairList test;
  Text text;         // of a corpus loaded as text, which has no pairs; otherwise empty
  DrawnCorpus drawn = {};  // set if training draws its examples instead of reading `text`, which contains some of them
  std::string hash;  // of all contents and the split: 64-bit FNV-1a, 16 hexadecimal digits
  bool caches_tokens = false;  // its tokens and tokenizer are kept in the cache folder
  CorpusReport report;
};

// A corpus that cannot be used at all. The message names the file and the problem.
class CorpusError : public Error {
 public:
  using Error::Error;
};

struct BuiltIn {
  std::string_view name;
  std::string_view description;
};

std::span<const BuiltIn> built_in_corpora();

// Returns true for the names of built-in corpora, even if a file has that name: ./copy is a file.
bool is_built_in(std::string_view name);

// Called with 0…1 every few thousand lines; may throw to cancel, and the exception is passed on.
using CorpusProgress = std::function<void(double fraction)>;

// Loads or generates the corpus and splits it. Deterministic: the same configuration (and file) gives the same corpus.
// Pairs are read from the cache folder if they were stored there.
//
// Pairs are split about 90/5/5, those of a file according to `config.held_out`, with at most 5000 sources per held-out
// part. No source sentence is in two parts, and in a file with fewer than three different sources all pairs are
// for training.
//
// Any UTF-8 file is read unchanged as text, including blank and repeated lines, except for a byte order mark and CR
// before LF. `config.target` and `config.seed` are ignored: the first 90 % of the characters are for training, the rest
// for both validation and testing, as in nanoGPT (a single character is for training). A built-in corpus gives
// one line "source → target" per pair, split like its pairs.
//
// Throws CorpusError.
Corpus load_corpus(const CorpusConfig& config, const CorpusProgress& progress = {}, bool as_text = false);

// Returns pairs of a built-in task with sources of that number of words, a length not in its corpus. Empty for a corpus
// without a rule for longer sources, and for an impossible length.
std::vector<Pair> pairs_of_length(std::string_view corpus, std::int64_t words, std::int64_t count, std::int64_t seed);

// The non-empty lines of a text.
std::vector<std::string> lines_of(std::string_view text);

// Describes the skipped lines: their number, and the first of them; empty if there are none.
std::string left_out_text(const Corpus& corpus);

// The number of Unicode code points of a valid UTF-8 text, including line ends.
std::int64_t num_characters(std::string_view text);

}  // namespace attnscope
