// Conversion between text and token ids: one SentencePiece model for both languages (§5.1 shares one vocabulary too),
// or the tokenizer of another program's checkpoint (families.h).
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/error.h"
#include "config/config.h"
#include "data/tokenizer/piece_scheme.h"
#include "messages/callbacks.h"
#include "messages/snapshot.h"

namespace attnscope {

// The SentencePiece module cannot be loaded, a model cannot be trained or read, or an id is outside the vocabulary.
class TokenizerError : public Error {
 public:
  using Error::Error;
};

// Splits `text` into passages short enough to train on and fast to encode, usually one. Splits before a space, which
// does not change the pieces; without a space in 30 000 bytes, between two characters.
std::vector<std::string_view> passages(std::string_view text);

// A tokenizer's files: contents by file name in a run's folder.
using TokenizerFiles = std::map<std::string, std::string>;

// Stands for a masked token in tokenizers trained by attnscope.
inline constexpr const char* mask_piece = "[MASK]";

// A classifier's file in addition to tokenizer.model.
inline constexpr std::string_view labels_file = "labels.txt";

// Immutable after normalize_text(); copies share the model. Thread-safe.
class Tokenizer {
 public:
  // Ids of tokenizers trained by attnscope; for others see special().
  static constexpr int pad_id = SpecialTokens().padding;
  static constexpr int bos_id = SpecialTokens().start;
  static constexpr int eos_id = SpecialTokens().end;
  static constexpr int unk_id = SpecialTokens().unknown;

  // Trains a SentencePiece model on `sentences` of both languages and returns its bytes. Deterministic: the same
  // sentences in the same order give the same bytes. The result has fewer than `config.vocab_size` pieces if the
  // sentences allow no more. Throws TokenizerError if that size cannot hold every character, and if there is no text.
  // Takes only seconds: above 12 MB or 400 000 sentences it uses a sample, and BPE is trained on counted words. Long
  // sentences are split into passages; those with U+2585, reserved by SentencePiece, are skipped.
  //
  // Text is not normalized (no Unicode normalization), except for white space at the ends and repeated spaces. Every
  // digit is a piece. There are no byte pieces: every character seen has a piece, so bytes would never be trained, and
  // 256 of them are a large part of a small vocabulary. An unknown character becomes unk.
  //
  // With a mask, the vocabulary contains mask_piece.
  //
  // Type "char": every character of every sentence is a piece, whatever `config.vocab_size` says, and decode returns
  // exactly the encoded text with all spaces (except unk, and U+2581, which represents a space).
  static std::string train(std::vector<std::string_view> sentences, const TokenizerConfig& config,
                           bool with_mask = false, const YieldCallback& yield = {});
  static std::string train(std::span<const std::string> sentences, const TokenizerConfig& config,
                           bool with_mask = false) {
    return train(std::vector<std::string_view>(sentences.begin(), sentences.end()), config, with_mask);
  }

  // `model` is a serialized SentencePiece model; throws TokenizerError if it is invalid, or has other ids of the
  // special pieces than above.
  explicit Tokenizer(std::string model);

  // The same for a classifier, whose targets are these labels: one piece each, at the end of the vocabulary, in this
  // order. Labels are not empty, contain no line feed and are distinct.
  Tokenizer(std::string model, const std::vector<std::string>& labels);

  // Another program's tokenizer: decoding skips the special pieces.
  Tokenizer(std::unique_ptr<const PieceScheme> scheme, const SpecialTokens& special, TokenizerFiles files);

  // From here on encode() reads composed() text (common/unicode_form.h).
  void normalize_text(bool on) { normalizes_ = on; }

  // Without bos and eos; empty for only white space, unless characters are the pieces. Invalid UTF-8 counts as U+FFFD.
  // The text of an unk is the text it replaces; one unk covers a whole sequence of unknown characters (SentencePiece
  // takes 0.2 s for 100 kB of them, 1 s for 200 kB).
  std::vector<Token> encode(std::string_view text, Side side = Side::source) const;

  // Skips the special pieces except unk, which SentencePiece decodes as " ⁇ ". Throws TokenizerError for an id outside
  // 0…vocab_size − 1.
  std::string decode(std::span<const int> ids) const;

  int vocab_size() const;

  // The piece, readable (Token::text); throws TokenizerError for an id outside 0…vocab_size − 1.
  std::string token(int id) const;

  // The same with its id, Token::unknown and Token::raw.
  Token as_token(int id) const;

  const SpecialTokens& special() const { return special_; }

  bool separates_words(Side side) const { return scheme_->separates_words(side); }

  // The token that ends every source text.
  int source_end() const { return scheme_->source_end_id() >= 0 ? scheme_->source_end_id() : special_.end; }

  // The token at the start of every text, −1: none. encode() omits it.
  int opening() const { return scheme_->opening_id(); }

  // A source text as the encoder reads it: with the tokens that open and end it.
  std::vector<int> source_ids(std::vector<int> ids) const;

  // A pair as one text: the sentences with their separator between them, spelled out.
  std::string pair(const std::string& a, const std::string& b) const;

  // For a classifier; empty otherwise.
  const std::vector<std::string>& labels() const { return scheme_->labels(); }

  // The files to save: for SentencePiece tokenizer.model, and with labels also labels.txt, one per line.
  const TokenizerFiles& files() const { return *files_; }

 private:
  void check_id(int id) const;

  std::shared_ptr<const TokenizerFiles> files_;
  std::shared_ptr<const PieceScheme> scheme_;
  SpecialTokens special_;
  bool normalizes_ = false;
};

// Encodes many texts of one tokenizer; where it separates words, every distinct word once.
class TextEncoder {
 public:
  explicit TextEncoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}  // must outlive this

  // Appends the ids that Tokenizer::encode returns.
  void append(std::string_view text, Side side, std::vector<int>& ids);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  const std::vector<int>& ids_of(std::string_view word, Side side);

  const Tokenizer& tokenizer_;
  std::array<bool, 2> by_word_ = {tokenizer_.separates_words(Side::source), tokenizer_.separates_words(Side::target)};
  std::unordered_map<std::string, std::vector<int>, Hash, std::equal_to<>> words_;
  std::vector<int> rare_;  // a word for which there is no more room
};

// ---- prompts and outputs of a language model, in which </s> is a line feed

// Returns at least one id: an empty prompt starts after a line end, or at the start of a text.
std::vector<int> prompt_ids(const Tokenizer& tokenizer, std::string_view text);

// Decodes with "\n" for </s>.
std::string decode_lines(const Tokenizer& tokenizer, std::span<const int> ids);

// The text that `ids` add to the decoded prompt: a piece alone does not show whether it starts a word.
std::string continued_text(const Tokenizer& tokenizer, std::span<const int> prompt, std::span<const int> ids);

}  // namespace attnscope
