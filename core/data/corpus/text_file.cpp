#include "data/corpus/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdint>
#include <cstring>
#include <cwchar>
#include <cwctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/cache.h"
#include "common/other_formats.h"
#include "common/unicode_form.h"
#include "common/utf8.h"
#include "data/corpus/corpus.h"

namespace attnscope {
namespace {

constexpr const char* not_utf8 = "is not valid UTF-8";

constexpr std::size_t longest_line = 10000;                       // bytes per line with a pair
constexpr std::uintmax_t largest_text = std::uintmax_t{1} << 30;  // bytes; its tokens take several times as much
constexpr std::size_t chunk_size = 1 << 16;
constexpr std::int64_t lines_between_progress = 2000;
constexpr std::size_t max_examples = 20;

// Reads the lines of a file of any size. A line longer than `longest` is truncated to little more than that.
class LineReader {
 public:
  LineReader(const std::string& path, bool normalizes, std::size_t longest = longest_line)
      : path_(path), normalizes_(normalizes), longest_(longest), chunk_(chunk_size, '\0') {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) throw CorpusError(fmt::format("{}: no such file", path));
    if (std::filesystem::is_directory(status)) {
      throw CorpusError(fmt::format("{}: is a directory, not a file", path));
    }
    if (!std::filesystem::is_regular_file(status)) throw CorpusError(fmt::format("{}: is not a regular file", path));
    size_ = std::filesystem::file_size(path, error);
    stream_.open(path, std::ios::binary);
    if (!stream_) throw CorpusError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    if (!fill()) return;
    if (const std::string other = other_format({chunk_.data(), filled_}, path); !other.empty())
      throw CorpusError(fmt::format("{}: is {}", path, other));
  }

  // Returns false at the end of the file.
  bool next(std::string& line) {
    line.clear();
    bool any = false;
    ended_ = false;
    while (!ended_ && (position_ < filled_ || fill())) {
      any = true;
      const char* begin = chunk_.data() + position_;
      const void* newline = std::memchr(begin, '\n', filled_ - position_);
      const std::size_t length = newline ? static_cast<const char*>(newline) - begin : filled_ - position_;
      if (line.size() <= longest_) line.append(begin, length);
      position_ += length + (newline ? 1 : 0);
      ended_ = newline != nullptr;
    }
    if (!any) return false;
    if (++number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    if (normalizes_) line = composed(line);
    return true;
  }

  const std::string& path() const { return path_; }
  std::int64_t number() const { return number_; }  // of the last line read, from 1
  bool ended() const { return ended_; }            // true if it ended in a line feed
  std::uintmax_t size() const { return size_; }    // of the file, in bytes
  double fraction() const {
    return size_ ? std::min(1.0, static_cast<double>(consumed_) / static_cast<double>(size_)) : 1;
  }

 private:
  bool fill() {
    stream_.read(chunk_.data(), static_cast<std::streamsize>(chunk_.size()));
    if (stream_.bad()) throw CorpusError(fmt::format("{}: cannot be read past line {}", path_, number_));
    position_ = 0;
    filled_ = static_cast<std::size_t>(stream_.gcount());
    consumed_ += filled_;
    return filled_ > 0;
  }

  std::string path_;
  bool normalizes_;
  std::size_t longest_;
  std::ifstream stream_;
  std::string chunk_;
  std::size_t position_ = 0;
  std::size_t filled_ = 0;
  std::uintmax_t size_ = 0;
  std::uintmax_t consumed_ = 0;
  std::int64_t number_ = 0;
  bool ended_ = false;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Why a line is not text.
std::optional<std::string> encoding_fault(std::string_view line) {
  if (line.find('\0') != std::string_view::npos) return "contains a null byte";
  if (utf8_fault(line)) return not_utf8;
  return std::nullopt;
}

// Why a line cannot contain a pair, regardless of its words.
std::optional<std::string> fault(std::string_view line) {
  if (line.size() > longest_line) return fmt::format("longer than {} bytes", longest_line);
  return encoding_fault(line);
}

// Adds the last line read to the report, if there is room for examples.
void name_line(const LineReader& reader, std::string reason, CorpusReport& report) {
  if (report.examples.size() < max_examples) {
    report.examples.push_back({reader.path(), reader.number(), std::move(reason)});
  }
}

void skip_line(const LineReader& reader, std::string reason, CorpusReport& report) {
  ++report.skipped;
  name_line(reader, std::move(reason), report);
}

// The numbers that were added, in an open table of at most three quarters.
class SeenNumbers {
 public:
  // Returns false if it was added before.
  bool add(std::uint64_t number) {
    number |= 1U;  // 0 is an empty slot
    if (4 * (count_ + 1) > 3 * slots_.size()) grow();
    std::uint64_t& slot = slot_of(number);
    if (slot == number) return false;
    slot = number;
    ++count_;
    return true;
  }

 private:
  std::uint64_t& slot_of(std::uint64_t number) {
    std::size_t at = number >> 1U;
    while (slots_[at & (slots_.size() - 1)] != 0 && slots_[at & (slots_.size() - 1)] != number) ++at;
    return slots_[at & (slots_.size() - 1)];
  }
  void grow() {
    const std::vector<std::uint64_t> before = std::exchange(slots_, std::vector<std::uint64_t>(2 * slots_.size()));
    for (const std::uint64_t number : before)
      if (number != 0) slot_of(number) = number;
  }

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(1024);
  std::size_t count_ = 0;
};

// Passes on the pairs, and counts the other lines.
class PairCollector {
 public:
  PairCollector(const CorpusConfig& config, const AddPair& add, CorpusReport& report)
      : config_(config), add_(add), report_(report) {}

  void add(std::string_view source, std::string_view target, const LineReader& reader) {
    source = trimmed(source);
    target = trimmed(target);
    if (source.empty() && target.empty()) return skip(reader, "blank line");
    if (source.empty()) return skip(reader, "the source side is empty");
    if (target.empty()) return skip(reader, "the target side is empty");
    if (!seen_.add(checksum(target, checksum(source)))) {
      ++report_.duplicates;
      return name_line(reader, "the same pair appears earlier", report_);
    }
    ++count_;
    if (config_.lowercase)
      add_({lowercased(source), lowercased(target)});
    else
      add_({source, target});
  }

  void skip(const LineReader& reader, std::string reason) { skip_line(reader, std::move(reason), report_); }

  // Throws CorpusError if there are none.
  void require_any(const std::string& separator) const {
    if (count_ > 0) return;
    if (report_.examples.empty()) throw CorpusError(fmt::format("{}: the file is empty", config_.source));
    const SkippedLine& first = report_.examples.front();
    const std::string advice =
        first.reason == not_utf8
            ? "convert the file to UTF-8, for example with iconv -f LATIN1 -t UTF-8"
            : fmt::format("each line must be source, {}, target. For running text, use the architecture decoder-only",
                          separator);
    throw CorpusError(fmt::format("{}: no usable pair in {} lines (line {}: {}); {}", config_.source,
                                  report_.lines_read, first.line, first.reason, advice));
  }

 private:
  const CorpusConfig& config_;
  const AddPair& add_;
  CorpusReport& report_;
  SeenNumbers seen_;
  std::int64_t count_ = 0;
};

void yield(const LineReader& reader, const CorpusProgress& progress) {
  if (progress && reader.number() % lines_between_progress == 0) progress(reader.fraction());
}

// The separator's name in messages.
std::string name_of_separator(std::string_view separator) {
  return separator == "\t" ? "tab" : fmt::format("\"{}\"", separator);
}

void add_line(std::string_view line, std::string_view separator, const LineReader& reader, PairCollector& pairs) {
  if (auto reason = fault(line)) return pairs.skip(reader, *reason);
  if (trimmed(line).empty()) return pairs.skip(reader, "blank line");
  const std::size_t end = line.find(separator);
  if (end == std::string_view::npos)
    return pairs.skip(reader, fmt::format("no {} between source and target", name_of_separator(separator)));
  const std::string_view rest = line.substr(end + separator.size());
  pairs.add(line.substr(0, end), rest.substr(0, rest.find('\t')), reader);
}

// ---- CSV (RFC 4180)

// Names of columns; a first record of two of them is a header.
constexpr std::array column_names = {
    "source",   "target",     "src",         "tgt",        "trg",       "input",    "output", "text",   "label",
    "sentence", "sentence1",  "sentence2",   "translated", "original",  "question", "answer", "prompt", "response",
    "from",     "to",         "class",       "review",     "sentiment", "english",  "french", "german", "spanish",
    "italian",  "portuguese", "translation", "en",         "fr",        "de",       "es",     "it",     "pt"};

bool is_header(const std::vector<std::string>& fields) {
  return fields.size() >= 2 && std::all_of(fields.begin(), fields.begin() + 2, [](const std::string& field) {
           return std::ranges::find(column_names, lowercased(trimmed(field))) != column_names.end();
         });
}

bool is_csv(const CorpusConfig& config) {
  return config.separator == "," || (config.separator.empty() && lowercased(config.source).ends_with(".csv"));
}

// Splits one record; false if a quote is still open at the end of `text`. A line feed in quotes becomes a space,
// because a sentence is one line.
bool split_record(std::string_view text, std::vector<std::string>& fields) {
  fields.assign(1, {});
  bool quoted = false, begins = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && begins) {
      quoted = true;
    } else if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
      fields.back() += text[i++];
    } else if (c == '"' && quoted) {
      quoted = false;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
      begins = true;
      continue;
    } else {
      fields.back() += c == '\n' ? ' ' : c;
    }
    begins = false;
  }
  return !quoted;
}

// The text of the next record, which may span lines, and its fields; false at the end of the file.
bool next_record(LineReader& reader, std::string& line, std::vector<std::string>& fields, PairCollector& pairs,
                 CorpusReport& report) {
  while (reader.next(line)) {
    const std::int64_t first = reader.number();
    ++report.lines_read;
    bool whole = split_record(line, fields);
    for (std::string more; !whole && line.size() <= longest_line && reader.next(more);) {
      ++report.lines_read;
      line += '\n' + more;
      whole = split_record(line, fields);
    }
    if (whole) return true;
    report.skipped += reader.number() - first;
    pairs.skip(reader, fmt::format("the quote that opens in line {} is not closed", first));
  }
  return false;
}

void add_record(const std::string& line, const std::vector<std::string>& fields, const LineReader& reader,
                PairCollector& pairs) {
  if (auto reason = fault(line)) return pairs.skip(reader, *reason);
  if (trimmed(line).empty()) return pairs.skip(reader, "blank line");
  if (fields.size() < 2) return pairs.skip(reader, "no comma between source and target");
  pairs.add(fields[0], fields[1], reader);
}

void read_csv(const CorpusConfig& config, PairCollector& pairs, CorpusReport& report, const CorpusProgress& progress) {
  LineReader reader(config.source, config.normalize);
  std::string line;
  std::vector<std::string> fields;
  for (bool first = true; next_record(reader, line, fields, pairs, report); first = false) {
    if (first && is_header(fields))
      pairs.skip(reader, fmt::format("read as a header: {}", line));
    else
      add_record(line, fields, reader, pairs);
    yield(reader, progress);
  }
  pairs.require_any("comma");
}

void refuse_different_lengths(LineReader& source, LineReader& target, const CorpusProgress& progress) {
  std::string line;
  while (source.next(line)) yield(source, progress);
  while (target.next(line)) yield(target, progress);
  throw CorpusError(fmt::format("parallel files differ in length: {} has {} lines, {} has {}", source.path(),
                                source.number(), target.path(), target.number()));
}

void read_parallel(const CorpusConfig& config, PairCollector& pairs, CorpusReport& report,
                   const CorpusProgress& progress) {
  LineReader source(config.source, config.normalize);
  LineReader target(config.target, config.normalize);
  std::string source_line;
  std::string target_line;
  while (true) {
    const bool more_source = source.next(source_line);
    const bool more_target = target.next(target_line);
    if (more_source != more_target) refuse_different_lengths(source, target, progress);
    if (!more_source) break;
    ++report.lines_read;
    if (auto reason = fault(source_line)) {
      pairs.skip(source, *reason);
    } else if (auto target_reason = fault(target_line)) {
      pairs.skip(target, *target_reason);
    } else {
      pairs.add(source_line, target_line, source);
    }
    yield(source, progress);
  }
  pairs.require_any("tab");
}

void require_text(std::string_view text, const LineReader& reader, const CorpusReport& report) {
  if (report.skipped > 0 && text.size() < reader.size() / 2) {
    const SkippedLine& first = report.examples.front();
    throw CorpusError(fmt::format("{}: not text in UTF-8: {} of {} lines cannot be used (line {}: {})", reader.path(),
                                  report.skipped, report.lines_read, first.line, first.reason));
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw CorpusError(fmt::format("{}: the file is empty or contains only white space", reader.path()));
  }
}

// ---- lowercasing

// Sets the locale of this thread during its lifetime.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ == nullptr) throw CorpusError("the system has no locale C.UTF-8, which is needed for lowercasing");
    before_ = uselocale(locale_);
  }
  ~Utf8Locale() {
    uselocale(before_);
    freelocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t locale_;
  locale_t before_ = nullptr;
};

}  // namespace

std::string read_text(const CorpusConfig& config, CorpusReport& report, const CorpusProgress& progress) {
  const std::string& path = config.source;
  LineReader reader(path, config.normalize, largest_text);
  if (reader.size() > largest_text) {
    throw CorpusError(
        fmt::format("{}: the file has {} bytes, allowed: {} bytes of text", path, reader.size(), largest_text));
  }
  std::string text;
  std::string line;
  while (reader.next(line)) {
    ++report.lines_read;
    if (auto reason = encoding_fault(line)) {
      skip_line(reader, std::move(*reason), report);
    } else {
      text += line;
      if (reader.ended()) text += '\n';
    }
    yield(reader, progress);
  }
  require_text(text, reader, report);
  return text;
}

void read_pairs(const CorpusConfig& config, const AddPair& add, CorpusReport& report, const CorpusProgress& progress) {
  PairCollector pairs(config, add, report);
  if (!config.target.empty()) return read_parallel(config, pairs, report, progress);
  if (is_csv(config)) return read_csv(config, pairs, report, progress);
  const std::string separator = config.separator.empty() ? "\t" : config.separator;
  LineReader reader(config.source, config.normalize);
  std::string line;
  while (reader.next(line)) {
    ++report.lines_read;
    add_line(line, separator, reader, pairs);
    yield(reader, progress);
  }
  pairs.require_any(name_of_separator(separator));
}

// ---- lowercasing

std::string lowercased(std::string_view text) {
  const Utf8Locale utf8;
  std::string result;
  result.reserve(text.size());
  std::mbstate_t reading{};
  std::mbstate_t writing{};
  char bytes[16];  // MB_LEN_MAX
  while (!text.empty()) {
    wchar_t letter = 0;
    const std::size_t length = std::mbrtowc(&letter, text.data(), text.size(), &reading);
    if (length == 0 || length > text.size()) return result.append(text);  // NUL or invalid UTF-8: the rest is unchanged
    result.append(bytes,
                  std::wcrtomb(bytes, static_cast<wchar_t>(std::towlower(static_cast<std::wint_t>(letter))), &writing));
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace attnscope
