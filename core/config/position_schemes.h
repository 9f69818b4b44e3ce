// The positional encodings of a Transformer, one row per scheme, with their texts for the configuration, the setup
// column and the panels. model/positions.cpp implements each under the same name.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace attnscope {

// The place where a scheme acts. All but the first two act inside self-attention of encoder and decoder.
// Cross-attention is excluded: its queries and keys are in different sentences, so no distance is defined.
enum class PositionForm {
  none,
  added,     // one vector per position, added to the embeddings
  rotation,  // queries and keys are rotated by a position-dependent angle
  vectors,   // every layer adds a distance-dependent vector to its keys and values
  bias,      // every head adds a distance-dependent number to its scores
};

struct PositionScheme {
  std::string_view name;  // as in model.positions
  PositionForm form;
  std::string_view tells;  // for a help line: the encoding and its paper section

  // ---- the workspace of positions
  const char* heading = "";
  const char* caption;                    // meaning and origin of the numbers
  const char* curves_heading = "Curves";  // heading of the plot over positions or distances
  const char* curves = "";                // below the plot
  const char* alike = "";                 // similarity of the vectors; empty for biases
  // For even and odd dimensions: formats of the position, the even one of both dimensions, their number and RoPE's
  // base; empty: learned.
  std::array<std::string_view, 2> formulas = {};

  // ---- inside one head; empty if it does not act there
  std::string_view label = {};  // "ALiBi"
  std::string_view term = {};   // the term it adds to a score: a format of the distance
};

// In display order.
std::span<const PositionScheme> position_schemes();

// Returns the scheme of that name; throws ConfigError if there is none.
const PositionScheme& position_scheme(std::string_view name);

// The meaning of a row of its numbers: "position" or "distance".
const char* row_word(PositionForm form);

}  // namespace attnscope
