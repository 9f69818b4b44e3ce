// The C interface between attnscope and its SentencePiece module, shared by both sides.
//
// The module lives in a linker namespace of its own (see tokenizer.cpp), with its own C++ runtime and heap: what one
// side allocates only that side frees, no C++ object and no exception crosses, errors come back as text.
#pragma once

#include <cstddef>

namespace attnscope {

// Raised whenever anything below changes, so that a module from another build is refused instead of misread.
inline constexpr int sentencepiece_api_version = 3;

// Longer sentences are passed over in training: the BPE trainer overflows in a word of 2^15 characters.
inline constexpr std::size_t longest_sentence = 30'000;  // bytes

struct SentencePieceModel;  // a loaded model, owned by the module

struct TextView {  // borrowed bytes, not terminated; may hold NUL
  const char* data;
  std::size_t size;
};

struct OwnedText {  // the module's bytes; give them back to free_text
  char* data;
  std::size_t size;
};

struct Piece {
  int id;
  TextView text;  // as the model writes it; the text itself where the model knows no piece for it
};

struct Encoding {  // the module's memory; give it back to free_encoding
  const Piece* pieces;
  std::size_t count;
  void* storage;
};

struct TrainingRequest {
  const TextView* sentences;
  std::size_t count;
  const char* type;        // "bpe", "unigram" or "char"
  std::size_t vocab_size;  // at most; "char" gives every character of the sentences a piece instead
  int pad_id, bos_id, eos_id, unk_id;
};

struct SpecialIds {  // -1 where the model has none
  int pad, bos, eos, unk;
};

// Functions that return OwnedText return an error: data is null on success, and then alone the outputs are set.
struct SentencePieceApi {
  int version;
  OwnedText (*train)(const TrainingRequest* request, OwnedText* model);
  OwnedText (*load)(TextView model_bytes, SentencePieceModel** model);
  // A "char" model keeps every space; the others drop those at the ends and all but one in a row.
  OwnedText (*encode)(const SentencePieceModel* model, TextView text, Encoding* encoding);
  OwnedText (*decode)(const SentencePieceModel* model, const int* ids, std::size_t count, OwnedText* text);
  // Pieces instead of ids, also such as the model has not.
  OwnedText (*join)(const SentencePieceModel* model, const TextView* pieces, std::size_t count, OwnedText* text);
  int (*vocab_size)(const SentencePieceModel* model);
  SpecialIds (*special_ids)(const SentencePieceModel* model);
  TextView (*piece)(const SentencePieceModel* model, int id);  // id within the vocabulary; lives as long as the model
  int (*id_of)(const SentencePieceModel* model, TextView piece);  // that of unk where there is none
  void (*free_model)(SentencePieceModel* model);
  void (*free_encoding)(Encoding encoding);
  void (*free_text)(OwnedText text);
};

}  // namespace attnscope

// The module's one symbol.
extern "C" const attnscope::SentencePieceApi* attnscope_sentencepiece_api();
