// What a look at the embeddings is asked and answers: the rows of one of a model's matrices that has a vector a piece.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plain/config.h"
#include "plain/matrix.h"

namespace attnscope {

// One and the same matrix when embeddings are tied (paper §3.4).
enum class EmbeddingMatrix { source, target, output };

inline constexpr std::array<std::string_view, 3> embedding_matrix_names = {"source", "target", "output"};

// The ones of a model that differ; the first is shown first.
std::vector<EmbeddingMatrix> embedding_matrices(const ModelConfig& model);

// "source embedding", "embedding = output matrix"
std::string matrix_title(EmbeddingMatrix matrix, const ModelConfig& model);

// The one that stands for `matrix` among embedding_matrices.
EmbeddingMatrix present_matrix(EmbeddingMatrix matrix, const ModelConfig& model);

struct Neighbour {
  int id = 0;
  float cosine = 0;
  bool operator==(const Neighbour&) const = default;
};

struct EmbeddingsWanted {
  EmbeddingMatrix matrix = EmbeddingMatrix::source;
  std::int64_t step = -1;                   // the recorded one nearest to it; −1: the present
  std::int64_t earlier = 0;                 // the same, of the list beside the neighbours
  std::string chosen = {};                  // a word or piece, whose neighbours are wanted; empty: none
  std::array<std::string, 3> analogy = {};  // a is to b as c is to ?; empty where not chosen yet
  bool operator==(const EmbeddingsWanted&) const = default;
};

// ---- pieces

enum class WordKind : std::uint8_t { unknown, noun, adjective, verb };
enum class WordGender : std::uint8_t { unknown, masculine, feminine };
enum class WordNumber : std::uint8_t { unknown, singular, plural };

// What a corpus knows of a word.
struct WordProperties {
  WordKind kind = WordKind::unknown;
  WordGender gender = WordGender::unknown;  // in French; of an English noun, that of its translation
  WordNumber number = WordNumber::unknown;
  bool operator==(const WordProperties&) const = default;
};

struct TokenFacts {
  std::int64_t count = 0;      // in a sample of the training part, both sides; 0: not seen
  std::int64_t on_source = 0;  // of them, on the source's side
  WordProperties word;
};

// All pieces of a tokenizer, each by its id.
struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<TokenFacts> facts;  // as many, or none: the corpus is not there
  bool knows_words = false;       // some facts have properties
  bool has_sides = false;         // the corpus has a source and a target
};

// How a person reads and types a piece: "king" begins a word, "+ing" goes on with one.
std::string token_name(std::string_view token);

// The id of the piece of that name; −1: there is none.
int find_token(const Vocabulary& vocabulary, std::string_view name);

// The ids of so many, those that come most often in the sample; ascending.
std::vector<int> most_frequent(const Vocabulary& vocabulary, std::size_t count);

// ---- the answer

// A row of the matrix a piece, seen along its two principal axes.
struct EmbeddingMap {
  Matrix points;              // V×2
  std::vector<float> shares;  // of the variance, by principal axis; the first two are the points'
  std::vector<float> distances;  // a sample of ‖x/‖x‖ − y/‖y‖‖, ascending; between one-hot vectors all are √2
  float smallest_norm = 0, largest_norm = 0;
};

struct NeighbourList {
  std::int64_t step = 0;
  std::vector<Neighbour> nearest;  // the nearest first
  bool operator==(const NeighbourList&) const = default;
};

struct EmbeddingResult {
  EmbeddingMatrix matrix = EmbeddingMatrix::source;
  bool tied = false;                         // the three are one
  int width = 0;                             // D
  std::int64_t step = 0;                     // optimizer updates the matrix has had
  bool recorded = false;                     // it is not the present one
  std::vector<std::int64_t> recorded_steps;  // ascending

  std::shared_ptr<const Vocabulary> vocabulary;  // never null
  std::shared_ptr<const EmbeddingMap> map;       // null: `problem` says why
  std::string problem;                           // one sentence; empty: none

  int chosen = -1;
  NeighbourList neighbours;    // of the chosen piece
  NeighbourList earlier;       // the same at a recorded step before it; no neighbours: there is none
  Matrix apart;                // chosen, its neighbours and some others: distances of their unit vectors
  std::vector<int> apart_ids;  // its rows and columns
  std::string chosen_problem;

  std::array<int, 3> analogy = {-1, -1, -1};
  std::vector<Neighbour> answers;  // nearest to b − a + c, without the three
  std::string analogy_problem;
};

// Pieces placed by t-SNE.
struct TsneMap {
  EmbeddingMatrix matrix = EmbeddingMatrix::source;
  double perplexity = 30;  // as it was used
  std::vector<int> ids;    // ascending
  Matrix points;           // as many × 2
  float first_kl = 0;      // KL(P‖Q) in nats, after the first iteration and the last
  float kl = 0;
};

inline constexpr int max_tsne_tokens = 2000;
inline constexpr int most_neighbours = 12;

}  // namespace attnscope
