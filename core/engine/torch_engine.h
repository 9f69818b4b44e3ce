// The engine behind a session: corpus, tokenizer, model and trainer of one run. The commands use it directly.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/tokenizer/tokenizer.h"
#include "engine/checkpoint_pacing.h"
#include "engine/device.h"
#include "engine/metric_log.h"
#include "engine/recorded_parameters.h"
#include "engine/watched_model.h"
#include "files/checkpoints/trainings.h"
#include "files/storage/autosaves.h"
#include "files/storage/locked_run.h"
#include "files/storage/run_folder.h"
#include "inspect/evaluation/carriers.h"
#include "inspect/evaluation/dictionary.h"
#include "inspect/evaluation/seen_words.h"
#include "inspect/evaluation/tuned_lens.h"
#include "inspect/probe/embeddings.h"
#include "messages/engine.h"
#include "training/batch_inspection.h"
#include "training/trainer.h"

namespace attnscope {

class TorchEngine final : public Engine {
 public:
  TorchEngine() = default;
  // Autosaves runs without a folder there.
  explicit TorchEngine(Autosaves autosaves) : autosaves_(std::move(autosaves)) {}
  // Trains its runs with all of `ranks`, which must perform the same steps at the same time. Null: single process.
  explicit TorchEngine(std::shared_ptr<Ranks> ranks) : ranks_(std::move(ranks)) {}

  std::unique_ptr<Engine> for_comparison() const override { return sibling(); }
  std::unique_ptr<TorchEngine> sibling() const;  // another engine with the same settings and run data
  RunOpened open_model(const std::string& path) override;
  RunOpened go_on_with(const std::string& path, const ProgressCallback& progress) override;
  RunOpened reset(const Config& config, const ProgressCallback& progress) override;
  CorpusRead read_corpus(const ProgressCallback& progress) override;
  // From here on checkpoints go to this folder, which stays locked until another run or folder replaces it.
  void save_run(const std::string& path) override;
  // The same for a folder that is already locked.
  void save_run(LockedRun held);
  bool checkpoint_if_due() override;
  void checkpoint() override;
  std::optional<OpenRun> keep() override;
  std::string take_notice() override { return std::exchange(notice_, {}); }
  std::optional<Autosave> last_saved() const override;
  std::vector<Autosave> autosaves() override;
  void adjust(const Config& config) override;
  Status status() const override;
  std::int64_t steps_wanted() const override { return run_.config.training.steps; }
  bool is_foreign_training() const override { return run_.is_foreign; }
  bool has_ended() const override { return run_.stops_early || (ranks_ && ranks_->agreed() != Ranks::Ending::none); }
  void use_step(RunOpened& opened, std::int64_t step) override;
  std::optional<std::int64_t> best_step() const override { return run_.recorded.best(); }
  std::int64_t history_interval() const override { return run_.config.training.history_interval; }
  History& history() override { return run_.pinned; }
  void record_weights() override;
  MetricPoint train_step(const YieldCallback& yield) override;
  void probe(const Probe& probe, const SnapshotCallback& publish, const YieldCallback& yield) override;
  StudyResult study(const StartStudy& asked, const FractionCallback& progress) override;

  // Sets the weights to the mean of the last `count` checkpoints in the folder that the run was opened from (§6.1).
  // Throws RunError if there are fewer, SafetensorsError and FileError as load_weights; the weights are then unchanged.
  void average(std::int64_t count);

  // The current run; there must be one.
  const Config& config() const { return run_.config; }
  const Corpus* corpus() const { return run_.corpus.get(); }  // null if its file is missing
  const Tokenizer& tokenizer() const { return *run_.tokenizer; }
  std::vector<MetricPoint> metrics() const { return run_.metrics.from(); }
  // Reads another corpus than the run's, for studies. Throws CorpusError.
  void use_corpus(const std::string& source, const std::string& target, const ProgressCallback& progress);

  // The training data. Throws CorpusError if the file is missing.
  std::shared_ptr<const Dataset> dataset(const YieldCallback& yield = {});
  std::int64_t steps_done() const { return run_.step(); }

  // For the current weights, or recorded ones.
  std::shared_ptr<const EmbeddingResult> embeddings(const EmbeddingsWanted& wanted);
  std::shared_ptr<const SenseResult> senses(const std::string& word, const YieldCallback& yield,
                                            const std::optional<std::int64_t>& step = {});

  // The current weights and their step, which stay unchanged while the pointer is held, even if training continues.
  std::shared_ptr<const WatchedModel> watch();
  SequenceModel& model() { return *watch()->model; }  // for commands, which do not train at the same time

  // The effect of the parts of the study's circuit at every recorded step, and now.
  Formation formation(const FormationStudy& study, const FractionCallback& progress);

  // The loss increase on the validation part when each head of `model` (of this run) is ablated.
  HeadsResult heads(SequenceModel& model, const FractionCallback& progress);

  // The same, on a few batches, at every recorded step, and now.
  HeadsHistory heads_history(const FractionCallback& progress);
  InductionResult induction(const InductionQuestion& question, const WatchedModel& watched,
                            const FractionCallback& progress);
  NearestResult nearest(const NearestQuestion& question, SequenceModel& model, const FractionCallback& progress);
  NeuronsResult neurons(const NeuronsQuestion& question, const WatchedModel& watched, const FractionCallback& progress);
  // The features of the question's dictionary that carry the difference between the two sentences at the word, and over
  // how many similar pairs of the corpus. Throws NotContrasting and std::runtime_error.
  Carriers carriers(const NeuronsQuestion& question, const ContrastQuestion& contrast, const std::string& word,
                    const FractionCallback& progress);
  // The vector that the question's neuron or feature adds to the residual stream (NeuronCard::direction). Throws
  // std::runtime_error if there is none.
  std::vector<float> direction(const NeuronsQuestion& question, const FractionCallback& progress);
  ProbingResult probing(const ProbingQuestion& question, const WatchedModel& watched, const FractionCallback& progress);
  TunedLensResult tuned_lens(const WatchedModel& watched, const FractionCallback& progress);
  FourierResult fourier(const FourierQuestion& question, const FractionCallback& progress);

  // The distributions of every parameter, its gradient and the sentence's activations, at every recorded step, and now.
  TensorsResult tensors(const TensorsQuestion& question, const FractionCallback& progress);

  // The steps at which all weights were recorded, ascending; may include the current one.
  std::vector<std::int64_t> recorded_steps() const { return run_.recorded.steps(); }

  // The weights recorded at that step. The current ones if no step is given, or nothing was recorded at it.
  std::shared_ptr<const WatchedModel> watch(const std::optional<std::int64_t>& step);

 private:
  // Calls `visit` with the weights of every recorded step, ascending, and finally with the current ones; maps each
  // visit's progress to a part of the whole.
  using Visit = std::function<void(const WatchedModel&, const FractionCallback&)>;
  void visit_recorded(const Visit& visit, const FractionCallback& progress);

  // Reads the tensors from the file if it was saved with that label; else makes them, and saves them there. No path:
  // nothing is read or saved.
  static void read_or_make(const std::filesystem::path& file, const NamedTensors& tensors, const std::string& label,
                           const std::function<NamedTensors()>& make);
  // The folder for files that are computed from the run's weights; null: they are not saved.
  const RunFolder* derived_folder() const;
  std::vector<Batch> texts_to_read(SequenceModel& model, std::string& problem, const YieldCallback& yield);
  PairList pairs_with_senses() const;
  std::int64_t texts_per_batch() const;

  // Throws std::runtime_error if there are no texts.
  std::shared_ptr<const SparseDictionary> dictionary(const NeuronsQuestion& question, const WatchedModel& watched,
                                                     const FractionCallback& progress);
  std::shared_ptr<const SparseDictionary> dictionary(const NeuronsQuestion& question, const WatchedModel& watched,
                                                     const std::vector<Batch>& texts,
                                                     const FractionCallback& progress);
  SparseDictionary trained_dictionary(const NeuronsQuestion& question, const WatchedModel& watched,
                                      const std::vector<Batch>& texts, const FractionCallback& progress);

  // Everything that a failed open or reset must leave unchanged.
  struct Run {
    std::string name = "new run";
    Config config;
    std::shared_ptr<const Corpus> corpus;
    bool corpus_follows = false;  // it has not been read yet
    std::optional<CorpusRecord> record;
    std::optional<Tokenizer> tokenizer;
    std::shared_ptr<const Dataset> dataset;
    std::shared_ptr<WatchedModel> watched;    // exists from the start; returned by watch()
    std::unique_ptr<Trainer> trainer;         // has its own model; created by the first step
    std::optional<BatchInspector> inspector;  // created by the first batch inspection
    std::optional<RunFolder> folder;          // where it was opened from, for the optimizer's state
    MetricLog metrics;
    History pinned;
    // Files in `folder` with contents that could not be read; they are renamed before they are replaced.
    std::vector<std::filesystem::path (RunFolder::*)() const> unreadable;
    std::vector<std::string> warnings;
    RecordedParameters embeddings{std::size_t{128} << 20, 100};  // for an animation of some seconds
    RecordedParameters recorded;                                 // all weights, at steps that have frames
    double best_loss = std::numeric_limits<double>::infinity();  // the lowest validation loss so far
    std::int64_t validations_since_best = 0;
    bool stops_early = false;                // the last step used up training.patience
    bool is_foreign = false;                 // `recorded` has the steps of another program's training
    bool optimizer_is_later = false;         // the one in `folder` belongs to a later step than these weights
    std::shared_ptr<WatchedModel> recalled;  // one of those steps; null: none requested

    // Created on first request; a result is cached until another question is asked.
    std::optional<EmbeddingAnalyzer> embedding_analyzer;
    std::optional<SeenWords> seen_words;
    std::shared_ptr<const SenseResult> senses;
    std::shared_ptr<const SparseDictionary> dictionary;
    DictionaryKey dictionary_key;
    std::shared_ptr<const TunedLens> lens;  // the one fitted last

    std::int64_t step() const { return trainer ? trainer->steps_done() : watched->step; }
  };

  // The weights a run is initialized from instead of random ones: model.from.
  struct Origin {
    std::optional<Tokenizer> tokenizer;
    std::shared_ptr<const WatchedModel> model;  // null: random initialization
  };

  // The folder in which the current run is saved.
  struct Home {
    LockedRun held;
    CheckpointPacing pacing;
    std::size_t points;  // number of points of run_.metrics in its file
    std::chrono::steady_clock::time_point points_saved;
    std::int64_t step;  // of the saved weights
  };

  // Throws ConfigError if the configuration differs from the model in model.from; otherwise throws as read_model.
  Origin origin_of(const Config& config) const;
  bool has_corpus_of(const Config& config) const;
  bool has_tokenizer_of(const Config& config) const;
  static Tokenizer new_tokenizer(const Run& run, const std::function<void(const char*)>& report);
  static void set_special_tokens(Run& run);
  static void add_skipped(Run& run);  // warnings about examples that were left out
  // The current run's corpus, or a newly read one if `config` names another.
  std::shared_ptr<const Corpus> corpus_for(const Config& config, const ProgressCallback& progress) const;
  void load_points(Run& run) const;
  void load_pinned(Run& run) const;
  void read_corpus_of(Run& run, const ProgressCallback& progress) const;
  Run read_model(const std::string& named) const;      // everything of a run except its corpus
  Run read_checkpoint(const std::string& path, const std::string& named) const;  // another program's checkpoint
  static void find_training(Run& run, const std::vector<TrainingStep>& steps, std::vector<TensorRow> rows);
  bool is_autosave(const std::filesystem::path& folder) const { return autosaves_ && autosaves_->contains(folder); }
  RunOpened replace(Run run);
  // The current run's corpus. Throws CorpusError if its file is missing.
  const Corpus& corpus_of_run() const;
  void make_trainer(const YieldCallback& yield);
  // Notes the loss of a validation, and records the weights if it is the lowest.
  void note_validation(const MetricPoint& point);
  // The batch of the coming step, or the reason why there is none.
  std::shared_ptr<const BatchInspection> next_batch(const BatchWanted& wanted, const YieldCallback& yield);

  bool is_home(const std::filesystem::path& folder) const;
  // Writes the files that training does not change; skipped if the folder already has them.
  void write_lasting(Checkpoint& checkpoint);
  enum class Keep { no, weights };  // also in checkpoints/, according to training.kept_checkpoints
  void write_present(Checkpoint& checkpoint, Keep keep);
  void checkpoint(Keep keep);
  // Before saving: follows the run's folder if it was renamed; if it is gone, saves the run in a new one next to it.
  void follow_home();
  void save_new_points();
  EmbeddingAnalyzer& embedding_analyzer();
  std::vector<UnseenWord> unseen_words(const Snapshot& snapshot, const YieldCallback& yield);
  TsneMap tsne_map(const TsneStudy& question, const WatchedModel& watched, const FractionCallback& progress);
  // Adds the requested information about the model.
  void complete(Snapshot& snapshot, SequenceModel& model, const Probe& probe, const YieldCallback& yield);

  // Saves to an automatically chosen folder.
  void autosave();
  // The weights to save: the newest.
  SequenceModel& weights();

  // number of runs so far, shared with all sibling engines
  std::shared_ptr<std::uint64_t> runs_ = std::make_shared<std::uint64_t>(0);
  std::uint64_t number_ = 0;  // of the current run
  // The recorded steps of a run that was replaced.
  struct KeptSteps {
    std::filesystem::path folder;
    std::int64_t step = 0;
    RecordedParameters recorded, embeddings;
  };
  void keep_recorded();
  void find_recorded();

  Run run_;
  std::vector<KeptSteps> kept_;  // newest first
  std::optional<Home> home_;
  std::string notice_;  // take_notice()
  std::optional<Autosaves> autosaves_;
  CheckpointPacing autosaving_;   // of attempts, while there is no home
  std::shared_ptr<Ranks> ranks_;  // null: single process
};

}  // namespace attnscope
