// GPT-2's tokenizer, as in transformers (GPT2Tokenizer): words split by Unicode classes, bytes as printable letters,
// and repeated merges of the pair that is earliest in merges.txt (1508.07909). Its relatives (SmolLM, Qwen2, Llama 3)
// split words differently, as their tokenizer.json says.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unicode/regex.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/unicode_form.h"
#include "data/tokenizer/encoder_tokens.h"
#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/letters.h"

namespace attnscope {
namespace {

constexpr const char* end_of_text = "<|endoftext|>";

// ---- bytes as letters

bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

std::string utf8(int c) {
  if (c < 0x80) return {static_cast<char>(c)};
  return {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
}

// The 68 unprintable bytes become U+0100, U+0101 …: a space is U+0120, Ġ.
std::array<std::string, 256> byte_letters() {
  std::array<std::string, 256> letters;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte)
    letters[static_cast<std::size_t>(byte)] = utf8(stands_for_itself(byte) ? byte : next++);
  return letters;
}

// Replaces invalid UTF-8 with U+FFFD.
std::string valid_utf8(std::string_view bytes) {
  std::string text;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t begin = at;
    text += next_letter(bytes, at) < 0 ? std::string_view("\uFFFD") : bytes.substr(begin, at - begin);
  }
  return text;
}

// ---- words, before their bytes are merged

using Pattern = std::shared_ptr<const icu::RegexPattern>;

constexpr const char* gpt2_words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* digit = R"(\p{N})";

// Null if the expression is not valid. \s is Unicode's White_Space, as in the tokenizers library; ICU's lacks two
// characters.
Pattern compiled(std::string expression) {
  for (const auto& [theirs, own] :
       {std::pair(R"(\s)", R"(\p{White_Space})"), std::pair(R"(\S)", R"(\P{White_Space})")}) {
    for (std::size_t at = 0; (at = expression.find(theirs, at)) != std::string::npos;
         at += std::string_view(own).size())
      expression.replace(at, 2, own);
  }
  UErrorCode error = U_ZERO_ERROR;
  Pattern pattern(icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(expression), 0, error));
  return U_SUCCESS(error) ? pattern : nullptr;
}

Pattern pattern_of(const nlohmann::json& split) {
  const nlohmann::json& regex = json_member(json_member(split, "pattern"), "Regex");
  if (!regex.is_string() || json_member(split, "behavior") != "Isolated" || json_member(split, "invert") == true)
    refuse_json("pre_tokenizer", split, "Split with a Regex, Isolated");
  const Pattern pattern = compiled(regex.get<std::string>());
  if (!pattern) refuse_json("pre_tokenizer", split, "a valid regular expression");
  return pattern;
}

// Each pattern splits what the one before leaves.
std::vector<Pattern> word_patterns(const nlohmann::json& file) {
  const nlohmann::json& cut = json_member(file, "pre_tokenizer");
  constexpr const char* supported =
      "ByteLevel; Digits with individual_digits followed by ByteLevel; Split followed by ByteLevel without use_regex";
  const auto is_byte_level = [](const nlohmann::json& step, bool regex) {
    return is_step(step, "ByteLevel") && (json_member(step, "use_regex") != false) == regex;
  };
  if (cut.is_null() || is_byte_level(cut, true)) return {compiled(gpt2_words)};
  const nlohmann::json& steps = json_member(cut, "pretokenizers");
  if (!is_step(cut, "Sequence") || !steps.is_array() || steps.empty() || steps.size() > 2)
    refuse_json("pre_tokenizer", cut, supported);
  if (is_step(steps.front(), "Split") && is_byte_level(steps.back(), false)) return {pattern_of(steps.front())};
  if (!is_byte_level(steps.back(), true)) refuse_json("pre_tokenizer", cut, supported);
  if (steps.size() == 1) return {compiled(gpt2_words)};
  if (!is_step(steps.front(), "Digits") || json_member(steps.front(), "individual_digits") != true)
    refuse_json("pre_tokenizer", cut, supported);
  return {compiled(digit), compiled(gpt2_words)};
}

// The token that the post-processor puts in front of a text; empty: none.
std::string opening_token(const nlohmann::json& file) {
  const nlohmann::json& added = json_member(file, "post_processor");
  std::string token;
  for (const nlohmann::json& step :
       is_step(added, "Sequence") ? json_member(added, "processors") : nlohmann::json::array({added})) {
    if (step.is_null() || is_step(step, "ByteLevel") || is_step(step, "RobertaProcessing")) continue;
    const nlohmann::json& parts = json_member(step, "single");
    const bool known = is_step(step, "TemplateProcessing") && parts.is_array() && parts.size() == 2 &&
                       json_member(json_member(parts[0], "SpecialToken"), "id").is_string() &&
                       parts[1].contains("Sequence");
    if (!known) refuse_json("post_processor", added, "null, ByteLevel, a template of one special token and the text");
    token = json_member(json_member(parts[0], "SpecialToken"), "id").get<std::string>();
  }
  return token;
}

// Returns true if texts are brought to Unicode's form NFC first.
bool composes(const nlohmann::json& file) {
  const nlohmann::json& changed = json_member(file, "normalizer");
  if (!changed.is_null() && !is_step(changed, "NFC")) refuse_json("normalizer", changed, "null, NFC");
  return !changed.is_null();
}

void check_supported(const nlohmann::json& file) {
  if (file.empty()) return;
  const nlohmann::json& model = json_member(file, "model");
  // Files from before 2021 lack it.
  if (const nlohmann::json& type = json_member(model, "type"); !type.is_null() && type != "BPE")
    refuse_json("model.type", type, "BPE");
  if (const nlohmann::json& bytes = json_member(model, "byte_fallback"); bytes == true)
    refuse_json("model.byte_fallback", bytes, "false; such a tokenizer also comes as tokenizer.model");
}

// The matches of the pattern, and the texts between them.
std::vector<std::string_view> matches_of(const icu::RegexPattern& pattern, std::string_view text) {
  UErrorCode error = U_ZERO_ERROR;
  UText* const utf8 = utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &error);
  const std::unique_ptr<UText, UText* (*)(UText*)> closes(utf8, utext_close);
  const std::unique_ptr<icu::RegexMatcher> matcher(pattern.matcher(error));
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  const auto add_until = [&](std::size_t end) {
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end;
  };
  if (U_SUCCESS(error)) matcher->reset(utf8);
  while (U_SUCCESS(error) && matcher->find(error) && U_SUCCESS(error)) {
    add_until(static_cast<std::size_t>(matcher->start64(error)));
    add_until(static_cast<std::size_t>(matcher->end64(error)));
  }
  add_until(text.size());
  return words;
}

// RoBERTa's, which has a token to mask others.
bool is_encoder(const nlohmann::json& settings) {
  return !json_member(settings, "mask_token").is_null() ||
         json_member(settings, "tokenizer_class").dump().find("Roberta") != std::string::npos;
}

class Gpt2Pieces final : public PieceScheme {
 public:
  Gpt2Pieces(const TokenizerFiles& files, int vocab_size) : letters_(byte_letters()) {
    const nlohmann::json settings = json_file(files, "tokenizer_config.json");
    const nlohmann::json whole = json_file(files, "tokenizer.json");
    check_supported(whole);
    space_in_front_ = flag(settings, "add_prefix_space", false);
    opens_ = flag(settings, "add_bos_token", false);
    patterns_ = word_patterns(whole);
    composes_ = composes(whole);
    ignores_merges_ = json_member(json_member(whole, "model"), "ignore_merges") == true;
    for (int id = 0; id < vocab_size; ++id) names_.push_back(unused_piece(id));
    const bool own = files.contains("vocab.json");
    if (!own && whole.empty()) throw TokenizerError("there is neither a vocab.json nor a tokenizer.json");
    read_vocabulary(own ? json_file(files, "vocab.json") : json_member(json_member(whole, "model"), "vocab"),
                    own ? "vocab.json" : "tokenizer.json");
    read_specials(json_member(whole, "added_tokens"));
    read_end(json_member(settings, "eos_token"));
    if (const auto merges = files.find("merges.txt"); merges != files.end()) {
      read_merges(merges->second);
    } else if (!whole.empty()) {
      read_merge_list(json_member(json_member(whole, "model"), "merges"));
    } else {
      throw TokenizerError("there is neither a merges.txt nor a tokenizer.json");
    }
    if (const std::string opening = opening_token(whole); !opening.empty()) {
      if (!ids_.contains(opening)) throw TokenizerError(fmt::format("the vocabulary: there is no \"{}\"", opening));
      opening_ = ids_.at(opening);
    }
    if (is_encoder(settings)) {
      special_ = encoder_tokens(files, roberta_token_names, [&](const std::string& piece) {
        const auto found = ids_.find(piece);
        return found == ids_.end() ? -1 : found->second;
      });
      opening_ = special_.opening;
      end_ = special_.separator;
      for (const auto& token : special_.added) silent_.insert(token.id);
    } else {
      for (const std::string& piece : added_)
        if (ids_.contains(piece)) special_.added.push_back({piece, ids_.at(piece)});
    }
    for (std::size_t byte = 0; byte < letters_.size(); ++byte) bytes_[letters_[byte]] = static_cast<char>(byte);
  }

  std::vector<Token> encode(std::string_view given, Side) const override {
    const std::string text = (space_in_front_ ? " " : "") + std::string(given);
    return special_.encode(text, [&](std::string_view part, std::vector<Token>& tokens) {
      const std::string normal = composes_ ? nfc(part) : std::string(part);
      for (const std::string_view word : split_words(normal))
        for (const std::string& piece : merged(word)) tokens.push_back(token_of(ids_.at(piece)));
    });
  }

  std::string decode(std::span<const int> ids) const override {
    std::string bytes;
    for (const int id : ids) {
      const std::string& piece = names_[static_cast<std::size_t>(id)];
      if (spoken_.contains(id)) bytes += piece;
      if (!silent_.contains(id) && !spoken_.contains(id)) add_bytes(piece, bytes);
    }
    return valid_utf8(bytes);
  }

  int vocab_size() const override { return static_cast<int>(names_.size()); }
  std::string piece(int id) const override { return token_of(id).text; }
  std::string raw_piece(int id) const override { return token_of(id).raw; }
  int unknown_id() const override { return -1; }  // every byte has a piece
  int mask_id() const override { return special_.mask; }
  int num_separators() const override { return 2; }  // RoBERTa: </s></s>
  int end_id() const override { return end_; }
  int opening_id() const override { return opens_ ? end_id() : opening_; }

 private:
  std::vector<std::string_view> split_words(std::string_view text) const {
    std::vector<std::string_view> words{text};
    for (const Pattern& pattern : patterns_) {
      std::vector<std::string_view> parts;
      for (const std::string_view word : words)
        for (const std::string_view part : matches_of(*pattern, word)) parts.push_back(part);
      words = std::move(parts);
    }
    return words;
  }

  void add_piece(const std::string& piece, const nlohmann::json& id, const char* file) {
    if (!id.is_number_integer() || id < 0 || id >= names_.size()) {
      throw TokenizerError(
          fmt::format("{}: \"{}\" has the id {}, allowed: 0 to {}", file, piece, id.dump(), names_.size() - 1));
    }
    ids_.emplace(piece, id.get<int>());
    names_[id.get<std::size_t>()] = piece;
  }

  void read_vocabulary(const nlohmann::json& vocabulary, const char* file) {
    if (!vocabulary.is_object()) throw TokenizerError(fmt::format("{}: there is no vocabulary", file));
    for (const auto& [piece, id] : vocabulary.items()) add_piece(piece, id, file);
    for (const std::string& letter : letters_)
      if (!ids_.contains(letter)) throw TokenizerError(fmt::format("{}: there is no \"{}\"", file, letter));
  }

  // Reads the pieces outside the vocabulary, which are searched in a text before it is split.
  void read_specials(const nlohmann::json& added) {
    if (!added.is_null() && !added.is_array()) refuse_json("added_tokens", added, "a list");
    for (const nlohmann::json& token : added) {
      const nlohmann::json &piece = json_member(token, "content"), &id = json_member(token, "id");
      if (!piece.is_string() || piece.get<std::string>().empty())
        refuse_json("added_tokens", token, "a content and an id");
      add_piece(piece.get<std::string>(), id, "tokenizer.json");
      added_.push_back(piece.get<std::string>());
      (json_member(token, "special") == false ? spoken_ : silent_).insert(id.get<int>());
    }
    if (added.is_null()) added_.push_back(end_of_text);
  }

  // A string, or an object with it as its content.
  void read_end(const nlohmann::json& named) {
    const nlohmann::json& content = named.is_object() ? json_member(named, "content") : named;
    if (!content.is_null() && !content.is_string()) {
      throw TokenizerError(fmt::format("tokenizer_config.json: \"eos_token\" is {}, expected a string", named.dump()));
    }
    const std::string end = content.is_null() ? end_of_text : content.get<std::string>();
    const auto found = ids_.find(end);
    if (found == ids_.end()) throw TokenizerError(fmt::format("the vocabulary: there is no \"{}\"", end));
    end_ = found->second;
    silent_.insert(end_);
  }

  // "left right"
  void add_merge(const std::string& pair, const std::string& where) {
    const std::size_t space = pair.find(' ');
    const std::string joined = space == std::string::npos ? "" : pair.substr(0, space).append(pair.substr(space + 1));
    if (!ids_.contains(joined))
      throw TokenizerError(fmt::format("{}: \"{}\" gives no token of the vocabulary", where, pair));
    ranks_.emplace(pair, static_cast<int>(ranks_.size()));
  }

  void read_merges(std::string_view rest) {
    for (int line_number = 1; !rest.empty(); ++line_number) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.empty() || line.starts_with("#version")) continue;
      add_merge(std::string(line), fmt::format("merges.txt, line {}", line_number));
    }
  }

  // Strings, or pairs of strings.
  void read_merge_list(const nlohmann::json& merges) {
    if (!merges.is_array()) refuse_json("model.merges", merges, "a list");
    for (const nlohmann::json& merge : merges) {
      const bool pair = merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
      if (!pair && !merge.is_string()) refuse_json("model.merges", merge, "strings, or pairs of strings");
      add_merge(pair ? merge[0].get<std::string>() + ' ' + merge[1].get<std::string>() : merge.get<std::string>(),
                "tokenizer.json, model.merges");
    }
  }

  int rank(const std::string& left, const std::string& right) const {
    const auto found = ranks_.find(left + ' ' + right);
    return found == ranks_.end() ? std::numeric_limits<int>::max() : found->second;
  }

  std::vector<std::string> merged(std::string_view word) const {
    std::vector<std::string> pieces;
    for (const char c : word) pieces.push_back(letters_[static_cast<unsigned char>(c)]);
    if (ignores_merges_)
      if (std::string whole = fmt::format("{}", fmt::join(pieces, "")); ids_.contains(whole)) return {std::move(whole)};
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

  // "Ã©" becomes "é" and "Ġ" "▁"; a part of a character, or a control character, becomes "<0xC3>", as in Llama's.
  Token token_of(int id) const {
    const std::string& raw = names_[static_cast<std::size_t>(id)];
    std::string bytes, text;
    add_bytes(raw, bytes);
    if (bytes.empty() || silent_.contains(id) || spoken_.contains(id)) return {id, raw};
    for_each_letter(bytes, [&](UChar32 c, std::string_view letter) {
      if (c >= 0 && !u_iscntrl(c)) {
        text += c == ' ' ? word_mark : letter;
      } else {
        for (const char byte : letter) text += fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte));
      }
    });
    return {id, text, false, text == raw ? "" : raw};
  }

  // Appends nothing for an unused piece.
  void add_bytes(const std::string& piece, std::string& bytes) const {
    std::string own;
    std::size_t at = 0;
    while (at < piece.size()) {
      const std::size_t begin = at;
      next_letter(piece, at);
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
  std::unordered_map<std::string, int> ranks_;  // "left right": its line number
  std::vector<std::string> added_;
  EncoderTokens special_;
  std::set<int> silent_, spoken_;  // of the added ones: those without text, and those that decode to their own text
  int end_ = -1, opening_ = -1;
  std::vector<Pattern> patterns_;
  bool space_in_front_ = false, opens_ = false, composes_ = false, ignores_merges_ = false;
};

}  // namespace

std::unique_ptr<const PieceScheme> gpt2_pieces(const TokenizerFiles& files, int vocab_size) {
  return std::make_unique<Gpt2Pieces>(files, vocab_size);
}

}  // namespace attnscope
