// The user's own files, read line by line: sentence pairs from a TSV file or two parallel files, or running text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "corpus/corpus.h"

namespace attnscope {

// Every usable pair once, in the order of the file. The text is kept as it stands (U+00A0 and U+202F too) but for a
// byte order mark, CR before LF, and spaces or tabs around a side. Unusable lines are counted in `report`.
// Throws CorpusError if a file cannot be read, or has no usable pair, or if parallel files differ in length.
//
// A line: source, separator, target; after another tab what else may stand there, such as whose translation it is.
std::vector<Pair> read_pairs(const std::string& path, std::string_view separator, CorpusReport& report,
                             const CorpusProgress& progress);
std::vector<Pair> read_parallel(const std::string& source_path, const std::string& target_path, CorpusReport& report,
                                const CorpusProgress& progress);

// The file as it stands, but for a byte order mark and CR before LF. Lines that are not UTF-8 or hold NUL are left out
// and counted in `report`. Throws CorpusError if the file cannot be read, has no text, is too large, or is not text:
// more of it would be left out than kept.
std::string read_text(const std::string& path, CorpusReport& report, const CorpusProgress& progress);

// Every capital of a valid UTF-8 text as its small letter, one for one, as the C library's C.UTF-8 has them: "ÄÖÜ É Σ"
// → "äöü é σ". Throws CorpusError where there is no such locale.
std::string lowercased(std::string_view text);

}  // namespace attnscope
