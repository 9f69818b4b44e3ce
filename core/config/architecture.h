// The layout of the architecture diagram, after figure 1 of the paper: boxes from bottom to top, data shapes, and the
// parameters of each box.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/flow_box.h"

namespace attnscope {

struct ArchitectureBox {
  FlowBox box;
  std::string title;
  std::string help;
  // Prefixes of its parameters' names, with {} for the layer number. A parameter used by several boxes belongs to the
  // first one and is listed in `shared` of the others.
  std::vector<std::string> parameters = {};
  std::vector<std::string> shared = {};
  std::string out = {};      // shape of its output, in letters
  bool repeated = false;     // occurs in every layer
  bool beside = false;       // is next to the main path: adds to it, or feeds the next box
  bool residual = false;     // its input is added to its output
  bool from_source = false;  // receives the encoder's output
};

struct ArchitectureColumn {
  std::string input;                   // shape of the input, in letters
  std::vector<ArchitectureBox> boxes;  // from bottom to top; empty: the model has no such side
  std::int64_t layers = 0;
};

struct Architecture {
  ArchitectureColumn encoder;
  ArchitectureColumn decoder;
  std::string memory;  // shape passed from encoder to decoder, in letters; empty: nothing

  const ArchitectureColumn& column(bool of_decoder) const { return of_decoder ? decoder : encoder; }
};

Architecture architecture_of(const ModelConfig& model);

// The layer whose weights a layer has: another one only with model.layer_groups.
inline std::int64_t own_layer(const ModelConfig& model, bool decoder, std::int64_t layer) {
  const bool shares = !decoder && model.layer_groups > 0;
  return shares ? layer * model.layer_groups / model.num_encoder_layers : layer;
}

// Returns null if the architecture has no such box.
const ArchitectureBox* find_box(const Architecture& architecture, const FlowBox& box);

// The number of parameters of the box in one layer; 0 for shared ones.
std::int64_t parameters_of(const ArchitectureBox& box, int layer, std::span<const FlowParameter> parameters);
std::int64_t shared_parameters_of(const ArchitectureBox& box, std::span<const FlowParameter> parameters);

// The sizes that the letters of shapes denote.
struct FlowSizes {
  std::int64_t source = 0;  // S
  std::int64_t target = 0;  // T
  std::int64_t vocab = 0;   // V
};

// "B×S×D" → "1×15×128".
std::string sizes_text(const std::string& letters, const ModelConfig& model, const FlowSizes& sizes);

// "LSTM, bahdanau", "Transformer, sinusoidal": enough to distinguish the runs in one chart.
std::string short_name(const ModelConfig& config);

}  // namespace attnscope
