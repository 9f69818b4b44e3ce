// The manual's Markdown (headings, paragraphs, lists, tables, code blocks, links) as plain blocks, parsed by md4c.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct MarkdownSpan {
  std::string text;
  bool bold = false;
  bool code = false;
  std::string link;  // "page.md#heading", an address, or empty
};

using MarkdownLine = std::vector<MarkdownSpan>;

struct MarkdownBlock {
  enum class Kind { heading, paragraph, list_item, code, table };

  Kind kind = Kind::paragraph;
  int level = 0;                                // heading: 1…6; list item: nesting depth from 0
  std::string marker;                           // list item: "•" or "2."
  MarkdownLine line;                            // heading, paragraph, list item
  std::string code;                             // with line feeds
  std::string language;                         // of a code block: "sh run", "text", …
  std::vector<std::vector<MarkdownLine>> rows;  // table: rows × cells; the first row is the header
};

// Images become their alternative text. Throws std::runtime_error if md4c cannot parse the text.
std::vector<MarkdownBlock> read_markdown(std::string_view text);

std::string plain_text_of(const MarkdownLine& line);

// A heading's name in links, as GitHub makes it: "To train on a corpus" → "to-train-on-a-corpus".
std::string heading_anchor(std::string_view heading);

}  // namespace attnscope
