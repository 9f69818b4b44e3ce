// Tries a SentencePiece model in a process that may crash: attnscope_sentencepiece_trial < tokenizer.model
//
// SentencePiece trusts the tables of a model: a damaged or hostile one causes reads past their end, or an endless loop.
// So the model is first loaded, and all its pieces are split and joined, in this process, of which only the exit status
// matters. The quality of the model is not checked: an error reported by SentencePiece is a normal exit.
#include <dlfcn.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "data/tokenizer/module.h"

namespace {

using namespace attnscope;

constexpr rlim_t most_seconds = 20;
constexpr rlim_t most_memory = rlim_t{4} << 30;
constexpr std::size_t line_bytes = 500;  // longer lines take quadratic time over unknown characters

void limit(__rlimit_resource what, rlim_t most) {
  const rlimit limits{most, most};
  ::setrlimit(what, &limits);
}

const SentencePieceApi* load_module() {
  const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / ATTNSCOPE_SENTENCEPIECE_FILE;
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto get_api = reinterpret_cast<decltype(&attnscope_sentencepiece_api)>(
      module ? ::dlsym(module, "attnscope_sentencepiece_api") : nullptr);
  return get_api ? get_api() : nullptr;
}

// Uses every function of a model on this text.
void cut_and_join(const SentencePieceApi& api, const SentencePieceModel* model, const std::string& line) {
  Encoding encoding = {};
  const OwnedText error = api.encode(model, {line.data(), line.size()}, &encoding);
  if (error.data) return api.free_text(error);
  std::vector<int> ids;
  std::vector<TextView> pieces;
  for (std::size_t i = 0; i < encoding.count; ++i) {
    ids.push_back(encoding.pieces[i].id);
    pieces.push_back(encoding.pieces[i].text);
    api.id_of(model, encoding.pieces[i].text);
  }
  for (const bool by_pieces : {false, true}) {
    OwnedText text = {};
    const OwnedText wrong = by_pieces ? api.join(model, pieces.data(), pieces.size(), &text)
                                      : api.decode(model, ids.data(), ids.size(), &text);
    api.free_text(wrong.data ? wrong : text);
  }
  api.free_encoding(encoding);
}

// Collects texts and processes them one line at a time.
class Lines {
 public:
  Lines(const SentencePieceApi& api, const SentencePieceModel* model) : api_(api), model_(model) {}
  ~Lines() { cut_and_join(api_, model_, line_); }

  void add(std::string_view text) {
    line_ += text;
    if (line_.size() < line_bytes) return;
    cut_and_join(api_, model_, line_);
    line_.clear();
  }

 private:
  const SentencePieceApi& api_;
  const SentencePieceModel* model_;
  std::string line_;
};

std::string utf8(unsigned code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

// Samples ideographs, Hangul and characters beyond the basic plane, of which there are thousands of each kind.
unsigned step_from(unsigned code) {
  const bool many = (code >= 0x3400 && code < 0xA000) || (code >= 0xAC00 && code < 0xD7A0) || code >= 0x10000;
  return many ? 16 : 1;
}

void try_out(const SentencePieceApi& api, const SentencePieceModel* model) {
  api.special_ids(model);
  Lines lines(api, model);
  for (int id = 0; id < api.vocab_size(model); ++id) {
    const TextView piece = api.piece(model, id);
    lines.add({piece.data, piece.size});
    lines.add(" ");
  }
  // Characters of every script, to test the normalization table; then arbitrary bytes.
  for (unsigned code = 1; code < 0x20000; code += step_from(code))
    if (code < 0xD800 || code > 0xDFFF) lines.add(utf8(code));
  std::mt19937 dice(1);
  for (int i = 0; i < 20'000; ++i) lines.add(std::string(1, static_cast<char>(dice())));
}

}  // namespace

int main() {
  limit(RLIMIT_CPU, most_seconds);
  limit(RLIMIT_AS, most_memory);
  limit(RLIMIT_CORE, 0);
  const SentencePieceApi* const api = load_module();
  if (!api || api->version != sentencepiece_api_version) return EXIT_FAILURE;
  const std::string bytes{std::istreambuf_iterator<char>(std::cin), {}};
  SentencePieceModel* model = nullptr;
  const OwnedText error = api->load({bytes.data(), bytes.size()}, &model);
  if (error.data) {
    api->free_text(error);
  } else {
    try_out(*api, model);
    api->free_model(model);
  }
  return EXIT_SUCCESS;
}
