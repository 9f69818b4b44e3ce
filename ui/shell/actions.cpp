#include "shell/actions.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "shell/captures.h"
#include "shell/comparing.h"
#include "shell/dialogs/context_menu.h"
#include "shell/export.h"
#include "shell/glossary/glossary.h"
#include "shell/head_actions.h"
#include "shell/lessons/lessons.h"
#include "shell/panels.h"
#include "shell/pen.h"
#include "shell/purposes.h"
#include "shell/saved_view.h"
#include "shell/timeline/timeline.h"
#include "shell/training.h"
#include "widgets/words.h"
#include "workspaces/attention/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

bool is_training(const AppState& scope) {
  return scope.a.status.activity == Activity::training;
}

template <Purpose purpose>
bool can_choose_it(const AppState& scope) {
  return can_choose(scope, purpose);
}

template <Purpose purpose>
void choose_it(AppState& scope) {
  choose(scope, purpose);
}

// ---- the run

std::string train_title(const AppState& scope) {
  return is_training(scope) ? tr("Pause") : tr("Train");
}

std::string train_help(const AppState& scope) {
  switch (scope.a.status.activity) {
    case Activity::training:
      return tr("Pauses training after the current step.");
    case Activity::finished:
      return trf("All {} steps are done. Continues training beyond them.", grouped(scope.a.run.config.training.steps));
    case Activity::preparing:
      return tr("The run is being prepared.");
    case Activity::idle:
    case Activity::paused:
      break;
  }
  return tr("Trains the model in the background with the current setup (paper §5). All views follow.");
}

bool can_train_or_pause(const AppState& scope) {
  return (is_training(scope) && may_control(scope)) || can_train(scope);
}

std::string reset_help(const AppState& scope) {
  const std::string complaint = config_complaint(scope.edited);
  if (!complaint.empty()) return complaint;
  const std::string& from = scope.edited.model.from;
  return (from.empty() ? std::string(tr("Restarts from new random weights with the setup on the left. The corpus and "
                                        "the tokenizer are rebuilt if their settings changed."))
                       : trf("Restarts with the setup on the left, initialized from the weights of {}.", from)) +
         tr(" The current run is kept; press Ctrl+Z to return to it.");
}

std::string own_folder(const AppState& scope) {
  return scope.saved_to.empty() ? scope.a.run.folder : scope.saved_to;
}

bool has_weights_in_folder(const AppState& scope) {
  return has_run(scope) && !own_folder(scope).empty();
}

void begin_with_weights(AppState& scope) {
  scope.edited.model.from = own_folder(scope);
  show_field(scope, "model.from");
}

constexpr const char* save_help =
    mark("Saves configuration, weights, tokenizer and curves to a folder (safetensors, JSON).");

std::string save_title(const AppState& scope) {
  return scope.saved_to.empty() ? tr("Save run…") : tr("Save run");
}

std::string save_again_help(const AppState& scope) {
  return scope.saved_to.empty() ? tr(save_help) : trf("Saves the run to {} again.", scope.saved_to);
}

void save(AppState& scope) {
  if (scope.saved_to.empty()) return choose(scope, Purpose::save_run);
  scope.commands.push_back(SaveRun{scope.saved_to});
}

std::string save_view_help(const AppState& scope) {
  if (!can_save_view(scope))
    return tr("The run has no folder yet from which the view could open it. Save the run first.");
  return tr("Saves a small file that restores this view: run, sentence, workspace, selection and interventions.");
}

std::string serve_help(const AppState& scope) {
  if (!scope.service) return tr("Lets others watch this run in their own windows (File, Attach… there).");
  return trf("The run can be watched at {}. Shows what others need to connect, and stops serving.",
             scope.service->address);
}

bool is_served(const AppState& scope) {
  return scope.service.has_value();
}

// ---- the view

constexpr const char* workspaces_title = mark("Next workspace, previous workspace");

template <int by>
void step_workspace(AppState& scope) {
  const auto all = workspaces();
  const auto count = static_cast<int>(all.size());
  const auto at = static_cast<int>(scope.layout.workspace - all.data());
  show_workspace(scope, all[static_cast<std::size_t>((at + by + count) % count)]);
}

std::string plot_weight_title(const AppState& scope) {
  return scope.a.run.config.model.is_signed() ? tr("Plot the selected value") : tr("Plot the selected weight");
}

std::string plot_weight_help(const AppState& scope) {
  if (scope.a.run.config.model.is_signed())
    return tr("Plots the value of the selected query and key over the captured steps. ") + weight_problem(scope);
  return tr("Plots the weight of the selected query on the selected key over the recorded steps, below the loss "
            "curve. ") +
         weight_problem(scope);
}

bool can_plot_weight(const AppState& scope) {
  return weight_problem(scope).empty();
}

template <bool Layout::*column>
bool is_open(const AppState& scope) {
  return scope.layout.*column;
}

template <bool Layout::*column>
void toggle_column(AppState& scope) {
  scope.layout.*column = !(scope.layout.*column);
}

template <Density density>
bool is_density(const AppState& scope) {
  return scope.layout.density == density;
}

template <Density density>
void choose_density(AppState& scope) {
  set_density(scope.layout, density);
}

template <ThemeName theme>
bool is_theme(const AppState& scope) {
  return scope.layout.theme == theme;
}

template <ThemeName theme>
void set_theme(AppState& scope) {
  scope.layout.theme = theme;
}

bool is_system_theme(const AppState& scope) {
  return !scope.layout.theme;
}

void follow_system_theme(AppState& scope) {
  scope.layout.theme.reset();
}

// Rounded, so that zooming in and out returns to the same value.
void set_zoom(Layout& layout, float zoom) {
  layout.zoom = clamped(std::round(zoom * 20) / 20, min_zoom, max_zoom);
}

void toggle_controls(AppState& scope) {
  move_through_controls(!moves_through_controls());
  scope.focus_window = moves_through_controls();
  scope.focus_workspace = !scope.focus_window;
}

bool is_moving_through_controls(const AppState&) {
  return moves_through_controls();
}

constexpr const char* escape_again = mark("Press Escape again to leave the presentation. The lesson stays open.");

void toggle_presentation(AppState& scope) {
  scope.presentation = !scope.presentation;
  if (!scope.presentation) wipe(scope);
  std::erase_if(scope.toasts, [](const Toast& toast) { return toast.message.text == tr(escape_again); });
  scope.requests.fullscreen_changed = true;
}

bool is_presentation(const AppState& scope) {
  return scope.presentation;
}

bool is_pen_held(const AppState& scope) {
  return scope.pen.held;
}

bool is_drawn_on(const AppState& scope) {
  return !scope.pen.lines.empty();
}

// ---- lessons

bool are_lessons_open(const AppState& scope) {
  return scope.lessons.open;
}

bool has_lessons(const AppState& scope) {
  return !scope.facts.lessons.empty();
}

void toggle_lessons(AppState& scope) {
  if (scope.lessons.open)
    leave_lesson(scope);
  else
    open_lessons(scope);
}

template <int by>
void move_part_by(AppState& scope) {
  move_part(scope, by);
}

template <Language language>
void choose_language(AppState& scope) {
  scope.layout.language = language;
}

template <Language language>
bool is_language(const AppState& scope) {
  return scope.layout.language == language;
}

void follow_system(AppState& scope) {
  scope.layout.language.reset();
}

bool follows_system(const AppState& scope) {
  return !scope.layout.language;
}

void open_example(AppState& scope) {
  scope.commands.emplace_back(OpenRun{.path = scope.facts.shipped_run});
}

bool has_example(const AppState& scope) {
  const bool is_open = scope.a.run.folder == scope.facts.shipped_run && scope.a.status.step == scope.a.run.step;
  return !scope.facts.shipped_run.empty() && !is_open;
}

bool has_better_step(const AppState& scope) {
  return scope.a.status.best_step && *scope.a.status.best_step < scope.a.status.step && !scope.b;
}

// With a lesson open, leaves only at the second press: the key is next to those of a clicker's software.
void leave_presentation(AppState& scope) {
  constexpr double time_to_confirm = 4;  // seconds
  const double now = ImGui::GetTime();
  if (in_lesson(scope) && now - std::exchange(scope.escaped_at, now) > time_to_confirm)
    notify(scope, Severity::info, tr(escape_again));
  else
    toggle_presentation(scope);
}

// Undoes one thing per press.
void escape(AppState& scope) {
  scope.focus_workspace = true;
  if (ImGui::GetIO().NavVisible) return;  // leaving keyboard navigation is enough
  if (scope.pen.held) {
    toggle_pen(scope);
  } else if (scope.presentation) {
    leave_presentation(scope);
  } else if (scope.timeline.focused) {
    show_present(scope);
  } else {
    let_go(scope.views.of<AttentionView>());
  }
}

// ---- two runs

template <DisplayedSide side>
bool is_side(const AppState& scope) {
  return scope.comparing.side == side;
}

template <DisplayedSide side>
void show_this_side(AppState& scope) {
  show_side(scope, side);
}

template <RunSide side>
void keep_this_side(AppState& scope) {
  keep_side(scope, side);
}

// ---- the recorded steps

constexpr const char* frames_title = mark("Pinned sentence: previous recorded step, next recorded step");
constexpr const char* ends_title = mark("Pinned sentence: first recorded step, present");

template <int by>
void move_by(AppState& scope) {
  move_frame(scope, by);
}

bool is_recorded_sentence(const AppState& scope) {
  return recorded_sentence(scope) != nullptr;
}

bool is_in_past(const AppState& scope) {
  return scope.a.past.snapshot != nullptr;
}

// ---- the table

constexpr Chord ctrl(Key key) {
  return {.key = key, .ctrl = true};
}

constexpr Chord shift(Key key) {
  return {.key = key, .shift = true};
}

constexpr Chord ctrl_shift(Key key) {
  return {.key = key, .ctrl = true, .shift = true};
}

constexpr Shortcut everywhere(Chord chord) {
  return {chord, ShortcutContext::everywhere};
}

constexpr Shortcut typing(Chord chord) {
  return {chord, ShortcutContext::typing};
}

constexpr Shortcut in_window(Chord chord) {
  return {chord, ShortcutContext::window};
}

// Keyboard navigation is active, which the timeline's shortcuts must not disturb.
constexpr Shortcut of_timeline(Chord chord) {
  return {chord, ShortcutContext::not_walking};
}

constexpr Chord repeated(Chord chord) {
  chord.repeats = true;
  return chord;
}

// ---- the hover target

std::string copy_title(const AppState& scope) {
  const std::optional<Pointed>& about = scope.context_menu.about;
  const bool brief = about && about->value.size() <= 24 && !about->value.empty();
  return brief ? trf("Copy {}", about->value) : tr("Copy value");
}

bool has_value(const AppState& scope) {
  return scope.context_menu.about && !scope.context_menu.about->value.empty();
}

void copy_value(AppState& scope) {
  if (has_value(scope)) ImGui::SetClipboardText(scope.context_menu.about->value.c_str());
}

// Opens the glossary at the hover target, else at the keyboard's target; closes it if open.
void open_glossary_here(AppState& scope) {
  const std::optional<Pointed> pointed = hovered_target(), focused = focused_target();
  const std::optional<Pointed>& about = pointed && !terms_of(*pointed).empty() ? pointed : focused;
  const std::vector<const Term*> terms = about ? terms_of(*about) : std::vector<const Term*>();
  if (terms.empty()) {
    scope.glossary.open = true;
  } else {
    open_glossary(scope, terms.front()->name);
  }
}

// ---- the selected head

std::string inside_help(const AppState& scope) {
  return trf("Shows the head's computation: q·k, ÷√d_k, mask, softmax, ×V, W_O. {}", head_problem(scope));
}

std::string head_help(const AppState& scope) {
  return trf(
      "Ablates the head: its contribution to W_O becomes zero, and everything after it is recomputed. Click again to "
      "re-enable it. {}",
      head_problem(scope));
}

std::string layer_help(const AppState& scope) {
  return trf("The layer passes its input on unchanged. Click again to re-enable it. {}", head_problem(scope));
}

std::string key_help(const AppState& scope) {
  return trf("Masks this key, so no query of this head can attend to it. Click again to unmask it. {}",
             key_problem(scope));
}

std::string force_help(const AppState& scope) {
  return trf("Gives the selected key all of the selected query's attention, only in this head. {}", key_problem(scope));
}

constexpr HoverTargets heads = {HoverTarget::map, HoverTarget::head};
constexpr HoverTargets pictures = {HoverTarget::map, HoverTarget::head, HoverTarget::plot, HoverTarget::token};

constexpr Shortcut no_key;
constexpr MenuPlace no_menu;
constexpr bool (*always)(const AppState&) = nullptr;

// A separator above it.
constexpr MenuPlace apart(Menu menu) {
  return {menu, true};
}

constexpr std::array table = {
    // ---- the menus
    Action{
        "open-run", "Open run…",
        "Opens the folder of a saved run: weights, tokenizer, curves. Or a capture, a .safetensors file with attention "
        "that another program recorded.",
        typing(ctrl(Key::o)), Menu::file, choose_it<Purpose::open_run>},
    Action{"example", "Example", "Opens the trained model that ships with attnscope.", no_key, Menu::file, open_example,
           has_example},
    Action{"open-corpus", "Open corpus…",
           "Opens a text file of sentence pairs: source, tab, target. You can also drop files on the window.", no_key,
           Menu::file, choose_it<Purpose::open_corpus>},
    Action{"open-view", "Open view…",
           "Opens a view saved with “Save this view”: its run, sentence, workspace and selection.", no_key, Menu::file,
           choose_it<Purpose::open_view>},
    Action{"attach", "Attach…",
           "Opens another window that watches a run training elsewhere, with attnscope train --serve or in a window "
           "that serves it.",
           no_key, Menu::file, [](AppState& scope) { scope.attaching.open = true; }},
    Action{"save-run", save_title, save_again_help, typing(ctrl(Key::s)), Menu::file, save, has_run},
    Action{"save-run-as", "Save run as…", save_help, typing(ctrl_shift(Key::s)), Menu::file,
           choose_it<Purpose::save_run>, has_run},
    Action{"save-view", "Save this view…", save_view_help, no_key, Menu::file, choose_it<Purpose::save_view>,
           can_save_view},
    Action{"quit", "Quit", "", typing(ctrl(Key::q)), apart(Menu::file),
           [](AppState& scope) { scope.requests.quit = true; }},
    Action{"undo", undo_title,
           "Undoes the last choice: a sentence, a setting, an intervention, an output token, another run. While you "
           "type, it undoes the last edit of the text.",
           in_window(ctrl(Key::z)), Menu::edit, undo, can_undo},
    Action{"redo", redo_title, "Redoes what was undone.", in_window(ctrl_shift(Key::z)), Menu::edit, redo, can_redo},
    Action{"train", train_title, train_help, Shortcut{Chord{Key::space}, ShortcutContext::not_pressing}, Menu::run,
           play_or_pause, can_train_or_pause},
    Action{"step", "Step", "Runs one optimizer step, then pauses.",
           Shortcut{ctrl(Key::right), ShortcutContext::window, Chord{Key::right}}, Menu::run, step_once, can_train},
    Action{"reset", "Reset", reset_help, no_key, Menu::run, reset, can_reset},
    Action{"go-to-best", "Go to best",
           "Opens this run at the step with the lowest validation loss. The run is saved first, and its newest weights "
           "stay in its folder.",
           no_key, Menu::run, [](AppState& scope) { scope.commands.emplace_back(GoToBest{}); }, has_better_step},
    Action{"begin-with", "Initialize from these weights",
           "Reset will start from the weights of the current run, as saved in its folder, instead of random ones. Use "
           "it to fine-tune the model on another corpus, as a separate run.",
           no_key, Menu::run, begin_with_weights, has_weights_in_folder},
    Action{"compare", "Compare with…",
           "Trains or opens a second run next to this one, on the same batches from the same seed: a classic pair, "
           "this configuration with other values, or a saved run.",
           no_key, apart(Menu::run), ask_for_comparison, can_compare},
    Action{"next-side", "A, B, A − B", "Switches to the next side of the comparison.", typing(ctrl_shift(Key::c)),
           Menu::run, show_next_side, is_comparing},
    Action{"show-a", "Show A", "", no_key, Menu::run, show_this_side<DisplayedSide::a>, is_comparing,
           is_side<DisplayedSide::a>},
    Action{"show-b", "Show B", "", no_key, Menu::run, show_this_side<DisplayedSide::b>, is_comparing,
           is_side<DisplayedSide::b>},
    Action{"show-difference", "Show A − B", "", no_key, Menu::run, show_this_side<DisplayedSide::difference>,
           is_comparing, is_side<DisplayedSide::difference>},
    Action{"keep-a", "Keep only A",
           "Ends the comparison and continues with A. B is saved and can be opened with File, Open run.", no_key,
           Menu::run, keep_this_side<RunSide::a>, can_keep_side},
    Action{"keep-b", "Keep only B",
           "Ends the comparison and continues with B. A is saved and can be opened with File, Open run.", no_key,
           Menu::run, keep_this_side<RunSide::b>, can_keep_side},
    Action{"evaluate", "Evaluate on held-out pairs",
           "Evaluates the model on the held-out part of the corpus: BLEU, exact matches, nats per token. It runs "
           "between training steps, on the current weights.",
           no_key, apart(Menu::run), [](AppState& scope) { start_study(scope, HeldOutStudy{}); }, has_run},
    Action{"serve", "Serve…", serve_help, no_key, Menu::run, [](AppState& scope) { scope.serving.open = true; },
           has_run, is_served},
    Action{"save-png", "Picture as PNG…", "Saves the workspace as it is shown, as a bitmap.", no_key, Menu::exports,
           choose_it<Purpose::save_png>, can_choose_it<Purpose::save_png>, nullptr, pictures},
    Action{
        "save-svg", "Picture as SVG…",
        "Saves the workspace as it is shown, as a vector graphic that can be scaled and edited, for papers and slides.",
        no_key, Menu::exports, choose_it<Purpose::save_svg>, can_choose_it<Purpose::save_svg>, nullptr, pictures},
    Action{"copy-picture", "Copy picture", "Copies the workspace as it is shown, to paste into slides or an email.",
           no_key, Menu::exports, copy_workspace, can_take_picture, nullptr, pictures},
    Action{"save-handout", "Handout as HTML…",
           "Saves a page to print, with the open lesson and the workspace as it is shown, in one file.", no_key,
           Menu::exports, choose_it<Purpose::save_handout>, can_choose_it<Purpose::save_handout>, nullptr, pictures},
    Action{
        "save-csv", "Numbers as CSV…",
        "Saves the data of the workspace as CSV: the selected head's weights with both tokens, or the points of a map.",
        no_key, apart(Menu::exports), choose_it<Purpose::save_csv>, can_choose_it<Purpose::save_csv>, nullptr,
        pictures},
    Action{"save-curves", "Curves as CSV…", "Saves all curves as CSV, one row per step (downsampled for long runs).",
           no_key, Menu::exports, choose_it<Purpose::save_curves>, can_choose_it<Purpose::save_curves>},
    Action{"save-json", "Numbers as JSON…",
           "Saves the data of the workspace as JSON: the selected head's weights with both tokens, or the points of a "
           "map.",
           no_key, Menu::exports, choose_it<Purpose::save_json>, can_choose_it<Purpose::save_json>},
    Action{"copy-numbers", "Copy numbers", "Copies the data of the workspace as CSV, to paste into a spreadsheet.",
           no_key, Menu::exports, copy_numbers, has_numbers, nullptr, pictures},
    Action{"save-capture", "Capture…",
           "Saves tokens and attention of the sentence, at all its recorded steps, in one .safetensors file that "
           "attnscope and other programs open without the model.",
           no_key, Menu::exports, choose_it<Purpose::save_capture>, can_choose_it<Purpose::save_capture>},
    Action{"save-page", "Interactive page…",
           "Saves the sentence and the other pinned ones, at all their recorded steps, as one .html file. Any browser "
           "shows it, without a network, and attnscope opens it like a capture.",
           no_key, Menu::exports, choose_it<Purpose::save_page>, can_choose_it<Purpose::save_page>},
    Action{
        "save-report", "Report…",
        "Writes a report of the saved run, with its settings, curves, scores, heads, embeddings and circuit, as a page "
        "and, if weasyprint or chromium is installed, as PDF. While two runs are compared, it compares them.",
        no_key, Menu::exports, choose_it<Purpose::save_report>, can_choose_it<Purpose::save_report>},
    Action{"save-film", "Film as numbered PNGs…",
           "Saves the workspace at every recorded step of the pinned sentence as film-00001.png, film-00002.png and so "
           "on, in a folder.",
           no_key, apart(Menu::exports), choose_it<Purpose::save_film>, can_choose_it<Purpose::save_film>},
    Action{"pin",
           "Pin the sentence",
           pin_help,
           typing(ctrl(Key::d)),
           apart(Menu::view),
           toggle_pin,
           can_pin,
           is_pinned,
           {HoverTarget::token}},
    Action{"plot-weight",
           plot_weight_title,
           plot_weight_help,
           no_key,
           Menu::view,
           plot_weight,
           can_plot_weight,
           nullptr,
           {HoverTarget::map}},
    Action{"simple", "Simple", "Shows only the sentence and the model's output.", no_key, apart(Menu::view),
           choose_density<Density::simple>, always, is_density<Density::simple>},
    Action{"standard", "Standard", "Also shows the setup and the curves, with the most important settings.", no_key,
           Menu::view, choose_density<Density::standard>, always, is_density<Density::standard>},
    Action{"everything", "Everything", "Shows all settings and all numbers.", no_key, Menu::view,
           choose_density<Density::everything>, always, is_density<Density::everything>},
    Action{"setup", "Setup", "Shows or hides the setup column.", no_key, apart(Menu::view),
           toggle_column<&Layout::setup_open>, always, is_open<&Layout::setup_open>},
    Action{"curves", "Curves", "Shows or hides the curves.", no_key, Menu::view, toggle_column<&Layout::curves_open>,
           has_curves, is_open<&Layout::curves_open>},
    Action{"system-theme", "System theme", "Uses the desktop's light or dark theme, as it was when attnscope started.",
           no_key, apart(Menu::view), follow_system_theme, always, is_system_theme},
    Action{"dark-theme", "Dark theme", "", no_key, Menu::view, set_theme<ThemeName::dark>, always,
           is_theme<ThemeName::dark>},
    Action{"light-theme", "Light theme, for projectors", "", no_key, Menu::view, set_theme<ThemeName::light>, always,
           is_theme<ThemeName::light>},
    Action{"system-language", "System language",
           "Shows the window and the lessons in the system's language, if it is one of those below.", no_key,
           apart(Menu::view), follow_system, always, follows_system},
    Action{"english", language_titles[0], "Window and lessons in English.", no_key, Menu::view,
           choose_language<Language::english>, always, is_language<Language::english>},
    Action{"french", language_titles[1], "Fenêtre et leçons en français.", no_key, Menu::view,
           choose_language<Language::french>, always, is_language<Language::french>},
    Action{"spanish", language_titles[2], "Ventana y lecciones en español.", no_key, Menu::view,
           choose_language<Language::spanish>, always, is_language<Language::spanish>},
    Action{"chinese", language_titles[3], "窗口和课程使用简体中文。", no_key, Menu::view,
           choose_language<Language::chinese>, always, is_language<Language::chinese>},
    Action{"larger", "Larger", "", everywhere(ctrl(Key::plus)), apart(Menu::view),
           [](AppState& scope) { set_zoom(scope.layout, scope.layout.zoom * 1.1F); }},
    Action{"smaller", "Smaller", "", everywhere(ctrl(Key::minus)), Menu::view,
           [](AppState& scope) { set_zoom(scope.layout, scope.layout.zoom / 1.1F); }},
    Action{"normal-size", "Normal size", "", everywhere(ctrl(Key::digit_0)), Menu::view,
           [](AppState& scope) { set_zoom(scope.layout, 1); }},
    Action{"presentation", "Presentation",
           "Full screen with larger text, only the workspace and the sentence. Press Escape to leave.",
           everywhere(Chord{Key::f11}), apart(Menu::view), toggle_presentation, always, is_presentation},
    Action{"controls", "Move through the controls",
           "Arrow keys move from control to control, Space presses one. The same key, or a click, gives the "
           "arrow keys back to the view.",
           typing(Chord{Key::f6}), Menu::view, toggle_controls, always, is_moving_through_controls},
    Action{"pen", "Pen", "Draws on top of the window with the mouse. Escape or the same key puts the pen away.",
           in_window(Chord{Key::d}), Menu::view, toggle_pen, always, is_pen_held},
    Action{"wipe", "Erase drawings", "", in_window(shift(Key::d)), Menu::view, wipe, is_drawn_on},
    Action{"lessons", "Lessons",
           "Opens the lessons next to the window: a question, your prediction, and what the model does.",
           typing(ctrl(Key::f1)), Menu::lessons, toggle_lessons, has_lessons, are_lessons_open},
    Action{"next-part", "Next part of the lesson", "", in_window(shift(Key::page_down)), apart(Menu::lessons),
           move_part_by<1>, in_lesson},
    Action{"part-before", "Previous part of the lesson", "", in_window(shift(Key::page_up)), Menu::lessons,
           move_part_by<-1>, in_lesson},
    Action{"restart-lesson", "Restart the lesson", "Restores everything to its state at the start of the lesson.",
           in_window(ctrl(Key::home)), Menu::lessons, restart_lesson, in_lesson},
    Action{"new-lesson", "New lesson…",
           "Writes a template of a lesson and shows it; whenever you save it, it is shown again.", no_key,
           apart(Menu::lessons), choose_it<Purpose::save_lesson>, can_choose_it<Purpose::save_lesson>},
    Action{"preview-lesson", "Preview a lesson…",
           "Shows a lesson from a file; whenever you save it, it is shown again.", no_key, Menu::lessons,
           choose_it<Purpose::open_lesson>, can_choose_it<Purpose::open_lesson>},
    Action{"leave-lesson", "Leave the lesson",
           "Restores what you had before the lesson. You can continue the lesson later.", no_key, Menu::lessons,
           leave_lesson, in_lesson},
    Action{"experiments", "Experiments…",
           "Opens the gallery of experiments: known results that you can train and watch on this computer.", no_key,
           Menu::experiments, [](AppState& scope) { scope.experiments.asked = true; }},
    Action{"open-experiment", "Open folder…", "Adds an experiment of your own to the gallery.", no_key,
           Menu::experiments, choose_it<Purpose::open_experiment>},
    Action{"open-sweep", "Open sweep…",
           "Opens the folder of a sweep: all its runs in a table and a chart, in Mechanisms, Runs.", no_key,
           Menu::experiments, choose_it<Purpose::open_run>},
    Action{"palette", "Find anything…",
           "Searches every action, view, setting, corpus and preset. Type what you want to see or do.",
           typing(ctrl(Key::p)), Menu::help, [](AppState& scope) { scope.palette.asked = true; }},
    Action{"manual", "Manual", "Opens the manual: one page per task, from the first sentence to distributed training.",
           no_key, Menu::help, [](AppState& scope) { scope.manual.open = true; },
           [](const AppState& scope) { return !scope.facts.manual.empty(); }},
    Action{"glossary", "Glossary",
           "Explains the terms of the window in plain language, with formula, source and where to see them.",
           typing(Chord{Key::f1}), Menu::help, open_glossary_here},
    Action{"keys", "Keys and mouse", "", typing(shift(Key::f1)), Menu::help,
           [](AppState& scope) { scope.show_help = true; }},
    // ---- the context menu, and the palette
    Action{"what-can-be-done", "Context menu",
           "Opens the right-click menu of the control or cell that has the keyboard focus.", typing(shift(Key::f10)),
           no_menu, [](AppState& scope) { scope.context_menu.asked = true; },
           [](const AppState&) { return target_at_keyboard().has_value(); }},
    Action{"copy-value",
           copy_title,
           "Copies the value as text.",
           no_key,
           no_menu,
           copy_value,
           has_value,
           nullptr,
           {HoverTarget::map, HoverTarget::plot, HoverTarget::token}},
    Action{"open-head",
           "Open this head",
           "Shows the head large, in the workspace Attention.",
           no_key,
           no_menu,
           open_head,
           has_head,
           nullptr,
           {HoverTarget::head}},
    Action{"open-inside", "Inside this head", inside_help, no_key, no_menu, open_inside, has_head, nullptr, heads},
    Action{"head-off", "Switch this head off", head_help, no_key, no_menu, switch_head, has_head, is_head_off, heads},
    Action{"layer-off", "Switch this layer off", layer_help, no_key, no_menu, switch_layer, has_head, is_layer_off,
           heads},
    Action{"hide-key",
           "Mask this key in the head",
           key_help,
           no_key,
           no_menu,
           hide_key,
           has_key,
           is_key_hidden,
           {HoverTarget::map}},
    Action{"force-key",
           "Give this key all of the query's attention",
           force_help,
           no_key,
           no_menu,
           force_cell,
           has_cell,
           nullptr,
           {HoverTarget::map}},
    // ---- shortcuts only
    Action{"type", "Type a sentence", "", typing(ctrl(Key::t)), no_menu,
           [](AppState& scope) { scope.focus_sentence = true; }},
    Action{"export", "Export…", "", typing(ctrl(Key::e)), no_menu,
           [](AppState& scope) { scope.exports.menu_asked = true; }},
    Action{"next-workspace", workspaces_title, "", typing(ctrl(Key::tab)), no_menu, step_workspace<1>},
    Action{"previous-workspace", workspaces_title, "", typing(ctrl_shift(Key::tab)), no_menu, step_workspace<-1>},
    Action{"escape", "Leave presentation, close, or clear the selection", "", Shortcut{Chord{Key::escape}}, no_menu,
           escape},
    Action{"earlier", frames_title, "", of_timeline(repeated(shift(Key::left))), no_menu, move_by<-1>},
    Action{"later", frames_title, "", of_timeline(repeated(shift(Key::right))), no_menu, move_by<1>},
    Action{"first", ends_title, "", of_timeline(shift(Key::home)), no_menu,
           [](AppState& scope) { show_frame(scope, 0); }},
    Action{"live", ends_title, "Returns to the present: all views show the current model again.",
           of_timeline(shift(Key::end)), no_menu, show_present, is_in_past},
    Action{"film", "Pinned sentence: play or stop the film",
           "Plays the recorded steps of this sentence as a film, to the last frame.", of_timeline(shift(Key::enter)),
           no_menu, [](AppState& scope) { toggle_film(scope, ImGui::GetTime()); }, is_recorded_sentence},
};

// Actions that affect training, and actions that replace or save the run.
constexpr std::array<std::string_view, 3> of_training = {"train", "step", "pin"};
constexpr std::array<std::string_view, 14> of_runs = {"open-run", "go-to-best",  "example", "open-corpus", "open-view",
                                                      "save-run", "save-run-as", "reset",   "begin-with",  "compare",
                                                      "keep-a",   "keep-b",      "lessons", "serve"};

// Actions that need a model, which a capture does not have.
constexpr std::array<std::string_view, 20> of_models = {
    "save-run",  "save-run-as", "train",     "step",        "reset",    "begin-with",     "compare",
    "evaluate",  "serve",       "pin",       "open-inside", "head-off", "layer-off",      "hide-key",
    "force-key", "lessons",     "next-side", "show-a",      "show-b",   "show-difference"};

// The reason why this window may not do it if the run trains elsewhere or is a capture; null: allowed.
const char* forbidden(const Action& action, const AppState& scope) {
  if (shows_capture(scope) && std::ranges::find(of_models, action.name) != of_models.end())
    return mark("This needs a model, and a capture contains only its attention: open a run or checkpoint.");
  if (!may_control(scope) && std::ranges::find(of_training, action.name) != of_training.end()) return only_watches;
  if (!may_replace(scope) && std::ranges::find(of_runs, action.name) != of_runs.end()) return only_where_it_trains;
  return nullptr;
}

// True while keys go into a text field. Dear ImGui still reports this in the frame after Enter or Escape left the
// field; a key typed quickly on a slow machine would be lost then.
bool is_typing() {
  return ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive();
}

bool is_in_context(ShortcutContext reach) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool dialog = ImGui::IsPopupOpen(static_cast<const char*>(nullptr), ImGuiPopupFlags_AnyPopup);
  if (reach == ShortcutContext::everywhere) return true;
  if (dialog) return false;
  if (reach == ShortcutContext::typing) return true;
  if (is_typing()) return false;
  return reach == ShortcutContext::window || !(reach == ShortcutContext::not_pressing ? io.NavVisible : io.NavActive);
}

// The timeline's shortcuts use Shift, which is optional while the timeline has focus.
bool is_pressed(const Action& action, const AppState& scope) {
  if (!action.key.chord || !is_in_context(action.key.reach)) return false;
  Chord chord = *action.key.chord;
  if (pressed(chord)) return true;
  const bool is_timelines = chord.shift && !chord.ctrl;
  chord.shift = false;
  return is_timelines && scope.timeline.focused && pressed(chord);
}

void handle_groups(AppState& scope) {
  if (!is_in_context(ShortcutContext::window)) return;
  for (const std::span<const Workspace> group : workspace_groups()) {
    if (!pressed(group_key(group.front()))) continue;
    const auto can_show = [&](const Workspace& workspace) { return !absence(scope, workspace); };
    const auto open = std::ranges::find(group, scope.layout.workspace, [](const Workspace& each) { return &each; });
    auto next = open == group.end() ? open : std::find_if(open + 1, group.end(), can_show);
    if (next == group.end()) next = std::ranges::find_if(group, can_show);
    if (next == group.end())
      notify(scope, Severity::info, absence(scope, group.front()));
    else
      show_workspace(scope, *next);
  }
}

// Returns true if the open workspace handled a key.
bool handle_workspace_keys(AppState& scope, TextureStore& textures, const Skin& skin) {
  const Workspace& workspace = *scope.layout.workspace;
  if (!workspace.keys) return false;
  WorkspaceContext context = context_of(scope, textures, skin);
  bool used = false;
  for (const WorkspaceKey& key : workspace.keys()) {
    if (!pressed(key.chord)) continue;
    key.act(context);
    used = true;
  }
  return used;
}

// On a projector, the page keys, arrows and Space, as sent by presenters' clickers, step through the lesson, also after
// a mouse click; the page keys also while typing. Returns true if handled.
bool handle_clicker(AppState& scope) {
  constexpr auto any = [](auto... keys) { return (pressed({.key = keys}) || ...); };
  const bool paged = any(Key::page_down, Key::page_up);
  if (!scope.presentation || !in_lesson(scope) ||
      !is_in_context(paged ? ShortcutContext::typing : ShortcutContext::window))
    return false;
  const bool next = any(Key::page_down, Key::right, Key::down, Key::space);
  const bool back = any(Key::page_up, Key::left, Key::up);
  if (next) advance_lesson(scope);
  if (back) move_part(scope, -1);
  if (next || back) keep_keys_from_controls();
  return next || back;
}

// A shortcut that is inactive here is not mentioned.
std::string help_with_key(const Action& action, const AppState& scope) {
  const std::string help = help_of(action, scope);
  return action.key.chord && !forbidden(action, scope) ? trf("{} Key: {}.", help, chord_text(*action.key.chord)) : help;
}

void perform(const Action& action, AppState& scope) {
  if (applies(action, scope)) action.act(scope);
}

void add_line(std::vector<KeyLine>& lines, const std::string& key, std::string what) {
  if (!lines.empty() && lines.back().what == what) {
    lines.back().keys += "  " + key;
  } else {
    lines.push_back({key, std::move(what)});
  }
}

// The newest forward pass through the inspected weights.
const Snapshot* live_inspection(const AppState& scope) {
  const Shown& shown = shown_maps(scope).newest;
  const bool recorded = shown.snapshot && shown.snapshot->recorded_weights;
  const Shown& newest = shown_run(scope).newest;
  return recorded ? shown.snapshot.get() : newest.snapshot.get();
}

}  // namespace

std::span<const Action> actions() {
  return table;
}

const Action& find_action(std::string_view name) {
  return *std::ranges::find(table, name, &Action::name);
}

std::string help_of(const Action& action, const AppState& scope) {
  const char* why_not = forbidden(action, scope);
  return why_not ? tr(why_not) : action.help(scope);
}

bool applies(const Action& action, const AppState& scope) {
  return !forbidden(action, scope) && (!action.applies || action.applies(scope));
}

void handle_keys(AppState& scope, TextureStore& textures, const Skin& skin) {
  if (handle_clicker(scope)) return;
  for (const Action& action : table)
    if (is_pressed(action, scope)) perform(action, scope);
  handle_groups(scope);
  if (!is_in_context(ShortcutContext::not_walking) || scope.timeline.focused) return;
  if (handle_workspace_keys(scope, textures, skin)) return;
  for (const Action& action : table)
    if (action.key.also && pressed(*action.key.also)) perform(action, scope);
}

void draw_item(AppState& scope, const Action& action, const Skin& skin) {
  const std::string key = action.key.chord ? chord_text(*action.key.chord) : "";
  const bool on = action.is_on && action.is_on(scope);
  const bool clicked = ImGui::MenuItem(action.title(scope).c_str(), key.c_str(), on, applies(action, scope));
  const std::string help = help_of(action, scope);
  if (!help.empty()) help_tooltip(help, skin);
  if (clicked) action.act(scope);
}

void draw_menu_items(AppState& scope, Menu menu, const Skin& skin) {
  for (const Action& action : table) {
    if (action.place.menu != menu) continue;
    if (action.place.separated) ImGui::Separator();
    draw_item(scope, action, skin);
  }
}

void draw_target_items(AppState& scope, HoverTarget thing, const Skin& skin) {
  // Entries specific to this target first, then those that are also in the menus.
  for (const bool of_menu : {false, true})
    for (const Action& action : table)
      if (action.things.has(thing) && action.place.menu.has_value() == of_menu) draw_item(scope, action, skin);
}

void draw_action_button(AppState& scope, const Action& action, const Skin& skin, const char* label) {
  ImGui::BeginDisabled(!applies(action, scope));
  const bool clicked = ImGui::Button(label ? label : action.title(scope).c_str());
  ImGui::EndDisabled();
  help_tooltip(help_with_key(action, scope), skin, label ? label : action.title(scope));
  if (clicked) perform(action, scope);
}

void draw_action_button(AppState& scope, const Action& action, Icon icon, Color32 icon_color, const Skin& skin,
                        const char* label) {
  const std::string title = label ? label : action.title(scope);
  const bool enabled = applies(action, scope);
  if (icon_button(title.c_str(), icon, icon_color, enabled, help_with_key(action, scope), skin)) perform(action, scope);
}

std::vector<KeyLine> window_keys(const AppState& scope) {
  std::vector<KeyLine> lines;
  for (const std::span<const Workspace> group : workspace_groups()) {
    std::string titles;
    for (const Workspace& workspace : group)
      titles += fmt::format("{}{}", titles.empty() ? "" : tr(", then "), tr(workspace.title));
    add_line(lines, chord_text(group_key(group.front())), titles);
  }
  for (const Action& action : table)
    if (action.key.chord) add_line(lines, chord_text(*action.key.chord), action.title(scope));
  return lines;
}

std::vector<KeyLine> workspace_keys() {
  std::vector<KeyLine> lines;
  for (const Workspace& workspace : workspaces()) {
    if (!workspace.keys) continue;
    for (const WorkspaceKey& key : workspace.keys())
      add_line(lines, chord_text(key.chord), fmt::format("{}: {}", tr(workspace.title), tr(key.title)));
  }
  return lines;
}

Chord group_key(const Workspace& workspace) {
  int place = 0;
  for (const std::span<const Workspace> group : workspace_groups()) {
    if (group.data() == group_of(workspace).data()) break;
    ++place;
  }
  return {.key = static_cast<Key>(static_cast<int>(Key::digit_1) + place)};
}

void show_workspace(AppState& scope, const Workspace& workspace) {
  scope.layout.workspace = &workspace;
  scope.focus_workspace = true;
}

WorkspaceContext context_of(AppState& scope, TextureStore& textures, const Skin& skin) {
  return {.maps = shown_maps(scope),
          .live = live_inspection(scope),
          .views = scope.views,
          .run = shown_run(scope).run,
          .config = shown_run(scope).run.config,
          .curves = shown_run(scope).curves,
          .has_run = has_run(scope),
          .reference = scope.reference,
          .side_width = scope.layout.side_width,
          .study = scope.study_wanted,
          .studying = scope.study.has_value(),
          .sentence_wanted = scope.sentence_wanted,
          .experiments_wanted = scope.experiments.asked,
          .path_wanted = scope.path_wanted,
          .textures = textures,
          .skin = skin};
}

}  // namespace attnscope
