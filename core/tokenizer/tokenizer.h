// Text to pieces and back: one SentencePiece model for both languages (§5.1 shares one vocabulary too), or what the
// checkpoint of another program came with (families.h).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plain/config.h"
#include "plain/error.h"
#include "plain/snapshot.h"
#include "tokenizer/piece_scheme.h"

namespace attnscope {

// The SentencePiece module cannot be loaded, a model cannot be trained or read, or an id lies outside the vocabulary.
class TokenizerError : public Error {
 public:
  using Error::Error;
};

// `text` in passages short enough to train on and quick to encode, most often all of it in one. Cut before a space,
// where the pieces are the same as of the whole; where there is none in 30 000 bytes, between two characters.
std::vector<std::string_view> passages(std::string_view text);

// A tokenizer's files: what they hold, by their names in a run's folder.
using TokenizerFiles = std::map<std::string, std::string>;

// Of a classifier, beside tokenizer.model.
inline constexpr std::string_view labels_file = "labels.txt";

// Immutable once made; copies share the model. Any number of threads may use it at once.
class Tokenizer {
 public:
  // Of those that are trained here; others': special().
  static constexpr int pad_id = SpecialTokens().padding;
  static constexpr int bos_id = SpecialTokens().start;
  static constexpr int eos_id = SpecialTokens().end;
  static constexpr int unk_id = SpecialTokens().unknown;

  // The bytes of a SentencePiece model trained on `sentences`, both languages together: the same sentences in the same
  // order give the same bytes. Gives fewer than `config.vocab_size` pieces where the sentences allow no more; throws
  // TokenizerError where so few cannot hold every character, and where there is no text. Cannot be interrupted: takes
  // seconds, as of more than 12 MB or 400 000 sentences it reads a sample. Long sentences are read as their passages;
  // one with U+2585, which SentencePiece keeps for itself, is passed over.
  //
  // Text is kept as it is (no Unicode normalisation), but for white space at the ends and repeated spaces. Every digit
  // is a piece of its own. There are no byte pieces: every character read has a piece, so bytes would never be trained,
  // and 256 of them are a large part of a small vocabulary. An unknown character becomes unk.
  //
  // Type "char": every character of every sentence is a piece, whatever `config.vocab_size` says, and decode gives back
  // exactly what was encoded, every space of it (but for unk, and U+2581, which stands for a space).
  static std::string train(std::span<const std::string> sentences, const TokenizerConfig& config);

  // `model` is a serialized SentencePiece model; throws TokenizerError if it is not, or numbers the special pieces
  // differently from above.
  explicit Tokenizer(std::string model);

  // The same for a classifier, whose targets are one of these labels: a piece each, the last of the vocabulary, in this
  // order. No label is empty, holds a line feed or comes twice.
  Tokenizer(std::string model, const std::vector<std::string>& labels);

  // Another program's: decoding passes over the special pieces.
  Tokenizer(std::unique_ptr<const PieceScheme> scheme, const SpecialTokens& special, TokenizerFiles files);

  // Without bos and eos; none for white space alone, unless characters are the pieces. Bytes that are not UTF-8 count
  // as U+FFFD. The piece of an unk is the text it stands for; one unk takes all unknown characters in a row
  // (SentencePiece takes 0.2 s for 100 kB of them, 1 s for 200 kB).
  std::vector<Token> encode(std::string_view text, Side side = Side::source) const;

  // Skips the special pieces but unk, for which SentencePiece writes " ⁇ ". Throws TokenizerError for an id outside
  // 0…vocab_size − 1.
  std::string decode(std::span<const int> ids) const;

  int vocab_size() const;

  // The piece as SentencePiece writes it; throws TokenizerError for an id outside 0…vocab_size − 1.
  std::string token(int id) const;

  const SpecialTokens& special() const { return special_; }

  // The piece that stands before every text, −1: none. encode() leaves it out.
  int opening() const { return scheme_->opening_id(); }

  // Of a classifier; none otherwise.
  const std::vector<std::string>& labels() const { return scheme_->labels(); }

  // What is to be saved: for SentencePiece, tokenizer.model, and where there are labels labels.txt, one a line.
  const TokenizerFiles& files() const { return *files_; }

 private:
  void check_id(int id) const;

  std::shared_ptr<const TokenizerFiles> files_;
  std::shared_ptr<const PieceScheme> scheme_;
  SpecialTokens special_;
};

// ---- prompts and what a language model writes after them: text in which </s> is a line's end

// At least one id: nothing typed begins where a line has ended, or where a text begins.
std::vector<int> prompt_ids(const Tokenizer& tokenizer, std::string_view text);

// With "\n" where the ids have </s>.
std::string decode_lines(const Tokenizer& tokenizer, std::span<const int> ids);

// What `ids` add to the text of the prompt, as it would read on after it: a piece alone does not tell whether it begins
// a word.
std::string continued_text(const Tokenizer& tokenizer, std::span<const int> prompt, std::span<const int> ids);

}  // namespace attnscope
