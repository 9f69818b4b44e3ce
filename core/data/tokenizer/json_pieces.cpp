// The tokenizers that tokenizer.json describes (huggingface/tokenizers): added tokens, a normalizer, a pre-tokenizer, a
// model, what stands around a text, and a decoder. Older files (vocab.txt, vocab.json with merges.txt, SentencePiece's
// models) are described in the same way first.
#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/letters.h"
#include "data/tokenizer/normalizers.h"
#include "data/tokenizer/patterns.h"
#include "data/tokenizer/pre_tokenizers.h"
#include "data/tokenizer/sentence_piece.h"
#include "data/tokenizer/word_models.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

constexpr const char* end_of_text = "<|endoftext|>";

// ---- older files as a tokenizer.json

struct Description {
  Json json;
  const char* vocabulary_file = "tokenizer.json";
  std::string sentence_piece = {};  // its model; empty: that of the description
};

// The name of a special token in tokenizer_config.json: a text, or an object with it as its content.
std::string named(const Json& settings, const char* role, const char* absent) {
  const Json& setting = json_member(settings, role);
  const Json& content = setting.is_object() ? json_member(setting, "content") : setting;
  if (content.is_null()) return absent;
  if (!content.is_string())
    throw TokenizerError(fmt::format("tokenizer_config.json: \"{}\" is {}, expected a string", role, setting.dump()));
  return content.get<std::string>();
}

// Around a text; pairs are separated by one or, in RoBERTa, two.
Json around(const char* type, const std::string& opening, const std::string& separator, const Json& vocabulary) {
  const auto pair = [&](const std::string& name) {
    if (!vocabulary.contains(name)) throw TokenizerError(fmt::format("the vocabulary: there is no \"{}\"", name));
    return Json::array({name, vocabulary.at(name)});
  };
  return {{"type", type}, {"cls", pair(opening)}, {"sep", pair(separator)}};
}

// The special tokens that the settings name, if the vocabulary has them.
Json added_tokens(const Json& settings, const Json& vocabulary, const Texts& usual, bool mask_takes_space) {
  std::set<std::string> names(usual.begin(), usual.end());
  for (const char* role : {"bos_token", "eos_token", "unk_token", "sep_token", "cls_token", "pad_token", "mask_token"})
    names.insert(named(settings, role, ""));
  const std::string mask = named(settings, "mask_token", usual.empty() ? "" : usual.back().c_str());
  Json added = Json::array();
  for (const std::string& name : names)
    if (!name.empty() && vocabulary.contains(name))
      added.push_back({{"id", vocabulary.at(name)},
                       {"content", name},
                       {"special", true},
                       {"normalized", false},
                       {"lstrip", name == mask && mask_takes_space}});
  return added;
}

template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(std::string(line));
  }
}

// vocab.txt of BERT: a piece per line.
Description bert_description(const TokenizerFiles& files, const Json& settings) {
  const auto lines = files.find("vocab.txt");
  if (lines == files.end()) throw TokenizerError("there is neither a vocab.txt nor a tokenizer.json");
  Json vocabulary = Json::object();
  int id = 0;
  for_each_line(lines->second, [&](const std::string& piece) { vocabulary[piece] = id++; });
  const bool lowers = flag(settings, "do_lower_case", true);
  const std::string unknown = named(settings, "unk_token", "[UNK]");
  return {{{"added_tokens",
            added_tokens(settings, vocabulary, {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}, false)},
           {"normalizer",
            {{"type", "BertNormalizer"},
             {"handle_chinese_chars", flag(settings, "tokenize_chinese_chars", true)},
             {"strip_accents", flag(settings, "strip_accents", lowers)},
             {"lowercase", lowers}}},
           {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
           {"post_processor", around("BertProcessing", named(settings, "cls_token", "[CLS]"),
                                     named(settings, "sep_token", "[SEP]"), vocabulary)},
           {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}}},
           {"model", {{"type", "WordPiece"}, {"unk_token", unknown}, {"vocab", vocabulary}}}},
          "vocab.txt"};
}

// vocab.json and merges.txt of GPT-2, RoBERTa, BART and OPT.
Description gpt2_description(const TokenizerFiles& files, const Json& settings) {
  const auto merges = files.find("merges.txt");
  if (!files.contains("vocab.json")) throw TokenizerError("there is neither a vocab.json nor a tokenizer.json");
  if (merges == files.end()) throw TokenizerError("there is neither a merges.txt nor a tokenizer.json");
  const Json vocabulary = json_file(files, "vocab.json");
  Json pairs = Json::array();
  for_each_line(merges->second, [&](const std::string& line) {
    if (!line.empty() && !line.starts_with("#version")) pairs.push_back(line);
  });
  const std::string kind = json_member(settings, "tokenizer_class").dump();
  const bool surrounded = !json_member(settings, "mask_token").is_null() || kind.find("Roberta") != std::string::npos ||
                          kind.find("Bart") != std::string::npos;
  const Texts usual = surrounded ? Texts{"<s>", "</s>", "<pad>", "<unk>", "<mask>"} : Texts{end_of_text};
  Json post;
  if (surrounded) {
    post = around("RobertaProcessing", named(settings, "cls_token", "<s>"), named(settings, "sep_token", "</s>"),
                  vocabulary);
  } else if (flag(settings, "add_bos_token", false)) {
    const std::string opening = named(settings, "bos_token", end_of_text);
    if (!vocabulary.contains(opening)) throw TokenizerError(fmt::format("vocab.json: there is no \"{}\"", opening));
    post = {{"type", "TemplateProcessing"},
            {"single", {{{"SpecialToken", {{"id", opening}}}}, {{"Sequence", {{"id", "A"}}}}}},
            {"special_tokens", {{opening, {{"ids", {vocabulary.at(opening)}}}}}}};
  }
  return {{{"added_tokens", added_tokens(settings, vocabulary, usual, surrounded)},
           {"pre_tokenizer",
            {{"type", "ByteLevel"}, {"add_prefix_space", flag(settings, "add_prefix_space", false)}}},
           {"post_processor", post},
           {"decoder", {{"type", "ByteLevel"}}},
           {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", pairs}}}},
          "vocab.json"};
}

Json list_of(const SentencePiece& model, int first, int offset) {
  Json vocabulary = Json::object();
  for (int id = first; id < model.vocab_size(); ++id) vocabulary[model.piece(id)] = id + offset;
  return vocabulary;
}

const std::string& sentence_piece_file(const TokenizerFiles& files, const char* name) {
  const auto model = files.find(name);
  if (model == files.end()) throw TokenizerError(fmt::format("there is neither a tokenizer.json nor a {}", name));
  return model->second;
}

// fairseq numbers the special tokens first: <s>, <pad>, </s>, <unk>, and <mask> last.
Description xlm_roberta_description(const TokenizerFiles& files, const Json& settings) {
  const std::string& bytes = sentence_piece_file(files, "sentencepiece.bpe.model");
  const SentencePiece model(bytes);
  Json vocabulary = list_of(model, 3, 1);
  vocabulary.update({{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}, {"<mask>", model.vocab_size() + 1}});
  return {{{"added_tokens", added_tokens(settings, vocabulary, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"}, true)},
           {"post_processor", around("RobertaProcessing", "<s>", "</s>", vocabulary)},
           {"decoder", {{"type", "Metaspace"}}},
           {"model", {{"unk_token", "<unk>"}, {"vocab", vocabulary}}}},
          "sentencepiece.bpe.model", bytes};
}

Description albert_description(const TokenizerFiles& files, const Json& settings) {
  const std::string& bytes = sentence_piece_file(files, "spiece.model");
  const Json vocabulary = list_of(SentencePiece(bytes), 0, 0);
  Json steps = Json::array();
  for (const char* quotes : {"``", "''"})
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", quotes}}}, {"content", "\""}});
  if (!flag(settings, "keep_accents", false))
    for (const char* type : {"NFKD", "StripAccents"}) steps.push_back({{"type", type}});
  if (flag(settings, "do_lower_case", true)) steps.push_back({{"type", "Lowercase"}});
  return {{{"added_tokens", added_tokens(settings, vocabulary, {"<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"}, true)},
           {"normalizer", {{"type", "Sequence"}, {"normalizers", steps}}},
           {"post_processor", around("BertProcessing", "[CLS]", "[SEP]", vocabulary)},
           {"decoder", {{"type", "Metaspace"}}},
           {"model", {{"unk_token", "<unk>"}, {"vocab", vocabulary}}}},
          "spiece.model", bytes};
}

// M2M-100: SentencePiece splits, vocab.json numbers the pieces, and the languages follow. The source's language is in
// front of a text.
Description m2m_100_description(const TokenizerFiles& files, const Json& settings) {
  const std::string& bytes = sentence_piece_file(files, "sentencepiece.bpe.model");
  if (!files.contains("vocab.json")) throw TokenizerError("there is neither a tokenizer.json nor a vocab.json");
  Json vocabulary = json_file(files, "vocab.json");
  Json added = added_tokens(settings, vocabulary, {"<s>", "<pad>", "</s>", "<unk>"}, false);
  const std::size_t first = vocabulary.size();
  const Json languages = json_member(settings, "additional_special_tokens");
  for (std::size_t i = 0; languages.is_array() && i < languages.size(); ++i) {
    if (!languages[i].is_string()) continue;
    const std::string language = languages[i];
    vocabulary[language] = first + i;
    added.push_back({{"id", first + i}, {"content", language}, {"special", true}});
  }
  for (Json& token : added) token["lstrip"] = token["rstrip"] = true;
  const std::string source = "__" + named(settings, "src_lang", "en") + "__";
  return {{{"added_tokens", added},
           {"post_processor", around("RobertaProcessing", source, "</s>", vocabulary)},
           {"decoder", {{"type", "Metaspace"}}},
           {"model", {{"unk_token", "<unk>"}, {"vocab", vocabulary}}}},
          "vocab.json", bytes};
}

Description description_of(const TokenizerFiles& files, std::string_view family) {
  const Json settings = json_file(files, "tokenizer_config.json");
  if (files.contains("tokenizer.json")) return {json_file(files, "tokenizer.json"), "tokenizer.json"};
  if (family == "bert") return bert_description(files, settings);
  if (family == "gpt2") return gpt2_description(files, settings);
  if (family == "xlm-roberta") return xlm_roberta_description(files, settings);
  if (family == "albert") return albert_description(files, settings);
  if (family == "m2m_100") return m2m_100_description(files, settings);
  throw TokenizerError("there is no tokenizer.json");
}

// ---- decoders: from the texts of the tokens to one text

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

bool is_valid_utf8(std::string_view bytes) {
  bool valid = true;
  for_each_letter(bytes, [&](UChar32 c, std::string_view) { valid &= c >= 0; });
  return valid;
}

std::string with_text(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// The bytes for which the letters of a byte-level token stand; nullopt: it has other letters.
std::optional<std::string> bytes_of(const std::string& token) {
  static const std::unordered_map<std::string, char> bytes = [] {
    std::unordered_map<std::string, char> made;
    for (std::size_t byte = 0; byte < 256; ++byte) made[byte_letters()[byte]] = static_cast<char>(byte);
    return made;
  }();
  std::string own;
  bool known = true;
  for_each_letter(token, [&](UChar32, std::string_view letter) {
    const auto byte = bytes.find(std::string(letter));
    known &= byte != bytes.end();
    if (known) own += byte->second;
  });
  return known ? std::optional(own) : std::nullopt;
}

Texts decoded_bytes(const Texts& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += bytes_of(token).value_or(token);
  return {valid_utf8(text)};
}

Texts decoded_word_pieces(Texts tokens, const std::string& prefix, bool cleans_up) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> joined = {{{" .", "."},
                                                                                     {" ?", "?"},
                                                                                     {" !", "!"},
                                                                                     {" ,", ","},
                                                                                     {" ' ", "'"},
                                                                                     {" n't", "n't"},
                                                                                     {" 'm", "'m"},
                                                                                     {" do not", " don't"},
                                                                                     {" 's", "'s"},
                                                                                     {" 've", "'ve"},
                                                                                     {" 're", "'re"}}};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) tokens[i] = tokens[i].starts_with(prefix) ? tokens[i].substr(prefix.size()) : " " + tokens[i];
    for (const auto& [apart, together] : joined)
      if (cleans_up) tokens[i] = with_text(tokens[i], apart, together);
  }
  return tokens;
}

// "<0x0A>" is a line feed; nullopt: the token is none of these.
std::optional<char> spelled_byte(std::string_view token) {
  unsigned byte = 0;
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  return error == std::errc() && end == token.data() + 5 ? std::optional(static_cast<char>(byte)) : std::nullopt;
}

// <0x0A> and the like become bytes; where they are not UTF-8, each becomes U+FFFD.
Texts decoded_fallback(const Texts& tokens) {
  Texts texts;
  std::string run;
  const auto end_run = [&] {
    if (is_valid_utf8(run)) {
      if (!run.empty()) texts.push_back(run);
    } else {
      texts.insert(texts.end(), run.size(), "\uFFFD");
    }
    run.clear();
  };
  for (const std::string& token : tokens) {
    if (const std::optional<char> byte = spelled_byte(token)) {
      run += *byte;
      continue;
    }
    end_run();
    texts.push_back(token);
  }
  end_run();
  return texts;
}

using Decoder = std::function<Texts(Texts)>;

Decoder decoder_of(const Json& step) {
  const auto is = [&](const char* type) { return is_step(step, type); };
  const auto text = [&](const char* field, const char* absent) {
    const Json& value = json_member(step, field);
    return value.is_string() ? value.get<std::string>() : absent;
  };
  if (step.is_null())
    return [](const Texts& tokens) { return Texts{fmt::format("{}", fmt::join(tokens, " "))}; };
  if (is("Sequence")) {
    std::vector<Decoder> steps;
    for (const Json& part : json_member(step, "decoders")) steps.push_back(decoder_of(part));
    return [steps](Texts tokens) {
      for (const Decoder& decode : steps) tokens = decode(std::move(tokens));
      return tokens;
    };
  }
  if (is("ByteLevel")) return decoded_bytes;
  if (is("WordPiece"))
    return [prefix = text("prefix", "##"), cleans_up = json_member(step, "cleanup") != false](Texts tokens) {
      return decoded_word_pieces(std::move(tokens), prefix, cleans_up);
    };
  if (is("ByteFallback")) return decoded_fallback;
  if (is("Fuse")) return [](const Texts& tokens) { return Texts{fmt::format("{}", fmt::join(tokens, ""))}; };
  if (is("Replace") && json_member(step, "content").is_string())
    return [pattern = pattern_of(step, "decoder"), content = text("content", "")](Texts tokens) {
      for (std::string& token : tokens) token = replaced(*pattern, token, content);
      return tokens;
    };
  if (is("Metaspace")) {
    const Json& scheme = json_member(step, "prepend_scheme");
    const bool drops = scheme.is_null() ? json_member(step, "add_prefix_space") != false : scheme != "never";
    return [mark = text("replacement", "▁"), drops](Texts tokens) {
      if (drops && !tokens.empty() && tokens.front().starts_with(mark)) tokens.front().erase(0, mark.size());
      for (std::string& token : tokens) token = with_text(token, mark, " ");
      return tokens;
    };
  }
  if (is("Strip") && json_member(step, "start").is_number_unsigned() && json_member(step, "stop").is_number_unsigned())
    return [content = text("content", " "), start = json_member(step, "start").get<int>(),
            stop = json_member(step, "stop").get<int>()](Texts tokens) {
      for (std::string& token : tokens) {
        if (content.empty()) break;
        for (int i = 0; i < start && token.starts_with(content); ++i) token.erase(0, content.size());
        for (int i = 0; i < stop && token.ends_with(content); ++i) token.erase(token.size() - content.size());
      }
      return tokens;
    };
  refuse_json("decoder", step, "null, Sequence, ByteLevel, WordPiece, ByteFallback, Fuse, Replace, Metaspace, Strip");
}

// ---- the whole

// A token that is searched in a text before it is split.
struct Added {
  std::string content;
  int id = -1;
  bool is_special = false, is_normalized = false, takes_left = false, takes_right = false, is_word = false;
};

class JsonPieces final : public PieceScheme {
 public:
  JsonPieces(const TokenizerFiles& files, int vocab_size, std::string_view family) {
    const Description description = description_of(files, family);
    const Json &whole = description.json, &model = json_member(whole, "model");
    for (int id = 0; id < vocab_size; ++id) names_.push_back(unused_piece(id));
    read_vocabulary(json_member(model, "vocab"), description.vocabulary_file);
    cut_ = pre_tokenizer_of(json_member(whole, "pre_tokenizer"));
    const std::vector<std::string> words = cut_("a b", false);
    of_bytes_ = !words.empty() && words.back().find(byte_letters()[' ']) != std::string::npos;
    if (of_bytes_ && json_member(model, "unk_token").is_null()) check_bytes(description.vocabulary_file);
    model_ = description.sentence_piece.empty()
                 ? word_model(model, vocabulary_)
                 : sentence_piece_model(description.sentence_piece, vocabulary_, required("<unk>"));
    keeps_unknown_ = json_member(model, "type") == "WordPiece";
    normalize_ = normalizer_of(json_member(whole, "normalizer"));
    read_added(json_member(whole, "added_tokens"));
    const Json& decoder = json_member(whole, "decoder");
    decode_ = of_bytes_ && decoder.is_null() ? Decoder(decoded_bytes) : decoder_of(decoder);
    read_ends(json_member(whole, "post_processor"));
    const Json settings = json_file(files, "tokenizer_config.json");
    if (closing_.empty()) closing_.push_back(required(named(settings, "eos_token", end_of_text)));
    special_.insert(closing_.front());
    const std::string usual = vocabulary_.contains("[MASK]") ? "[MASK]" : "<mask>";
    mask_ = id_of(named(settings, "mask_token", usual.c_str()));
    for (int id = 0; id < vocab_size; ++id) tokens_.push_back(token_of(id));
  }

  std::vector<Token> encode(std::string_view text, Side side) const override {
    std::vector<Token> tokens;
    bool first = true;
    split_at_added(std::string(text), false, tokens, [&](const std::string& part) {
      split_at_added(normalize_(part), true, tokens, [&](const std::string& plain) {
        for (const std::string& word : cut_(plain, std::exchange(first, false))) model_->add(word, tokens);
      });
    });
    for (Token& token : tokens)
      if (of_bytes_ && token.id != model_->unknown) token = tokens_[static_cast<std::size_t>(token.id)];
    if (side == Side::source && closing_.size() > 1) tokens.push_back({closing_.front(), piece(closing_.front())});
    return tokens;
  }

  std::string decode(std::span<const int> ids) const override {
    Texts tokens;
    for (const int id : ids) {
      const std::string& name = names_[static_cast<std::size_t>(id)];
      const bool is_hidden = special_.contains(id) && !(keeps_unknown_ && id == model_->unknown);
      if (!is_hidden && vocabulary_.contains(name)) tokens.push_back(name);
    }
    return fmt::format("{}", fmt::join(decode_(std::move(tokens)), ""));
  }

  int vocab_size() const override { return static_cast<int>(names_.size()); }
  std::string piece(int id) const override { return tokens_[static_cast<std::size_t>(id)].text; }
  std::string raw_piece(int id) const override { return tokens_[static_cast<std::size_t>(id)].raw; }
  int unknown_id() const override { return model_->unknown; }
  int end_id() const override { return closing_.front(); }
  int source_end_id() const override { return closing_.back(); }
  int opening_id() const override { return opening_; }
  int mask_id() const override { return mask_; }
  int num_separators() const override { return separators_; }

 private:
  // Byte-level, "Ã©" becomes "é" and "Ġ" "▁"; a part of a character, or a control character, becomes "<0xC3>".
  Token token_of(int id) const {
    const std::string& raw = names_[static_cast<std::size_t>(id)];
    const auto bytes = of_bytes_ && !special_.contains(id) ? bytes_of(raw) : std::nullopt;
    if (!bytes) return {id, raw};
    std::string text;
    for_each_letter(*bytes, [&](UChar32 c, std::string_view letter) {
      if (c >= 0 && !u_iscntrl(c)) {
        text += c == ' ' ? word_mark : letter;
      } else {
        for (const char byte : letter) text += fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte));
      }
    });
    return {id, text, false, text == raw ? "" : raw};
  }

  int id_of(const std::string& name) const {
    const auto found = vocabulary_.find(name);
    return found == vocabulary_.end() ? -1 : found->second;
  }

  int required(const std::string& name) const {
    const int id = id_of(name);
    if (id < 0) throw TokenizerError(fmt::format("the vocabulary: there is no \"{}\"", name));
    return id;
  }

  void add_piece(const std::string& piece, const Json& id, const char* file) {
    if (!id.is_number_integer() || id < 0 || id >= names_.size()) {
      throw TokenizerError(
          fmt::format("{}: \"{}\" has the id {}, allowed: 0 to {}", file, piece, id.dump(), names_.size() - 1));
    }
    vocabulary_[piece] = id.get<int>();
    names_[id.get<std::size_t>()] = piece;
  }

  // An object of ids, or a list of tokens and log probabilities.
  void read_vocabulary(const Json& vocabulary, const char* file) {
    if ((!vocabulary.is_object() && !vocabulary.is_array()) || vocabulary.empty())
      throw TokenizerError(fmt::format("{}: there is no vocabulary", file));
    if (vocabulary.is_object()) {
      for (const auto& [piece, id] : vocabulary.items()) add_piece(piece, id, file);
      return;
    }
    for (std::size_t id = 0; id < vocabulary.size(); ++id) {
      const Json& entry = vocabulary[id];
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
        refuse_json("model.vocab", entry, "a token and its log probability");
      if (vocabulary_.contains(entry[0].get<std::string>())) refuse_json("model.vocab", entry, "each token once");
      add_piece(entry[0].get<std::string>(), id, file);
    }
  }

  // Without a token for what is unknown, every byte must be in the vocabulary.
  void check_bytes(const char* file) const {
    for (const std::string& letter : byte_letters())
      if (!vocabulary_.contains(letter)) throw TokenizerError(fmt::format("{}: there is no \"{}\"", file, letter));
  }

  void read_added(const Json& list) {
    if (!list.is_null() && !list.is_array()) refuse_json("added_tokens", list, "a list");
    for (const Json& token : list) {
      const Json &content = json_member(token, "content"), &id = json_member(token, "id");
      if (!content.is_string() || content.get<std::string>().empty())
        refuse_json("added_tokens", token, "a content and an id");
      add_piece(content.get<std::string>(), id, "tokenizer.json");
      const auto is = [&](const char* field) { return json_member(token, field) == true; };
      Added made{content.get<std::string>(), id.get<int>(), json_member(token, "special") != false, is("normalized"),
                 is("lstrip"),               is("rstrip"),  is("single_word")};
      if (made.is_special) special_.insert(made.id);
      if (made.is_normalized) made.content = normalize_(made.content);
      if (!made.content.empty()) added_.push_back(std::move(made));
    }
  }

  // Reads the tokens in front of a text, behind it, and between the texts of a pair.
  void read_ends(const Json& post) {
    const Json steps = is_step(post, "Sequence") ? json_member(post, "processors") : Json::array({post});
    const auto refuse = [&] {
      refuse_json("post_processor", post,
                  "null, ByteLevel, BertProcessing, RobertaProcessing, a template with at most one token in front of "
                  "the text and two behind it");
    };
    for (const Json& step : steps) {
      if (step.is_null() || is_step(step, "ByteLevel")) continue;
      if (is_step(step, "BertProcessing") || is_step(step, "RobertaProcessing")) {
        const Json &cls = json_member(step, "cls"), &sep = json_member(step, "sep");
        if (!cls.is_array() || !sep.is_array() || cls.size() != 2 || sep.size() != 2 || !cls[0].is_string() ||
            !sep[0].is_string())
          refuse();
        opening_ = required(cls[0]);
        closing_ = {required(sep[0])};
        separators_ = is_step(step, "RobertaProcessing") ? 2 : 1;
        continue;
      }
      if (!is_step(step, "TemplateProcessing") || !json_member(step, "single").is_array()) refuse();
      std::vector<int> front;
      bool after = false;
      for (const Json& part : json_member(step, "single")) {
        const Json& name = json_member(json_member(part, "SpecialToken"), "id");
        if (!name.is_string() && !part.contains("Sequence")) refuse();
        if (name.is_string()) (after ? closing_ : front).push_back(required(name));
        after |= !name.is_string();
      }
      if (front.size() > 1 || closing_.size() > 2 || !after) refuse();
      if (!front.empty()) opening_ = front.front();
      read_separators(json_member(step, "pair"));
    }
  }

  void read_separators(const Json& pair) {
    int texts = 0, between = 0;
    for (const Json& part : pair.is_array() ? pair : Json::array()) {
      texts += part.contains("Sequence") ? 1 : 0;
      between += texts == 1 && part.contains("SpecialToken") ? 1 : 0;
    }
    separators_ = std::max(1, between);
  }

  // The first added token in the text from `from` on, the longest if several begin there; and where it begins.
  std::pair<const Added*, std::size_t> next_added(const std::string& text, std::size_t from, bool normalized) const {
    const Added* best = nullptr;
    std::size_t best_at = std::string::npos;
    for (const Added& token : added_) {
      if (token.is_normalized != normalized) continue;
      const std::size_t at = text.find(token.content, from);
      if (at < best_at || (best && at == best_at && token.content.size() > best->content.size()))
        best = &token, best_at = at;
    }
    return {best, best_at};
  }

  static bool is_inside_word(const std::string& text, std::size_t begin, std::size_t end) {
    const auto is_letter = [](UChar32 c) { return c == '_' || (c >= 0 && u_isalnum(c) != 0); };
    bool before = false;
    for_each_letter(std::string_view(text).substr(0, begin),
                    [&](UChar32 c, std::string_view) { before = is_letter(c); });
    std::size_t at = end;
    return before || (end < text.size() && is_letter(next_letter(text, at)));
  }

  template <typename Plain>
  void split_at_added(const std::string& text, bool normalized, std::vector<Token>& tokens, Plain plain) const {
    std::size_t done = 0;
    for (std::size_t from = 0; from < text.size();) {
      const auto [token, at] = next_added(text, from, normalized);
      if (!token) break;
      std::size_t begin = at, end = at + token->content.size();
      from = end;
      if (token->is_word && is_inside_word(text, begin, end)) continue;
      if (token->takes_left) begin = end_of_words(text, done, begin);
      while (token->takes_right && end < text.size()) {
        std::size_t next = end;
        if (!is_white(next_letter(text, next))) break;
        end = next;
      }
      if (begin > done) plain(text.substr(done, begin - done));
      tokens.push_back({token->id, piece(token->id)});
      done = from = end;
    }
    if (done < text.size()) plain(text.substr(done));
  }

  // Without white space at the end of this range.
  static std::size_t end_of_words(const std::string& text, std::size_t begin, std::size_t end) {
    std::size_t last = begin, at = begin;
    for_each_letter(std::string_view(text).substr(begin, end - begin), [&](UChar32 c, std::string_view bytes) {
      at += bytes.size();
      if (!is_white(c)) last = at;
    });
    return last;
  }

  Vocabulary vocabulary_;
  std::vector<std::string> names_;  // as in the files
  std::vector<Token> tokens_;       // readable
  std::vector<Added> added_;
  std::set<int> special_;  // without text
  Normalizer normalize_;
  PreTokenizer cut_;
  std::unique_ptr<WordModel> model_;
  Decoder decode_;
  bool keeps_unknown_ = false, of_bytes_ = false;  // tokens spell bytes as letters
  int opening_ = -1, mask_ = -1, separators_ = 1;
  std::vector<int> closing_;  // the end of a target, and of a source if it is another token
};

}  // namespace

std::unique_ptr<const PieceScheme> json_pieces(const TokenizerFiles& files, int vocab_size, std::string_view family) {
  return std::make_unique<JsonPieces>(files, vocab_size, family);
}

}  // namespace attnscope
