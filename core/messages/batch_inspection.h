// The next batch as the trainer uses it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/matrix.h"

namespace attnscope {

struct BatchWanted {
  int part = 0;           // of the batch: each thread of the trainer takes one
  int dropout_place = 0;  // index into BatchInspection::dropout_places
  bool operator==(const BatchWanted&) const = default;
};

// The tokens of one side, one row per pair (in a language model, one row per window of the text).
struct BatchSide {
  int rows = 0;
  int cols = 0;
  std::vector<int> ids;             // rows × cols
  std::vector<std::string> tokens;  // rows × cols; empty string: padding, whatever its id

  int id(int row, int col) const { return ids[static_cast<std::size_t>(row) * cols + col]; }
  const std::string& token(int row, int col) const { return tokens[static_cast<std::size_t>(row) * cols + col]; }
  // The length of a row without padding. Position 0 is never padding: the targets of some models start with that token.
  int length(int row) const {
    int length = cols;
    while (length > 1 && token(row, length - 1).empty()) --length;
    return length;
  }
  bool is_padding(int row, int col) const { return col >= length(row); }
};

// Values zeroed by one dropout layer in one row of the batch.
struct DropoutPlace {
  enum class Columns { dimensions, hidden_units, source, target };

  std::string name;        // "encoder layer 1: hidden units"
  bool of_target = false;  // rows are the tokens of target_in, else of the source
  // source, target: attention weights, the rows of each head below those of the previous one
  Columns columns = Columns::dimensions;
};

struct BatchInspection {
  BatchWanted asked;              // limited to the parts and places that exist
  int parts = 1;                  // number of parts of the batch
  std::int64_t step = 0;          // the optimizer step of the batch, from 1
  std::int64_t batch = 0;         // batch number, from 0
  BatchSide source;               // empty in a language model
  BatchSide target_in;            // shifted right: <s> y1 … yn
  BatchSide target_out;           // y1 … yn </s>
  double padding_made = 0;        // share of padding in batches as drawn (training.batch_order)
  double padding_sorted = 0;      // share of padding if grouped by length on both sides
  double label_smoothing = 0;     // ε
  std::int64_t first_output = 0;  // id of the first possible output token: a classifier's first label
  std::int64_t num_outputs = 0;   // V, or the number of labels: label smoothing spreads over them
  double teacher_forcing = 1;     // share of positions at which the decoder's input is target_in
  double dropout = 0;
  std::vector<DropoutPlace> dropout_places;  // in the order of the forward pass; empty if a GPU draws them
  Matrix kept;  // at the requested place, for the tokens of the part's first row: 0 where dropout zeroes, else 1/(1−p)
  std::string problem;  // why there is none, in one sentence
};

}  // namespace attnscope
