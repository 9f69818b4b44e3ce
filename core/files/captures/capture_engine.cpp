#include "files/captures/capture_engine.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/mark.h"

namespace attnscope {
namespace {

[[noreturn]] void refuse() {
  throw Error(mark("a capture has no model: open a run first"));
}

}  // namespace

std::unique_ptr<Engine> CaptureEngine::for_comparison() const {
  refuse();
}

RunOpened CaptureEngine::open_model(const std::string& path) {
  CaptureContents capture = load_capture(path, run_);
  path_ = path;
  sentences_ = std::move(capture.sentences);
  RunOpened opened;
  opened.run = run_;
  opened.name = std::filesystem::path(path).stem().string();
  opened.folder = path;
  opened.config.model = capture.model;
  for (const PinnedSentence& sentence : sentences_) {
    step_ = std::max(step_, sentence.frames.back()->step);
    opened.examples.push_back({.source = sentence.text, .target = {}});
  }
  opened.step = step_;
  opened.metrics = std::move(capture.losses);
  opened.pinned = sentences_;
  return opened;
}

RunOpened CaptureEngine::go_on_with(const std::string& path, const ProgressCallback&) {
  return open_model(path);
}

RunOpened CaptureEngine::reset(const Config&, const ProgressCallback&) {
  refuse();
}

CorpusRead CaptureEngine::read_corpus(const ProgressCallback&) {
  return {};
}

void CaptureEngine::use_step(RunOpened&, std::int64_t) {
  refuse();
}

void CaptureEngine::save_run(const std::string&) {
  refuse();
}

MetricPoint CaptureEngine::train_step(const YieldCallback&) {
  refuse();
}

void CaptureEngine::probe(const Probe& probe, const SnapshotCallback& publish, const YieldCallback&) {
  const auto sentence = std::ranges::find(sentences_, probe.text, &PinnedSentence::text);
  if (sentence != sentences_.end()) publish(sentence->frames.back());
}

StudyResult CaptureEngine::study(const StartStudy&, const FractionCallback&) {
  refuse();
}

}  // namespace attnscope
