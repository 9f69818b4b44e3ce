// T5's tokenizer, as in transformers (T5Tokenizer): SentencePiece, and <extra_id_n> counted down from the end.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/sentence_piece.h"

namespace attnscope {
namespace {

class T5Pieces final : public PieceScheme {
 public:
  T5Pieces(const TokenizerFiles& files, int vocab_size) : model_(files.at("spiece.model")), vocab_size_(vocab_size) {
    const nlohmann::json settings = json_file(files, "tokenizer_config.json");
    const nlohmann::json extra = settings.value("extra_ids", nlohmann::json(100));
    if (!extra.is_number_integer() || extra < 0 || extra > 1000)
      throw TokenizerError(fmt::format("tokenizer_config.json: \"extra_ids\" is {}, allowed: 0 to 1000", extra.dump()));
    extra_ = extra.get<int>();
    if (size() > vocab_size) {
      throw TokenizerError(
          fmt::format("spiece.model and {} extra tokens make {}, but the model's embedding matrix has {}", extra_,
                      size(), vocab_size));
    }
    specials_ = {"</s>", "<unk>", "<pad>"};
    for (int n = 0; n < extra_; ++n) specials_.push_back(fmt::format("<extra_id_{}>", n));
  }

  // </s> follows every text, but only once.
  std::vector<Token> encode(std::string_view text, Side) const override {
    std::vector<Token> tokens;
    for (const TextPart& part : split_at_specials(text, specials_, true)) {
      if (part.special) {
        tokens.push_back({id_of(part.text), part.text});
      } else {
        for (Token& token : model_.encode(part.text)) tokens.push_back(std::move(token));
      }
    }
    if (!tokens.empty() && tokens.back().id == end_id()) tokens.pop_back();
    return tokens;
  }

  std::string decode(std::span<const int> ids) const override {
    std::vector<int> spoken;
    for (const int id : ids)
      if (id < model_.vocab_size() && std::ranges::find(specials_, model_.piece(id)) == specials_.end())
        spoken.push_back(id);
    std::string text = model_.decode(spoken);
    text.erase(0, std::min(text.size(), text.find_first_not_of(' ')));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

  int vocab_size() const override { return vocab_size_; }
  std::string piece(int id) const override {
    if (id < model_.vocab_size()) return model_.piece(id);
    return id < size() ? fmt::format("<extra_id_{}>", size() - 1 - id) : unused_piece(id);
  }
  int unknown_id() const override { return model_.special_ids().unk; }
  int end_id() const override { return model_.special_ids().eos; }

 private:
  int size() const { return model_.vocab_size() + extra_; }

  int id_of(const std::string& special) const {
    const auto extra = std::ranges::find(specials_, special) - specials_.begin() - first_extra;
    return extra >= 0 ? size() - 1 - static_cast<int>(extra) : model_.id_of(special);
  }

  static constexpr std::ptrdiff_t first_extra = 3;  // index in specials_

  SentencePiece model_;
  int vocab_size_;
  int extra_ = 0;
  std::vector<std::string> specials_;
};

}  // namespace

std::unique_ptr<const PieceScheme> t5_pieces(const TokenizerFiles& files, int vocab_size) {
  return std::make_unique<T5Pieces>(files, vocab_size);
}

}  // namespace attnscope
