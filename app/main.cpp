// The command line: every command and option is declared here, and nowhere else.
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

#include "commands/commands.h"
#include "commands/say.h"
#include "completion.h"
#ifdef ATTNSCOPE_GUI
#include "shell/comparing.h"
#include "shell/layout.h"
#include "workspaces/workspaces.h"
#endif
#include "plain/config.h"
#include "plain/edit_distance.h"
#include "plain/pairs.h"
#include "plain/presets.h"
#include "remote/address.h"

namespace attnscope {
namespace {

constexpr int exit_usage = 2;

// The command the line asked for, ready to be run; set by the callback of its subcommand.
using Run = std::function<int()>;

// As CLI::Range, which lets pass what is not a number.
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

// As CLI::PositiveNumber and CLI::NonNegativeNumber, whose message has the largest double in all its digits.
CLI::Validator at_least(std::int64_t least) {
  return CLI::Validator(
      [=](const std::string& text) {
        std::int64_t value = 0;
        const bool read = CLI::detail::lexical_cast(text, value);
        return read && value >= least ? "" : fmt::format("{} is not a whole number from {} on", text, least);
      },
      fmt::format("from {}", least), "at least");
}

// Where a training is watched.
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

// What pictures are called.
const CLI::Validator picture_name(
    [](std::string& name) -> std::string {
      if (name.ends_with(".png") || name.ends_with(".svg") || name.ends_with(".html")) return "";
      return fmt::format("{}: pictures are .png or .svg, handouts .html", name);
    },
    "", "picture");

template <typename Options>
CLI::App* add_command(CLI::App& app, Run& run, Options& options, int (*command)(const Options&),
                      const std::string& name, const std::string& description) {
  CLI::App* sub = app.add_subcommand(name, description);
  sub->callback([&run, &options, command] { run = [&options, command] { return command(options); }; });
  sub->add_flag("-q,--quiet", quiet, "Say on stderr only what went wrong");
  return sub;
}

// An option of the command, its value named in the help.
template <typename Value>
CLI::Option* add_option(CLI::App* sub, const char* name, const char* form, Value& value, const std::string& help) {
  return sub->add_option(name, value, help)->type_name(form);
}

// May be given again.
CLI::Option* add_list(CLI::App* sub, const char* name, const char* form, std::vector<std::string>& values,
                      const std::string& help) {
  return add_option(sub, name, form, values, help)->allow_extra_args(false)->default_str("");
}

CLI::Option* add_run(CLI::App* sub, std::string& run) {
  return add_option(sub, "--run", "RUN", run, "A run's folder")->required();
}

CLI::Option* add_target(CLI::App* sub, std::string& target) {
  const char* help = "The target side, when --corpus is one of two parallel files";
  return add_option(sub, "--target", "FILE", target, help)->needs("--corpus");
}

void add_train(CLI::App& app, Run& run, TrainOptions& o) {
  CLI::App* sub = add_command(app, run, o, train, "train", "Train a model and keep the run in a folder");
  add_option(sub, "--corpus", "FILE|NAME", o.corpus,
             "A built-in corpus by name, a TSV file (source, tab, target), or the source side; for a language model "
             "any text");
  add_target(sub, o.target);
  add_option(sub, "--out", "RUN", o.out, "The run's folder")->required();
  CLI::Option* config = add_option(sub, "--config", "FILE", o.config_file, "A config.json to start from");
  add_option(sub, "--preset", "NAME", o.preset, "A named configuration to start from: " + preset_names())
      ->excludes(config);
  add_option(sub, "--from", "RUN", o.from,
             "A run, or another program's checkpoint, to train on: its weights, tokenizer and configuration; it stays "
             "as it is")
      ->excludes(config)
      ->excludes(sub->get_option("--preset"));
  add_list(sub, "--set", "KEY=VALUE", o.set,
           "One field of the configuration, such as model.d_model=64; may be given again");
  std::vector<std::string> pairs;
  for (const ClassicPair& pair : classic_pairs()) pairs.emplace_back(pair.name);
  sub->add_option("--pair", o.pair, "Two runs of a classic comparison, in lockstep as with --compare")
      ->check(CLI::IsMember(pairs))
      ->excludes(config)
      ->excludes(sub->get_option("--from"));
  add_list(sub, "--compare", "KEY=VALUE", o.compare,
           "Train a second run in lockstep, like the first but for this field; may be given again. --out then holds "
           "both, a/ and b/, and comparison.json");
  add_list(sub, "--pin", "TEXT", o.pin,
           "A sentence to look at every training.history_interval updates, kept with the run; may be given again");
  sub->add_flag("--show-pinned", o.show_pinned,
                "At every validation, say what the model writes for the pinned sentences");
  sub->add_option("--steps", o.steps, "Optimizer updates")->check(at_least(1));
  sub->add_option("--seed", o.seed, "Seed of weights, batch order and dropout")->check(at_least(0));
  sub->add_option("--device", o.device, "Where to compute")->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  sub->add_option("--threads", o.threads, "CPU threads, kept with the run; 0: as the configuration says")
      ->check(CLI::Range(0, 256));
  sub->add_option("--ranks", o.ranks,
                  "Train in so many processes here, each with its share of every batch and, unless --threads says, of "
                  "the cores; RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the environment make it one of those "
                  "on several machines")
      ->check(CLI::Range(1, 256));
  sub->add_option("--minutes", o.minutes, "Stop after this long; 0: no limit")->check(within(0, 1e6));
  sub->add_flag("--resume", o.resume, "Go on from the run that is in --out");
  sub->add_flag("--no-optimizer", o.no_optimizer, "Leave the optimizer's state out of the finished run");
  sub->add_flag("--json", o.json, "One JSON object an update on stdout");
  CLI::Option* serve =
      add_option(sub, "--serve", "[HOST:]PORT", o.serve,
                 "Let windows watch it with attnscope attach; without HOST those of this machine. PORT 0: "
                 "a free one, which is said")
          ->check(address_form)
          ->excludes(sub->get_option("--show-pinned"));
  sub->add_flag("--allow-control", o.allow_control,
                "Who watches may train, pause, step, pin and change the live fields")
      ->needs(serve);
}

void add_runs(CLI::App& app, Run& run, RunsOptions& o) {
  CLI::App* sub = add_command(app, run, o, runs, "runs", "List the runs in a folder: what they differ in, and losses");
  add_option(sub, "FOLDER", "", o.folder, "Where they are, or folders with them")->required();
  sub->add_flag("--json", o.json, "As a JSON list");
}

void add_compare(CLI::App& app, Run& run, CompareOptions& o) {
  CLI::App* sub = add_command(app, run, o, compare, "compare",
                              "Two runs side by side: configuration, losses, scores, and a sentence in both");
  CLI::Option* a = add_option(sub, "--a", "RUN", o.a, "A run's folder");
  CLI::Option* b = add_option(sub, "--b", "RUN", o.b, "Another's")->needs(a);
  a->needs(b);
  CLI::Option* both = add_option(sub, "--comparison", "FOLDER", o.comparison, "Or a saved comparison")->excludes(a);
  sub->callback([&run, &o, a, both] {
    if (a->count() + both->count() == 0) throw CLI::RequiredError("--a and --b, or --comparison");
    run = [&o] { return compare(o); };
  });
  add_option(sub, "--corpus", "FILE|NAME", o.corpus, "What both are scored on; left out: the test part of their own");
  add_option(sub, "--source", "TEXT", o.source, "The sentence that is looked at");
  add_option(sub, "--limit", "N", o.limit, "Pairs at most, spread evenly")->check(CLI::PositiveNumber);
  sub->add_flag("--json", o.json, "As one JSON object");
}

void add_sampling(CLI::App* sub, CLI::Option* beam, TranslateOptions& o) {
  const auto add = [&](const char* name, auto& value, const char* help) {
    return sub->add_option(name, value, help)->each([&o](const std::string&) { o.sample = true; })->excludes(beam);
  };
  sub->add_flag("--sample", o.sample, "Draw every piece instead of taking the best; the options below imply it")
      ->excludes(beam);
  add("--temperature", o.sampling.temperature, "Logits are divided by it; 0: always the best piece");
  add("--top-k", o.sampling.top_k, "Draw from so many most probable pieces; 0: all");
  add("--top-p", o.sampling.top_p, "Draw from the fewest pieces that are so probable together; 1: all");
  add("--seed", o.sampling.seed, "The same seed and lines give the same text");
  add("--samples", o.samples, "So many of each line, in its JSON object")->check(CLI::Range(1, 1000));
}

void add_average(CLI::App* sub, std::int64_t& average) {
  add_option(sub, "--average", "K", average,
             "Use the mean of the last K weights that training.kept_checkpoints kept; 1: the last")
      ->check(CLI::Range(1, 100));
}

void add_translate(CLI::App& app, Run& run, TranslateOptions& o) {
  CLI::App* sub = add_command(app, run, o, translate, "translate",
                              "Translate the lines of stdin to stdout; a language model continues each (generate)");
  sub->alias("generate");
  add_run(sub, o.run);
  CLI::Option* beam = sub->add_option("--beam", o.beam, "Beam width; 1: greedy")->check(CLI::Range(1, 64));
  sub->add_option("--length-penalty", o.length_penalty, "Exponent of the length normalisation")->check(within(0, 5));
  sub->add_option("--limit", o.limit, "Pieces at most; 0: source + 50, a language model's context")->check(at_least(0));
  add_sampling(sub, beam, o);
  CLI::Option* json = sub->add_flag("--json", o.json, "One JSON object a line, with scores, pieces and all hypotheses");
  sub->get_option("--samples")->needs(json);
  sub->add_flag("--tree", o.tree, "In it every hypothesis that the beam considered, and where it was pruned")
      ->needs(json);
  sub->add_flag("--attention", o.attention, "In it every layer's and head's cross-attention (language model: self)")
      ->needs(json);
  add_average(sub, o.average);
}

void add_evaluate(CLI::App& app, Run& run, EvaluateOptions& o) {
  CLI::App* sub = add_command(app, run, o, evaluate, "evaluate",
                              "Loss, perplexity, BLEU and exact match on pairs; bits per character of text");
  add_run(sub, o.run);
  add_option(sub, "--corpus", "FILE|NAME", o.corpus,
             "A built-in corpus or a file, all of it unless the run was trained on it; left out: the run's own");
  add_target(sub, o.target);
  sub->add_option("--split", o.split, "Which part; left out: test of the run's own corpus, all of another")
      ->check(CLI::IsMember({"test", "validation", "all"}));
  sub->add_option("--limit", o.limit, "Pairs at most, spread evenly; 0: all")->check(at_least(0));
  sub->add_option("--beam", o.beam, "Beam width; 1: greedy")->check(CLI::Range(1, 64));
  add_average(sub, o.average);
  sub->add_flag("--json", o.json, "One JSON object on stdout");
}

void add_attend(CLI::App& app, Run& run, AttendOptions& o, bool& json) {
  CLI::App* sub =
      add_command(app, run, o, attend, "attend", "Every layer's and head's weights for a sentence, as JSON or CSV");
  add_run(sub, o.run);
  add_option(sub, "--source", "TEXT", o.source, "The sentence, or a language model's prompt")->required();
  add_option(sub, "--target", "TEXT", o.target, "What to write instead of the model's own output");
  sub->add_option("--format", o.format, "Everything as JSON, or one map as CSV")->check(CLI::IsMember({"json", "csv"}));
  sub->add_flag("--json", json, "As --format json")->excludes("--format");
  sub->add_option("--part", o.part, "Which map, for CSV")->check(CLI::IsMember({"encoder", "decoder", "cross"}));
  sub->add_option("--layer", o.layer, "Its layer, from 1")->check(at_least(1));
  sub->add_option("--head", o.head, "Its head, from 1")->check(at_least(1));
  add_list(sub, "--off", "PART.LAYER.HEAD", o.interventions.heads_off,
           "Switch a head off; may be given again, as the others below");
  add_list(sub, "--off-layer", "encoder.LAYER|decoder.LAYER", o.interventions.layers_off,
           "Let a layer pass its input on unchanged");
  add_list(sub, "--force", "PART.LAYER.HEAD:QUERY->KEY", o.interventions.forced,
           "Let a query look only at one key, both counted from 0 as in the JSON");
  add_list(sub, "--hide", "PART.LAYER.HEAD:QUERY->KEY", o.interventions.hidden, "Hide a key from a query");
  sub->add_option("--divide", o.interventions.divided,
                  "Divide scores by \u221Ad_k (true), or do not (false), however the model was trained");
  add_list(sub, "--replace", "source.POSITION=TEXT|target.POSITION=TEXT", o.interventions.replaced,
           "Embed another piece at a position, counted from 0");
}

void add_explain(CLI::App& app, Run& run, ExplainOptions& o) {
  CLI::App* sub = add_command(app, run, o, explain, "explain",
                              "Which heads, at which words, carry the difference between two sentences: the circuit");
  add_run(sub, o.run);
  add_option(sub, "--clean", "TEXT", o.clean, "The sentence, or a language model's prompt");
  add_option(sub, "--corrupted", "TEXT", o.corrupted, "Its twin, of as many pieces, that differs in a word");
  add_option(sub, "--between", "WORD,WORD", o.between,
             "The two outputs whose odds are asked for; left out: those at which the two translations part");
  CLI::Option* corpus =
      sub->add_flag("--corpus", o.corpus, "Counted over all pairs of the run's corpus that are like this one");
  add_option(sub, "--pairs", "FILE", o.pairs, "Counted over these pairs: clean, tab, corrupted a line")
      ->excludes(corpus);
  add_option(sub, "--at", "WORD,…", o.at, "The figures are of these words; left out: of the circuit's");
  add_option(sub, "--exchange", "WORD,WORD", o.exchange,
             "The two words whose weights the figures exchange; left out: those that turn most");
  add_option(sub, "--score", "FROM,TO[,OTHER]", o.score,
             "Why the circuit's heads look there: the score of FROM's query with TO's key, less that with OTHER's, as "
             "the sum of what each part of the two words brings");
  sub->add_flag("--formation", o.formation,
                "What each part of it moved, of this pair, at the steps whose weights the run keeps");
  CLI::Option* attribution = sub->add_flag("--attribution", o.attribution,
                                           "Instead, of the sentence alone: what one piece written comes from, by head "
                                           "and layer and by the pieces read");
  add_option(sub, "--token", "N", o.token,
             "Which of the pieces written, counted from 0; left out: the last that is more than a sign")
      ->needs(attribution)
      ->check(CLI::NonNegativeNumber);
  sub->add_flag("--json", o.json, "One JSON object on stdout, with every map and figure");
}

void add_cost(CLI::App& app, Run& run, CostOptions& o) {
  CLI::App* sub = add_command(app, run, o, cost, "cost",
                              "Self-attention, recurrence and convolution, measured by length (paper table 1)");
  add_option(sub, "--run", "RUN", o.run, "Folder of the run whose width, heads and cell are measured");
  add_list(sub, "--set", "KEY=VALUE", o.set, "Another width, cell, …: model.d_model=512");
  add_option(sub, "--longest", "N", o.longest, "Pieces of the longest sentence, doubled from 16 on")
      ->check(CLI::Range(16, 65536));
  add_option(sub, "--seconds", "S", o.seconds, "For all together, at most")->check(within(1, 3600));
  sub->add_flag("--json", o.json, "One JSON object on stdout");
}

void add_heads(CLI::App& app, Run& run, HeadsOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, heads, "heads", "What a run loses without each head, and without more and more of them");
  add_run(sub, o.run);
  sub->add_flag("--recorded", o.recorded, "At every step whose weights the run keeps, over a few batches of its pairs");
  sub->add_flag("--json", o.json, "One JSON object on stdout");
}

void add_tensors(CLI::App& app, Run& run, TensorsOptions& o) {
  CLI::App* sub = add_command(app, run, o, tensors, "tensors",
                              "How weights, gradients, updates and activations are spread, tensor by tensor");
  add_run(sub, o.run);
  add_option(sub, "--text", "TEXT", o.text, "Whose activations; empty: none");
  sub->add_flag("--json", o.json, "One JSON object on stdout, with every recorded step and histogram");
}

void add_length(CLI::App& app, Run& run, LengthOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, length, "length", "How well a run does by the length of sentences, beyond training too");
  add_run(sub, o.run);
  add_option(sub, "--pairs", "N", o.pairs, "Of each length, at most")->check(CLI::Range(1, 5000));
  sub->add_flag("--json", o.json, "One JSON object on stdout");
}

void add_embeddings(CLI::App& app, Run& run, EmbeddingsOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, embeddings, "embeddings",
                  "What a run's embeddings hold: neighbours, analogies, senses; without them all an overview");
  add_run(sub, o.run);
  sub->add_option("--table", o.table, "Which matrix; those that are tied are one")
      ->check(CLI::IsMember({"source", "target", "output"}));
  add_option(sub, "--analogy", "\"B - A + C\"", o.analogy, "What is to C as B is to A");
  add_option(sub, "--neighbours", "WORD", o.neighbours, "The nearest pieces, and at the first recorded step");
  add_option(sub, "--senses", "WORD", o.senses, "Its senses in the corpus, and how far each layer tells them apart");
  sub->add_flag("--json", o.json, "One JSON object on stdout");
}

void add_bench(CLI::App& app, Run& run, BenchOptions& o) {
  CLI::App* sub = add_command(app, run, o, bench, "bench", "Measure training, probing, decoding and frames here");
  sub->add_flag("--json", o.json, "One JSON object on stdout");
  auto* training = sub->add_flag("--training", o.training_alone, "Training alone");
  sub->add_option("--threads", o.threads, "CPU threads of the training that is measured; 0: all cores")
      ->check(CLI::Range(0, 256));
  auto* device = sub->add_option("--device", o.device, "Training on this device alone; else on all there are")
                     ->check(CLI::IsMember({"cpu", "cuda"}));
  auto* growth = sub->add_flag("--growth", o.growth, "How updates and decoding grow with each size, alone");
  growth->excludes(training)->excludes(device);
  auto* memory = sub->add_flag("--memory", o.memory, "What a large model's training holds, by setting, alone");
  memory->excludes(training)->excludes(device)->excludes(growth);
  sub->add_option("--peer", o.peer, "What training is measured against, for this command itself")
      ->check(CLI::Range(0, 9))
      ->group("");
  add_option(sub, "--run", "RUN", o.run, "How long this run or checkpoint takes to be opened and looked at, alone")
      ->excludes(training)
      ->excludes(device)
      ->excludes(growth)
      ->excludes(memory);
}

void add_export(CLI::App& app, Run& run, ExportOptions& o) {
  CLI::App* sub = add_command(app, run, o, export_run, "export", "Write a run as what other programs read");
  add_run(sub, o.run);
  sub->add_option("--format", o.format,
                  "hf: a folder as HuggingFace's transformers has Marian, T5, GPT-2 and Llama; onnx: model.onnx; "
                  "torchscript: model.pt; "
                  "tensorboard: curves, histograms, attention and embeddings")
      ->required()
      ->check(CLI::IsMember({"hf", "onnx", "torchscript", "tensorboard"}));
  add_option(sub, "--source", "TEXT", o.source, "tensorboard: whose attention is drawn, if the run pins no sentence");
  add_average(sub, o.average);
  add_option(sub, "FOLDER", "", o.folder, "A new folder, or an empty one")->required();
}

void add_names(CLI::App& app, Run& run, NamesOptions& o, int (*command)(const NamesOptions&), const char* name,
               const char* help) {
  CLI::App* sub = add_command(app, run, o, command, name, help);
  sub->add_flag("--json", o.json, "One JSON array on stdout");
}

void add_completion(CLI::App& app, Run& run, std::string& shell) {
  CLI::App* sub = app.add_subcommand("completion", "Print the script by which a shell completes all this");
  add_option(sub, "SHELL", "", shell, "Whose")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->callback([&app, &run, &shell] {
    run = [&app, &shell] {
      fmt::print("{}", completion_script(app, shell));
      return 0;
    };
  });
}

#ifdef ATTNSCOPE_GUI

// "1600x1000" into the two numbers of the options.
void set_size(ScreenshotOptions& o, const std::string& text) {
  int used = 0;
  const bool read = std::sscanf(text.c_str(), "%5dx%5d%n", &o.width, &o.height, &used) == 2;
  if (!read || used != static_cast<int>(text.size()) || o.width < 320 || o.width > 8192 || o.height < 240 ||
      o.height > 8192) {
    throw CLI::ValidationError("--size", "'" + text + "' is not WIDTHxHEIGHT within 320x240 and 8192x8192");
  }
}

void add_screenshot(CLI::App& app, Run& run, ScreenshotOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, screenshot, "screenshot", "Draw the whole window into a PNG or SVG, without a display");
  add_option(sub, "--run", "RUN", o.run, "A run's folder; left out: the one that came with the program");
  sub->add_option("--workspace", o.workspace, "What it shows")->check(CLI::IsMember(workspace_names()));
  sub->add_option("--view", o.view, "Level or mode of a workspace, and that workspace")
      ->check(CLI::IsMember(view_names()));
  add_option(sub, "--reference", "TEXT", o.reference, "What the sentence should become");
  CLI::Option* source = add_option(sub, "--source", "TEXT", o.source, "The sentence in the sentence bar");
  add_option(sub, "--pin-step", "STEP", o.pin_step,
             "Show what was recorded nearest to that step; the run must have the sentence pinned")
      ->check(at_least(0));
  sub->add_option_function<std::string>(
         "--size", [&o](const std::string& text) { set_size(o, text); }, "In pixels (default 1600x1000)")
      ->type_name("WxH");
  sub->add_option("--scale", o.scale, "Size of text and controls")->check(within(0.5, 4));
  sub->add_option("--theme", o.theme, "Colours")->check(CLI::IsMember({"dark", "light"}));
  const auto densities = density_names();
  sub->add_option("--density", o.density, "How much stands in the window")
      ->check(CLI::IsMember(std::vector<std::string>(densities.begin(), densities.end())));
  sub->add_flag("--presentation", o.presentation, "As F11 shows it: for projectors");
  sub->add_option("--side", o.side, "Of a saved comparison, which --run may also be: one of its runs, or A - B")
      ->check(CLI::IsMember(std::vector<std::string>(side_names.begin(), side_names.end())));
  CLI::Option* lesson = add_option(sub, "--lesson", "NAME", o.lesson, "Begin that lesson, which brings its sentence");
  add_option(sub, "--part", "N", o.part, "Of the lesson: 1 question, 2 prediction, 3 touch, 4 check, 5 why")
      ->check(CLI::Range(1, 5))
      ->needs(lesson);
  sub->add_option("--language", o.language, "Of window and lessons; left out: the system's")
      ->check(CLI::IsMember({"en", "fr"}));
  sub->callback([&run, &o, source, lesson] {
    if (source->count() + lesson->count() == 0) throw CLI::RequiredError("--source");
    run = [&o] { return screenshot(o); };
  });
  sub->add_flag("--svg", o.svg, "As SVG, whatever the file is called");
  add_option(sub, "--out", "FILE", o.out,
             "The picture: a PNG, or an SVG if it is called so; as NAME.html a handout, the lesson and the picture")
      ->required()
      ->check(picture_name);
}

void add_attach(CLI::App& app, Run& run, WindowOptions& o) {
  CLI::App* sub =
      add_command(app, run, o, window, "attach", "Open the window on a run that trains elsewhere with --serve");
  add_option(
      sub, "ADDRESS", "HOST:PORT", o.station,
      "Where: as train --serve says it; without HOST this machine. The token asked for there is in ATTNSCOPE_TOKEN")
      ->required()
      ->check(address_form);
}

void add_lessons(CLI::App& app, Run& run, LessonsOptions& o) {
  CLI::App* sub = add_command(app, run, o, lessons, "lessons", "List the lessons, or check one that you write");
  add_list(sub, "--check", "FILE", o.check, "What is wrong with it, by line; may be given again");
}

int open_window(const WindowOptions& options) {
  return window(options);
}

#else

constexpr const char* no_window =
    "attnscope: this program was built without its window (ATTNSCOPE_GUI=OFF); the commands are in attnscope --help\n";

int open_window(const WindowOptions&) {
  std::fputs(no_window, stderr);
  return exit_usage;
}

void add_screenshot(CLI::App& app, Run& run, ScreenshotOptions&) {
  CLI::App* sub = app.add_subcommand("screenshot", "(not in this build: it has no window to draw)")->allow_extras();
  sub->callback([&run] { run = [] { return open_window({}); }; });
}

void add_attach(CLI::App& app, Run& run, WindowOptions&) {
  CLI::App* sub = app.add_subcommand("attach", "(not in this build: it has no window)")->allow_extras();
  sub->callback([&run] { run = [] { return open_window({}); }; });
}

void add_lessons(CLI::App& app, Run& run, LessonsOptions&) {
  CLI::App* sub = app.add_subcommand("lessons", "(not in this build: it has no window)")->allow_extras();
  sub->callback([&run] { run = [] { return open_window({}); }; });
}

#endif

// What the window is to open stands where a command could: a word that is neither is most likely a command misspelt.
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

// CLI11 counts what was not expected from the end.
std::string message_of(const CLI::App* app, const CLI::Error& error) {
  std::string what = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    const std::vector<std::string> extras = app->remaining(true);
    if (!extras.empty()) what = fmt::format("not expected: {}", fmt::join(extras, " "));
  }
  const auto chosen = app->get_subcommands();
  const std::string command = chosen.empty() ? "" : chosen.front()->get_name() + " ";
  return fmt::format("attnscope: {}\n(attnscope {}--help has all that there is)\n", what, command);
}

int run_program(int argc, char** argv) {
  CLI::App app(
      "An oscilloscope for attention: train a small Transformer and watch it think.\n"
      "Without a command it opens the window.",
      "attnscope");
  app.set_version_flag("--version", "attnscope " ATTNSCOPE_VERSION);
  app.require_subcommand(0, 1);
  app.option_defaults()->always_capture_default();

  WindowOptions window_options;
  Run run = [&] { return open_window(window_options); };
  app.add_option("path,--run", window_options.path,
                 "What the window opens: a run's folder, a saved view (NAME.attnscope), or a text to train on")
      ->type_name("RUN|FILE");
  app.failure_message(message_of);
  TrainOptions train_options;
  RunsOptions runs_options;
  CompareOptions compare_options;
  TranslateOptions translate_options;
  EvaluateOptions evaluate_options;
  AttendOptions attend_options;
  ExplainOptions explain_options;
  HeadsOptions heads_options;
  TensorsOptions tensors_options;
  EmbeddingsOptions embeddings_options;
  CostOptions cost_options;
  LengthOptions length_options;
  ScreenshotOptions screenshot_options;
  WindowOptions attach_options;
  BenchOptions bench_options;
  LessonsOptions lessons_options;
  ExportOptions export_options;
  NamesOptions names_options;
  std::string completion_shell;
  bool attend_json = false;
  add_train(app, run, train_options);
  add_runs(app, run, runs_options);
  add_compare(app, run, compare_options);
  add_translate(app, run, translate_options);
  add_evaluate(app, run, evaluate_options);
  add_attend(app, run, attend_options, attend_json);
  add_explain(app, run, explain_options);
  add_heads(app, run, heads_options);
  add_tensors(app, run, tensors_options);
  add_embeddings(app, run, embeddings_options);
  add_cost(app, run, cost_options);
  add_length(app, run, length_options);
  add_screenshot(app, run, screenshot_options);
  add_bench(app, run, bench_options);
  add_attach(app, run, attach_options);
  add_lessons(app, run, lessons_options);
  add_export(app, run, export_options);
  add_names(app, run, names_options, fields, "fields", "The configuration's fields, as --set takes them");
  add_names(app, run, names_options, presets, "presets", "The named configurations, as --preset takes them");
  add_names(app, run, names_options, corpora, "corpora", "The built-in corpora, as --corpus takes them");
  add_completion(app, run, completion_shell);

  try {
    app.parse(argc, argv);
    check_path(app, window_options.path);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  return run();
}

// What was written is there, or it is said that it is not: a full disk shows when the last of it is written.
int finish_output(int status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return status;
  std::fprintf(stderr, "attnscope: the output could not be written: %s\n", std::strerror(errno));
  return status == 0 ? 1 : status;
}

// Where stdin, stdout or stderr was closed, the next file opened would take its number, and what is said would be
// written into it.
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
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, and said as one
  try {
    return attnscope::finish_output(attnscope::run_program(argc, argv));
  } catch (const attnscope::ConfigError& error) {
    std::fprintf(stderr, "attnscope: %s\n", error.what());
    return attnscope::exit_usage;
  } catch (const std::bad_alloc&) {
    std::fputs("attnscope: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attnscope: %s\n", error.what());
  }
  return 1;
}
