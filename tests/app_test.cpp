// When the window draws a frame, and what its settings file stores.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "files/storage/file.h"
#include "window/font_files.h"
#include "window/glfw_window.h"
#include "window/pacing.h"
#include "window/settings.h"

namespace attnscope {
namespace {

constexpr double blink_at_most = 0.5;

TEST(Pacing, DrawsTheFirstFrameAtOnceAndThenNothing) {
  Pacing pacing;
  ASSERT_TRUE(pacing.due());
  EXPECT_LE(*pacing.due(), 0.1);
  pacing.drawn(1, 1, false, false);
  EXPECT_EQ(pacing.due(), std::nullopt);
}

TEST(Pacing, AnswersInputWithinAFrame) {
  Pacing pacing;
  pacing.drawn(1, 1, false, false);
  pacing.urge(5);
  ASSERT_TRUE(pacing.due());
  EXPECT_LE(*pacing.due(), 5);
}

// The first key is answered however short ago news was drawn; a mouse that moves on leaves training its time.
TEST(Pacing, DoesNotLetTheFirstInputWait) {
  Pacing pacing;
  pacing.drawn(1, 1.02, false, false);
  pacing.urge(1.021);
  EXPECT_LE(*pacing.due(), 1.021);
  pacing.drawn(1.021, 1.04, false, false);
  pacing.urge(1.041);
  EXPECT_GE(*pacing.due(), 1.05);
  pacing.answered(1.042);
  EXPECT_LE(*pacing.due(), 1.042);
}

// Drawing other news first would delay the answer.
TEST(Pacing, WaitsOnceAndShortlyForAnAnswerIfThereIsOtherNews) {
  Pacing pacing;
  pacing.drawn(1, 1, false, false);
  pacing.urge(2);
  EXPECT_FALSE(pacing.waits_for_answer(2)) << "the frame with the letter alone is cheap";
  pacing.news();
  ASSERT_TRUE(pacing.waits_for_answer(2));
  EXPECT_GT(*pacing.due(), 2.005);
  EXPECT_LT(*pacing.due(), 2.02);
  EXPECT_FALSE(pacing.waits_for_answer(2.01)) << "a second letter does not put off the first";
  pacing.answered(2.004);
  EXPECT_EQ(*pacing.due(), 2.004);
  pacing.drawn(2.004, 2.01, false, false);
  pacing.news();
  EXPECT_TRUE(pacing.waits_for_answer(2.1));
}

TEST(Pacing, SettlesAfterInputAndThenRests) {
  Pacing pacing;
  pacing.urge(5);
  int frames = 0;
  double now = 5;
  while (pacing.due()) {
    now = std::max(now, *pacing.due());
    pacing.drawn(now, now, false, false);
    ASSERT_LT(++frames, 60);
  }
  EXPECT_GE(frames, 3);
  EXPECT_LT(now, 7);
}

TEST(Pacing, ShowsTrainingNewsAtMostTenTimesASecond) {
  Pacing pacing;
  pacing.drawn(100, 100, false, false);
  int frames = 0;
  for (int millisecond = 0; millisecond < 1000; millisecond += 5) {
    const double now = 100 + millisecond / 1000.;
    pacing.news();
    if (now >= *pacing.due()) {
      pacing.drawn(now, now, false, false);
      ++frames;
    }
  }
  EXPECT_GE(frames, 8);
  EXPECT_LE(frames, 10);
}

// Slow frames would take the time from what is trained; a user who does something is answered at once all the same.
TEST(Pacing, ShowsNewsTheMoreSeldomTheLongerAFrameTakes) {
  Pacing pacing;
  for (const auto& [duration, earliest, latest] :
       {std::tuple(0.001, 0.09, 0.11), {0.015, 0.365, 0.385}, {2.0, 0.1, 0.8}}) {
    pacing.drawn(100 - duration, 100, false, false);
    pacing.news();
    ASSERT_TRUE(pacing.due());
    EXPECT_GE(*pacing.due() - 100, earliest) << duration;
    EXPECT_LE(*pacing.due() - 100, latest) << duration;
  }
  pacing.urge(100.01);
  EXPECT_LE(*pacing.due(), 100.1);
}

TEST(Pacing, KeepsAnimationsAndTheTextCursorGoing) {
  Pacing pacing;
  pacing.drawn(10, 10, true, false);
  ASSERT_TRUE(pacing.due());
  EXPECT_LE(*pacing.due(), 10.2);
  pacing.drawn(20, 20, false, true);
  ASSERT_TRUE(pacing.due());
  EXPECT_GT(*pacing.due(), 20.1);
  EXPECT_LE(*pacing.due(), 20 + blink_at_most);
}

class SettingsFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("attnscope-settings-" + std::to_string(getpid()) +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(SettingsFile, ComesBackAsItWasWritten) {
  Settings settings;
  settings.layout.sentence = "Où est l'âne ?";
  settings.layout.theme = ThemeName::light;
  settings.layout.workspace = find_workspace("decoding");
  settings.window = {1111, 777, WindowPlace::Point{-20, 30}, true};
  const std::filesystem::path deep = folder_ / "a" / "b" / "settings.json";
  write_settings(deep, settings);
  const SettingsRead read = read_settings(deep);
  EXPECT_EQ(read.complaint, "");
  EXPECT_EQ(read.settings.layout, settings.layout);
  EXPECT_EQ(read.settings.window, settings.window);
}

TEST_F(SettingsFile, MayBeMissing) {
  const SettingsRead read = read_settings(folder_ / "settings.json");
  EXPECT_EQ(read.complaint, "");
  EXPECT_EQ(read.settings.layout, first_layout());
  EXPECT_EQ(read_settings({}).complaint, "");
}

TEST_F(SettingsFile, IsMovedAsideWhenBroken) {
  std::filesystem::create_directories(folder_);
  const std::filesystem::path path = folder_ / "settings.json";
  for (const std::string& text : {std::string("{\"layout\": {"), std::string("[1, 2]"), std::string(),
                                  std::string("\xff\xfe\x01"), std::string(200'000, '[')}) {
    write_file(path, text);
    const SettingsRead read = read_settings(path);
    EXPECT_NE(read.complaint.find(path.string()), std::string::npos) << read.complaint;
    EXPECT_EQ(read.settings.layout, Layout());
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(read_file(folder_ / "settings.json.broken", 1'000'000), text);
    std::filesystem::remove(folder_ / "settings.json.broken");
  }
}

TEST_F(SettingsFile, HostileValuesBecomeUsableOnes) {
  std::filesystem::create_directories(folder_);
  const std::filesystem::path path = folder_ / "settings.json";
  write_file(
      path,
      R"({"window": {"width": -5, "height": 99999999999, "x": 1e9, "y": 3, "maximized": 7}, "layout": {"zoom": 1e300, "sentence": 7}})");
  const SettingsRead read = read_settings(path);
  EXPECT_GE(read.settings.window.width, 320);
  EXPECT_LE(read.settings.window.height, 16384);
  EXPECT_FALSE(read.settings.window.corner) << "1e9 is no whole number of the format";
  EXPECT_FALSE(read.settings.window.maximized);
  EXPECT_LE(read.settings.layout.zoom, max_zoom);
  EXPECT_NE(read.complaint, "");
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(FontFiles, ArePinnedToDejaVuForPictures) {
  const FontFiles files = find_pinned_fonts();
  if (files.ui.empty()) GTEST_SKIP() << "the fonts of fonts-dejavu-core are not installed";
  EXPECT_NE(files.ui.find("DejaVu"), std::string::npos);
  EXPECT_NE(files.mono.find("DejaVu"), std::string::npos);
  EXPECT_NE(files.ui, files.mono);
  EXPECT_NE(files.ui, files.ui_bold);
}

// A language model's line end and SentencePiece's word mark among them, whatever fonts are installed.
TEST(FontFiles, HaveEverySignThatIsDrawn) {
  const FontFiles files = find_fonts();
  if (files.ui.empty()) GTEST_SKIP() << "no fonts are installed";
  ImFontAtlas atlas;
  const Fonts fonts = add_fonts(atlas, files, 1);
  for (const ImFont* font : {fonts.ui, fonts.bold, fonts.small, fonts.mono, fonts.mono_small})
    for (const ImWchar sign : {u'⏎', u'▁', u'→', u'√', u'‖', u'…', u'ᵀ'}) EXPECT_TRUE(has_glyph(font, sign)) << sign;
}

// ---- fonts

TEST(ScriptFonts, HaveTheSignsThatAreAskedFor) {
  // DejaVu, which the window needs anyway, has Arabic and Hebrew.
  const std::vector<ScriptFont> fonts = find_script_fonts({U'ع', U'ש'});
  std::set<ImWchar> found;
  for (const ScriptFont& font : fonts) {
    EXPECT_FALSE(font.bytes.empty());
    ASSERT_FALSE(font.ranges.empty());
    EXPECT_EQ(font.ranges.back(), 0);
    found.insert(font.ranges.begin(), font.ranges.end() - 1);
  }
  EXPECT_EQ(found, (std::set<ImWchar>{U'ع', U'ש'}));
  ImFontAtlas atlas;
  FontFiles files = find_pinned_fonts();
#if IMGUI_VERSION_NUM < 19200  // later releases load any glyph of a font when it is drawn
  EXPECT_FALSE(has_glyph(add_fonts(atlas, files, 1).ui, U'ש'));
#endif
  files.scripts = fonts;
  const Fonts made = add_fonts(atlas, files, 1);
  for (const ImFont* font : {made.ui, made.large, made.mono}) EXPECT_TRUE(has_glyph(font, U'ש'));
}

TEST(ScriptFonts, OfASignThatNoFontHasAreNone) {
  EXPECT_TRUE(find_script_fonts({0xFFFE}).empty());
  EXPECT_TRUE(find_script_fonts({}).empty());
}

}  // namespace
}  // namespace attnscope
