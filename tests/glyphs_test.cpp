// Which signs fonts are looked for.
#include <gtest/gtest.h>
#include <imgui.h>

#include <set>
#include <string>

#include "base/drawable_text.h"
#include "shell/app_state.h"
#include "shell/glyphs.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"

namespace attnscope {
namespace {

using Found = std::set<char32_t>;

TEST(Glyphs, OfOtherScriptsAreToldOnce) {
  AppState scope;
  Glyphs signs;
  scope.layout.sentence = "L'été — “ça” va → ñ Ω ж ▁";
  EXPECT_EQ(signs.new_in(scope), Found{}) << "the window's own fonts have these";
  scope.layout.sentence = "它 is 它, שלום";
  EXPECT_EQ(signs.new_in(scope), (Found{U'它', U'ש', U'ל', U'ו', U'ם'}));
  EXPECT_EQ(signs.new_in(scope), Found{});
  scope.layout.sentence = "它 累";
  EXPECT_EQ(signs.new_in(scope), Found{U'累'});
}

// Every character outside the ranges that the fonts load is looked for.
TEST(Glyphs, NoCharacterIsClaimedThatIsNotLoaded) {
  AppState scope;
  Glyphs signs;
  scope.layout.sentence = "ɐ ʒ ₹ ℝ ⅓ ① ℵ ㎏";
  EXPECT_EQ(signs.new_in(scope), (Found{U'ɐ', U'ʒ', U'₹', U'ℝ', U'⅓', U'①', U'ℵ', U'㎏'}));
}

TEST(Glyphs, TheWordsOfAChosenLanguageAreFoundAndItsNameWhereAMenuIsOpen) {
  AppState scope;
  Glyphs signs;
  EXPECT_EQ(signs.new_in(scope), Found{});
  EXPECT_EQ(signs.new_in(scope, true), (Found{U'简', U'体', U'中', U'文'}));
  scope.facts.lessons.emplace_back().title.in(Language::chinese) = "词";
  scope.layout.language = Language::chinese;
  EXPECT_EQ(signs.new_in(scope), Found{U'词'});
}

TEST(Glyphs, JoinedFormsOfArabicAreFoundToo) {
  AppState scope;
  Glyphs signs;
  scope.layout.sentence = "سلام";
  const Found found = signs.new_in(scope);
  EXPECT_TRUE(found.contains(U'ﺳ') && found.contains(U'ﻼ') && found.contains(U'ﻡ'));
}

TEST(Glyphs, AreReadFromWhatTheModelWritesAndMayWrite) {
  AppState scope;
  Glyphs signs;
  auto snapshot = fixture_snapshot({}, 1);
  snapshot->source[0].text = "▁今";
  snapshot->output_text = "日";
  snapshot->decoding[0].candidates[1].token.text = "晴";
  receive(scope, {fixture_run(1)}, snapshot);
  EXPECT_EQ(signs.new_in(scope), (Found{U'今', U'日', U'晴'}));
}

TEST(Glyphs, OfNamesMessagesAndOtherSentencesAreTold) {
  AppState scope;
  Glyphs signs;
  scope.layout.recent = {"雨"};
  EXPECT_EQ(signs.new_in(scope), Found{U'雨'});
  notify(scope, Severity::error, "cannot open /home/u/資料.tsv");
  EXPECT_EQ(signs.new_in(scope), (Found{U'資', U'料'}));
  scope.reference = "雪";
  EXPECT_EQ(signs.new_in(scope), Found{U'雪'});
  scope.browser.listing.entries = {{"日記", true, false, 0}};
  EXPECT_EQ(signs.new_in(scope), Found{}) << "the browser is closed";
  scope.browser.open = true;
  EXPECT_EQ(signs.new_in(scope), (Found{U'日', U'記'}));
}

TEST(Glyphs, BrokenUtf8AndSignsBeyondTheBasicPlaneAreNone) {
  AppState scope;
  Glyphs signs;
  for (const char* text : {"\xE4\xBD", "\xFF\xFE\x80", "\xF0\x9F\x98\x80", ""}) {
    scope.layout.sentence = text;
    for (const char32_t sign : signs.new_in(scope)) EXPECT_LE(sign, char32_t{0xFFFF});
  }
}

// UAX #9: numbers and Latin words keep their direction within a line from right to left.
TEST(DrawableText, IsInVisualOrder) {
  EXPECT_EQ(visual_order("שלום"), "םולש");
  EXPECT_EQ(visual_order("the שלום 12 end"), "the 12 םולש end");
  EXPECT_EQ(visual_order("שלום abc\nדג"), "abc םולש\nגד") << "line by line";
  EXPECT_EQ(visual_order("سلام"), "ﻡﻼﺳ") << "initial, lam-alef, isolated";
  EXPECT_EQ(visual_order("(שלום)!"), "!(םולש)") << "mirrored";
  EXPECT_FALSE(is_bidirectional("it’s 東京 ▁été क Ω"));
  for (const char* text : {"שלום", "سلام", "\u0700", "ﻼ", "\u08A0"}) EXPECT_TRUE(is_bidirectional(text)) << text;
  const DrawableText drawable("א\xF0\x9F\x98\x80");
  EXPECT_EQ(std::string(drawable.begin(), drawable.end()), "[1F600]א");
  EXPECT_EQ(visual_order("\xD7\xD7\xFF").empty(), false) << "broken UTF-8";
}

TEST(DrawableText, TellsByTheirNumbersWhatCannotBeDrawn) {
  if (sizeof(ImWchar) > 2) GTEST_SKIP() << "this Dear ImGui holds every sign";
  const auto drawn = [](std::string_view text) {
    const DrawableText drawable(text);
    return std::string(drawable.begin(), drawable.end());
  };
  EXPECT_EQ(drawn("so \xF0\x9F\x98\x80 it \xF0\x9F\xA6\x8A"), "so [1F600] it [1F98A]");
  EXPECT_EQ(drawn("it’s 東京 ▁été"), "it’s 東京 ▁été");
  EXPECT_EQ(drawn("cut \xF0\x9F\x98"), "cut \xF0\x9F\x98");
  EXPECT_EQ(drawn("\xF0 \xFF\xFF\xFF\xFF"), "\xF0 \xFF\xFF\xFF\xFF");
  EXPECT_EQ(drawn(""), "");
}

}  // namespace
}  // namespace attnscope
