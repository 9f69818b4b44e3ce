// Somebody who presses, types, clicks, drags and drops anything at all, over a real session with a real small engine.
//
// ATTNSCOPE_MONKEY_EVENTS and ATTNSCOPE_MONKEY_SEED make it longer, and another: the long form is
//   ATTNSCOPE_MONKEY_EVENTS=100000 build/bin/monkey_test
// A failure names the seed and how many events it took, which is all that is needed to see it again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "run_fixture.h"
#include "session/session.h"
#include "shell/looking.h"
#include "shell/panels.h"
#include "shell/training.h"
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

class Monkey : public testing::Test {
 protected:
  Monkey() {
    fs::create_directories(home / "texts");
    std::ofstream(home / "texts" / "pairs.tsv") << "a b\tb a\nc d\td c\ne f\tf e\n";
    ::setenv("HOME", home.c_str(), 1);
    session = std::make_unique<Session>([this] { return std::make_unique<TorchEngine>(Autosaves(home / "state")); });
    scope.facts.corpora = {{"copy", "the source itself"}};
    session->post(ListKeptRuns{});
    session->post(Reset{tiny_config()});
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!has_run(scope) && std::chrono::steady_clock::now() < end) {
      hear();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  ~Monkey() override {
    session.reset();
    fs::remove_all(home);
  }

  // ---- the window's loop

  void hear() {
    Session::News news = session->poll();
    receive(scope, std::move(news.events), std::move(news.snapshot), std::move(news.other));
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

  int below(int count) { return static_cast<int>(dice() % static_cast<unsigned>(count)); }
  ImVec2 somewhere() {
    const ImVec2 size = ui.io().DisplaySize;
    return {static_cast<float>(below(static_cast<int>(size.x))), static_cast<float>(below(static_cast<int>(size.y)))};
  }
  Modifiers held() { return {.ctrl = below(3) == 0, .shift = below(3) == 0, .alt = below(20) == 0}; }

  void event() {
    static constexpr std::array texts = {"a b c", "the",   "’", "ü", "12", ".", "-1", " ", "\xF0\x9F\x98\x80",
                                         "0.5",   "x y z "};
    const UiHarness::Draw frame = [this] { draw(); };
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return ui.key(static_cast<Key>(below(static_cast<int>(Key::count))), frame, held());
      case 4:
      case 5:
        return ui.type(texts[static_cast<std::size_t>(below(static_cast<int>(texts.size())))], frame);
      case 6:
      case 7:
      case 8:
      case 9:
        return ui.click(somewhere(), frame, below(8) == 0 ? 1 : 0);
      case 10:
        return ui.double_click(somewhere(), frame);
      case 11:
        return ui.drag(somewhere(), somewhere(), frame);
      case 12:
        return ui.wheel(somewhere(), static_cast<float>(below(7) - 3), frame, held());
      case 13:
        if (below(10) == 0) drop_path(scope, (home / "texts" / (below(2) ? "pairs.tsv" : "none.tsv")).string(), false);
        if (below(10) == 0) drop_path(scope, home.string(), true);
        return;
      case 14:
        if (below(5) == 0)
          ui.io().DisplaySize = {640 + static_cast<float>(below(1400)), 400 + static_cast<float>(below(800))};
        return ui.frame(frame);
      default:
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

  // What is taken back and done again is as it was. Runs come and go in their own time, and are left out.
  std::string complaint_about_undo() {
    const UndoHistory& history = scope.undo;
    if (!can_undo(scope) || history.past.back().run != scope.run.run || !history.present) return "";
    const Chosen before = *history.present;
    undo(scope);
    redo(scope);
    post();
    return *scope.undo.present == before ? "" : "what was taken back and done again is not what it was";
  }

  const fs::path home = fs::temp_directory_path() / ("attnscope-monkey-" + std::to_string(::getpid()));
  std::mt19937 dice;
  Scope scope;
  UiHarness ui;
  std::unique_ptr<Session> session;
};

TEST_F(Monkey, BreaksNothing) {
  ASSERT_TRUE(has_run(scope));
  const std::int64_t events = from_environment("ATTNSCOPE_MONKEY_EVENTS", 5000);
  const std::int64_t seed = from_environment("ATTNSCOPE_MONKEY_SEED", 1);
  dice.seed(static_cast<unsigned>(seed));
  for (std::int64_t i = 1; i <= events; ++i) {
    event();
    if (i % 4 == 0) hear();
    ASSERT_EQ(complaint(), "") << "seed " << seed << ", event " << i;
    if (i % 20 != 0) continue;
    ASSERT_EQ(complaint_about_undo(), "") << "seed " << seed << ", event " << i;
  }
  // The worker answers still.
  scope.commands.emplace_back(Pause{});
  set_sentence(scope, "a b c");
  const std::uint64_t request = scope.asked.request;
  post();
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  const auto answered = [&] { return scope.newest.snapshot && scope.newest.snapshot->request >= request; };
  while (!answered() && std::chrono::steady_clock::now() < end) {
    hear();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(answered());
}

}  // namespace
}  // namespace attnscope
