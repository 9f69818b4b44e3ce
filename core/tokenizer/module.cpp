// The SentencePiece side of module.h.
#include "tokenizer/module.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <regex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace attnscope {

struct SentencePieceModel {
  sentencepiece::SentencePieceProcessor processor;
};

namespace {

OwnedText owned(const std::string& text) {
  char* data = new char[text.size() + 1];
  std::memcpy(data, text.c_str(), text.size() + 1);
  return {data, text.size()};
}

void check(const sentencepiece::util::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

// Runs `body`; whatever it throws becomes the error's text.
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

// Hands the caller's sentences to the trainer one by one.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  Sentences(const TextView* sentences, std::size_t count) : next_(sentences), end_(sentences + count) { read(); }

  bool done() const override { return next_ == end_; }
  void Next() override {
    ++next_;
    read();
  }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void read() {
    if (next_ != end_) value_.assign(next_->data, next_->size);
  }

  const TextView* next_;
  const TextView* end_;
  std::string value_;
};

std::string train_once(const TrainingRequest& request, long vocab_size) {
  const std::unordered_map<std::string, std::string> options = {
      {"model_type", request.type},
      {"vocab_size", std::to_string(vocab_size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", "1.0"},
      {"normalization_rule_name", "identity"},
      {"split_digits", "true"},
      {"max_sentence_length", "1000000"},
      {"pad_id", std::to_string(request.pad_id)},
      {"bos_id", std::to_string(request.bos_id)},
      {"eos_id", std::to_string(request.eos_id)},
      {"unk_id", std::to_string(request.unk_id)},
      {"num_threads", "1"},  // the sums of unigram's EM depend on the number of threads
      {"minloglevel", "2"},
  };
  Sentences sentences(request.sentences, request.count);
  std::string model;
  check(sentencepiece::SentencePieceTrainer::Train(options, &sentences, &model));
  return model;
}

OwnedText train(const TrainingRequest* request, OwnedText* model) {
  return guarded([&] { *model = owned(train_once(*request, request->vocab_size)); });
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

int vocab_size(const SentencePieceModel* model) {
  return model->processor.GetPieceSize();
}

SpecialIds special_ids(const SentencePieceModel* model) {
  const auto& processor = model->processor;
  return {processor.pad_id(), processor.bos_id(), processor.eos_id(), processor.unk_id()};
}

TextView piece(const SentencePieceModel* model, int id) {
  const std::string& text = model->processor.IdToPiece(id);
  return {text.data(), text.size()};
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
    .load = load,
    .encode = encode,
    .decode = decode,
    .vocab_size = vocab_size,
    .special_ids = special_ids,
    .piece = piece,
    .free_model = free_model,
    .free_encoding = free_encoding,
    .free_text = free_text,
};

}  // namespace
}  // namespace attnscope

const attnscope::SentencePieceApi* attnscope_sentencepiece_api() {
  return &attnscope::api;
}
