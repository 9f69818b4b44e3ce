// The page command on a run.
#include "files/captures/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "commands/commands.h"
#include "compute/opening.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "analysis/curves.h"
#include "engine/torch_engine.h"
#include "inspect/circuit/search.h"
#include "messages/history.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

// With all its recorded steps; those of a sentence that was not pinned are computed from the recorded weights.
PinnedSentence sentence_of(TorchEngine& engine, const std::string& text) {
  PinnedSentence sentence{text, {}};
  const std::int64_t present = engine.steps_done();
  if (const PinnedSentence* pinned = engine.history().find(text)) {
    sentence.frames = pinned->frames;
  } else {
    for (const std::int64_t step : engine.recorded_steps())
      if (step < present) sentence.frames.push_back(frame_of(*forward_pass(engine, text, step)));
  }
  std::erase_if(sentence.frames, [&](const Frame& frame) { return frame->step >= present; });
  sentence.frames.push_back(frame_of(*forward_pass(engine, text)));
  return sentence;
}

std::string circuit_of(TorchEngine& engine, const PageOptions& options, ProgressLine& line) {
  const auto runs = std::make_shared<const ContrastRuns>(
      engine.model(), engine.tokenizer(), ContrastQuestion{options.source.front(), options.corrupted, {}});
  const Circuit circuit = find_circuit(
      {case_of(runs)}, [&](double fraction) { line.show("Searching for the circuit", fraction); });
  if (!circuit.problem.empty()) say("{}", circuit.problem);
  return page_circuit(runs->facts(), circuit);
}

}  // namespace

int page(const PageOptions& options) {
  ProgressLine line;
  TorchEngine engine;
  const RunOpened opened = open_model(engine, options.run, options.step);
  std::vector<std::string> texts = options.source;
  if (texts.empty())
    for (const PinnedSentence& pinned : opened.pinned) texts.push_back(pinned.text);
  if (texts.empty())
    throw std::runtime_error(fmt::format("{}: no sentence is pinned in this run: name one with --source", options.run));
  std::vector<PinnedSentence> sentences;
  for (const std::string& text : texts) {
    line.show("Computing the attention", static_cast<double>(sentences.size()) / static_cast<double>(texts.size()));
    sentences.push_back(sentence_of(engine, text));
  }
  Curves curves;
  for (const MetricPoint& point : opened.metrics) curves.append(point);
  CaptureFacts facts{
      .labels = page_labels(opened.name, opened.config.model, opened.num_parameters, made_by_command(options)),
      .losses = curves[metric("loss")].points()};
  if (!options.corrupted.empty()) facts.circuit = circuit_of(engine, options, line);
  line.clear();
  write_page(options, std::move(sentences), std::move(facts));
  return 0;
}

}  // namespace attnscope
