// View state of the workspace Mechanisms, and its questions and results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/power_fit.h"
#include "messages/fourier.h"
#include "messages/induction.h"
#include "messages/run_table.h"
#include "widgets/heatmap_options.h"
#include "widgets/plot.h"
#include "widgets/scatter.h"
#include "workspaces/asked_once.h"

namespace attnscope {

enum class InductionMap { qk, ov, k, q, v };

struct InductionView {
  AskedOnce<InductionQuestion, InductionResult> study = {.question = {.over_training = true}};
  InductionMap map = InductionMap::ov;
  std::uint64_t version = 0;            // of the matrices below
  std::vector<std::string> heads;       // "L1 H2"
  Matrix scores;                        // heads × previous token, induction, first token, copying
  std::vector<Series> over_steps;       // loss, then the induction scores, then the previous-token scores
  PlotAxis axis;
  PlotView plots[3];
  HeatmapZoom zoom;
};

struct FourierView {
  AskedOnce<FourierQuestion, FourierResult> study = {};
  std::uint64_t version = 0;
  std::vector<Series> losses;  // all pairs, restricted, excluded
  Matrix spectrum;             // frequencies × recorded steps
  std::vector<std::string> frequencies, steps;
  int circle = 0;  // the key frequency shown
  PlotAxis axis;
  PlotView plot;
  ScatterView scatter;
};

// A setting or a result of every run.
struct RunAxis {
  std::string_view key;                       // of a setting; empty: a result
  std::size_t result = 0;                     // its index (messages/run_table.h)
  std::vector<std::optional<double>> values;  // numbers, or places among the names
  std::vector<std::string> names;             // empty: the values are numbers
  PlotRange range;                            // of the values
  bool log = false;                           // they are positive and span at least a factor of 4
};

// Runs with the same settings, except for the seed and the setting on the x axis.
struct RunGroup {
  std::string name;               // "d_ff=32, optimizer=adam"; empty: no other setting differs
  std::vector<std::size_t> runs;  // those with a value on both axes
  Series means;                   // over the seeds
  std::optional<PowerFit> power;
};

struct RunsView {
  RunsListed listed;
  std::vector<RunAxis> axes;           // settings, then results
  std::size_t x = 0, y = 0;            // axes of the chart
  std::optional<std::size_t> pointed;  // the run under the mouse in the last frame
  int sorted_by = 0;                   // column of the table
  bool descending = false;
  std::vector<RunGroup> groups;    // of the chart
  std::vector<std::size_t> order;  // rows of the table
  PlotAxis axis;
  PlotView plot;
};

enum class MechanismMode { induction, fourier, runs };

struct MechanismsView {
  MechanismMode mode = MechanismMode::induction;
  InductionView induction;
  FourierView fourier;
  RunsView runs;
};

void take_runs(RunsView& view, RunsListed listed);

void take_mechanism(MechanismsView& view, InductionResult result, std::uint64_t run, std::int64_t step);
void take_mechanism(MechanismsView& view, FourierResult result, std::uint64_t run, std::int64_t step);

}  // namespace attnscope
