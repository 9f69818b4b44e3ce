// Builds the matrices of one box: one member function per kind of box, in the file of its architecture.
#pragma once

#include <array>

#include <string>
#include <vector>

#include "config/architecture.h"
#include "inspect/probe/choices.h"
#include "inspect/probe/data_flow.h"
#include "model/cells.h"
#include "model/kernels/libtorch.h"

namespace attnscope {

class DataFlowBuilder {
 public:
  DataFlowBuilder(SequenceModel& model, const Tokenizer& tokenizer, const FlowWanted& wanted, const FlowPass& pass)
      : model_(model),
        config_(model.config()),
        tokenizer_(tokenizer),
        pass_(pass),
        plan_(architecture_of(config_)),
        parameters_(model.named_parameters()) {
    flow_.asked = wanted;
    flow_.vocab_size = model.vocab_size();
    for (const auto& parameter : parameters_) flow_.parameters.push_back({parameter.key(), parameter->sizes().vec()});
  }

  DataFlow build();

 private:
  bool decoder() const { return flow_.asked.box.decoder; }
  const std::vector<Token>& tokens(bool decoder) const { return decoder ? pass_.whole.target_in : pass_.whole.source; }
  std::string length() const { return decoder() ? "T" : "S"; }
  std::vector<std::string> tokens() const { return texts_of(tokens(decoder())); }
  std::string stack() const { return decoder() ? "decoder" : "encoder"; }
  std::string layer_name() const {
    return fmt::format("{}.layers.{}.", stack(), own_layer(config_, decoder(), flow_.asked.layer));
  }
  torch::Tensor parameter(const std::string& name) const { return parameters_[name].detach(); }
  // Undefined if the model has no such parameter.
  torch::Tensor parameter_if_any(const std::string& name) const {
    const torch::Tensor* found = parameters_.find(name);
    return found ? found->detach() : torch::Tensor();
  }

  // Appends a matrix; returns its index.
  int add(FlowMatrix matrix, const torch::Tensor& values);
  int add_learned(const std::string& name, const std::string& help, const std::string& letters,
                  const torch::Tensor& values);
  // Appends x·W + b, for a parameter in PyTorch's layout (O×I) with optional bias; the result is the last matrix
  // appended.
  int add_linear(int x, const std::string& result, const std::string& weight, const std::string& bias,
                 const torch::Tensor& w, const torch::Tensor& b, const std::string& letters);
  torch::Tensor of(int index) const { return tensors_[static_cast<std::size_t>(index)]; }
  FlowMatrix& at(int index) { return flow_.matrices[static_cast<std::size_t>(index)]; }
  void begin_section(const std::string& heading) { section_ = heading; }

  void settle();
  void fill();
  int add_embedding(bool decoder);
  int add_embedding_norm(int sum, bool decoder);
  void add_positions();
  const SublayerTensors* sublayer();
  void add_attention();
  struct HeadFlow;
  std::array<int, 3> add_projections(const HeadFlow& flow, const torch::Tensor& input);
  int add_rotation(const HeadFlow& flow, int rows, const std::string& name);
  int add_weights(const HeadFlow& flow, int q, int k);
  void add_head_output(const HeadFlow& flow, int weight, int v);
  // Labels of distances from a query, starting at `first`; negative distances are to the left.
  static std::vector<std::string> distance_labels(std::int64_t first, std::int64_t count);
  int add_distances(const std::string& name, const std::string& parameter_name);
  int add_scores_by_distance(int q, const std::string& module, double scale);
  void add_mixed_distances(int values, int weights, const torch::Tensor& head, const std::string& module);
  void add_feed_forward();
  // Returns the normalized matrix; `letter` is its width.
  int add_norm(int x, const std::string& parameters, const std::string& letter = "D");
  // The norm of a sublayer's output, with model.output_norms.
  void add_output_norm(int x, const std::string& name);
  void add_sublayer_norm();
  void add_last_norm();
  void add_batch_spread(int x, const torch::Tensor& padded);
  SublayerTensors padded_flow(Sublayer sublayer);
  void add_logits(bool shares);

  // ---- recurrent networks
  struct Read {
    torch::Tensor x, from_input, h, c;  // L×…; one direction
  };
  Cell cell(bool decoder, int layer, bool reverse) const;
  Read read(const Cell& cell, const torch::Tensor& x, CellState state, bool reverse) const;
  CellState first_state(bool decoder, int layer, int direction) const;
  int directions(bool decoder) const { return config_.bidirectional && !decoder ? 2 : 1; }
  torch::Tensor input_of(bool decoder, int layer) const;
  torch::Tensor states_of(bool decoder, int layer) const;
  torch::Tensor embedded(bool decoder) const;
  double embedding_factor() const;
  torch::Tensor contexts() const;
  void add_cell();
  void add_attention_of_states();
  void add_readout();
  void add_pooling();

  SequenceModel& model_;
  const ModelConfig& config_;
  const Tokenizer& tokenizer_;
  const FlowPass& pass_;
  Architecture plan_;
  torch::OrderedDict<std::string, torch::Tensor> parameters_;
  std::vector<torch::Tensor> tensors_;
  std::string section_;
  DataFlow flow_;
};

}  // namespace attnscope
