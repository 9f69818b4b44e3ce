// The string literals of C++ sources: adjacent ones joined, escapes resolved, comments left out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct SourceLiteral {
  std::string text;
  std::string before;  // the code in front of it, as far as 40 characters, without trailing blanks
};

std::vector<SourceLiteral> literals_of(std::string_view source);

struct SourceFile {
  std::string path;  // from the folder
  std::vector<SourceLiteral> literals;
};

// Every .cpp and .h in the folder and those in it.
std::vector<SourceFile> source_files(const std::filesystem::path& folder);

}  // namespace attnscope
