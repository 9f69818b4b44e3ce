#include "evaluation/vocabulary_facts.h"

#include <algorithm>

#include "corpus/words.h"
#include "plain/snapshot.h"

namespace attnscope {
namespace {

constexpr std::size_t sampled_pairs = 4000;
constexpr std::size_t sampled_bytes = 400'000;  // of running text

void count_pieces(const Tokenizer& tokenizer, std::string_view text, bool source, std::vector<PieceFacts>& facts) {
  for (const Token& token : tokenizer.encode(text, source ? Side::source : Side::target)) {
    PieceFacts& fact = facts[static_cast<std::size_t>(token.id)];
    ++fact.count;
    if (source) ++fact.on_source;
  }
}

void count_corpus(const Tokenizer& tokenizer, const Corpus& corpus, std::vector<PieceFacts>& facts) {
  for (std::size_t i = 0; i < std::min(sampled_pairs, corpus.train.size()); ++i) {
    count_pieces(tokenizer, corpus.train[i].source, true, facts);
    count_pieces(tokenizer, corpus.train[i].target, false, facts);
  }
  const std::string_view text = std::string_view(corpus.text.train).substr(0, sampled_bytes);
  for (const std::string& line : lines_of(text)) count_pieces(tokenizer, line, true, facts);
}

}  // namespace

std::shared_ptr<const Vocabulary> vocabulary_of(const Tokenizer& tokenizer, const Corpus* corpus,
                                                const CorpusConfig& config) {
  auto vocabulary = std::make_shared<Vocabulary>();
  for (int id = 0; id < tokenizer.vocab_size(); ++id) vocabulary->pieces.push_back(tokenizer.piece(id));
  if (!corpus) return vocabulary;
  vocabulary->facts.resize(vocabulary->pieces.size());
  vocabulary->has_sides = !corpus->train.empty();
  count_corpus(tokenizer, *corpus, vocabulary->facts);
  if (!is_english_french(config)) return vocabulary;
  vocabulary->knows_words = true;
  for (std::size_t id = 0; id < vocabulary->pieces.size(); ++id) {
    const std::string& piece = vocabulary->pieces[id];
    if (piece.starts_with(word_mark)) vocabulary->facts[id].word = properties_of(without_mark(piece));
  }
  return vocabulary;
}

}  // namespace attnscope
