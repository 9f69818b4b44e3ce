// View state of the workspace Mechanisms, and its questions and results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/fourier.h"
#include "messages/induction.h"
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

enum class MechanismMode { induction, fourier };

struct MechanismsView {
  MechanismMode mode = MechanismMode::induction;
  InductionView induction;
  FourierView fourier;
};

void take_mechanism(MechanismsView& view, InductionResult result, std::uint64_t run, std::int64_t step);
void take_mechanism(MechanismsView& view, FourierResult result, std::uint64_t run, std::int64_t step);

}  // namespace attnscope
