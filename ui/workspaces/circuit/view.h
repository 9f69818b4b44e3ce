// What is looked at in the circuit workspace, and what is asked for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plain/circuit.h"
#include "plain/head_importance.h"
#include "plain/heads.h"
#include "plain/matrix.h"
#include "plain/study.h"
#include "widgets/heatmap_options.h"
#include "widgets/plot.h"
#include "workspaces/circuit/attribution.h"

namespace attnscope {

// What a row of the heads' map is of: a head, a feed-forward network, or the words as embedded.
struct RowPlace {
  ValueSite site;
  int head = 0;
};

enum class CircuitMode { place, heads, picture, score, formation, attribution, importance };

struct CircuitView {
  CircuitMode mode = CircuitMode::place;
  std::string contrast;                         // as it is typed
  std::string between;                          // the two words whose odds are asked for, as they are typed; or none
  bool typing = false;                          // in it
  ContrastSide of = ContrastSide::clean;        // whose run is changed, in the maps and by a click
  ChangeKind kind = ChangeKind::contrast;       // by what, in the heads' map
  std::vector<int> exchanged;                   // the two words of an exchange, in the heads' map
  int by_way = -1;                              // which hop's heads all goes to, in the heads' map; −1: any way
  AttentionPart part = AttentionPart::encoder;  // of the heads shown
  int layer = -1;                               // whose vectors are put in, of the reader's; −1: the last
  std::vector<int> put;                         // the words whose vectors are put in

  // ---- asked for and answered, of that run
  std::uint64_t run = 0;
  std::optional<ContrastQuestion> asked;  // the newest CircuitStudy
  bool counting_asked = false;            // the corpus too
  std::optional<CircuitResult> inspection;
  std::int64_t step = 0;                 // of the weights that were looked at
  std::optional<CorpusCircuit> counted;  // of the same question
  std::optional<Trial> trial;            // of the same question
  std::string tried;                     // what the trial is, in words
  std::optional<SweepQuestion> sweep_asked;
  std::optional<SweepResult> swept;   // of the same question
  int menu_edge = 0, menu_word = -1;  // what the picture's menu is of: a hop, and the word that its edge comes from
  bool formation_asked = false;
  std::optional<Formation> formation;  // of the same question
  std::vector<Series> formed;          // what is drawn of it: the difference, then what each part moves
  PlotAxis formation_axis;
  PlotView formation_plot;
  std::optional<ScoreQuestion> score_wanted;  // as it is chosen; none: as the circuit has it
  std::optional<ScoreQuestion> score_asked;
  std::optional<ScoreSplit> score;
  HeatmapZoom score_zoom;
  std::uint64_t heads_of = 0;        // the run that was asked about
  std::optional<HeadsResult> heads;  // of the run, whatever the question
  std::int64_t heads_step = 0;
  bool over_training = false;    // the same at every recorded step is looked at
  std::uint64_t history_of = 0;  // the run that was asked about
  std::optional<HeadsHistory> heads_history;
  Matrix history;  // heads × recorded steps, thousandths of a nat a piece
  std::vector<std::string> history_rows, history_cols;
  std::vector<Series> prunings;  // of some of the steps
  std::vector<std::string> pruning_names;
  Matrix importance;                         // attention and layer × head, thousandths of a nat a piece
  std::vector<std::string> importance_rows;  // "encoder L1"
  Series pruning;
  PlotAxis pruning_axis;
  PlotView pruning_plot;
  std::uint64_t version = 0;     // of the matrices below
  Matrix places, written, rows;  // layers × words, layers × positions; `row_places` × positions
  std::vector<RowPlace> row_places;
  std::vector<float> whole;  // of `rows`, at all positions together
  HeatmapZoom places_zoom, written_zoom, rows_zoom;

  AttributionView attribution;  // of the sentence alone
};

// "il, elle" → both; none of an empty text; nothing of another number of words.
std::optional<std::vector<std::string>> words_between(const std::string& text);

// What comes of a study; nothing of another run or question.
void take_circuit(CircuitView& view, CircuitResult inspection, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, CorpusCircuit counted, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, Trial trial, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, Formation formation, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, ScoreSplit split, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, HeadsResult heads, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, HeadsHistory history, std::uint64_t run, std::int64_t step);
void take_circuit(CircuitView& view, SweepResult swept, std::uint64_t run, std::int64_t step);

// There is a circuit to show.
bool has_circuit(const CircuitView& view);

// The circuit over the corpus where it was counted, else the pair's.
const Circuit& shown_circuit(const CircuitView& view);

// What has to be asked for the heads' map, beyond the look; none where that has it.
std::optional<SweepQuestion> wanted_sweep(const CircuitView& view);

// The sweep that the heads' map shows; null while it is not answered.
const Sweep* shown_sweep(const CircuitView& view);

// Layer by layer, in the order of the pass. Along a path the words as embedded come first.
std::vector<RowPlace> row_places(const Sweep& sweep, AttentionPart part);

// What it says of one of its rows: at every position, and at all together.
const Effect& effect_at(const Sweep& sweep, const RowPlace& place, int position);
const Effect& whole_effect(const Sweep& sweep, const RowPlace& place);

std::string row_name(const RowPlace& place, const ContrastFacts& facts);

// After the look, or another choice of direction, kind or part.
void make_matrices(CircuitView& view);

// Of the head and the words that the circuit names first; none where it has no head that reads.
std::optional<ScoreQuestion> first_score(const CircuitView& view);

// The share of a tally in the runs that the maps show.
float share_of(const Tally& tally, ContrastSide of);

// ---- changes to be tried

// Of these words, in the pair that is looked at.
std::vector<int> positions_of(const CircuitView& view, const std::vector<int>& slots);

// The vectors of these words, put in after so many layers.
ChangedRun states_run(const CircuitView& view, int layer, const std::vector<int>& slots);
ChangedRun row_run(const CircuitView& view, const RowPlace& place, const std::vector<int>& positions);
ChangedRun edge_run(const CircuitView& view, const CircuitEdge& edge, const Way& way);

// Where a hop's slot stands in the pair that is looked at.
std::vector<int> edge_positions(const CircuitView& view, const CircuitEdge& edge, int slot);

// "layer 1 head 3 at it and ."
std::string edge_text(const Circuit& circuit, const CircuitEdge& edge);

// The lines of `CircuitView::formed` by name.
std::vector<std::string> formation_names(const Formation& formation);

// The step from which on a line keeps at least half of what it has at the end; none of a line that ends near 0.
std::optional<std::int64_t> formed_by(const Series& line);

// "put in from the other sentence", "cut"
std::string way_text(const Circuit& circuit, const Way& way);

// "60 of 60 turn, 0.93 of the effect"
std::string tally_text(const Tally& tally);

// ", " between, "and" before the last.
std::string listed(const std::vector<std::string>& names);
std::string slot_names(const Circuit& circuit, const std::vector<int>& slots);

}  // namespace attnscope
