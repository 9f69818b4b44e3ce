// Somebody who presses, types, clicks, drags and drops anything at all, over a real session with a real small engine.
//
// ATTNSCOPE_MONKEY_EVENTS and ATTNSCOPE_MONKEY_SEED make it longer, and another: the long form is
//   ATTNSCOPE_MONKEY_EVENTS=100000 build/bin/play_tests --gtest_filter='MonkeyTest.*'
// A failure names the seed and how many events it took, which is all that is needed to see it again; then what happened
// is played again and again with parts left out, and the few events that are enough are told.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "commands/desktop/machine.h"
#include "run_fixture.h"
#include "session/session.h"
#include "shell/captures.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "shortening.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

// Nothing that takes long or much: the monkey turns every knob.
bool is_small(const Config& config) {
  const ModelConfig& model = config.model;
  return model.d_model <= 64 && model.num_encoder_layers <= 2 && model.num_decoder_layers <= 2 && model.d_ff <= 128 &&
         model.max_length <= 64 && config.training.batch_size <= 32 && config.training.batch_tokens <= 1024 &&
         config.training.accumulation_steps <= 2 && config.tokenizer.vocab_size <= 256 &&
         config.training.threads == 1 && config.corpus.source == letters_file();
}

// One thing that somebody does.
struct Event {
  enum class Kind { key, type, click, double_click, drag, wheel, drop_file, drop_folder, resize, hear };
  Kind kind = Kind::hear;
  ImVec2 at{}, to{};  // places; of resize the size, of wheel `to` is how far
  int which = 0;      // a key, a text, a button or a file
  Modifiers held = {};
};

const ImVec2 first_size{1280, 720};

constexpr std::array texts = {"a b c", "the", "’", "ü", "12", ".", "-1", " ", "\xF0\x9F\x98\x80", "0.5", "x y z "};

std::string described(const Event& event) {
  constexpr std::array names = {"key",   "type",      "click",       "double click", "drag",
                                "wheel", "drop file", "drop folder", "resize",       "hear"};
  return fmt::format("{} at {:.0f},{:.0f} to {:.0f},{:.0f} which {}{}{}{}", names[static_cast<std::size_t>(event.kind)],
                     event.at.x, event.at.y, event.to.x, event.to.y, event.which, event.held.ctrl ? " ctrl" : "",
                     event.held.shift ? " shift" : "", event.held.alt ? " alt" : "");
}

// Draws them; the same seed gives the same events.
class Dice {
 public:
  explicit Dice(std::int64_t seed) : dice_(static_cast<unsigned>(seed)) {}

  Event event() {
    using Kind = Event::Kind;
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return {.kind = Kind::key, .at = {}, .to = {}, .which = below(static_cast<int>(Key::count)), .held = held()};
      case 4:
      case 5:
        return {.kind = Kind::type, .at = {}, .to = {}, .which = below(static_cast<int>(texts.size())), .held = {}};
      case 6:
      case 7:
      case 8:
      case 9:
        return {.kind = Kind::click, .at = somewhere(), .to = {}, .which = below(8) == 0 ? 1 : 0, .held = {}};
      case 10:
        return {.kind = Kind::double_click, .at = somewhere(), .to = {}, .which = 0, .held = {}};
      case 11:
        return {.kind = Kind::drag, .at = somewhere(), .to = somewhere(), .which = 0, .held = {}};
      case 12:
        return {.kind = Kind::wheel,
                .at = somewhere(),
                .to = {0, static_cast<float>(below(7) - 3)},
                .which = 0,
                .held = held()};
      case 13:
        if (below(5) != 0) return {};
        return {
            .kind = below(2) ? Kind::drop_file : Kind::drop_folder, .at = {}, .to = {}, .which = below(2), .held = {}};
      case 14:
        if (below(5) != 0) return {};
        size_ = {640 + static_cast<float>(below(1400)), 400 + static_cast<float>(below(800))};
        return {.kind = Kind::resize, .at = size_, .to = {}, .which = 0, .held = {}};
      default:
        return {};
    }
  }

 private:
  int below(int count) { return static_cast<int>(dice_() % static_cast<unsigned>(count)); }
  ImVec2 somewhere() {
    const int x = below(static_cast<int>(size_.x)), y = below(static_cast<int>(size_.y));
    return {static_cast<float>(x), static_cast<float>(y)};
  }
  Modifiers held() {
    const bool ctrl = below(3) == 0, shift = below(3) == 0;
    return {.ctrl = ctrl, .shift = shift, .alt = below(20) == 0};
  }

  std::mt19937 dice_;
  ImVec2 size_ = first_size;
};

// A window, a session and an engine of their own, and somebody who plays with them.
class Monkey {
 public:
  Monkey() {
    fs::create_directories(home / "texts");
    std::ofstream(home / "texts" / "pairs.tsv") << "a b\tb a\nc d\td c\ne f\tf e\n";
    ::setenv("HOME", home.c_str(), 1);
    session = std::make_unique<Session>([this] { return make_window_engine(home / "state"); });
    scope.facts.corpora = {{"copy", "the source itself"}};
    session->post(ListAutosaves{});
    session->post(Reset{tiny_config()});
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!has_run(scope) && std::chrono::steady_clock::now() < end) {
      hear();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  ~Monkey() {
    session.reset();
    fs::remove_all(home);
  }

  // ---- the window's loop

  void hear() {
    Session::News news = session->poll();
    receive(scope, std::move(news.events), std::move(news.snapshot_a), std::move(news.snapshot_b));
    post();
  }

  void post() {
    for (Command& command : scope.commands) {
      const auto* reset = std::get_if<Reset>(&command);
      if (!reset || is_small(reset->config)) session->post(std::move(command));
    }
    scope.commands.clear();
    scope.requests = {};
    scope.exports.picture.reset();  // nobody draws pixels here
    scope.exports.film.reset();
  }

  void draw() {
    draw_shell(scope, ui.textures, ui.skin);
    post();
  }

  // ---- the monkey

  void play(const Event& event) {
    using Kind = Event::Kind;
    const UiHarness::Draw frame = [this] { draw(); };
    switch (event.kind) {
      case Kind::key:
        return ui.key(static_cast<Key>(event.which), frame, event.held);
      case Kind::type:
        return ui.type(texts[static_cast<std::size_t>(event.which)], frame);
      case Kind::click:
        return ui.click(event.at, frame, event.which);
      case Kind::double_click:
        return ui.double_click(event.at, frame);
      case Kind::drag:
        return ui.drag(event.at, event.to, frame);
      case Kind::wheel:
        return ui.wheel(event.at, event.to.y, frame, event.held);
      case Kind::drop_file:
        return drop_path(scope, (home / "texts" / (event.which ? "pairs.tsv" : "none.tsv")).string(), false);
      case Kind::drop_folder:
        return drop_path(scope, home.string(), true);
      case Kind::resize:
        ui.io().DisplaySize = event.at;
        return ui.frame(frame);
      case Kind::hear:
        hear();
        return ui.frame(frame);
    }
  }

  // Empty: all is well.
  std::string complaint() const {
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int list = 0; list < data.CmdListsCount; ++list)
      for (const ImDrawVert& vertex : data.CmdLists[list]->VtxBuffer)
        if (!std::isfinite(vertex.pos.x) || !std::isfinite(vertex.pos.y)) return "something is drawn nowhere";
    const AttentionView& view = scope.views.of<AttentionView>();
    if (view.head < 0 || view.layer < 0) return "a head is chosen that there cannot be";
    if (scope.layout.zoom < min_zoom || scope.layout.zoom > max_zoom) return "the zoom is out of its range";
    if (scope.undo.past.size() > max_undo) return "the past is too long";
    if (scope.layout.recent.size() > max_recent) return "there are too many recent sentences";
    return "";
  }

  // Undo and redo restore the state. Runs are left out, because they open and close asynchronously.
  std::string complaint_about_undo() {
    const UndoHistory& history = scope.undo;
    if (!can_undo(scope) || history.past.back().run != scope.a.run.run || !history.present) return "";
    const Chosen before = *history.present;
    undo(scope);
    redo(scope);
    post();
    return *scope.undo.present == before ? "" : "what was taken back and done again is not what it was";
  }

  // Plays the event that is the `count`th, and looks whether all is well.
  std::string complaint_after(const Event& event, std::int64_t count) {
    play(event);
    if (count % 4 == 0) hear();
    std::string wrong = complaint();
    if (wrong.empty() && count % 20 == 0) wrong = complaint_about_undo();
    return wrong;
  }

  // The worker answers still.
  bool is_answered() {
    scope.commands.emplace_back(Pause{});
    set_sentence(scope, shows_capture(scope) ? scope.a.run.examples.front().source : "a b c");
    const std::uint64_t request = scope.asked.request;
    post();
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    // With the present weights, or with those of the recorded step that is shown.
    const auto answered = [&] {
      const auto answers = [&](const Shown& shown) { return shown.snapshot && shown.snapshot->request >= request; };
      return answers(scope.a.newest) || answers(scope.a.inspection);
    };
    while (!answered() && std::chrono::steady_clock::now() < end) {
      hear();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return answered();
  }

  bool has_begun() const { return has_run(scope); }

 private:
  const fs::path home = fs::temp_directory_path() / ("attnscope-monkey-" + std::to_string(::getpid()));
  AppState scope;
  UiHarness ui{first_size};
  std::unique_ptr<Session> session;
};

// Replays the events in a new window and returns the error; empty: none.
std::string complaint_about(const std::vector<Event>& events) {
  Monkey monkey;
  std::int64_t count = 0;
  for (const Event& event : events)
    if (std::string wrong = monkey.complaint_after(event, ++count); !wrong.empty()) return wrong;
  return "";
}

// The worker runs in its own time, so a failure that hangs on it may not come again.
std::string enough_to_fail(const std::vector<Event>& events) {
  constexpr int most_tries = 60;
  const auto fails = [](const std::vector<Event>& some) { return !complaint_about(some).empty(); };
  if (!fails(events)) return "played again, nothing is wrong";
  std::string text = "enough to fail:";
  for (const Event& event : shortened<Event>(events, fails, most_tries)) text += "\n  " + described(event);
  return text;
}

TEST(MonkeyTest, BreaksNothing) {
  const std::int64_t count = from_environment("ATTNSCOPE_MONKEY_EVENTS", 5000);
  const std::int64_t seed = from_environment("ATTNSCOPE_MONKEY_SEED", 1);
  Dice dice(seed);
  std::vector<Event> played;
  auto monkey = std::make_unique<Monkey>();
  ASSERT_TRUE(monkey->has_begun());
  for (std::int64_t i = 1; i <= count; ++i) {
    played.push_back(dice.event());
    const std::string wrong = monkey->complaint_after(played.back(), i);
    if (wrong.empty()) continue;
    monkey.reset();
    FAIL() << wrong << "; seed " << seed << ", event " << i << "; " << enough_to_fail(played);
  }
  EXPECT_TRUE(monkey->is_answered());
}

TEST(Shortening, LeavesWhatIsEnough) {
  std::vector<int> events(1000);
  std::iota(events.begin(), events.end(), 0);
  int tries = 0;
  const auto fails = [&](const std::vector<int>& some) {
    ++tries;
    return std::ranges::count(some, 17) + std::ranges::count(some, 642) == 2;
  };
  EXPECT_EQ(shortened<int>(events, fails, 1000), (std::vector{17, 642}));
  EXPECT_LT(tries, 200);
  tries = 0;
  EXPECT_GT(shortened<int>(events, fails, 10).size(), 2U) << "told to give up early";
  EXPECT_EQ(tries, 10);
}

}  // namespace
}  // namespace attnscope
