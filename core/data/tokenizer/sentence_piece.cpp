#include "data/tokenizer/sentence_piece.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "common/module_folder.h"
#include "data/tokenizer/model_trial.h"
#include "data/tokenizer/tokenizer.h"

namespace attnscope {
namespace {

// Debian's libsentencepiece exports its embedded protobuf, and LibTorch loads another version. In one namespace their
// symbols interpose and crash the program before main. A separate namespace isolates SentencePiece.
const SentencePieceApi* load_module() {
  const std::string path = module_folder() / ATTNSCOPE_SENTENCEPIECE_FILE;
  void* const module = dlmopen(LM_ID_NEWLM, path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) throw TokenizerError(fmt::format("cannot load the tokenizer module {}: {}", path, dlerror()));
  const auto get_api =
      reinterpret_cast<decltype(&attnscope_sentencepiece_api)>(dlsym(module, "attnscope_sentencepiece_api"));
  const SentencePieceApi* const api = get_api ? get_api() : nullptr;
  if (!api || api->version != sentencepiece_api_version) {
    dlclose(module);
    throw TokenizerError(fmt::format("the tokenizer module {} belongs to another version of attnscope", path));
  }
  return api;
}

}  // namespace

// Loaded once and never unloaded: the C library supports about 15 namespaces.
const SentencePieceApi& sentence_piece_module() {
  static const SentencePieceApi* const api = load_module();
  return *api;
}

std::string take(OwnedText text) {
  const std::unique_ptr<OwnedText, void (*)(OwnedText*)> owner(
      &text, [](OwnedText* t) { sentence_piece_module().free_text(*t); });
  return std::string(text.data, text.size);
}

void check(OwnedText error, std::string_view doing) {
  if (error.data) throw TokenizerError(fmt::format("{}: {}", doing, take(error)));
}

SentencePiece::SentencePiece(std::string_view model) {
  try_apart(model);
  SentencePieceModel* loaded = nullptr;
  check(sentence_piece_module().load(view_of(model), &loaded), "cannot read the SentencePiece model");
  model_ = {loaded, [](const SentencePieceModel* m) {
              sentence_piece_module().free_model(const_cast<SentencePieceModel*>(m));
            }};
}

std::vector<Token> SentencePiece::encode(std::string_view text) const {
  Encoding encoding = {};
  check(sentence_piece_module().encode(model_.get(), view_of(text), &encoding), "cannot split the text into tokens");
  const std::unique_ptr<Encoding, void (*)(Encoding*)> owner(
      &encoding, [](Encoding* e) { sentence_piece_module().free_encoding(*e); });
  std::vector<Token> tokens;
  tokens.reserve(encoding.count);
  for (const Piece& piece : std::span(encoding.pieces, encoding.count)) {
    tokens.push_back({piece.id, std::string(piece.text.data, piece.text.size)});
  }
  return tokens;
}

std::string SentencePiece::decode(std::span<const int> ids) const {
  OwnedText text = {};
  check(sentence_piece_module().decode(model_.get(), ids.data(), ids.size(), &text), "cannot join the tokens");
  return take(text);
}

std::string SentencePiece::join(std::span<const std::string> pieces) const {
  std::vector<TextView> views;
  for (const std::string& piece : pieces) views.push_back(view_of(piece));
  OwnedText text = {};
  check(sentence_piece_module().join(model_.get(), views.data(), views.size(), &text), "cannot join the tokens");
  return take(text);
}

int SentencePiece::vocab_size() const {
  return sentence_piece_module().vocab_size(model_.get());
}

SpecialIds SentencePiece::special_ids() const {
  return sentence_piece_module().special_ids(model_.get());
}

bool SentencePiece::separates_words() const {
  return sentence_piece_module().separates_words(model_.get());
}

std::string SentencePiece::piece(int id) const {
  const TextView text = sentence_piece_module().piece(model_.get(), id);
  return std::string(text.data, text.size);
}

int SentencePiece::id_of(std::string_view piece) const {
  return sentence_piece_module().id_of(model_.get(), view_of(piece));
}

}  // namespace attnscope
