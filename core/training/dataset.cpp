#include "training/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace attnscope {
namespace {

constexpr std::size_t pairs_per_yield = 256;
constexpr std::int64_t lines_per_yield = 256;
constexpr std::size_t most_labels = 1000;

std::vector<EncodedPair> encode_pairs(const std::vector<Pair>& pairs, const Tokenizer& tokenizer,
                                      std::int64_t max_length, Dataset& dataset, const FractionCallback& progress) {
  std::vector<EncodedPair> encoded;
  encoded.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (auto pair = encode_pair(tokenizer, pairs[i], max_length)) {
      encoded.push_back(std::move(*pair));
    } else {
      ++(has_unknown_label(tokenizer, pairs[i]) ? dataset.unknown_label : dataset.too_long);
    }
    if (progress && i % pairs_per_yield == 0) progress(static_cast<double>(i) / static_cast<double>(pairs.size()));
  }
  return encoded;
}

std::shared_ptr<const Dataset> encode_pairs(const Corpus& corpus, const Tokenizer& tokenizer, std::int64_t max_length,
                                            const FractionCallback& progress) {
  auto dataset = std::make_shared<Dataset>();
  dataset->train = encode_pairs(corpus.train, tokenizer, max_length, *dataset, progress);
  dataset->validation = encode_pairs(corpus.validation, tokenizer, max_length, *dataset, [&](double) {
    if (progress) progress(1);
  });
  if (dataset->train.empty()) {
    throw CorpusError(
        fmt::format("{}: no pair has at most {} tokens; increase model.max_length", corpus.name, max_length));
  }
  return dataset;
}

// Words begin with "▁" or "Ġ", or their other tokens with "##".
std::vector<bool> word_beginnings(const Tokenizer& tokenizer) {
  std::vector<bool> marked, unmarked;
  bool marks_rest = false;
  for (int id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string token = tokenizer.token(id);
    marks_rest |= token.starts_with("##") && token != "##";
    marked.push_back(token.starts_with(word_mark) || token.starts_with("Ġ"));
    unmarked.push_back(!token.starts_with("##"));
  }
  return marks_rest ? unmarked : marked;
}

std::shared_ptr<const Dataset> encode_text(const Corpus& corpus, const Tokenizer& tokenizer,
                                           const FractionCallback& progress) {
  // About as many calls as lines or passages.
  const double calls = 1 + (tokenizer.special().ends_lines
                                ? static_cast<double>(std::ranges::count(corpus.text.train, '\n')) / lines_per_yield
                                : static_cast<double>(passages(corpus.text.train).size()));
  double done = 0;
  const YieldCallback yield = [&] {
    if (progress) progress(std::min(1.0, done++ / calls));
  };
  auto dataset = std::make_shared<Dataset>();
  if (tokenizer.special().mask >= 0) dataset->begins_word = word_beginnings(tokenizer);
  dataset->train_stream = encode_text(tokenizer, corpus.text.train, yield).stream;
  dataset->validation_stream = encode_text(tokenizer, corpus.text.validation, yield).stream;
  if (dataset->train_stream.size() < 2) {
    throw CorpusError(
        fmt::format("{}: {} tokens to train on, at least 2 are needed", corpus.name, dataset->train_stream.size()));
  }
  return dataset;
}

// The tokens of a drawn example that fills a context, the last of which is the line end.
struct DrawnTokens {
  std::vector<int> ids;
  std::vector<bool> determined;
};

DrawnTokens draw_tokens(const DrawnCorpus& drawn, std::span<const int> ids, int end, Random& random,
                        std::int64_t length) {
  DrawnExample example = drawn.draw(random, static_cast<std::size_t>(length) - 1);
  DrawnTokens tokens{.ids = {}, .determined = std::move(example.determined)};
  for (const int word : example.words) tokens.ids.push_back(ids[static_cast<std::size_t>(word)]);
  tokens.ids.push_back(end);
  tokens.determined.push_back(false);  // where the context ends is a matter of its length
  return tokens;
}

std::vector<int> ids_of_words(const Corpus& corpus, const Tokenizer& tokenizer) {
  std::vector<int> ids;
  for (const std::string& word : corpus.drawn.words) {
    const std::vector<Token> tokens = tokenizer.encode(word);
    if (tokens.size() != 1) {
      throw CorpusError(fmt::format("{}: \"{}\" is {} tokens, but every word must be one: set tokenizer.type=word",
                                    corpus.name, word, tokens.size()));
    }
    ids.push_back(tokens.front().id);
  }
  return ids;
}

// Validation windows of max_length tokens (training/validation.h) are then exactly these examples.
std::shared_ptr<const Dataset> encode_drawn(const Corpus& corpus, const Tokenizer& tokenizer, std::int64_t length) {
  constexpr std::int64_t validation_tokens = 16384;
  const std::vector<int> ids = ids_of_words(corpus, tokenizer);
  const int end = tokenizer.special().end;
  auto dataset = std::make_shared<Dataset>();
  dataset->train_stream = encode_text(tokenizer, corpus.text.train, {}).stream;
  Random random(1);
  for (std::int64_t i = 0; i < std::max<std::int64_t>(1, validation_tokens / length); ++i) {
    const DrawnTokens tokens = draw_tokens(corpus.drawn, ids, end, random, length);
    dataset->validation_stream.insert(dataset->validation_stream.end(), tokens.ids.begin(), tokens.ids.end());
    dataset->determined.insert(dataset->determined.end(), tokens.determined.begin(), tokens.determined.end());
  }
  dataset->draw_window = [drawn = corpus.drawn, ids, end, length](Random& source) {
    std::vector<int> window = draw_tokens(drawn, ids, end, source, length).ids;
    window.insert(window.begin(), end);
    return window;
  };
  return dataset;
}

std::int64_t characters_of(const std::vector<Token>& tokens) {
  std::int64_t characters = 0;
  for (const Token& token : tokens) characters += num_characters(token.text);
  return characters;
}

// Adds a line to the stream. SentencePiece may put a space before every text; in a line's passages, those after the
// first word do begin with one.
void append_line(const Tokenizer& tokenizer, std::string_view line, std::int64_t added_spaces, EncodedText& text) {
  bool begun = false;
  for (const std::string_view passage : passages(line)) {
    const std::vector<Token> tokens = tokenizer.encode(passage);
    if (tokens.empty()) continue;
    for (const Token& token : tokens) text.stream.push_back(token.id);
    const bool own_space = begun && passage.starts_with(' ');
    text.characters += characters_of(tokens) - (own_space ? 0 : added_spaces);
    begun = true;
  }
}

// Encodes line feeds as ordinary tokens.
EncodedText encode_whole(const Tokenizer& tokenizer, std::string_view text, std::int64_t added_spaces,
                         const YieldCallback& yield) {
  EncodedText encoded;
  if (tokenizer.opening() >= 0) encoded.stream.push_back(tokenizer.opening());
  for (std::string_view passage : passages(text)) {
    if (yield) yield();
    encoded.characters += num_characters(passage);
    // The passage's own leading space is replaced by the one that is put before every text.
    if (added_spaces > 0 && passage.data() != text.data() && passage.starts_with(' ')) passage.remove_prefix(1);
    for (const Token& token : tokenizer.encode(passage)) encoded.stream.push_back(token.id);
  }
  return encoded;
}

}  // namespace

bool has_unknown_label(const Tokenizer& tokenizer, const Pair& pair) {
  return !tokenizer.labels().empty() &&
         std::ranges::any_of(tokenizer.encode(pair.target, Side::target), &Token::unknown);
}

std::vector<std::string> labels_of(const Corpus& corpus) {
  std::set<std::string> labels;
  for (const Pair& pair : corpus.train) labels.insert(pair.target);
  if (labels.size() > most_labels) {
    throw CorpusError(
        fmt::format("{}: {} different targets, but a classifier supports {} labels: choose labeled texts, such as the "
                    "built-in corpus verdicts",
                    corpus.name, labels.size(), most_labels));
  }
  return {labels.begin(), labels.end()};
}

std::string train_tokenizer(const Corpus& corpus, const TokenizerConfig& config, const ModelConfig& model) {
  std::vector<std::string> sentences = lines_of(corpus.text.train);
  for (const Pair& pair : corpus.train) {
    sentences.push_back(pair.source);
    if (!model.is_classifier()) sentences.push_back(pair.target);
  }
  return Tokenizer::train(sentences, config, model.is_masked_lm());
}

std::shared_ptr<const Dataset> encode_corpus(const Corpus& corpus, const Tokenizer& tokenizer, const ModelConfig& model,
                                             const FractionCallback& progress) {
  if (!model.reads_text()) return encode_pairs(corpus, tokenizer, model.max_length, progress);
  return corpus.drawn ? encode_drawn(corpus, tokenizer, model.max_length) : encode_text(corpus, tokenizer, progress);
}

std::optional<EncodedPair> encode_pair(const Tokenizer& tokenizer, const Pair& pair, std::int64_t max_length) {
  if (has_unknown_label(tokenizer, pair)) return std::nullopt;
  const auto ids = [&](const std::string& text, Side side) {
    std::vector<int> encoded;
    for (const Token& token : tokenizer.encode(text, side)) encoded.push_back(token.id);
    return encoded;
  };
  EncodedPair encoded{ids(pair.source, Side::source), ids(pair.target, Side::target)};
  encoded.source = tokenizer.source_ids(std::move(encoded.source));
  const std::size_t longest = std::max(encoded.source.size(), encoded.target.size() + 1);
  if (longest > static_cast<std::size_t>(max_length)) return std::nullopt;
  return encoded;
}

EncodedText encode_text(const Tokenizer& tokenizer, std::string_view text, const YieldCallback& yield) {
  const std::int64_t added_spaces = characters_of(tokenizer.encode("a")) - 1;
  if (!tokenizer.special().ends_lines) return encode_whole(tokenizer, text, added_spaces, yield);
  EncodedText encoded;
  for (std::int64_t lines = 0; !text.empty(); ++lines) {
    const std::string_view line = text.substr(0, text.find('\n'));
    append_line(tokenizer, line, added_spaces, encoded);
    text.remove_prefix(line.size());
    if (!text.empty()) {
      encoded.stream.push_back(tokenizer.special().end);
      ++encoded.characters;
      text.remove_prefix(1);
    }
    if (yield && lines % lines_per_yield == 0) yield();
  }
  return encoded;
}

}  // namespace attnscope
