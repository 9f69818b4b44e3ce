// Messages between the two threads: the window posts commands, the worker reports events. All are plain copies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/config.h"
#include "messages/metric_point.h"
#include "messages/pinned_sentence.h"
#include "messages/probe.h"
#include "messages/run_side.h"
#include "messages/run_table.h"
#include "messages/study.h"

namespace attnscope {

// ---- commands: window → worker

struct Train {};
struct Pause {};
struct Step {};    // one optimizer step, then pause
struct Cancel {};  // cancels the corpus, tokenizer or run in preparation (the present run stays), or a long decoding
struct Reset {     // new random weights under this configuration; corpus and tokenizer are rebuilt if theirs changed
  Config config;
  bool discard_unsaved = false;  // even if the present run cannot be saved and is lost
};
struct Adjust {  // live fields of the configuration, applied from the next step
  Config config;
};
// Another command is Probe (messages/probe.h), a forward pass on a sentence; only the newest one waiting is answered.
struct Pin {  // record this sentence every training.history_interval steps, and now
  std::string text;
};
struct Unpin {  // removes it with all its frames
  std::string text;
};
struct StartStudy {  // cancels the study in progress, if any
  std::uint64_t study = 0;
  StudyQuestion question;
  std::optional<std::int64_t> step = {};  // a step whose weights were recorded; none: the present weights
  RunSide side = RunSide::a;              // the run that is studied
  bool gives_way = false;                 // takes at most a twentieth of the time while the run trains
};
struct CancelStudy {};
inline constexpr std::int64_t best_weights = -1;  // instead of a step: those of the lowest validation loss
struct OpenRun {
  std::string path;                       // of a run, or of a saved comparison: both its runs are opened; of a folder
                                          // of runs: they are listed, and the present run stays
  bool go_on = false;                     // save it there from now on; requires that no other process does
  bool discard_unsaved = false;           // as in Reset
  double rate_factor = 1;                 // applied to its saved learning rate
  std::optional<std::int64_t> step = {};  // use the weights saved at this step, or best_weights; none: the newest
};
struct GoToBest {};       // saves the run, and opens it at the step with the lowest validation loss
struct KeepRun {};        // before the window closes; answered by RunAutosaved or NotSaved
struct ListAutosaves {};  // answered by AutosaveList
struct SaveRun {          // saves the comparison while two runs are compared
  std::string path;
};
// Adds B, a second run next to the present one, A. Both are trained in turn, the one behind first; every Probe, Pin,
// Adjust, Reset and SaveRun applies to both.
struct Compare {
  std::variant<Config, std::string> with;  // new random weights under this configuration, or a saved run's folder
  std::optional<Config> anew = {};         // first A is reset, under this configuration
};
struct EndComparison {
  RunSide stays = RunSide::a;  // the other run is saved and closed; the one that stays is A from then on
};
struct ListDirectory {  // for the file browser: the window itself never accesses the disk
  std::string path;     // empty: the home directory
};
struct WriteFile {  // an image or numbers; answered by FileWritten
  std::string path;
  std::string bytes;
  bool replace = false;  // overwrites an existing file; otherwise an existing file is an error
};
struct ReadFile {  // a small file; answered by FileRead
  std::string path;
  std::size_t most_bytes = 0;
};
using Command =
    std::variant<Train, Pause, Step, Cancel, Reset, Adjust, Probe, Pin, Unpin, StartStudy, CancelStudy, OpenRun,
                 GoToBest, SaveRun, Compare, EndComparison, KeepRun, ListAutosaves, ListDirectory, WriteFile, ReadFile>;

// ---- events: worker → window

enum class Activity { idle, preparing, training, paused, finished };

// The worker's state; sent whenever one of these fields changes.
struct Status {
  Activity activity = Activity::idle;
  std::int64_t step = 0;
  std::string device;                               // "CPU, 2 threads", "CUDA"
  std::vector<std::int64_t> recorded_weights = {};  // steps whose weights can be inspected, ascending
  std::optional<std::int64_t> best_step = {};       // with the lowest validation loss, if its weights were kept
  bool operator==(const Status&) const = default;
};

// Long work in progress: corpus, tokenizer, opening, saving. `fraction` in 0…1, negative if unknown; 1 ends it.
struct Progress {
  std::string what;
  double fraction = 0;
};

enum class Severity { info, warning, error };

struct Message {
  Severity severity = Severity::info;
  std::string text;
};

// A corpus pair, as an example for the sentence bar.
struct Example {
  std::string source;
  std::string target;
};

// A run was opened, reset or replaced: everything the window shows about it.
struct RunOpened {
  std::uint64_t run = 0;
  std::string name;               // folder name; "new run" if it has none
  std::string folder;             // the folder it was opened from; empty: it is new
  bool autosaved = false;         // the folder is an autosave, not one of the user's
  std::string saved_to;           // the user's folder that it, or the comparison of it as B, is saved in; empty: none
  std::optional<OpenRun> before;  // command that restores the replaced run; none: it cannot be restored
  Config config;
  std::int64_t step = 0;
  std::int64_t num_parameters = 0;
  std::int64_t vocab_size = 0;
  std::int64_t train_pairs = 0;
  std::int64_t validation_pairs = 0;
  std::int64_t test_pairs = 0;
  bool corpus_follows = false;         // its corpus is loaded later: CorpusRead
  std::vector<Example> examples;       // some of the test pairs
  std::vector<MetricPoint> metrics;    // so far
  std::vector<PinnedSentence> pinned;  // with the frames saved in the run
  std::vector<std::string> warnings;   // skipped lines, a corpus that changed, a slow BLAS …
};

// The training corpus of the present run has been loaded, or failed to load: a warning says why.
struct CorpusRead {
  std::vector<Example> examples;      // as in RunOpened
  std::vector<std::string> warnings;  // a corpus that changed or is gone
};

// Changes of the worker's History, in order: applying the same changes to another History gives the same contents.
struct SentencePinned {
  std::string text;
};
struct SentenceUnpinned {
  std::string text;
};
struct FrameRecorded {
  Frame frame;
};

// An autosaved run (files/storage/autosaves.h) that no process has open.
struct Autosave {
  std::string path;
  std::string name;
  std::int64_t step = 0;
  std::int64_t saved_at = 0;  // seconds since 1970, UTC
};
struct AutosaveList {
  std::vector<Autosave> runs;  // newest first
};
struct RunAutosaved {    // the present run is completely saved on disk
  std::string saved_in;  // its folder; empty: it has not changed since it was opened
};
struct NotSaved {  // the request was not executed: the present run could not be saved and would have been lost
  std::variant<Reset, OpenRun, KeepRun> wanted;
  std::string why;
};

// The loss of a step was not finite: training is paused.
struct Diverged {
  std::int64_t step = 0;          // the step that failed
  std::string what;               // the first non-finite tensor: "the gradient of encoder.layers.0.linear1.weight"
  std::optional<Autosave> saved;  // the last saved state of the run
  RunSide side = RunSide::a;      // the run in which it happened
};

struct StudyProgress {
  std::uint64_t study = 0;
  double fraction = 0;  // 0…1
};
struct StudyEnded {
  std::uint64_t study = 0;
  std::shared_ptr<const StudyResult> result;  // null: canceled, or a Message gives the reason
};

// An event of B; events of A are sent as they are. RunOpened starts a comparison, or another one.
struct OfRunB {
  std::variant<RunOpened, MetricPoint, Status, FrameRecorded> what;
};
struct ComparisonEnded {
  RunSide stays = RunSide::a;  // if B, it is A from now on
};

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
  bool is_run = false;     // a folder that OpenRun accepts
  std::uint64_t size = 0;  // bytes; 0 for a directory
};

struct DirectoryListed {
  std::string path;                     // absolute
  std::vector<DirectoryEntry> entries;  // directories first, then by name
  std::string error;                    // why it could not be read; empty: success
};

struct FileWritten {
  std::string path;
  std::string error;  // why it was not written, and where; empty: success
};

struct FileRead {
  std::string path;
  std::string bytes;
  std::string error;  // why it could not be read; empty: success
};

using Event =
    std::variant<MetricPoint, Status, Progress, Message, RunOpened, CorpusRead, SentencePinned, SentenceUnpinned,
                 FrameRecorded, AutosaveList, RunAutosaved, NotSaved, Diverged, OfRunB, ComparisonEnded, StudyProgress,
                 StudyEnded, DirectoryListed, FileWritten, FileRead, RunsListed>;

template <typename What>
Event event_of(RunSide side, What what) {
  return side == RunSide::b ? Event(OfRunB{std::move(what)}) : Event(std::move(what));
}

}  // namespace attnscope
