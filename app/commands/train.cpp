#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "commands/commands.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "engine/torch_engine.h"
#include "plain/metrics.h"
#include "plain/presets.h"
#include "probe/look_inside.h"
#include "storage/held_run.h"
#include "storage/run_folder.h"

namespace attnscope {
namespace {

constexpr int exit_interrupted = 130;

volatile std::sig_atomic_t interrupted = 0;  // a signal handler can reach nothing else

void on_interrupt(int) {
  interrupted = 1;
}

// The run is saved, whatever ends it: Ctrl-C, the terminal that is closed, the program that read what we said. What the
// parent has ignored (nohup) stays ignored.
void save_on_signals() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_interrupt);
  for (const int signal : {SIGHUP, SIGPIPE}) {
    if (std::signal(signal, on_interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

void stop_if_interrupted() {
  if (interrupted) throw Cancelled();
}

// One "key=value" of --set; returns the field.
const ConfigField& assign(Config& config, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) throw ConfigError(fmt::format("--set {}: it should be key=value", assignment));
  const std::string key = assignment.substr(0, equals);
  set_field(config, key, assignment.substr(equals + 1));
  return config_field(key);
}

Config configuration(const TrainOptions& options) {
  Config config;
  if (!options.config_file.empty()) config = load_config(options.config_file);
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

// A run resumed keeps its configuration, but for what may change while training.
RunOpened resume(TorchEngine& engine, const TrainOptions& options, const ProgressCallback& progress) {
  if (!options.config_file.empty() || !options.preset.empty() || !options.corpus.empty() || options.seed) {
    throw ConfigError(
        "--resume goes on with the run's own configuration: leave out --config, --preset, --corpus and --seed");
  }
  RunOpened opened = engine.open_run(options.out, progress);
  Config config = engine.config();
  for (const std::string& assignment : options.set) {
    if (!assign(config, assignment).live) {
      throw ConfigError(fmt::format("--set {}: it cannot change in a run that is resumed", assignment));
    }
  }
  if (options.steps) config.training.steps = *options.steps;
  if (options.threads > 0) config.training.threads = options.threads;
  if (config.training.threads != engine.config().training.threads) {
    opened.warnings.push_back(fmt::format(
        "training.threads was {} and is now {}: from here on the losses differ, in rounding, from those of an "
        "uninterrupted run",
        engine.config().training.threads, config.training.threads));
  }
  if (opened.step > 0 && !std::filesystem::exists(RunFolder{options.out}.optimizer())) {
    opened.warnings.emplace_back(
        "The run came without the optimizer's state: from here on the losses differ from those of an uninterrupted "
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

// A folder that was not there before and in which nothing came to be is none to leave behind.
class NewFolder {
 public:
  explicit NewFolder(std::string path) : path_(std::filesystem::exists(path) ? "" : std::move(path)) {}
  ~NewFolder() {
    std::error_code ignored;  // not empty, most often
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

 private:
  std::string path_;
};

class TrainingLoop {
 public:
  TrainingLoop(TorchEngine& engine, const TrainOptions& options)
      : engine_(engine), options_(options), first_(engine.steps_done()) {}

  // Until the wanted steps are done, the minutes are over, or Ctrl-C.
  void run(ProgressLine& line) {
    while (!interrupted && engine_.steps_done() < engine_.steps_wanted() && !out_of_time()) {
      const MetricPoint point = engine_.train_step({});
      if (recording_due(engine_)) record_pinned(engine_, {}, {});
      checkpoint_if_due(line);
      if (options_.json) {
        fmt::print("{}\n", metrics_line(point));
        std::fflush(stdout);
      }
      if (point[metric("validation_nll")]) {
        line.clear();
        tell("step {:6} · {} · {:.0f} s", point.step, measured_text(point), seconds());
        if (options_.show_pinned) show_pinned();
      }
      line.show("Training", fraction(),
                fmt::format("step {} of {} · {}", point.step, engine_.steps_wanted(), measured_text(point)));
    }
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  // A disk that is full costs no training: it goes on in memory, and what is due is saved later.
  void checkpoint_if_due(ProgressLine& line) {
    try {
      if (engine_.checkpoint_if_due()) checkpoint_failed_ = false;
    } catch (const std::exception& error) {
      if (std::exchange(checkpoint_failed_, true)) return;
      line.clear();
      say("step {}: the run could not be saved; training goes on, and it is tried again: {}", engine_.steps_done(),
          error.what());
    }
  }

  void show_pinned() const {
    for (const PinnedSentence& pinned : engine_.history().sentences()) {
      std::string written;
      look_inside(engine_.model(), engine_.tokenizer(), {.text = pinned.text},
                  [&](const Snapshot& look) { written = look.output_text; }, {});
      tell("  {}\n  → {}", pinned.text, written);
    }
  }

  bool out_of_time() const { return options_.minutes > 0 && seconds() >= options_.minutes * 60; }

  double fraction() const {
    const double by_steps =
        static_cast<double>(engine_.steps_done() - first_) / static_cast<double>(engine_.steps_wanted() - first_);
    const double by_time = options_.minutes > 0 ? seconds() / (options_.minutes * 60) : 0;
    return std::max(by_steps, by_time);
  }

  TorchEngine& engine_;
  const TrainOptions& options_;
  std::int64_t first_;
  Clock::time_point begin_ = Clock::now();
  bool checkpoint_failed_ = false;  // and that has been said
};

}  // namespace

int train(const TrainOptions& options) {
  save_on_signals();
  ProgressLine line;
  const ProgressCallback progress = [&](const Progress& news) {
    stop_if_interrupted();
    line.show(news.what, news.fraction);
  };
  if (options.resume) check_is_run(options.out);
  const NewFolder left_if_empty(options.out);
  HeldRun held(options.out);
  if (!options.resume) check_free_for_run(options.out);
  TorchEngine engine;
  RunOpened opened;
  try {
    opened = options.resume ? resume(engine, options, progress) : engine.reset(configuration(options), progress);
  } catch (const Cancelled&) {
    return exit_interrupted;  // nothing has been trained yet
  }
  pin(engine.history(), options.pin);
  record_pinned(engine, {}, {});
  line.clear();
  for (const std::string& warning : opened.warnings) say("{}", warning);
  tell("{} parameters, {} pieces, {} training {} of {}, {}", opened.num_parameters, opened.vocab_size,
       opened.train_pairs, opened.config.model.is_language_model() ? "characters" : "pairs", engine.corpus()->name,
       engine.status().device);
  engine.save_run(std::move(held));

  TrainingLoop loop(engine, options);
  loop.run(line);
  line.clear();
  record_pinned(engine, {}, {});  // so that the history ends where the run does
  engine.save_run(options.out);
  if (options.no_optimizer && !interrupted) std::filesystem::remove(RunFolder{options.out}.optimizer());
  tell("{} at step {} after {:.0f} s; saved in {}", interrupted ? "Stopped" : "Done", engine.steps_done(),
       loop.seconds(), options.out);
  return interrupted ? exit_interrupted : 0;
}

}  // namespace attnscope
