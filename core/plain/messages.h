// What the two threads say to each other: the window posts commands, the worker reports events. Plain copies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plain/config.h"
#include "plain/history.h"
#include "plain/metric_point.h"
#include "plain/probe.h"
#include "plain/study.h"

namespace attnscope {

// ---- commands: window → worker

struct Train {};
struct Pause {};
struct Step {};    // one optimizer update, then pause
struct Cancel {};  // abandon the corpus, tokenizer or run being prepared (the present run stays), or a long decoding
struct Reset {     // new random weights under this configuration; corpus and tokenizer are made anew if theirs changed
  Config config;
  bool discard_unsaved = false;  // also if the present run cannot be kept, and is lost
};
struct Adjust {  // live fields of the configuration, applied from the next update on
  Config config;
};
// Also a Probe (plain/probe.h): look inside the model at a sentence; only the newest one waiting is answered.
struct Pin {  // look at this sentence every training.history_interval updates, and now
  std::string text;
};
struct Unpin {  // forget it, with all its frames
  std::string text;
};
struct StartStudy {  // the one under way, if there is one, is taken back
  std::uint64_t study = 0;
  StudyQuestion question;
  std::optional<std::int64_t> step = {};  // of whose weights, if they were recorded; none: the present ones
  bool of_other = false;                  // of the run that the present one is compared with
};
struct CancelStudy {};
struct OpenRun {
  std::string path;              // of a run, or of a saved comparison: both of its runs are opened
  bool go_on = false;            // it is saved there from now on, by this process alone
  bool discard_unsaved = false;  // as Reset's
  double rate_factor = 1;        // of the learning rate that it came with
};
struct KeepRun {};        // before the window closes; answered by RunAutosaved or NotSaved
struct ListAutosaves {};  // answered by AutosaveList
struct SaveRun {          // while two runs are compared, the comparison
  std::string path;
};
// Another run takes its place beside the present one; both are trained in turn, whichever is behind first, and every
// Probe, Pin, Adjust, Reset and SaveRun is of both.
struct Compare {
  std::variant<Config, std::string> other;  // new random weights under this configuration, or a saved run's folder
  std::optional<Config> anew = {};          // first the present run begins anew, under this
};
struct EndComparison {
  bool other_stays = false;  // instead of the present run, whose place it takes; the one that goes is kept
};
struct ListDirectory {  // for the file browser: the window itself never touches the disk
  std::string path;     // empty: the home directory
};
struct WriteFile {  // a picture or numbers; answered by FileWritten
  std::string path;
  std::string bytes;
  bool replace = false;  // what is there already; else it stays and that is the answer
};
struct ReadFile {  // a small one; answered by FileRead
  std::string path;
  std::size_t most_bytes = 0;
};
using Command =
    std::variant<Train, Pause, Step, Cancel, Reset, Adjust, Probe, Pin, Unpin, StartStudy, CancelStudy, OpenRun,
                 SaveRun, Compare, EndComparison, KeepRun, ListAutosaves, ListDirectory, WriteFile, ReadFile>;

// ---- events: worker → window

enum class Activity { idle, preparing, training, paused, finished };

// Where the worker stands; sent whenever one of these changes.
struct Status {
  Activity activity = Activity::idle;
  std::int64_t step = 0;
  std::string device;                               // "CPU, 2 threads", "CUDA"
  std::vector<std::int64_t> recorded_weights = {};  // steps that can be looked at again, ascending
  bool operator==(const Status&) const = default;
};

// Long work under way: corpus, tokenizer, opening, saving. `fraction` in 0…1, below 0 when unknown; 1 ends it.
struct Progress {
  std::string what;
  double fraction = 0;
};

enum class Severity { info, warning, error };

struct Message {
  Severity severity = Severity::info;
  std::string text;
};

// A pair of the corpus, to be tried in the sentence bar.
struct Example {
  std::string source;
  std::string target;
};

// A run was opened, reset or replaced: everything the window shows about it.
struct RunOpened {
  std::uint64_t run = 0;
  std::string name;               // folder's name; "new run" when it has none
  std::string folder;             // that it was opened from; empty: it is new
  bool autosaved = false;         // which is none of the user's
  std::string saved_to;           // the user's, that it is saved in from now on; empty: none
  std::optional<OpenRun> before;  // brings back the run whose place it took; none: nothing does
  Config config;
  std::int64_t step = 0;
  std::int64_t num_parameters = 0;
  std::int64_t vocab_size = 0;
  std::int64_t train_pairs = 0;
  std::int64_t validation_pairs = 0;
  std::int64_t test_pairs = 0;
  bool corpus_follows = false;         // what it was trained on is read later: CorpusRead
  std::vector<Example> examples;       // some of the test pairs
  std::vector<MetricPoint> metrics;    // so far
  std::vector<PinnedSentence> pinned;  // with the frames that came with the run
  std::vector<std::string> warnings;   // lines left out, a corpus that changed, a slow BLAS …
};

// What the present run was trained on is there, or will not be: a warning says why.
struct CorpusRead {
  std::vector<Example> examples;      // as those of RunOpened
  std::vector<std::string> warnings;  // a corpus that changed, or is gone
};

// What becomes of the worker's History, in the order it happens to it: who does the same to its own holds the same.
struct SentencePinned {
  std::string text;
};
struct SentenceUnpinned {
  std::string text;
};
struct FrameRecorded {
  Frame frame;
};

// A run that was kept by itself (storage/autosaves.h), and that no process has in hand.
struct Autosave {
  std::string path;
  std::string name;
  std::int64_t step = 0;
  std::int64_t saved_at = 0;  // seconds since 1970, UTC
};
struct AutosaveList {
  std::vector<Autosave> runs;  // newest first
};
struct RunAutosaved {};  // all that the present run has learned is on the disk
struct NotSaved {        // what was wanted was not done: the present run could not be saved, and would have been lost
  std::variant<Reset, OpenRun, KeepRun> wanted;
  std::string why;
};

// The loss of an update was no number: training is paused.
struct Diverged {
  std::int64_t step = 0;          // that it would have been
  std::string what;               // was no number first: "the gradient of encoder.layers.0.linear1.weight"
  std::optional<Autosave> saved;  // the run as it was last saved
  bool of_other = false;          // it is the run that the present one is compared with
};

struct StudyProgress {
  std::uint64_t study = 0;
  double fraction = 0;  // 0…1
};
struct StudyEnded {
  std::uint64_t study = 0;
  std::shared_ptr<const StudyResult> result;  // null: taken back, or a Message says why there is none
};

// What happened to the run that the present one is compared with. RunOpened begins a comparison, or another one.
struct OfOther {
  std::variant<RunOpened, MetricPoint, Status, FrameRecorded> what;
};
struct ComparisonEnded {
  bool other_stays = false;  // it is the present run from here on
};

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
  bool is_run = false;     // a folder that OpenRun takes
  std::uint64_t size = 0;  // bytes; 0 for a directory
};

struct DirectoryListed {
  std::string path;                     // absolute
  std::vector<DirectoryEntry> entries;  // directories first, then by name
  std::string error;                    // why it could not be read; empty if it could
};

struct FileWritten {
  std::string path;
  std::string error;  // why it was not, and where; empty if it was
};

struct FileRead {
  std::string path;
  std::string bytes;
  std::string error;  // why it could not be read; empty if it could
};

using Event = std::variant<MetricPoint, Status, Progress, Message, RunOpened, CorpusRead, SentencePinned,
                           SentenceUnpinned, FrameRecorded, AutosaveList, RunAutosaved, NotSaved, Diverged, OfOther,
                           ComparisonEnded, StudyProgress, StudyEnded, DirectoryListed, FileWritten, FileRead>;

}  // namespace attnscope
