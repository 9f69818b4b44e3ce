// Llama's tokenizer, as in transformers (LlamaTokenizer): SentencePiece with byte pieces as a fallback, and <s> at the
// start.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/sentence_piece.h"

namespace attnscope {
namespace {

constexpr std::string_view mark = "\u2581";  // start of a word

const std::array<std::string, 3> llama_specials = {"<s>", "</s>", "<unk>"};

// Protobuf merges repeated messages: normalizer_spec { add_dummy_prefix: false }.
constexpr std::string_view no_space_in_front{"\x1a\x02\x18\x00", 4};

class LlamaPieces final : public PieceScheme {
 public:
  LlamaPieces(const TokenizerFiles& files, int vocab_size)
      : model_(files.at("tokenizer.model")),
        plain_(files.at("tokenizer.model") + std::string(no_space_in_front)),
        vocab_size_(vocab_size) {
    const nlohmann::json settings = json_file(files, "tokenizer_config.json");
    legacy_ = flag(settings, "legacy", true);
    opens_ = flag(settings, "add_bos_token", true);
    if (flag(settings, "add_eos_token", false))
      throw TokenizerError("tokenizer_config.json: add_eos_token is true, which is not supported");
    if (model_.vocab_size() > vocab_size) {
      throw TokenizerError(
          fmt::format("tokenizer.model has {} tokens, the model's embedding matrix {}: added tokens are not supported",
                      model_.vocab_size(), vocab_size));
    }
    unknown_pieces_ = static_cast<int>(plain_.encode("<unk>").size());
  }

  std::vector<Token> encode(std::string_view given, Side) const override {
    const std::string text = legacy_ || given.empty() ? std::string(given) : marked(given);
    std::vector<Token> tokens;
    const std::vector<TextPart> parts = split_at_specials(text, llama_specials, false);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].special) {
        // The text started with a special piece: no space in front of it.
        if (i == 1 && !legacy_ && tokens.size() == 1 && tokens[0].text == mark) tokens.clear();
        tokens.push_back({model_.id_of(parts[i].text), parts[i].text});
      } else {
        for (Token& token : segment(parts[i].text)) tokens.push_back(std::move(token));
      }
    }
    return tokens;
  }

  std::string decode(std::span<const int> ids) const override {
    std::vector<int> spoken;
    for (const int id : ids)
      if (std::ranges::find(llama_specials, piece(id)) == llama_specials.end() && id < model_.vocab_size())
        spoken.push_back(id);
    return model_.decode(spoken);
  }

  int vocab_size() const override { return vocab_size_; }
  std::string piece(int id) const override { return id < model_.vocab_size() ? model_.piece(id) : unused_piece(id); }
  int unknown_id() const override { return model_.special_ids().unk; }
  int end_id() const override { return model_.special_ids().eos; }
  int opening_id() const override { return opens_ ? model_.special_ids().bos : -1; }

 private:
  static std::string marked(std::string_view text) {
    std::string made(mark);
    while (true) {
      const std::size_t at = text.find(mark);
      made += text.substr(0, at);
      if (at == std::string_view::npos) return made;
      made += ' ';
      text.remove_prefix(at + mark.size());
    }
  }

  // Legacy models insert a space before every part of a text, the others none. In the latter, SentencePiece would drop
  // a leading space; therefore the letters of <unk> are prepended and removed again.
  std::vector<Token> segment(const std::string& text) const {
    if (legacy_) return model_.encode(text);
    if (!text.starts_with(mark) && !text.starts_with(' ')) return plain_.encode(text);
    std::vector<Token> tokens = plain_.encode("<unk>" + text);
    tokens.erase(tokens.begin(), tokens.begin() + unknown_pieces_);
    return tokens;
  }

  SentencePiece model_, plain_;
  int vocab_size_;
  bool legacy_ = true, opens_ = true;
  int unknown_pieces_ = 0;  // of the letters "<unk>"
};

}  // namespace

std::unique_ptr<const PieceScheme> llama_pieces(const TokenizerFiles& files, int vocab_size) {
  return std::make_unique<LlamaPieces>(files, vocab_size);
}

}  // namespace attnscope
