#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "common/signals.h"
#include "common/split.h"
#include "compute/served_training.h"
#include "config/comparison.h"
#include "config/fine_tuning.h"
#include "config/pairs.h"
#include "config/presets.h"
#include "data/corpus/random.h"
#include "engine/torch_engine.h"
#include "files/storage/comparison_folder.h"
#include "files/storage/locked_run.h"
#include "files/storage/run_folder.h"
#include "inspect/probe/inspect_model.h"
#include "messages/metrics.h"
#include "model/kernels/processor.h"
#include "session/lockstep.h"
#include "training/distributed/launch.h"
#include "training/distributed/ranks.h"

namespace attnscope {
namespace {

constexpr int exit_interrupted = 130;

volatile std::sig_atomic_t interrupted = 0;  // a signal handler can access nothing else

void on_interrupt(int) {
  interrupted = 1;
}

// The run is saved on Ctrl-C, when the terminal is closed, and when the reader of the output ends. Signals that the
// parent ignored (nohup) stay ignored.
void save_on_signals() {
  for (const int signal : {SIGINT, SIGTERM}) on_signal(signal, on_interrupt);
  for (const int signal : {SIGHUP, SIGPIPE}) {
    if (on_signal(signal, on_interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

void stop_if_interrupted() {
  if (interrupted) throw Cancelled();
}

// Applies one "key=value" of the option; returns the field.
const ConfigField& assign(Config& config, const std::string& assignment, const char* option = "--set") {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) throw ConfigError(fmt::format("{} {}: expected key=value", option, assignment));
  const std::string key = assignment.substr(0, equals);
  set_field(config, key, assignment.substr(equals + 1));
  return config_field(key);
}

// The configuration of the run or checkpoint in the folder, for further training; it keeps its corpus, if any.
Config configuration_of(const std::string& folder, TorchEngine& engine) {
  engine.open_model(folder);
  Config config = engine.config();
  config.training = fine_tuning();
  config.training.device = engine.config().training.device;
  config.training.threads = engine.config().training.threads;
  config.model.from = std::filesystem::absolute(folder).lexically_normal().string();
  return config;
}

Config configuration(const TrainOptions& options, TorchEngine& engine) {
  Config config;
  if (!options.from.empty()) config = configuration_of(options.from, engine);
  if (!options.config_file.empty()) config = load_config(options.config_file);
  if (!options.pair.empty()) config = configurations(classic_pair(options.pair)).first;
  if (!options.preset.empty()) config = with_preset(preset(options.preset), config.corpus);
  if (!options.corpus.empty()) {
    config.corpus.source = options.corpus;
    config.corpus.target = options.target;
  }
  for (const std::string& assignment : options.set) assign(config, assignment);
  if (options.steps) config.training.steps = *options.steps;
  if (options.seed) config.training.seed = *options.seed;
  if (options.device) config.training.device = *options.device;
  if (options.threads > 0) config.training.threads = options.threads;
  check(config);
  return config;
}

// The configuration of the compared run: the same except for the fields of --compare.
Config configuration_of_b(const Config& config, const TrainOptions& options) {
  Config other = config;
  if (!options.pair.empty())
    for (const std::string_view field : split(classic_pair(options.pair).b, " ")) assign(other, std::string(field));
  for (const std::string& assignment : options.compare) assign(other, assignment, "--compare");
  check(other);
  return other;
}

// A resumed run keeps its configuration, except for fields that may change during training.
RunOpened resume(TorchEngine& engine, const std::string& folder, const TrainOptions& options,
                 const ProgressCallback& progress) {
  if (!options.config_file.empty() || !options.preset.empty() || !options.corpus.empty() || options.seed ||
      !options.compare.empty() || !options.pair.empty() || !options.from.empty()) {
    throw ConfigError(
        "--resume continues with the run's own configuration: leave out --config, --preset, --from, --corpus, "
        "--compare and --seed");
  }
  RunOpened opened = engine.open_run(folder, progress);
  Config config = engine.config();
  for (const std::string& assignment : options.set) {
    if (!assign(config, assignment).live) {
      throw ConfigError(fmt::format("--set {}: this field cannot be changed when a run is resumed", assignment));
    }
  }
  if (options.steps) config.training.steps = *options.steps;
  if (options.threads > 0) config.training.threads = options.threads;
  if (config.training.threads != engine.config().training.threads) {
    opened.warnings.push_back(
        fmt::format("training.threads was {} and is now {}: from here on, the losses differ by rounding from those of "
                    "an uninterrupted run",
                    engine.config().training.threads, config.training.threads));
  }
  if (opened.step > 0 && !std::filesystem::exists(RunFolder{folder}.optimizer())) {
    opened.warnings.emplace_back(
        "The run was saved without the optimizer state: from here on, the losses differ from those of an uninterrupted "
        "run");
  }
  engine.adjust(config);
  return opened;
}

void pin(History& history, const std::vector<std::string>& sentences) {
  for (const std::string& text : sentences) {
    if (!history.find(text) && !history.pin(text)) {
      throw ConfigError(fmt::format("--pin \"{}\": at most {} sentences can be pinned", text, max_pinned));
    }
  }
}

// "loss 1.8349 · validation 1.4790 nats/token · 9134 tok/s"
std::string measured_text(const MetricPoint& point) {
  std::vector<std::string> texts;
  for (const std::vector<std::size_t>& plot : metrics_by_plot())
    for (const std::size_t i : plot) {
      const std::string_view text = metric_rows[i].text;
      if (!text.empty() && point[i]) texts.push_back(fmt::format(fmt::runtime(text), *point[i]));
    }
  return fmt::format("{}", fmt::join(texts, " · "));
}

// Removes newly created folders that are still empty at the end.
class NewFolders {
 public:
  // Each before those in it.
  explicit NewFolders(const std::vector<std::filesystem::path>& paths) {
    for (const std::filesystem::path& path : paths)
      if (!std::filesystem::exists(path)) paths_.push_back(path);
  }
  ~NewFolders() {
    std::error_code ignored;  // usually "not empty"
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) std::filesystem::remove(*path, ignored);
  }
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;

 private:
  std::vector<std::filesystem::path> paths_;
};

// A run that is trained separately, or one of two in lockstep.
struct TrainedRun {
  const char* side = "";  // "a" or "b"; empty: a separate run
  std::string folder;
  std::optional<LockedRun> held = {};  // until it is saved there for the first time
  std::shared_ptr<TorchEngine> engine = {};
};

// With several ranks, only the first one writes.
bool writes(const Ranks* ranks) {
  return ranks == nullptr || ranks->is_first();
}

// The runs in their folders, which are locked if this process writes.
std::vector<TrainedRun> begun_runs(const TrainOptions& options, const std::shared_ptr<Ranks>& ranks) {
  std::vector<TrainedRun> runs;
  if (options.resume && is_comparison(options.out)) {
    const ComparedRuns folders = load_comparison({options.out});
    runs.push_back({.side = "a", .folder = folders.a.string()});
    runs.push_back({.side = "b", .folder = folders.b.string()});
  } else if (options.compare.empty() && options.pair.empty()) {
    runs.push_back({.folder = options.out});
  } else {
    const ComparisonFolder folder{options.out};
    if (writes(ranks.get())) check_free_for_comparison(folder.path);
    runs.push_back({.side = "a", .folder = folder.a().string()});
    runs.push_back({.side = "b", .folder = folder.b().string()});
  }
  for (TrainedRun& run : runs) {
    run.engine = std::make_shared<TorchEngine>(ranks);
    if (options.resume) check_is_run(run.folder);
    if (!writes(ranks.get())) continue;
    run.held.emplace(run.folder);
    if (!options.resume) check_free_for_run(run.folder);
  }
  return runs;
}

// Trains all runs with their models and folders.
class TrainingLoop {
 public:
  TrainingLoop(const std::vector<TrainedRun>& runs, const TrainOptions& options, Ranks* ranks)
      : runs_(runs), options_(options), ranks_(ranks) {
    for (const TrainedRun& run : runs_) engines_.push_back(run.engine.get());
    first_ = steps_done();
    steps_wanted_ = runs_.front().engine->steps_wanted();
  }

  // Trains until the requested steps are done, the time is over, or Ctrl-C. Throws LostRank, and Cancelled after Ctrl-C
  // while a rank was lost: training cannot continue then, but the progress so far is valid.
  void run(ProgressLine& line) {
    while (!over()) {
      const std::vector<Engine*> next = next_in_lockstep(engines_);
      for (const TrainedRun& run : runs_) {
        if (std::ranges::find(next, run.engine.get()) != next.end()) update(run, line);
      }
    }
  }

  // The same, with remote viewers.
  void run_served(std::vector<HeldEngine> engines, const ServerOptions& server, ProgressLine& line) {
    if (over()) return;
    ServedTraining served(std::move(engines), server);
    try {
      served.train(
          // With several ranks the session reports when all have ended.
          [this] { return is_to_end() && ranks_ == nullptr; },
          [&](const MetricPoint& point, RunSide side) {
            report(side == RunSide::b ? runs_.back() : runs_.front(), point, line);
          },
          [&](const std::string& text) {
            if (ranks_ != nullptr && !ranks_->loss().empty()) return;
            line.clear();
            say("{}", text);
          });
    } catch (const std::runtime_error&) {
      if (ranks_ == nullptr || ranks_->loss().empty()) throw;
      if (interrupted) throw Cancelled();
      throw LostRank(ranks_->loss());
    }
    is_to_end();  // another rank may have been interrupted
  }

  // The lowest step of the runs.
  std::int64_t steps_done() const { return next_in_lockstep(engines_).front()->status().step; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  static MetricPoint stepped(TorchEngine& engine) {
    try {
      return engine.train_step({});
    } catch (const NotFinite& what) {
      const auto saved = engine.last_saved();
      throw std::runtime_error(
          fmt::format("training stopped at step {}: {} is NaN or infinite. {}. A lower learning rate or "
                      "training.clip_norm may prevent it",
                      engine.steps_done() + 1, what.what(),
                      saved ? fmt::format("{} still has step {}", saved->path, saved->step) : "Nothing was saved yet"));
    }
  }

  void update(const TrainedRun& run, ProgressLine& line) {
    TorchEngine& engine = *run.engine;
    const MetricPoint point = stepped(engine);
    if (engine.has_ended() && engine.best_step()) {
      line.clear();
      tell("Training ends early: the validation loss is lowest at step {}", *engine.best_step());
    }
    if (!writes(ranks_)) return;
    if (recording_due(engine)) record_pinned(engine, {}, {});
    checkpoint_if_due(engine, line);
    report(run, point, line);
    if (options_.show_pinned && point[metric("validation_nll")]) show_pinned(engine);
  }

  void report(const TrainedRun& run, const MetricPoint& point, ProgressLine& line) const {
    if (options_.json) {
      fmt::print("{}\n", side_line(run, point));
      std::fflush(stdout);
    }
    const std::string named = *run.side == '\0' ? "" : fmt::format("{}: ", run.side);
    if (point[metric("validation_nll")]) {
      line.clear();
      tell("{}step {:6} · {} · {:.0f} s", named, point.step, measured_text(point), seconds());
    }
    line.show("Training", fraction(point.step),
              fmt::format("{}step {} of {} · {}", named, point.step, steps_wanted_, measured_text(point)));
  }

  // The line of metrics.jsonl; for two runs, with the side in front.
  static std::string side_line(const TrainedRun& run, const MetricPoint& point) {
    const std::string line = metrics_line(point);
    return *run.side == '\0' ? line : fmt::format("{{\"side\":\"{}\",{}", run.side, line.substr(1));
  }

  // A full disk does not stop training: it continues in memory, and saving is retried later.
  void checkpoint_if_due(TorchEngine& engine, ProgressLine& line) {
    try {
      if (engine.checkpoint_if_due()) checkpoint_failed_ = false;
      say_notice(engine, line);
    } catch (const std::exception& error) {
      if (std::exchange(checkpoint_failed_, true)) return;
      line.clear();
      say("step {}: the run could not be saved; training continues, and saving will be retried: {}",
          engine.steps_done(), error.what());
    }
  }

  static void say_notice(TorchEngine& engine, ProgressLine& line) {
    const std::string notice = engine.take_notice();
    if (notice.empty()) return;
    line.clear();
    say("{}", notice);
  }

  static void show_pinned(TorchEngine& engine) {
    for (const PinnedSentence& pinned : engine.history().sentences()) {
      std::string written;
      inspect_model(engine.model(), engine.tokenizer(), {.text = pinned.text},
                    [&](const Snapshot& inspection) { written = inspection.output_text; }, {});
      tell("  {}\n  → {}", pinned.text, written);
    }
  }

  bool over() const {
    return steps_done() >= steps_wanted_ || is_to_end() || std::ranges::any_of(engines_, &Engine::has_ended);
  }
  bool out_of_time() const { return options_.minutes > 0 && seconds() >= options_.minutes * 60; }

  // All ranks end after the same step, whichever received the request.
  bool is_to_end() const {
    using Ending = Ranks::Ending;
    Ending why = interrupted ? Ending::interrupted : out_of_time() ? Ending::enough : Ending::none;
    if (ranks_ != nullptr) {
      ranks_->ask_to_end(why);
      why = ranks_->agreed();
    }
    if (why == Ending::interrupted) interrupted = 1;
    return why != Ending::none;
  }

  double fraction(std::int64_t step) const {
    const double by_steps = static_cast<double>(step - first_) / static_cast<double>(steps_wanted_ - first_);
    const double by_time = options_.minutes > 0 ? seconds() / (options_.minutes * 60) : 0;
    return std::max(by_steps, by_time);
  }

  const std::vector<TrainedRun>& runs_;
  const TrainOptions& options_;
  Ranks* ranks_;  // null: no ranks
  std::vector<Engine*> engines_;
  std::int64_t first_ = 0;
  std::int64_t steps_wanted_ = 0;
  Clock::time_point begin_ = Clock::now();
  bool checkpoint_failed_ = false;  // and that has been reported
};

// Creates or opens the models; the second shares what it can with the first.
std::vector<RunOpened> open_all(std::vector<TrainedRun>& runs, const TrainOptions& options,
                                const ProgressCallback& progress) {
  std::vector<RunOpened> opened;
  for (TrainedRun& run : runs) {
    if (!opened.empty()) run.engine = runs.front().engine->sibling();
    if (options.resume) {
      opened.push_back(resume(*run.engine, run.folder, options, progress));
    } else {
      const Config config =
          opened.empty() ? configuration(options, *run.engine) : configuration_of_b(opened.front().config, options);
      opened.push_back(run.engine->reset(config, progress));
    }
  }
  return opened;
}

std::vector<HeldEngine> held_engines(const std::vector<TrainedRun>& runs, std::vector<RunOpened> opened) {
  std::vector<HeldEngine> held;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    opened[i].name = std::filesystem::path(runs[i].folder).filename().string();
    opened[i].pinned = runs[i].engine->history().sentences();  // with the frames of this step
    held.push_back({runs[i].engine, std::move(opened[i])});
  }
  return held;
}

void say_what_begins(const TrainedRun& run, const RunOpened& opened, const Ranks* ranks) {
  for (const std::string& warning : opened.warnings) say("{}", warning);
  tell("{}{} parameters, {} tokens in the vocabulary, {} training {} of {}, {}{}",
       *run.side == '\0' ? "" : fmt::format("{}: ", run.side), opened.num_parameters, opened.vocab_size,
       opened.train_pairs, opened.config.model.reads_text() ? "characters" : "pairs", run.engine->corpus()->name,
       run.engine->status().device, ranks == nullptr ? "" : fmt::format(", on each of {} ranks", ranks->size()));
  if (const std::string& from = opened.config.model.from; !from.empty())
    tell("initialized with the weights of {}", from);
}

// The settings that all ranks must share, as far as they are known before anything is opened: one field per line.
std::string settings_of(const TrainOptions& options) {
  if (!options.from.empty()) return {};  // the checkpoint decides, and may have another path on every machine
  TorchEngine none;
  const std::filesystem::path folder = options.resume && is_comparison(options.out)
                                           ? load_comparison({options.out}).a
                                           : std::filesystem::path(options.out);
  const Config config = options.resume ? load_config(RunFolder{folder}.config()) : configuration(options, none);
  std::string settings;
  for (const ConfigField& field : config_fields()) {
    std::string text = field_text(config, field);
    if (field.key.starts_with("corpus.")) text = std::filesystem::path(text).filename().string();
    if (field.key != "training.threads") settings += fmt::format("{}={}\n", field.key, text);
  }
  for (const std::string& assignment : options.compare) settings += fmt::format("--compare {}\n", assignment);
  return settings;
}

// Checks that all ranks have the same data as rank 0: sums over different runs would be meaningless.
void check_alike(Ranks& ranks, const TorchEngine& engine) {
  std::uint64_t hash = fnv1a(fmt::format("{} {}", engine.steps_done(), engine.tokenizer().vocab_size()));
  if (engine.corpus() != nullptr) hash = fnv1a(engine.corpus()->hash, hash);
  for (const ConfigField& field : config_fields()) {
    const bool may_differ = field.key == "training.threads" || field.key == "model.from";
    if (!may_differ && (field.key.starts_with("training.") || field.key.starts_with("model.")))
      hash = fnv1a(field_text(engine.config(), field), hash);
  }
  const auto own = static_cast<double>(hash >> 11U);  // as many bits as a double represents exactly
  std::array<double, 1> first{ranks.is_first() ? own : 0};
  ranks.sum(first);
  if (first[0] != own) throw RanksError("its corpus, configuration or step differs from that of rank 0");
}

// Trains. If a rank is lost, the progress is saved as after Ctrl-C, but the run is incomplete.
int status_after(const std::function<void()>& training, ProgressLine& line, const Ranks* ranks) {
  try {
    training();
    return interrupted ? exit_interrupted : 0;
  } catch (const LostRank& error) {
    line.clear();
    say("attnscope: rank {}: {}", ranks->rank(), error.what());
  } catch (const Cancelled&) {  // by the launcher, which names the lost rank
  }
  return 1;
}

int train_runs(const TrainOptions& options, const std::shared_ptr<Ranks>& ranks) {
  std::optional<ServerOptions> server;
  if (!options.serve.empty() && writes(ranks.get())) server = server_options(options.serve, options.allow_control);
  ProgressLine line;
  const ProgressCallback progress = [&](const Progress& news) {
    stop_if_interrupted();
    if (ranks) ranks->check_mismatch();
    line.show(news.what, news.fraction);
  };
  const ComparisonFolder both{options.out};
  const bool keeps = writes(ranks.get());
  const NewFolders left_if_empty(keeps ? std::vector<std::filesystem::path>{options.out, both.a(), both.b()}
                                       : std::vector<std::filesystem::path>());
  std::vector<TrainedRun> runs = begun_runs(options, ranks);
  std::vector<RunOpened> opened;
  try {
    opened = open_all(runs, options, progress);
    if (ranks) ranks->meet();
  } catch (const Cancelled&) {
    return exit_interrupted;  // nothing has been trained yet
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    TorchEngine& engine = *runs[i].engine;
    if (ranks) check_alike(*ranks, engine);
    if (!keeps) continue;
    pin(engine.history(), options.pin);
    record_pinned(engine, {}, {});
    line.clear();
    say_what_begins(runs[i], opened[i], ranks.get());
    engine.save_run(*std::exchange(runs[i].held, std::nullopt));
  }
  if (runs.size() > 1 && keeps) {
    tell("{}", title_of(differences(opened[0].config, opened[1].config)));
    if (const std::string why = other_batches(opened[0].config, opened[1].config); !why.empty()) say("{}", why);
    if (!options.resume) save_comparison({options.out});
  }

  TrainingLoop loop(runs, options, ranks.get());
  const auto training = [&] {
    if (server)
      loop.run_served(held_engines(runs, std::move(opened)), *server, line);
    else
      loop.run(line);
  };
  const int status = status_after(training, line, ranks.get());
  line.clear();
  if (!keeps) return status;
  for (const TrainedRun& run : runs) {
    record_pinned(*run.engine, {}, {});                    // so that the history ends at the run's last step
    run.engine->save_run(run.engine->last_saved()->path);  // the folder may have been renamed
    const std::string folder = run.engine->last_saved()->path;
    if (const std::string notice = run.engine->take_notice(); !notice.empty()) say("{}", notice);
    if (options.no_optimizer && status == 0) std::filesystem::remove(RunFolder{folder}.optimizer());
  }
  tell("{} at step {} after {:.0f} s; saved in {}", status == 0 ? "Done" : "Stopped", loop.steps_done(), loop.seconds(),
       runs.size() > 1 ? options.out : runs.front().engine->last_saved()->path);
  return status;
}

}  // namespace

int train(const TrainOptions& options) {
  std::optional<RankPlace> place = place_from_environment();
  if (place && options.ranks > 1 && options.ranks != place->size) {
    throw ConfigError(
        fmt::format("--ranks {}: WORLD_SIZE={} in the environment already makes this process one of {} ranks",
                    options.ranks, place->size, place->size));
  }
  if (options.allow_control && (options.ranks > 1 || (place && place->size > 1))) {
    throw ConfigError(
        "--allow-control: training on several ranks cannot be controlled; other windows can only watch it (--serve)");
  }
  // reports an invalid address once instead of in every rank
  if (!options.serve.empty()) remote_address(options.serve);
  if (!place && kernels::level() == kernels::Level::baseline)
    tell("training without AVX2, which is slower: the processor lacks it, or ATTNSCOPE_LEVEL excludes it");
  if (!place && options.ranks > 1) {
    check_ranks_supported();
    return launch_ranks(static_cast<int>(options.ranks));
  }
  if (!place || place->size == 1) {
    save_on_signals();
    return train_runs(options, nullptr);
  }
  end_with_launcher();
  const auto ranks = std::make_shared<Ranks>(*place, stop_if_interrupted, longest_wait_for_rank, settings_of(options));
  save_on_signals();
  share_cores(place->here);
  if (ranks->is_first()) return train_runs(options, ranks);
  quiet = true;
  try {
    ranks->await_first();
    return train_runs(options, ranks);
  } catch (const Cancelled&) {
    return exit_interrupted;
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("rank {}: {}", ranks->rank(), error.what()));
  }
}

}  // namespace attnscope
