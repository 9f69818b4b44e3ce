// What is learned from: sentence pairs or, for a language model, running text; built-in ones, made from a seed, and the
// user's own files.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plain/config.h"
#include "plain/error.h"

namespace attnscope {

struct Pair {
  std::string source;
  std::string target;
  // "pronoun", "reasons", "circumstances", "two senses", "royalty", "kinds", "distance", "greeting", "basic", or ""
  std::string category = {};
  std::string antecedent = {};  // pronoun pairs: the English noun that "it" stands for; else ""
  std::string pronoun = {};     // pronoun pairs: "il" or "elle", which the French must contain; else ""
  bool operator==(const Pair&) const = default;
};

// Running text in UTF-8: lines that end in \n, but for the last one of a part, which may be cut short.
struct Text {
  std::string train;
  std::string validation;
  std::string test;
  bool operator==(const Text&) const = default;
};

// A line of a file that was left out, and why.
struct SkippedLine {
  std::string file;
  std::int64_t line = 0;  // from 1
  std::string reason;
};

struct CorpusReport {
  std::int64_t lines_read = 0;
  std::int64_t duplicates = 0;        // lines whose pair stood earlier in the file
  std::int64_t skipped = 0;           // lines that could not be used
  std::vector<SkippedLine> examples;  // the first 20 of both kinds
};

struct Corpus {
  std::string name;  // of the built-in corpus or of the file
  std::vector<Pair> train;
  std::vector<Pair> validation;
  std::vector<Pair> test;
  Text text;         // of a corpus read as text, which has no pairs; else empty
  std::string hash;  // of everything in it and of the split: 64-bit FNV-1a, 16 hexadecimal digits
  CorpusReport report;
};

// A corpus that cannot be used at all. The message names the file and what is wrong with it.
class CorpusError : public Error {
 public:
  using Error::Error;
};

struct BuiltIn {
  std::string_view name;
  std::string_view description;
};

std::span<const BuiltIn> built_in_corpora();

// True for their names, whatever files are called so: ./copy is a file.
bool is_built_in(std::string_view name);

// Called with 0…1 every few thousand lines; may throw to give up, and the exception passes through.
using CorpusProgress = std::function<void(double fraction)>;

// Reads or makes the corpus and splits it. The same configuration (and file) always gives the same corpus.
//
// Pairs are split about 90/5/5, those of a file as `config.held_out` has it, 5000 sources at most a part. No source
// sentence stands in two parts, except in a file with fewer than three different sources, where all parts are the same.
//
// As text, any UTF-8 file is read as it stands, but for a byte order mark and CR before LF: blank and repeated lines
// stay. `config.target` and `config.seed` have no say: the first 90 % of the characters are for training, and the rest
// is for validation and test alike, as nanoGPT has it (of a single character, all parts are the same). A built-in
// corpus gives a line "source → target" a pair, split as its pairs are.
//
// Throws CorpusError.
Corpus load_corpus(const CorpusConfig& config, const CorpusProgress& progress = {}, bool as_text = false);

// Pairs of a built-in task whose sources have so many words, lengths that its corpus has not among them; none of a
// corpus that no rule makes longer, or of a length that there is not.
std::vector<Pair> pairs_of_length(std::string_view corpus, std::int64_t words, std::int64_t count, std::int64_t seed);

// The lines of a text that are not empty.
std::vector<std::string> lines_of(std::string_view text);

// Unusable lines, counted and the first of them named; empty when there was none.
std::string left_out_text(const Corpus& corpus);

// Unicode code points of a valid UTF-8 text, line ends included.
std::int64_t num_characters(std::string_view text);

}  // namespace attnscope
