// The conversion between text and pieces behind a Tokenizer: SentencePiece, or the tokenizer of another program's
// checkpoint.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/snapshot.h"

namespace attnscope {

enum class Side { source, target };

class PieceScheme {
 public:
  PieceScheme() = default;
  PieceScheme(const PieceScheme&) = delete;
  PieceScheme& operator=(const PieceScheme&) = delete;
  virtual ~PieceScheme() = default;

  // Without the special tokens at the start and end of every text. Token::unknown need not be set.
  virtual std::vector<Token> encode(std::string_view text, Side side) const = 0;

  // `ids` must be in the vocabulary; those without text are skipped.
  virtual std::string decode(std::span<const int> ids) const = 0;

  virtual int vocab_size() const = 0;

  // The piece, readable; the id must be in the vocabulary.
  virtual std::string piece(int id) const = 0;

  // The piece as in its files if piece() is different, else empty.
  virtual std::string raw_piece(int) const { return {}; }

  // The ids of the unknown piece, and of those that end and start a text; −1: none.
  virtual int unknown_id() const = 0;
  virtual int end_id() const = 0;
  virtual int opening_id() const { return -1; }     // before every text
  virtual int source_end_id() const { return -1; }  // ends a source text, if it is not end_id()
  virtual int mask_id() const { return -1; }        // hides a token of an encoder's text
  virtual int num_separators() const { return 1; }  // end tokens between the two texts of a pair

  // True if spaces separate words, and each is encoded in the same way in every text. A run of unknown pieces counts as
  // one, also across words.
  virtual bool separates_words(Side) const { return false; }

  // The possible targets if there are only a few: the last pieces of the vocabulary. Empty: targets are texts.
  virtual const std::vector<std::string>& labels() const;
};

// A part of a text: plain, or a special piece spelled out in it.
struct TextPart {
  std::string text;
  bool special = false;
  bool operator==(const TextPart&) const = default;
};

// Splits `text` at the special pieces spelled out in it, the earliest and then the longest first; no part is empty.
// `strip` removes white space next to a special piece.
std::vector<TextPart> split_at_specials(std::string_view text, std::span<const std::string> specials, bool strip);

}  // namespace attnscope
