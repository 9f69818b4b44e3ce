// A SentencePiece model, as its module (module.h) gives it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plain/snapshot.h"
#include "tokenizer/module.h"

namespace attnscope {

// Loads the module with the first call; throws TokenizerError if it cannot be loaded.
const SentencePieceApi& sentence_piece_module();

// Where the module is, and what tries a model out.
std::filesystem::path sentence_piece_folder();

inline TextView view_of(std::string_view text) {
  return {text.data(), text.size()};
}

// The module's text as one of ours, given back to it.
std::string take(OwnedText text);

// Throws TokenizerError beginning with `doing` if there is an error.
void check(OwnedText error, std::string_view doing);

// Immutable; copies share the model. Any number of threads may use it at once.
class SentencePiece {
 public:
  // The bytes of a serialized model; throws TokenizerError if they are none, or such that SentencePiece ends over them.
  explicit SentencePiece(std::string_view model);

  std::vector<Token> encode(std::string_view text) const;
  std::string decode(std::span<const int> ids) const;
  // Joins pieces, also such as the model has not.
  std::string join(std::span<const std::string> pieces) const;
  int vocab_size() const;
  SpecialIds special_ids() const;
  // The id lies within the vocabulary.
  std::string piece(int id) const;
  // That of the unknown piece where the model has no such piece.
  int id_of(std::string_view piece) const;

 private:
  std::shared_ptr<const SentencePieceModel> model_;
};

}  // namespace attnscope
