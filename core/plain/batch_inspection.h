// The next batch as the trainer sees it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plain/matrix.h"

namespace attnscope {

struct BatchWanted {
  int part = 0;           // of the batch: each thread of the trainer takes one
  int dropout_place = 0;  // of BatchInspection::dropout_places
  bool operator==(const BatchWanted&) const = default;
};

// Pieces of one side, a row a pair (of a language model a row a window of the text).
struct BatchSide {
  int rows = 0;
  int cols = 0;
  std::vector<int> ids;             // rows × cols
  std::vector<std::string> tokens;  // likewise; empty: the piece that pads, whatever its id

  int id(int row, int col) const { return ids[static_cast<std::size_t>(row) * cols + col]; }
  const std::string& token(int row, int col) const { return tokens[static_cast<std::size_t>(row) * cols + col]; }
  // Places of a row before its padding. The first is never padding: targets of some models start with that piece.
  int length(int row) const {
    int length = cols;
    while (length > 1 && token(row, length - 1).empty()) --length;
    return length;
  }
  bool is_padding(int row, int col) const { return col >= length(row); }
};

// What one dropout of a pass zeroes, of a row of the batch.
struct DropoutPlace {
  enum class Columns { dimensions, hidden_units, source, target };

  std::string name;                       // "encoder layer 1: hidden units"
  bool of_target = false;                 // the rows are pieces of target_in, else of the source
  Columns columns = Columns::dimensions;  // source, target: attention weights, each head's rows below another's
};

struct BatchInspection {
  BatchWanted asked;              // with a part and a place that there are
  int parts = 1;                  // of the batch
  std::int64_t step = 0;          // the update that the batch is for, 1 the first
  std::int64_t batch = 0;         // its number, from 0
  BatchSide source;               // empty in a language model
  BatchSide target_in;            // shifted right: <s> y1 … yn
  BatchSide target_out;           // y1 … yn </s>
  double padding_made = 0;        // share of padding in batches as they are made (training.batch_order)
  double padding_sorted = 0;      // and were they of like length on both sides
  double label_smoothing = 0;     // ε
  std::int64_t first_output = 0;  // the id of the first piece that can be written: a classifier's first label
  std::int64_t num_outputs = 0;   // V, or as many as labels: what label smoothing spreads over
  double teacher_forcing = 1;     // share of positions at which the decoder is really told target_in
  double dropout = 0;
  std::vector<DropoutPlace> dropout_places;  // in the order in which a pass draws them; none where a GPU does
  Matrix kept;  // at the asked one, of the pieces of the part's first row: 0 where dropout puts a zero, else 1/(1−p)
  std::string problem;  // why there is none, in one sentence
};

}  // namespace attnscope
