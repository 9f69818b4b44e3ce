#include "session/torch_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "probe/probe.h"
#include "storage/checkpoint.h"
#include "storage/file.h"
#include "storage/history_file.h"
#include "training/evaluation.h"
#include "training/text_batches.h"

namespace attnscope {
namespace {

constexpr std::uint64_t largest_tokenizer = 64U << 20U;  // bytes; SentencePiece models are a few hundred kilobytes
constexpr std::uint64_t largest_optimizer = 16ULL << 30U;
constexpr std::size_t pairs_a_breath = 256;
constexpr std::size_t examples_a_category = 8;

torch::Device resolve_device(const std::string& name) {
  if (name == "cpu") return torch::kCPU;
  if (torch::cuda::is_available()) return torch::Device(torch::kCUDA, 0);
  if (name == "cuda") {
    throw ConfigError(
        "training.device is cuda, but there is none: this LibTorch has no CUDA or finds no GPU; use auto or cpu");
  }
  return torch::kCPU;
}

void set_threads(const Config& config, Cores cores) {
  const auto all = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const std::int64_t threads = config.training.threads > 0 ? config.training.threads : all - cores.spare;
  at::set_num_threads(static_cast<int>(std::max<std::int64_t>(1, threads)));
}

// Debian's reference BLAS is some thirty times slower than OpenBLAS, and is called through the same libblas.so.3.
bool uses_reference_blas() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    if (line.find("/blas/libblas.so") != std::string::npos) return true;
  }
  return false;
}

CorpusRecord record_of(const CorpusConfig& config, const Corpus& corpus) {
  // One of the two is empty.
  const auto count = [](const std::vector<Pair>& pairs, const std::string& text) {
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

// Unusable lines are counted and named, never fatal.
void report_left_out(const Corpus& corpus, std::vector<std::string>& warnings) {
  const CorpusReport& report = corpus.report;
  const std::int64_t left_out = report.skipped + report.duplicates;
  if (left_out == 0) return;
  std::string text = fmt::format("{}: {} of {} lines left out, {} of them duplicates", corpus.name, left_out,
                                 report.lines_read, report.duplicates);
  for (const SkippedLine& line : report.examples) {
    text += fmt::format("\n  {}:{}: {}", line.file, line.line, line.reason);
  }
  if (left_out > static_cast<std::int64_t>(report.examples.size())) text += "\n  …";
  warnings.push_back(std::move(text));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string train_tokenizer(const Corpus& corpus, const TokenizerConfig& config) {
  std::vector<std::string> sentences = lines_of(corpus.text.train);
  for (const Pair& pair : corpus.train) {
    sentences.push_back(pair.source);
    sentences.push_back(pair.target);
  }
  return Tokenizer::train(sentences, config);
}

std::vector<EncodedPair> encode_pairs(const std::vector<Pair>& pairs, const Tokenizer& tokenizer,
                                      std::int64_t max_length, std::int64_t& too_long, const Breath& breathe) {
  std::vector<EncodedPair> encoded;
  encoded.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (auto pair = encode_pair(tokenizer, pairs[i], max_length)) {
      encoded.push_back(std::move(*pair));
    } else {
      ++too_long;
    }
    if (breathe && i % pairs_a_breath == 0) breathe();
  }
  return encoded;
}

std::shared_ptr<const Dataset> encode_pairs(const Corpus& corpus, const Tokenizer& tokenizer, std::int64_t max_length,
                                            const Breath& breathe) {
  auto dataset = std::make_shared<Dataset>();
  dataset->train = encode_pairs(corpus.train, tokenizer, max_length, dataset->too_long, breathe);
  dataset->validation = encode_pairs(corpus.validation, tokenizer, max_length, dataset->too_long, breathe);
  if (dataset->train.empty()) {
    throw CorpusError(
        fmt::format("{}: no pair is at most {} pieces long; raise model.max_length", corpus.name, max_length));
  }
  return dataset;
}

std::shared_ptr<const Dataset> encode_text(const Corpus& corpus, const Tokenizer& tokenizer, const Breath& breathe) {
  auto dataset = std::make_shared<Dataset>();
  dataset->train_stream = encode_text(tokenizer, corpus.text.train, breathe).stream;
  dataset->validation_stream = encode_text(tokenizer, corpus.text.validation, breathe).stream;
  if (dataset->train_stream.size() < 2) {
    throw CorpusError(
        fmt::format("{}: {} pieces to train on, at least 2 are needed", corpus.name, dataset->train_stream.size()));
  }
  return dataset;
}

std::shared_ptr<const Dataset> encode_corpus(const Corpus& corpus, const Tokenizer& tokenizer, const ModelConfig& model,
                                             const Breath& breathe) {
  return model.is_language_model() ? encode_text(corpus, tokenizer, breathe)
                                   : encode_pairs(corpus, tokenizer, model.max_length, breathe);
}

// A run is opened from anywhere, so a file it names must not depend on where it was made.
Config with_absolute_paths(Config config) {
  for (std::string* path : {&config.corpus.source, &config.corpus.target, &config.tokenizer.path}) {
    if (!path->empty() && std::filesystem::exists(*path))
      *path = std::filesystem::absolute(*path).lexically_normal().string();
  }
  return config;
}

// Pictures of the past are no reason to keep a run shut: without them it opens with a warning.
History load_pinned(const RunFolder& folder, const ModelConfig& model, std::uint64_t run,
                    std::vector<std::string>& warnings) {
  if (!std::filesystem::exists(folder.history())) return History();
  try {
    return load_history(folder.history(), model, run);
  } catch (const std::runtime_error& error) {
    warnings.push_back(fmt::format("The run is opened without its pinned sentences: {}", error.what()));
    return History();
  }
}

void save_pinned(const RunFolder& folder, const History& pinned) {
  if (pinned.sentences().empty()) {
    std::filesystem::remove(folder.history());  // what another run may have left there
  } else {
    save_history(folder.history(), pinned);
  }
}

// LibTorch's errors carry a backtrace, which is nothing to show to a user.
template <typename Work>
auto with_short_errors(const Work& work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    throw std::runtime_error(error.what_without_backtrace());
  }
}

// The first half of a line, in words: something to be continued.
std::string beginning(const std::string& line) {
  const auto spaces = std::count(line.begin(), line.end(), ' ');
  std::size_t end = 0;
  for (std::ptrdiff_t i = 0; i <= spaces / 2; ++i) end = std::min(line.find(' ', end + 1), line.size());
  return line.substr(0, end);
}

// Prompts from lines all over the text.
std::vector<Example> prompts_of(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  const std::size_t count = std::min(lines.size(), examples_a_category);
  std::vector<Example> prompts;
  for (std::size_t i = 0; i < count; ++i) prompts.push_back({beginning(lines[i * lines.size() / count]), {}});
  return prompts;
}

// Some held-out pairs of every category, or prompts from the held-out text.
std::vector<Example> examples_of(const Corpus& corpus) {
  std::vector<Example> examples = prompts_of(corpus.text.test);
  std::map<std::string, std::size_t> taken;
  for (const Pair& pair : corpus.test) {
    if (taken[pair.category]++ < examples_a_category) examples.push_back({pair.source, pair.target});
  }
  return examples;
}

}  // namespace

TorchEngine::TorchEngine(Cores cores) : cores_(cores) {}

RunOpened TorchEngine::open_run(const std::string& path, const ProgressCallback& progress) {
  Run run;
  run.folder = RunFolder{path};
  run.name = std::filesystem::absolute(path).lexically_normal().filename().string();
  run.config = load_config(run.folder->config());
  run.tokenizer.emplace(read_file(run.folder->tokenizer(), largest_tokenizer));
  set_threads(run.config, cores_);
  run.model = make_model(run.config.model, run.tokenizer->vocab_size());
  run.step = load_weights(run.folder->model(), *run.model);
  run.model->to(resolve_device(run.config.training.device));
  run.history = load_metrics(run.folder->metrics());
  std::erase_if(run.history, [&](const MetricPoint& point) { return point.step > run.step; });
  run.pinned = load_pinned(*run.folder, run.config.model, runs_ + 1, run.warnings);
  run.pinned.truncate(run.step);
  run.record = load_corpus_record(run.folder->corpus());
  try {
    run.corpus = corpus_for(run.config, progress);
    if (run.corpus->hash != run.record->hash) {
      run.warnings.push_back(fmt::format(
          "{} is not what this run was trained on: held-out sentences may have been seen", run.corpus->name));
    }
  } catch (const CorpusError& error) {
    run.warnings.push_back(fmt::format("The run can be looked at, but not trained: {}", error.what()));
  }
  return replace(std::move(run));
}

RunOpened TorchEngine::reset(const Config& config, const ProgressCallback& progress) {
  check(config);
  const torch::Device device = resolve_device(config.training.device);
  const auto report = [&](const char* what) {
    if (progress) progress({what, -1});
  };
  Run run;
  run.config = with_absolute_paths(config);
  set_threads(config, cores_);
  const bool same_corpus = has_corpus_of(run.config);
  run.corpus = corpus_for(run.config, progress);
  if (!same_corpus) report_left_out(*run.corpus, run.warnings);
  run.record = record_of(config.corpus, *run.corpus);

  const bool same_tokenizer = same_corpus && run_.config.tokenizer == run.config.tokenizer;
  if (same_tokenizer) {
    run.tokenizer = run_.tokenizer;
  } else if (!config.tokenizer.path.empty()) {
    run.tokenizer.emplace(read_file(config.tokenizer.path, largest_tokenizer));
  } else {
    report("Training the tokenizer");
    run.tokenizer.emplace(train_tokenizer(*run.corpus, config.tokenizer));
  }

  if (same_tokenizer && run_.dataset && run_.config.model.max_length == config.model.max_length) {
    run.dataset = run_.dataset;
  } else {
    run.dataset =
        encode_corpus(*run.corpus, *run.tokenizer, config.model, [&] { report("Cutting the corpus into pieces"); });
    if (run.dataset->too_long > 0) {
      run.warnings.push_back(fmt::format("{} pairs left out: a side is longer than model.max_length, {} pieces",
                                         run.dataset->too_long, config.model.max_length));
    }
  }
  run.pinned = run_.pinned;
  run.pinned.clear();
  torch::manual_seed(static_cast<std::uint64_t>(config.training.seed));
  with_short_errors([&] {
    run.model = make_model(config.model, run.tokenizer->vocab_size());
    run.model->to(device);
  });
  return replace(std::move(run));
}

bool TorchEngine::has_corpus_of(const Config& config) const {
  return run_.corpus && run_.config.corpus == config.corpus &&
         run_.config.model.is_language_model() == config.model.is_language_model();
}

std::shared_ptr<const Corpus> TorchEngine::corpus_for(const Config& config, const ProgressCallback& progress) const {
  if (has_corpus_of(config)) return run_.corpus;
  const auto report = [&](double fraction) {
    if (progress) progress({"Reading the corpus", fraction});
  };
  return std::make_shared<const Corpus>(load_corpus(config.corpus, report, config.model.is_language_model()));
}

// Nothing here may fail once run_ has been replaced.
RunOpened TorchEngine::replace(Run run) {
  RunOpened opened;
  opened.name = run.name;
  opened.config = run.config;
  opened.step = run.step;
  for (const torch::Tensor& parameter : run.model->parameters()) opened.num_parameters += parameter.numel();
  opened.vocab_size = run.tokenizer->vocab_size();
  opened.train_pairs = run.record->train;
  opened.validation_pairs = run.record->validation;
  opened.test_pairs = run.record->test;
  if (run.corpus) opened.examples = examples_of(*run.corpus);
  opened.history = run.history;
  opened.pinned = run.pinned.sentences();
  opened.warnings = std::exchange(run.warnings, {});
  if (runs_ == 0 && uses_reference_blas()) {
    opened.warnings.emplace_back(
        "LibTorch is using the reference BLAS, about 30 times slower than OpenBLAS: install libopenblas0-openmp");
  }
  opened.run = ++runs_;
  run_ = std::move(run);
  checkpoint_folder_.reset();
  saved_points_ = 0;
  return opened;
}

torch::Device TorchEngine::device() const {
  return run_.model->device();
}

Status TorchEngine::status() const {
  Status status;
  status.step = run_.step;
  if (!run_.model) return status;
  const int threads = at::get_num_threads();
  status.device = device().is_cuda() ? "CUDA" : fmt::format("CPU, {} thread{}", threads, threads == 1 ? "" : "s");
  return status;
}

void TorchEngine::make_trainer(const Breath& breathe) {
  if (!run_.dataset) {
    if (!run_.corpus)
      throw CorpusError(
          fmt::format("the corpus {} could not be read when the run was opened", run_.config.corpus.source));
    run_.dataset = encode_corpus(*run_.corpus, *run_.tokenizer, run_.config.model, breathe);
  }
  auto trainer = std::make_unique<Trainer>(run_.model, run_.config, run_.dataset);
  trainer->set_steps_done(run_.step);
  // A run that came without the optimizer's state goes on with moments at zero.
  if (run_.folder && std::filesystem::exists(run_.folder->optimizer())) {
    const std::int64_t step = load_optimizer(run_.folder->optimizer(), trainer->optimizer());
    if (step != run_.step) {
      throw RunError(fmt::format("{} is of step {}, the weights are of step {}: remove it to go on with fresh moments",
                                 run_.folder->optimizer().string(), step, run_.step));
    }
  }
  // Here, where no random number of an update is drawn.
  run_.watched = make_model(run_.config.model, run_.tokenizer->vocab_size());
  run_.watched->to(device());
  run_.trainer = std::move(trainer);
}

MetricPoint TorchEngine::train_step(const Breath& breathe) {
  if (!run_.trainer) make_trainer(breathe);
  const MetricPoint point = with_short_errors([&] { return run_.trainer->step(breathe); });
  run_.step = point.step;
  run_.history.push_back(point);
  if (checkpoint_folder_ && run_.step % run_.config.training.checkpoint_interval == 0) checkpoint();
  return point;
}

bool TorchEngine::is_of_present_run(const RunFolder& folder) const {
  const auto same = [&](const std::optional<RunFolder>& other) {
    std::error_code ignored;
    return other && std::filesystem::equivalent(other->path, folder.path, ignored);
  };
  return same(run_.folder) || same(checkpoint_folder_);
}

void TorchEngine::save_run(const std::string& path) {
  const RunFolder folder{path};
  check_writable_run_folder(folder.path);
  write_file(folder.tokenizer(), run_.tokenizer->model());
  save_corpus_record(folder.corpus(), *run_.record);
  if (!run_.trainer && run_.folder && std::filesystem::exists(run_.folder->optimizer())) {
    write_file(folder.optimizer(), read_file(run_.folder->optimizer(), largest_optimizer));
  }
  if (!is_of_present_run(folder)) remove_kept_weights(folder, 0, 0);
  save_metrics(folder.metrics(), run_.history);
  saved_points_ = run_.history.size();
  checkpoint_folder_ = folder;
  checkpoint();
}

void TorchEngine::checkpoint() {
  const RunFolder& folder = *checkpoint_folder_;
  save_config(folder.config(), run_.config);
  if (run_.trainer) save_optimizer(folder.optimizer(), run_.trainer->optimizer(), run_.step);
  save_weights(folder.model(), *run_.model, run_.step);
  save_pinned(folder, run_.pinned);
  append_metrics(folder.metrics(), std::span(run_.history).subspan(saved_points_));
  saved_points_ = run_.history.size();
  if (run_.config.training.kept_checkpoints > 0 && run_.step > 0) keep_weights();
}

void TorchEngine::keep_weights() {
  const RunFolder& folder = *checkpoint_folder_;
  check_writable_run_folder(folder.checkpoints());
  save_weights(folder.kept_weights(run_.step), *run_.model, run_.step);
  remove_kept_weights(folder, run_.step, run_.config.training.kept_checkpoints);
}

void TorchEngine::average(std::int64_t count) {
  const RunFolder& folder = run_.folder.value();
  std::vector<std::int64_t> steps = kept_steps(folder);
  std::erase_if(steps, [&](std::int64_t step) { return step > run_.step; });
  if (static_cast<std::int64_t>(steps.size()) < count) {
    throw RunError(
        fmt::format("{} holds weights of {} checkpoints, the mean of {} was asked for; "
                    "training.kept_checkpoints says how many are kept while training",
                    folder.checkpoints().string(), steps.size(), count));
  }
  std::vector<std::filesystem::path> files;
  for (auto step = steps.end() - count; step != steps.end(); ++step) files.push_back(folder.kept_weights(*step));
  load_mean_weights(files, *run_.model);
}

void TorchEngine::adjust(const Config& config) {
  if (!run_.model) return;
  run_.config = with_live_fields(run_.config, config);
  set_threads(run_.config, cores_);
  run_.model->set_dropout(run_.config.model.dropout);
  if (run_.trainer) run_.trainer->adjust(run_.config);
}

SequenceModel& TorchEngine::still_model() {
  if (!run_.trainer) return *run_.model;
  const torch::NoGradGuard no_grad;
  const auto weights = run_.model->parameters();
  const auto copies = run_.watched->parameters();
  for (std::size_t i = 0; i < weights.size(); ++i) copies[i].copy_(weights[i]);
  return *run_.watched;
}

void TorchEngine::probe(const Probe& probe, const SnapshotCallback& publish, const Breath& breathe) {
  const auto stamped = [&](Snapshot snapshot) {
    snapshot.run = runs_;
    snapshot.step = run_.step;
    snapshot.request = probe.request;
    publish(std::make_shared<const Snapshot>(std::move(snapshot)));
  };
  with_short_errors([&] { look_inside(still_model(), *run_.tokenizer, probe, stamped, breathe); });
}

}  // namespace attnscope
