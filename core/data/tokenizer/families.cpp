#include "data/tokenizer/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/json_text.h"
#include "data/tokenizer/family_schemes.h"

namespace attnscope {
namespace {

constexpr TokenizerFile settings_file{"tokenizer_config.json", false};

constexpr std::array own_files = {TokenizerFile{"tokenizer.model"}, TokenizerFile{labels_file, false}};
constexpr std::array marian_files = {TokenizerFile{"source.spm"}, TokenizerFile{"target.spm"},
                                     TokenizerFile{"vocab.json"}, settings_file};
constexpr std::array t5_files = {TokenizerFile{"spiece.model"}, settings_file};
// The last file contains everything in the first two: there are folders with either.
constexpr std::array gpt2_files = {TokenizerFile{"vocab.json", false}, TokenizerFile{"merges.txt", false},
                                   settings_file, TokenizerFile{"tokenizer.json", false}};
constexpr std::array bert_files = {TokenizerFile{"vocab.txt", false}, settings_file,
                                   TokenizerFile{"tokenizer.json", false}};
constexpr std::array xlm_roberta_files = {TokenizerFile{"sentencepiece.bpe.model", false}, settings_file,
                                          TokenizerFile{"tokenizer.json", false}};
constexpr std::array albert_files = {TokenizerFile{"spiece.model", false}, settings_file,
                                     TokenizerFile{"tokenizer.json", false}};
constexpr std::array m2m_100_files = {TokenizerFile{"sentencepiece.bpe.model", false},
                                      TokenizerFile{"vocab.json", false}, settings_file,
                                      TokenizerFile{"tokenizer.json", false}};
constexpr std::array json_files = {TokenizerFile{"tokenizer.json"}, settings_file};
constexpr std::array llama_files = {TokenizerFile{"tokenizer.model"}, settings_file};

struct Family {
  std::string_view name;
  std::span<const TokenizerFile> files;
  // Null: attnscope's own, or with tokenizer.json.
  std::unique_ptr<const PieceScheme> (*make)(const TokenizerFiles& files, int vocab_size) = nullptr;
};

const std::array families = {
    Family{"sentencepiece", own_files},
    Family{"marian", marian_files, marian_pieces},
    Family{"t5", t5_files, t5_pieces},
    Family{"gpt2", gpt2_files},
    Family{"llama", llama_files, llama_pieces},
    Family{"bert", bert_files},
    Family{"xlm-roberta", xlm_roberta_files},
    Family{"albert", albert_files},
    Family{"m2m_100", m2m_100_files},
    Family{"json", json_files},
};

// One label per line.
std::vector<std::string> labels_of(std::string_view text) {
  std::vector<std::string> labels;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end == 0) throw TokenizerError(fmt::format("{}: a label must not be an empty line", labels_file));
    labels.emplace_back(text.substr(0, end));
    if (std::ranges::count(labels, labels.back()) > 1)
      throw TokenizerError(fmt::format("{}: \"{}\" appears twice", labels_file, labels.back()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return labels;
}

const Family& family_named(std::string_view name) {
  const auto* const found = std::ranges::find(families, name, &Family::name);
  if (found == families.end())
    throw TokenizerError(fmt::format("tokenizers of the family \"{}\" are not supported", name));
  return *found;
}

}  // namespace

std::span<const TokenizerFile> tokenizer_files(std::string_view family) {
  return family_named(family).files;
}

Tokenizer make_tokenizer(std::string_view family, TokenizerFiles files, const SpecialTokens& special,
                         std::int64_t vocab_size) {
  const Family& known = family_named(family);
  if (family == "sentencepiece") {
    const auto labels = files.find(std::string(labels_file));
    if (labels == files.end()) return Tokenizer(std::move(files.at("tokenizer.model")));
    return {std::move(files.at("tokenizer.model")), labels_of(labels->second)};
  }
  const int size = static_cast<int>(vocab_size);
  std::unique_ptr<const PieceScheme> scheme = known.make ? known.make(files, size) : json_pieces(files, size, family);
  if (const int end = scheme->end_id(); end != special.end && special.end >= 0) {
    throw TokenizerError(
        fmt::format("the tokenizer ends a text with token {}, the model with token {}", end, special.end));
  }
  SpecialTokens pieces = special;
  pieces.unknown = scheme->unknown_id();
  if (special.end < 0) {  // an encoder's config.json does not name these tokens
    pieces.end = scheme->end_id();
    pieces.start = scheme->opening_id();
  }
  return {std::move(scheme), pieces, std::move(files)};
}

TokenizerFiles files_for_family(std::string_view family, std::string_view own, const Tokenizer& tokenizer) {
  const bool has_both = family == "llama" && own == "gpt2";  // newer checkpoints have GPT-2's tokenizer
  if (family == own || has_both) return tokenizer.files();
  if (own != "sentencepiece" || family == "gpt2") {
    throw TokenizerError(
        fmt::format("tokenizer.family is \"{}\": a checkpoint of {} cannot contain such a tokenizer", own, family));
  }
  const std::string& model = tokenizer.files().at("tokenizer.model");
  nlohmann::json settings = {{"pad_token", tokenizer.token(tokenizer.special().padding)},
                             {"eos_token", tokenizer.token(tokenizer.special().end)},
                             {"unk_token", tokenizer.token(tokenizer.special().unknown)}};
  TokenizerFiles files;
  if (family == "marian") {
    nlohmann::json numbers;
    for (int id = 0; id < tokenizer.vocab_size(); ++id) numbers[tokenizer.token(id)] = id;
    settings["tokenizer_class"] = "MarianTokenizer";
    settings["separate_vocabs"] = false;
    files = {{"source.spm", model}, {"target.spm", model}, {"vocab.json", numbers.dump()}};
  } else if (family == "t5") {
    settings["tokenizer_class"] = "T5Tokenizer";
    settings["extra_ids"] = 0;
    files = {{"spiece.model", model}};
  } else {
    settings["tokenizer_class"] = "LlamaTokenizer";
    settings["bos_token"] = tokenizer.token(tokenizer.special().start);
    settings["legacy"] = true;
    settings["add_bos_token"] = false;
    settings["add_eos_token"] = false;
    files = {{"tokenizer.model", model}};
  }
  files.emplace("tokenizer_config.json", settings.dump(2));
  return files;
}

nlohmann::json json_file(const TokenizerFiles& files, const std::string& name) {
  const auto file = files.find(name);
  if (file == files.end()) return nlohmann::json::object();
  const auto refuse = [&](std::string_view why) { throw TokenizerError(fmt::format("{}: {}", name, why)); };
  nlohmann::json json;
  try {
    json = parse_json(file->second);
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  if (!json.is_object()) refuse("not a JSON object");
  return json;
}

const nlohmann::json& json_member(const nlohmann::json& json, const char* field) {
  static const nlohmann::json none;
  if (!json.is_object()) return none;
  const auto found = json.find(field);
  return found == json.end() ? none : *found;
}

bool is_step(const nlohmann::json& step, const char* type) {
  return json_member(step, "type") == type;
}

void refuse_json(const char* field, const nlohmann::json& value, const char* supported) {
  constexpr std::size_t shown = 300;
  const std::string text = value.dump();
  throw TokenizerError(fmt::format("tokenizer.json: \"{}\" is {}, supported: {}", field,
                                   text.size() > shown ? text.substr(0, shown) + "…" : text, supported));
}

bool flag(const nlohmann::json& settings, const char* field, bool absent) {
  const auto found = settings.find(field);
  if (found == settings.end() || found->is_null()) return absent;
  if (!found->is_boolean()) {
    throw TokenizerError(
        fmt::format("tokenizer_config.json: \"{}\" is {}, expected true or false", field, found->dump()));
  }
  return found->get<bool>();
}

std::string unused_piece(int id) {
  return fmt::format("<unused_{}>", id);
}

}  // namespace attnscope
