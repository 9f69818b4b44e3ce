// The strings that people read (window, command line, lessons, manual, README) contain no word of words.patterns.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "source_literals.h"

namespace attnscope {
namespace {

struct PrivateWord {
  std::regex expression;
  std::string instead;
};

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

const std::vector<PrivateWord>& private_words() {
  static const std::vector<PrivateWord> words = [] {
    std::vector<PrivateWord> read;
    for (const std::string& line : lines_of(ATTNSCOPE_SOURCES "/tests/words.patterns")) {
      if (line.starts_with("#")) continue;
      const std::size_t first = line.find('\t'), last = line.rfind('\t');
      read.push_back({std::regex(line.substr(0, first), std::regex::optimize), line.substr(last + 1)});
    }
    return read;
  }();
  return words;
}

// Ordinary uses of a word that is private elsewhere.
bool is_allowed(std::string_view text) {
  constexpr std::array allowed = {std::string_view("SentencePiece learns its pieces from the corpus"),
                                  std::string_view("option.alone.")};
  for (const std::string_view each : allowed)
    if (text.find(each) != std::string_view::npos) return true;
  return false;
}

std::string complaints_about(const std::string& text, const std::string& place) {
  std::string complaints;
  std::smatch match;
  for (const PrivateWord& word : private_words())
    if (!is_allowed(text) && std::regex_search(text, match, word.expression))
      complaints += fmt::format("\n{}: \"{}\" in: {}\n  say instead: {}", place, match.str(), text, word.instead);
  return complaints;
}

// Sentences of the built-in corpora are data.
bool is_corpus(const std::string& path) {
  return path.starts_with("corpus/grammar/") || path == "data/corpus/words.cpp" ||
         path == "data/corpus/synthetic.cpp" || path == "data/corpus/verdicts.cpp";
}

std::string complaints_about_pages(const std::filesystem::path& folder, std::string_view extension) {
  std::string complaints;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != extension) continue;
    bool foreign = false;  // a lesson's text in another language, with the lines that continue it
    for (const std::string& line : lines_of(entry.path())) {
      const std::string key = "." + line.substr(0, line.find(':'));
      const auto ends_key = [&](const char* code) { return key.ends_with(code); };
      if (!line.starts_with("  ")) foreign = std::ranges::any_of(std::array{".fr", ".es", ".zh"}, ends_key);
      if (!foreign) complaints += complaints_about(line, entry.path().filename().string());
    }
  }
  return complaints;
}

TEST(PlainLanguage, PatternsFindPrivateWords) {
  EXPECT_THAT(private_words(), testing::SizeIs(testing::Ge(15U)));
  for (const char* text : {"one piece of the text", "the head looks at a word", "its twin", "\"Of this step nothing\"",
                           "nats a token", "goes on", "begin anew"})
    EXPECT_NE(complaints_about(text, "a test"), "") << text;
  EXPECT_EQ(complaints_about("The head attends to the token “it”.", "a test"), "");
}

TEST(PlainLanguage, IsSpokenInTheSources) {
  std::string complaints;
  for (const char* folder : {"core", "ui", "app"})
    for (const SourceFile& file : source_files(std::filesystem::path(ATTNSCOPE_SOURCES) / folder))
      for (const SourceLiteral& literal : file.literals)
        if (literal.text.find(' ') != std::string::npos && !is_corpus(file.path))
          complaints += complaints_about('"' + literal.text + '"', file.path);
  EXPECT_EQ(complaints, "");
}

TEST(PlainLanguage, IsSpokenInLessonsManualAndReadme) {
  const std::filesystem::path root = ATTNSCOPE_SOURCES;
  EXPECT_EQ(complaints_about_pages(root / "assets/lessons", ".lesson"), "");
  for (const char* folder : {"assets/manual", "assets/benchmarks", "", "core", "ui", "app", "tests"})
    EXPECT_EQ(complaints_about_pages(root / folder, ".md"), "");
}

}  // namespace
}  // namespace attnscope
