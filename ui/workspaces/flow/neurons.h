// View "Neurons": what each hidden unit of a feed-forward sublayer responds to and what it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/series.h"
#include "messages/neurons.h"
#include "widgets/plot.h"
#include "workspaces/asked_once.h"
#include "workspaces/workspace.h"

namespace attnscope {

// The columns of the list, by which it can be sorted.
enum class NeuronColumn { number, here, largest, active, token, position, sense, promotes };

enum class NeuronContexts { strongest, deciles, hurt };

// The neurons in the order of the list, and what that order depends on besides the result.
struct NeuronOrder {
  NeuronColumn sorted_by = NeuronColumn::largest;
  bool descending = true;
  int token = -1;
  std::uint64_t version = 0;  // of the snapshot
  std::vector<int> neurons = {};
};

struct NeuronsView {
  AskedOnce<NeuronsQuestion, NeuronsResult> study = {.question = {.neuron = strongest_neuron}};
  NeuronColumn sorted_by = NeuronColumn::largest;
  bool descending = true;
  NeuronContexts contexts = NeuronContexts::strongest;
  float steering = 1;  // activation that is added to every token
  int token = -1;  // of the sentence, whose activations are listed; −1: a pronoun, or the last

  bool scrolls = false;        // to the chosen neuron, in the next frame
  bool shows_sorting = false;  // the list's heading follows sorted_by in the next frame

  // ---- derived from the result
  NeuronOrder order;
  Series histogram, largest, mean;
  double bin = 0;
  PlotAxis values_axis, steps_axis;
  PlotView values_plot, steps_plot;
};

// The dictionary whose features are listed, if there is one.
std::optional<DictionaryKey> shown_dictionary(const NeuronsView& view);

void take_neurons(NeuronsView& view, NeuronsResult result, std::uint64_t run, std::int64_t step);

// Moves to the next or previous neuron of the list as it was last drawn.
void move_in_neurons(NeuronsView& view, int by);

void draw_neurons(WorkspaceContext& context, NeuronsView& view);

// The tokens in a row, each behind its activation; what does not fit is cut on both sides of the marked token.
void draw_context(const NeuronContext& context, float largest, const std::string& number, const Skin& skin);

// A field for the factor, and a button that adds that multiple of the direction to the active interventions, or
// replaces it there.
void draw_steering(std::vector<Steering>& steered, float& factor, Steering made, const char* label, const char* help,
                   const Skin& skin);

// Neurons × facts.
std::optional<WorkspaceNumbers> neuron_numbers(const NeuronsView& view);

}  // namespace attnscope
