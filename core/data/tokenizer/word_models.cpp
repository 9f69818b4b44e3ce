#include "data/tokenizer/word_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <queue>
#include <string_view>
#include <tuple>
#include <utility>

#include "data/tokenizer/family_schemes.h"
#include "data/tokenizer/letters.h"
#include "data/tokenizer/sentence_piece.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

int id_in(const Vocabulary& vocabulary, const std::string& piece) {
  const auto found = vocabulary.find(piece);
  return found == vocabulary.end() ? -1 : found->second;
}

int named_unknown(const Json& model, const Vocabulary& vocabulary) {
  const Json& name = json_member(model, "unk_token");
  if (!name.is_string()) return -1;
  const int id = id_in(vocabulary, name.get<std::string>());
  if (id < 0) throw TokenizerError(fmt::format("the vocabulary: there is no \"{}\"", name.get<std::string>()));
  return id;
}

// The pieces <0x00> … of a letter's bytes; empty if the vocabulary lacks one.
std::vector<Token> byte_tokens(std::string_view letter, const Vocabulary& vocabulary) {
  std::vector<Token> tokens;
  for (const char byte : letter) {
    std::string piece = fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte));
    const int id = id_in(vocabulary, piece);
    if (id < 0) return {};
    tokens.push_back({id, std::move(piece)});
  }
  return tokens;
}

// The longest pieces from left to right (1609.08144 §4.1); the whole word is unknown if one is missing.
class WordPiece final : public WordModel {
 public:
  WordPiece(const Json& model, const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
    unknown = named_unknown(model, vocabulary);
    if (unknown < 0) refuse_json("model.unk_token", json_member(model, "unk_token"), "a token of the vocabulary");
    if (const Json& mark = json_member(model, "continuing_subword_prefix"); mark.is_string())
      mark_ = mark.get<std::string>();
    if (const Json& most = json_member(model, "max_input_chars_per_word"); most.is_number_unsigned())
      longest_ = most.get<std::size_t>();
  }

  void add(const std::string& word, std::vector<Token>& tokens) const override {
    std::vector<std::size_t> ends;  // of its letters
    for_each_letter(word, [&](UChar32, std::string_view bytes) {
      ends.push_back((ends.empty() ? 0 : ends.back()) + bytes.size());
    });
    std::vector<Token> pieces;
    std::size_t begin = 0, first = 0;
    while (begin < word.size() && ends.size() <= longest_) {
      std::size_t last = ends.size();
      std::string piece;
      while (last > first) {
        piece = (begin > 0 ? mark_ : "") + word.substr(begin, ends[last - 1] - begin);
        if (vocabulary_.contains(piece)) break;
        --last;
      }
      if (last == first) break;
      pieces.push_back({vocabulary_.at(piece), piece});
      begin = ends[last - 1];
      first = last;
    }
    if (begin < word.size()) pieces = {{unknown, word}};
    tokens.insert(tokens.end(), pieces.begin(), pieces.end());
  }

 private:
  const Vocabulary& vocabulary_;
  std::string mark_ = "##";
  std::size_t longest_ = 100;
};

// Repeated merges of the neighbors whose pair is earliest in the list, the leftmost first (1508.07909).
class BytePairs final : public WordModel {
 public:
  BytePairs(const Json& model, const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        byte_fallback_(json_member(model, "byte_fallback") == true),
        fuses_unknown_(json_member(model, "fuse_unk") == true),
        ignores_merges_(json_member(model, "ignore_merges") == true) {
    unknown = named_unknown(model, vocabulary);
    for (const char* field : {"continuing_subword_prefix", "end_of_word_suffix", "dropout"})
      if (const Json& value = json_member(model, field); !value.is_null() && value != "" && value != 0)
        refuse_json((std::string("model.") + field).c_str(), value, "null");
    read_merges(json_member(model, "merges"));
  }

  void add(const std::string& word, std::vector<Token>& tokens) const override {
    if (const int whole = ignores_merges_ ? id_in(vocabulary_, word) : -1; whole >= 0)
      return tokens.push_back({whole, word});
    merge(letters_of(word), tokens);
  }

 private:
  struct Piece {
    Token token;
    int before, after;  // indices, −1: none
    bool is_gone = false;
  };
  using Candidate = std::tuple<int, int, std::string>;  // rank, left piece, the text of both

  // Strings, or pairs of strings.
  void read_merges(const Json& merges) {
    if (!merges.is_array()) refuse_json("model.merges", merges, "a list");
    for (const Json& merge : merges) {
      const bool pair = merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
      if (!pair && !merge.is_string()) refuse_json("model.merges", merge, "strings, or pairs of strings");
      const std::string text = pair ? "" : merge.get<std::string>();
      const std::size_t space = text.find(' ');
      const std::string left = pair ? merge[0].get<std::string>() : text.substr(0, space);
      const std::string right = pair                          ? merge[1].get<std::string>()
                                : space == std::string::npos ? ""
                                                              : text.substr(space + 1);
      if (right.empty() || !vocabulary_.contains(left + right))
        throw TokenizerError(fmt::format("merge {}: {} gives no token of the vocabulary", ranks_.size() + 1,
                                         merge.dump(-1, ' ', false, Json::error_handler_t::replace)));
      ranks_.emplace(key(left, right), static_cast<int>(ranks_.size()));
    }
  }

  static std::string key(const std::string& left, const std::string& right) { return left + '\0' + right; }

  std::vector<Token> letters_of(const std::string& word) const {
    std::vector<Token> pieces;
    for_each_letter(word, [&](UChar32, std::string_view letter) {
      if (const int id = id_in(vocabulary_, std::string(letter)); id >= 0) {
        pieces.push_back({id, std::string(letter)});
        return;
      }
      std::vector<Token> bytes = byte_fallback_ ? byte_tokens(letter, vocabulary_) : std::vector<Token>();
      if (bytes.empty() && unknown >= 0) {
        if (fuses_unknown_ && !pieces.empty() && pieces.back().unknown)
          pieces.back().text += letter;
        else
          pieces.push_back({unknown, std::string(letter), true});
      }
      std::ranges::move(bytes, std::back_inserter(pieces));
    });
    return pieces;
  }

  void merge(std::vector<Token> letters, std::vector<Token>& tokens) const {
    std::vector<Piece> pieces;
    for (Token& letter : letters) {
      const int at = static_cast<int>(pieces.size());
      pieces.push_back({std::move(letter), at - 1, at + 1});
    }
    if (pieces.empty()) return;
    pieces.back().after = -1;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
    const auto propose = [&](int left) {
      if (left < 0 || pieces[static_cast<std::size_t>(left)].after < 0) return;
      const Token& a = pieces[static_cast<std::size_t>(left)].token;
      const Token& b = pieces[static_cast<std::size_t>(pieces[static_cast<std::size_t>(left)].after)].token;
      const auto rank = a.unknown || b.unknown ? ranks_.end() : ranks_.find(key(a.text, b.text));
      if (rank != ranks_.end()) candidates.emplace(rank->second, left, key(a.text, b.text));
    };
    for (int at = 0; at < static_cast<int>(pieces.size()); ++at) propose(at);
    while (!candidates.empty()) {
      const auto [rank, at, pair] = candidates.top();
      candidates.pop();
      Piece& left = pieces[static_cast<std::size_t>(at)];
      if (left.is_gone || left.after < 0) continue;
      Piece& right = pieces[static_cast<std::size_t>(left.after)];
      if (key(left.token.text, right.token.text) != pair) continue;  // one of them has been merged
      left.token.text += right.token.text;
      left.token.id = vocabulary_.at(left.token.text);
      left.after = right.after;
      right.is_gone = true;
      if (left.after >= 0) pieces[static_cast<std::size_t>(left.after)].before = at;
      propose(left.before);
      propose(at);
    }
    for (Piece& piece : pieces)
      if (!piece.is_gone) tokens.push_back(std::move(piece.token));
  }

  const Vocabulary& vocabulary_;
  bool byte_fallback_, fuses_unknown_, ignores_merges_;
  std::unordered_map<std::string, int> ranks_;
};

// The split with the largest sum of log probabilities (1804.10959). An unknown letter has that of the rarest piece −
// 10; unknown letters in a row are one token.
class Unigram final : public WordModel {
 public:
  Unigram(const Json& model, const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), byte_fallback_(json_member(model, "byte_fallback") == true) {
    const Json& entries = json_member(model, "vocab");
    if (!entries.is_array()) refuse_json("model.vocab", entries, "a list of tokens and log probabilities");
    for (const Json& entry : entries) {
      scores_.push_back(entry[1]);
      lowest_ = std::min(lowest_, entry[1].get<double>());
      longest_ = std::max(longest_, entry[0].get_ref<const std::string&>().size());
    }
    const Json& id = json_member(model, "unk_id");
    if (!id.is_null() && (!id.is_number_unsigned() || id >= scores_.size()))
      refuse_json("model.unk_id", id, fmt::format("null, 0 to {}", scores_.size() - 1).c_str());
    if (!id.is_null())
      unknown = id;
    else if (!byte_fallback_)
      refuse_json("model.unk_id", id, "an id, or byte_fallback");
  }

  void add(const std::string& given, std::vector<Token>& tokens) const override {
    const std::string_view word = given;
    struct Best {
      double score = -std::numeric_limits<double>::infinity();
      std::size_t begin = 0;
      int id = -1;  // −1: unknown
    };
    std::vector<Best> best(word.size() + 1);
    best[0].score = 0;
    std::size_t begin = 0;
    for_each_letter(word, [&](UChar32, std::string_view letter) {
      const auto offer = [&](std::size_t size, double score, int id) {
        Best& there = best[begin + size];
        if (best[begin].score + score > there.score) there = {best[begin].score + score, begin, id};
      };
      bool single = false;
      for (std::size_t size = letter.size(); size <= std::min(longest_, word.size() - begin); ++size) {
        const int id = id_in(vocabulary_, std::string(word.substr(begin, size)));
        if (id < 0 || id >= static_cast<int>(scores_.size())) continue;
        single |= size == letter.size();
        offer(size, scores_[static_cast<std::size_t>(id)], id);
      }
      if (!single) offer(letter.size(), lowest_ - 10, -1);
      begin += letter.size();
    });
    std::vector<Token> pieces;  // last first
    for (std::size_t end = word.size(); end > 0; end = best[end].begin) {
      std::string text(word.substr(best[end].begin, end - best[end].begin));
      const bool is_unknown = best[end].id < 0;
      std::vector<Token> bytes = is_unknown && byte_fallback_ ? byte_tokens(text, vocabulary_) : std::vector<Token>();
      if (!bytes.empty())
        pieces.insert(pieces.end(), bytes.rbegin(), bytes.rend());
      else if (is_unknown && !pieces.empty() && pieces.back().unknown)
        pieces.back().text.insert(0, text);
      else if (!is_unknown || unknown >= 0)
        pieces.push_back({is_unknown ? unknown : best[end].id, std::move(text), is_unknown});
    }
    tokens.insert(tokens.end(), pieces.rbegin(), pieces.rend());
  }

 private:
  const Vocabulary& vocabulary_;
  bool byte_fallback_;
  std::vector<double> scores_;  // by id
  double lowest_ = 0;
  std::size_t longest_ = 1;
};

class SentencePieces final : public WordModel {
 public:
  SentencePieces(const std::string& bytes, const Vocabulary& vocabulary, int unknown_id)
      : model_(bytes), vocabulary_(vocabulary) {
    unknown = unknown_id;
  }

  void add(const std::string& word, std::vector<Token>& tokens) const override {
    for (Token& token : model_.encode(word)) {
      const int id = id_in(vocabulary_, token.text);
      tokens.push_back({id < 0 ? unknown : id, std::move(token.text)});
    }
  }

 private:
  SentencePiece model_;
  const Vocabulary& vocabulary_;
};

}  // namespace

std::unique_ptr<WordModel> word_model(const Json& model, const Vocabulary& vocabulary) {
  // Files from before 2021 lack the type of BPE.
  const Json& type = json_member(model, "type");
  if (type.is_null() || type == "BPE") return std::make_unique<BytePairs>(model, vocabulary);
  if (type == "WordPiece") return std::make_unique<WordPiece>(model, vocabulary);
  if (type == "Unigram") return std::make_unique<Unigram>(model, vocabulary);
  refuse_json("model.type", type, "BPE, WordPiece, Unigram");
}

std::unique_ptr<WordModel> sentence_piece_model(const std::string& bytes, const Vocabulary& vocabulary, int unknown) {
  return std::make_unique<SentencePieces>(bytes, vocabulary, unknown);
}

}  // namespace attnscope
