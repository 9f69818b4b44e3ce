#include "source_literals.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace attnscope {
namespace {

std::string utf8(unsigned code) {
  if (code < 0x80) return {static_cast<char>(code)};
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80U | (code >> shift & 0x3FU)); };
  if (code < 0x800) return {static_cast<char>(0xC0U | code >> 6U), tail(0)};
  return {static_cast<char>(0xE0U | code >> 12U), tail(6), tail(0)};
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<SourceLiteral> read() {
    bool adjacent = false;
    while (at_ < source_.size()) {
      if (std::isspace(static_cast<unsigned char>(source_[at_])) != 0) {
        ++at_;
      } else if (starts("//")) {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (starts("/*")) {
        at_ = std::min(source_.find("*/", at_), source_.size() - 2) + 2;
      } else if (source_[at_] == '"') {
        take(adjacent);
        adjacent = true;
        continue;
      } else {
        if (source_[at_] == '\'') skip_character();
        ++at_;
        adjacent = false;
      }
    }
    return std::move(found_);
  }

 private:
  bool starts(std::string_view what) const { return source_.substr(at_, what.size()) == what; }

  // To its closing quote; 1'000 is a number.
  void skip_character() {
    if (at_ > 0 && std::isalnum(static_cast<unsigned char>(source_[at_ - 1])) != 0) return;
    for (++at_; at_ < source_.size() && source_[at_] != '\''; ++at_)
      if (source_[at_] == '\\') ++at_;
  }

  void take(bool adjacent) {
    if (!adjacent) {
      std::string before(source_.substr(at_ < 40 ? 0 : at_ - 40, std::min<std::size_t>(at_, 40)));
      while (!before.empty() && std::isspace(static_cast<unsigned char>(before.back())) != 0) before.pop_back();
      found_.push_back({{}, std::move(before)});
    }
    std::string& text = found_.back().text;
    for (++at_; at_ < source_.size() && source_[at_] != '"'; ++at_)
      text += source_[at_] == '\\' ? escape() : std::string(1, source_[at_]);
    ++at_;
  }

  std::string escape() {
    const char sign = source_[++at_];
    if (sign != 'u') return {sign == 'n' ? '\n' : sign == 't' ? '\t' : sign};
    const unsigned code = static_cast<unsigned>(std::stoul(std::string(source_.substr(at_ + 1, 4)), nullptr, 16));
    at_ += 4;
    return utf8(code);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::vector<SourceLiteral> found_;
};

}  // namespace

std::vector<SourceLiteral> literals_of(std::string_view source) {
  return Lexer(source).read();
}

std::vector<SourceFile> source_files(const std::filesystem::path& folder) {
  std::vector<SourceFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cpp" && extension != ".h") continue;
    std::ifstream stream(entry.path());
    const std::string source{std::istreambuf_iterator<char>(stream), {}};
    files.push_back({std::filesystem::relative(entry.path(), folder).string(), literals_of(source)});
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

}  // namespace attnscope
