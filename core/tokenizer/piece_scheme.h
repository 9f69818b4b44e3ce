// How text is cut into pieces and joined again: what a Tokenizer is made of. SentencePiece, or what another program's
// checkpoint came with.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plain/snapshot.h"

namespace attnscope {

enum class Side { source, target };

class PieceScheme {
 public:
  PieceScheme() = default;
  PieceScheme(const PieceScheme&) = delete;
  PieceScheme& operator=(const PieceScheme&) = delete;
  virtual ~PieceScheme() = default;

  // Without what stands before and after every text. Token::unknown need not be set.
  virtual std::vector<Token> encode(std::string_view text, Side side) const = 0;

  // `ids` lie within the vocabulary; those that stand for no text are passed over.
  virtual std::string decode(std::span<const int> ids) const = 0;

  virtual int vocab_size() const = 0;

  // As its files write it; the id lies within the vocabulary.
  virtual std::string piece(int id) const = 0;

  // Of the piece that stands for text without one, and of those that end and begin a text; −1: there is none.
  virtual int unknown_id() const = 0;
  virtual int end_id() const = 0;
  virtual int opening_id() const { return -1; }  // before every text

  // What a target can be, where it is one of a few: the last pieces of the vocabulary. None: it is a text.
  virtual const std::vector<std::string>& labels() const;
};

// A piece of a text: plain, or a special piece that was written out in it.
struct TextPart {
  std::string text;
  bool special = false;
  bool operator==(const TextPart&) const = default;
};

// `text` cut at the special pieces written in it, the earliest and of those the longest first; no part is empty. With
// `strip`, white space beside a special piece is left out.
std::vector<TextPart> split_at_specials(std::string_view text, std::span<const std::string> specials, bool strip);

}  // namespace attnscope
