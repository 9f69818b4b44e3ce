#include "inspect/evaluation/vocabulary_facts.h"

#include <algorithm>

#include "data/corpus/words.h"
#include "messages/snapshot.h"

namespace attnscope {
namespace {

constexpr std::size_t sampled_pairs = 4000;
constexpr std::size_t sampled_bytes = 400'000;  // of running text

void count_tokens(const Tokenizer& tokenizer, std::string_view text, bool source, std::vector<TokenFacts>& facts) {
  for (const Token& token : tokenizer.encode(text, source ? Side::source : Side::target)) {
    TokenFacts& fact = facts[static_cast<std::size_t>(token.id)];
    ++fact.count;
    if (source) ++fact.on_source;
  }
}

void count_corpus(const Tokenizer& tokenizer, const Corpus& corpus, std::vector<TokenFacts>& facts) {
  for (std::size_t i = 0; i < std::min(sampled_pairs, corpus.train.size()); ++i) {
    count_tokens(tokenizer, corpus.train[i].source, true, facts);
    count_tokens(tokenizer, corpus.train[i].target, false, facts);
  }
  const std::string_view text = std::string_view(corpus.text.train).substr(0, sampled_bytes);
  for (const std::string& line : lines_of(text)) count_tokens(tokenizer, line, true, facts);
}

}  // namespace

std::shared_ptr<const Vocabulary> vocabulary_of(const Tokenizer& tokenizer, const Corpus* corpus,
                                                const CorpusConfig& config) {
  auto vocabulary = std::make_shared<Vocabulary>();
  for (int id = 0; id < tokenizer.vocab_size(); ++id) vocabulary->tokens.push_back(tokenizer.token(id));
  if (!corpus) return vocabulary;
  vocabulary->facts.resize(vocabulary->tokens.size());
  vocabulary->has_sides = !corpus->train.empty();
  count_corpus(tokenizer, *corpus, vocabulary->facts);
  if (!is_english_french(config)) return vocabulary;
  vocabulary->knows_words = true;
  for (std::size_t id = 0; id < vocabulary->tokens.size(); ++id) {
    const std::string& token = vocabulary->tokens[id];
    if (token.starts_with(word_mark)) vocabulary->facts[id].word = properties_of(without_mark(token));
  }
  return vocabulary;
}

}  // namespace attnscope
