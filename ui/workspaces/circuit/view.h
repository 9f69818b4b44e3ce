// View state of the circuit workspace, and its questions and results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/matrix.h"
#include "config/heads.h"
#include "messages/circuit.h"
#include "messages/head_importance.h"
#include "messages/study.h"
#include "widgets/heatmap_options.h"
#include "widgets/plot.h"
#include "workspaces/circuit/attribution.h"

namespace attnscope {

// The site of a row in the heads' map: a head, a feed-forward network, or the embeddings.
struct RowPlace {
  ValueSite site;
  int head = 0;
};

enum class CircuitMode { place, heads, picture, score, formation, attribution, importance };

struct CircuitView {
  CircuitMode mode = CircuitMode::place;
  std::string contrast;                    // the typed contrast sentence
  std::string between;                     // the two words whose log odds are compared, as typed; empty: automatic
  bool typing = false;                     // the field is active
  ContrastSide of = ContrastSide::clean;   // the run that is patched, in the maps and by a click
  ChangeKind kind = ChangeKind::contrast;  // kind of patch, in the heads' map
  std::vector<int> exchanged;              // the two words to swap, in the heads' map
  int by_way = -1;  // restricts the heads' map to the direct path to this edge's heads; −1: all paths
  AttentionPart part = AttentionPart::encoder;  // of the displayed heads
  int layer = -1;        // patched after this layer of the stack that reads the sentence; −1: the last
  std::vector<int> put;  // the words whose vectors are patched

  // ---- questions and results, of that run
  std::uint64_t run = 0;
  std::optional<ContrastQuestion> asked;  // of the newest CircuitStudy
  bool counting_asked = false;            // over the corpus as well
  std::optional<CircuitResult> inspection;
  std::int64_t step = 0;                 // of the inspected weights
  std::optional<CorpusCircuit> counted;  // for the same question
  std::optional<Trial> trial;            // for the same question
  std::string tried;                     // describes the trial
  std::optional<SweepQuestion> sweep_asked;
  std::optional<SweepResult> swept;   // for the same question
  int menu_edge = 0, menu_word = -1;  // target of the picture's menu: an edge, and the word at which it starts
  bool formation_asked = false;
  std::optional<Formation> formation;  // for the same question
  std::vector<Series> formed;          // curves: the difference, then the effect of each part
  PlotAxis formation_axis;
  PlotView formation_plot;
  std::optional<ScoreQuestion> score_wanted;  // selected by the user; nullopt: the circuit's default
  std::optional<ScoreQuestion> score_asked;
  std::optional<ScoreSplit> score;
  HeatmapZoom score_zoom;
  std::uint64_t heads_of = 0;        // the run of the request
  std::optional<HeadsResult> heads;  // of the run, independent of the question
  std::int64_t heads_step = 0;
  bool over_training = false;    // request the same at every recorded step
  std::uint64_t history_of = 0;  // the run of the request
  std::optional<HeadsHistory> heads_history;
  Matrix history;  // heads × recorded steps, thousandths of a nat per token
  std::vector<std::string> history_rows, history_cols;
  std::vector<Series> prunings;  // of some of the steps
  std::vector<std::string> pruning_names;
  Matrix importance;                         // attention and layer × head, thousandths of a nat per token
  std::vector<std::string> importance_rows;  // "encoder L1"
  Series pruning;
  PlotAxis pruning_axis;
  PlotView pruning_plot;
  std::uint64_t version = 0;     // of the matrices below
  Matrix places, written, rows;  // layers × words, layers × positions; `row_places` × positions
  std::vector<RowPlace> row_places;
  std::vector<float> whole;  // of `rows`, patched at all positions at once
  HeatmapZoom places_zoom, written_zoom, rows_zoom;

  AttributionView attribution;  // of the sentence without its contrast
};

// "il, elle" → both words; an empty text gives an empty list, and any other number of words gives nullopt.
std::optional<std::vector<std::string>> words_between(const std::string& text);

// Stores the result of a study; ignores results of another run or question.
void take_circuit(CircuitView& view, CircuitResult inspection, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, CorpusCircuit counted, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, Trial trial, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, Formation formation, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, ScoreSplit split, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, HeadsResult heads, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, HeadsHistory history, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, SweepResult swept, std::uint64_t run, std::int64_t step);

// True if there is a circuit to show.
bool has_circuit(const CircuitView& view);

// The circuit over the corpus if it was counted, else the pair's.
const Circuit& shown_circuit(const CircuitView& view);

// The sweep that the heads' map still needs; nullopt: the snapshot has everything.
std::optional<SweepQuestion> wanted_sweep(const CircuitView& view);

// The sweep shown in the heads' map; null until it is answered.
const Sweep* shown_sweep(const CircuitView& view);

// Layer by layer, in the order of the forward pass. For path patching, the embeddings come first.
std::vector<RowPlace> row_places(const Sweep& sweep, AttentionPart part);

// The effect at one of its rows: at one position, and at all positions at once.
const Effect& effect_at(const Sweep& sweep, const RowPlace& place, int position);
const Effect& whole_effect(const Sweep& sweep, const RowPlace& place);

std::string row_name(const RowPlace& place, const ContrastFacts& facts);

// Call after a new result, or when direction, kind or part changes.
void make_matrices(CircuitView& view);

// For the first head and words of the circuit; nullopt if it has no head that attends.
std::optional<ScoreQuestion> first_score(const CircuitView& view);

// The share of a tally in the direction that the maps show.
float share_of(const Tally& tally, ContrastSide of);

// ---- patches to try

// The positions of these words in the present pair.
std::vector<int> positions_of(const CircuitView& view, const std::vector<int>& slots);

// Patches the vectors of these words after that layer.
ChangedRun states_run(const CircuitView& view, int layer, const std::vector<int>& slots);
ChangedRun row_run(const CircuitView& view, const RowPlace& place, const std::vector<int>& positions);
ChangedRun edge_run(const CircuitView& view, const CircuitEdge& edge, const Way& way);

// The positions of an edge's slot in the present pair.
std::vector<int> edge_positions(const CircuitView& view, const CircuitEdge& edge, int slot);

// "encoder layer 1, head 3 at “it” and “.”"
std::string edge_text(const Circuit& circuit, const CircuitEdge& edge);

// Names for the lines of `CircuitView::formed`.
std::vector<std::string> formation_names(const Formation& formation);

// The first step from which a line stays at or above half of its final value; nullopt if it ends near 0.
std::optional<std::int64_t> formed_by(const Series& line);

// "patched from the other sentence", "zero ablation"
std::string way_text(const Circuit& circuit, const Way& way);

// "93 %"
std::string percent_text(double share);

// "flips 60 of 60 answers (93 % of the effect)"
std::string tally_text(const Tally& tally);

// Joined by ", ", with "and" before the last.
std::string listed(const std::vector<std::string>& names);
std::string slot_names(const Circuit& circuit, const std::vector<int>& slots);

}  // namespace attnscope
