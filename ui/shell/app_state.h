// All the window shows, what the user is doing to it, and what it wants done: one plain struct, no threads, no files.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shown.h"
#include "base/translation.h"
#include "manual/manual.h"
#include "plain/curves.h"
#include "plain/history.h"
#include "plain/messages.h"
#include "plain/snapshot.h"
#include "shell/comparing.h"
#include "shell/context_menu.h"
#include "shell/curves_panel.h"
#include "shell/glossary.h"
#include "shell/layout.h"
#include "shell/lessons.h"
#include "shell/palette.h"
#include "shell/pen.h"
#include "shell/saved_view.h"
#include "shell/undo.h"
#include "widgets/capture.h"
#include "widgets/file_browser.h"
#include "workspaces/workspace.h"

namespace attnscope {

struct BuiltinCorpus {
  std::string name;         // as corpus.source takes it
  std::string description;  // one line
};

// About the machine and the build; filled in by the app before the first frame.
struct Facts {
  bool cuda_available = false;
  std::string version;
  std::string processor;  // which of its abilities are used, and which library multiplies
  std::vector<BuiltinCorpus> corpora;
  std::vector<Lesson> lessons;          // in their order
  std::vector<ManualPage> manual;       // the index first
  std::vector<std::string> complaints;  // about files that came with the program
  std::string shipped_run;              // its folder; empty: there is none
  ThemeName theme = ThemeName::dark;    // the system's, or dark where it has none
};

// Filled in by the app before the first frame.
struct Translations {
  Language system = Language::english;
  // In the order of Language; null: there is none, and the words are English.
  std::array<std::shared_ptr<const Catalogue>, language_codes.size()> catalogues = {};
  std::vector<std::string> complaints = {};
};

// What can be done about a message.
struct Offer {
  std::string label;
  std::string help;
  Command command;
};

// A message of the worker or of the window itself. Errors, and what is to be answered or was waited for, stay until
// dismissed; the others fade.
struct Toast {
  Message message;
  bool stays = false;
  std::optional<Offer> offer = {};
  double shown_at = -1;  // ImGui::GetTime() of its first frame; negative before it

  bool fades() const { return !stays && message.severity != Severity::error; }
};

// Long work over the model (plain/study.h) that was asked for.
struct StudyUnderWay {
  std::uint64_t number = 0;
  double fraction = 0;  // 0…1
  std::string what;     // "Translating the held-out pairs"
};

// A window of its own on a run that trains elsewhere.
struct RequestedServer {
  std::string address;  // "PORT" or "HOST:PORT"
  std::string token;    // that is asked for there; empty: none
};

struct AttachDialog {
  bool open = false;
  RequestedServer typed = {};
};

// Others are to watch this window's run.
struct WantedService {
  std::string address = "7700";  // "PORT" or "HOST:PORT"
  bool control = false;          // they may train, pause and change what is live
};

struct ServeDialog {
  bool open = false;
  WantedService typed = {};
};

// They can.
struct Service {
  std::string address;      // to attach to
  std::string token;        // that they need; empty: none
  std::size_t clients = 0;  // at present
  bool operator==(const Service&) const = default;
};

// What only the app can do. It clears each after doing it.
struct Requests {
  bool quit = false;                // once the run has been kept
  bool end = false;                 // at once
  bool fullscreen_changed = false;  // make the window full-screen exactly when `presentation` is set
  std::optional<RequestedServer> attach = {};
  std::optional<WantedService> serve = {};
  bool stop_serving = false;
  std::optional<std::string> copy_picture = {};  // a PNG file's bytes
};

// What a file or folder is chosen for.
enum class Purpose {
  // In the order of the table in purposes.cpp.
  open_run,
  open_view,
  compare_run,
  open_corpus,
  open_target,
  open_tokenizer,
  save_run,
  save_view,
  save_png,
  save_svg,
  save_handout,
  save_csv,
  save_json,
  save_film,
};

struct PictureOrder {
  std::string path = {};
  bool replace = false;  // what is there
  bool vector = false;   // an SVG, not a PNG
  bool handout = false;  // with the open lesson's page, as HTML; of a vector picture
  bool whole_window = false;
  bool clipboard = false;  // no file, but to be pasted
};

// A film on its way into a folder, a frame of the timeline at a time.
struct FilmOrder {
  std::string folder;
  bool replace = false;
  std::vector<Frame> frames;
  std::size_t drawn = 0;
  std::size_t written = 0;  // of those drawn
};

struct Exports {
  PictureArea area;                     // of the workspace, in the last frame
  std::optional<PictureOrder> picture;  // to be taken of the next frame
  std::optional<FilmOrder> film;
  bool menu_asked = false;  // to be opened as a popup
  bool taking = false;      // this frame is a picture: nothing lies over the workspace
  bool captioned = false;   // and it is the workspace alone, which says what it is of
};

// A path that was chosen, where something is already.
struct ReplaceQuestion {
  Purpose purpose = Purpose::save_png;
  std::string path;
};

// The way through what was recorded of the sentence, which is then a pinned one.
struct Timeline {
  Shown past;        // a recorded frame that is shown instead of the present; no snapshot: the present is
  Shown inspection;  // through the weights of a recorded step, newest; may be of another frame than `past`
  bool playing = false;
  double frame_began = 0;  // ImGui::GetTime() when the frame was reached; meaningful while playing
  float speed = 1;         // of the film
  bool focused = false;    // has the keyboard
};

// What the window may do to the run that it shows.
enum class Rights {
  owner,    // all: it trains beside the window
  control,  // it trains elsewhere, and may be trained, paused and adjusted from here
  watch,    // only look
};

struct AppState {
  // ---- received
  Rights rights = Rights::owner;  // filled in by the app
  Status status;
  RunOpened run;  // run.run is 0 until the first one is there
  Curves curves;
  History history;                   // the pinned sentences; the same frames as the worker's
  std::optional<Progress> progress;  // only while something long is under way
  std::optional<StudyUnderWay> study;
  std::uint64_t studies = 0;          // asked for so far
  Shown newest;                       // may have only pieces and encoder yet
  Shown complete;                     // the newest that was decoded to its end; shown until the next one is
  std::optional<OtherRun> other;      // the run that it is compared with, B; none: nothing is compared
  std::uint64_t versions = 0;         // of what was shown so far: every one is another
  std::vector<Toast> toasts;          // oldest first
  std::vector<Autosave> autosaves;    // by other sessions, which are no more; newest first
  std::optional<NotSaved> not_saved;  // waits for an answer
  Facts facts;
  Translations translations;

  // ---- the user's
  Layout layout;
  Config edited;              // the setup column; differs from run.config while edits wait for Reset
  bool presentation = false;  // F11: chrome hidden, and all of it to be read from the last row
  std::string dropped_file;   // waiting for "train on it?"; empty: none
  ComparingView comparing;
  std::optional<Purpose> purpose;  // of the file browser, while it is open
  std::optional<ReplaceQuestion> replace_question;
  std::string saved_to;  // where the user had the present run saved; empty: nowhere yet
  bool show_help = false;
  bool focus_workspace = true;  // gives it the keyboard in the next frame
  bool focus_sentence = false;  // puts the keyboard into the sentence in the next frame
  Palette palette;
  GlossaryView glossary;
  ManualView manual;
  AttachDialog attaching;
  ServeDialog serving;
  std::optional<Service> service;  // none: nobody can watch
  ContextMenu context_menu;
  std::string_view field_to_show;  // of the setup, brought into view in the next frame; empty: none
  FileBrowser browser;
  std::string reference;  // what the sentence should become; empty: not known
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
  std::optional<StudyQuestion> study_wanted;   // by a workspace
  std::optional<std::string> sentence_wanted;  // by a workspace
  std::vector<Command> commands;               // oldest first; the app posts and clears them after every frame
  bool pausing = false;                        // asked for: the update under way is being finished
  Requests requests;
};

// What every workspace shows, of the side that is shown: the recorded frame that was chosen, or the present. The one
// place that decides it. Of a frame whose step's weights were recorded it is a look through these, as soon as it is
// there.
ShownMaps shown_maps(const AppState& scope);

// The same of one of two runs.
ShownMaps shown_maps(const AppState& scope, RunSide side);

// The run whose workspaces are shown, and what was measured of it: the other one if its side is.
const RunOpened& shown_run(const AppState& scope);
const Curves& shown_curves(const AppState& scope);
bool shows_other(const AppState& scope);

// The step whose weights are to be looked through; none: the present ones, or they were not recorded.
std::optional<std::int64_t> inspected_step(const AppState& scope);

// Why it is not done in a window on a run that trains elsewhere.
inline constexpr const char* only_watches = mark("Read-only window: only the training process can change this.");
inline constexpr const char* only_where_it_trains =
    mark("Read-only window: runs can be opened, reset, compared, saved and served only where they are trained.");

// The run may be trained, paused and adjusted, and sentences pinned to it, from here.
bool may_control(const AppState& scope);

// Another run may take its place, and it may be begun anew, saved and compared from here.
bool may_replace(const AppState& scope);

// A run is open.
bool has_run(const AppState& scope);

// Window and lessons speak it: the one that was chosen, or the system's.
Language language_of(const AppState& scope);

// From now on in that language; once a frame, before anything is drawn or said.
void speak_language(const AppState& scope);

// The one chosen, else the system's.
ThemeName theme_of(const AppState& scope);

// Shows a message of the window's own side (settings that could not be read, a file that could not be written).
Toast& notify(AppState& scope, Severity severity, std::string text);

// Nothing but spaces.
bool is_blank(const std::string& text);

// True while frames are wanted without input: something plays or fades.
bool animating(const AppState& scope);

}  // namespace attnscope
