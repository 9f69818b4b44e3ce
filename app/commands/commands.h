// The commands of the program: what each is given, checked once at the door, and where it stands. Every one returns its
// exit status: 0 done, 1 runtime error, 130 stopped by Ctrl-C. Data goes to stdout, messages and progress to stderr.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/interventions_text.h"
#include "plain/sampling.h"

namespace attnscope {

struct TrainOptions {
  std::string corpus;                // overrides the configuration's; a built-in name or a file
  std::string target;                // the target side, when `corpus` is one of two parallel files
  std::string out;                   // the run's folder
  std::string config_file;           // empty: the defaults, or the preset
  std::string pair;                  // a classic pair to train in lockstep; empty: none
  std::string preset;                // a named configuration to start from; empty: none
  std::string from;                  // a run or checkpoint to train on with its weights; empty: random ones
  std::vector<std::string> set;      // "key=value"
  std::vector<std::string> compare;  // "key=value" of a second run beside it; none: it is alone
  std::vector<std::string> pin;      // sentences to look at while training, besides those of a run resumed
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> seed;
  std::optional<std::string> device;
  std::int64_t threads = 0;  // kept in the run's configuration; 0: as that says
  double minutes = 0;        // stop after this long; 0: no limit
  std::int64_t ranks = 1;    // processes that train the run together on this machine
  bool resume = false;
  bool no_optimizer = false;   // leave the optimizer's state out of the finished run: a smaller folder
  bool json = false;           // one JSON object a metric point on stdout
  bool show_pinned = false;    // say at every validation what is written for the pinned sentences
  std::string serve = {};      // "[HOST:]PORT" at which windows elsewhere may watch; empty: nowhere
  bool allow_control = false;  // they may train, pause, step, pin and change what is live
};
int train(const TrainOptions& options);

struct RunsOptions {
  std::string folder;
  bool json = false;
};
int runs(const RunsOptions& options);  // on stdout

struct CompareOptions {
  std::string a = {};           // a run's folder
  std::string b = {};           // another's
  std::string comparison = {};  // or the folder of both
  std::string corpus = {};      // both are scored on it; empty: each on the test part of its own
  std::string source = "The animal didn't cross the street because it was too tired.";
  std::int64_t limit = 200;  // pairs at most, spread evenly
  bool json = false;
};
int compare(const CompareOptions& options);  // on stdout

struct TranslateOptions {  // lines on stdin → lines on stdout; a language model takes them as prompts
  std::string run;
  std::int64_t beam = 1;
  double length_penalty = 0.6;  // α of GNMT
  std::int64_t limit = 0;       // pieces at most, </s> included; 0: the model's own limit
  bool sample = false;          // instead of searching
  std::int64_t samples = 1;     // so many of each line, one behind the other
  SamplingOptions sampling;
  bool json = false;         // one JSON object a line, with every hypothesis
  bool attention = false;    // in it
  bool tree = false;         // in it: what the beam considered
  std::int64_t average = 1;  // translate with the mean of so many kept checkpoints; 1: with model.safetensors
};
int translate(const TranslateOptions& options);

struct EvaluateOptions {
  std::string run;
  std::string corpus;  // empty: the run's own
  std::string target;
  std::string split;       // "test", "validation" or "all"; empty: all of what was not trained on, else the test part
  std::int64_t limit = 0;  // pairs at most, spread evenly; 0: all
  std::int64_t beam = 1;
  std::int64_t average = 1;  // as TranslateOptions
  bool json = false;
};
int evaluate(const EvaluateOptions& options);

struct AttendOptions {
  std::string run;
  std::string source;
  std::optional<std::string> target;  // absent: the model's own translation
  std::string format = "json";        // or "csv": the one map of `part`, `layer` and `head`
  std::string part = "cross";
  int layer = 1;                    // from 1
  int head = 1;                     // from 1
  InterventionsText interventions;  // to the model while it is looked at
};
int attend(const AttendOptions& options);  // on stdout

struct ExplainOptions {
  std::string run = {};
  std::string clean = "The animal didn't cross the street because it was too tired.";
  std::string corrupted = "The animal didn't cross the street because it was too wide.";
  std::string between = {};   // "il,elle"; empty: where the outputs part
  bool corpus = false;        // counted over the pairs of the run's corpus that are like this one
  std::string pairs = {};     // a file of pairs to count over instead: clean, tab, corrupted a line
  std::string at = {};        // the words of the figures: "it,."; empty: those that are found
  std::string exchange = {};  // the two words exchanged in them; empty: those that are found
  std::string score = {};     // FROM,TO[,OTHER]: the score taken apart, of every head of the circuit that reads
  bool formation = false;     // what the circuit's parts moved at the recorded steps, of the one pair
  bool attribution = false;   // of the clean sentence alone: where one piece that is written comes from
  int token = -1;             // which of them, from 0; -1: the last that is more than a sign
  bool json = false;
};
int explain(const ExplainOptions& options);  // on stdout

struct EmbeddingsOptions {
  std::string run = {};
  std::string table = "source";  // "source", "target" or "output"
  std::string analogy = {};      // "king - man + woman"; empty: not asked
  std::string neighbours = {};   // a word or piece; empty: not asked
  std::string senses = {};       // a word; empty: not asked
  bool json = false;
};
int embeddings(const EmbeddingsOptions& options);  // on stdout

struct ScreenshotOptions {
  std::string run;  // empty: the shipped one
  std::string workspace = "attention";
  std::string view;  // a level or mode of the workspace; empty: the one it begins with
  std::string source;
  std::string reference;                 // what the source should become; empty: not known
  std::optional<std::int64_t> pin_step;  // show the frame recorded nearest to it of the source, pinned in the run
  int width = 1600;
  int height = 1000;
  double scale = 1;
  std::string theme = "dark";
  std::string density = "everything";
  bool presentation = false;
  std::string side = "difference";  // of a comparison: "a", "b" or "difference"
  std::string lesson;               // begun; its own sentence is shown. Empty: none
  int part = 1;                     // of the lesson, its steps done for the reader before the check
  std::string language;             // of window and lessons: "en" or "fr"; empty: the system's
  bool svg = false;                 // whatever `out` ends with
  std::string out;                  // a PNG, an SVG where it ends with .svg, a handout where with .html
};
int screenshot(const ScreenshotOptions& options);  // only with the window

struct LessonsOptions {
  std::vector<std::string> check;  // files; none: all lessons there are, listed
};
int lessons(const LessonsOptions& options);  // only with the window

struct BenchOptions {
  bool json = false;
  bool training_alone = false;
  std::int64_t threads = 0;  // that train; 0: all cores
  std::string device = {};   // that trains, "cpu" or "cuda"; empty: all there are
  bool growth = false;       // alone
  bool memory = false;       // alone
  std::string run = {};      // how it opens, and the first looks at it, alone; empty: all else
  int peer = -1;             // what training is measured against, on this one of its workloads; see bench_peer.h
};
int bench(const BenchOptions& options);

struct CostOptions {
  std::string run = {};               // whose width, heads and cell; empty: as a configuration begins
  std::vector<std::string> set = {};  // key=value
  std::int64_t longest = 2048;
  double seconds = 60;  // for all together
  bool json = false;
};
int cost(const CostOptions& options);  // on stdout

struct HeadsOptions {
  std::string run = {};
  bool recorded = false;  // instead, at every step whose weights the run keeps
  bool json = false;
};
int heads(const HeadsOptions& options);  // on stdout

struct TensorsOptions {
  std::string run = {};
  std::string text = "The animal didn't cross the street because it was too tired.";  // whose activations
  bool json = false;
};
int tensors(const TensorsOptions& options);  // on stdout

struct LengthOptions {
  std::string run = {};
  std::int64_t pairs = 40;  // of each length
  bool json = false;
};
int length(const LengthOptions& options);  // on stdout

struct ExportOptions {
  std::string run;
  std::string format;  // "hf", "onnx", "torchscript" or "tensorboard"
  std::string folder;  // is made, and otherwise empty
  std::string source = "The animal didn't cross the street because it was too tired.";  // drawn where none is pinned
  std::int64_t average = 1;                                                             // as TranslateOptions
};
int export_run(const ExportOptions& options);

struct NamesOptions {
  bool json = false;
};
int fields(const NamesOptions& options);   // of the configuration, on stdout
int presets(const NamesOptions& options);  // named configurations
int corpora(const NamesOptions& options);  // that are built in

struct WindowOptions {
  std::string path;         // a run's folder, or a text to train on; empty: the run that came with the program
  std::string server = {};  // "HOST:PORT" of a training elsewhere that is watched instead; empty: none
};
int window(const WindowOptions& options);  // only with the window

}  // namespace attnscope
