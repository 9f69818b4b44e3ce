// The complete state of the window, the user's edits and pending requests: plain structs without threads or files.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/translation.h"
#include "manual/manual.h"
#include "messages/messages.h"
#include "shell/comparing.h"
#include "shell/curves_panel.h"
#include "shell/dialogs/context_menu.h"
#include "shell/dialogs/palette.h"
#include "shell/experiments.h"
#include "shell/glossary/glossary.h"
#include "shell/layout.h"
#include "shell/lessons/lessons.h"
#include "shell/pen.h"
#include "shell/run_view.h"
#include "shell/saved_view.h"
#include "shell/undo.h"
#include "widgets/capture.h"
#include "widgets/file_browser.h"
#include "workspaces/workspace.h"

namespace attnscope {

struct BuiltinCorpus {
  std::string name;         // as in corpus.source
  std::string description;  // one line
};

// About the machine and the build; set by the app before the first frame.
struct Facts {
  bool cuda_available = false;
  std::string version;
  std::string processor;  // the instruction sets in use, and the matrix multiplication library
  std::vector<BuiltinCorpus> corpora;
  std::vector<Lesson> lessons;          // in their order in the list
  std::vector<Experiment> experiments;  // in their order in the gallery
  std::vector<ManualPage> manual;       // the index first
  std::string page;                     // of interactive pages (files/captures/page.h)
  std::vector<std::string> complaints;  // about files that come with the program
  std::string shipped_run;              // folder of the shipped run; empty: there is none
  ThemeName theme = ThemeName::dark;    // the system's; dark if it has none
};

// Set by the app before the first frame.
struct Translations {
  Language system = Language::english;
  // In the order of Language; null: no catalog, the text stays English.
  std::array<std::shared_ptr<const Catalogue>, language_codes.size()> catalogues = {};
  std::vector<std::string> complaints = {};
};

// An action offered with a message.
struct Offer {
  std::string label;
  std::string help;
  Command command;
};

// A message of the worker or of the window. Errors, questions and awaited results stay until dismissed; the others
// fade.
struct Toast {
  Message message;
  bool stays = false;
  std::optional<Offer> offer = {};
  double shown_at = -1;  // ImGui::GetTime() of its first frame; negative: not shown yet

  bool fades() const { return !stays && message.severity != Severity::error; }
};

// A running long computation over the model (messages/study.h).
struct StudyUnderWay {
  std::uint64_t number = 0;
  double fraction = 0;  // 0…1
  std::string what;     // "Translating the held-out pairs"
};

// A separate window on a run that trains elsewhere.
struct RequestedServer {
  std::string address;  // "PORT" or "HOST:PORT"
  std::string token;    // access token the server requires; empty: none
};

struct AttachDialog {
  bool open = false;
  RequestedServer typed = {};
};

// Settings of the server that lets other windows watch this run.
struct WantedService {
  std::string address = "7700";  // "PORT" or "HOST:PORT"
  bool control = false;          // clients may train, pause and change live fields
};

struct ServeDialog {
  bool open = false;
  WantedService typed = {};
};

// The running server.
struct Service {
  std::string address;      // for clients to attach to
  std::string token;        // access token that clients need; empty: none
  std::size_t clients = 0;  // number of connected clients
  bool operator==(const Service&) const = default;
};

// A report of one run, or of two, in a new folder.
struct RequestedReport {
  std::vector<std::string> runs;  // folders
  std::string folder;
};

// Requests that only the app can fulfill; it clears each one when done.
struct Requests {
  bool quit = false;                // after the run has been saved
  bool end = false;                 // immediately
  bool fullscreen_changed = false;  // make the window full-screen if and only if `presentation` is set
  std::optional<RequestedServer> attach = {};
  std::optional<WantedService> serve = {};
  bool stop_serving = false;
  std::optional<RequestedReport> report = {};
  std::optional<std::string> copy_picture = {};  // the bytes of a PNG file
};

// The purpose for which a file or folder is chosen.
enum class Purpose {
  // In the order of the table in purposes.cpp.
  open_run,
  open_view,
  compare_run,
  open_corpus,
  open_experiment,
  open_target,
  open_tokenizer,
  open_lesson,
  save_run,
  save_view,
  save_png,
  save_svg,
  save_handout,
  save_csv,
  save_curves,
  save_json,
  save_capture,
  save_page,
  save_film,
  save_report,
  save_lesson,
};

struct PictureOrder {
  std::string path = {};
  bool replace = false;  // overwrite an existing file
  bool vector = false;   // SVG instead of PNG
  bool handout = false;  // include the open lesson's page, as HTML; the picture is SVG
  bool whole_window = false;
  bool clipboard = false;  // copy to the clipboard instead of a file
};

// A film that is being exported to a folder, one frame of the timeline at a time.
struct FilmOrder {
  std::string folder;
  bool replace = false;
  std::vector<Frame> frames;
  std::size_t drawn = 0;
  std::size_t written = 0;  // number of drawn frames written so far
};

struct Exports {
  PictureArea area;                     // the workspace's area in the last frame
  std::optional<PictureOrder> picture;  // to be taken of the next frame
  std::optional<FilmOrder> film;
  bool menu_asked = false;  // a popup is to be opened
  bool taking = false;      // this frame is exported as a picture: nothing may cover the workspace
  bool captioned = false;   // the picture shows only the workspace, with a caption
};

// A chosen path at which something already exists.
struct ReplaceQuestion {
  Purpose purpose = Purpose::save_png;
  std::string path;
};

// Navigation through the recorded frames of the sentence, which is pinned then. RunView::past is the displayed one.
struct Timeline {
  bool playing = false;
  double frame_began = 0;            // ImGui::GetTime() when the frame was shown; valid only while playing
  std::vector<double> seconds = {};  // how long each recorded frame is shown at speed 1; of the frames when it began
  float speed = 1;                   // playback speed
  bool focused = false;              // has keyboard focus
};

// Permissions of the window on the run it shows.
enum class Rights {
  owner,    // everything: the run trains in this process
  control,  // trains elsewhere; may train, pause and adjust it
  watch,    // read-only
};

struct AppState {
  // ---- received
  Rights rights = Rights::owner;  // set by the app
  RunView a;
  std::optional<RunView> b;          // the run that A is compared with; nullopt: no comparison
  bool open_refused = false;         // an error was reported; without a run, nothing is being opened any more
  std::optional<Progress> progress;  // set only during a long operation
  std::optional<StudyUnderWay> study;
  std::uint64_t studies = 0;          // number of studies requested so far
  std::uint64_t versions = 0;         // last version given to a snapshot on display; versions are unique
  std::vector<Toast> toasts;          // oldest first
  std::vector<Autosave> autosaves;    // of previous sessions, newest first
  std::optional<NotSaved> not_saved;  // waiting for the user's answer
  Facts facts;
  Translations translations;

  // ---- the user's
  Layout layout;
  Config edited;              // the setup column; differs from run.config while edits are pending until Reset
  double escaped_at = -1e9;   // ImGui::GetTime() of the last Escape that asked for confirmation
  bool presentation = false;  // F11: chrome hidden, everything readable from the last row of a room
  std::string dropped_file;   // waiting for "Train on this file?"; empty: none
  ComparingView comparing;
  std::optional<Purpose> purpose;  // of the open file browser
  std::optional<ReplaceQuestion> replace_question;
  std::string saved_to;  // where the user saved the present run; empty: not saved yet
  bool show_help = false;
  bool focus_workspace = true;  // request: focus it in the next frame
  bool focus_window = false;  // the keyboard moves through the controls from the next frame on
  bool focus_sentence = false;  // request: focus the sentence field in the next frame
  Palette palette;
  GlossaryView glossary;
  ManualView manual;
  ExperimentsView experiments;
  AttachDialog attaching;
  ServeDialog serving;
  std::optional<Service> service;  // nullopt: no server is running
  ContextMenu context_menu;
  std::map<std::string_view, bool> all_settings;  // by section of the setup: it shows more than the basic fields
  std::string_view field_to_show;                 // field of the setup to scroll to in the next frame; empty: none
  FileBrowser browser;
  std::string reference;  // expected output for the sentence; empty: unknown
  Views views;            // of the workspaces
  CurvesView curves_view;
  Timeline timeline;
  Exports exports;
  UndoHistory undo;
  LessonsView lessons;
  std::optional<OpeningView> opening_view;
  Pen pen;

  // ---- wanted
  Probe asked;                                 // the newest Probe posted
  std::optional<StudyQuestion> study_wanted;   // requested by a workspace
  std::optional<std::string> sentence_wanted;  // requested by a workspace
  std::optional<std::string> path_wanted;      // of a run or a folder of runs; requested by a workspace
  std::vector<Command> commands;               // oldest first; the app posts and clears them after every frame
  bool pausing = false;                        // pause requested; the current step is being finished
  Requests requests;
};

// Returns the snapshots that every workspace shows, of the run side on display: the selected recorded frame, or the
// present. This is the only place that decides it. For a frame whose step's weights were recorded, uses a forward pass
// through those weights as soon as it is available.
ShownMaps shown_maps(const AppState& scope);

// Same for one of the two runs.
ShownMaps shown_maps(const AppState& scope, RunSide side);

// The run on display: B if its side is shown, otherwise A.
RunSide shown_side(const AppState& scope);
const RunView& shown_run(const AppState& scope);

// The step whose recorded weights are inspected; nullopt: the present weights, or none were recorded.
std::optional<std::int64_t> inspected_step(const AppState& scope);

// The reason why an action is disabled in a window on a run that trains elsewhere.
inline constexpr const char* only_watches = mark("Read-only window: only the training process can change this.");
inline constexpr const char* only_where_it_trains =
    mark("Read-only window: runs can be opened, reset, compared, saved and served only where they are trained.");

// True if this window may train, pause and adjust the run, and pin sentences to it.
bool may_control(const AppState& scope);

// True if this window may replace, reset, save and compare the run.
bool may_replace(const AppState& scope);

// True if a run is open.
bool has_run(const AppState& scope);

// The language of window and lessons: the selected one, or the system's.
Language language_of(const AppState& scope);

// Switches to that language; call once per frame, before anything is drawn or reported.
void speak_language(const AppState& scope);

// The selected theme, or the system's.
ThemeName theme_of(const AppState& scope);

// Shows a message of the window itself (settings that could not be read, a file that could not be written).
Toast& notify(AppState& scope, Severity severity, std::string text);

// True if the text is empty or only white space.
bool is_blank(const std::string& text);

// True while frames are needed without input: something plays or fades.
bool animating(const AppState& scope);

}  // namespace attnscope
