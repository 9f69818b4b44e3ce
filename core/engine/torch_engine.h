// The machinery behind a session: corpus, tokenizer, model and trainer of one run. The commands use it directly.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "corpus/corpus.h"
#include "engine/checkpoint_pacing.h"
#include "engine/device.h"
#include "engine/metric_log.h"
#include "engine/recorded_parameters.h"
#include "engine/watched_model.h"
#include "evaluation/seen_words.h"
#include "probe/embeddings.h"
#include "session/engine.h"
#include "storage/autosaves.h"
#include "storage/locked_run.h"
#include "storage/run_folder.h"
#include "tokenizer/tokenizer.h"
#include "training/batch_inspection.h"
#include "training/trainer.h"

namespace attnscope {

class TorchEngine final : public Engine {
 public:
  TorchEngine() = default;
  // Keeps runs there that have no folder.
  explicit TorchEngine(Autosaves autosaves) : autosaves_(std::move(autosaves)) {}
  // Trains its runs with all of `ranks`, which then do the same updates at the same time. Null: alone.
  explicit TorchEngine(std::shared_ptr<Ranks> ranks) : ranks_(std::move(ranks)) {}

  std::unique_ptr<Engine> beside() const override { return sibling(); }
  std::unique_ptr<TorchEngine> sibling() const;  // the same, as what it is
  RunOpened open_model(const std::string& path) override;
  RunOpened go_on_with(const std::string& path, const ProgressCallback& progress) override;
  RunOpened reset(const Config& config, const ProgressCallback& progress) override;
  CorpusRead read_corpus(const ProgressCallback& progress) override;
  // From here on checkpoints go to this folder, which is held until another run or folder takes its place.
  void save_run(const std::string& path) override;
  // The same where the folder is held already.
  void save_run(LockedRun held);
  bool checkpoint_if_due() override;
  void checkpoint() override;
  std::optional<OpenRun> keep() override;
  std::optional<Autosave> last_saved() const override;
  std::vector<Autosave> autosaves() override;
  void adjust(const Config& config) override;
  Status status() const override;
  std::int64_t steps_wanted() const override { return run_.config.training.steps; }
  bool has_ended() const override { return ranks_ && ranks_->agreed() != Ranks::Ending::none; }
  std::int64_t history_interval() const override { return run_.config.training.history_interval; }
  History& history() override { return run_.pinned; }
  void record_weights() override;
  MetricPoint train_step(const YieldCallback& yield) override;
  void probe(const Probe& probe, const SnapshotCallback& publish, const YieldCallback& yield) override;
  StudyResult study(const StartStudy& asked, const FractionCallback& progress) override;

  // The weights become the mean of the last `count` kept in the folder that the run was opened from (§6.1). Throws
  // RunError if there are fewer, SafetensorsError and FileError as load_weights; the weights are then unchanged.
  void average(std::int64_t count);

  // The present run; there must be one.
  const Config& config() const { return run_.config; }
  const Corpus* corpus() const { return run_.corpus.get(); }  // null when its file is gone
  const Tokenizer& tokenizer() const { return *run_.tokenizer; }
  std::vector<MetricPoint> metrics() const { return run_.metrics.from(); }
  // What it is trained on. Throws CorpusError when its file is gone.
  std::shared_ptr<const Dataset> dataset(const YieldCallback& yield = {});
  std::int64_t steps_done() const { return run_.step(); }

  // About the weights of this moment, or recorded ones.
  std::shared_ptr<const EmbeddingResult> embeddings(const EmbeddingsWanted& wanted);
  std::shared_ptr<const SenseResult> senses(const std::string& word, const YieldCallback& yield,
                                            const std::optional<std::int64_t>& step = {});

  // The present weights and their step, which stay for as long as they are held, whatever is trained meanwhile.
  std::shared_ptr<const WatchedModel> watch();
  SequenceModel& model() { return *watch()->model; }  // for a command, which does not train meanwhile

  // What the parts of the study's circuit moved at every step whose weights were recorded, and now.
  Formation formation(const FormationStudy& study, const FractionCallback& progress);

  // What `model`, of the run, loses of the validation part without each head.
  HeadsResult heads(SequenceModel& model, const FractionCallback& progress);

  // The same, of a few batches, at every step whose weights were recorded, and now.
  HeadsHistory heads_history(const FractionCallback& progress);

  // How the values of every parameter, of its gradient and of the sentence's activations are spread, at every step
  // whose weights were recorded, and now.
  TensorsResult tensors(const TensorsQuestion& question, const FractionCallback& progress);

  // The steps of which all weights were recorded, ascending; the present one may be among them.
  std::vector<std::int64_t> recorded_steps() const { return run_.recorded.steps(); }

  // The weights recorded at that step. The present ones if there is no step, or nothing was recorded at it.
  std::shared_ptr<const WatchedModel> watch(const std::optional<std::int64_t>& step);

 private:
  // Calls `visit` with the weights of every recorded step, ascending, and at last with the present ones; what it tells
  // of its progress is told on as a part of the whole.
  using Visit = std::function<void(const WatchedModel&, const FractionCallback&)>;
  void visit_recorded(const Visit& visit, const FractionCallback& progress);

  // Everything that a failed open or reset must leave as it was.
  struct Run {
    std::string name = "new run";
    Config config;
    std::shared_ptr<const Corpus> corpus;
    bool corpus_follows = false;  // it has not been read yet
    std::optional<CorpusRecord> record;
    std::optional<Tokenizer> tokenizer;
    std::shared_ptr<const Dataset> dataset;
    std::shared_ptr<WatchedModel> watched;    // from the beginning on; handed out by watch()
    std::unique_ptr<Trainer> trainer;         // with a model of its own; made by the first update
    std::optional<BatchInspector> inspector;  // made by the first look at a batch
    std::optional<RunFolder> folder;          // where it was opened from, for the optimizer's state
    MetricLog metrics;
    History pinned;
    bool history_unreadable = false;  // what there is of it in `folder` is set aside before it is replaced
    std::vector<std::string> warnings;
    RecordedParameters embeddings{std::size_t{128} << 20, 100};  // a film of some seconds
    RecordedParameters recorded;                                 // all weights, of steps of which there are frames
    std::shared_ptr<WatchedModel> recalled;                      // one of those steps; null: none was asked for

    // Made when they are first asked for; an answer is kept until another is wanted.
    std::optional<EmbeddingAnalyzer> embedding_analyzer;
    std::optional<SeenWords> seen_words;
    std::shared_ptr<const SenseResult> senses;

    std::int64_t step() const { return trainer ? trainer->steps_done() : watched->step; }
  };

  // What a run begins with instead of random weights: model.from's.
  struct Origin {
    std::optional<Tokenizer> tokenizer;
    std::shared_ptr<const WatchedModel> model;  // null: it begins with random ones
  };

  // Where the present run is saved.
  struct Home {
    LockedRun held;
    CheckpointPacing pacing;
    std::size_t points;  // of run_.metrics, in its file
    std::chrono::steady_clock::time_point points_saved;
    std::int64_t step;  // of the weights there
  };

  // Throws ConfigError where the configuration asks for another model than what lies in model.from, and as read_model.
  Origin origin_of(const Config& config) const;
  bool has_corpus_of(const Config& config) const;
  // The present run's, or read anew if `config` asks for another.
  std::shared_ptr<const Corpus> corpus_for(const Config& config, const ProgressCallback& progress) const;
  void load_pinned(Run& run) const;
  void read_corpus_of(Run& run, const ProgressCallback& progress) const;
  Run read_model(const std::string& path) const;       // all of a run but its corpus
  Run read_checkpoint(const std::string& path) const;  // another program's
  bool is_autosave(const std::filesystem::path& folder) const { return autosaves_ && autosaves_->contains(folder); }
  RunOpened replace(Run run);
  // The present run's. Throws CorpusError when its file is gone.
  const Corpus& corpus_of_run() const;
  void make_trainer(const YieldCallback& yield);
  // The batch of the coming update, or why there is none.
  std::shared_ptr<const BatchInspection> next_batch(const BatchWanted& wanted, const YieldCallback& yield);

  bool is_home(const std::filesystem::path& folder) const;
  // What a checkpoint in a folder that has it already need not write: all that training does not change.
  void write_lasting(Checkpoint& checkpoint);
  enum class Keep { no, weights };  // in checkpoints/ too, as training.kept_checkpoints says
  void write_present(Checkpoint& checkpoint, Keep keep);
  void checkpoint(Keep keep);
  void save_new_points();
  EmbeddingAnalyzer& embedding_analyzer();
  std::vector<UnseenWord> unseen_words(const Snapshot& snapshot, const YieldCallback& yield);
  TsneMap tsne_map(const TsneStudy& question, const WatchedModel& watched, const FractionCallback& progress);
  // What the model makes of a sentence, and what of the model itself was asked for.
  void complete(Snapshot& snapshot, const Probe& probe, const YieldCallback& yield);

  // In a folder of its own, which nobody chose.
  void autosave();
  // What is saved: the newest.
  SequenceModel& weights();

  std::shared_ptr<std::uint64_t> runs_ = std::make_shared<std::uint64_t>(0);  // there were, of all engines beside it
  std::uint64_t number_ = 0;                                                  // of the present one
  Run run_;
  std::optional<Home> home_;
  std::optional<Autosaves> autosaves_;
  CheckpointPacing autosaving_;   // of attempts, while there is no home
  std::shared_ptr<Ranks> ranks_;  // null: it trains alone
};

}  // namespace attnscope
