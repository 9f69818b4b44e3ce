// The user's own files, read line by line: sentence pairs from a TSV file or two parallel files, or running text.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "data/corpus/corpus.h"

namespace attnscope {

// Passes on every usable pair once, in file order. The text is unchanged except for a byte order mark, CR before LF,
// and spaces or tabs around a side; with corpus.normalize it is composed() (common/unicode_form.h), and then lowercased
// if so configured. Unusable lines are counted in `report`. Throws CorpusError if a file cannot be read, is of another
// format (compressed, UTF-16), or has no usable pair, or if parallel files differ in length.
//
// A line: source, separator, target; text after another tab, such as the translator's name, is ignored. With the
// separator "," or a .csv file without a configured separator, RFC 4180 applies: quoted fields, doubled quotes, line
// feeds in quotes, and more columns, which are ignored; a first record of column names is skipped.
//
// With corpus.target, the lines of the two files are pairs.
using AddPair = std::function<void(const PairView&)>;
void read_pairs(const CorpusConfig& config, const AddPair& add, CorpusReport& report, const CorpusProgress& progress);

// Returns the file's text, without a byte order mark and CR before LF. Lines that are not UTF-8 or contain NUL are
// skipped and counted in `report`. Throws CorpusError if the file cannot be read, has no text, is too large, or is not
// text: more of it would be skipped than read.
std::string read_text(const CorpusConfig& config, CorpusReport& report, const CorpusProgress& progress);

// Lowercases every capital of a valid UTF-8 text, one to one, as in the C library's C.UTF-8: "ÄÖÜ É Σ" → "äöü é σ".
// Throws CorpusError if that locale is missing.
std::string lowercased(std::string_view text);

}  // namespace attnscope
