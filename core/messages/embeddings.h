// Questions and results of the embeddings view: the rows of one matrix with one vector per token.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/matrix.h"
#include "config/config.h"

namespace attnscope {

// One matrix if the embeddings are tied (paper §3.4).
enum class EmbeddingMatrix { source, target, output };

inline constexpr std::array<std::string_view, 3> embedding_matrix_names = {"source", "target", "output"};

// The distinct ones of a model; the first is shown first.
std::vector<EmbeddingMatrix> embedding_matrices(const ModelConfig& model);

// "source embedding", "embedding = output matrix"
std::string matrix_title(EmbeddingMatrix matrix, const ModelConfig& model);

// The element of embedding_matrices that represents `matrix`.
EmbeddingMatrix present_matrix(EmbeddingMatrix matrix, const ModelConfig& model);

struct Neighbour {
  int id = 0;
  float cosine = 0;
  bool operator==(const Neighbour&) const = default;
};

struct EmbeddingsWanted {
  EmbeddingMatrix matrix = EmbeddingMatrix::source;
  std::int64_t step = -1;                   // the nearest recorded one; −1: the present
  std::int64_t earlier = 0;                 // likewise, for the second neighbor list
  std::string chosen = {};                  // a word or token whose neighbors are requested; empty: none
  std::array<std::string, 3> analogy = {};  // a is to b as c is to ?; empty if not chosen yet
  bool operator==(const EmbeddingsWanted&) const = default;
};

// ---- tokens

enum class WordKind : std::uint8_t { unknown, noun, adjective, verb };
enum class WordGender : std::uint8_t { unknown, masculine, feminine };
enum class WordNumber : std::uint8_t { unknown, singular, plural };

// Properties of a word in the corpus.
struct WordProperties {
  WordKind kind = WordKind::unknown;
  WordGender gender = WordGender::unknown;  // in French; for an English noun, that of its translation
  WordNumber number = WordNumber::unknown;
  bool operator==(const WordProperties&) const = default;
};

struct TokenFacts {
  std::int64_t count = 0;      // in a sample of the training part, both sides; 0: not seen
  std::int64_t on_source = 0;  // of these, on the source side
  WordProperties word;
};

// All tokens of a tokenizer, indexed by id.
struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<TokenFacts> facts;  // one per token, or empty: the corpus is unavailable
  bool knows_words = false;       // some facts have properties
  bool has_sides = false;         // the corpus has a source and a target
};

// Returns a token's display name: "king" starts a word, "+ing" continues one.
std::string token_name(std::string_view token);

// Returns the id of the token of that name; −1: none.
int find_token(const Vocabulary& vocabulary, std::string_view name);

// Returns the `count` ids most frequent in the sample, ascending.
std::vector<int> most_frequent(const Vocabulary& vocabulary, std::size_t count);

// ---- the result

// The rows of the matrix, one per token, projected onto two principal axes. Axes, shares and distances are those of the
// tokens that occur in the sample of the training part, or of all if it is not available.
struct EmbeddingMap {
  Matrix points;              // V×2
  std::vector<float> shares;  // of the variance, by principal axis; the first two belong to the points
  int used = 0;               // number of these tokens
  std::vector<float> distances;  // a sample of pairs of them: ‖x/‖x‖ − y/‖y‖‖, ascending; one-hot vectors would give √2
  float smallest_norm = 0, largest_norm = 0;
};

struct NeighbourList {
  std::int64_t step = 0;
  std::vector<Neighbour> nearest;  // nearest first
  bool operator==(const NeighbourList&) const = default;
};

struct EmbeddingResult {
  EmbeddingMatrix matrix = EmbeddingMatrix::source;
  bool tied = false;                         // all three matrices are one
  int width = 0;                             // D
  std::int64_t step = 0;                     // optimizer steps of the matrix
  bool recorded = false;                     // it is a recorded matrix, not the present one
  std::vector<std::int64_t> recorded_steps;  // ascending

  std::shared_ptr<const Vocabulary> vocabulary;  // never null
  std::shared_ptr<const EmbeddingMap> map;       // null: `problem` says why
  std::string problem;                           // in one sentence; empty: none

  int chosen = -1;
  NeighbourList neighbours;    // of the chosen token
  NeighbourList earlier;       // at an earlier recorded step; empty if there is none
  Matrix apart;                // pairwise distances of unit vectors: the chosen token, its neighbors and some others
  std::vector<int> apart_ids;  // ids of its rows and columns
  std::string chosen_problem;

  std::array<int, 3> analogy = {-1, -1, -1};
  std::vector<Neighbour> answers;  // nearest to b − a + c, excluding these three
  std::string analogy_problem;
};

// Tokens embedded by t-SNE.
struct TsneMap {
  EmbeddingMatrix matrix = EmbeddingMatrix::source;
  double perplexity = 30;  // perplexity used
  std::vector<int> ids;    // ascending
  Matrix points;           // tokens × 2
  float first_kl = 0;      // KL(P‖Q) in nats, after the first and the last iteration
  float kl = 0;
};

inline constexpr int max_tsne_tokens = 2000;
inline constexpr int most_neighbours = 12;

}  // namespace attnscope
