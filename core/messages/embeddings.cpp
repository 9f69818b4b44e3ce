#include "messages/embeddings.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "messages/snapshot.h"

namespace attnscope {

std::vector<EmbeddingMatrix> embedding_matrices(const ModelConfig& model) {
  using enum EmbeddingMatrix;
  if (model.tied_embeddings || !model.has_decoder()) return {source};
  if (model.has_one_embedding()) return {source, output};
  return {source, target, output};
}

std::string matrix_title(EmbeddingMatrix matrix, const ModelConfig& model) {
  if (!model.has_decoder()) return "embedding";
  if (model.tied_embeddings) return model.is_language_model() ? "embedding = output" : "source = target = output";
  if (matrix == EmbeddingMatrix::output) return "output matrix";
  if (model.has_one_embedding()) return model.is_language_model() ? "embedding" : "source = target";
  return matrix == EmbeddingMatrix::source ? "source embedding" : "target embedding";
}

EmbeddingMatrix present_matrix(EmbeddingMatrix matrix, const ModelConfig& model) {
  const std::vector<EmbeddingMatrix> all = embedding_matrices(model);
  return std::ranges::find(all, matrix) == all.end() ? all.front() : matrix;
}

std::vector<int> most_frequent(const Vocabulary& vocabulary, std::size_t count) {
  std::vector<int> ids(vocabulary.tokens.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto count_of = [&](int id) {
    return vocabulary.facts.empty() ? 0 : vocabulary.facts[static_cast<std::size_t>(id)].count;
  };
  std::ranges::stable_sort(ids, std::ranges::greater(), count_of);
  ids.resize(std::min(ids.size(), count));
  std::ranges::sort(ids);
  return ids;
}

std::string token_name(std::string_view token) {
  if (token.starts_with(word_mark)) return std::string(without_mark(token));
  const auto first = token.empty() ? '\0' : static_cast<unsigned char>(token.front());
  const bool letters = std::isalpha(first) != 0 || first >= 0x80;
  return letters ? "+" + std::string(token) : std::string(token);
}

int find_token(const Vocabulary& vocabulary, std::string_view name) {
  const std::vector<std::string>& tokens = vocabulary.tokens;
  const auto find = [&](const std::string& token) {
    const auto found = std::ranges::find(tokens, token);
    return found == tokens.end() ? -1 : static_cast<int>(found - tokens.begin());
  };
  if (name.size() > 1 && name.front() == '+') return find(std::string(name.substr(1)));
  const int word = find(std::string(word_mark) + std::string(name));
  return word >= 0 ? word : find(std::string(name));
}

}  // namespace attnscope
