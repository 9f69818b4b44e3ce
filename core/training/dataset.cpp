#include "training/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/free_memory.h"
#include "model/kernels/thread_pool.h"

namespace attnscope {
namespace {

constexpr int format_version = 2;
constexpr std::size_t pairs_per_chunk = 1 << 14;
constexpr std::size_t pairs_per_release = 256;  // held-out pairs are far apart
constexpr std::size_t lines_per_chunk = 1 << 12;
constexpr std::int64_t lines_per_yield = 256;
constexpr std::size_t most_labels = 1000;

// Tokens of a corpus on their way to a file, and their places in it.
class TokenWriter {
 public:
  explicit TokenWriter(const std::string& name) : out_(name) {}

  void append(const std::vector<int>& ids) {
    out_.append({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int)});
  }
  // The place of a pair that starts the next ids.
  void index(std::uint64_t source_length, std::uint64_t begin) {
    index_.push_back(out_.size() / sizeof(int) - part_ + begin);
    index_.push_back(index_.back() + source_length);
  }
  void expect(std::size_t pairs) { index_.reserve(2 * pairs); }
  std::uint64_t num_ids() const { return out_.size() / sizeof(int); }

  // Ends a part: training or validation.
  void end_part() {
    const std::uint64_t count = num_ids() - part_;
    const std::uint64_t index = out_.append_numbers(std::span<const std::uint64_t>(index_));
    parts_.push_back({part_ * sizeof(int), count, index, index_.size()});
    std::vector<std::uint64_t>().swap(index_);
    part_ = num_ids();
  }

  std::shared_ptr<const CacheFile> finish(const std::string& corpus, const Dataset& dataset) {
    const nlohmann::json about = {{"name", corpus},
                                  {"parts", parts_},
                                  {"too_long", dataset.too_long},
                                  {"unknown_label", dataset.unknown_label}};
    return out_.finish(about.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

 private:
  CacheWriter out_;
  std::vector<std::uint64_t> index_;
  std::uint64_t part_ = 0;  // where it begins
  std::vector<std::array<std::uint64_t, 4>> parts_;
};

void take_parts(const std::shared_ptr<const CacheFile>& file, bool as_text, Dataset& dataset) {
  const nlohmann::json about = nlohmann::json::parse(file->about());
  dataset.too_long = about.at("too_long");
  dataset.unknown_label = about.at("unknown_label");
  const auto take = [&](const nlohmann::json& part, EncodedPairs& pairs, Numbers<int>& stream) {
    Numbers<int> ids(file, file->numbers<int>(part[0], part[1]));
    if (as_text)
      stream = std::move(ids);
    else
      pairs = EncodedPairs(std::move(ids), Numbers(file, file->numbers<std::uint64_t>(part[2], part[3])));
  };
  take(about.at("parts")[0], dataset.train, dataset.train_stream);
  take(about.at("parts")[1], dataset.validation, dataset.validation_stream);
}

std::string name_of(const Corpus& corpus, const Tokenizer& tokenizer, const ModelConfig& model) {
  if (!corpus.caches_tokens) return {};
  std::uint64_t tokens = 0;
  for (const auto& [file, bytes] : tokenizer.files()) tokens = checksum(bytes, checksum(file, tokens));
  const std::string key = fmt::format("{} {} {:x} {} {} {}", format_version, corpus.hash, tokens,
                                      model.reads_text() ? 0 : model.max_length, model.architecture, model.first_id);
  return fmt::format("tokens-{:016x}.bin", checksum(key));
}

// The tokens of some pairs, and the lengths of each.
struct Chunk {
  std::vector<int> ids;
  std::vector<std::array<std::size_t, 2>> lengths;
  std::int64_t too_long = 0, unknown_label = 0;
};

// Appends a pair as the model reads it, and returns the lengths of source and target.
std::array<std::size_t, 2> append_pair(const PairView& pair, const Tokenizer& tokenizer, TextEncoder& encoder,
                                       std::vector<int>& ids) {
  const std::size_t begin = ids.size();
  if (tokenizer.opening() >= 0) ids.push_back(tokenizer.opening());
  encoder.append(pair.source, Side::source, ids);
  ids.push_back(tokenizer.source_end());
  const std::size_t source = ids.size() - begin;
  if (tokenizer.special().first >= 0) ids.push_back(tokenizer.special().first);
  encoder.append(pair.target, Side::target, ids);
  return {source, ids.size() - begin - source};
}

bool is_too_long(const std::array<std::size_t, 2>& lengths, std::int64_t max_length) {
  return std::max(lengths[0], lengths[1] + 1) > static_cast<std::size_t>(max_length);
}

Chunk encode_chunk(const PairList& pairs, std::size_t begin, const Tokenizer& tokenizer, TextEncoder& encoder,
                   std::int64_t max_length) {
  const bool has_labels = !tokenizer.labels().empty();
  const int unknown = tokenizer.special().unknown;
  Chunk chunk;
  for (std::size_t i = begin; i < std::min(begin + pairs_per_chunk, pairs.size()); ++i) {
    if (i % pairs_per_release == 0) pairs.release();
    const PairView pair = pairs.view(i);
    const std::size_t first = chunk.ids.size();
    const std::array<std::size_t, 2> lengths = append_pair(pair, tokenizer, encoder, chunk.ids);
    const bool is_unknown = has_labels && std::ranges::count(std::span(chunk.ids).last(lengths[1]), unknown) > 0;
    if (is_unknown || is_too_long(lengths, max_length)) {
      ++(is_unknown ? chunk.unknown_label : chunk.too_long);
      chunk.ids.resize(first);
    } else {
      chunk.lengths.push_back(lengths);
    }
  }
  return chunk;
}

// Calls encode(i, encoder) for 0 … count − 1 on all threads, and done(i) on the caller's, in order.
void encode_in_turns(std::size_t count, const Tokenizer& tokenizer,
                     const std::function<void(std::size_t i, TextEncoder& encoder)>& encode,
                     const std::function<void(std::size_t i)>& done) {
  const auto threads = static_cast<std::size_t>(kernels::pool()->size());
  std::vector<TextEncoder> encoders(threads, TextEncoder(tokenizer));
  kernels::run_by_turns(
      count, false, [&](std::size_t i, bool) { encode(i, encoders[i % threads]); }, done);
}

void encode_part(const PairList& pairs, const Tokenizer& tokenizer, std::int64_t max_length, TokenWriter& writer,
                 Dataset& dataset, const FractionCallback& progress) {
  const std::size_t count = (pairs.size() + pairs_per_chunk - 1) / pairs_per_chunk;
  std::vector<Chunk> chunks(count);
  writer.expect(pairs.size());
  encode_in_turns(
      count, tokenizer,
      [&](std::size_t i, TextEncoder& encoder) {
        chunks[i] = encode_chunk(pairs, i * pairs_per_chunk, tokenizer, encoder, max_length);
      },
      [&](std::size_t i) {
        const Chunk chunk = std::exchange(chunks[i], {});
        std::size_t begin = 0;
        for (const auto& [source, target] : chunk.lengths) {
          writer.index(source, begin);
          begin += source + target;
        }
        writer.append(chunk.ids);
        dataset.too_long += chunk.too_long;
        dataset.unknown_label += chunk.unknown_label;
        if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(count));
      });
  writer.end_part();
}

std::shared_ptr<const Dataset> encode_pairs(const Corpus& corpus, const Tokenizer& tokenizer, const ModelConfig& model,
                                            const FractionCallback& progress) {
  auto dataset = std::make_shared<Dataset>();
  const std::string name = name_of(corpus, tokenizer, model);
  auto file = CacheFile::open(name);
  if (!file) {
    TokenWriter writer(name);
    encode_part(corpus.train, tokenizer, model.max_length, writer, *dataset, progress);
    encode_part(corpus.validation, tokenizer, model.max_length, writer, *dataset, [&](double) {
      if (progress) progress(1);
    });
    file = writer.finish(corpus.name, *dataset);
    give_back_memory();
  }
  take_parts(file, false, *dataset);
  if (dataset->train.empty()) {
    throw CorpusError(fmt::format("{}: no pair has at most {} tokens; increase model.max_length", corpus.name,
                                  model.max_length));
  }
  return dataset;
}

// Words begin with "▁", or their other tokens with "##".
std::vector<bool> word_beginnings(const Tokenizer& tokenizer) {
  std::vector<bool> marked, unmarked;
  bool marks_rest = false;
  for (int id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string token = tokenizer.token(id);
    marks_rest |= token.starts_with("##") && token != "##";
    marked.push_back(token.starts_with(word_mark));
    unmarked.push_back(!token.starts_with("##"));
  }
  return marks_rest ? unmarked : marked;
}

// Encodes the lines of a text, each ended by </s>, as encode_text does.
void encode_lines(std::string_view text, const Tokenizer& tokenizer, TokenWriter& writer,
                  const FractionCallback& progress) {
  std::vector<std::string_view> chunks;
  for (std::size_t at = 0, begin = 0, lines = 0; begin < text.size();) {
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (++lines % lines_per_chunk != 0 && at < text.size()) continue;
    chunks.push_back(text.substr(begin, at - begin));
    begin = at;
  }
  std::vector<std::vector<int>> ids(chunks.size());
  encode_in_turns(
      chunks.size(), tokenizer,
      [&](std::size_t i, TextEncoder& encoder) {
        for (std::string_view rest = chunks[i]; !rest.empty();) {
          const std::string_view line = rest.substr(0, rest.find('\n'));
          for (const std::string_view passage : passages(line)) encoder.append(passage, Side::source, ids[i]);
          rest.remove_prefix(line.size());
          if (rest.empty()) break;
          ids[i].push_back(tokenizer.special().end);
          rest.remove_prefix(1);
        }
      },
      [&](std::size_t i) {
        writer.append(std::exchange(ids[i], {}));
        if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(chunks.size()));
      });
}

std::shared_ptr<const Dataset> encode_text(const Corpus& corpus, const Tokenizer& tokenizer, const ModelConfig& model,
                                           const FractionCallback& progress) {
  auto dataset = std::make_shared<Dataset>();
  const std::string name = name_of(corpus, tokenizer, model);
  auto file = CacheFile::open(name);
  if (!file) {
    TokenWriter writer(name);
    for (const std::string* part : {&corpus.text.train, &corpus.text.validation}) {
      const double calls = static_cast<double>(passages(*part).size());
      double done = 0;
      if (tokenizer.special().ends_lines)
        encode_lines(*part, tokenizer, writer, part == &corpus.text.train ? progress : FractionCallback());
      else
        writer.append(encode_text(tokenizer, *part, [&] {
                        if (progress) progress(std::min(1.0, done++ / calls));
                      }).stream);
      writer.end_part();
    }
    file = writer.finish(corpus.name, *dataset);
  }
  take_parts(file, true, *dataset);
  if (tokenizer.special().mask >= 0) dataset->begins_word = word_beginnings(tokenizer);
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
    for (const int id : tokens.ids) dataset->validation_stream.push_back(id);
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
  std::set<std::string, std::less<>> labels;
  corpus.train.for_each([&](const PairView& pair) {
    if (!labels.contains(pair.target)) labels.emplace(pair.target);
  });
  if (labels.size() > most_labels) {
    throw CorpusError(
        fmt::format("{}: {} different targets, but a classifier supports {} labels: choose labeled texts, such as the "
                    "built-in corpus verdicts",
                    corpus.name, labels.size(), most_labels));
  }
  return {labels.begin(), labels.end()};
}

std::string train_tokenizer(const Corpus& corpus, const TokenizerConfig& config, const ModelConfig& model,
                            const YieldCallback& yield) {
  const std::string key = fmt::format("{} {} {} {} {} {}", format_version, corpus.hash, config.type, config.vocab_size,
                                      model.is_classifier(), model.is_masked_lm());
  const std::string name = corpus.caches_tokens ? fmt::format("tokenizer-{:016x}.bin", checksum(key)) : "";
  if (const auto file = CacheFile::open(name)) return std::string(file->content());
  std::vector<std::string_view> sentences;
  sentences.reserve(2 * corpus.train.size());
  for (std::string_view rest = corpus.text.train; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) sentences.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  corpus.train.for_each([&](const PairView& pair) {
    sentences.push_back(pair.source);
    if (!model.is_classifier()) sentences.push_back(pair.target);
  });
  const std::string trained = Tokenizer::train(std::move(sentences), config, model.is_masked_lm(), [&] {
    corpus.train.release();
    if (yield) yield();
  });
  if (name.empty()) return trained;
  CacheWriter writer(name);
  writer.append(trained);
  writer.finish(nlohmann::json{{"name", corpus.name}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return trained;
}

void EncodedPairs::push_back(const PairTokens& pair) {
  index_.push_back(ids_.size());
  for (const int id : pair.source) ids_.push_back(id);
  index_.push_back(ids_.size());
  for (const int id : pair.target) ids_.push_back(id);
}

void EncodedPairs::pop_back() {
  ids_.resize(index_[index_.size() - 2]);
  index_.resize(index_.size() - 2);
}

std::shared_ptr<const Dataset> encode_corpus(const Corpus& corpus, const Tokenizer& tokenizer, const ModelConfig& model,
                                             const FractionCallback& progress) {
  if (!model.reads_text()) return encode_pairs(corpus, tokenizer, model, progress);
  return corpus.drawn ? encode_drawn(corpus, tokenizer, model.max_length)
                      : encode_text(corpus, tokenizer, model, progress);
}

std::optional<EncodedPair> encode_pair(const Tokenizer& tokenizer, const Pair& pair, std::int64_t max_length) {
  if (has_unknown_label(tokenizer, pair)) return std::nullopt;
  TextEncoder encoder(tokenizer);
  std::vector<int> ids;
  const std::array<std::size_t, 2> lengths = append_pair({pair.source, pair.target}, tokenizer, encoder, ids);
  if (is_too_long(lengths, max_length)) return std::nullopt;
  const auto target = ids.begin() + static_cast<std::ptrdiff_t>(lengths[0]);
  return EncodedPair{{ids.begin(), target}, {target, ids.end()}};
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
