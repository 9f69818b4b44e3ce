// The commands of the program, with their options (validated on entry) and source files. Each returns its exit status:
// 0 success, 1 runtime error, 130 stopped by Ctrl-C. Data goes to stdout, messages and progress to stderr.
//
// Commands that compute with a model are in app/compute, which the program calls through engine_module.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/interventions_text.h"
#include "commands/measurement.h"
#include "messages/sampling_options.h"

namespace attnscope {

struct CaptureFacts;
struct PinnedSentence;

struct TrainOptions {
  std::string corpus;                // overrides the configuration's; a built-in name or a file
  std::string target;                // the target side, if `corpus` is one of two parallel files
  std::string out;                   // the run's folder
  std::string config_file;           // empty: the defaults, or the preset
  std::string pair;                  // a predefined pair to train in lockstep; empty: none
  std::string preset;                // a named configuration to start from; empty: none
  std::string from;                  // a run or checkpoint whose weights are the initialization; empty: random weights
  std::vector<std::string> set;      // "key=value"
  std::vector<std::string> compare;  // "key=value" overrides of a second run for comparison; empty: only one run
  std::vector<std::string> pin;      // sentences to record while training, in addition to those of a resumed run
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> seed;
  std::optional<std::string> device;
  std::int64_t threads = 0;  // saved in the run's configuration; 0: as configured
  double minutes = 0;        // stop after this time; 0: no limit
  std::int64_t ranks = 1;    // processes on this machine that train the run together
  bool resume = false;
  bool no_optimizer = false;   // omit the optimizer's state from the finished run, for a smaller folder
  bool json = false;           // one JSON object per metric point on stdout
  bool show_pinned = false;    // print the output for the pinned sentences at every validation
  std::string serve = {};      // "[HOST:]PORT" for remote viewers; empty: no server
  bool allow_control = false;  // viewers may train, pause, step, pin and change live fields
};
int train(const TrainOptions& options);

struct SweepOptions {
  TrainOptions train;       // a value of `set` may be a list: KEY=A,B,C
  std::string seeds = "1";  // "1,2,3"
  std::int64_t jobs = 1;    // processes that train runs at the same time
  bool json = false, csv = false;
};
int sweep(const SweepOptions& options);

struct RunsOptions {
  std::string folder;
  bool json = false, csv = false;
};
int runs(const RunsOptions& options);  // on stdout

struct CacheOptions {
  bool prune = false;     // remove the files instead of listing them
  std::int64_t days = 0;  // only those that were not used for this long
};
int cache(const CacheOptions& options);  // on stdout

struct CompareOptions {
  std::string a = {};           // a run's folder
  std::string b = {};           // another run's folder
  std::string comparison = {};  // or the folder of a comparison
  std::string corpus = {};      // score both on it; empty: each on the test part of its own
  std::string source = "The animal didn't cross the street because it was too tired.";
  std::int64_t limit = 200;  // maximum number of pairs, evenly spaced
  bool json = false;
};
int compare(const CompareOptions& options);  // on stdout

struct TranslateOptions {  // lines on stdin → lines on stdout; a language model continues them as prompts
  std::string run;
  std::int64_t beam = 1;
  double length_penalty = 0.6;  // α of GNMT
  std::int64_t limit = 0;       // maximum tokens, including </s>; 0: the model's own limit
  bool sample = false;          // instead of searching
  std::int64_t samples = 1;     // number of samples per line, printed in sequence
  SamplingOptions sampling;
  bool json = false;                      // one JSON object per line, with every hypothesis
  bool attention = false;                 // include attention in the JSON
  bool tree = false;                      // include the beam's search tree in the JSON
  std::int64_t average = 1;               // translate with the mean of this many checkpoints; 1: model.safetensors
  std::optional<std::int64_t> step = {};  // as in OpenRun
};
int translate(const TranslateOptions& options);

struct FillOptions {  // lines on stdin → candidates for every mask in them on stdout
  std::string run;
  std::int64_t top = 5;
  bool json = false;                      // one JSON object per line
  std::optional<std::int64_t> step = {};  // as in OpenRun
};
int fill(const FillOptions& options);

struct EvaluateOptions {
  std::string run;
  std::string corpus;  // empty: the run's own
  std::string target;
  std::string split;       // "test", "validation" or "all"; empty: all of an unseen corpus, else the test part
  std::int64_t limit = 0;  // maximum number of pairs, evenly spaced; 0: all
  std::int64_t beam = 1;
  std::int64_t average = 1;  // as TranslateOptions
  bool json = false;
  std::optional<std::int64_t> step = {};  // as in OpenRun
};
int evaluate(const EvaluateOptions& options);

struct AttendOptions {
  std::string run;
  std::string capture;  // instead of run and source: prints everything that it contains
  std::string source;
  std::string source_b = {};              // sentence B of a pair, for an encoder such as BERT
  std::optional<std::string> target;      // absent: the model's own translation
  std::string format = "json";            // or "csv": only the map of `part`, `layer` and `head`
  std::optional<std::string> part;        // default: all; of CSV without a capture: cross, or the only one
  std::optional<int> layer, head;         // from 1; default: all; of CSV without a capture: 1
  InterventionsText interventions;        // interventions on the model during the inspection
  std::optional<std::int64_t> step = {};  // as in OpenRun
};
int attend(const AttendOptions& options);  // on stdout
int attend_capture(const AttendOptions& options);

struct PageOptions {
  std::string run = {};
  std::string capture = {};               // instead of run and source: shows everything that it contains
  std::vector<std::string> source = {};   // empty: the run's pinned sentences
  std::string corrupted = {};             // the first sentence's contrast sentence, to show the circuit; empty: none
  std::string out = {};                   // an .html file
  std::optional<std::int64_t> step = {};  // as in OpenRun
};
int page(const PageOptions& options);
int page_capture(const PageOptions& options);
// Writes the page to `options.out` and says what it holds.
void write_page(const PageOptions& options, std::vector<PinnedSentence> sentences, CaptureFacts facts);
// "attnscope 0.1.0: attnscope page --run …"
std::string made_by_command(const PageOptions& options);

struct ReportOptions {
  std::vector<std::string> runs = {};  // one, or two to compare
  std::string out = {};                // a new or empty folder
};
int report(const ReportOptions& options);

struct ExplainOptions {
  std::string run = {};
  std::string clean = "The animal didn't cross the street because it was too tired.";
  std::string corrupted = "The animal didn't cross the street because it was too wide.";
  std::string between = {};   // "il,elle"; empty: the first divergence
  bool corpus = false;        // aggregated over similar pairs of the run's corpus
  std::string pairs = {};     // or over a file of pairs: one "clean, tab, corrupted" per line
  std::string at = {};        // the words to patch: "it,."; empty: those found
  std::string exchange = {};  // the two words to swap; empty: those found
  std::string score = {};     // FROM,TO[,OTHER]: decompose the score, for every input head of the circuit
  bool formation = false;     // the effect of the circuit's parts at the recorded steps, for the single pair
  bool attribution = false;   // attribution of one generated token, only for the clean sentence
  int token = -1;             // index of that token, from 0; −1: the last that is more than punctuation
  bool json = false;
  std::optional<std::int64_t> step = {};  // as in OpenRun
};
int explain(const ExplainOptions& options);  // on stdout

struct EmbeddingsOptions {
  std::string run = {};
  std::string table = "source";  // "source", "target" or "output"
  std::string analogy = {};      // "king - man + woman"; empty: none
  std::string neighbours = {};   // a word or token; empty: none
  std::string senses = {};       // a word; empty: none
  bool json = false;
};
int embeddings(const EmbeddingsOptions& options);  // on stdout

struct ScreenshotOptions {
  std::string run;  // empty: the shipped run
  std::string workspace = "attention";
  std::string view;  // a level or mode of the workspace; empty: its default
  std::string source;
  std::string reference;                 // the reference translation; empty: none
  std::optional<std::int64_t> pin_step;  // show the nearest recorded frame; the source must be pinned in the run
  int width = 1600;
  int height = 1000;
  double scale = 1;
  std::string theme = "dark";
  std::string density = "everything";
  bool presentation = false;
  std::string side = "difference";        // of a comparison: "a", "b" or "difference"
  std::string lesson;                     // a lesson to start, with its own sentence; empty: none
  int part = 1;                           // part of the lesson; the earlier steps are performed automatically
  std::string language;                   // of window and lessons: "en" or "fr"; empty: the system's
  bool svg = false;                       // regardless of the ending of `out`
  std::string out;                        // a PNG; an SVG if it ends with .svg, a handout if with .html
  std::optional<std::int64_t> step = {};  // as in OpenRun
};
int screenshot(const ScreenshotOptions& options);  // only in builds with the window

struct LessonsOptions {
  std::vector<std::string> check;  // files; empty: lists all lessons
};
int lessons(const LessonsOptions& options);  // only in builds with the window

struct ExperimentsOptions {};
int experiments(const ExperimentsOptions& options);  // only in builds with the window

// The parts of the benchmark that draw.
struct BenchWindow {
  std::function<std::vector<Measurement>()> thumbnails;  // of 192 heads, changing in every frame
  std::function<std::vector<Measurement>()> captures;    // two large ones: opening, memory, frames
  // Opens the attention workspace and returns the function that draws a snapshot in it.
  std::function<std::function<void(std::shared_ptr<const Snapshot>)>()> open_attention;
  std::function<std::vector<Measurement>(const EmbeddingResult&)> embedding_frames;
  std::function<std::vector<Measurement>()> neuron_frames;  // of 2048 in the list
  // Frames while idle and while `run` trains; the time from a keystroke to its attention on the screen; the longest
  // wait of the window for the worker.
  std::function<std::vector<Measurement>(const std::string& run)> while_training;
};

struct BenchOptions {
  bool json = false;
  bool training_alone = false;
  std::int64_t threads = 0;   // training threads; 0: all cores
  std::string device = {};    // training device, "cpu" or "cuda"; empty: all available
  bool growth = false;        // only this benchmark
  bool memory = false;        // only this benchmark
  bool window_alone = false;  // only this benchmark
  std::string run = {};       // measure only opening and first inspections of this run; empty: everything else
  int peer = -1;              // index of a workload to run as the baseline process; see bench_peer.h
  const BenchWindow* window = nullptr;  // null in a build without the window
};
int bench(const BenchOptions& options);

struct CostOptions {
  std::string run = {};               // provides width, heads and cell; empty: the defaults
  std::vector<std::string> set = {};  // key=value
  std::int64_t longest = 2048;
  double seconds = 60;  // for all measurements together
  bool json = false;
};
int cost(const CostOptions& options);  // on stdout

struct HeadsOptions {
  std::string run = {};
  std::string capture = {};              // instead of run: only what attention alone tells
  std::string corpus = {}, target = {};  // instead of the run's own
  bool recorded = false;                 // at every recorded step instead
  bool json = false;
  std::optional<std::int64_t> step = {};  // as in OpenRun
};
int heads(const HeadsOptions& options);  // on stdout
int heads_capture(const HeadsOptions& options);

struct TensorsOptions {
  std::string run = {};
  // the sentence for the activations
  std::string text = "The animal didn't cross the street because it was too tired.";
  bool json = false;
};
int tensors(const TensorsOptions& options);  // on stdout

struct NeuronsOptions {
  std::string run = {};
  std::string corpus = {}, target = {};  // instead of the run's own
  bool encoder = false;                  // of a model with both stacks
  std::int64_t layer = 1;                // from 1
  std::int64_t neuron = 0;
  bool over_training = false;
  bool json = false;
  std::string probe = {}, word = "it";  // instead: linear probes of a label, or of the senses of a word
  bool dictionary = false;              // its features instead of neurons; the rest as in DictionaryOptions
  std::int64_t width = 4, active = 16, dictionary_steps = 1500;
  double l1 = 0.05;
  std::string of = "layer";  // see site_text
  bool carriers = false;     // instead: the features that carry the difference between two sentences, at the word
  std::string clean = ExplainOptions().clean, corrupted = ExplainOptions().corrupted, at = "it";
};
int neurons(const NeuronsOptions& options);  // on stdout

struct LengthOptions {
  std::string run = {};
  std::string corpus = {};  // instead of the run's
  std::int64_t pairs = 40;  // per length
  bool json = false;
};
int length(const LengthOptions& options);  // on stdout

struct ExportOptions {
  std::string run;
  std::string format;  // "hf", "onnx", "torchscript" or "tensorboard"
  std::string folder;  // created; must be empty otherwise
  std::string source = "The animal didn't cross the street because it was too tired.";  // used if no sentence is pinned
  std::int64_t average = 1;                                                             // as TranslateOptions
  std::optional<std::int64_t> step = {};                                                // as in OpenRun
};
int export_run(const ExportOptions& options);

struct NamesOptions {
  bool json = false;
};
int fields(const NamesOptions& options);   // of the configuration, on stdout
int presets(const NamesOptions& options);  // named configurations
int corpora(const NamesOptions& options);  // built-in corpora

struct WindowOptions {
  std::string path;         // a run's folder, or a text to train on; empty: the shipped run
  std::string server = {};  // "HOST:PORT" of a remote training to watch; empty: none
};
int window(const WindowOptions& options);  // only in builds with the window

}  // namespace attnscope
