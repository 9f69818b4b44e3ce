#include "manual/markdown.h"

#include <fmt/format.h>
#include <md4c.h>

#include <cctype>
#include <stdexcept>
#include <utility>

namespace attnscope {
namespace {

struct List {
  bool numbered = false;
  unsigned next = 1;
};

class Reader {
 public:
  std::vector<MarkdownBlock> read(std::string_view text) {
    MD_PARSER parser{};
    parser.flags = MD_FLAG_TABLES | MD_FLAG_NOHTML;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      static_cast<Reader*>(self)->enter_block(type, detail);
      return 0;
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) {
      static_cast<Reader*>(self)->leave_block(type);
      return 0;
    };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
      static_cast<Reader*>(self)->change_style(type, detail, true);
      return 0;
    };
    parser.leave_span = [](MD_SPANTYPE type, void* detail, void* self) {
      static_cast<Reader*>(self)->change_style(type, detail, false);
      return 0;
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* begin, MD_SIZE size, void* self) {
      static_cast<Reader*>(self)->add_text(type, {begin, size});
      return 0;
    };
    if (md_parse(text.data(), static_cast<MD_SIZE>(text.size()), &parser, this) != 0)
      throw std::runtime_error("the Markdown text cannot be parsed");
    return std::move(blocks_);
  }

 private:
  using Kind = MarkdownBlock::Kind;

  static std::string text_of(const MD_ATTRIBUTE& attribute) { return {attribute.text, attribute.size}; }

  MarkdownBlock& add(Kind kind) {
    blocks_.emplace_back().kind = kind;
    return blocks_.back();
  }

  void enter_block(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_H:
        add(Kind::heading).level = static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
        break;
      case MD_BLOCK_P:
        if (!in_item_) add(Kind::paragraph);  // a list item's own paragraph continues the item
        in_item_ = false;
        break;
      case MD_BLOCK_UL:
        lists_.push_back({});
        break;
      case MD_BLOCK_OL:
        lists_.push_back({true, static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start});
        break;
      case MD_BLOCK_LI:
        add_item();
        break;
      case MD_BLOCK_CODE:
        add(Kind::code).language = text_of(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->info);
        break;
      case MD_BLOCK_TABLE:
        add(Kind::table);
        break;
      case MD_BLOCK_TR:
        blocks_.back().rows.emplace_back();
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        blocks_.back().rows.back().emplace_back();
        break;
      default:
        break;
    }
  }

  void leave_block(MD_BLOCKTYPE type) {
    if (type == MD_BLOCK_UL || type == MD_BLOCK_OL) lists_.pop_back();
    if (type == MD_BLOCK_LI) in_item_ = false;
  }

  void add_item() {
    MarkdownBlock& item = add(Kind::list_item);
    List& list = lists_.back();
    item.level = static_cast<int>(lists_.size()) - 1;
    item.marker = list.numbered ? fmt::format("{}.", list.next++) : "\u2022";
    in_item_ = true;
  }

  void change_style(MD_SPANTYPE type, void* detail, bool begins) {
    if (type == MD_SPAN_STRONG) style_.bold = begins;
    if (type == MD_SPAN_CODE) style_.code = begins;
    if (type == MD_SPAN_A) style_.link = begins ? text_of(static_cast<MD_SPAN_A_DETAIL*>(detail)->href) : "";
  }

  void add_text(MD_TEXTTYPE type, std::string_view text) {
    MarkdownBlock& block = blocks_.back();
    if (block.kind == Kind::code) {
      block.code += text;
      return;
    }
    MarkdownLine& line = block.kind == Kind::table ? block.rows.back().back() : block.line;
    const bool breaks = type == MD_TEXT_SOFTBR || type == MD_TEXT_BR;
    MarkdownSpan span = style_;
    span.text = breaks ? " " : std::string(text);
    line.push_back(std::move(span));
  }

  std::vector<MarkdownBlock> blocks_;
  std::vector<List> lists_;
  bool in_item_ = false;
  MarkdownSpan style_;
};

}  // namespace

std::vector<MarkdownBlock> read_markdown(std::string_view text) {
  return Reader().read(text);
}

std::string plain_text_of(const MarkdownLine& line) {
  std::string text;
  for (const MarkdownSpan& span : line) text += span.text;
  return text;
}

std::string heading_anchor(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') anchor += '-';
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80)
      anchor += static_cast<char>(std::tolower(byte));
  }
  return anchor;
}

}  // namespace attnscope
