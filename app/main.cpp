// The command line: all commands and options are declared here and nowhere else.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "base/translation.h"
#include "commands/commands.h"
#include "commands/engine_module.h"
#include "commands/say.h"
#include "completion.h"
#ifdef ATTNSCOPE_GUI
#include "commands/desktop/bench_window.h"
#include "shell/comparing.h"
#include "shell/layout.h"
#include "workspaces/workspaces.h"
#endif
#include "common/edit_distance.h"
#include "common/unicode_form.h"
#include "config/config.h"
#include "config/pairs.h"
#include "config/presets.h"
#include "messages/messages.h"
#include "messages/senses.h"
#include "session/remote/address.h"

namespace attnscope {
namespace {

constexpr int exit_usage = 2;

// The requested command, ready to run; set by the callback of its subcommand.
using Run = std::function<int()>;

// Like CLI::Range, which accepts NaN.
CLI::Validator within(double least, double most) {
  const std::string allowed = fmt::format("{} to {}", least, most);
  return CLI::Validator(
      [=](const std::string& text) {
        double value = 0;
        const bool read = CLI::detail::lexical_cast(text, value);
        return read && value >= least && value <= most ? "" : fmt::format("{} is not a number from {}", text, allowed);
      },
      allowed, "within");
}

// Like CLI::PositiveNumber and CLI::NonNegativeNumber, whose messages contain all digits of the largest double.
CLI::Validator at_least(std::int64_t least) {
  return CLI::Validator(
      [=](const std::string& text) {
        std::int64_t value = 0;
        const bool read = CLI::detail::lexical_cast(text, value);
        return read && value >= least ? "" : fmt::format("{} is not a whole number of at least {}", text, least);
      },
      fmt::format("from {}", least), "at least");
}

// The address of a served training.
const CLI::Validator address_form(
    [](std::string& text) -> std::string {
      try {
        remote_address(text);
        return "";
      } catch (const AddressError& error) {
        return error.what();
      }
    },
    "", "address");

// File names of pictures.
const CLI::Validator picture_name(
    [](std::string& name) -> std::string {
      if (name.ends_with(".png") || name.ends_with(".svg") || name.ends_with(".html")) return "";
      return fmt::format("{}: a picture must end in .png or .svg, a handout in .html", name);
    },
    "", "picture");

template <typename Options>
CLI::App* add_command(CLI::App& app, Run& run, Options& options, int (*command)(const Options&),
                      const std::string& name, const std::string& description) {
  CLI::App* sub = app.add_subcommand(name, description);
  sub->callback([&run, &options, command] { run = [&options, command] { return command(options); }; });
  sub->add_flag("-q,--quiet", quiet, "Print only errors on stderr");
  return sub;
}

// Adds an option to the command, with its value named in the help.
template <typename Value>
CLI::Option* add_option(CLI::App* sub, const char* name, const char* form, Value& value, const std::string& help) {
  CLI::Option* option = sub->add_option(name, value, help)->type_name(form);
  // A line from a file of another system.
  if (std::string_view(form) == "TEXT")
    option->transform([](const std::string& text) { return std::string(without_line_end(text)); }, "", "line end");
  return option;
}

// May be given repeatedly.
CLI::Option* add_list(CLI::App* sub, const char* name, const char* form, std::vector<std::string>& values,
                      const std::string& help) {
  return add_option(sub, name, form, values, help)->allow_extra_args(false)->default_str("");
}

CLI::Option* add_run(CLI::App* sub, std::string& run) {
  return add_option(sub, "--run", "RUN", run, "Folder of the run")->required();
}

// --capture, which replaces --run and, if the command needs one, the sentence.
void add_capture(CLI::App* sub, Run& run, CLI::Option* of_run, CLI::Option* sentence, std::string& capture,
                 Run command) {
  add_option(sub, "--capture", "FILE", capture, "Capture instead of a run: attention that another program recorded")
      ->excludes(of_run);
  CLI::Option* step = sub->get_option("--step");
  step->description(step->get_description() + ". Of a capture: only step N");
  of_run->required(false);
  if (sentence) sentence->required(false)->excludes(sub->get_option("--capture"));
  sub->callback([&run, &capture, of_run, sentence, command = std::move(command)] {
    if (capture.empty() && of_run->count() == 0) throw CLI::RequiredError("--run or --capture");
    if (capture.empty() && sentence && sentence->count() == 0) throw CLI::RequiredError(sentence->get_name());
    run = command;
  });
}

CLI::Option* add_target(CLI::App* sub, std::string& target) {
  const char* help = "Target side, if --corpus is one of two parallel files";
  return add_option(sub, "--target", "FILE", target, help)->needs("--corpus");
}

// Steps of saved weights.
const CLI::Validator step_form(
    [](const std::string& text) {
      const bool whole = !text.empty() && text.size() < 16 && text.find_first_not_of("0123456789") == std::string::npos;
      return whole || text == "best" ? "" : fmt::format("{} is neither best nor a step's number", text);
    },
    "", "step");

void add_step(CLI::App* sub, std::optional<std::int64_t>& step) {
  sub->add_option_function<std::string>(
         "--step", [&step](const std::string& text) { step = text == "best" ? best_weights : std::stoll(text); },
         "Use the weights saved at step N, or those of the lowest validation loss, instead of the newest")
      ->type_name("N|best")
      ->check(step_form);
}

void add_train(CLI::App& app, Run& run, TrainOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, compute<TrainOptions>, "train", "Train a model and save the run in a folder");
  add_option(sub, "--corpus", "FILE|NAME", o.corpus,
             "Built-in corpus by name, TSV file (source, tab, target), or source side of two parallel files; for a "
             "language model, any text");
  add_target(sub, o.target);
  add_option(sub, "--out", "RUN", o.out, "Folder of the run")->required();
  CLI::Option* config = add_option(sub, "--config", "FILE", o.config_file, "A config.json to start from");
  add_option(sub, "--preset", "NAME", o.preset, "Preset to start from: " + preset_names())->excludes(config);
  add_option(sub, "--from", "RUN", o.from,
             "Run or other program's checkpoint to fine-tune: its weights, tokenizer and configuration are used; the "
             "folder is not changed")
      ->excludes(config)
      ->excludes(sub->get_option("--preset"));
  add_list(sub, "--set", "KEY=VALUE", o.set,
           "One field of the configuration, such as model.d_model=64; may be repeated");
  std::vector<std::string> pairs;
  for (const ClassicPair& pair : classic_pairs()) pairs.emplace_back(pair.name);
  sub->add_option("--pair", o.pair, "Train the two runs of a classic comparison in lockstep, as with --compare")
      ->check(CLI::IsMember(pairs))
      ->excludes(config)
      ->excludes(sub->get_option("--from"));
  add_list(sub, "--compare", "KEY=VALUE", o.compare,
           "Train a second run in lockstep that differs only in this field; may be repeated. --out then holds both "
           "runs, a/ and b/, and comparison.json");
  add_list(sub, "--pin", "TEXT", o.pin,
           "Sentence to record every training.history_interval steps; saved with the run; may be repeated");
  sub->add_flag("--show-pinned", o.show_pinned, "Print the output for the pinned sentences at every validation");
  sub->add_option("--steps", o.steps, "Number of training steps")->check(at_least(1));
  sub->add_option("--seed", o.seed, "Seed for initialization, batch order and dropout")->check(at_least(0));
  sub->add_option("--device", o.device, "Device to train on")->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  sub->add_option("--threads", o.threads, "Number of CPU threads, saved with the run; 0: as in the configuration")
      ->check(CLI::Range(0, 256));
  sub->add_option("--ranks", o.ranks,
                  "Train in this many processes on this machine. Each takes its share of every batch and, unless "
                  "--threads is given, of the cores. To train on several machines, set RANK, WORLD_SIZE, MASTER_ADDR "
                  "and MASTER_PORT in the environment")
      ->check(CLI::Range(1, 256));
  sub->add_option("--minutes", o.minutes, "Stop after this many minutes; 0: no limit")->check(within(0, 1e6));
  sub->add_flag("--resume", o.resume, "Continue the run in --out");
  sub->add_flag("--no-optimizer", o.no_optimizer, "Save the finished run without the optimizer state");
  sub->add_flag("--json", o.json, "Print one JSON object per step on stdout");
  CLI::Option* serve = add_option(sub, "--serve", "[HOST:]PORT", o.serve,
                                  "Let windows watch the training with attnscope attach; without HOST, only windows on "
                                  "this machine. With PORT 0, a free port is chosen and printed")
                           ->check(address_form)
                           ->excludes(sub->get_option("--show-pinned"));
  sub->add_flag(
         "--allow-control", o.allow_control,
         "Attached windows may train, pause, step, pin, and change the fields that can be changed while training")
      ->needs(serve);
}

void add_sweep(CLI::App& app, Run& run, SweepOptions& o) {
  CLI::App* sub = add_command(app, run, o, compute<SweepOptions>, "sweep",
                              "Train one run per combination of settings and seed, and print a table of their results");
  add_option(sub, "--out", "FOLDER", o.train.out,
             "Folder of the runs; the same command again continues a sweep that was stopped")
      ->required();
  CLI::Option* config = add_option(sub, "--config", "FILE", o.train.config_file, "A config.json to start from");
  add_option(sub, "--preset", "NAME", o.train.preset, "Preset to start from: " + preset_names())->excludes(config);
  add_option(sub, "--corpus", "FILE|NAME", o.train.corpus, "Corpus of all runs");
  add_list(sub, "--set", "KEY=A,B,C", o.train.set,
           "One field of the configuration with its values, such as model.d_model=32,64,128; may be repeated: every "
           "combination is trained");
  sub->add_option("--seeds", o.seeds, "Seeds of every combination, such as 1,2,3");
  add_option(sub, "--jobs", "N", o.jobs,
             "Train N runs at the same time on this machine, each with its share of the cores")
      ->check(CLI::Range(1, 256));
  sub->add_option("--threads", o.train.threads, "Number of CPU threads of every run; 0: as in the configuration")
      ->check(CLI::Range(0, 256));
  sub->add_flag("--json", o.json, "Print the table as a JSON list");
  sub->add_flag("--csv", o.csv, "Print the table as CSV");
}

void add_cache(CLI::App& app, Run& run, CacheOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, cache, "cache",
                  "List or remove what is stored to start faster: large corpora, their tokens and tokenizers");
  CLI::Option* prune = sub->add_flag("--prune", o.prune, "Remove the files; they are made again when they are needed");
  add_option(sub, "--unused", "DAYS", o.days, "Only those that were not used for this many days")
      ->check(at_least(0))
      ->needs(prune);
}

void add_runs(CLI::App& app, Run& run, RunsOptions& o) {
  CLI::App* sub = add_command(app, run, o, runs, "runs",
                              "List the runs in a folder: the fields in which they differ, and their losses");
  add_option(sub, "FOLDER", "", o.folder, "Folder of runs, searched recursively")->required();
  sub->add_flag("--json", o.json, "Print a JSON list");
  sub->add_flag("--csv", o.csv, "Print the table as CSV");
}

void add_compare(CLI::App& app, Run& run, CompareOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, compute<CompareOptions>, "compare",
                  "Compare two runs: configuration, losses, scores, and attention and output for a sentence");
  CLI::Option* a = add_option(sub, "--a", "RUN", o.a, "Folder of the run");
  CLI::Option* b = add_option(sub, "--b", "RUN", o.b, "Folder of the other run")->needs(a);
  a->needs(b);
  CLI::Option* both =
      add_option(sub, "--comparison", "FOLDER", o.comparison, "Saved comparison, instead of --a and --b")->excludes(a);
  sub->callback([&run, &o, a, both] {
    if (a->count() + both->count() == 0) throw CLI::RequiredError("--a and --b, or --comparison");
    run = [&o] { return compute(o); };
  });
  add_option(sub, "--corpus", "FILE|NAME", o.corpus, "Corpus to score both on; default: the test part of their own");
  add_option(sub, "--source", "TEXT", o.source, "Sentence to compare");
  add_option(sub, "--limit", "N", o.limit, "Maximum number of pairs, sampled evenly")->check(CLI::PositiveNumber);
  sub->add_flag("--json", o.json, "Print one JSON object");
}

void add_sampling(CLI::App* sub, CLI::Option* beam, TranslateOptions& o) {
  const auto add = [&](const char* name, auto& value, const char* help) {
    return sub->add_option(name, value, help)->each([&o](const std::string&) { o.sample = true; })->excludes(beam);
  };
  sub->add_flag("--sample", o.sample,
                "Sample every token instead of taking the most probable one; implied by the options below")
      ->excludes(beam);
  add("--temperature", o.sampling.temperature,
      "Divide the logits by this temperature; 0: always take the most probable token");
  add("--top-k", o.sampling.top_k, "Sample from this many of the most probable tokens; 0: all");
  add("--top-p", o.sampling.top_p, "Sample from the smallest set of tokens whose probabilities sum to this; 1: all");
  add("--seed", o.sampling.seed, "Random seed: the same seed and input lines give the same text");
  add("--samples", o.samples, "Number of samples per line, all in its JSON object")->check(CLI::Range(1, 1000));
}

void add_average(CLI::App* sub, std::int64_t& average) {
  add_option(sub, "--average", "K", average,
             "Average the weights of the last K checkpoints saved by training.kept_checkpoints; 1: only the last")
      ->check(CLI::Range(1, 100));
}

// The same command under two names.
void add_translate(CLI::App& app, Run& run, TranslateOptions& o, const char* name, const char* help) {
  CLI::App* sub = add_command(app, run, o, compute<TranslateOptions>, name, help);
  add_run(sub, o.run);
  add_step(sub, o.step);
  CLI::Option* beam = sub->add_option("--beam", o.beam, "Beam width; 1: greedy")->check(CLI::Range(1, 64));
  sub->add_option("--length-penalty", o.length_penalty, "Exponent of the length normalization")->check(within(0, 5));
  sub->add_option("--limit", o.limit, "Maximum number of tokens; 0: source length + 50, or a language model's context")
      ->check(at_least(0));
  add_sampling(sub, beam, o);
  CLI::Option* json =
      sub->add_flag("--json", o.json, "Print one JSON object per line, with scores, tokens and all hypotheses");
  sub->get_option("--samples")->needs(json);
  sub->add_flag("--tree", o.tree, "Add to the JSON every hypothesis that the beam considered, and where it was pruned")
      ->needs(json);
  sub->add_flag("--attention", o.attention,
                "Add to the JSON the cross-attention of every layer and head (language model: self-attention)")
      ->needs(json);
  add_average(sub, o.average);
}

void add_fill(CLI::App& app, Run& run, FillOptions& o) {
  CLI::App* sub = add_command(app, run, o, compute<FillOptions>, "fill",
                              "Fill in the masks in the lines of stdin with a masked language model such as BERT");
  add_run(sub, o.run);
  add_step(sub, o.step);
  add_option(sub, "--top", "K", o.top, "Number of candidates for each mask")->check(CLI::Range(1, 1000));
  sub->add_flag("--json", o.json, "Print one JSON object per line, with positions and pseudo-log-likelihood");
}

void add_evaluate(CLI::App& app, Run& run, EvaluateOptions& o) {
  CLI::App* sub = add_command(app, run, o, compute<EvaluateOptions>, "evaluate",
                              "Loss, perplexity, BLEU and exact match on pairs; bits per character on text");
  add_run(sub, o.run);
  add_step(sub, o.step);
  add_option(sub, "--corpus", "FILE|NAME", o.corpus,
             "Built-in corpus or file; evaluated in full unless the run was trained on it. Default: the run's own");
  add_target(sub, o.target);
  sub->add_option("--split", o.split, "Part of the corpus; default: test for the run's own corpus, all for any other")
      ->check(CLI::IsMember({"test", "validation", "all"}));
  sub->add_option("--limit", o.limit, "Maximum number of pairs, sampled evenly; 0: all")->check(at_least(0));
  sub->add_option("--beam", o.beam, "Beam width; 1: greedy")->check(CLI::Range(1, 64));
  add_average(sub, o.average);
  sub->add_flag("--json", o.json, "Print one JSON object on stdout");
}

void add_attend(CLI::App& app, Run& run, AttendOptions& o, bool& json) {
  CLI::App* sub = add_command(app, run, o, compute<AttendOptions>, "attend",
                              "Attention weights of every layer and head for a sentence, as JSON or CSV");
  CLI::Option* of_run = add_run(sub, o.run);
  CLI::Option* source = add_option(sub, "--source", "TEXT", o.source, "The sentence, or a language model's prompt");
  add_step(sub, o.step);
  add_capture(sub, run, of_run, source, o.capture, [&o] { return o.capture.empty() ? compute(o) : attend_capture(o); });
  add_option(sub, "--source-b", "TEXT", o.source_b, "Sentence B of a pair, for an encoder such as BERT")->needs(source);
  add_option(sub, "--target", "TEXT", o.target, "Target text to use instead of the model's own output")
      ->excludes(sub->get_option("--capture"));
  sub->add_option("--format", o.format, "json: everything; csv: one attention map, or all of a capture")
      ->check(CLI::IsMember({"json", "csv"}));
  sub->add_flag("--json", json, "Same as --format json")->excludes("--format");
  sub->add_option("--part", o.part, "Attention to print; default: all. As CSV: cross, if the model has it")
      ->check(CLI::IsMember({"encoder", "decoder", "cross"}));
  sub->add_option("--layer", o.layer, "Layer to print, from 1; default: all. As CSV: 1")->check(at_least(1));
  sub->add_option("--head", o.head, "Head to print, from 1; default: all. As CSV: 1")->check(at_least(1));
  const std::vector<CLI::Option*> of_both = sub->get_options();
  add_list(sub, "--off", "PART.LAYER.HEAD", o.interventions.heads_off,
           "Switch a head off (zero ablation); may be repeated, like the options below");
  add_list(sub, "--off-layer", "encoder.LAYER|decoder.LAYER", o.interventions.layers_off,
           "Skip a layer: it passes its input through unchanged");
  add_list(sub, "--force", "PART.LAYER.HEAD:QUERY->KEY", o.interventions.forced,
           "Make a query attend to one key only; both are counted from 0, as in the JSON");
  add_list(sub, "--hide", "PART.LAYER.HEAD:QUERY->KEY", o.interventions.hidden, "Mask a key for a query");
  sub->add_option("--divide", o.interventions.divided,
                  "Divide scores by \u221Ad_k (true) or not (false), however the model was trained");
  add_list(sub, "--replace", "source.POSITION=TEXT|target.POSITION=TEXT", o.interventions.replaced,
           "Replace the token at a position, counted from 0");
  add_list(
      sub, "--steer", "LAYER:FACTOR:TEXT[:TEXT]|LAYER:FACTOR:neuron=N|LAYER:FACTOR:feature=N[@SITE]",
      o.interventions.steered,
      "Add a direction to the residual stream after a layer, from 1, of the stack that reads the text: FACTOR times "
      "the state of the first text minus that of the second (2308.10248), or what a neuron, or a feature of "
      "neurons --dictionary --of SITE, adds at an activation of FACTOR; these also after a layer such as decoder.2");
  for (CLI::Option* option : sub->get_options())
    if (std::ranges::find(of_both, option) == of_both.end()) option->excludes(sub->get_option("--capture"));
}

// File names of interactive pages.
const CLI::Validator page_name(
    [](std::string& name) -> std::string {
      return name.ends_with(".html") ? "" : fmt::format("{}: a page must end in .html", name);
    },
    "", "page");

void add_page(CLI::App& app, Run& run, PageOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, compute<PageOptions>, "page",
                  "Write an interactive page: one HTML file with the attention of sentences, for any browser");
  CLI::Option* of_run = add_run(sub, o.run);
  add_step(sub, o.step);
  add_capture(sub, run, of_run, nullptr, o.capture, [&o] { return o.capture.empty() ? compute(o) : page_capture(o); });
  CLI::Option* capture = sub->get_option("--capture");
  sub->get_option("--step")->excludes(capture);
  CLI::Option* source =
      add_list(sub, "--source", "TEXT", o.source,
               "Sentence, or a language model's prompt; may be repeated. Default: the run's pinned sentences")
          ->excludes(capture);
  add_option(sub, "--corrupted", "TEXT", o.corrupted,
             "Contrast sentence of the first --source, to show the circuit: same number of tokens, one word changed")
      ->needs(source)
      ->excludes(capture);
  add_option(sub, "--out", "FILE", o.out, "The page, a file that ends in .html")->required()->check(page_name);
}

void add_report(CLI::App& app, Run& run, ReportOptions& o) {
  CLI::App* sub = add_command(app, run, o, compute<ReportOptions>, "report",
                              "Write a report of a run, or of two, as HTML and PDF: settings, curves, scores, heads, "
                              "embeddings, circuit, and how to reproduce it");
  add_list(sub, "--run", "RUN", o.runs, "Folder of the run; a second one is compared with it")
      ->required()
      ->expected(1, 2);
  add_option(sub, "--out", "FOLDER", o.out, "New or empty folder")->required();
}

void add_explain(CLI::App& app, Run& run, ExplainOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, compute<ExplainOptions>, "explain",
                  "Find the circuit: which heads, at which words, carry the difference between two sentences");
  add_run(sub, o.run);
  add_step(sub, o.step);
  add_option(sub, "--clean", "TEXT", o.clean, "The sentence, or a language model's prompt");
  add_option(sub, "--corrupted", "TEXT", o.corrupted,
             "The corrupted sentence: same number of tokens, one word changed");
  add_option(sub, "--between", "WORD,WORD", o.between,
             "The two output words whose log-odds are compared; default: those at which the two outputs first diverge");
  CLI::Option* corpus = sub->add_flag("--corpus", o.corpus, "Evaluate all similar pairs of the run's corpus");
  add_option(sub, "--pairs", "FILE", o.pairs, "Evaluate these pairs: one per line, clean, tab, corrupted")
      ->excludes(corpus);
  add_option(
      sub, "--at", "WORD,…", o.at,
      "Words to patch, each and together, in every layer; their figures are printed. Default, for --json: the words of "
      "the circuit");
  add_option(sub, "--exchange", "WORD,WORD", o.exchange,
             "The two words whose attention weights are swapped; the figures are printed. Default, for --json: those "
             "that flip "
             "the most answers");
  add_option(sub, "--score", "FROM,TO[,OTHER]", o.score,
             "Decompose the attention scores of the circuit's heads: the score of FROM's query with TO's key, minus "
             "that with OTHER's, as a sum over the components of the two words");
  sub->add_flag("--formation", o.formation,
                "Effect of each part of the circuit on this pair, at the steps whose weights were saved");
  CLI::Option* attribution = sub->add_flag(
      "--attribution", o.attribution,
      "Instead, attribute one output token of the --clean sentence to heads and layers and to the input tokens");
  add_option(sub, "--token", "N", o.token,
             "Index of the output token, from 0; default: the last token that is not punctuation")
      ->needs(attribution)
      ->check(CLI::NonNegativeNumber);
  sub->add_flag("--json", o.json, "Print one JSON object on stdout, with every map and figure");
}

void add_cost(CLI::App& app, Run& run, CostOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, compute<CostOptions>, "cost",
                  "Measure the cost of self-attention, recurrence and convolution by sequence length (paper table 1)");
  add_option(sub, "--run", "RUN", o.run, "Folder of the run whose width, heads and cell are used");
  add_list(sub, "--set", "KEY=VALUE", o.set, "Another width, cell, …, such as model.d_model=512; may be repeated");
  add_option(sub, "--longest", "N", o.longest, "Longest sequence, in tokens; lengths double from 16")
      ->check(CLI::Range(16, 65536));
  add_option(sub, "--seconds", "S", o.seconds, "Time limit for the whole measurement, in seconds")
      ->check(within(1, 3600));
  sub->add_flag("--json", o.json, "Print one JSON object on stdout");
}

// For runs and checkpoints without their corpus.
template <typename Options>
void add_own_corpus(CLI::App* sub, Options& o) {
  add_option(sub, "--corpus", "FILE|NAME", o.corpus, "Corpus whose held-out part is read; default: the run's own");
  add_target(sub, o.target);
}

void add_heads(CLI::App& app, Run& run, HeadsOptions& o) {
  CLI::App* sub = add_command(
      app, run, o, compute<HeadsOptions>, "heads",
      "Head importance: how much the held-out loss increases when each head, and growing sets of heads, are ablated. "
      "For a capture: entropy, distance and other measures of its attention");
  CLI::Option* of_run = add_run(sub, o.run);
  add_step(sub, o.step);
  add_capture(sub, run, of_run, nullptr, o.capture, [&o] { return o.capture.empty() ? compute(o) : heads_capture(o); });
  add_own_corpus(sub, o);
  sub->add_flag("--recorded", o.recorded, "Measure at every step whose weights were saved, on a few batches")
      ->excludes(sub->get_option("--capture"));
  sub->add_flag("--json", o.json, "Print one JSON object on stdout");
}

void add_tensors(CLI::App& app, Run& run, TensorsOptions& o) {
  CLI::App* sub = add_command(
      app, run, o, compute<TensorsOptions>, "tensors",
      "Distributions of weights, gradients and activations, and relative changes per step, tensor by tensor");
  add_run(sub, o.run);
  add_option(sub, "--text", "TEXT", o.text, "Sentence whose activations are measured; empty: none");
  sub->add_flag("--json", o.json, "Print one JSON object on stdout, with every recorded step and histogram");
}

void add_neurons(CLI::App& app, Run& run, NeuronsOptions& o) {
  CLI::App* sub = add_command(
      app, run, o, compute<NeuronsOptions>, "neurons",
      "Hidden units of a feed-forward sublayer: what activates each, which tokens it promotes, the loss without it");
  add_run(sub, o.run);
  add_own_corpus(sub, o);
  sub->add_flag("--encoder", o.encoder, "A layer of the encoder, if the model also has a decoder");
  add_option(sub, "--layer", "N", o.layer, "Layer, from 1")->check(CLI::Range(1, 1000));
  add_option(sub, "--neuron", "N", o.neuron, "The neuron described in detail, from 0")->check(CLI::Range(0, 1 << 20));
  sub->add_flag("--over-training", o.over_training, "Also measure it at every step whose weights were saved");
  CLI::Option* dictionary = sub->add_flag(
      "--dictionary", o.dictionary, "Features of a sparse autoencoder of the layer's activations instead of neurons");
  const auto of_dictionary = [&](const char* name, const char* value, auto& variable, const char* help) {
    return add_option(sub, name, value, variable, help)->needs(dictionary);
  };
  of_dictionary("--of", "layer|hidden|head.N|cross.N", o.of,
                "The activations: the layer's output, its hidden units, or a head's output before W_O");
  of_dictionary("--width", "N", o.width, "Features, as a multiple of the activations")->check(CLI::Range(1, 16));
  of_dictionary("--active", "N", o.active, "Features per token (TopK); 0: all, with the L1 penalty")
      ->check(CLI::Range(0, 4096));
  of_dictionary("--l1", "X", o.l1, "L1 penalty with --active 0")->check(CLI::Range(0.0, 10.0));
  of_dictionary("--steps", "N", o.dictionary_steps, "Steps of its training")->check(CLI::Range(1, 10'000));
  CLI::Option* carriers =
      sub->add_flag("--carriers", o.carriers,
                    "Instead, the features that carry the difference between two sentences, and how many answers flip "
                    "without them, over all similar pairs of the corpus")
          ->needs(dictionary);
  add_option(sub, "--clean", "TEXT", o.clean, "The sentence, or a language model's prompt")->needs(carriers);
  add_option(sub, "--corrupted", "TEXT", o.corrupted, "The corrupted sentence: one word changed")->needs(carriers);
  add_option(sub, "--at", "WORD", o.at, "The word at which the features are ablated")->needs(carriers);
  CLI::Option* probe =
      add_option(sub, "--probe", "LABEL", o.probe,
                 "Instead, linear probes of a label of the tokens in every layer, with a control task (1909.03368)")
          ->check(CLI::IsMember(std::vector<std::string>(token_label_names.begin(), token_label_names.end())))
          ->excludes(dictionary);
  add_option(sub, "--word", "WORD", o.word, "With --probe sense: the word")->needs(probe);
  sub->add_flag("--json", o.json, "Print one JSON object on stdout, with all neurons of the layer");
}

void add_length(CLI::App& app, Run& run, LengthOptions& o) {
  CLI::App* sub = add_command(app, run, o, compute<LengthOptions>, "length",
                              "Loss and exact match by sentence length, including lengths beyond training");
  add_run(sub, o.run);
  add_option(sub, "--corpus", "FILE|NAME", o.corpus, "Corpus with the sentences; default: the run's");
  add_option(sub, "--pairs", "N", o.pairs, "Maximum number of pairs per length")->check(CLI::Range(1, 5000));
  sub->add_flag("--json", o.json, "Print one JSON object on stdout");
}

void add_embeddings(CLI::App& app, Run& run, EmbeddingsOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, compute<EmbeddingsOptions>, "embeddings",
                  "Embeddings of a run: neighbors, analogies and word senses; without options, an overview");
  add_run(sub, o.run);
  sub->add_option("--table", o.table, "Embedding matrix; tied matrices are the same")
      ->check(CLI::IsMember({"source", "target", "output"}));
  add_option(sub, "--analogy", "\"B - A + C\"", o.analogy, "Find the token that is to C as B is to A");
  add_option(sub, "--neighbours", "WORD", o.neighbours, "Nearest tokens of a word, now and at the first recorded step");
  add_option(sub, "--senses", "WORD", o.senses,
             "Senses of a word in the corpus, and how well each layer separates them");
  sub->add_flag("--json", o.json, "Print one JSON object on stdout");
}

void add_bench(CLI::App& app, Run& run, BenchOptions& o) {
  CLI::App* sub = add_command(app, run, o, compute<BenchOptions>, "bench",
                              "Benchmark training, forward passes, decoding and frame times on this machine");
  sub->add_flag("--json", o.json, "Print one JSON object on stdout");
  auto* training = sub->add_flag("--training", o.training_alone, "Benchmark only training");
  sub->add_option("--threads", o.threads, "Number of CPU threads for training; 0: all cores")
      ->check(CLI::Range(0, 256));
  auto* device =
      sub->add_option("--device", o.device, "Benchmark training on this device only; default: on all available devices")
          ->check(CLI::IsMember({"cpu", "cuda"}));
  auto* growth =
      sub->add_flag("--growth", o.growth, "Benchmark only how training steps and decoding scale with each size");
  growth->excludes(training)->excludes(device);
  auto* memory =
      sub->add_flag("--memory", o.memory, "Benchmark only the memory that training a large model needs, by setting");
  memory->excludes(training)->excludes(device)->excludes(growth);
  auto* window =
      sub->add_flag("--window", o.window_alone, "Benchmark only the window: frames, and keystrokes while training");
  window->excludes(training)->excludes(device)->excludes(growth)->excludes(memory);
  sub->add_option("--peer", o.peer, "Internal: run the process that training is compared with")
      ->check(CLI::Range(0, 9))
      ->group("");
  add_option(sub, "--run", "RUN", o.run, "Benchmark only how long this run or checkpoint takes to open and to run")
      ->excludes(training)
      ->excludes(device)
      ->excludes(growth)
      ->excludes(memory)
      ->excludes(window);
}

void add_export(CLI::App& app, Run& run, ExportOptions& o) {
  CLI::App* sub = add_command(app, run, o, compute<ExportOptions>, "export", "Export a run for other programs");
  add_run(sub, o.run);
  add_step(sub, o.step);
  sub->add_option("--format", o.format,
                  "hf: a folder for Hugging Face transformers (Marian, T5, GPT-2 or Llama); onnx: model.onnx; "
                  "torchscript: model.pt; tensorboard: curves, histograms, attention and embeddings")
      ->required()
      ->check(CLI::IsMember({"hf", "onnx", "torchscript", "tensorboard"}));
  add_option(sub, "--source", "TEXT", o.source,
             "tensorboard: sentence whose attention is drawn, if the run has no pinned sentence");
  add_average(sub, o.average);
  add_option(sub, "FOLDER", "", o.folder, "New or empty folder")->required();
}

void add_names(CLI::App& app, Run& run, NamesOptions& o, int (*command)(const NamesOptions&), const char* name,
               const char* help) {
  CLI::App* sub = add_command(app, run, o, command, name, help);
  sub->add_flag("--json", o.json, "Print one JSON array on stdout");
}

void add_completion(CLI::App& app, Run& run, std::string& shell) {
  CLI::App* sub = app.add_subcommand("completion", "Print the completion script for a shell");
  add_option(sub, "SHELL", "", shell, "Shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->callback([&app, &run, &shell] {
    run = [&app, &shell] {
      fmt::print("{}", completion_script(app, shell));
      return 0;
    };
  });
}

#ifdef ATTNSCOPE_GUI

// Parses "1600x1000" into the two numbers of the options.
void set_size(ScreenshotOptions& o, const std::string& text) {
  int used = 0;
  const bool read = std::sscanf(text.c_str(), "%5dx%5d%n", &o.width, &o.height, &used) == 2;
  if (!read || used != static_cast<int>(text.size()) || o.width < 320 || o.width > 8192 || o.height < 240 ||
      o.height > 8192) {
    throw CLI::ValidationError("--size", "'" + text + "' is not WIDTHxHEIGHT between 320x240 and 8192x8192");
  }
}

void add_screenshot(CLI::App& app, Run& run, ScreenshotOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, screenshot, "screenshot", "Draw the whole window to a PNG or SVG, without a display");
  add_option(sub, "--run", "RUN", o.run, "Folder of the run; default: the one that ships with the program");
  add_step(sub, o.step);
  sub->add_option("--workspace", o.workspace, "Workspace to show")->check(CLI::IsMember(workspace_names()));
  sub->add_option("--view", o.view, "Level or mode of a workspace; also selects that workspace")
      ->check(CLI::IsMember(view_names()));
  add_option(sub, "--reference", "TEXT", o.reference, "Reference translation of the sentence");
  CLI::Option* source =
      add_option(sub, "--source", "TEXT", o.source, "Sentence in the sentence bar; required, except with --lesson");
  add_option(sub, "--pin-step", "STEP", o.pin_step,
             "Show the recording nearest to this step; the sentence must be pinned in the run")
      ->check(at_least(0));
  sub->add_option_function<std::string>(
         "--size", [&o](const std::string& text) { set_size(o, text); }, "Size in pixels (default 1600x1000)")
      ->type_name("WxH");
  sub->add_option("--scale", o.scale, "Scale of text and controls")->check(within(0.5, 4));
  sub->add_option("--theme", o.theme, "Color theme")->check(CLI::IsMember({"dark", "light"}));
  const auto densities = density_names();
  sub->add_option("--density", o.density, "How much the window shows")
      ->check(CLI::IsMember(std::vector<std::string>(densities.begin(), densities.end())));
  sub->add_flag("--presentation", o.presentation, "Presentation mode (F11), for projectors");
  sub->add_option("--side", o.side, "For a saved comparison (--run accepts one): one of its runs, or A - B")
      ->check(CLI::IsMember(std::vector<std::string>(side_names.begin(), side_names.end())));
  CLI::Option* lesson = add_option(sub, "--lesson", "NAME", o.lesson, "Start this lesson, with its own sentence");
  add_option(sub, "--part", "N", o.part, "Part of the lesson: 1 question, 2 prediction, 3 try it, 4 check, 5 why")
      ->check(CLI::Range(1, 5))
      ->needs(lesson);
  sub->add_option("--language", o.language, "Language of window and lessons; default: the system's")
      ->check(CLI::IsMember(std::vector<std::string>(language_codes.begin(), language_codes.end())));
  sub->callback([&run, &o, source, lesson] {
    if (source->count() + lesson->count() == 0) throw CLI::RequiredError("--source or --lesson");
    run = [&o] { return screenshot(o); };
  });
  sub->add_flag("--svg", o.svg, "Write SVG, whatever the file name");
  add_option(sub, "--out", "FILE", o.out,
             "Output file: .png or .svg for a picture, .html for a handout with the lesson and the picture")
      ->required()
      ->check(picture_name);
}

void add_attach(CLI::App& app, Run& run, WindowOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, window, "attach", "Open the window on a run that is training elsewhere with --serve");
  add_option(
      sub, "ADDRESS", "HOST:PORT", o.server,
      "Address printed by train --serve; without HOST, this machine. If it requires a token, set ATTNSCOPE_TOKEN")
      ->required()
      ->check(address_form);
}

void add_lessons(CLI::App& app, Run& run, LessonsOptions& o) {
  CLI::App* sub = add_command(app, run, o, lessons, "lessons", "List the lessons, or check lessons that you write");
  add_list(sub, "--check", "FILE", o.check, "Lesson to check: prints its errors by line; may be repeated");
}

void add_experiments(CLI::App& app, Run& run, ExperimentsOptions& o) {
  add_command(app, run, o, experiments, "experiments", "List the experiments of the gallery");
}

int open_window(const WindowOptions& options) {
  return window(options);
}

const BenchWindow* bench_window() {
  static const BenchWindow parts{measure_thumbnails,       measure_captures,      open_attention_window,
                                 measure_embedding_frames, measure_neuron_frames, measure_window};
  return &parts;
}

#else

constexpr const char* no_window =
    "attnscope: this build has no window (ATTNSCOPE_GUI=OFF); attnscope --help lists the commands\n";

int open_window(const WindowOptions&) {
  std::fputs(no_window, stderr);
  return exit_usage;
}

const BenchWindow* bench_window() {
  return nullptr;
}

void add_screenshot(CLI::App& app, Run& run, ScreenshotOptions&) {
  CLI::App* sub = app.add_subcommand("screenshot", "(not in this build: it has no window to draw)")->allow_extras();
  sub->callback([&run] { run = [] { return open_window({}); }; });
}

void add_attach(CLI::App& app, Run& run, WindowOptions&) {
  CLI::App* sub = app.add_subcommand("attach", "(not in this build: it has no window)")->allow_extras();
  sub->callback([&run] { run = [] { return open_window({}); }; });
}

void add_experiments(CLI::App& app, Run& run, ExperimentsOptions&) {
  CLI::App* sub = app.add_subcommand("experiments", "(not in this build: it has no window)")->allow_extras();
  sub->callback([&run] { run = [] { return open_window({}); }; });
}

void add_lessons(CLI::App& app, Run& run, LessonsOptions&) {
  CLI::App* sub = app.add_subcommand("lessons", "(not in this build: it has no window)")->allow_extras();
  sub->callback([&run] { run = [] { return open_window({}); }; });
}

#endif

// The window's path is in the place of a command: a word that is neither is most likely a misspelled command.
void check_path(const CLI::App& app, const std::string& path) {
  if (path.empty()) return;
  if (!app.get_subcommands().empty()) throw CLI::ExtrasError({path});
  if (std::filesystem::exists(path)) return;
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  const std::string& near =
      *std::ranges::min_element(names, {}, [&](const std::string& name) { return edit_distance(name, path); });
  const bool meant = edit_distance(near, path) <= 2;
  throw CLI::ValidationError(
      fmt::format("{}: no such command, file or folder{}", path, meant ? fmt::format("; did you mean {}?", near) : ""),
      CLI::ExitCodes::ExtrasError);
}

// CLI11 reports unexpected arguments from the end, and not at all if a required option is missing, too.
std::string message_of(const CLI::App* app, const CLI::Error& error) {
  std::string what = error.what();
  const int code = error.get_exit_code();
  if (code == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
      code == static_cast<int>(CLI::ExitCodes::RequiredError)) {
    const std::vector<std::string> extras = app->remaining(true);
    if (!extras.empty()) what = fmt::format("unexpected: {}", fmt::join(extras, " "));
  }
  const auto chosen = app->get_subcommands();
  const std::string command = chosen.empty() ? "" : chosen.front()->get_name() + " ";
  return fmt::format("attnscope: {}\n(see attnscope {}--help)\n", what, command);
}

// The options of every command, with their defaults.
struct AllOptions {
  WindowOptions window, attach;
  TrainOptions train;
  RunsOptions runs;
  CacheOptions cache;
  CompareOptions compare;
  TranslateOptions translate;
  FillOptions fill;
  EvaluateOptions evaluate;
  AttendOptions attend;
  PageOptions page;
  ReportOptions report;
  ExplainOptions explain;
  HeadsOptions heads;
  TensorsOptions tensors;
  NeuronsOptions neurons;
  EmbeddingsOptions embeddings;
  CostOptions cost;
  LengthOptions length;
  ScreenshotOptions screenshot;
  BenchOptions bench;
  LessonsOptions lessons;
  SweepOptions sweep;
  ExperimentsOptions experiments;
  ExportOptions export_run;
  NamesOptions names;
  std::string completion_shell;
  bool attend_json = false;
};

void add_commands(CLI::App& app, Run& run, AllOptions& o) {
  add_train(app, run, o.train);
  add_sweep(app, run, o.sweep);
  add_runs(app, run, o.runs);
  add_cache(app, run, o.cache);
  add_compare(app, run, o.compare);
  add_translate(app, run, o.translate, "translate", "Translate the lines of stdin to stdout");
  add_translate(app, run, o.translate, "generate",
                "Continue the lines of stdin with a language model, and print them on stdout");
  add_fill(app, run, o.fill);
  add_evaluate(app, run, o.evaluate);
  add_attend(app, run, o.attend, o.attend_json);
  add_page(app, run, o.page);
  add_report(app, run, o.report);
  add_explain(app, run, o.explain);
  add_heads(app, run, o.heads);
  add_tensors(app, run, o.tensors);
  add_neurons(app, run, o.neurons);
  add_embeddings(app, run, o.embeddings);
  add_cost(app, run, o.cost);
  add_length(app, run, o.length);
  add_screenshot(app, run, o.screenshot);
  o.bench.window = bench_window();
  add_bench(app, run, o.bench);
  add_attach(app, run, o.attach);
  add_lessons(app, run, o.lessons);
  add_experiments(app, run, o.experiments);
  add_export(app, run, o.export_run);
  add_names(app, run, o.names, fields, "fields", "List the configuration fields for --set");
  add_names(app, run, o.names, presets, "presets", "List the named configurations for --preset");
  add_names(app, run, o.names, corpora, "corpora", "List the built-in corpora for --corpus");
  add_completion(app, run, o.completion_shell);
}

int run_program(int argc, char** argv) {
  CLI::App app(
      "An oscilloscope for attention: train a small Transformer and watch it work.\nWithout a command, attnscope opens "
      "its window.",
      "attnscope");
  app.set_version_flag("--version", "attnscope " ATTNSCOPE_VERSION);
  app.require_subcommand(0, 1);
  app.option_defaults()->always_capture_default();

  AllOptions options;
  Run run = [&] { return open_window(options.window); };
  app.add_option("path,--run", options.window.path,
                 "File to open in the window: a run's folder, a capture (NAME.safetensors), a saved view "
                 "(NAME.attnscope), or a text to train on")
      ->type_name("RUN|FILE");
  app.failure_message(message_of);
  add_commands(app, run, options);
  try {
    app.parse(argc, argv);
    check_path(app, options.window.path);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  return run();
}

// Flushes stdout and reports failures: a full disk may only show at the last write.
int finish_output(int status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return status;
  std::fprintf(stderr, "attnscope: the output could not be written: %s\n", std::strerror(errno));
  return status == 0 ? 1 : status;
}

// If stdin, stdout or stderr was closed, the next opened file would get its number, and messages would be written into
// it.
void occupy_standard_descriptors() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  attnscope::occupy_standard_descriptors();
  std::ios::sync_with_stdio(false);  // std::cin has a buffer of its own
  std::signal(SIGXFSZ, SIG_IGN);     // exceeding the file size limit becomes a reported write error
  try {
    return attnscope::finish_output(attnscope::run_program(argc, argv));
  } catch (const attnscope::ConfigError& error) {
    std::fprintf(stderr, "attnscope: %s\n", error.what());
    return attnscope::exit_usage;
  } catch (const std::bad_alloc&) {
    std::fputs("attnscope: out of memory\n", stderr);
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "attnscope: %s: %s\n", error.path1().c_str(), error.code().message().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attnscope: %s\n", error.what());
  }
  return 1;
}
