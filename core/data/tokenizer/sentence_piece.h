// A SentencePiece model, accessed through its module (module.h).
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/module.h"
#include "messages/snapshot.h"

namespace attnscope {

// Loads the module at the first call; throws TokenizerError if that fails.
const SentencePieceApi& sentence_piece_module();

inline TextView view_of(std::string_view text) {
  return {text.data(), text.size()};
}

// Copies the module's text, and releases it.
std::string take(OwnedText text);

// Throws TokenizerError starting with `doing` if there is an error.
void check(OwnedText error, std::string_view doing);

// Immutable; copies share the model. Thread-safe.
class SentencePiece {
 public:
  // Loads a serialized model; throws TokenizerError if it is invalid, or crashes SentencePiece.
  explicit SentencePiece(std::string_view model);

  std::vector<Token> encode(std::string_view text) const;
  std::string decode(std::span<const int> ids) const;
  // Joins pieces, which need not be in the vocabulary.
  std::string join(std::span<const std::string> pieces) const;
  int vocab_size() const;
  SpecialIds special_ids() const;
  bool separates_words() const;
  // The id must be in the vocabulary.
  std::string piece(int id) const;
  // Returns the unknown id if there is no such piece.
  int id_of(std::string_view piece) const;

 private:
  std::shared_ptr<const SentencePieceModel> model_;
};

}  // namespace attnscope
