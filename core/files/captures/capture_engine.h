// A capture behind the Engine interface: a run that can be inspected but not trained.
#pragma once

#include "files/captures/capture.h"
#include "messages/engine.h"

namespace attnscope {

class CaptureEngine final : public Engine {
 public:
  // `run` is the number that the opened capture gets.
  explicit CaptureEngine(std::uint64_t run) : run_(run) {}

  std::unique_ptr<Engine> for_comparison() const override;
  RunOpened open_model(const std::string& path) override;
  RunOpened go_on_with(const std::string& path, const ProgressCallback& progress) override;
  RunOpened reset(const Config& config, const ProgressCallback& progress) override;
  CorpusRead read_corpus(const ProgressCallback& progress) override;
  void save_run(const std::string& path) override;
  bool checkpoint_if_due() override { return false; }
  void checkpoint() override {}
  void use_step(RunOpened& opened, std::int64_t step) override;
  std::optional<std::int64_t> best_step() const override { return std::nullopt; }
  std::optional<OpenRun> keep() override { return OpenRun{.path = path_}; }
  std::optional<Autosave> last_saved() const override { return std::nullopt; }
  std::vector<Autosave> autosaves() override { return {}; }
  void adjust(const Config&) override {}
  Status status() const override { return {.step = step_, .device = {}}; }
  std::int64_t steps_wanted() const override { return step_; }
  std::int64_t history_interval() const override { return 1; }
  History& history() override { return history_; }
  void record_weights() override {}
  MetricPoint train_step(const YieldCallback& yield) override;
  // Publishes the last step of the sentence with that name.
  void probe(const Probe& probe, const SnapshotCallback& publish, const YieldCallback& yield) override;
  StudyResult study(const StartStudy& asked, const FractionCallback& progress) override;

 private:
  std::uint64_t run_;
  std::string path_;
  std::vector<PinnedSentence> sentences_;
  std::int64_t step_ = 0;  // the last of all sentences
  History history_;        // stays empty: nothing is recorded
};

}  // namespace attnscope
