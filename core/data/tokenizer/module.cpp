// The SentencePiece side of module.h.
#include "data/tokenizer/module.h"

#include <malloc.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace attnscope {

struct SentencePieceModel {
  sentencepiece::SentencePieceProcessor processor;
};

namespace {

constexpr std::string_view char_type = "char";
constexpr std::string_view word_type = "word";

OwnedText owned(const std::string& text) {
  char* data = new char[text.size() + 1];
  std::memcpy(data, text.c_str(), text.size() + 1);
  return {data, text.size()};
}

void check(const sentencepiece::util::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

// Runs `body`; an exception becomes the error's text.
template <typename Body>
OwnedText guarded(const Body& body) noexcept {
  try {
    body();
    return {nullptr, 0};
  } catch (const std::exception& error) {
    return owned(error.what());
  } catch (...) {
    return owned("unknown error");
  }
}

// A sentence, and how often it occurs.
struct Counted {
  TextView text;
  std::size_t times = 1;
};

// Passes the sentences to the trainer one by one; counted ones followed by a tab and their number.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  Sentences(const std::vector<Counted>& sentences, bool counted)
      : next_(sentences.begin()), end_(sentences.end()), counted_(counted) {
    read();
  }

  bool done() const override { return next_ == end_; }
  void Next() override {
    ++next_;
    read();
  }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void read() {
    if (next_ == end_) return;
    value_.assign(next_->text.data, next_->text.size);
    if (counted_) value_ += '\t' + std::to_string(next_->times);
  }

  std::vector<Counted>::const_iterator next_, end_;
  bool counted_;
  std::string value_;
};

bool has_tab(const std::vector<Counted>& sentences) {
  return std::any_of(sentences.begin(), sentences.end(), [](const Counted& sentence) {
    return std::memchr(sentence.text.data, '\t', sentence.text.size) != nullptr;
  });
}

// `type` can differ from the requested one: a character model is also used to count the characters. A request for
// characters covers every one of them, also repeated spaces.
std::string train_once(const TrainingRequest& request, const std::vector<Counted>& sentences, std::string_view type,
                       std::size_t vocab_size) {
  const bool lossless = request.type == char_type;
  std::unordered_map<std::string, std::string> options = {
      {"model_type", std::string(type)},
      {"vocab_size", std::to_string(vocab_size)},
      {"hard_vocab_limit", "false"},
      // One piece per character or word.
      {"use_all_vocab", type == char_type || type == word_type ? "true" : "false"},
      {"character_coverage", "1.0"},
      {"normalization_rule_name", "identity"},
      {"remove_extra_whitespaces", lossless ? "false" : "true"},
      {"add_dummy_prefix", lossless ? "false" : "true"},
      {"split_digits", type == word_type ? "false" : "true"},
      {"max_sentence_length", std::to_string(longest_sentence)},
      {"pad_id", std::to_string(request.pad_id)},
      {"bos_id", std::to_string(request.bos_id)},
      {"eos_id", std::to_string(request.eos_id)},
      {"unk_id", std::to_string(request.unk_id)},
      {"num_threads", "1"},  // the sums of unigram's EM depend on the number of threads
      {"minloglevel", "2"},
  };
  // The trainer uses tabs as a separator and omits them, unless they are requested explicitly.
  std::string own = lossless && has_tab(sentences) ? "\t" : "";
  if (request.mask) own += (own.empty() ? "" : ",") + std::string(request.mask);
  if (!own.empty()) options.emplace("user_defined_symbols", own);
  const bool counted = request.times != nullptr;
  if (counted) options.emplace("input_format", "tsv");
  Sentences iterator(sentences, counted);
  std::string model;
  check(sentencepiece::SentencePieceTrainer::Train(options, &iterator, &model));
  return model;
}

// The smallest vocabulary: the special pieces and one per character.
std::size_t smallest_vocabulary(const TrainingRequest& request, const std::vector<Counted>& sentences) {
  sentencepiece::SentencePieceProcessor processor;
  check(processor.LoadFromSerializedProto(train_once(request, sentences, char_type, request.vocab_size)));
  return static_cast<std::size_t>(processor.GetPieceSize());
}

// SentencePiece 0.1.97 reads past the end of an empty list (bpe_model_trainer.cc, UpdateActiveSymbols) if a BPE trainer
// has no merges left and the number of merges is a multiple of 100. This affects every corpus of digits at the first
// merge, and other small corpora by chance. So the trainer must stop before it runs out of merges. With many different
// words that is certain at once; otherwise a rehearsal counts the merges.

std::unordered_set<std::string_view> different_words(const std::vector<Counted>& sentences) {
  std::unordered_set<std::string_view> words;
  for (const Counted& sentence : sentences) {
    std::string_view rest(sentence.text.data, sentence.text.size);
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      if (!word.empty()) words.insert(word);
    }
  }
  return words;
}

// A lower bound of the number of merges: each of these words becomes a piece of its own.
std::size_t certain_merges(const std::unordered_set<std::string_view>& words) {
  constexpr std::size_t longest_piece = 16;  // characters, including the word mark
  return static_cast<std::size_t>(std::count_if(words.begin(), words.end(), [](std::string_view word) {
    return word.size() < longest_piece && std::all_of(word.begin(), word.end(), [](char c) {
             return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
           });
  }));
}

// An upper bound: a word of n characters and its word mark is complete after n merges. A rehearsal takes time for every
// requested merge, found or not.
std::size_t most_merges(const std::unordered_set<std::string_view>& words) {
  std::size_t bytes = 0;
  for (const std::string_view word : words) bytes += word.size();
  return bytes;
}

// Private-use characters, four bytes each, that occur in no corpus: U+F0000…U+F0FFF.
constexpr char32_t first_private = 0xF0000;

std::string private_character(std::size_t index) {
  const char32_t c = first_private + static_cast<char32_t>(index);
  return {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 0x3F)),
          static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
}

// Texts of private-use characters, each with its own characters, in which every pair occurs once (a de Bruijn sequence,
// 80² characters long). Each merge removes the occurrences of one pair, so a text lasts for thousands of merges.
constexpr std::size_t characters_a_text = 80;
constexpr std::size_t merges_a_text = 5000;

std::string private_text(std::size_t first) {
  std::string text;
  for (std::size_t i = 0; i < characters_a_text; ++i) {
    const std::string left = private_character(first + i);
    text += left;
    for (std::size_t j = i + 1; j < characters_a_text; ++j) text += left + private_character(first + j);
  }
  return text;
}

bool has_private(const std::string& piece) {
  return piece.find(private_character(0).substr(0, 2)) != std::string::npos;  // U+F0000…U+F0FFF
}

// Counts the possible merges in the sentences, up to `wanted`. Each sentence is given twice, so that its pairs, which
// then occur at least twice, are merged before the first private pair, which occurs once.
std::size_t rehearse_merges(const TrainingRequest& request, std::vector<Counted> sentences, std::size_t smallest,
                            std::size_t wanted) {
  std::vector<std::string> texts(wanted / merges_a_text + 1);
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = private_text(i * characters_a_text);
  if (request.times != nullptr) {
    for (Counted& sentence : sentences) sentence.times *= 2;
  } else {
    sentences.reserve(2 * sentences.size() + texts.size());
    sentences.insert(sentences.end(), sentences.begin(), sentences.end());
  }
  for (const std::string& text : texts) sentences.push_back({{text.data(), text.size()}});
  sentencepiece::SentencePieceProcessor processor;
  check(processor.LoadFromSerializedProto(
      train_once(request, sentences, "bpe", smallest + texts.size() * characters_a_text + wanted)));
  // The pieces are in the order of their merges, after the special ones.
  int id = std::max({request.pad_id, request.bos_id, request.eos_id, request.unk_id}) + 1;
  std::size_t merges = 0;
  while (merges < wanted && !has_private(processor.IdToPiece(id))) {
    ++id;
    ++merges;
  }
  return merges;
}

std::string train_model(const TrainingRequest& request) {
  std::vector<Counted> sentences(request.count);
  for (std::size_t i = 0; i < request.count; ++i)
    sentences[i] = {request.sentences[i], request.times != nullptr ? request.times[i] : 1};
  for (const std::string_view type : {char_type, word_type})
    if (request.type == type) return train_once(request, sentences, type, request.vocab_size);
  const std::size_t smallest = smallest_vocabulary(request, sentences);
  if (request.vocab_size < smallest) {
    throw std::runtime_error("tokenizer.vocab_size is " + std::to_string(request.vocab_size) +
                             "; the characters of this corpus need at least " + std::to_string(smallest));
  }
  std::size_t vocab_size = request.vocab_size;
  const std::size_t merges = vocab_size - smallest;
  const auto words = different_words(sentences);
  if (request.type == std::string_view("bpe") && certain_merges(words) < merges) {
    vocab_size = smallest + rehearse_merges(request, sentences, smallest, std::min(merges, most_merges(words)));
  }
  return train_once(request, sentences, request.type, vocab_size);
}

OwnedText train(const TrainingRequest* request, OwnedText* model) {
  const OwnedText error = guarded([&] { *model = owned(train_model(*request)); });
#ifdef __GLIBC__
  malloc_trim(0);  // the program cannot: this heap is the module's
#endif
  return error;
}

OwnedText load(TextView model_bytes, SentencePieceModel** model) {
  return guarded([&] {
    auto loaded = std::make_unique<SentencePieceModel>();
    check(loaded->processor.LoadFromSerializedProto({model_bytes.data, model_bytes.size}));
    *model = loaded.release();
  });
}

struct EncodingStorage {
  sentencepiece::ImmutableSentencePieceText text;
  std::vector<Piece> pieces;
};

OwnedText encode(const SentencePieceModel* model, TextView text, Encoding* encoding) {
  return guarded([&] {
    auto storage = std::make_unique<EncodingStorage>();
    check(model->processor.Encode({text.data, text.size}, storage->text.mutable_proto()));
    storage->pieces.reserve(storage->text.pieces_size());
    for (std::size_t i = 0; i < storage->text.pieces_size(); ++i) {
      const auto piece = storage->text.pieces(static_cast<int>(i));
      storage->pieces.push_back({static_cast<int>(piece.id()), {piece.piece().data(), piece.piece().size()}});
    }
    const auto& pieces = storage->pieces;
    *encoding = {pieces.data(), pieces.size(), storage.get()};
    storage.release();
  });
}

OwnedText decode(const SentencePieceModel* model, const int* ids, std::size_t count, OwnedText* text) {
  return guarded([&] {
    std::string decoded;
    check(model->processor.Decode(std::vector<int>(ids, ids + count), &decoded));
    *text = owned(decoded);
  });
}

OwnedText join(const SentencePieceModel* model, const TextView* pieces, std::size_t count, OwnedText* text) {
  return guarded([&] {
    std::vector<std::string> copies;
    for (std::size_t i = 0; i < count; ++i) copies.emplace_back(pieces[i].data, pieces[i].size);
    std::string joined;
    check(model->processor.Decode(copies, &joined));
    *text = owned(joined);
  });
}

int vocab_size(const SentencePieceModel* model) {
  return model->processor.GetPieceSize();
}

// BPE, whose scores are whole numbers (unigram's sums of scores depend on the words before); text that is not
// normalized but for its spaces, and no piece that spans words.
bool separates_words(const SentencePieceModel* model) {
  const auto& processor = model->processor;
  bool merges = true;
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    if (processor.IdToPiece(id).find("\xE2\x96\x81", 1) != std::string::npos) return false;
    const float score = processor.GetScore(id);
    merges = merges && score == std::floor(score);
  }
  std::vector<std::string> pieces;
  std::string joined;
  // "ﬁ" and "½": NFKC has "fi" and "1⁄2"
  if (!merges || !processor.Encode("  \xEF\xAC\x81  \xC2\xBD ", &pieces).ok()) return false;
  for (const std::string& piece : pieces) joined += piece;
  return joined == "\xE2\x96\x81\xEF\xAC\x81\xE2\x96\x81\xC2\xBD";
}

SpecialIds special_ids(const SentencePieceModel* model) {
  const auto& processor = model->processor;
  return {processor.pad_id(), processor.bos_id(), processor.eos_id(), processor.unk_id()};
}

TextView piece(const SentencePieceModel* model, int id) {
  const std::string& text = model->processor.IdToPiece(id);
  return {text.data(), text.size()};
}

int id_of(const SentencePieceModel* model, TextView piece) {
  return model->processor.PieceToId({piece.data, piece.size});
}

void free_model(SentencePieceModel* model) {
  delete model;
}
void free_encoding(Encoding encoding) {
  delete static_cast<EncodingStorage*>(encoding.storage);
}
void free_text(OwnedText text) {
  delete[] text.data;
}

constexpr SentencePieceApi api = {
    .version = sentencepiece_api_version,
    .train = train,
    .separates_words = separates_words,
    .load = load,
    .encode = encode,
    .decode = decode,
    .join = join,
    .vocab_size = vocab_size,
    .special_ids = special_ids,
    .piece = piece,
    .id_of = id_of,
    .free_model = free_model,
    .free_encoding = free_encoding,
    .free_text = free_text,
};

}  // namespace
}  // namespace attnscope

const attnscope::SentencePieceApi* attnscope_sentencepiece_api() {
  return &attnscope::api;
}
