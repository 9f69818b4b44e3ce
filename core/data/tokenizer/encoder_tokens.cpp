#include "data/tokenizer/encoder_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/letters.h"

namespace attnscope {
namespace {

std::string_view without_space_at_end(std::string_view text) {
  std::size_t end = 0, at = 0;
  for_each_letter(text, [&](UChar32 c, std::string_view bytes) {
    at += bytes.size();
    if (!is_white(c)) end = at;
  });
  return text.substr(0, end);
}

}  // namespace

bool EncoderTokens::is_special(int id) const {
  return std::ranges::find(added, id, &Added::id) != added.end();
}

std::vector<Token> EncoderTokens::encode(
    std::string_view text, const std::function<void(std::string_view part, std::vector<Token>& tokens)>& plain) const {
  std::vector<std::string> specials;
  for (const Added& token : added) specials.push_back(token.text);
  const std::vector<TextPart> parts = split_at_specials(text, specials, false);
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].special) {
      tokens.push_back({std::ranges::find(added, parts[i].text, &Added::text)->id, parts[i].text});
      continue;
    }
    const auto next = i + 1 < parts.size() ? std::ranges::find(added, parts[i + 1].text, &Added::text) : added.end();
    const bool cut = next != added.end() && next->takes_space;
    plain(cut ? without_space_at_end(parts[i].text) : std::string_view(parts[i].text), tokens);
  }
  return tokens;
}

EncoderTokens encoder_tokens(const TokenizerFiles& files, const EncoderTokenNames& names,
                             const std::function<int(const std::string&)>& id_of) {
  const nlohmann::json settings = json_file(files, "tokenizer_config.json");
  const nlohmann::json whole = json_file(files, "tokenizer.json");
  EncoderTokens tokens;
  const nlohmann::json& added = json_member(whole, "added_tokens");
  if (!added.is_null() && !added.is_array()) refuse_json("added_tokens", added, "a list");
  for (const nlohmann::json& token : added) {
    const nlohmann::json &text = json_member(token, "content"), &id = json_member(token, "id");
    if (!text.is_string() || text.get<std::string>().empty() || !id.is_number_unsigned() || id > 10'000'000)
      refuse_json("added_tokens", token, "a content and an id");
    tokens.added.push_back({text, id, json_member(token, "lstrip") == true});
  }
  const auto named = [&](const char* role, const char* otherwise) {
    const nlohmann::json& setting = json_member(settings, role);
    const nlohmann::json& content = setting.is_object() ? json_member(setting, "content") : setting;
    if (!content.is_null() && !content.is_string())
      throw TokenizerError(fmt::format("tokenizer_config.json: \"{}\" is {}, expected a string", role, setting.dump()));
    const std::string text = content.is_null() ? otherwise : content.get<std::string>();
    const auto known = std::ranges::find(tokens.added, text, &EncoderTokens::Added::text);
    if (known != tokens.added.end()) return known->id;
    const int id = id_of(text);
    if (id >= 0) tokens.added.push_back({text, id, json_member(setting, "lstrip") == true});
    return id;
  };
  tokens.opening = named("cls_token", names.opening);
  tokens.separator = named("sep_token", names.separator);
  tokens.mask = named("mask_token", names.mask);
  tokens.padding = named("pad_token", names.padding);
  tokens.unknown = named("unk_token", names.unknown);
  for (const auto& [id, name] :
       {std::pair(tokens.opening, names.opening), std::pair(tokens.separator, names.separator)})
    if (id < 0) throw TokenizerError(fmt::format("the vocabulary: there is no \"{}\"", name));
  return tokens;
}

}  // namespace attnscope
