#include "data/tokenizer/normalizers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/unicode_form.h"
#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/letters.h"
#include "data/tokenizer/patterns.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

// The files leave out the padding of base64.
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
  // The replacement of the shortest entry that the text begins with.
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

Normalizer bert_normalizer(const Json& step) {
  const bool lowers = json_member(step, "lowercase") != false;
  const Json& accents = json_member(step, "strip_accents");
  const bool strips = accents.is_boolean() ? accents.get<bool>() : lowers;
  return [cleans = json_member(step, "clean_text") != false,
          separates_cjk = json_member(step, "handle_chinese_chars") != false, strips, lowers](const std::string& text) {
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
    if (strips) result = without(decomposed(result, false), U_GC_MN_MASK);
    return lowers ? lowercase(result) : result;
  };
}

Normalizer changed_in_turn(const Json& steps) {
  std::vector<Normalizer> all;
  for (const Json& step : steps) all.push_back(normalizer_of(step));
  return [all](std::string text) {
    for (const Normalizer& step : all) text = step(std::move(text));
    return text;
  };
}

Normalizer strip(const Json& step) {
  return [left = json_member(step, "strip_left") != false,
          right = json_member(step, "strip_right") != false](const std::string& text) {
    std::size_t begin = text.size(), end = 0, at = 0;
    for_each_letter(text, [&](UChar32 c, std::string_view letter) {
      if (!is_white(c)) begin = std::min(begin, at), end = at + letter.size();
      at += letter.size();
    });
    if (!left) begin = 0;
    if (!right) end = text.size();
    return begin < end ? text.substr(begin, end - begin) : std::string();
  };
}

}  // namespace

Normalizer normalizer_of(const Json& step) {
  const auto is = [&](const char* type) { return is_step(step, type); };
  if (step.is_null()) return [](std::string text) { return text; };
  if (is("Sequence")) return changed_in_turn(json_member(step, "normalizers"));
  if (is("BertNormalizer")) return bert_normalizer(step);
  if (is("NFC")) return [](const std::string& text) { return nfc(text); };
  if (is("NFKC")) return [](const std::string& text) { return nfc(decomposed(text, true)); };
  if (is("NFD") || is("NFKD"))
    return [compatible = is("NFKD")](const std::string& text) { return decomposed(text, compatible); };
  if (is("StripAccents")) return [](const std::string& text) { return without(text, U_GC_M_MASK); };
  if (is("Lowercase")) return [](const std::string& text) { return lowercase(text); };
  if (is("Strip")) return strip(step);
  if (is("Prepend") && json_member(step, "prepend").is_string())
    return [mark = json_member(step, "prepend").get<std::string>()](const std::string& text) {
      return text.empty() ? text : mark + text;
    };
  if (is("Replace") && json_member(step, "content").is_string())
    return [pattern = pattern_of(step, "normalizer"), content = json_member(step, "content").get<std::string>()](
               const std::string& text) { return replaced(*pattern, text, content); };
  if (is("Precompiled") && json_member(step, "precompiled_charsmap").is_string())
    return [map = CharacterMap(bytes_of_base64(json_member(step, "precompiled_charsmap").get<std::string>()))](
               const std::string& text) { return map.normalized(text); };
  refuse_json("normalizer", step,
              "null, Sequence, BertNormalizer, NFC, NFD, NFKC, NFKD, StripAccents, Lowercase, Strip, Prepend, Replace, "
              "Precompiled");
}

}  // namespace attnscope
