// The window under load: the real session trains while the real window is drawn offscreen and receives keystrokes.
#include <algorithm>
#include <stdexcept>
#include <thread>

#include "base/input.h"
#include "commands/desktop/bench_window.h"
#include "commands/desktop/machine.h"
#include "commands/desktop/measured_window.h"
#include "commands/engine_module.h"
#include "session/session.h"
#include "shell/sentence.h"
#include "window/font_files.h"
#include "window/offscreen.h"
#include "window/pacing.h"
#include "window/renderer.h"

namespace attnscope {
namespace {

constexpr int keystrokes = 60;
constexpr std::chrono::milliseconds between_keys{250};
constexpr std::chrono::milliseconds idle_period{4000};
constexpr std::chrono::minutes longest_window_answer{2};

// The loop of the real window, with its pacing, but with simulated keystrokes.
class TypedWindow {
 public:
  explicit TypedWindow(const std::string& run)
      : screen_(measured_width, measured_height),
        renderer_(find_fonts()),
        session_([] { return make_window_engine(); }) {
    prepare_input(ImGui::GetIO());
    scope_.facts = machine_facts();
    scope_.layout.sentence = "The animal didn't cross the street because it was too";
    post(OpenRun{run});
    run_until([this] { return scope_.a.run.run != 0 && answered() == scope_.asked.request; });
  }

  void train() {
    post(Train{});
    run_until([this] { return scope_.a.status.activity == Activity::training; });
  }

  // One frame at once, as it is drawn for news.
  void draw() {
    const auto begin = Clock::now();
    const double used = thread_milliseconds();
    lay_out();
    show(begin, used);
  }

  // Types one letter and waits until its attention and translation are on the screen.
  void type(std::string_view letter, double& attention, double& translation) {
    const auto begin = Clock::now();
    const std::uint64_t before = scope_.asked.request;
    typed_ = letter;
    pacing_.urge(seconds());
    run_until([&] { return scope_.asked.request != before && shown_newest_ == scope_.asked.request; });
    attention = milliseconds_since(begin);
    run_until([this] { return shown_answered_ == scope_.asked.request; });
    translation = milliseconds_since(begin);
  }

  // Like the real loop: receives events, draws when due.
  void idle(std::chrono::milliseconds duration) {
    const auto end = Clock::now() + duration;
    run_until([end] { return Clock::now() >= end; });
  }

  // Training speed over that time, with the window drawn as usual or not at all.
  double steps_per_second(std::chrono::milliseconds duration, bool drawn) {
    const std::int64_t first = step();
    const auto begin = Clock::now();
    drawn_ = drawn;
    idle(duration);
    drawn_ = true;
    return static_cast<double>(step() - first) / milliseconds_since(begin) * 1000;
  }

  // Frame time in ms with the lessons present (and closed), or without lessons.
  double frame_with_lessons(bool there) {
    std::vector<Lesson> kept;
    if (!there) kept.swap(scope_.facts.lessons);
    draw();
    if (!there) kept.swap(scope_.facts.lessons);
    return frames_.back();
  }

  void focus_sentence() {
    scope_.focus_sentence = true;
    for (int frame = 0; frame < 3; ++frame) draw();
    frames_.clear();
    own_.clear();
  }

  const std::vector<double>& frames() const { return frames_; }
  const std::vector<double>& own() const { return own_; }
  double longest_wait() const { return longest_wait_; }
  std::int64_t step() const { return scope_.a.status.step; }

 private:
  std::uint64_t newest() const { return scope_.a.newest.snapshot ? scope_.a.newest.snapshot->request : 0; }
  std::uint64_t answered() const { return scope_.a.complete.snapshot ? scope_.a.complete.snapshot->request : 0; }

  template <typename Condition>
  void run_until(const Condition& done) {
    const auto give_up = Clock::now() + longest_window_answer;
    while (!done()) {
      if (Clock::now() > give_up) throw std::runtime_error("the worker did not answer within two minutes");
      hear();
      if (drawn_ && seconds() >= pacing_.due().value_or(1e18)) draw_due();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // As App::draw().
  void draw_due() {
    const auto begin = Clock::now();
    const double used = thread_milliseconds();
    std::optional<TrainingPause> pause;
    if (pacing_.awaited()) pause.emplace();
    const std::uint64_t asked = scope_.asked.request;
    lay_out();
    if (scope_.asked.request != asked && pacing_.waits_for_answer(seconds())) return;
    show(begin, used);
  }

  void lay_out() {
    renderer_.lay_out(scope_, 1, [&] {
      ImGuiIO& io = ImGui::GetIO();
      io.DisplaySize = {measured_width, measured_height};
      io.DeltaTime = 1.F / 60;
      if (const std::string_view typed = std::exchange(typed_, {}); !typed.empty()) feed_text(io, typed);
    });
    post_commands();
  }

  void show(Clock::time_point begin, double used) {
    renderer_.draw_laid_out(scope_);
    own_.push_back(thread_milliseconds() - used);
    screen_.finish();
    frames_.push_back(milliseconds_since(begin));
    pacing_.drawn(seconds() - frames_.back() / 1000, seconds(), false, false);
    shown_newest_ = newest();
    shown_answered_ = answered();
  }

  void hear() {
    const auto begin = Clock::now();
    Session::News news = session_.poll();
    waited(begin);
    throw_errors(news.events);
    if (news.events.empty() && news.snapshot_a == scope_.a.newest.snapshot) return;
    const bool inspected = news.snapshot_a != scope_.a.newest.snapshot;
    const std::uint64_t before = answered();
    receive(scope_, std::move(news.events), std::move(news.snapshot_a));
    pacing_.news();
    if (inspected && newest() != before) pacing_.answered(seconds());
    post_commands();
  }

  void post_commands() {
    for (Command& command : scope_.commands) post(std::move(command));
    scope_.commands.clear();
  }

  void post(Command command) {
    const auto begin = Clock::now();
    session_.post(std::move(command));
    waited(begin);
  }

  void waited(Clock::time_point begin) { longest_wait_ = std::max(longest_wait_, milliseconds_since(begin)); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  Clock::time_point start_ = Clock::now();
  AppState scope_;
  Pacing pacing_;
  std::vector<double> frames_;  // ms each
  std::vector<double> own_;     // of them, processor time of this thread: OpenGL rasterizes in other threads
  double longest_wait_ = 0;     // ms
  bool drawn_ = true;
  std::string_view typed_;                               // for the next frame
  std::uint64_t shown_newest_ = 0, shown_answered_ = 0;  // of the last drawn frame
  Offscreen screen_;
  Renderer renderer_;
  Session session_;
};

struct Waits {
  std::vector<double> attention, translation;  // ms from each key to its result
};

Waits type_letters(TypedWindow& window) {
  Waits waits{std::vector<double>(keystrokes), std::vector<double>(keystrokes)};
  for (int i = 0; i < keystrokes; ++i) {
    window.idle(between_keys);
    window.type(i % 6 == 0 ? " " : "a", waits.attention[i], waits.translation[i]);
  }
  return waits;
}

// From creating the window with fonts and machine facts to its first frame.
double first_frame() {
  return milliseconds([] {
    MeasuredWindow window;
    window.scope().facts = machine_facts();
    window.draw();
  });
}

// The share of closed lessons in the frame time, in percent.
double cost_of_lessons(TypedWindow& window) {
  std::vector<double> with, without;
  for (int round = 0; round < 100; ++round) {
    with.push_back(window.frame_with_lessons(true));
    without.push_back(window.frame_with_lessons(false));
  }
  return 100 * (median(with) / median(without) - 1);
}

void measure_idle(const std::string& run, std::vector<Measurement>& out) {
  TypedWindow window(run);
  window.focus_sentence();
  for (int frame = 0; frame < 50; ++frame) window.draw();
  add_percentiles("frame time, 1600×1000, idle", window.frames(), out);
  add_percentiles("frame, idle, CPU time of the window only", window.own(), out);
  out.push_back({"frame time added by closed lessons", cost_of_lessons(window), "%"});
  add_percentiles("keystroke to its attention on screen", type_letters(window).attention, out);
}

void measure_while_training(const std::string& run, std::vector<Measurement>& out) {
  TypedWindow window(run);
  window.focus_sentence();
  window.train();
  const std::int64_t first_step = window.step();
  const auto begin = Clock::now();
  const Waits waits = type_letters(window);
  const double seconds = milliseconds_since(begin) / 1000;
  const std::int64_t last_step = window.step();
  std::vector<double> shares;
  for (int round = 0; round < 3; ++round) {
    const double alone = window.steps_per_second(idle_period, false);
    shares.push_back(window.steps_per_second(idle_period, true) / alone);
  }
  add_percentiles("while training: keystroke to its attention on screen", waits.attention, out);
  add_percentiles("while training: keystroke to its complete translation", waits.translation, out);
  add_percentiles("while training: frame time", window.frames(), out);
  add_percentiles("while training: frame, CPU time of the window only", window.own(), out);
  out.push_back({"while typing: training steps", static_cast<double>(last_step - first_step) / seconds, "steps/s"});
  out.push_back({"training speed with the window shown, relative to without", 100 * median(shares), "%"});
  out.push_back({"longest time that the window waited for the worker", window.longest_wait(), "ms"});
}

}  // namespace

std::vector<Measurement> measure_window(const std::string& run) {
  std::vector<Measurement> out;
  first_frame();  // warms up the system's caches: files, shaders
  out.push_back({"from creating the window to its first frame", first_frame(), "ms"});
  measure_idle(run, out);
  measure_while_training(run, out);
  return out;
}

}  // namespace attnscope
