#include "data/tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "common/split.h"
#include "common/unicode_form.h"
#include "data/tokenizer/sentence_piece.h"

namespace attnscope {
namespace {

// Retains a deterministic sample of a text that is too large.
void keep_sample(std::vector<std::string_view>& texts) {
  constexpr std::size_t max_bytes = 12'000'000;
  constexpr std::size_t max_count = 400'000;
  std::size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  if (bytes <= max_bytes && texts.size() <= max_count) return;
  std::mt19937_64 generator(1);
  std::shuffle(texts.begin(), texts.end(), generator);
  bytes = 0;
  const auto enough = std::find_if(texts.begin(), texts.end(), [&](std::string_view text) {
    bytes += text.size();
    return bytes > max_bytes;
  });
  texts.erase(enough, texts.end());
  if (texts.size() > max_count) texts.resize(max_count);
  texts.shrink_to_fit();
}

constexpr std::size_t texts_per_yield = 1 << 10;

// Returns the non-empty sentences. A large corpus is sampled, because frequent words are in any sample: unigram takes
// about 9 s for this size. Character models use everything: counting takes 3 s for 100 MB, and a sample could miss rare
// characters.
std::vector<std::string_view> training_text(std::vector<std::string_view> sentences, const TokenizerConfig& config,
                                            const YieldCallback& yield) {
  std::size_t seen = 0;
  std::erase_if(sentences, [&](std::string_view text) {
    if (yield && ++seen % texts_per_yield == 0) yield();
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  });
  if (std::ranges::any_of(sentences, [](std::string_view text) { return text.size() > longest_sentence; })) {
    std::vector<std::string_view> parts;
    for (const std::string_view sentence : sentences)
      for (const std::string_view passage : passages(sentence)) parts.push_back(passage);
    sentences = std::move(parts);
  }
  if (config.type != "char" && config.type != "word") keep_sample(sentences);
  return sentences;
}

// Distinct words and their numbers; empty if a text has a tab, which SentencePiece places between the two.
std::unordered_map<std::string, std::size_t> counted_words(std::vector<std::string_view>& texts,
                                                           const YieldCallback& yield) {
  constexpr std::string_view reserved = "\xE2\x96\x85";
  std::ranges::sort(texts, {}, [](std::string_view text) { return text.data(); });  // in the order of their pages
  std::unordered_map<std::string, std::size_t> words;
  std::string word;
  std::size_t seen = 0;
  for (const std::string_view text : texts) {
    if (yield && ++seen % texts_per_yield == 0) yield();
    if (text.find('\t') != std::string_view::npos) return {};
    if (text.find(reserved) != std::string_view::npos) continue;
    for (const std::string_view each : split(text, " "))
      if (!each.empty()) ++words[word.assign(each)];
  }
  return words;
}

// The end of the first passage of a longer text: before a space, or else between two characters.
std::size_t end_of_passage(std::string_view text) {
  const std::size_t space = text.rfind(' ', longest_sentence);
  if (space != std::string_view::npos && space != 0) return space;
  std::size_t end = longest_sentence;
  while (end > longest_sentence - 3 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return end;
}

// One model for both sides, with attnscope's ids of the special pieces.
class OwnPieces final : public PieceScheme {
 public:
  explicit OwnPieces(std::string_view model) : model_(model) {
    const SpecialIds ids = model_.special_ids();
    constexpr SpecialTokens own;
    if (const int mask = model_.id_of(mask_piece); mask != ids.unk) mask_ = mask;
    keeps_spaces_ = !model_.encode(" ").empty();
    if (ids.pad == own.padding && ids.bos == own.start && ids.eos == own.end && ids.unk == own.unknown) return;
    throw TokenizerError(
        fmt::format("this SentencePiece model numbers its special tokens pad {}, bos {}, eos {}, unk {}; attnscope "
                    "needs {}, {}, {}, {} (spm_train --pad_id=0 --bos_id=1 --eos_id=2 --unk_id=3)",
                    ids.pad, ids.bos, ids.eos, ids.unk, own.padding, own.start, own.end, own.unknown));
  }

  // A mask stands for a token with its word mark, so the space before it is not a token.
  std::vector<Token> encode(std::string_view text, Side) const override {
    if (mask_ < 0) return model_.encode(text);
    std::vector<Token> tokens;
    const std::vector<std::string> specials = {mask_piece};
    for (const TextPart& part : split_at_specials(text, specials, !keeps_spaces_)) {
      const std::vector<Token> own = part.special ? std::vector{Token{mask_, mask_piece}} : model_.encode(part.text);
      tokens.insert(tokens.end(), own.begin(), own.end());
    }
    return tokens;
  }
  std::string decode(std::span<const int> ids) const override { return model_.decode(ids); }
  int vocab_size() const override { return model_.vocab_size(); }
  std::string piece(int id) const override { return model_.piece(id); }
  int unknown_id() const override { return SpecialTokens().unknown; }
  int end_id() const override { return SpecialTokens().end; }
  int mask_id() const override { return mask_; }
  bool separates_words(Side) const override { return model_.separates_words(); }

 private:
  SentencePiece model_;
  int mask_ = -1;
  bool keeps_spaces_ = false;
};

// The same for classifiers: the labels follow the model's own pieces.
class LabelledPieces final : public PieceScheme {
 public:
  LabelledPieces(std::string_view model, std::vector<std::string> labels) : texts_(model), labels_(std::move(labels)) {
    for (std::size_t i = 0; i < labels_.size(); ++i) ids_.emplace(labels_[i], first() + static_cast<int>(i));
  }

  std::vector<Token> encode(std::string_view text, Side side) const override {
    if (side == Side::source) return texts_.encode(text, side);
    if (text.empty()) return {};
    const auto found = ids_.find(text);
    return {{found == ids_.end() ? unknown_id() : found->second, std::string(text)}};
  }

  std::string decode(std::span<const int> ids) const override {
    std::string text;
    std::vector<int> own;
    for (const int id : ids) {
      if (id < first())
        own.push_back(id);
      else
        text += (text.empty() ? "" : " ") + piece(id);
    }
    return texts_.decode(own) + text;
  }

  int vocab_size() const override { return first() + static_cast<int>(labels_.size()); }
  std::string piece(int id) const override {
    return id < first() ? texts_.piece(id) : labels_[static_cast<std::size_t>(id - first())];
  }
  int unknown_id() const override { return texts_.unknown_id(); }
  int end_id() const override { return texts_.end_id(); }
  const std::vector<std::string>& labels() const override { return labels_; }
  bool separates_words(Side side) const override { return side == Side::source && texts_.separates_words(side); }

 private:
  int first() const { return texts_.vocab_size(); }

  OwnPieces texts_;
  std::vector<std::string> labels_;
  std::map<std::string, int, std::less<>> ids_;
};

std::string as_lines(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) text += label + '\n';
  return text;
}

}  // namespace

std::vector<std::string_view> passages(std::string_view text) {
  std::vector<std::string_view> result;
  while (text.size() > longest_sentence) {
    const std::size_t end = end_of_passage(text);
    result.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  result.push_back(text);
  return result;
}

std::string Tokenizer::train(std::vector<std::string_view> sentences, const TokenizerConfig& config, bool with_mask,
                             const YieldCallback& yield) {
  std::vector<std::string_view> texts = training_text(std::move(sentences), config, yield);
  if (texts.empty()) throw TokenizerError("cannot train the tokenizer: there is no text to train it on");
  std::unordered_map<std::string, std::size_t> words;
  if (config.type == "bpe" || config.type == "word") words = counted_words(texts, yield);
  std::vector<TextView> views;
  std::vector<std::size_t> times;
  for (const auto& [word, count] : words) {
    views.push_back(view_of(word));
    times.push_back(count);
  }
  if (words.empty()) std::ranges::transform(texts, std::back_inserter(views), view_of);
  const TrainingRequest request = {
      .sentences = views.data(),
      .times = words.empty() ? nullptr : times.data(),
      .count = views.size(),
      .type = config.type.c_str(),
      .vocab_size = static_cast<std::size_t>(config.vocab_size),
      .pad_id = pad_id,
      .bos_id = bos_id,
      .eos_id = eos_id,
      .unk_id = unk_id,
      .mask = with_mask ? mask_piece : nullptr,
  };
  OwnedText model = {};
  check(sentence_piece_module().train(&request, &model), "cannot train the tokenizer");
  return take(model);
}

Tokenizer::Tokenizer(std::string model)
    : Tokenizer(std::make_unique<OwnPieces>(model), SpecialTokens(), {{"tokenizer.model", model}}) {}

Tokenizer::Tokenizer(std::string model, const std::vector<std::string>& labels)
    : Tokenizer(std::make_unique<LabelledPieces>(model, labels), SpecialTokens(),
                {{"tokenizer.model", model}, {std::string(labels_file), as_lines(labels)}}) {}

Tokenizer::Tokenizer(std::unique_ptr<const PieceScheme> scheme, const SpecialTokens& special, TokenizerFiles files)
    : files_(std::make_shared<const TokenizerFiles>(std::move(files))), scheme_(std::move(scheme)), special_(special) {
  special_.mask = scheme_->mask_id();
}

std::vector<Token> Tokenizer::encode(std::string_view text, Side side) const {
  std::vector<Token> tokens = scheme_->encode(normalizes_ ? composed(text) : text, side);
  for (Token& token : tokens) token.unknown = token.id == special_.unknown;
  return tokens;
}

std::vector<int> Tokenizer::source_ids(std::vector<int> ids) const {
  if (opening() >= 0) ids.insert(ids.begin(), opening());
  ids.push_back(source_end());
  return ids;
}

std::string Tokenizer::pair(const std::string& a, const std::string& b) const {
  std::string text = a;
  for (int i = 0; i < scheme_->num_separators(); ++i) text += token(special_.end);
  return text + b;
}

std::string Tokenizer::decode(std::span<const int> ids) const {
  std::vector<int> spoken;
  for (const int id : ids) {
    check_id(id);
    if (id != special_.padding && id != special_.start && id != special_.end) spoken.push_back(id);
  }
  return scheme_->decode(spoken);
}

int Tokenizer::vocab_size() const {
  return scheme_->vocab_size();
}

std::string Tokenizer::token(int id) const {
  check_id(id);
  return scheme_->piece(id);
}

Token Tokenizer::as_token(int id) const {
  return {id, token(id), id == special_.unknown, scheme_->raw_piece(id)};
}

void Tokenizer::check_id(int id) const {
  if (id < 0 || id >= vocab_size()) {
    throw TokenizerError(fmt::format("no token has the id {}; the vocabulary has 0…{}", id, vocab_size() - 1));
  }
}

// ---- many texts

void TextEncoder::append(std::string_view text, Side side, std::vector<int>& ids) {
  if (!by_word_[side == Side::source ? 0 : 1]) {
    for (const Token& token : tokenizer_.encode(text, side)) ids.push_back(token.id);
    return;
  }
  const int unknown = tokenizer_.special().unknown;
  const std::size_t begin = ids.size();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) {
      const std::vector<int>& word = ids_of(text.substr(at, end - at), side);
      const bool continues = ids.size() > begin && !word.empty() && ids.back() == unknown && word.front() == unknown;
      ids.insert(ids.end(), word.begin() + (continues ? 1 : 0), word.end());
    }
    at = end + 1;
  }
}

const std::vector<int>& TextEncoder::ids_of(std::string_view word, Side side) {
  constexpr std::size_t most_words = 1 << 17;
  if (const auto found = words_.find(word); found != words_.end()) return found->second;
  std::vector<int>& ids = words_.size() < most_words ? words_[std::string(word)] : rare_;
  ids.clear();
  for (const Token& token : tokenizer_.encode(word, side)) ids.push_back(token.id);
  return ids;
}

// ---- prompts and their continuation

std::vector<int> prompt_ids(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int> ids;
  if (tokenizer.opening() >= 0) ids.push_back(tokenizer.opening());
  for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
  const SpecialTokens& special = tokenizer.special();
  if (ids.empty()) ids.push_back(special.ends_lines ? special.end : special.start);
  return ids;
}

std::string decode_lines(const Tokenizer& tokenizer, std::span<const int> ids) {
  const int line_end = tokenizer.special().end;
  std::string text;
  auto begin = ids.begin();
  for (auto end = std::find(begin, ids.end(), line_end); end != ids.end();
       end = std::find(begin, ids.end(), line_end)) {
    text += tokenizer.decode({begin, end}) + "\n";
    begin = end + 1;
  }
  return text + tokenizer.decode({begin, ids.end()});
}

std::string continued_text(const Tokenizer& tokenizer, std::span<const int> prompt, std::span<const int> ids) {
  std::vector<int> all(prompt.begin(), prompt.end());
  all.insert(all.end(), ids.begin(), ids.end());
  const std::string before = decode_lines(tokenizer, prompt);
  const std::string whole = decode_lines(tokenizer, all);
  return whole.starts_with(before) ? whole.substr(before.size()) : whole;
}

}  // namespace attnscope
