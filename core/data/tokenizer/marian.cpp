// Marian's and OPUS-MT's tokenizer, as in transformers (MarianTokenizer): SentencePiece only splits the text, with one
// model per side, and vocab.json numbers the pieces of both. Moses' punctuation normalizer is omitted.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/sentence_piece.h"

namespace attnscope {
namespace {

const std::array<std::string, 3> marian_specials = {"</s>", "<unk>", "<pad>"};

class MarianPieces final : public PieceScheme {
 public:
  MarianPieces(const TokenizerFiles& files, int vocab_size)
      : source_(files.at("source.spm")), target_(files.at("target.spm")), names_(static_cast<std::size_t>(vocab_size)) {
    if (flag(json_file(files, "tokenizer_config.json"), "separate_vocabs", false))
      throw TokenizerError("tokenizer_config.json: separate_vocabs is true, which is not supported");
    for (int id = 0; id < vocab_size; ++id) names_[static_cast<std::size_t>(id)] = unused_piece(id);
    const nlohmann::json vocabulary = json_file(files, "vocab.json");
    for (const auto& [piece, id] : vocabulary.items()) {
      if (!id.is_number_integer() || id < 0 || id >= vocab_size) {
        throw TokenizerError(
            fmt::format("vocab.json: \"{}\" has the id {}, allowed: 0 to {}", piece, id.dump(), vocab_size - 1));
      }
      ids_.emplace(piece, id.get<int>());
      names_[id.get<std::size_t>()] = piece;
    }
    for (const std::string& special : marian_specials)
      if (!ids_.contains(special)) throw TokenizerError(fmt::format("vocab.json: there is no \"{}\"", special));
  }

  std::vector<Token> encode(std::string_view text, Side side) const override {
    std::vector<Token> tokens;
    for (const TextPart& part : split_at_specials(text, marian_specials, true)) {
      if (part.special) {
        tokens.push_back(token(part.text));
      } else {
        add_plain(part.text, side, tokens);
      }
    }
    return tokens;
  }

  std::string decode(std::span<const int> ids) const override {
    std::vector<std::string> pieces;
    for (const int id : ids) {
      const std::string& piece = names_[static_cast<std::size_t>(id)];
      if (std::ranges::find(marian_specials, piece) == marian_specials.end()) pieces.push_back(piece);
    }
    return without_marks(target_.join(pieces));
  }

  int vocab_size() const override { return static_cast<int>(names_.size()); }
  std::string piece(int id) const override { return names_[static_cast<std::size_t>(id)]; }
  int unknown_id() const override { return ids_.at("<unk>"); }
  int end_id() const override { return ids_.at("</s>"); }

 private:
  Token token(std::string piece) const {
    const auto found = ids_.find(piece);
    return {found == ids_.end() ? unknown_id() : found->second, std::move(piece)};
  }

  // ">>fra<<" at the start names the language: one piece, regardless of SentencePiece's split.
  void add_plain(std::string_view text, Side side, std::vector<Token>& tokens) const {
    const std::size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
    if (end != std::string_view::npos) {
      tokens.push_back(token(std::string(text.substr(0, end + 2))));
      text.remove_prefix(end + 2);
    }
    for (Token& cut : (side == Side::source ? source_ : target_).encode(text)) tokens.push_back(token(cut.text));
  }

  // Replaces remaining word marks of pieces outside the models with spaces; trims the ends.
  static std::string without_marks(std::string text) {
    constexpr std::string_view mark = "\u2581";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
      text.replace(at, mark.size(), " ");
    text.erase(0, std::min(text.size(), text.find_first_not_of(' ')));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

  SentencePiece source_, target_;
  std::unordered_map<std::string, int> ids_;
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<const PieceScheme> marian_pieces(const TokenizerFiles& files, int vocab_size) {
  return std::make_unique<MarianPieces>(files, vocab_size);
}

}  // namespace attnscope
