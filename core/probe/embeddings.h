// Looks at the matrices that have a vector a piece: a map of them, neighbours, analogies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "model/model.h"
#include "plain/embeddings.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// Where the rows of a matrix come from.
struct EmbeddingSource {
  std::int64_t step = 0;                    // of the present weights
  std::vector<std::int64_t> recorded = {};  // steps of which rows were kept, ascending
  // V×D of a recorded step, float32 or float16.
  std::function<torch::Tensor(std::int64_t step, EmbeddingMatrix matrix)> rows_at = {};
};

// Keeps what it made of the newest steps looked at, so that another question about them costs little. Of one run's
// vocabulary: throw it away with the run.
class EmbeddingAnalyzer {
 public:
  explicit EmbeddingAnalyzer(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}

  // The same question about the same weights has the same answer, not a copy of it.
  std::shared_ptr<const EmbeddingResult> inspect(const SequenceModel& model, const Tokenizer& tokenizer,
                                                    const EmbeddingsWanted& wanted, const EmbeddingSource& source);

  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  // A matrix at a step, and what does not depend on what is asked of it.
  struct Rows {
    EmbeddingMatrix matrix = EmbeddingMatrix::source;
    std::int64_t step = -1;
    Matrix vectors;
    std::vector<float> norms;
    std::shared_ptr<const EmbeddingMap> map;  // made when it is wanted
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

// What is wrong with a word of which a single piece is wanted, as one sentence.
std::string token_problem(const Tokenizer& tokenizer, const std::string& word);

// The rows' distances to each other, each to length 1: a sample, ascending.
std::vector<float> sampled_distances(const Matrix& vectors, const std::vector<float>& norms);

}  // namespace attnscope
