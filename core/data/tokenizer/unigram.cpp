// Tokenizers of XLM-RoBERTa and ALBERT, as in transformers: a unigram language model (1804.10959) in tokenizer.json, or
// else SentencePiece's model.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "data/tokenizer/encoder_tokens.h"
#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/letters.h"
#include "data/tokenizer/sentence_piece.h"

namespace attnscope {
namespace {

std::string bytes_of_base64(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const std::size_t value = letters.find(c);
    if (value == std::string_view::npos) throw TokenizerError("tokenizer.json: precompiled_charsmap is not base64");
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
  }
  return bytes;
}

// SentencePiece's precompiled_charsmap: a double-array trie over UTF-8, then the replacements, each ended by a zero
// byte. The tokenizers library replaces a grapheme of less than six bytes as a whole, longer ones letter by letter.
class CharacterMap {
 public:
  explicit CharacterMap(const std::string& bytes) {
    std::uint32_t size = 0;
    if (bytes.size() >= sizeof(size)) std::memcpy(&size, bytes.data(), sizeof(size));
    if (size == 0 || size % 4 != 0 || size > bytes.size() - sizeof(size))
      throw TokenizerError("tokenizer.json: precompiled_charsmap is damaged");
    units_.resize(size / 4);
    std::memcpy(units_.data(), bytes.data() + sizeof(size), size);
    texts_ = bytes.substr(sizeof(size) + size);
  }

  std::string normalized(std::string_view text) const {
    std::string result;
    for (const std::string_view cluster : graphemes(text)) {
      if (const auto whole = cluster.size() < 6 ? replacement(cluster) : std::nullopt) {
        result += *whole;
        continue;
      }
      for_each_letter(cluster,
                      [&](UChar32, std::string_view letter) { result += replacement(letter).value_or(letter); });
    }
    return result;
  }

 private:
  // Of the shortest entry that the text begins with.
  std::optional<std::string_view> replacement(std::string_view text) const {
    const auto offset = [](std::uint32_t unit) { return (unit >> 10U) << ((unit & (1U << 9U)) >> 6U); };
    std::size_t node = offset(units_[0]);
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      node ^= byte;
      if (node >= units_.size() || (units_[node] & 0x800000FFU) != byte) return std::nullopt;
      const std::uint32_t unit = units_[node];
      node ^= offset(unit);
      if ((unit >> 8U & 1U) == 0) continue;
      const std::size_t at = node < units_.size() ? units_[node] & 0x7FFFFFFFU : texts_.size();
      if (at >= texts_.size()) return std::nullopt;
      return std::string_view(texts_).substr(at, texts_.find('\0', at) - at);
    }
    return std::nullopt;
  }

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

// The normalizer's steps, in order.
struct Normalizer {
  std::vector<std::function<std::string(std::string)>> steps;

  void add(const nlohmann::json& step) {
    if (step.is_null()) return;
    if (is_step(step, "Sequence")) {
      for (const nlohmann::json& part : json_member(step, "normalizers")) add(part);
    } else if (is_step(step, "Precompiled") && json_member(step, "precompiled_charsmap").is_string()) {
      CharacterMap map(bytes_of_base64(json_member(step, "precompiled_charsmap").get<std::string>()));
      steps.emplace_back([map = std::move(map)](const std::string& text) { return map.normalized(text); });
    } else if (is_step(step, "NFKD")) {
      steps.emplace_back([](const std::string& text) { return decomposed(text, true); });
    } else if (is_step(step, "StripAccents")) {
      steps.emplace_back([](const std::string& text) { return without(text, U_GC_M_MASK); });
    } else if (is_step(step, "Lowercase")) {
      steps.emplace_back([](const std::string& text) { return lowercase(text); });
    } else if (const auto& from = json_member(json_member(step, "pattern"), "String");
               is_step(step, "Replace") && from.is_string() && !from.get<std::string>().empty() &&
               json_member(step, "content").is_string()) {
      add_replacement(from, json_member(step, "content"));
    } else if (json_member(json_member(step, "pattern"), "Regex") == " {2,}") {
      // Spaces in a row: the words are split at spaces anyway.
    } else {
      refuse_json("normalizer", step,
                  "null, Sequence, Precompiled, NFKD, StripAccents, Lowercase, Replace with a String");
    }
  }

  void add_replacement(const std::string& from, const std::string& to) {
    steps.emplace_back([from, to](std::string text) {
      for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
      return text;
    });
  }

  std::string normalized(std::string_view given) const {
    std::string text(given);
    for (const auto& step : steps) text = step(std::move(text));
    return text;
  }
};

// A vocabulary with log probabilities, or a SentencePiece model with ids shifted by `offset`.
class UnigramPieces final : public PieceScheme {
 public:
  UnigramPieces(const TokenizerFiles& files, int vocab_size, const EncoderTokenNames& names, const char* model_file,
                bool shifted)
      : shifted_(shifted) {
    for (int id = 0; id < vocab_size; ++id) names_.push_back(unused_piece(id));
    const nlohmann::json whole = json_file(files, "tokenizer.json");
    if (!whole.empty()) {
      read(whole);
    } else if (const auto model = files.find(model_file); model != files.end()) {
      read_model(model->second, json_file(files, "tokenizer_config.json"));
    } else {
      throw TokenizerError(fmt::format("there is neither a tokenizer.json nor a {}", model_file));
    }
    special_ = encoder_tokens(files, names, [&](const std::string& piece) { return id_of(piece); });
    for (const auto& token : special_.added) name(token.id, token.text);
    if (special_.unknown < 0) throw TokenizerError(fmt::format("the vocabulary: there is no \"{}\"", names.unknown));
  }

  std::vector<Token> encode(std::string_view text, Side) const override {
    return special_.encode(text, [&](std::string_view part, std::vector<Token>& tokens) {
      const std::string normal = normalizer_.normalized(part);
      if (model_) {
        for (Token token : model_->encode(normal)) {
          token.id = model_->piece(token.id) == token.text ? id_of(token.text) : special_.unknown;
          tokens.push_back(std::move(token));
        }
        return;
      }
      std::string word;
      const auto end_word = [&] {
        if (!word.empty()) add_word(word.starts_with(word_mark) ? word : std::string(word_mark) + word, tokens);
        word.clear();
      };
      for_each_letter(normal, [&](UChar32 c, std::string_view letter) {
        if (is_white(c)) return end_word();
        if (letter == word_mark) end_word();
        word += letter;
      });
      end_word();
    });
  }

  std::string decode(std::span<const int> ids) const override {
    std::string text;
    for (const int id : ids)
      if (!special_.is_special(id)) text += names_[static_cast<std::size_t>(id)];
    for (std::size_t at = 0; (at = text.find(word_mark, at)) != std::string::npos; ++at)
      text.replace(at, word_mark.size(), " ");
    if (text.starts_with(' ')) text.erase(0, 1);
    return text;
  }

  int vocab_size() const override { return static_cast<int>(names_.size()); }
  std::string piece(int id) const override { return names_[static_cast<std::size_t>(id)]; }
  int unknown_id() const override { return special_.unknown; }
  int end_id() const override { return special_.separator; }
  int opening_id() const override { return special_.opening; }
  int mask_id() const override { return special_.mask; }
  int num_separators() const override { return shifted_ ? 2 : 1; }  // XLM-RoBERTa: </s></s>

 private:
  struct Entry {
    int id;
    double score;
  };

  int id_of(const std::string& piece) const {
    const auto found = entries_.find(piece);
    return found == entries_.end() ? -1 : found->second.id;
  }

  void name(int id, const std::string& piece) {
    if (id < 0 || id >= vocab_size()) {
      throw TokenizerError(
          fmt::format("the vocabulary: \"{}\" has the id {}, allowed: 0 to {}", piece, id, vocab_size() - 1));
    }
    names_[static_cast<std::size_t>(id)] = piece;
  }

  void read(const nlohmann::json& whole) {
    const nlohmann::json& model = json_member(whole, "model");
    if (const auto& type = json_member(model, "type"); !type.is_null() && type != "Unigram")
      refuse_json("model.type", type, "Unigram");
    if (json_member(model, "byte_fallback") == true) refuse_json("model.byte_fallback", true, "false");
    const nlohmann::json& vocabulary = json_member(model, "vocab");
    if (!vocabulary.is_array() || vocabulary.empty()) throw TokenizerError("tokenizer.json: there is no vocabulary");
    for (const nlohmann::json& entry : vocabulary) {
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
        refuse_json("model.vocab", entry, "a token and its log probability");
      const std::string piece = entry[0];
      const int id = static_cast<int>(entries_.size());
      name(id, piece);
      if (!entries_.emplace(piece, Entry{id, entry[1]}).second) refuse_json("model.vocab", entry, "each token once");
      lowest_ = std::min(lowest_, entry[1].get<double>());
      longest_ = std::max(longest_, piece.size());
    }
    normalizer_.add(json_member(whole, "normalizer"));
    check_words(json_member(whole, "pre_tokenizer"));
  }

  // Words end at white space and begin with "▁".
  static void check_words(const nlohmann::json& steps) {
    const nlohmann::json& parts = json_member(steps, "pretokenizers");
    const nlohmann::json& last =
        is_step(steps, "Sequence") && parts.is_array() && !parts.empty() ? parts.back() : steps;
    const auto& scheme = json_member(last, "prepend_scheme");
    if (!is_step(last, "Metaspace") || (!scheme.is_null() && scheme != "always") ||
        (scheme.is_null() && json_member(last, "add_prefix_space") == false))
      refuse_json("pre_tokenizer", steps, "Metaspace that puts a space in front, with or without WhitespaceSplit");
  }

  // fairseq numbers the special tokens first: <s>, <pad>, </s>, <unk>, and <mask> last.
  void read_model(const std::string& bytes, const nlohmann::json& settings) {
    model_.emplace(bytes);
    const int first = shifted_ ? 3 : 0;
    for (int id = first; id < model_->vocab_size(); ++id)
      entries_.emplace(model_->piece(id), Entry{id + (shifted_ ? 1 : 0), 0});
    const std::vector<std::string> own = {"<s>", "<pad>", "</s>", "<unk>"};
    for (int id = 0; shifted_ && id < 4; ++id) entries_[own[static_cast<std::size_t>(id)]] = {id, 0};
    if (shifted_) entries_["<mask>"] = {model_->vocab_size() + 1, 0};
    for (const auto& [piece, entry] : entries_) name(entry.id, piece);
    if (shifted_) return;
    normalizer_.add_replacement("``", "\"");
    normalizer_.add_replacement("''", "\"");
    if (!flag(settings, "keep_accents", false)) {
      normalizer_.add({{"type", "NFKD"}});
      normalizer_.add({{"type", "StripAccents"}});
    }
    if (flag(settings, "do_lower_case", true)) normalizer_.add({{"type", "Lowercase"}});
  }

  // The split with the largest sum of log probabilities. An unknown letter has that of the rarest piece − 10; unknown
  // letters in a row are one token.
  void add_word(std::string_view word, std::vector<Token>& tokens) const {
    struct Best {
      double score = -std::numeric_limits<double>::infinity();
      std::size_t begin = 0;
      int id = -1;  // −1: unknown
    };
    std::vector<Best> best(word.size() + 1);
    best[0].score = 0;
    std::size_t begin = 0;
    for_each_letter(word, [&](UChar32, std::string_view letter) {
      const auto offer = [&](std::size_t size, double score, int id) {
        Best& there = best[begin + size];
        if (best[begin].score + score > there.score) there = {best[begin].score + score, begin, id};
      };
      bool single = false;
      for (std::size_t size = letter.size(); size <= std::min(longest_, word.size() - begin); ++size) {
        const auto found = entries_.find(std::string(word.substr(begin, size)));
        if (found == entries_.end()) continue;
        single |= size == letter.size();
        offer(size, found->second.score, found->second.id);
      }
      if (!single) offer(letter.size(), lowest_ - 10, -1);
      begin += letter.size();
    });
    std::vector<Token> pieces;  // last first
    for (std::size_t end = word.size(); end > 0; end = best[end].begin) {
      std::string text(word.substr(best[end].begin, end - best[end].begin));
      const bool unknown = best[end].id < 0;
      if (unknown && !pieces.empty() && pieces.back().unknown)
        pieces.back().text.insert(0, text);
      else
        pieces.push_back({unknown ? special_.unknown : best[end].id, std::move(text), unknown});
    }
    tokens.insert(tokens.end(), pieces.rbegin(), pieces.rend());
  }

  bool shifted_;
  std::unordered_map<std::string, Entry> entries_;
  double lowest_ = 0;
  std::size_t longest_ = 1;
  std::vector<std::string> names_;
  Normalizer normalizer_;
  std::optional<SentencePiece> model_;  // if there is no tokenizer.json
  EncoderTokens special_;
};

}  // namespace

std::unique_ptr<const PieceScheme> xlm_roberta_pieces(const TokenizerFiles& files, int vocab_size) {
  return std::make_unique<UnigramPieces>(files, vocab_size, roberta_token_names, "sentencepiece.bpe.model", true);
}

std::unique_ptr<const PieceScheme> albert_pieces(const TokenizerFiles& files, int vocab_size) {
  EncoderTokenNames names = bert_token_names;
  names.padding = "<pad>";
  names.unknown = "<unk>";
  return std::make_unique<UnigramPieces>(files, vocab_size, names, "spiece.model", false);
}

}  // namespace attnscope
