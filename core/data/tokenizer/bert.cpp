// BERT's tokenizer, as in transformers (BertTokenizerFast): text is cleaned, lowercased and split into words, and each
// word into the longest pieces of the vocabulary (WordPiece, 1609.08144 §4.1).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "data/tokenizer/encoder_tokens.h"
#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/letters.h"

namespace attnscope {
namespace {

constexpr std::size_t longest_word = 100;  // letters; longer words are unknown

bool is_cjk(UChar32 c) {
  constexpr std::array<std::pair<UChar32, UChar32>, 8> blocks = {{{0x4E00, 0x9FFF},
                                                                  {0x3400, 0x4DBF},
                                                                  {0x20000, 0x2A6DF},
                                                                  {0x2A700, 0x2B73F},
                                                                  {0x2B740, 0x2B81F},
                                                                  {0x2B820, 0x2CEAF},
                                                                  {0xF900, 0xFAFF},
                                                                  {0x2F800, 0x2FA1F}}};
  return std::ranges::any_of(blocks, [&](const auto& block) { return block.first <= c && c <= block.second; });
}

bool is_punctuation(UChar32 c) {
  return (c < 0x80 && c > ' ' && c != 0x7F && u_isalnum(c) == 0) || (U_GET_GC_MASK(c) & U_GC_P_MASK) != 0;
}

// BertNormalizer
struct Cleaning {
  bool cleans = true, separates_cjk = true, strips_accents = true, lowers = true;

  std::string clean(std::string_view text) const {
    std::string result;
    for_each_letter(text, [&](UChar32 c, std::string_view bytes) {
      const bool drops =
          c <= 0 || c == 0xFFFD || (U_GET_GC_MASK(c) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0;
      if (cleans && (c == '\t' || c == '\n' || c == '\r' || (is_white(c) && u_charType(c) != U_CONTROL_CHAR)))
        result += ' ';
      else if (separates_cjk && is_cjk(c))
        result.append(" ").append(bytes).append(" ");
      else if (!cleans || !drops)
        result += bytes;
    });
    if (strips_accents) result = without(decomposed(result, false), U_GC_MN_MASK);
    return lowers ? lowercase(result) : result;
  }
};

Cleaning cleaning(const nlohmann::json& whole, const nlohmann::json& settings) {
  if (whole.empty()) {
    const bool lowers = flag(settings, "do_lower_case", true);
    return {true, flag(settings, "tokenize_chinese_chars", true), flag(settings, "strip_accents", lowers), lowers};
  }
  const nlohmann::json& steps = json_member(whole, "normalizer");
  if (!is_step(steps, "BertNormalizer")) refuse_json("normalizer", steps, "BertNormalizer");
  if (!is_step(json_member(whole, "pre_tokenizer"), "BertPreTokenizer"))
    refuse_json("pre_tokenizer", json_member(whole, "pre_tokenizer"), "BertPreTokenizer");
  const bool lowers = json_member(steps, "lowercase") != false;
  const nlohmann::json& accents = json_member(steps, "strip_accents");
  return {json_member(steps, "clean_text") != false, json_member(steps, "handle_chinese_chars") != false,
          accents.is_boolean() ? accents.get<bool>() : lowers, lowers};
}

class WordPieces final : public PieceScheme {
 public:
  WordPieces(const TokenizerFiles& files, int vocab_size) {
    const nlohmann::json whole = json_file(files, "tokenizer.json");
    for (int id = 0; id < vocab_size; ++id) names_.push_back(unused_piece(id));
    if (const auto lines = files.find("vocab.txt"); lines != files.end()) {
      read_lines(lines->second);
    } else if (!whole.empty()) {
      read_vocabulary(json_member(whole, "model"));
    } else {
      throw TokenizerError("there is neither a vocab.txt nor a tokenizer.json");
    }
    cleaning_ = cleaning(whole, json_file(files, "tokenizer_config.json"));
    special_ = encoder_tokens(files, bert_token_names, [&](const std::string& piece) { return id_of(piece); });
    for (const auto& token : special_.added) add(token.text, token.id, "tokenizer.json");
    if (special_.unknown < 0) throw TokenizerError("the vocabulary: there is no \"[UNK]\"");
  }

  std::vector<Token> encode(std::string_view text, Side) const override {
    return special_.encode(text, [&](std::string_view part, std::vector<Token>& tokens) {
      std::string word;
      const auto end_word = [&] {
        if (!word.empty()) add_pieces(word, tokens);
        word.clear();
      };
      for_each_letter(cleaning_.clean(part), [&](UChar32 c, std::string_view bytes) {
        if (is_white(c) || is_punctuation(c)) end_word();
        if (is_punctuation(c)) add_pieces(bytes, tokens);
        if (!is_white(c) && !is_punctuation(c)) word += bytes;
      });
      end_word();
    });
  }

  std::string decode(std::span<const int> ids) const override {
    std::string text;
    for (const int id : ids) {
      const std::string& name = names_[static_cast<std::size_t>(id)];
      if (special_.is_special(id) && id != special_.unknown) continue;
      const bool continues = !text.empty() && name.starts_with("##");
      std::string next = continues ? name.substr(2) : text.empty() ? name : " " + name;
      constexpr std::array<std::pair<std::string_view, std::string_view>, 5> joined = {
          {{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" 's", "'s"}}};
      for (const auto& [apart, together] : joined)
        if (next == apart) next = together;
      text += next;
    }
    return text;
  }

  int vocab_size() const override { return static_cast<int>(names_.size()); }
  std::string piece(int id) const override { return names_[static_cast<std::size_t>(id)]; }
  int unknown_id() const override { return special_.unknown; }
  int end_id() const override { return special_.separator; }
  int opening_id() const override { return special_.opening; }
  int mask_id() const override { return special_.mask; }

 private:
  int id_of(const std::string& piece) const {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? -1 : found->second;
  }

  void add(const std::string& piece, int id, const char* file) {
    if (id < 0 || id >= vocab_size()) {
      throw TokenizerError(
          fmt::format("{}: \"{}\" has the id {}, allowed: 0 to {}", file, piece, id, vocab_size() - 1));
    }
    ids_[piece] = id;
    names_[static_cast<std::size_t>(id)] = piece;
  }

  // One piece per line; its number is the id.
  void read_lines(std::string_view rest) {
    for (int id = 0; !rest.empty(); ++id) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.ends_with('\r')) line.remove_suffix(1);
      add(std::string(line), id, "vocab.txt");
    }
  }

  void read_vocabulary(const nlohmann::json& model) {
    if (const nlohmann::json& type = json_member(model, "type"); !type.is_null() && type != "WordPiece")
      refuse_json("model.type", type, "WordPiece");
    const nlohmann::json& vocabulary = json_member(model, "vocab");
    if (!vocabulary.is_object()) throw TokenizerError("tokenizer.json: there is no vocabulary");
    for (const auto& [piece, id] : vocabulary.items()) {
      if (!id.is_number_unsigned() || id > 10'000'000) refuse_json("model.vocab", id, "a token id");
      add(piece, id, "tokenizer.json");
    }
  }

  // The longest pieces from left to right; the whole word is unknown if one is missing.
  void add_pieces(std::string_view word, std::vector<Token>& tokens) const {
    std::vector<std::size_t> ends;  // of its letters
    for_each_letter(word, [&](UChar32, std::string_view bytes) {
      ends.push_back((ends.empty() ? 0 : ends.back()) + bytes.size());
    });
    std::vector<Token> pieces;
    std::size_t begin = 0, first = 0;
    while (begin < word.size() && ends.size() <= longest_word) {
      std::size_t last = ends.size();
      std::string piece;
      while (last > first) {
        piece = (begin > 0 ? "##" : "") + std::string(word.substr(begin, ends[last - 1] - begin));
        if (ids_.contains(piece)) break;
        --last;
      }
      if (last == first) break;
      pieces.push_back({ids_.at(piece), piece});
      begin = ends[last - 1];
      first = last;
    }
    if (begin < word.size()) pieces = {{special_.unknown, std::string(word)}};
    tokens.insert(tokens.end(), pieces.begin(), pieces.end());
  }

  std::unordered_map<std::string, int> ids_;
  std::vector<std::string> names_;
  EncoderTokens special_;
  Cleaning cleaning_;
};

}  // namespace

std::unique_ptr<const PieceScheme> bert_pieces(const TokenizerFiles& files, int vocab_size) {
  return std::make_unique<WordPieces>(files, vocab_size);
}

}  // namespace attnscope
