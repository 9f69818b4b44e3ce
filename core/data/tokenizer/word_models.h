// The models of tokenizer.json: they split a word into tokens of the vocabulary.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "messages/snapshot.h"

namespace attnscope {

using Vocabulary = std::unordered_map<std::string, int>;

class WordModel {
 public:
  WordModel() = default;
  WordModel(const WordModel&) = delete;
  WordModel& operator=(const WordModel&) = delete;
  virtual ~WordModel() = default;

  // Appends the tokens of a word; an unknown one has the text that it replaces.
  virtual void add(const std::string& word, std::vector<Token>& tokens) const = 0;

  // The id for what the vocabulary does not cover, −1: none.
  int unknown = -1;
};

// From "model" of tokenizer.json; the vocabulary has been read, and must outlive it. Throws TokenizerError.
std::unique_ptr<WordModel> word_model(const nlohmann::json& model, const Vocabulary& vocabulary);

// Splits with a SentencePiece model and numbers the pieces by the vocabulary.
std::unique_ptr<WordModel> sentence_piece_model(const std::string& bytes, const Vocabulary& vocabulary, int unknown);

}  // namespace attnscope
