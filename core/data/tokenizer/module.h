// The C interface between attnscope and its SentencePiece module, shared by both sides.
//
// The module is loaded into a linker namespace of its own (see sentence_piece.cpp), with its own C++ runtime and heap.
// Each side frees its own allocations; no C++ objects or exceptions cross; errors are returned as text.
#pragma once

#include <cstddef>

namespace attnscope {

// Incremented with every change below, so that a module from another build is rejected instead of misread.
inline constexpr int sentencepiece_api_version = 5;

// Longer sentences are skipped in training: the BPE trainer overflows in a word of 2^15 characters.
inline constexpr std::size_t longest_sentence = 30'000;  // bytes

struct SentencePieceModel;  // a loaded model, owned by the module

struct TextView {  // borrowed bytes, not terminated; may contain NUL
  const char* data;
  std::size_t size;
};

struct OwnedText {  // the module's bytes; release with free_text
  char* data;
  std::size_t size;
};

struct Piece {
  int id;
  TextView text;  // the piece in the vocabulary; the text itself if it is unknown
};

struct Encoding {  // the module's memory; release with free_encoding
  const Piece* pieces;
  std::size_t count;
  void* storage;
};

struct TrainingRequest {
  const TextView* sentences;
  const std::size_t* times;  // of each sentence; null: once
  std::size_t count;
  const char* type;        // "bpe", "unigram", "char" or "word"
  std::size_t vocab_size;  // maximum; for "char" and "word" one piece per character or word instead
  int pad_id, bos_id, eos_id, unk_id;
  const char* mask;  // a piece of its own that stands for a masked token; null: none
};

struct SpecialIds {  // -1 if the model has none
  int pad, bos, eos, unk;
};

// Functions that return OwnedText return an error: data is null on success, and only then are the outputs set.
struct SentencePieceApi {
  int version;
  OwnedText (*train)(const TrainingRequest* request, OwnedText* model);
  // Spaces separate words, and each is encoded in the same way in every text.
  bool (*separates_words)(const SentencePieceModel* model);
  OwnedText (*load)(TextView model_bytes, SentencePieceModel** model);
  // A "char" model retains every space; the others drop leading and trailing spaces and all but one in a row.
  OwnedText (*encode)(const SentencePieceModel* model, TextView text, Encoding* encoding);
  OwnedText (*decode)(const SentencePieceModel* model, const int* ids, std::size_t count, OwnedText* text);
  // Takes pieces instead of ids, which need not be in the vocabulary.
  OwnedText (*join)(const SentencePieceModel* model, const TextView* pieces, std::size_t count, OwnedText* text);
  int (*vocab_size)(const SentencePieceModel* model);
  SpecialIds (*special_ids)(const SentencePieceModel* model);
  // id must be in the vocabulary; valid as long as the model
  TextView (*piece)(const SentencePieceModel* model, int id);
  int (*id_of)(const SentencePieceModel* model, TextView piece);  // the unknown id if there is no such piece
  void (*free_model)(SentencePieceModel* model);
  void (*free_encoding)(Encoding encoding);
  void (*free_text)(OwnedText text);
};

}  // namespace attnscope

// The module's only symbol.
extern "C" const attnscope::SentencePieceApi* attnscope_sentencepiece_api();
