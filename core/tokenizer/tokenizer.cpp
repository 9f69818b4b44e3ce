#include "tokenizer/tokenizer.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

#include "tokenizer/module.h"

namespace attnscope {
namespace {

// Next to the program in the build tree as in an installed one: bin/attnscope, lib/attnscope/….
std::filesystem::path module_path() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / ATTNSCOPE_SENTENCEPIECE_MODULE;
}

// Debian's libsentencepiece exports the protobuf it embeds, LibTorch loads another one, and in one namespace the
// symbols interpose and crash the program before main. In a namespace of its own SentencePiece sees only its own.
const SentencePieceApi* load_module() {
  const std::string path = module_path();
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

// Loaded once and for good: the C library has room for about 15 namespaces.
const SentencePieceApi& module() {
  static const SentencePieceApi* const api = load_module();
  return *api;
}

TextView view(std::string_view text) {
  return {text.data(), text.size()};
}

// Always the same sample of what is too much to read.
void keep_sample(std::vector<TextView>& views) {
  constexpr std::size_t max_bytes = 12'000'000;
  constexpr std::size_t max_count = 400'000;
  std::size_t bytes = 0;
  for (const TextView& text : views) bytes += text.size;
  if (bytes <= max_bytes && views.size() <= max_count) return;
  std::mt19937_64 generator(1);
  std::shuffle(views.begin(), views.end(), generator);
  bytes = 0;
  const auto enough = std::find_if(views.begin(), views.end(), [&](const TextView& text) {
    bytes += text.size;
    return bytes > max_bytes;
  });
  views.erase(enough, views.end());
  if (views.size() > max_count) views.resize(max_count);
}

// Sentences with something in them; of a large corpus a sample, as nobody waits for minutes and the frequent words are
// in any sample: unigram takes some 9 s for this much, BPE 3 s. Counting characters takes 3 s for 100 MB, and a rare
// one would be missing from a sample.
std::vector<TextView> training_text(std::span<const std::string> sentences, const TokenizerConfig& config) {
  std::vector<TextView> views;
  for (const std::string& sentence : sentences) {
    if (sentence.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    for (const std::string_view passage : passages(sentence)) views.push_back(view(passage));
  }
  if (config.type != "char") keep_sample(views);
  return views;
}

// Where a passage at the start of a longer text ends: before a space, or else between two characters.
std::size_t end_of_passage(std::string_view text) {
  const std::size_t space = text.rfind(' ', longest_sentence);
  if (space != std::string_view::npos && space != 0) return space;
  std::size_t end = longest_sentence;
  while (end > longest_sentence - 3 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return end;
}

std::string take(OwnedText text) {
  const std::unique_ptr<OwnedText, void (*)(OwnedText*)> owner(&text, [](OwnedText* t) { module().free_text(*t); });
  return std::string(text.data, text.size);
}

void check(OwnedText error, std::string_view doing) {
  if (error.data) throw TokenizerError(fmt::format("{}: {}", doing, take(error)));
}

}  // namespace

std::vector<std::string_view> passages(std::string_view text) {
  std::vector<std::string_view> result;
  while (text.size() > longest_sentence) {
    const std::size_t end = end_of_passage(text);
    result.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  result.push_back(text);
  return result;
}

std::string Tokenizer::train(std::span<const std::string> sentences, const TokenizerConfig& config) {
  const std::vector<TextView> views = training_text(sentences, config);
  if (views.empty()) throw TokenizerError("cannot train the tokenizer: there is no text to train it on");
  const TrainingRequest request = {
      .sentences = views.data(),
      .count = views.size(),
      .type = config.type.c_str(),
      .vocab_size = static_cast<std::size_t>(config.vocab_size),
      .pad_id = pad_id,
      .bos_id = bos_id,
      .eos_id = eos_id,
      .unk_id = unk_id,
  };
  OwnedText model = {};
  check(module().train(&request, &model), "cannot train the tokenizer");
  return take(model);
}

Tokenizer::Tokenizer(std::string model) : bytes_(std::make_shared<const std::string>(std::move(model))) {
  SentencePieceModel* loaded = nullptr;
  check(module().load(view(*bytes_), &loaded), "cannot read the SentencePiece model");
  model_ = {loaded, [](const SentencePieceModel* m) { module().free_model(const_cast<SentencePieceModel*>(m)); }};
  const SpecialIds ids = module().special_ids(loaded);
  if (ids.pad != pad_id || ids.bos != bos_id || ids.eos != eos_id || ids.unk != unk_id) {
    throw TokenizerError(fmt::format(
        "this SentencePiece model numbers its special pieces pad {}, bos {}, eos {}, unk {}; attnscope needs "
        "{}, {}, {}, {} (spm_train --pad_id=0 --bos_id=1 --eos_id=2 --unk_id=3)",
        ids.pad, ids.bos, ids.eos, ids.unk, pad_id, bos_id, eos_id, unk_id));
  }
}

std::vector<Token> Tokenizer::encode(std::string_view text) const {
  Encoding encoding = {};
  check(module().encode(model_.get(), view(text), &encoding), "cannot split the text into pieces");
  const std::unique_ptr<Encoding, void (*)(Encoding*)> owner(&encoding,
                                                             [](Encoding* e) { module().free_encoding(*e); });
  std::vector<Token> tokens;
  tokens.reserve(encoding.count);
  for (const Piece& piece : std::span(encoding.pieces, encoding.count)) {
    tokens.push_back({piece.id, std::string(piece.text.data, piece.text.size)});
  }
  return tokens;
}

std::string Tokenizer::decode(std::span<const int> ids) const {
  std::vector<int> spoken;
  for (const int id : ids) {
    check_id(id);
    if (id != pad_id && id != bos_id && id != eos_id) spoken.push_back(id);
  }
  OwnedText text = {};
  check(module().decode(model_.get(), spoken.data(), spoken.size(), &text), "cannot join the pieces");
  return take(text);
}

int Tokenizer::vocab_size() const {
  return module().vocab_size(model_.get());
}

std::string Tokenizer::piece(int id) const {
  check_id(id);
  const TextView text = module().piece(model_.get(), id);
  return std::string(text.data, text.size);
}

void Tokenizer::check_id(int id) const {
  if (id < 0 || id >= vocab_size()) {
    throw TokenizerError(fmt::format("no piece has the number {}; the vocabulary has 0…{}", id, vocab_size() - 1));
  }
}

// ---- prompts, and what follows them

std::vector<int> prompt_ids(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int> ids;
  for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
  if (ids.empty()) ids.push_back(Tokenizer::eos_id);
  return ids;
}

std::string decode_lines(const Tokenizer& tokenizer, std::span<const int> ids) {
  std::string text;
  auto begin = ids.begin();
  for (auto end = std::find(begin, ids.end(), Tokenizer::eos_id); end != ids.end();
       end = std::find(begin, ids.end(), Tokenizer::eos_id)) {
    text += tokenizer.decode({begin, end}) + "\n";
    begin = end + 1;
  }
  return text + tokenizer.decode({begin, ids.end()});
}

std::string continued_text(const Tokenizer& tokenizer, std::span<const int> prompt, std::span<const int> ids) {
  std::vector<int> all(prompt.begin(), prompt.end());
  all.insert(all.end(), ids.begin(), ids.end());
  const std::string before = decode_lines(tokenizer, prompt);
  const std::string whole = decode_lines(tokenizer, all);
  return whole.starts_with(before) ? whole.substr(before.size()) : whole;
}

}  // namespace attnscope
