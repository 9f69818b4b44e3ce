// The window command: session events in, frames out, user commands back.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "commands/commands.h"
#include "commands/desktop/machine.h"
#include "commands/desktop/serving.h"
#include "commands/desktop/translations.h"
#include "commands/engine_module.h"
#include "commands/paths.h"
#include "common/channel.h"
#include "common/programs.h"
#include "common/signals.h"
#include "files/captures/capture.h"
#include "session/file_writing.h"
#include "session/remote/remote_session.h"
#include "session/remote/token.h"
#include "session/session.h"
#include "shell/export.h"
#include "shell/lessons/lessons.h"
#include "shell/saved_view.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "window/font_files.h"
#include "window/glfw_window.h"
#include "window/pacing.h"
#include "window/picture_clipboard.h"
#include "window/renderer.h"
#include "window/settings.h"

namespace attnscope {
namespace {

// Ctrl-C in the terminal, a closed terminal, or the end of the desktop session: the window ends as with Quit, saving
// settings and the run. A second signal ends the process immediately.
volatile std::sig_atomic_t asked_to_stop = 0;  // a signal handler can access nothing else

void on_end(int signal) {
  asked_to_stop = signal;
  std::signal(signal, SIG_DFL);
}

// GLFW cannot be woken from a signal handler: maximum seconds until the flag is checked.
constexpr double longest_wait = 0.3;

std::string window_title(const AppState& scope) {
  if (scope.a.run.run == 0) return "attnscope";
  const Activity activity = scope.a.status.activity;
  const char* doing = activity == Activity::training ? " (training)" : activity == Activity::paused ? " (paused)" : "";
  return scope.a.run.name + doing + " — attnscope";
}

// Reports on stderr what could not be saved while the window closed.
void tell_errors(const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (const auto* message = std::get_if<Message>(&event); message && message->severity == Severity::error)
      std::fprintf(stderr, "attnscope: %s\n", message->text.c_str());
    if (const auto* written = std::get_if<FileWritten>(&event); written && !written->error.empty())
      std::fprintf(stderr, "attnscope: %s\n", written->error.c_str());
  }
}

bool is_error(const Event& event) {
  const auto* message = std::get_if<Message>(&event);
  return message && message->severity == Severity::error;
}

class App {
 public:
  explicit App(const WindowOptions& options);
  void run();

 private:
  // Runs on the worker thread.
  std::unique_ptr<Engine> make_engine();
  // With a local worker, or with a remote training.
  std::unique_ptr<Conversation> make_session(const std::string& server);

  void open_first_run(const std::string& path);
  void open_example();
  void hear();
  void heed_drops();
  void draw();
  void serve_requests();
  void attach(const RequestedServer& server);
  void serve_clients(const std::vector<Event>& events);
  void write_report(const RequestedReport& wanted);
  void copy(const std::string& picture);
  void begin_quit();
  void take_back_quit();
  void save_settings();
  void save_settings_if_changed();

  // In order of construction: the window first, so that it opens before LibTorch is loaded.
  std::filesystem::path settings_file_;
  SettingsRead read_;
  GlfwWindow window_;
  Renderer renderer_;
  GlfwWindow::InputConnection input_;
  Queue<Facts> facts_;  // determined by the worker, because checking for a GPU takes a moment
  // Outlives the window, because a report may be ready later.
  std::shared_ptr<Queue<FileWritten>> reports_ = std::make_shared<Queue<FileWritten>>();
  AppState scope_;
  Pacing pacing_;
  std::string title_;
  Layout saved_layout_;       // as it is on disk
  double saved_at_ = 0;       // GlfwWindow::now()
  std::future<void> saving_;  // by a thread of its own, because the disk may be slow
  bool quitting_ = false;
  bool opening_last_run_ = false;          // if that fails, which is reported, the example is opened
  RemoteSession* elsewhere_ = nullptr;     // the session, if the run trains remotely
  std::unique_ptr<Conversation> session_;  // last but one, because it wakes the window
  std::optional<Serving> serving_;         // empty if the run trains remotely
};

App::App(const WindowOptions& options)
    : settings_file_(config_folder().empty() ? std::filesystem::path() : config_folder() / "settings.json"),
      read_(read_settings(settings_file_)),
      window_(read_.settings.window),
      renderer_(find_fonts()),
      input_(window_),
      session_(make_session(options.server)) {
  if (!elsewhere_) serving_.emplace(static_cast<Session&>(*session_));
  scope_.layout = saved_layout_ = read_.settings.layout;
  scope_.translations = find_translations();
  speak_language(scope_);
  for (const std::string& complaint : scope_.translations.complaints) notify(scope_, Severity::warning, complaint);
  if (!read_.complaint.empty()) notify(scope_, Severity::warning, read_.complaint);
  if (options.server.empty()) open_first_run(options.path);
}

std::unique_ptr<Conversation> App::make_session(const std::string& server) {
  if (server.empty()) return std::make_unique<Session>([this] { return make_engine(); }, GlfwWindow::wake);
  facts_.push(machine_facts());
  auto session = std::make_unique<RemoteSession>(remote_address(server), token_of_environment(), GlfwWindow::wake);
  elsewhere_ = session.get();
  scope_.rights = Rights::watch;
  return session;
}

std::unique_ptr<Engine> App::make_engine() {
  Facts facts = machine_facts();
  facts_.push(facts);
  GlfwWindow::wake();
  facts.complaints.clear();  // reported already
  add_processor_facts(facts);
  facts_.push(std::move(facts));
  GlfwWindow::wake();
  return make_window_engine(autosaves_folder());
}

void App::open_first_run(const std::string& path) {
  session_->post(ListAutosaves{});
  std::error_code error;
  if (std::filesystem::is_directory(path, error) || is_capture_name(path)) {
    session_->post(OpenRun{path});
    return;
  }
  if (path.ends_with(saved_view_extension)) {
    scope_.facts.shipped_run = shipped_run().string();  // the view may belong to it
    receive(scope_, read_wanted(ReadFile{path, most_view_bytes}));
    if (scope_.opening_view) return;  // its run is being opened
  } else if (!path.empty()) {
    drop_path(scope_, path, false);  // confirmed while the last run is open
  }
  const Layout& last = scope_.layout;
  if (!last.last_run.empty() && std::filesystem::is_directory(last.last_run, error)) {
    opening_last_run_ = true;
    session_->post(OpenRun{.path = last.last_run, .go_on = last.continue_last_run});
  } else {
    open_example();
  }
}

void App::open_example() {
  const std::filesystem::path shipped = shipped_run();
  std::error_code error;
  if (std::filesystem::is_directory(shipped, error)) {
    session_->post(OpenRun{shipped.string()});
  } else {
    notify(scope_, Severity::warning,
           "The trained model that ships with attnscope was not found at " + shipped.string() +
               ": starting from random weights.");
    session_->post(Reset{Config{}});
  }
}

// The run is saved first. The window is hidden meanwhile, unless saving fails.
void App::begin_quit() {
  quitting_ = true;
  scope_.requests.quit = false;
  save_settings();
  window_.hide();
  // A run that is being prepared has not been trained yet, and the previous one has been saved.
  if (scope_.a.run.run == 0 || scope_.a.status.activity == Activity::preparing) {
    scope_.requests.end = true;
  } else {
    session_->post(KeepRun{});
  }
}

void App::take_back_quit() {
  quitting_ = false;
  window_.show();
}

void App::run() {
  while (!scope_.requests.end && asked_to_stop == 0 && !window_.lost()) {
    if (!quitting_ && (scope_.requests.quit || window_.close_asked())) begin_quit();
    if (quitting_ && scope_.not_saved) take_back_quit();
    const std::optional<double> due = window_.visible() ? pacing_.due() : std::nullopt;
    window_.wait(due ? std::min(*due - GlfwWindow::now(), longest_wait) : longest_wait);
    hear();
    heed_drops();
    if (window_.take_input()) pacing_.urge(GlfwWindow::now());
    if (window_.lost()) break;
    const std::optional<double> now_due = pacing_.due();
    if (window_.visible() && now_due && GlfwWindow::now() >= *now_due) draw();
  }
  save_settings();
  if (!window_.lost()) window_.hide();
  serving_.reset();
  tell_errors(session_->end().events);
  if (!window_.lost()) return;
  std::fputs("attnscope: the connection to the display was lost\n", stderr);
  std::_Exit(1);  // normal cleanup would access the lost display
}

void App::hear() {
  for (Facts& facts : facts_.take()) {
    scope_.facts = std::move(facts);
    for (const std::string& complaint : scope_.facts.complaints) notify(scope_, Severity::warning, complaint);
  }
  for (const FileWritten& report : reports_->take()) {
    receive(scope_, report);
    pacing_.news();
  }
  if (elsewhere_) scope_.rights = elsewhere_->attachment().control ? Rights::control : Rights::watch;
  Conversation::News news = session_->poll();
  serve_clients(news.events);
  const bool inspected = news.snapshot_a != scope_.a.newest.snapshot;
  const bool inspected_b = news.snapshot_b && (!scope_.b || news.snapshot_b != scope_.b->newest.snapshot);
  if (news.events.empty() && !inspected && !inspected_b) return;
  const std::uint64_t answered = scope_.a.complete.snapshot ? scope_.a.complete.snapshot->request : 0;
  const bool failed_to_open = std::ranges::any_of(news.events, is_error);
  receive(scope_, std::move(news.events), std::move(news.snapshot_a), std::move(news.snapshot_b));
  if (has_run(scope_)) opening_last_run_ = false;
  if (failed_to_open && std::exchange(opening_last_run_, false)) open_example();
  pacing_.news();
  // The user waits for the answer to a keystroke, but not for a new inspection of the same sentence during training.
  if (inspected && scope_.a.newest.snapshot->request != answered) pacing_.answered(GlfwWindow::now());
  post_commands(scope_, *session_);
}

void App::serve_clients(const std::vector<Event>& events) {
  if (!serving_) return;
  serving_->hear(events);
  const std::string complaint = serving_->inspect();
  if (!complaint.empty()) notify(scope_, Severity::error, complaint);
  const bool same = serving_->service() == scope_.service;
  if (!same) scope_.service = serving_->service();
  if (!same || !complaint.empty()) pacing_.news();
}

void App::heed_drops() {
  for (const std::string& path : window_.take_dropped()) {
    std::error_code error;
    drop_path(scope_, path, std::filesystem::is_directory(path, error));
  }
  post_commands(scope_, *session_);
}

void App::draw() {
  const double begin = GlfwWindow::now();
  // Training pauses for frames that the user caused or waits for, but not for news of training.
  std::optional<TrainingPause> pause;
  if (pacing_.awaited()) pause.emplace();
  const std::uint64_t asked = scope_.asked.request;
  const bool may_wait = renderer_.lay_out(scope_, window_.content_scale(), [this] { window_.begin_frame(); });
  post_commands(scope_, *session_);  // first: the worker answers while the frame is drawn, the longest part
  if (may_wait && scope_.asked.request != asked && pacing_.waits_for_answer(GlfwWindow::now())) return;
  renderer_.draw_laid_out(scope_);
  window_.show_frame();
  pacing_.drawn(begin, GlfwWindow::now(), animating(scope_), ImGui::GetIO().WantTextInput);
  serve_requests();
  save_settings_if_changed();
}

void App::serve_requests() {
  if (std::exchange(scope_.requests.fullscreen_changed, false)) {
    window_.set_fullscreen(scope_.presentation);
    pacing_.urge(GlfwWindow::now());
  }
  if (const auto server = std::exchange(scope_.requests.attach, std::nullopt)) attach(*server);
  if (const auto wanted = std::exchange(scope_.requests.serve, std::nullopt); wanted && serving_)
    serving_->begin(*wanted);
  if (std::exchange(scope_.requests.stop_serving, false) && serving_) serving_->end();
  if (const auto report = std::exchange(scope_.requests.report, std::nullopt)) write_report(*report);
  if (const auto picture = std::exchange(scope_.requests.copy_picture, std::nullopt)) copy(*picture);
  if (const std::string title = window_title(scope_); title != title_) {
    window_.set_title(title);
    title_ = title;
  }
}

void App::attach(const RequestedServer& server) {
  try {
    const std::string address = address_text(remote_address(server.address));
    let_run(start_own_program(
        {"attnscope", "attach", address},
        server.token.empty() ? environment_with({}) : environment_with({{token_variable, server.token}})));
  } catch (const std::exception& error) {
    notify(scope_, Severity::error, error.what());
    pacing_.urge(GlfwWindow::now());
  }
}

// By a process of its own, so that window and training continue.
void App::write_report(const RequestedReport& wanted) {
  std::vector<std::string> arguments = {"attnscope", "report", "--quiet", "--out", wanted.folder};
  for (const std::string& run : wanted.runs) arguments.insert(arguments.end(), {"--run", run});
  try {
    const std::string command = fmt::format("{}", fmt::join(arguments, " "));
    let_run(start_own_program(std::move(arguments), environment_with({})),
            [reports = reports_, file = wanted.folder + "/report.html", command](int status) {
              reports->push({file, status == 0 ? "" : "the report failed; to see why, run: " + command});
              GlfwWindow::wake();
            });
  } catch (const std::exception& error) {
    notify(scope_, Severity::error, error.what());
    pacing_.urge(GlfwWindow::now());
  }
}

void App::copy(const std::string& picture) {
  try {
    copy_picture(picture);
    picture_copied(scope_, "");
  } catch (const std::exception& error) {
    picture_copied(scope_, error.what());
  }
  pacing_.urge(GlfwWindow::now());
}

// So that little is lost if the process is killed.
void App::save_settings_if_changed() {
  constexpr double interval = 5;  // seconds
  if (settings_file_.empty() || GlfwWindow::now() < saved_at_ + interval) return;
  if (saving_.valid() && saving_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  saved_at_ = GlfwWindow::now();
  Layout layout = readers_layout(scope_);
  if (layout == saved_layout_) return;
  saved_layout_ = std::move(layout);
  // A failure is reported at the end, if it is still there.
  saving_ = std::async(
      std::launch::async,
      [file = settings_file_, settings = Settings{saved_layout_, window_.place()}] { write_settings(file, settings); });
}

void App::save_settings() {
  if (settings_file_.empty()) return;
  if (saving_.valid()) saving_.wait();
  const WindowPlace place = window_.lost() ? read_.settings.window : window_.place();
  try {
    write_settings(settings_file_, {readers_layout(scope_), place});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attnscope: the settings could not be saved: %s\n", error.what());
  }
}

}  // namespace

int window(const WindowOptions& options) {
  on_signal(SIGINT, on_end);
  on_signal(SIGTERM, on_end);
  if (on_signal(SIGHUP, on_end) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // ignored under nohup
  App app(options);
  app.run();
  return asked_to_stop == 0 ? 0 : 128 + asked_to_stop;  // the shell's convention
}

}  // namespace attnscope
