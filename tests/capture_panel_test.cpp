// The window on a capture: what is shown, what is absent and why, and what is saved as one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>

#include "base/theme.h"
#include "files/captures/capture_engine.h"
#include "files/captures/page.h"
#include "files/storage/file.h"
#include "files/storage/safetensors.h"
#include "posted.h"
#include "shell/actions.h"
#include "shell/captures.h"
#include "shell/dialogs/palette.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "shell/training.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/embeddings/view.h"
#include "workspaces/positions/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

TensorBytes tensor(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i)
    bytes.append(reinterpret_cast<const char*>(&values[i % values.size()]), sizeof(float));
  return {name, Dtype::F32, std::move(shape), std::move(bytes)};
}

class CaptureWindow : public testing::Test {
 protected:
  void TearDown() override { fs::remove(file); }

  // After a run, as a reader opens it.
  void open(const std::string& sentences, std::vector<TensorBytes> tensors, bool is_signed = false,
            const char* loss = R"({"1": 3, "9": 1.25})") {
    Safetensors contents;
    contents.metadata = {{"format", "attnscope-capture"},
                         {"version", "1"},
                         {"sentences", sentences},
                         {"signed", is_signed ? "true" : "false"},
                         {"loss", loss}};
    contents.tensors = std::move(tensors);
    write_safetensors(file, contents);
    receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU", {}}}, fixture_snapshot({}, 1));
    scope.views.of<AttentionView>().interventions.other_scale = true;
    ui.frames(3, draw);
    receive(scope, {engine.open_model(file.string())}, nullptr);
    answer();
    ui.frames(4, draw);
    scope.commands.clear();
  }

  // Two sentences; the second has two steps.
  void open_bank(bool is_signed = false) {
    const std::vector<float> even(4, 0.25F), mixed = {-1, 2, -0.5F, 0.25F};
    const std::vector<float>& values = is_signed ? mixed : even;
    open(R"([{"text": "the bank", "source": ["[CLS]", "the", "bank", "[SEP]"], "labels": {"model": "mine"}},
             {"text": "steps", "source": ["one", "two", "three", "four"]}])",
         {tensor("0/9/encoder", {2, 3, 4, 4}, values), tensor("1/1/encoder", {2, 3, 4, 4}, values),
          tensor("1/9/encoder", {2, 3, 4, 4}, values)},
         is_signed);
  }

  // Passes the newest Probe to the capture's engine.
  void answer() {
    engine.probe(scope.asked, [&](std::shared_ptr<const Snapshot> seen) { receive(scope, {}, std::move(seen)); }, {});
  }

  PaletteEntry entry(const std::string& title, const std::string& where) const {
    const auto entries = palette_entries(scope);
    const auto found = std::ranges::find_if(
        entries, [&](const PaletteEntry& each) { return each.title == title && each.where == where; });
    return found == entries.end() ? PaletteEntry{} : *found;
  }

  fs::path file = fs::temp_directory_path() / ("capture_window." + std::to_string(::getpid()) + ".safetensors");
  CaptureEngine engine{1000};
  AppState scope;
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(CaptureWindow, ShowsItsSentenceInAttentionAndItsFactsInPlaceOfTheSetup) {
  scope.layout.workspace = find_workspace("circuit");
  open_bank();
  EXPECT_EQ(scope.layout.sentence, "the bank");
  EXPECT_EQ(scope.layout.workspace->name, "attention");
  EXPECT_TRUE(scope.views.of<AttentionView>().interventions.empty());
  for (const char* text : {"Attention that another program recorded", "2 × 3 heads, 4 queries, 4 keys", "mine", "[CLS]",
                           "bank", "Encoder, layer 2, head 1", "loss 1.25"})
    EXPECT_TRUE(ui.drew(text)) << text;
  for (const char* text : {"Circuit", "Decoding", "Inside one head", "Sublayers", "Intervene", "d_model"})
    EXPECT_FALSE(ui.drew(text)) << text;
}

TEST_F(CaptureWindow, ThePaletteSaysWhatIsAbsentAndWhy) {
  open_bank();
  for (const auto& [title, where] : {std::pair{"Circuit", "View"},
                                     {"Decoding", "View"},
                                     {"Inside one head", "Attention"},
                                     {"Embeddings", "View"},
                                     {"Map", "Embeddings"},
                                     {"Train", "Run"}}) {
    EXPECT_FALSE(entry(title, where).applies) << title;
    EXPECT_THAT(entry(title, where).help, HasSubstr("eeds")) << title;
  }
  EXPECT_THAT(entry("Captured layers", "Embeddings").help, HasSubstr("hidden"));
  for (const auto& [title, where] :
       {std::pair{"Model", "Attention"}, {"Attention distance", "Positions"}, {"Kernel regression", "Origins"}})
    EXPECT_TRUE(entry(title, where).applies) << title;
  EXPECT_FALSE(can_train(scope));
  EXPECT_FALSE(can_reset(scope));
}

TEST_F(CaptureWindow, ThePaletteShowsTheReasonOfTheEntryThatKeysChose) {
  open_bank();
  ui.key(Key::p, draw, {.ctrl = true});
  ui.type("Decoding View", draw);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew(entry("Decoding", "View").help));
}

TEST_F(CaptureWindow, GlanceShowsOneHeadAndTheCandidatesOfTheLogits) {
  open(R"([{"text": "the bank", "target": ["the", "bank"], "candidates": ["river", "money"]}])",
       {tensor("0/9/decoder", {1, 1, 2, 2}, {1, 0, 0.75F, 0.25F}), tensor("0/9/logits", {2, 2}, {0, 0, 0, 2})});
  show_workspace(scope, *find_workspace("glance"));
  ui.frames(3, draw);
  const std::string drawn = ui.drawn_text();
  EXPECT_THAT(drawn, HasSubstr("?bank?attendsmostto?the?(apartfromitself):weight0.75."));
  EXPECT_THAT(drawn, HasSubstr("Mostprobableafter?bank?"));
  EXPECT_THAT(drawn, HasSubstr("money0.88")) << "softmax of 0 and 2";
  for (const char* text : {"Change", "Type", "This model"})
    EXPECT_FALSE(ui.drew(text)) << text << ": there is no model";
}

TEST_F(CaptureWindow, GlanceNeedsSelfAttentionAndWeights) {
  open(R"([{"text": "two", "source": ["one", "two"], "target": ["un", "deux"]}])",
       {tensor("0/9/cross", {1, 1, 2, 2}, {1, 0, 0.5F, 0.5F})});
  show_workspace(scope, *find_workspace("glance"));
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("which this capture does not contain"));
  open_bank(true);
  EXPECT_FALSE(entry("Glance", "View").applies);
  EXPECT_THAT(entry("Glance", "View").help, HasSubstr("signed"));
}

TEST_F(CaptureWindow, KeysStayAmongTheViewsThatACaptureFills) {
  open_bank();
  AttentionView& view = scope.views.of<AttentionView>();
  view.level = AttentionLevel::head;
  ui.key(Key::enter, draw);
  ui.frames(2, draw);
  EXPECT_EQ(view.level, AttentionLevel::head);
  show_workspace(scope, *find_workspace("positions"));
  ui.frames(3, draw);
  EXPECT_EQ(scope.views.of<PositionsView>().mode, PositionsMode::locality) << "the first that is about the capture";
  EXPECT_FALSE(ui.drew("In this model"));
}

TEST_F(CaptureWindow, KeysOfGroupsOpenWhatACaptureHas) {
  open_bank();
  for (int round = 0; round < 3; ++round)
    for (std::size_t group = 0; group < workspace_groups().size(); ++group) {
      ui.key(static_cast<Key>(static_cast<int>(Key::digit_1) + static_cast<int>(group)), draw);
      EXPECT_EQ(absence(scope, *scope.layout.workspace), nullptr) << scope.layout.workspace->name;
    }
  show_workspace(scope, *find_workspace("glance"));
  ui.key(group_key(*find_workspace("decoding")).key, draw);
  EXPECT_EQ(scope.layout.workspace->name, "glance");
  EXPECT_TRUE(ui.drew("eeds")) << "the reason";
}

TEST_F(CaptureWindow, ASentenceWithStepsIsAFilm) {
  open_bank();
  EXPECT_FALSE(is_pinned(scope));
  set_sentence(scope, "steps");
  answer();
  ui.frames(3, draw);
  ASSERT_TRUE(recorded_sentence(scope));
  show_frame(scope, 0);
  ui.frames(2, draw);
  EXPECT_EQ(shown_maps(scope).complete.snapshot->step, 1);
  EXPECT_TRUE(ui.drew("step 1 of 9"));
  EXPECT_TRUE(ui.drew("three"));
}

TEST_F(CaptureWindow, SignedValuesAreNotCalledWeights) {
  open_bank(true);
  AttentionView& view = scope.views.of<AttentionView>();
  view.pinned_row = 1;
  for (const AttentionLevel level : {AttentionLevel::model, AttentionLevel::head}) {
    view.level = level;
    ui.frames(4, draw);
    for (const char* text : {"weight", "entropy", "received", "attends", "brightcells", "Fullcontrast"})
      EXPECT_THAT(ui.drawn_text(), Not(HasSubstr(text)));
    EXPECT_TRUE(ui.drew("captured values") || ui.drew("largest values"));
  }
  EXPECT_TRUE(view.map.is_signed());
  EXPECT_FLOAT_EQ(view.map.largest, 2);
  view.mix = HeadMix::rollout;
  ui.frames(2, draw);
  EXPECT_EQ(view.map.choice.mix, HeadMix::one) << "rollout needs weights";
  show_workspace(scope, *find_workspace("positions"));
  scope.views.of<PositionsView>().mode = PositionsMode::locality;
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("do not sum to 1"));
}

TEST_F(CaptureWindow, SignedBarsHaveTheScaleAndColorsOfTheMatrix) {
  constexpr float masked = -std::numeric_limits<float>::infinity();
  open(R"([{"text": "x", "source": ["one", "two", "three", "four"]}])",
       {tensor("0/0/encoder", {1, 1, 4, 4}, {-40, 20, masked, 0.25F})}, true);
  AttentionView& view = scope.views.of<AttentionView>();
  view.level = AttentionLevel::head;
  view.pinned_row = 1;
  ui.frames(4, draw);
  EXPECT_FLOAT_EQ(view.map.largest, 40);
  const std::string drawn = ui.drawn_text();
  EXPECT_THAT(drawn, HasSubstr("one?40.000two20.000")) << "and not three with 0";
  EXPECT_THAT(drawn, Not(HasSubstr("0.00-"))) << "the masked cell has no number";
}

TEST_F(CaptureWindow, GlanceListsNoLaterTokensAndShortensLongOnes) {
  const std::string longest(80, 'w');
  open(fmt::format(R"([{{"text": "long", "target": ["the\n", "{}", "end"], "candidates": ["river", "money"]}}])",
                   longest),
       {tensor("0/9/decoder", {1, 1, 3, 3}, {1, 0, 0, 0.5F, 0.5F, 0, 0.25F, 0.25F, 0.5F}),
        tensor("0/9/logits", {3, 2}, {0, 6})});
  show_workspace(scope, *find_workspace("glance"));
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("<0.01")) << "the softmax of 0 and 6 has 0.0025";
  EXPECT_FALSE(ui.drew("0.00"));
  EXPECT_FALSE(ui.find_text(longest, 1)) << "whole only in the sentence below; the running text has no room";
  ui.move(*ui.find_text("wwww"), draw);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.find_text(longest, 1)) << "and in the tooltip";
  EXPECT_FALSE(ui.drew("0.000  end")) << "it comes later";
}

TEST_F(CaptureWindow, PatchesAreDrawnOnTheImage) {
  open(R"([{"text": "cat.jpg", "source": ["[CLS]", "0,0", "0,1", "1,0", "1,1"], "grid": [2, 2]}])",
       {tensor("0/0/encoder", {1, 1, 5, 5}, {0.2F})});
  scope.views.of<AttentionView>().level = AttentionLevel::head;
  ui.frames(4, draw);
  EXPECT_TRUE(ui.drew("patch column"));
}

TEST_F(CaptureWindow, HiddenStatesAreShownByLayer) {
  open(
      R"([{"text": "x", "source": ["a", "b", "c"]}])",
      {tensor("0/0/encoder", {2, 1, 3, 3}, {1.0F / 3}), tensor("0/0/hidden", {3, 3, 4}, {1, 2, 0, 4, 5, -1, 7, 8, 3})});
  show_workspace(scope, *find_workspace("embeddings"));
  ui.frames(4, draw);
  EXPECT_EQ(scope.views.of<EmbeddingsView>().mode, EmbeddingsMode::captured);
  EXPECT_TRUE(ui.drew("Similarity of layers"));
  EXPECT_TRUE(ui.drew("layer 2"));
  EXPECT_TRUE(entry("Captured layers", "Embeddings").applies);
}

TEST_F(CaptureWindow, ManyLayersOneHeadAndOddTokensAreDrawn) {
  open(R"([{"source": ["\n", "😀", "a", "a", ""]}])", {tensor("0/0/encoder", {100, 1, 5, 5}, {0.2F})});
  scope.views.of<AttentionView>().layer = 99;
  for (const AttentionLevel level : {AttentionLevel::model, AttentionLevel::head}) {
    scope.views.of<AttentionView>().level = level;
    ui.frames(3, draw);
  }
  EXPECT_TRUE(ui.drew("Encoder, layer 100, head 1"));
}

TEST_F(CaptureWindow, WithoutLossesThereAreNoCurves) {
  open_bank();
  EXPECT_TRUE(ui.drew("Loss, nats/token"));
  EXPECT_TRUE(applies(find_action("curves"), scope));
  open(R"([{"text": "x", "source": ["a", "b"]}])", {tensor("0/0/encoder", {1, 1, 2, 2}, {0.5F})}, false, "{}");
  EXPECT_FALSE(ui.drew("Loss, nats/token"));
  EXPECT_FALSE(applies(find_action("curves"), scope));
}

TEST_F(CaptureWindow, ADroppedFileIsOpened) {
  drop_path(scope, "/somewhere/mine.safetensors", false);
  ASSERT_EQ(posted<OpenRun>(scope).size(), 1U);
  EXPECT_EQ(posted<OpenRun>(scope)[0].path, "/somewhere/mine.safetensors");
}

TEST_F(CaptureWindow, ASentenceIsSavedWithItsSteps) {
  open_bank();
  set_sentence(scope, "steps");
  answer();
  ui.frames(2, draw);
  scope.commands.clear();
  save_capture(scope, file.string(), true);
  ASSERT_EQ(posted<WriteFile>(scope).size(), 1U);
  write_file(file, posted<WriteFile>(scope)[0].bytes);
  const CaptureContents saved = load_capture(file, 1);
  ASSERT_EQ(saved.sentences.size(), 1U);
  EXPECT_EQ(saved.sentences[0].text, "steps");
  EXPECT_EQ(saved.sentences[0].frames.size(), 2U);
}

TEST_F(CaptureWindow, APageShowsTheSentenceAndThePinnedOnes) {
  open_bank();
  scope.facts.page = read_file(fs::path(ATTNSCOPE_SOURCES) / "assets/page/page.html", 1 << 20);
  save_page(scope, file.string(), true);
  ASSERT_EQ(posted<WriteFile>(scope).size(), 1U);
  const fs::path page = fs::path(file).replace_extension(".html");
  write_file(page, posted<WriteFile>(scope)[0].bytes);
  const CaptureContents saved = load_capture(page, 1);
  ASSERT_EQ(saved.sentences.size(), 2U);
  EXPECT_EQ(saved.sentences[0].text, "the bank");
  EXPECT_EQ(saved.sentences[1].text, "steps");
  EXPECT_EQ(saved.sentences[1].frames.size(), 2U);
  EXPECT_EQ(saved.losses.size(), 2U);
  fs::remove(page);
  scope.commands.clear();
  scope.facts.page.clear();
  save_page(scope, file.string(), true);
  EXPECT_TRUE(posted<WriteFile>(scope).empty());
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("install attnscope again"));
}

// page.css and page.js repeat what the window defines.
TEST(PageFiles, HaveTheColorsAndWordsOfTheWindow) {
  const std::string css = read_file(fs::path(ATTNSCOPE_SOURCES) / "assets/page/page.css", 1 << 20);
  const std::size_t light = css.find("@media (prefers-color-scheme: light)");
  for (const ThemeName name : {ThemeName::dark, ThemeName::light}) {
    const std::string part = name == ThemeName::dark ? css.substr(0, light) : css.substr(light);
    const Theme& colors = theme(name);
    for (const auto& [key, color] : {std::pair{"background", colors.background}, {"panel", colors.panel},
                                     {"raised", colors.raised}, {"hovered", colors.hovered}, {"border", colors.border},
                                     {"grid", colors.grid}, {"text", colors.text}, {"text-dim", colors.text_dim},
                                     {"accent", colors.accent}, {"masked", colors.masked}, {"line", colors.series[0]},
                                     {"negative", colors.series[1]}}) {
      EXPECT_THAT(part, HasSubstr(fmt::format("--{}: #{:02x}{:02x}{:02x};", key, color & 0xFFU, color >> 8 & 0xFFU,
                                              color >> 16 & 0xFFU)));
    }
  }
  const std::string script = read_file(fs::path(ATTNSCOPE_SOURCES) / "assets/page/page.js", 1 << 20);
  const std::string shown =
      page_html("{{facts}}{{capture}}", "", {"xx", [](const char* word) { return std::string(word) + "!"; }});
  const std::regex word("[^\\w.]t\\(\"([^\"]+)\"");
  int count = 0;
  for (std::sregex_iterator at(script.begin(), script.end(), word), end; at != end; ++at, ++count)
    EXPECT_NE(shown.find(fmt::format("\"{}\":", (*at)[1].str())), std::string::npos) << (*at)[1].str();
  EXPECT_GT(count, 20);
}

}  // namespace
}  // namespace attnscope
