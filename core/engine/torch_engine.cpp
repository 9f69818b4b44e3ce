#include "engine/torch_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "analysis/tsne.h"
#include "common/free_memory.h"
#include "common/mark.h"
#include "common/other_formats.h"
#include "config/fine_tuning.h"
#include "config/schedule.h"
#include "data/corpus/examples.h"
#include "data/corpus/words.h"
#include "data/tokenizer/families.h"
#include "engine/checkpoint.h"
#include "engine/checkpoint_weights.h"
#include "files/storage/file.h"
#include "files/storage/history_file.h"
#include "inspect/attribution/attribution.h"
#include "inspect/circuit/circuit_study.h"
#include "inspect/circuit/corpus_contrasts.h"
#include "inspect/circuit/formation.h"
#include "inspect/circuit/induction.h"
#include "inspect/evaluation/cost.h"
#include "inspect/evaluation/evaluation.h"
#include "inspect/evaluation/fourier.h"
#include "inspect/evaluation/head_importance.h"
#include "inspect/evaluation/length.h"
#include "inspect/evaluation/nearest.h"
#include "inspect/evaluation/neurons.h"
#include "inspect/evaluation/probing.h"
#include "inspect/evaluation/senses.h"
#include "inspect/evaluation/tensor_spread.h"
#include "inspect/evaluation/vocabulary_facts.h"
#include "inspect/probe/gradients.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/order.h"
#include "inspect/probe/readings.h"
#include "inspect/probe/tensors.h"
#include "messages/metrics.h"
#include "model/activations.h"
#include "model/initial_values.h"
#include "model/kernels/bfloat16_product.h"
#include "model/kernels/thread_pool.h"
#include "training/validation.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t largest_tokenizer = 64U << 20U;  // bytes per file; usual are 100 KB to a few MB
constexpr std::uint64_t largest_optimizer = 16ULL << 30U;

// For larger models, even a few recorded steps would take too much memory.
constexpr std::size_t largest_recorded_weights = std::size_t{32} << 20U;  // bytes

constexpr std::chrono::seconds longest_between_checkpoints{60};
// The maximum of training time missing from the curves after the process is killed.
constexpr std::chrono::seconds longest_wait_of_points{3};

CorpusRecord record_of(const CorpusConfig& config, const Corpus& corpus) {
  // One of the two is empty.
  const auto count = [](const PairList& pairs, const std::string& text) {
    return static_cast<std::int64_t>(pairs.size()) + num_characters(text);
  };
  return {.source = config.source,
          .target = config.target,
          .name = corpus.name,
          .hash = corpus.hash,
          .seed = config.seed,
          .train = count(corpus.train, corpus.text.train),
          .validation = count(corpus.validation, corpus.text.validation),
          .test = count(corpus.test, corpus.text.test),
          .skipped = corpus.report.skipped};
}

// A run may be opened from any directory, so its file paths must be absolute.
Config with_absolute_paths(Config config) {
  for (std::string* path : {&config.corpus.source, &config.corpus.target, &config.tokenizer.path, &config.model.from}) {
    if (!path->empty() && !is_built_in(*path) && std::filesystem::exists(*path))
      *path = std::filesystem::absolute(*path).lexically_normal().string();
  }
  return config;
}

// "runs/mine-2", or with the next free number.
std::filesystem::path free_path_next_to(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (int number = 2;; ++number) {
    std::filesystem::path path = folder;
    path += fmt::format("-{}", number);
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return path;
  }
}

bool same_folder(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code ignored;
  return std::filesystem::equivalent(one, other, ignored);
}

void add_if_any(std::vector<std::string>& warnings, std::string text) {
  if (!text.empty()) warnings.push_back(std::move(text));
}

Tokenizer own_tokenizer(const std::string& model, const Corpus& corpus, bool labelled) {
  return labelled ? Tokenizer(model, labels_of(corpus)) : Tokenizer(model);
}

Tokenizer read_tokenizer(const std::filesystem::path& folder, const Config& config) {
  TokenizerFiles files;
  for (const TokenizerFile& file : tokenizer_files(config.tokenizer.family)) {
    const std::filesystem::path path = folder / file.name;
    if (!file.needed && !std::filesystem::exists(path)) continue;
    std::string bytes = read_file(path, largest_tokenizer);
    if (const std::string other = other_format(bytes.substr(0, 64), path.string()); !other.empty())
      throw TokenizerError(fmt::format("{} is {}", file.name, other));
    files.emplace(file.name, std::move(bytes));
  }
  return make_tokenizer(config.tokenizer.family, std::move(files), config.model.special(), config.tokenizer.vocab_size);
}

// A model whose weights will be loaded.
std::shared_ptr<WatchedModel> uninitialized_model(const Config& config, const Tokenizer& tokenizer) {
  const WithoutInitialValues none;
  return make_watched(config.model, tokenizer.vocab_size(), resolve_device(config.training.device));
}

// A classifier's output matrix has one row per label.
void check_classes(const ModelConfig& model, const Tokenizer& tokenizer) {
  const auto labels = static_cast<std::int64_t>(tokenizer.labels().size());
  if (labels == (model.is_classifier() ? model.num_classes : 0)) return;
  throw RunError(fmt::format("model.num_classes is {}, but {} has {} labels", model.num_classes, labels_file, labels));
}

// Those that only the tokenizer's files name.
void take_special_tokens(const Tokenizer& tokenizer, ModelConfig& model) {
  model.unknown_id = tokenizer.special().unknown;
  model.start_id = tokenizer.special().start;
  model.end_id = tokenizer.special().end;
  model.mask_id = tokenizer.special().mask;
}

// Other programs' files are never overwritten.
void check_is_no_checkpoint(const std::filesystem::path& folder) {
  if (!is_checkpoint(folder)) return;
  throw FileError(fmt::format("{} contains another program's checkpoint: choose another folder", folder.string()));
}

// LibTorch's errors include a backtrace, which users should not see.
template <typename Work>
auto with_short_errors(const Work& work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    throw std::runtime_error(error.what_without_backtrace());
  }
}

}  // namespace

// A reset reuses the corpus and tokens of the previous run.
std::unique_ptr<TorchEngine> TorchEngine::sibling() const {
  auto other = std::make_unique<TorchEngine>();
  other->runs_ = runs_;
  other->autosaves_ = autosaves_;
  other->ranks_ = ranks_;
  other->run_.config = run_.config;
  other->run_.corpus = run_.corpus;
  other->run_.tokenizer = run_.tokenizer;
  other->run_.dataset = run_.dataset;
  return other;
}

RunOpened TorchEngine::open_model(const std::string& path) {
  finish_checkpoint(path);
  RunOpened opened = replace(read_model(path));
  opened.corpus_follows = run_.corpus_follows = !run_.config.corpus.source.empty();
  if (const std::string found = overflowing(model()); !found.empty())
    opened.warnings.push_back(fmt::format(
        mark("{} is NaN or infinite at step {}, so nothing can be computed. Open an older checkpoint of this "
             "run, or train again with a lower learning rate."),
        found, opened.step));
  return opened;
}

CorpusRead TorchEngine::read_corpus(const ProgressCallback& progress) {
  Run read;
  read.config = run_.config;
  read.record = run_.record;
  read_corpus_of(read, progress);
  run_.corpus = std::move(read.corpus);
  run_.corpus_follows = false;
  run_.embedding_analyzer.reset();  // created by an inspection without it
  run_.senses.reset();
  return {.examples = run_.corpus ? examples_of(*run_.corpus) : std::vector<Example>(),
          .warnings = std::move(read.warnings)};
}

RunOpened TorchEngine::go_on_with(const std::string& path, const ProgressCallback& progress) {
  check_is_no_checkpoint(path);  // before anything is created there
  check_is_run(path);
  // The current run's own folder is already locked, and stays so if its last checkpoint cannot be read.
  std::optional<LockedRun> other;
  if (!is_home(path)) other.emplace(path);
  const RunFolder folder = other ? other->folder() : home_->held.folder();
  Run run = read_model(path);
  read_corpus_of(run, progress);
  for (const auto file : std::exchange(run.unreadable, {})) set_aside((folder.*file)());
  save_metrics(folder.metrics(), run.metrics.from());  // drops the points after the weights' step
  LockedRun held = other ? *std::move(other) : std::move(home_->held);
  RunOpened opened = replace(std::move(run));
  if (!opened.autosaved) opened.saved_to = path;
  CheckpointPacing pacing;
  pacing.begun(Clock::now());
  home_.emplace(std::move(held), pacing, run_.metrics.size(), Clock::now(), run_.step());
  return opened;
}

TorchEngine::Run TorchEngine::read_model(const std::string& named) const {
  const std::string path = model_folder(named).string();
  if (is_checkpoint(path)) return read_checkpoint(path, named);
  check_is_run(path);
  Run run;
  run.folder = RunFolder{path};
  const std::filesystem::path folder = std::filesystem::absolute(path).lexically_normal();
  run.name = is_autosave(folder) ? Autosaves::run_name(folder) : folder.filename().string();
  run.config = load_config(run.folder->config());
  if (!has_device(run.config.training.device)) {
    run.config.training.device = "auto";
    run.warnings.push_back(mark("The run was trained with CUDA, which is not available here: it continues on the CPU"));
  }
  run.tokenizer.emplace(read_tokenizer(run.folder->path, run.config));
  check_classes(run.config.model, *run.tokenizer);
  set_threads(run.config.training);
  run.watched = uninitialized_model(run.config, *run.tokenizer);
  run.watched->step = load_weights(run.folder->model(), *run.watched->model);
  run.embeddings.find_in(*run.folder, run.step());
  run.recorded.find_in(*run.folder, run.step());
  load_points(run);
  load_pinned(run);
  run.record = load_corpus_record(run.folder->corpus());
  return run;
}

void TorchEngine::read_corpus_of(Run& run, const ProgressCallback& progress) const {
  if (run.config.corpus.source.empty()) return;
  try {
    run.corpus = corpus_for(run.config, progress);
    if (run.corpus->hash != run.record->hash) {
      run.warnings.push_back(fmt::format(
          mark("{} is not the corpus that this run was trained on: training may have seen its held-out sentences"),
          run.corpus->name));
    }
  } catch (const CorpusError& error) {
    run.warnings.push_back(fmt::format(mark("The run can be inspected, but not trained: {}"), error.what()));
  }
}

// Has neither corpus nor step, because the training data is unknown.
TorchEngine::Run TorchEngine::read_checkpoint(const std::string& path, const std::string& named) const {
  const std::filesystem::path folder = std::filesystem::absolute(path).lexically_normal();
  CheckpointPlan plan = plan_checkpoint(folder);
  Run run;
  std::vector<TrainingStep> left_out;
  const std::vector<TrainingStep> steps = training_steps(named, &left_out);
  for (const TrainingStep& step : left_out)
    run.warnings.push_back(fmt::format(mark("{} has no weights, so it was left out."), step.folder.string()));
  run.folder = RunFolder{steps.empty() ? folder : std::filesystem::absolute(named).lexically_normal()};
  run.name = run.folder->path.filename().string();
  run.config = plan.config;
  run.config.tokenizer.path = run.config.model.from = folder.string();
  run.config.corpus.normalize = false;  // its tokenizer was trained on other text
  try {
    const CheckpointTensors tensors(folder);
    run.tokenizer.emplace(read_tokenizer(folder, run.config));
    take_special_tokens(*run.tokenizer, run.config.model);
    set_threads(run.config.training);
    run.watched = uninitialized_model(run.config, *run.tokenizer);
    load_checkpoint(tensors, plan.tensors, *run.watched->model);
    add_if_any(run.warnings, unused_output(tensors, plan.tensors, run.config.model));
  } catch (const CheckpointError& error) {
    throw CheckpointError(fmt::format("{}: {}", folder.string(), error.what()));
  } catch (const TokenizerError& error) {
    throw TokenizerError(fmt::format("{}: {}", folder.string(), error.what()));
  }
  run.record.emplace().name = run.name;
  if (!steps.empty()) find_training(run, steps, std::move(plan.tensors));
  return run;
}

// The other steps of another program's training, and its curves.
void TorchEngine::find_training(Run& run, const std::vector<TrainingStep>& steps, std::vector<TensorRow> rows) {
  const auto shared = std::make_shared<const std::vector<TensorRow>>(std::move(rows));
  run.watched->step = training_step_of(run.folder->path, steps.back().step);
  for (const TrainingStep& step : steps)
    if (step.step != run.step())
      for (RecordedParameters* steps_of : {&run.recorded, &run.embeddings})
        steps_of->add_checkpoint_step(step.step, step.folder, shared);
  TrainingCurves curves = training_curves(run.folder->path, steps);
  run.metrics = MetricLog(curves.points);
  std::ranges::move(curves.warnings, std::back_inserter(run.warnings));
  run.is_foreign = true;
}

// Damaged lines must not prevent opening a run either.
void TorchEngine::load_points(Run& run) const {
  std::vector<std::string> unusable;
  std::vector<MetricPoint> points = load_metrics(run.folder->metrics(), &unusable);
  std::erase_if(points, [&](const MetricPoint& point) { return point.step > run.step(); });
  run.metrics = MetricLog(points);
  for (const MetricPoint& point : points) {
    const std::optional<double> loss = point[metric("validation_nll")];
    if (!loss || !std::isfinite(*loss)) continue;
    run.validations_since_best = *loss < run.best_loss ? 0 : run.validations_since_best + 1;
    run.best_loss = std::fmin(run.best_loss, *loss);
  }
  if (unusable.empty()) return;
  run.unreadable.push_back(&RunFolder::metrics);
  run.warnings.push_back(fmt::format(
      mark("{} lines of metrics were left out of the curves; weights and other lines are complete. The file will be "
           "renamed when the run is saved. The first: {}"),
      unusable.size(), unusable.front()));
}

// Damaged recorded pictures must not prevent opening a run: it opens without them, with a warning.
void TorchEngine::load_pinned(Run& run) const {
  if (!std::filesystem::exists(run.folder->history())) return;
  try {
    run.pinned = load_history(run.folder->history(), run.config.model, *runs_ + 1);
    run.pinned.truncate(run.step());
  } catch (const std::runtime_error& error) {
    run.unreadable.push_back(&RunFolder::history);
    run.warnings.push_back(fmt::format(
        mark("The pinned sentences could not be read, so the run was opened without them. Their file will be "
             "renamed when the run is saved: {}"),
        error.what()));
  }
}

TorchEngine::Origin TorchEngine::origin_of(const Config& config) const {
  if (config.model.from.empty()) return {};
  const auto took = [&](const Run& run) {
    check_begins_with(config, run.config);
    return Origin{run.tokenizer, run.watched};
  };
  // After further training the weights differ from those in the folder.
  const bool is_open = run_.folder && !run_.trainer && same_folder(run_.folder->path, config.model.from);
  return is_open ? took(run_) : took(read_model(config.model.from));
}

// Read from its files, or trained on the corpus.
Tokenizer TorchEngine::new_tokenizer(const Run& run, const std::function<void(const char*)>& report) {
  const TokenizerConfig& config = run.config.tokenizer;
  const bool labelled = run.config.model.is_classifier();
  if (config.family != TokenizerConfig().family) return read_tokenizer(config.path, run.config);
  if (!config.path.empty()) return own_tokenizer(read_file(config.path, largest_tokenizer), *run.corpus, labelled);
  report(mark("Training the tokenizer"));
  const YieldCallback yield = [&] { report(mark("Training the tokenizer")); };
  return own_tokenizer(train_tokenizer(*run.corpus, config, run.config.model, yield), *run.corpus, labelled);
}

// What the model takes from its tokenizer.
void TorchEngine::set_special_tokens(Run& run) {
  ModelConfig& model = run.config.model;
  const bool masked = model.is_masked_lm();
  model.mask_id = masked ? run.tokenizer->special().mask : -1;
  if (masked && model.mask_id < 0)
    throw TokenizerError("the tokenizer has no token that stands for a masked one: let attnscope train one");
  if (masked && model.head != "tokens")
    throw ConfigError(fmt::format("model.head is \"{}\", allowed for training: tokens", model.head));
  model.num_classes = static_cast<std::int64_t>(run.tokenizer->labels().size());
}

void TorchEngine::add_skipped(Run& run) {
  if (run.dataset->too_long > 0)
    run.warnings.push_back(fmt::format(mark("{} pairs skipped: one side is longer than model.max_length, {} tokens"),
                                       run.dataset->too_long, run.config.model.max_length));
  if (run.dataset->unknown_label > 0)
    run.warnings.push_back(fmt::format(mark("{} held-out texts skipped: their labels do not occur in the training set"),
                                       run.dataset->unknown_label));
}

RunOpened TorchEngine::reset(const Config& config, const ProgressCallback& progress) {
  check(config);
  const torch::Device device = resolve_device(config.training.device);
  const auto report = [&](const char* what) {
    if (progress) progress({what, -1});
  };
  Run run;
  run.config = with_absolute_paths(config);
  set_threads(config.training);
  if (!config.model.from.empty()) report(mark("Loading the weights"));
  const Origin origin = origin_of(run.config);
  const bool same_corpus = has_corpus_of(run.config);
  run.corpus = corpus_for(run.config, progress);
  if (!same_corpus) add_if_any(run.warnings, left_out_text(*run.corpus));
  run.record = record_of(config.corpus, *run.corpus);

  const bool same_tokenizer = same_corpus && has_tokenizer_of(run.config);
  if (same_tokenizer) {
    run.tokenizer = run_.tokenizer;
  } else {
    run.tokenizer = origin.model ? origin.tokenizer : new_tokenizer(run, report);
  }
  set_special_tokens(run);
  if (same_tokenizer && run_.dataset && run_.config.model.max_length == config.model.max_length) {
    run.dataset = run_.dataset;
  } else {
    run.dataset = encode_corpus(*run.corpus, *run.tokenizer, config.model, [&](double fraction) {
      if (progress) progress({mark("Tokenizing the corpus"), fraction});
    });
    add_skipped(run);
  }
  if (config.training.precision == "bfloat16" && device.is_cpu() && !kernels::multiplies_bfloat16()) {
    run.warnings.push_back(
        mark("training.precision is bfloat16, but this processor cannot multiply bfloat16 matrices: values are only "
             "rounded, and training is no faster"));
  }
  run.pinned = run_.pinned;
  run.pinned.clear();
  torch::manual_seed(static_cast<std::uint64_t>(config.training.seed));
  run.watched = with_short_errors([&] { return make_watched(run.config.model, run.tokenizer->vocab_size(), device); });
  if (origin.model) copy_weights(*origin.model->model, *run.watched->model);
  return replace(std::move(run));
}

// The token ids of a model initialized from another run differ from those that this corpus would give.
bool TorchEngine::has_tokenizer_of(const Config& config) const {
  const ModelConfig &now = run_.config.model, &wanted = config.model;
  return run_.config.tokenizer == config.tokenizer && now.from == wanted.from &&
         now.is_classifier() == wanted.is_classifier() && now.is_masked_lm() == wanted.is_masked_lm();
}

bool TorchEngine::has_corpus_of(const Config& config) const {
  return run_.corpus && run_.config.corpus == config.corpus &&
         run_.config.model.reads_text() == config.model.reads_text();
}

std::shared_ptr<const Corpus> TorchEngine::corpus_for(const Config& config, const ProgressCallback& progress) const {
  if (has_corpus_of(config)) return run_.corpus;
  if (config.corpus.source.empty())
    throw CorpusError(mark("there is no corpus: choose one to train on (corpus.source)"));
  const auto report = [&](double fraction) {
    if (progress) progress({mark("Reading the corpus"), fraction});
  };
  return std::make_shared<const Corpus>(load_corpus(config.corpus, report, config.model.reads_text()));
}

// A run that is opened again, for example by Undo, finds its recorded steps, most of which are in no file.
void TorchEngine::keep_recorded() {
  constexpr std::size_t most_kept = 3;
  if (!run_.watched || !(home_ || run_.folder)) return;
  const std::filesystem::path& folder = home_ ? home_->held.folder().path : run_.folder->path;
  std::erase_if(kept_, [&](const KeptSteps& kept) { return kept.folder == folder; });
  kept_.insert(kept_.begin(), {folder, run_.step(), std::move(run_.recorded), std::move(run_.embeddings)});
  if (kept_.size() > most_kept) kept_.pop_back();
}

void TorchEngine::find_recorded() {
  if (!run_.folder) return;
  const auto kept = std::ranges::find(kept_, run_.folder->path, &KeptSteps::folder);
  if (kept == kept_.end() || kept->step != run_.step()) return;
  run_.recorded = std::move(kept->recorded);
  run_.embeddings = std::move(kept->embeddings);
  kept_.erase(kept);
}

// Nothing may throw after run_ has been replaced.
RunOpened TorchEngine::replace(Run run) {
  run.tokenizer->normalize_text(run.config.corpus.normalize);
  RunOpened opened;
  opened.name = run.name;
  if (run.folder) {
    opened.folder = run.folder->path.string();
    opened.autosaved = is_autosave(run.folder->path);
  }
  opened.config = run.config;
  opened.step = run.step();
  for (const torch::Tensor& parameter : run.watched->model->parameters()) opened.num_parameters += parameter.numel();
  opened.vocab_size = run.tokenizer->vocab_size();
  opened.train_pairs = run.record->train;
  opened.validation_pairs = run.record->validation;
  opened.test_pairs = run.record->test;
  if (run.corpus) opened.examples = examples_of(*run.corpus);
  opened.metrics = run.metrics.from();
  opened.pinned = run.pinned.sentences();
  opened.warnings = std::exchange(run.warnings, {});
  if (*runs_ == 0 && uses_reference_blas()) {
    opened.warnings.emplace_back(
        mark("LibTorch is using the reference BLAS, about 30 times slower than OpenBLAS: install libopenblas0-openmp"));
  }
  opened.run = number_ = ++*runs_;
  keep_recorded();
  run_ = std::move(run);
  find_recorded();
  home_.reset();
  autosaving_ = {};
  return opened;
}

Status TorchEngine::status() const {
  if (!run_.watched) return {};
  return {.step = run_.step(),
          .device = device_text(run_.watched->model->device()),
          .recorded_weights = run_.recorded.steps(),
          .best_step = run_.recorded.best()};
}

const Corpus& TorchEngine::corpus_of_run() const {
  if (run_.corpus) return *run_.corpus;
  if (run_.config.corpus.source.empty())
    throw CorpusError(mark("this model came without a corpus: choose one to train on"));
  if (run_.corpus_follows)
    throw CorpusError(fmt::format("the corpus {} has not been read yet", run_.config.corpus.source));
  throw CorpusError(fmt::format("the corpus {} could not be read when the run was opened", run_.config.corpus.source));
}

void TorchEngine::use_corpus(const std::string& source, const std::string& target, const ProgressCallback& progress) {
  Config config = run_.config;
  config.corpus.source = source;
  config.corpus.target = target;
  run_.corpus = corpus_for(config, progress);
  run_.config = config;
  run_.dataset.reset();
  run_.embedding_analyzer.reset();
  run_.senses.reset();
}

std::shared_ptr<const Dataset> TorchEngine::dataset(const YieldCallback& yield) {
  if (!run_.dataset)
    run_.dataset = encode_corpus(corpus_of_run(), *run_.tokenizer, run_.config.model, [&](double) {
      if (yield) yield();
    });
  return run_.dataset;
}

void TorchEngine::make_trainer(const YieldCallback& yield) {
  auto trainer = std::make_unique<Trainer>(trainable_copy(*run_.watched->model), run_.config, dataset(yield), ranks_);
  trainer->set_steps_done(run_.step());
  // A run without saved optimizer state continues with zero moments.
  if (run_.folder && !run_.optimizer_is_later && std::filesystem::exists(run_.folder->optimizer())) {
    const std::int64_t step = load_optimizer(run_.folder->optimizer(), trainer->optimizer());
    if (step != run_.step()) {
      throw RunError(fmt::format(
          "{} is from step {}, but the weights are from step {}: remove it to continue with a fresh optimizer state",
          run_.folder->optimizer().string(), step, run_.step()));
    }
  }
  run_.trainer = std::move(trainer);
}

MetricPoint TorchEngine::train_step(const YieldCallback& yield) {
  if (!run_.trainer) make_trainer(yield);
  if (recording_due(*this)) run_.embeddings.record(run_.step(), copied_embeddings(weights()));
  run_.metrics.make_room();  // so that no step is performed whose point cannot be stored
  MetricPoint& point = run_.metrics.append(with_short_errors([&] { return run_.trainer->step(yield); }));
  run_.stops_early = false;
  if (run_.trainer->validation_due()) {
    run_.trainer->validate(*watch()->model, point, yield);
    note_validation(point);
  }
  return point;
}

void TorchEngine::note_validation(const MetricPoint& point) {
  const std::optional<double> loss = point[metric("validation_nll")];
  if (!loss) return;
  if (*loss < run_.best_loss) {
    run_.best_loss = *loss;
    run_.validations_since_best = 0;
    if (run_.config.training.keep_best) run_.recorded.record_best(point.step, copied_parameters(weights()));
  } else {
    run_.stops_early = ++run_.validations_since_best == run_.config.training.patience;
  }
}

void TorchEngine::use_step(RunOpened& opened, std::int64_t step) {
  if (step == best_weights) {
    if (!best_step()) {
      throw RunError(
          fmt::format("{} has no best weights: training.keep_best saves them while training", opened.folder));
    }
    step = *best_step();
  }
  if (step == run_.step()) return;
  std::vector<std::int64_t> steps = run_.recorded.steps();
  if (std::ranges::find(steps, step) == steps.end()) {
    if (steps.empty() || steps.back() != run_.step()) steps.push_back(run_.step());
    throw RunError(
        fmt::format("{} has no weights of step {}, but of: {}", opened.folder, step, fmt::join(steps, ", ")));
  }
  run_.recorded.restore(step, *run_.watched->model);
  run_.watched->step = opened.step = step;
  run_.optimizer_is_later = true;
  const auto is_later = [step](const MetricPoint& point) { return point.step > step; };
  std::erase_if(opened.metrics, is_later);
  run_.metrics = MetricLog(opened.metrics);
  run_.pinned.truncate(step);
  opened.pinned = run_.pinned.sentences();
}

bool TorchEngine::is_home(const std::filesystem::path& folder) const {
  return home_ && (home_->held.folder().path == folder || same_folder(home_->held.folder().path, folder));
}

void TorchEngine::save_run(const std::string& path) {
  if (is_home(path)) return checkpoint(Keep::weights);
  save_run(LockedRun(path));
}

void TorchEngine::save_run(LockedRun held) {
  CheckpointPacing pacing;
  pacing.begun(Clock::now());
  const RunFolder& folder = held.folder();
  check_is_no_checkpoint(folder.path);
  if (!is_run(folder.path)) check_free_for_run(folder.path);
  const bool where_it_was = run_.folder && same_folder(run_.folder->path, folder.path);
  if (where_it_was)
    for (const auto file : std::exchange(run_.unreadable, {})) set_aside((folder.*file)());
  Checkpoint checkpoint(held);
  // Weights of another run, or of steps after the current one, do not belong to this run.
  checkpoint.prune_kept_weights(where_it_was ? run_.step() : 0, std::numeric_limits<std::int64_t>::max());
  write_lasting(checkpoint);
  // A run that is continued without new training has already saved its checkpoints.
  write_present(checkpoint, where_it_was && !run_.trainer ? Keep::no : Keep::weights);
  checkpoint.commit();
  run_.recorded.best_is_in(checkpoint.run());
  pacing.ended(Clock::now());
  const std::optional<Home> before =
      std::exchange(home_, Home{std::move(held), pacing, run_.metrics.size(), Clock::now(), run_.step()});
  if (before && is_autosave(before->held.folder().path)) {
    if (run_.folder && same_folder(run_.folder->path, before->held.folder().path)) run_.folder = home_->held.folder();
    Autosaves::remove(before->held);
  }
}

void TorchEngine::autosave() {
  autosaving_.begun(Clock::now());
  save_run(autosaves_->make(run_.folder ? run_.name : run_.record->name));
}

void TorchEngine::write_lasting(Checkpoint& checkpoint) {
  const RunFolder& files = checkpoint.files();
  for (const auto& [name, bytes] : run_.tokenizer->files()) write_file(files.path / name, bytes);
  save_corpus_record(files.corpus(), *run_.record);
  save_metrics(files.metrics(), run_.metrics.from());
  checkpoint.remove(files.optimizer());  // another run's, if this one has none
  if (!run_.trainer && run_.folder && !run_.optimizer_is_later && std::filesystem::exists(run_.folder->optimizer())) {
    write_file(files.optimizer(), read_file(run_.folder->optimizer(), largest_optimizer));
  }
}

void TorchEngine::write_present(Checkpoint& checkpoint, Keep keep) {
  if (const std::string what = first_not_finite(weights()); !what.empty()) {
    throw RunError(fmt::format("{} contains a value that is not finite: the last saved version was not changed", what));
  }
  const RunFolder& files = checkpoint.files();
  save_config(files.config(), run_.config);
  if (run_.trainer) save_optimizer(files.optimizer(), run_.trainer->optimizer(), run_.step());
  save_weights(files.model(), weights(), run_.step());
  if (run_.recorded.best()) {
    run_.recorded.save_best(files.best(), checkpoint.run());
  } else {
    checkpoint.remove(files.best());
  }
  if (run_.pinned.sentences().empty()) {
    checkpoint.remove(files.history());
  } else {
    save_history(files.history(), run_.pinned);
  }
  const std::int64_t count = run_.config.training.kept_checkpoints;
  if (keep == Keep::no || count == 0 || run_.step() == 0) return;
  checkpoint.prune_kept_weights(run_.step() - 1, count - 1);
  save_weights(files.kept_weights(run_.step()), weights(), run_.step());
}

void TorchEngine::checkpoint() {
  if (home_) {
    checkpoint(Keep::no);
  } else if (autosaves_ && run_.trainer) {
    autosave();
  }
}

std::optional<OpenRun> TorchEngine::keep() {
  if (!run_.watched) return std::nullopt;
  if (!home_ && run_.folder && !run_.trainer) return OpenRun{run_.folder->path.string()};
  if (!home_ && !autosaves_) return std::nullopt;
  if (home_) {
    checkpoint(Keep::no);
  } else {
    autosave();
  }
  return OpenRun{.path = home_->held.folder().path.string(), .go_on = true};
}

std::optional<Autosave> TorchEngine::last_saved() const {
  if (!home_) return std::nullopt;
  return Autosave{.path = home_->held.folder().path.string(), .name = run_.name, .step = home_->step};
}

std::vector<Autosave> TorchEngine::autosaves() {
  return autosaves_ ? autosaves_->left() : std::vector<Autosave>();
}

void TorchEngine::follow_home() {
  const std::filesystem::path before = home_->held.folder().path;
  const std::optional<std::filesystem::path> place = home_->held.place();
  if (place == before) return;
  const bool opened_there = run_.folder && run_.folder->path == before;
  if (place) {
    home_->held.follow(*place);
    if (opened_there) run_.folder = home_->held.folder();
    notice_ = fmt::format(mark("The run's folder {} was renamed to {}: the run is saved there"), before.string(),
                          place->string());
    return;
  }
  if (opened_there) run_.folder.reset();  // what is there now is not this run's
  save_run(LockedRun(free_path_next_to(before)));
  notice_ = fmt::format(mark("The run's folder {} was removed or replaced while it was in use. The run is saved in {} "
                             "instead; what is in the old place was not changed"),
                        before.string(), home_->held.folder().path.string());
}

void TorchEngine::checkpoint(Keep keep) {
  follow_home();
  home_->pacing.begun(Clock::now());
  save_new_points();
  sync_file(home_->held.folder().metrics());
  Checkpoint checkpoint(home_->held);
  write_present(checkpoint, keep);
  checkpoint.commit();
  run_.recorded.best_is_in(checkpoint.run());
  home_->step = run_.step();
  home_->pacing.ended(Clock::now());
}

bool TorchEngine::checkpoint_if_due() {
  if (!home_) {
    if (!autosaves_ || !autosaving_.due(Clock::now(), longest_between_checkpoints)) return false;
    autosave();
    give_back_memory();
    return true;
  }
  const TrainingConfig& training = run_.config.training;
  // Which weights are checkpointed must not depend on training speed.
  const bool at_interval = run_.step() % training.checkpoint_interval == 0;
  if (at_interval || home_->pacing.due(Clock::now(), longest_between_checkpoints)) {
    checkpoint(at_interval ? Keep::weights : Keep::no);
    give_back_memory();
    return true;
  }
  if (Clock::now() - home_->points_saved < longest_wait_of_points) return false;
  save_new_points();
  return true;
}

void TorchEngine::save_new_points() {
  follow_home();
  home_->points_saved = Clock::now();  // also after a failure, to avoid retrying at every step
  append_metrics(home_->held.folder().metrics(), run_.metrics.from(home_->points));
  home_->points = run_.metrics.size();
}

void TorchEngine::average(std::int64_t count) {
  const RunFolder& folder = run_.folder.value();
  std::vector<std::int64_t> steps = kept_steps(folder);
  std::erase_if(steps, [&](std::int64_t step) { return step > run_.step(); });
  if (static_cast<std::int64_t>(steps.size()) < count) {
    throw RunError(
        fmt::format("{} contains the weights of {} checkpoints, but an average of {} was requested; "
                    "training.kept_checkpoints sets how many are saved while training",
                    folder.checkpoints().string(), steps.size(), count));
  }
  std::vector<std::filesystem::path> files;
  for (auto step = steps.end() - count; step != steps.end(); ++step) files.push_back(folder.kept_weights(*step));
  load_mean_weights(files, *run_.watched->model);
}

void TorchEngine::adjust(const Config& config) {
  if (!run_.watched) return;
  run_.config = with_live_fields(run_.config, config);
  set_threads(run_.config.training);
  run_.watched->model->set_dropout(run_.config.model.dropout);
  if (run_.trainer) run_.trainer->adjust(run_.config);
}

SequenceModel& TorchEngine::weights() {
  return run_.trainer ? run_.trainer->model() : *run_.watched->model;
}

std::shared_ptr<const WatchedModel> TorchEngine::watch() {
  if (run_.trainer) run_.watched = brought_up_to(*run_.trainer, run_.watched);
  return run_.watched;
}

std::shared_ptr<const WatchedModel> TorchEngine::watch(const std::optional<std::int64_t>& step) {
  const std::vector<std::int64_t> recorded = run_.recorded.steps();
  if (!step || *step == run_.step() || !std::ranges::binary_search(recorded, *step)) return watch();
  if (run_.recalled && run_.recalled->step == *step) return run_.recalled;
  const bool free = run_.recalled && run_.recalled.use_count() == 1;
  auto recalled = free ? std::exchange(run_.recalled, nullptr) : another_like(*run_.watched);
  run_.recorded.restore(*step, *recalled->model);
  recalled->step = *step;
  run_.recalled = std::move(recalled);
  return run_.recalled;
}

void TorchEngine::record_weights() {
  RecordedTensors parameters = copied_parameters(weights());
  if (bytes_of(parameters) <= largest_recorded_weights) run_.recorded.record(run_.step(), std::move(parameters));
}

std::shared_ptr<const BatchInspection> TorchEngine::next_batch(const BatchWanted& wanted, const YieldCallback& yield) {
  try {
    if (!run_.inspector) run_.inspector.emplace(run_.config, dataset(yield));
  } catch (const CorpusError& error) {
    auto none = std::make_shared<BatchInspection>();
    none->problem = fmt::format(mark("No batch can be shown: {}."), error.what());
    return none;
  }
  const bool on_cpu = run_.watched->model->device().is_cpu();
  const int num_parts = on_cpu ? kernels::pool()->size() : 1;
  BatchInspection inspection = run_.inspector->inspect(wanted, run_.config, *run_.tokenizer, run_.step(), num_parts);
  if (!on_cpu) inspection.dropout_places.clear();  // another device's operators draw their own masks
  return std::make_shared<const BatchInspection>(std::move(inspection));
}

void TorchEngine::probe(const Probe& probe, const SnapshotCallback& publish, const YieldCallback& yield) {
  const auto watched = watch(probe.step);
  const bool recorded = watched->step != run_.step();
  const auto batch = probe.batch ? next_batch(*probe.batch, yield) : nullptr;
  const auto stamped = [&, run = number_](Snapshot snapshot) {
    snapshot.run = run;
    if (snapshot.is_whole()) snapshot.batch = batch;
    snapshot.step = watched->step;
    snapshot.recorded_weights = recorded;
    snapshot.request = probe.request;
    if (snapshot.is_whole()) complete(snapshot, *watched->model, probe, yield);
    publish(std::make_shared<const Snapshot>(std::move(snapshot)));
  };
  with_short_errors([&] { inspect_model(*watched->model, *run_.tokenizer, probe, stamped, yield); });
}

void TorchEngine::complete(Snapshot& snapshot, SequenceModel& model, const Probe& probe, const YieldCallback& yield) {
  if (run_.dictionary && probe.features == run_.dictionary_key)
    snapshot.features = SentenceFeatures{
        run_.dictionary_key, sentence_features(model, snapshot, run_.dictionary_key.place, *run_.dictionary)};
  // A pass that skips a layer has fewer rows, which the maps do not fit.
  if (probe.tuned_lens && run_.lens && snapshot.decodings &&
      std::cmp_equal(snapshot.decodings->lens.size(), run_.lens->bias.size(0))) {
    const auto translate = [this](std::size_t row, const torch::Tensor& x) { return run_.lens->translate(row, x); };
    auto decodings = std::make_shared<Decodings>(*snapshot.decodings);
    decodings->lens = lens_rows(model, *run_.tokenizer, snapshot, translate, yield);
    decodings->lens_is_tuned = true;
    snapshot.decodings = std::move(decodings);
  }
  snapshot.unseen = unseen_words(snapshot, yield);
  if (run_.seen_words) snapshot.known_words = run_.seen_words->size();
  if (probe.embeddings) snapshot.embeddings = embeddings(*probe.embeddings);
  if (!probe.senses.empty()) snapshot.senses = senses(probe.senses, yield, probe.step);
}

// ---- the model, independent of the sentence

std::vector<UnseenWord> TorchEngine::unseen_words(const Snapshot& snapshot, const YieldCallback& yield) {
  if (!run_.corpus) return {};
  if (!run_.seen_words) {
    // While it yields, another run may be requested, but it replaces this one only after the inspection ends.
    SeenWords seen(*run_.corpus, yield);
    run_.seen_words = std::move(seen);
  }
  const auto typed = snapshot.typed();
  return run_.seen_words->unseen_in({typed.begin(), typed.end()});
}

EmbeddingAnalyzer& TorchEngine::embedding_analyzer() {
  if (!run_.embedding_analyzer)
    run_.embedding_analyzer.emplace(vocabulary_of(*run_.tokenizer, run_.corpus.get(), run_.config.corpus));
  return *run_.embedding_analyzer;
}

std::shared_ptr<const EmbeddingResult> TorchEngine::embeddings(const EmbeddingsWanted& wanted) {
  const auto watched = watch();
  const EmbeddingSource source{watched->step, run_.embeddings.steps(),
                               [&](std::int64_t step, EmbeddingMatrix matrix) {
                                 const std::string name = embedding_parameter(matrix, run_.config.model);
                                 return run_.embeddings.matrix(step, name, *watched->model);
                               }};
  return embedding_analyzer().inspect(*watched->model, *run_.tokenizer, wanted, source);
}

std::shared_ptr<const SenseResult> TorchEngine::senses(const std::string& word, const YieldCallback& yield,
                                                       const std::optional<std::int64_t>& step) {
  const auto watched = watch(step);
  const bool again = run_.senses && run_.senses->word == word && run_.senses->step == watched->step;
  if (again) return run_.senses;
  // While it yields, another run may be requested, but it replaces this one only after the inspection ends.
  SenseResult inspection =
      inspect_senses(*watched->model, *run_.tokenizer, run_.corpus.get(), run_.config.corpus, word, yield);
  inspection.step = watched->step;
  run_.senses = std::make_shared<const SenseResult>(std::move(inspection));
  return run_.senses;
}

TsneMap TorchEngine::tsne_map(const TsneStudy& question, const WatchedModel& watched,
                              const FractionCallback& progress) {
  TsneMap map;
  map.matrix = present_matrix(question.matrix, run_.config.model);
  const torch::Tensor rows = watched.model->embedding_rows(map.matrix).to(torch::kCPU, torch::kFloat32);
  map.ids = most_frequent(embedding_analyzer().vocabulary(), max_tsne_tokens);
  const torch::Tensor chosen = rows.index_select(0, ids_tensor(map.ids, torch::kCPU).squeeze(0));
  if (!chosen.isfinite().all().item<bool>())
    throw std::runtime_error("the embedding contains numbers that are not finite");
  map.perplexity = std::min(question.perplexity, largest_perplexity(static_cast<int>(map.ids.size())));
  TsneResult result = tsne(to_matrix(chosen), {.perplexity = question.perplexity}, progress);
  map.points = std::move(result.points);
  if (!result.kl.empty()) {
    map.first_kl = result.kl.front();
    map.kl = result.kl.back();
  }
  return map;
}

void TorchEngine::visit_recorded(const Visit& visit, const FractionCallback& progress) {
  const auto present = watch();  // fixed, even if training continues
  std::vector<std::int64_t> steps = run_.recorded.steps();
  std::erase(steps, present->step);
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    const auto done = [&](double part) {
      progress((static_cast<double>(i) + part) / static_cast<double>(steps.size() + 1));
    };
    done(0);
    const auto watched = i < steps.size() ? watch(steps[i]) : present;
    if (i < steps.size() && watched->step != steps[i]) continue;  // dropped meanwhile
    visit(*watched, done);
  }
}

Formation TorchEngine::formation(const FormationStudy& study, const FractionCallback& progress) {
  Formation made{.question = study.question, .of = study.circuit, .points = {}};
  const auto ask = [&](const WatchedModel& watched, const FractionCallback& done) {
    made.points.push_back(formation_point(*watched.model, *run_.tokenizer, study, watched.step, [&] { done(0); }));
  };
  visit_recorded(ask, progress);
  return made;
}

HeadsHistory TorchEngine::heads_history(const FractionCallback& progress) {
  const auto data = dataset([&] { progress(0); });
  HeadsHistory made;
  const auto ask = [&](const WatchedModel& watched, const FractionCallback& done) {
    HeadsResult inspection = inspect_heads_quickly(*watched.model, *data, run_.config.training.batch_size, done);
    if (!inspection.problem.empty()) made.problem = inspection.problem;
    made.points.push_back({watched.step, std::move(inspection)});
  };
  visit_recorded(ask, progress);
  return made;
}

InductionResult TorchEngine::induction(const InductionQuestion& question, const WatchedModel& watched,
                                       const FractionCallback& progress) {
  InductionResult made{.problem = induction_problem(run_.config.model), .question = question};
  if (!made.problem.empty()) return made;
  const auto ask = [&](const WatchedModel& at, const FractionCallback& done) {
    made.points.push_back(induction_point(*at.model, *run_.tokenizer, at.step, made, [&] { done(0.5); }));
  };
  if (question.over_training) {
    visit_recorded(ask, progress);
  } else {
    ask(watched, progress);
  }
  add_trials(*watched.model, *run_.tokenizer, made);
  made.composition = composition(*watched.model);
  const std::optional<HeadPlace>& place = question.circuits_of;
  const PartSize size = part_size(run_.config.model, AttentionPart::decoder);
  if (place && place->layer >= 0 && place->layer < size.layers && place->head >= 0 && place->head < size.heads)
    made.circuits = token_circuits(*watched.model, *run_.tokenizer, *place);
  return made;
}

FourierResult TorchEngine::fourier(const FourierQuestion& question, const FractionCallback& progress) {
  if (std::string problem = fourier_problem(run_.config); !problem.empty()) return {.problem = problem};
  FourierAnalysis analysis(run_.config, *run_.tokenizer, corpus_of_run(), question);
  visit_recorded([&](const WatchedModel& at, const FractionCallback&) { analysis.add(*at.model, at.step); }, progress);
  return analysis.take();
}

// Batches of the corpus to take samples of tokens from; empty, with the reason, if there are none. Small batches, so
// that a sample has texts from everywhere.
std::vector<Batch> TorchEngine::texts_to_read(SequenceModel& model, std::string& problem, const YieldCallback& yield) {
  if (!run_.corpus) {
    problem = mark(
        "This view reads texts of a corpus, and the model has none. Choose one in Setup and click Apply: the weights "
        "stay.");
    return {};
  }
  const auto data = dataset(yield);
  if (data->can_validate()) return validation_batches(model, *data, texts_per_batch());
  problem = mark("No validation set is held out, so there are no texts to read.");
  return {};
}

// The pairs of texts_to_read(), if the senses of their words are known.
PairList TorchEngine::pairs_with_senses() const {
  if (!run_.corpus || run_.config.model.reads_text() || !is_english_french(run_.config.corpus)) return {};
  return run_.corpus->validation;
}

std::int64_t TorchEngine::texts_per_batch() const {
  constexpr std::int64_t least_batches = 8;
  const std::int64_t most = TokenSample::most_tokens / least_batches / run_.config.model.max_length;
  return std::clamp<std::int64_t>(most, 1, run_.config.training.batch_size);
}

NearestResult TorchEngine::nearest(const NearestQuestion& question, SequenceModel& model,
                                   const FractionCallback& progress) {
  const YieldCallback yield = [&] { progress(0); };
  NearestResult made{.question = question};
  const std::vector<Batch> texts = texts_to_read(model, made.problem, yield);
  if (texts.empty()) return made;
  return nearest_contexts(model, *run_.tokenizer, texts, pairs_with_senses(), question, yield);
}

NeuronsResult TorchEngine::neurons(const NeuronsQuestion& question, const WatchedModel& watched,
                                   const FractionCallback& progress) {
  SequenceModel& model = *watched.model;
  NeuronsResult made{.problem = neurons_problem(run_.config.model, question), .question = question};
  if (!made.problem.empty()) return made;
  const YieldCallback yield = [&] { progress(0); };
  const std::vector<Batch> batches = texts_to_read(model, made.problem, yield);
  if (batches.empty()) return made;
  std::shared_ptr<const SparseDictionary> dictionary;
  if (question.dictionary) dictionary = this->dictionary(question, watched, batches, progress);
  const NeuronSample sample(model, batches, question.place, dictionary, yield);
  made.tokens = sample.tokens();
  made.sentences = sample.sentences();
  made.neurons = sample.facts(model, *run_.tokenizer, pairs_with_senses(), yield);
  made.question.neuron = std::clamp(question.neuron, 0, static_cast<int>(made.neurons.size()) - 1);
  if (question.neuron == strongest_neuron)
    made.question.neuron =
        static_cast<int>(std::ranges::max_element(made.neurons, {}, &NeuronFacts::largest) - made.neurons.begin());
  made.card = sample.card(model, *run_.tokenizer, made.question.neuron, yield);
  if (dictionary)
    made.dictionary = sample.dictionary_facts(model, NeuronSample(model, batches, question.place, nullptr, yield),
                                              made.card.nll, yield);
  const auto add = [&](const WatchedModel& at, const FractionCallback& done) {
    const NeuronSample then(*at.model, batches, question.place, dictionary, [&] { done(0.5); });
    made.card.points.push_back(then.point(made.question.neuron, at.step));
  };
  if (question.over_training) visit_recorded(add, progress);
  return made;
}

std::vector<float> TorchEngine::direction(const NeuronsQuestion& question, const FractionCallback& progress) {
  const auto watched = watch();
  std::shared_ptr<const SparseDictionary> dictionary;
  if (const std::string problem = neurons_problem(run_.config.model, question); !problem.empty())
    throw std::runtime_error(problem);
  if (question.dictionary) dictionary = this->dictionary(question, *watched, progress);
  const torch::Tensor rows = written_rows(*watched->model, question.place, dictionary.get());
  if (question.neuron < 0 || question.neuron >= rows.size(0))
    throw std::runtime_error(fmt::format("{} {} does not exist; allowed: 0 to {}", dictionary ? "feature" : "neuron",
                                         question.neuron, rows.size(0) - 1));
  return to_values(rows[question.neuron]);
}

Carriers TorchEngine::carriers(const NeuronsQuestion& question, const ContrastQuestion& contrast,
                               const std::string& word, const FractionCallback& progress) {
  if (question.place.decoder != run_.config.model.is_language_model())
    throw std::runtime_error("the features of a word are in the stack that reads the sentence");
  if (question.dictionary->of.kind != ActivationKind::stream)
    throw std::runtime_error("features are ablated at a word in the residual stream; choose the layer's output");
  const auto watched = watch();
  const auto dictionary = this->dictionary(question, *watched, progress);
  const ContrastRuns runs(*watched->model, *run_.tokenizer, contrast);
  const CorpusCases pairs =
      cases_like(*watched->model, *run_.tokenizer, runs.facts(), contrasts_like(corpus_of_run(), contrast), progress);
  Carriers made = find_carriers(pairs.cases, word, question.place, *dictionary);
  if (made.answers == 0)
    throw std::runtime_error(
        fmt::format("none of {} similar pairs of the corpus has the word \"{}\" and is distinguished by the model",
                    pairs.tried, word));
  return made;
}

std::shared_ptr<const SparseDictionary> TorchEngine::dictionary(const NeuronsQuestion& question,
                                                                const WatchedModel& watched,
                                                                const FractionCallback& progress) {
  std::string problem = neurons_problem(run_.config.model, question);
  const std::vector<Batch> texts =
      problem.empty() ? texts_to_read(*watched.model, problem, [&] { progress(0); }) : std::vector<Batch>();
  if (!problem.empty()) throw std::runtime_error(problem);
  return dictionary(question, watched, texts, progress);
}

// Trained again for other weights, another layer or other options. Saved in the run's folder.
std::shared_ptr<const SparseDictionary> TorchEngine::dictionary(const NeuronsQuestion& question,
                                                                const WatchedModel& watched,
                                                                const std::vector<Batch>& texts,
                                                                const FractionCallback& progress) {
  const DictionaryKey key{watched.step, question.place, *question.dictionary};
  if (run_.dictionary && run_.dictionary_key == key) return run_.dictionary;
  const RunFolder* folder = derived_folder();
  const auto& [width, active, l1, steps, of] = key.options;
  const std::string activations = of.kind == ActivationKind::stream ? "" : site_text(of);
  const std::string label =
      fmt::format("{} {}{}, {} × d_model, {} active, L1 {}, {} steps, corpus {}, weights {:016x}",
                  key.place.decoder ? "decoder" : "encoder", key.place.layer + 1, activations, width, active, l1,
                  steps, corpus_of_run().hash, folder ? checksum_of(*watched.model) : 0);
  SparseDictionary made = empty_dictionary(added_rows(*watched.model, key.place, of).size(0), key.options);
  const auto file =
      folder ? folder->dictionary(key.place.decoder, key.place.layer, activations) : std::filesystem::path();
  read_or_make(file, made.tensors(), label, [&] {
    made = trained_dictionary(question, watched, texts, progress);
    return made.tensors();
  });
  run_.dictionary = std::make_shared<const SparseDictionary>(made.to(watched.model->device()));
  run_.dictionary_key = key;
  return run_.dictionary;
}

// Not next to other programs' checkpoints, which have no record.
const RunFolder* TorchEngine::derived_folder() const {
  return home_ ? &home_->held.folder() : run_.folder && run_.record ? &*run_.folder : nullptr;
}

void TorchEngine::read_or_make(const std::filesystem::path& file, const NamedTensors& tensors, const std::string& label,
                               const std::function<NamedTensors()>& make) {
  if (!file.empty() && load_derived(file, tensors, label)) return;
  const NamedTensors made = make();
  try {
    if (!file.empty()) save_derived(file, made, label);
  } catch (const FileError&) {
    // A folder that cannot be written to costs only the next time.
  }
}

ProbingResult TorchEngine::probing(const ProbingQuestion& question, const WatchedModel& watched,
                                   const FractionCallback& progress) {
  ProbingResult made{.question = question};
  const std::vector<Batch> texts = texts_to_read(*watched.model, made.problem, [&] { progress(0); });
  if (question.decoder ? !run_.config.model.has_decoder() : run_.config.model.is_language_model())
    made.problem = question.decoder ? mark("The model has no decoder.") : mark("The model has no encoder.");
  const auto add = [&](const WatchedModel& at, const FractionCallback& done) {
    if (made.problem.empty())
      add_probes(*at.model, *run_.tokenizer, corpus_of_run(), run_.config.corpus, texts, at.step, made,
                 [&] { done(0.5); });
  };
  if (question.over_training) {
    visit_recorded(add, progress);
  } else {
    add(watched, progress);
  }
  return made;
}

// Fitted to the training part, or to the texts if training draws its examples; measured on the texts.
TunedLensResult TorchEngine::tuned_lens(const WatchedModel& watched, const FractionCallback& progress) {
  constexpr std::int64_t most_tokens = 16'384, most_numbers = std::int64_t{1} << 25;
  SequenceModel& model = *watched.model;
  const YieldCallback yield = [&] { progress(0); };
  TunedLensResult made;
  const std::vector<Batch> texts = texts_to_read(model, made.problem, yield);
  std::int64_t rows = 0;
  const auto sample = [&](const std::vector<Batch>& batches, std::int64_t most) {
    const auto read = [&](const Inspection& pass) {
      std::vector<torch::Tensor> streams;
      for (const LensStream& of : lens_streams(pass)) streams.push_back(of.stream);
      rows = std::ssize(streams);
      return streams.empty() ? torch::Tensor() : torch::cat(streams, -1);
    };
    const TokenSample found(model, batches, true, {.sublayers_wanted = true, .hidden_wanted = true}, read, yield, most);
    return found.values.unflatten(1, {std::max<std::int64_t>(1, rows), -1});
  };
  if (!run_.config.model.has_decoder() || run_.config.model.is_recurrent())
    made.problem = mark("The logit lens needs a decoder with a residual stream.");
  if (!made.problem.empty()) return made;
  const torch::Tensor held_out = sample(texts, TokenSample::most_tokens);
  auto lens = std::make_shared<TunedLens>(identity_lens(rows, held_out.size(2)));
  made.logit_kl = lens_divergence(model, held_out, *lens);
  const RunFolder* folder = derived_folder();
  const std::string label =
      fmt::format("corpus {}, weights {:016x}", corpus_of_run().hash, folder ? checksum_of(model) : 0);
  read_or_make(folder ? folder->tuned_lens() : std::filesystem::path(), lens->tensors(), label, [&] {
    const std::vector<Batch> trained = training_batches(model, *dataset(yield), texts_per_batch(), 2);
    const std::int64_t most = std::min(most_tokens, most_numbers / (rows * held_out.size(2)));
    *lens = fit_tuned_lens(model, sample(trained.empty() ? texts : trained, most), progress);
    return lens->tensors();
  });
  made.tuned_kl = lens_divergence(model, held_out, *lens);
  run_.lens = std::move(lens);
  return made;
}

// On the training part; on the texts themselves if training draws its examples.
SparseDictionary TorchEngine::trained_dictionary(const NeuronsQuestion& question, const WatchedModel& watched,
                                                 const std::vector<Batch>& texts, const FractionCallback& progress) {
  const YieldCallback yield = [&] { progress(0); };
  const std::vector<Batch> trained = training_batches(*watched.model, *dataset(yield), texts_per_batch(), 4);
  const TokenSample sample = activation_sample(*watched.model, trained.empty() ? texts : trained, question.place,
                                               question.dictionary->of, yield);
  return train_dictionary(sample.values, *question.dictionary, progress);
}

HeadsResult TorchEngine::heads(SequenceModel& model, const FractionCallback& progress) {
  const auto data = dataset([&] { progress(0); });
  return inspect_heads(model, *data, run_.config.training.batch_size, progress);
}

TensorsResult TorchEngine::tensors(const TensorsQuestion& question, const FractionCallback& progress) {
  const YieldCallback yield = [&] { progress(0); };
  const auto present = watch();
  std::optional<Batch> batch;
  std::string no_gradients = mark("The run's corpus is not available, so there is no batch to compute gradients on.");
  if (run_.corpus) {
    const auto data = dataset(yield);
    no_gradients = data->can_validate()
                       ? ""
                       : mark("No validation set is held out, so there is no batch to compute gradients on.");
    if (no_gradients.empty())
      batch = validation_batches(*present->model, *data, run_.config.training.batch_size).front();
  }
  TensorsCollector collector(*present->model, *run_.tokenizer, question, std::move(batch), yield);
  visit_recorded([&](const WatchedModel& watched,
                     const FractionCallback& done) { collector.add(*watched.model, watched.step, [&] { done(0); }); },
                 progress);
  // The moments of an opened run are loaded with its trainer.
  if (!run_.trainer && run_.corpus && run_.folder && std::filesystem::exists(run_.folder->optimizer()))
    make_trainer(yield);
  if (run_.trainer && present->step == run_.trainer->steps_done())
    collector.add_last_update(run_.trainer->optimizer(),
                              learning_rate_at(run_.config.training, run_.config.model.d_model, present->step));
  TensorsResult inspection = collector.take();
  inspection.no_gradients = std::move(no_gradients);
  return inspection;
}

StudyResult TorchEngine::study(const StartStudy& asked, const FractionCallback& progress) {
  const auto watched = watch(asked.step);
  StudyResult result{.run = number_, .step = watched->step, .answer = {}};
  struct Answer {
    TorchEngine& engine;
    const WatchedModel& watched;
    const FractionCallback& progress;
    decltype(result.answer)& answer;

    void operator()(const HeldOutStudy&) {
      const Corpus& corpus = engine.corpus_of_run();
      if (engine.run_.config.model.reads_text()) {
        answer = evaluate_text(*watched.model, *engine.run_.tokenizer, corpus.text.test, progress);
      } else {
        answer = evaluate_pairs(*watched.model, *engine.run_.tokenizer, std::vector<Pair>(corpus.test), 1, progress);
      }
    }
    void operator()(const TsneStudy& asked) { answer = engine.tsne_map(asked, watched, progress); }
    CircuitGround ground() const { return {*watched.model, *engine.run_.tokenizer, engine.run_.corpus.get()}; }
    void operator()(const CircuitStudy& asked) { answer = attnscope::answer(ground(), asked, progress); }
    void operator()(const CorpusCircuitStudy& asked) { answer = attnscope::answer(ground(), asked, progress); }
    void operator()(const TrialStudy& asked) { answer = attnscope::answer(ground(), asked, progress); }
    void operator()(const FormationStudy& asked) { answer = engine.formation(asked, progress); }
    void operator()(const SweepQuestion& asked) { answer = attnscope::answer(ground(), asked, progress); }
    void operator()(const ScoreQuestion& asked) { answer = attnscope::answer(ground(), asked, progress); }
    void operator()(const HeadsQuestion&) { answer = engine.heads(*watched.model, progress); }
    void operator()(const HeadsHistoryQuestion&) { answer = engine.heads_history(progress); }
    void operator()(const InductionQuestion& asked) { answer = engine.induction(asked, watched, progress); }
    void operator()(const FourierQuestion& asked) { answer = engine.fourier(asked, progress); }
    void operator()(const NearestQuestion& asked) { answer = engine.nearest(asked, *watched.model, progress); }
    void operator()(const NeuronsQuestion& asked) { answer = engine.neurons(asked, watched, progress); }
    void operator()(const ProbingQuestion& asked) { answer = engine.probing(asked, watched, progress); }
    void operator()(const TunedLensQuestion&) { answer = engine.tuned_lens(watched, progress); }
    void operator()(const AttributionQuestion& asked) {
      answer = inspect_attribution(*watched.model, *engine.run_.tokenizer, asked, progress);
    }
    void operator()(const GradientQuestion& asked) {
      answer = inspect_gradients(*watched.model, *engine.run_.tokenizer, asked, progress);
    }
    void operator()(const OrderQuestion& asked) {
      answer = compare_orders(*watched.model, *engine.run_.tokenizer, asked, progress);
    }
    void operator()(const TensorsQuestion& asked) { answer = engine.tensors(asked, progress); }
    void operator()(const CostQuestion& asked) { answer = measure_costs(engine.run_.config.model, asked, progress); }
    void operator()(const LengthQuestion& asked) {
      answer = measure_lengths(*watched.model, *engine.run_.tokenizer, engine.corpus_of_run(), asked, progress);
    }
  };
  with_short_errors([&] { std::visit(Answer{*this, *watched, progress, result.answer}, asked.question); });
  return result;
}

}  // namespace attnscope
