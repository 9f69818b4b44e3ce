#include "messages/engine.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace attnscope {
namespace {

bool seen_at(const PinnedSentence& sentence, std::int64_t step) {
  return !sentence.frames.empty() && sentence.frames.back()->step == step;
}

// Ascending; nullopt: the present step.
std::vector<std::optional<std::int64_t>> steps_to_record(Engine& engine) {
  std::vector<std::optional<std::int64_t>> steps;
  const Status status = engine.status();
  if (engine.is_foreign_training())
    for (const std::int64_t earlier : status.recorded_weights)
      if (earlier < status.step) steps.emplace_back(earlier);
  steps.emplace_back();
  return steps;
}

}  // namespace

RunOpened Engine::open_run(const std::string& path, const ProgressCallback& progress) {
  RunOpened opened = open_model(path);
  if (!std::exchange(opened.corpus_follows, false)) return opened;
  CorpusRead read = read_corpus(progress);
  opened.examples = std::move(read.examples);
  std::ranges::move(read.warnings, std::back_inserter(opened.warnings));
  return opened;
}

bool recording_due(Engine& engine) {
  return engine.status().step % engine.history_interval() == 0;
}

void record_pinned(Engine& engine, const SnapshotCallback& recorded, const YieldCallback& yield) {
  const std::int64_t step = engine.status().step;
  std::vector<std::string> unseen;  // copies: adding a frame changes the sentences
  for (const PinnedSentence& sentence : engine.history().sentences()) {
    if (!seen_at(sentence, step)) unseen.push_back(sentence.text);
  }
  if (unseen.empty()) return;
  engine.record_weights();
  // The outer loop is over steps: the weights of each are loaded once.
  for (const std::optional<std::int64_t>& at : steps_to_record(engine)) {
    for (const std::string& text : unseen) {
      const auto& frames = engine.history().find(text)->frames;
      if (at && !frames.empty() && frames.back()->step >= *at) continue;
      std::shared_ptr<const Snapshot> whole;
      engine.probe(
          {.request = 0, .text = text, .step = at},
          [&](std::shared_ptr<const Snapshot> inspection) { whole = std::move(inspection); }, yield);
      Frame frame = frame_of(*whole);
      engine.history().add(frame);
      if (recorded) recorded(std::move(frame));
    }
  }
}

}  // namespace attnscope
