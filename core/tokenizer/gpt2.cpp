// GPT-2's tokenizer, as transformers has it (GPT2Tokenizer): words cut at Unicode's classes, their bytes as printable
// letters, and the pair that stands earliest in merges.txt joined until none is left (1508.07909).
#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "tokenizer/family_schemes.h"

namespace attnscope {
namespace {

const std::array<std::string, 1> specials = {"<|endoftext|>"};

// ---- words: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

enum class Kind { letter, number, white, other };

// The character at `at`, which then stands behind it; below 0: what stands there is no UTF-8.
UChar32 next_character(std::string_view text, std::size_t& at) {
  UChar32 c = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"  // of the macro
  U8_NEXT(text.data(), at, text.size(), c);
#pragma GCC diagnostic pop
  return c;
}

struct Letter {
  std::size_t begin;
  Kind kind;
};

Kind kind_of(UChar32 c) {
  if (c < 0) return Kind::other;  // no UTF-8
  if (u_isUWhiteSpace(c)) return Kind::white;
  const auto mask = U_GET_GC_MASK(c);
  return (mask & U_GC_L_MASK) != 0 ? Kind::letter : (mask & U_GC_N_MASK) != 0 ? Kind::number : Kind::other;
}

std::vector<Letter> letters_of(std::string_view text) {
  std::vector<Letter> letters;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = at;
    letters.push_back({begin, kind_of(next_character(text, at))});
  }
  return letters;
}

std::size_t ending_at(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

std::vector<std::string_view> words_of(std::string_view text) {
  const std::vector<Letter> letters = letters_of(text);
  const auto begin_of = [&](std::size_t i) { return i < letters.size() ? letters[i].begin : text.size(); };
  std::vector<std::string_view> words;
  std::size_t i = 0;
  while (i < letters.size()) {
    std::size_t j = i + ending_at(text.substr(begin_of(i)));
    if (j == i) {
      // One space may lead a run.
      const bool led = text[begin_of(i)] == ' ' && i + 1 < letters.size() && letters[i + 1].kind != Kind::white;
      const Kind kind = letters[i + (led ? 1 : 0)].kind;
      j = i + (led ? 2 : 1);
      while (j < letters.size() && letters[j].kind == kind) ++j;
      // The last of several white letters is left for what follows.
      if (kind == Kind::white && j < letters.size() && j - i > 1) --j;
    }
    words.push_back(text.substr(begin_of(i), begin_of(j) - begin_of(i)));
    i = j;
  }
  return words;
}

// ---- bytes as letters

bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

std::string utf8(int c) {
  if (c < 0x80) return {static_cast<char>(c)};
  return {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
}

// The 68 bytes that are not printed become U+0100, U+0101 …: a space is U+0120, Ġ.
std::array<std::string, 256> byte_letters() {
  std::array<std::string, 256> letters;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte)
    letters[static_cast<std::size_t>(byte)] = utf8(stands_for_itself(byte) ? byte : next++);
  return letters;
}

// What is no UTF-8 becomes U+FFFD.
std::string valid_utf8(std::string_view bytes) {
  std::string text;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t begin = at;
    text += next_character(bytes, at) < 0 ? std::string_view("\uFFFD") : bytes.substr(begin, at - begin);
  }
  return text;
}

class Gpt2Pieces final : public PieceScheme {
 public:
  Gpt2Pieces(const TokenizerFiles& files, int vocab_size) : letters_(byte_letters()) {
    const nlohmann::json settings = json_file(files, "tokenizer_config.json");
    space_in_front_ = flag(settings, "add_prefix_space", false);
    opens_ = flag(settings, "add_bos_token", false);
    read_vocabulary(json_file(files, "vocab.json"), vocab_size);
    read_merges(files.at("merges.txt"));
    for (std::size_t byte = 0; byte < letters_.size(); ++byte) bytes_[letters_[byte]] = static_cast<char>(byte);
  }

  std::vector<Token> encode(std::string_view given, Side) const override {
    const std::string text = (space_in_front_ ? " " : "") + std::string(given);
    std::vector<Token> tokens;
    for (const TextPart& part : split_at_specials(text, specials, false)) {
      if (part.special) {
        tokens.push_back({ids_.at(part.text), part.text});
        continue;
      }
      for (const std::string_view word : words_of(part.text))
        for (std::string& piece : merged(word)) tokens.push_back({ids_.at(piece), piece});
    }
    return tokens;
  }

  std::string decode(std::span<const int> ids) const override {
    std::string bytes;
    for (const int id : ids) add_bytes(names_[static_cast<std::size_t>(id)], bytes);
    return valid_utf8(bytes);
  }

  int vocab_size() const override { return static_cast<int>(names_.size()); }
  std::string piece(int id) const override { return names_[static_cast<std::size_t>(id)]; }
  int unknown_id() const override { return -1; }  // every byte has a piece
  int end_id() const override { return ids_.at(specials[0]); }
  int opening_id() const override { return opens_ ? end_id() : -1; }

 private:
  void read_vocabulary(const nlohmann::json& vocabulary, int vocab_size) {
    for (int id = 0; id < vocab_size; ++id) names_.push_back(unused_piece(id));
    for (const auto& [piece, id] : vocabulary.items()) {
      if (!id.is_number_integer() || id < 0 || id >= vocab_size) {
        throw TokenizerError(
            fmt::format("vocab.json: \"{}\" has the number {}, allowed: 0 to {}", piece, id.dump(), vocab_size - 1));
      }
      ids_.emplace(piece, id.get<int>());
      names_[id.get<std::size_t>()] = piece;
    }
    const auto require = [&](const std::string& piece) {
      if (!ids_.contains(piece)) throw TokenizerError(fmt::format("vocab.json: there is no \"{}\"", piece));
    };
    std::ranges::for_each(letters_, require);
    require(specials[0]);
  }

  void read_merges(std::string_view rest) {
    for (int line_number = 1; !rest.empty(); ++line_number) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.empty() || line.starts_with("#version")) continue;
      const std::size_t space = line.find(' ');
      const std::string joined =
          space == std::string_view::npos ? "" : std::string(line.substr(0, space)).append(line.substr(space + 1));
      if (!ids_.contains(joined))
        throw TokenizerError(
            fmt::format("merges.txt, line {}: \"{}\" gives no piece of vocab.json", line_number, line));
      ranks_.emplace(line, static_cast<int>(ranks_.size()));
    }
  }

  int rank(const std::string& left, const std::string& right) const {
    const auto found = ranks_.find(left + ' ' + right);
    return found == ranks_.end() ? std::numeric_limits<int>::max() : found->second;
  }

  std::vector<std::string> merged(std::string_view word) const {
    std::vector<std::string> pieces;
    for (const char c : word) pieces.push_back(letters_[static_cast<unsigned char>(c)]);
    while (pieces.size() > 1) {
      int best = std::numeric_limits<int>::max();
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i) best = std::min(best, rank(pieces[i], pieces[i + 1]));
      if (best == std::numeric_limits<int>::max()) break;
      std::vector<std::string> joined;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        const bool here = i + 1 < pieces.size() && rank(pieces[i], pieces[i + 1]) == best;
        joined.push_back(here ? pieces[i] + pieces[i + 1] : pieces[i]);
        if (here) ++i;
      }
      pieces = std::move(joined);
    }
    return pieces;
  }

  // Of a special or unused piece nothing.
  void add_bytes(const std::string& piece, std::string& bytes) const {
    if (piece == specials[0]) return;
    std::string own;
    std::size_t at = 0;
    while (at < piece.size()) {
      const std::size_t begin = at;
      next_character(piece, at);
      const auto byte = bytes_.find(piece.substr(begin, at - begin));
      if (byte == bytes_.end()) return;
      own += byte->second;
    }
    bytes += own;
  }

  std::array<std::string, 256> letters_;
  std::unordered_map<std::string, char> bytes_;
  std::unordered_map<std::string, int> ids_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> ranks_;  // "left right": its line
  bool space_in_front_ = false, opens_ = false;
};

}  // namespace

std::unique_ptr<const PieceScheme> gpt2_pieces(const TokenizerFiles& files, int vocab_size) {
  return std::make_unique<Gpt2Pieces>(files, vocab_size);
}

}  // namespace attnscope
