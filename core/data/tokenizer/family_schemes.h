// The schemes behind families.h, one file each.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "data/tokenizer/tokenizer.h"

namespace attnscope {

// All throw TokenizerError naming the file.
std::unique_ptr<const PieceScheme> marian_pieces(const TokenizerFiles& files, int vocab_size);
std::unique_ptr<const PieceScheme> t5_pieces(const TokenizerFiles& files, int vocab_size);
std::unique_ptr<const PieceScheme> gpt2_pieces(const TokenizerFiles& files, int vocab_size);
std::unique_ptr<const PieceScheme> llama_pieces(const TokenizerFiles& files, int vocab_size);

// Parses the named file as JSON; returns an empty object if there is none.
nlohmann::json json_file(const TokenizerFiles& files, const std::string& name);

// A boolean field of tokenizer_config.json; `absent` if it is missing.
bool flag(const nlohmann::json& settings, const char* field, bool absent);

// The placeholder for an id that is in the model but not in the tokenizer.
std::string unused_piece(int id);

}  // namespace attnscope
