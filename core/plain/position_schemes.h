// Every way of telling a Transformer the order of its tokens, a row a scheme: what the configuration, the setup column
// and the panels say of it. What it computes stands in model/positions.cpp, under the same name.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace attnscope {

// Where a scheme acts. All but the first two act inside self-attention, in encoder and decoder alike, and leave
// cross-attention alone: there queries and keys stand in different sentences, between which no distance is defined.
enum class PositionForm {
  none,
  added,     // a vector a position is added to the embeddings
  rotation,  // queries and keys are rotated by an angle of their position
  vectors,   // every layer adds a vector of the distance to its keys and values
  bias,      // every head adds a number of the distance to its scores
};

struct PositionScheme {
  std::string_view name;  // as model.positions has it
  PositionForm form;
  std::string_view tells;  // in a line of help: what it tells, and where the paper has it

  // ---- the workspace of positions
  const char* heading = "";
  const char* caption;                    // what the numbers are and where they come from
  const char* curves_heading = "Curves";  // of what is drawn over positions or distances
  const char* curves = "";                // under it
  const char* alike = "";                 // how vectors resemble one another; biases do not
  // Of an even and an odd dimension: formats of the position, the even one of both dimensions, their number, and RoPE's
  // base; empty: it is trained.
  std::array<std::string_view, 2> formulas = {};

  // ---- inside one head; empty where it does not act there
  std::string_view label = {};  // "ALiBi"
  std::string_view term = {};   // what it adds to a score: a format of the distance
};

// In the order in which they can be chosen.
std::span<const PositionScheme> position_schemes();

// The one of that name; throws ConfigError if there is none.
const PositionScheme& position_scheme(std::string_view name);

// What a row of its numbers stands for: "position" or "distance".
const char* row_word(PositionForm form);

}  // namespace attnscope
