// Analyzes the matrices that have one vector per token: map, neighbors, analogies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/tokenizer/tokenizer.h"
#include "messages/embeddings.h"
#include "model/model.h"

namespace attnscope {

// The source of a matrix's rows.
struct EmbeddingSource {
  std::int64_t step = 0;                    // of the current weights
  std::vector<std::int64_t> recorded = {};  // steps with recorded rows, ascending
  // V×D of a recorded step, float32 or float16.
  std::function<torch::Tensor(std::int64_t step, EmbeddingMatrix matrix)> rows_at = {};
};

// Caches its results for the newest steps, so that another question about them is cheap. It belongs to one run's
// vocabulary: discard it with the run.
class EmbeddingAnalyzer {
 public:
  explicit EmbeddingAnalyzer(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}

  // The same question about the same weights returns the same object, not a copy.
  std::shared_ptr<const EmbeddingResult> inspect(const SequenceModel& model, const Tokenizer& tokenizer,
                                                 const EmbeddingsWanted& wanted, const EmbeddingSource& source);

  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  // A matrix at a step, and the results that do not depend on the question.
  struct Rows {
    EmbeddingMatrix matrix = EmbeddingMatrix::source;
    std::int64_t step = -1;
    Matrix vectors;
    std::vector<float> norms;
    std::shared_ptr<const EmbeddingMap> map;  // computed on demand
    std::string problem;
  };

  std::shared_ptr<Rows> rows_of(const SequenceModel& model, EmbeddingMatrix matrix, std::int64_t step, bool recorded,
                                const EmbeddingSource& source);
  void answer_chosen(const std::string& word, const Rows& rows, const Tokenizer& tokenizer,
                     EmbeddingResult& inspection) const;
  void answer_analogy(const std::array<std::string, 3>& words, const Rows& rows, const Tokenizer& tokenizer,
                      EmbeddingResult& inspection) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<std::shared_ptr<Rows>> kept_;  // the newest last
  std::shared_ptr<const EmbeddingResult> last_;
  EmbeddingsWanted last_wanted_;
};

// Returns a one-sentence problem if the word is not a single token.
std::string token_problem(const Tokenizer& tokenizer, const std::string& word);

// A sample of the distances between these rows, normalized to length 1, ascending.
std::vector<float> sampled_distances(const Matrix& vectors, const std::vector<float>& norms, std::span<const int> ids);

}  // namespace attnscope
