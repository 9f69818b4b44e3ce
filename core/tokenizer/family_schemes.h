// The schemes behind families.h, one a file.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "tokenizer/tokenizer.h"

namespace attnscope {

// All throw TokenizerError naming the file.
std::unique_ptr<const PieceScheme> marian_pieces(const TokenizerFiles& files, int vocab_size);
std::unique_ptr<const PieceScheme> t5_pieces(const TokenizerFiles& files, int vocab_size);
std::unique_ptr<const PieceScheme> gpt2_pieces(const TokenizerFiles& files, int vocab_size);
std::unique_ptr<const PieceScheme> llama_pieces(const TokenizerFiles& files, int vocab_size);

// The named file as JSON; an empty object where there is none.
nlohmann::json json_file(const TokenizerFiles& files, const std::string& name);

// A field of tokenizer_config.json that is true, false, or absent.
bool flag(const nlohmann::json& settings, const char* field, bool absent);

// The piece of an id that the model has room for and the tokenizer no name.
std::string unused_piece(int id);

}  // namespace attnscope
