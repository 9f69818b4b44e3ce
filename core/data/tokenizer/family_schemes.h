// The schemes behind families.h.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "data/tokenizer/tokenizer.h"

namespace attnscope {

// All throw TokenizerError naming the file.
std::unique_ptr<const PieceScheme> marian_pieces(const TokenizerFiles& files, int vocab_size);
std::unique_ptr<const PieceScheme> t5_pieces(const TokenizerFiles& files, int vocab_size);
std::unique_ptr<const PieceScheme> llama_pieces(const TokenizerFiles& files, int vocab_size);
// tokenizer.json, or the older files of the family.
std::unique_ptr<const PieceScheme> json_pieces(const TokenizerFiles& files, int vocab_size, std::string_view family);

// Parses the named file as JSON; returns an empty object if there is none.
nlohmann::json json_file(const TokenizerFiles& files, const std::string& name);

// A member of an object; null if there is none.
const nlohmann::json& json_member(const nlohmann::json& json, const char* field);

// True for a step of tokenizer.json of that type.
bool is_step(const nlohmann::json& step, const char* type);

// Always throws: this value in tokenizer.json is not supported.
[[noreturn]] void refuse_json(const char* field, const nlohmann::json& value, const char* supported);

// A boolean field of tokenizer_config.json; `absent` if it is missing.
bool flag(const nlohmann::json& settings, const char* field, bool absent);

// The placeholder for an id that is in the model but not in the tokenizer.
std::string unused_piece(int id);

}  // namespace attnscope
