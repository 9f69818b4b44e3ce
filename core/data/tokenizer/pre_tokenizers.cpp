#include "data/tokenizer/pre_tokenizers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/letters.h"
#include "data/tokenizer/patterns.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr const char* gpt2_words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::string utf8(int c) {
  if (c < 0x80) return {static_cast<char>(c)};
  return {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
}

bool is_punctuation(UChar32 c) {
  return (c < 0x80 && c > ' ' && c != 0x7F && u_isalnum(c) == 0) || (U_GET_GC_MASK(c) & U_GC_P_MASK) != 0;
}

Words bert_words(const std::string& text, bool splits_punctuation) {
  Words words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for_each_letter(text, [&](UChar32 c, std::string_view bytes) {
    const bool stands_alone = splits_punctuation && is_punctuation(c);
    if (is_white(c) || stands_alone) end_word();
    if (stands_alone) words.emplace_back(bytes);
    if (!is_white(c) && !stands_alone) word += bytes;
  });
  end_word();
  return words;
}

// Isolated keeps the matches apart, Removed drops them, the others join them to a neighbor.
Words split(const std::vector<MatchedPart>& parts, std::string_view behavior, bool inverted) {
  Words words;
  bool joins = false;  // the next part to the last word
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool matched = parts[i].matched != inverted;
    if (behavior == "Removed" && matched) continue;
    const bool before = i > 0 && (parts[i - 1].matched != inverted);
    joins = (behavior == "MergedWithPrevious" && i > 0 && matched && !before) ||
            (behavior == "MergedWithNext" && i > 0 && !matched && before) ||
            (behavior == "Contiguous" && i > 0 && matched == before);
    if (joins)
      words.back() += parts[i].text;
    else
      words.emplace_back(parts[i].text);
  }
  return words;
}

PreTokenizer split_step(const Json& step) {
  constexpr std::array behaviors = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
  const Json& behavior = json_member(step, "behavior");
  if (!behavior.is_string() || std::ranges::find(behaviors, behavior.get<std::string>()) == behaviors.end())
    refuse_json("pre_tokenizer", step, "Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
  return [pattern = pattern_of(step, "pre_tokenizer"), behavior = behavior.get<std::string>(),
          inverted = json_member(step, "invert") == true](const std::string& text, bool) {
    return split(parts_of(*pattern, text), behavior, inverted);
  };
}

PreTokenizer at_matches(const char* expression) {
  return [pattern = compiled(expression)](const std::string& text, bool) {
    return split(parts_of(*pattern, text), "Isolated", false);
  };
}

PreTokenizer byte_level(const Json& step) {
  const Pattern pattern = json_member(step, "use_regex") == false ? nullptr : compiled(gpt2_words);
  return [pattern, spaced = json_member(step, "add_prefix_space") != false](std::string text, bool) {
    if (spaced && !text.starts_with(' ')) text.insert(0, " ");
    Words words = pattern ? split(parts_of(*pattern, text), "Isolated", false) : Words{text};
    for (std::string& word : words) {
      std::string letters;
      for (const char byte : word) letters += byte_letters()[static_cast<unsigned char>(byte)];
      word = letters;
    }
    return words;
  };
}

// White space becomes "▁", which begins every word.
PreTokenizer metaspace(const Json& step) {
  const Json &given = json_member(step, "replacement"), &scheme = json_member(step, "prepend_scheme");
  const std::string mark = given.is_string() && !given.get<std::string>().empty() ? given.get<std::string>() : "▁";
  const bool always = scheme.is_null() ? json_member(step, "add_prefix_space") != false : scheme == "always";
  return [mark, always, first_only = scheme == "first", cuts = json_member(step, "split") != false](std::string text,
                                                                                                    bool first) {
    for (std::size_t at = 0; (at = text.find(' ', at)) != std::string::npos; at += mark.size())
      text.replace(at, 1, mark);
    if (!text.empty() && !text.starts_with(mark) && (always || (first_only && first))) text.insert(0, mark);
    if (!cuts) return Words{text};
    Words words;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(mark, begin + 1), text.size());
      words.push_back(text.substr(begin, end - begin));
      begin = end;
    }
    return words;
  };
}

PreTokenizer cut_in_turn(const Json& steps) {
  std::vector<PreTokenizer> all;
  for (const Json& step : steps) all.push_back(pre_tokenizer_of(step));
  return [all](const std::string& text, bool first) {
    std::vector<std::pair<std::string, bool>> parts = {{text, first}};
    for (const PreTokenizer& step : all) {
      std::vector<std::pair<std::string, bool>> finer;
      for (const auto& [part, begins] : parts) {
        bool next = begins;
        for (std::string& word : step(part, begins)) finer.emplace_back(std::move(word), std::exchange(next, false));
      }
      parts = std::move(finer);
    }
    Words words;
    for (auto& [part, begins] : parts) words.push_back(std::move(part));
    return words;
  };
}

}  // namespace

const std::array<std::string, 256>& byte_letters() {
  static const std::array<std::string, 256> letters = [] {
    std::array<std::string, 256> made;
    int next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      made[static_cast<std::size_t>(byte)] = utf8(printable ? byte : next++);
    }
    return made;
  }();
  return letters;
}

PreTokenizer pre_tokenizer_of(const Json& step) {
  const auto is = [&](const char* type) { return is_step(step, type); };
  if (step.is_null()) return [](std::string text, bool) { return Words{std::move(text)}; };
  if (const Json& steps = json_member(step, "pretokenizers"); is("Sequence") && steps.is_array())
    return cut_in_turn(steps);
  if (is("BertPreTokenizer") || is("WhitespaceSplit"))
    return [punctuation = is("BertPreTokenizer")](const std::string& text, bool) {
      return bert_words(text, punctuation);
    };
  if (is("ByteLevel")) return byte_level(step);
  if (is("Metaspace")) return metaspace(step);
  if (is("Split")) return split_step(step);
  if (is("Digits")) return at_matches(json_member(step, "individual_digits") == true ? R"(\p{N})" : R"(\p{N}+)");
  refuse_json("pre_tokenizer", step,
              "null, Sequence, BertPreTokenizer, WhitespaceSplit, ByteLevel, Metaspace, Split, Digits");
}

}  // namespace attnscope
