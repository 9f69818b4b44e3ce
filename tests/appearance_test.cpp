// The appearance of every view of a fixed snapshot, and of the window after every action: texts, shapes and tooltips,
// compared with data/appearance.txt. It notices what no other test looks for; whether a change is right must be seen in
// the view.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "circuit_fixture.h"
#include "data/corpus/random.h"
#include "decodings_fixture.h"
#include "embeddings_fixture.h"
#include "flow_fixture.h"
#include "inside_fixture.h"
#include "shell/actions.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

const std::filesystem::path expected_file = std::filesystem::path(ATTNSCOPE_TEST_DATA) / "appearance.txt";

// A window whose questions are answered at once with fixtures.
class Answered {
 public:
  explicit Answered(const ModelConfig& model) {
    scope.layout.setup_open = scope.layout.curves_open = false;
    scope.timeline.focused = false;
    RunOpened run = fixture_run(20);
    run.config.model = model;
    receive(scope, {run, Status{Activity::paused, 20, "CPU"}}, nullptr);
    base_ = model == ModelConfig() ? animal_snapshot() : snapshot_of_model(model);
    answer();
  }

  void show(const std::string& view) {
    scope.layout.workspace = show_view(scope.views, view);
    for (int i = 0; i < 4; ++i) {
      ui.frames(2, draw);
      answer();
    }
    ui.frames(3, draw);
  }

  // The tooltips of places all over the window, each once.
  std::string tooltips() {
    const std::string without = ui.drawn_text();
    std::set<std::string> said;
    for (float y = 30; y < 700; y += 12)
      for (float x = 20 + std::fmod(y, 36.0F); x < 1260; x += 36) {
        feed_mouse(ui.io(), {x, y});
        ui.frame(draw);
        const std::string text = ui.drawn_text();
        if (text.size() > without.size() && text.starts_with(without)) said.insert(text.substr(without.size()));
      }
    feed_mouse(ui.io(), {-1000, -1000});
    ui.frames(2, draw);
    std::string all;
    for (const std::string& each : said) all += each + '\n';
    return all;
  }

  AppState scope;
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };

 private:
  void answer() {
    auto snapshot = std::make_shared<Snapshot>(*base_);
    const Probe& asked = scope.asked;
    snapshot->request = asked.request;
    if (asked.inside) add_inside(*snapshot, *asked.inside);
    if (asked.sublayers) add_flow(*snapshot);
    if (asked.data_flow) add_data_flow(*snapshot, *asked.data_flow);
    if (asked.batch) snapshot->batch = std::make_shared<const BatchInspection>(fixture_batch());
    if (asked.embeddings) snapshot->embeddings = fixture_embeddings();
    if (!asked.senses.empty()) snapshot->senses = fixture_senses(asked.senses);
    if (asked.decoding) snapshot->decodings = fixture_decodings({}, snapshot->source);
    receive(scope, {}, snapshot);
    std::vector<Command> commands;
    commands.swap(scope.commands);
    for (const Command& command : commands)
      if (const auto* study = std::get_if<StartStudy>(&command)) answer(*study);
  }

  // Studies without a fixture stay unanswered.
  void answer(const StartStudy& study) {
    StudyResult result{scope.a.run.run, 20, {}};
    if (std::holds_alternative<CircuitStudy>(study.question)) {
      result.answer = fixture_result(base_->source_text);
    } else if (const auto* attribution = std::get_if<AttributionQuestion>(&study.question)) {
      result.answer = fixture_attribution(*attribution);
    } else {
      return;
    }
    receive(scope, {StudyEnded{study.study, std::make_shared<const StudyResult>(std::move(result))}}, nullptr);
  }

  std::shared_ptr<const Snapshot> base_;
};

// By model and view: texts, shapes and, where they were asked for, tooltips.
using Appearance = std::map<std::string, std::vector<std::string>>;

Appearance hashed(const Appearance& whole) {
  Appearance hashes;
  for (const auto& [name, parts] : whole)
    for (const std::string& part : parts) hashes[name].push_back(fmt::format("{:x}", fnv1a(part)));
  return hashes;
}

Appearance read_expected() {
  Appearance read;
  std::ifstream file(expected_file);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (std::string word; words >> word;) read[name].push_back(word);
  }
  return read;
}

void write_expected(const Appearance& hashes) {
  std::ofstream file(expected_file);
  for (const auto& [name, parts] : hashes) {
    file << name;
    for (const std::string& part : parts) file << ' ' << part;
    file << '\n';
  }
}

void add_views(const std::string& model_name, const ModelConfig& model, bool with_tooltips, Appearance& found) {
  for (const std::string& view : view_names()) {
    if (view == "superposition") continue;  // trains a model as it is drawn; processors round differently
    Answered window(model);
    window.show(view);
    std::vector<std::string>& parts = found[model_name + "/" + view];
    parts = {window.ui.drawn_text(), window.ui.drawn_shapes()};
    if (with_tooltips) parts.push_back(window.tooltips());
  }
}

// The window after each action that applies to it: dialogs, panels, pages.
void add_actions(Appearance& found) {
  for (const Action& action : actions()) {
    if (action.name == "what-can-be-done") continue;  // for what had the focus in the window before, at this address
    Answered window({});
    window.show("head");
    if (!applies(action, window.scope)) continue;
    action.act(window.scope);
    window.ui.frames(4, window.draw);
    found[fmt::format("action/{}", action.name)] = {window.ui.drawn_text(), window.ui.drawn_shapes()};
  }
}

// Two such folders, before and after a change, show what is different.
std::filesystem::path write_differing(const Appearance& found, const Appearance& expected) {
  const auto folder = std::filesystem::temp_directory_path() / "attnscope-appearance";
  for (const auto& [name, hashes] : hashed(found)) {
    const auto known = expected.find(name);
    if (known != expected.end() && known->second == hashes) continue;
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream file(folder / (name + ".txt"));
    for (const std::string& part : found.at(name)) file << part << '\n';
  }
  return folder;
}

TEST(Appearance, OfEveryViewIsTheExpectedOne) {
#if IMGUI_VERSION_NUM != 18600
  GTEST_SKIP() << "another release of Dear ImGui places widgets differently";
#endif
  Appearance found;
  add_views("translation", {}, true, found);
  add_views("language", {.architecture = "decoder-only"}, false, found);
  add_views("recurrent", {.architecture = "recurrent"}, false, found);
  add_actions(found);
  if (std::getenv("ATTNSCOPE_UPDATE_GOLDEN") != nullptr) write_expected(hashed(found));
  const Appearance expected = read_expected();
  EXPECT_FALSE(expected.empty());
  for (const auto& [name, hashes] : hashed(found)) {
    const auto known = expected.find(name);
    EXPECT_TRUE(known != expected.end() && known->second == hashes) << name << " looks different";
  }
  for (const auto& [name, hashes] : expected) EXPECT_TRUE(found.contains(name)) << name << " is missing";
  if (HasFailure())
    ADD_FAILURE() << "These views are described in " << write_differing(found, expected)
                  << ". If the change is meant, look at them in the window and run ATTNSCOPE_UPDATE_GOLDEN=1 "
                     "build/bin/panel_tests --gtest_filter='Appearance.*'";
}

}  // namespace
}  // namespace attnscope
