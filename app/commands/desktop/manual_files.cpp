#include "commands/desktop/manual_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "commands/paths.h"
#include "files/storage/file.h"

namespace attnscope {
namespace {

constexpr std::size_t max_page_bytes = std::size_t{1} << 20;

std::map<std::string, ManualPage> read_pages(const std::filesystem::path& folder) {
  std::map<std::string, ManualPage> pages;
  std::error_code error;  // a missing folder has no pages
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".md") continue;
    try {
      const std::string name = entry.path().stem().string();
      pages.emplace(name, make_page(name, read_file(entry.path(), max_page_bytes)));
    } catch (const FileError&) {
      continue;  // an unreadable page must not keep the window from opening
    }
  }
  return pages;
}

std::vector<std::string> linked_pages(const ManualPage& index) {
  std::vector<std::string> names{index.name};
  for (const MarkdownBlock& block : index.blocks)
    for (const auto& row : block.rows)
      for (const MarkdownLine& cell : row)
        for (const MarkdownSpan& span : cell)
          if (span.link.ends_with(".md")) names.push_back(span.link.substr(0, span.link.size() - 3));
  return names;
}

}  // namespace

std::vector<ManualPage> read_manual() {
  std::map<std::string, ManualPage> pages = read_pages(asset_folder() / "manual");
  std::vector<ManualPage> ordered;
  const auto index = pages.find("index");
  if (index == pages.end()) return {};
  for (const std::string& name : linked_pages(index->second))
    if (auto page = pages.extract(name)) ordered.push_back(std::move(page.mapped()));
  for (auto& [name, page] : pages) ordered.push_back(std::move(page));
  return ordered;
}

}  // namespace attnscope
