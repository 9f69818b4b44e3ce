// The plan of an architecture's picture, after figure 1 of the paper: its boxes from the bottom to the top, what is
// handed from one to the next, and whose the parameters are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plain/config.h"
#include "plain/data_flow.h"

namespace attnscope {

struct ArchitectureBox {
  FlowBox box;
  std::string title;
  std::string help;
  // Beginnings of the names of its parameters, {} for the number of the layer; a parameter that several boxes use is
  // the first one's, and named in `shared` by the others.
  std::vector<std::string> parameters = {};
  std::vector<std::string> shared = {};
  std::string out = {};      // shape of what leaves it, in letters
  bool repeated = false;     // is in every layer
  bool beside = false;       // stands beside the way and adds to it, or tells the next box something
  bool residual = false;     // what comes in is added to what leaves it
  bool from_source = false;  // is handed what the encoder made
};

struct ArchitectureColumn {
  std::string input;                   // shape of what comes in, in letters
  std::vector<ArchitectureBox> boxes;  // from the bottom to the top; none: the model has no such side
  std::int64_t layers = 0;
};

struct Architecture {
  ArchitectureColumn encoder;
  ArchitectureColumn decoder;
  std::string memory;  // what the encoder hands to the decoder, in letters; empty: nothing

  const ArchitectureColumn& column(bool of_decoder) const { return of_decoder ? decoder : encoder; }
};

Architecture architecture_of(const ModelConfig& model);

// Null where the architecture has no such box.
const ArchitectureBox* find_box(const Architecture& architecture, const FlowBox& box);

// Parameters of the box in one layer: 0 for those it shares.
std::int64_t parameters_of(const ArchitectureBox& box, int layer, std::span<const FlowParameter> parameters);
std::int64_t shared_parameters_of(const ArchitectureBox& box, std::span<const FlowParameter> parameters);

// What the letters of shapes stand for.
struct FlowSizes {
  std::int64_t source = 0;  // S
  std::int64_t target = 0;  // T
  std::int64_t vocab = 0;   // V
};

// "B×S×D" → "1×15×128".
std::string sizes_text(const std::string& letters, const ModelConfig& model, const FlowSizes& sizes);

// "LSTM, bahdanau", "Transformer, sinusoidal": enough to tell runs in one chart apart.
std::string short_name(const ModelConfig& config);

}  // namespace attnscope
