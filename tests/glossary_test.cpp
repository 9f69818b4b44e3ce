// The glossary: every term is complete, leads to what there is, and is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "shell/glossary.h"
#include "shell/looking.h"
#include "shell/palette.h"
#include "shell/panels.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

TEST(Glossary, TermsAreInOrderAndLeadSomewhere) {
  std::set<std::string_view> names;
  std::string before;
  for (const Term& term : glossary()) {
    std::string small(term.name);
    std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_LT(before, small);
    before = small;
    EXPECT_TRUE(names.insert(term.name).second);
    EXPECT_TRUE(term.meaning.ends_with('.')) << term.name;
    if (term.shown.empty()) continue;
    Views views;
    EXPECT_TRUE(find_workspace(term.shown) || show_view(views, term.shown)) << term.name << ": " << term.shown;
  }
  for (const char* word :
       {"embedding", "token", "query", "key", "value", "attention head", "look-ahead mask", "logit", "softmax",
        "residual connection", "layer norm", "beam search", "teacher forcing", "BLEU", "perplexity"})
    EXPECT_TRUE(names.contains(word)) << word;
}

class GlossaryWindow : public testing::Test {
 protected:
  GlossaryWindow() {
    receive(scope, {fixture_run(20)}, fixture_snapshot({}, 1));
    ui.frames(3, draw);
  }

  Scope scope;
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(GlossaryWindow, F1OpensItAndATermShowsWhereItIs) {
  ui.key(Key::f1, draw);
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("beam search", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("1609.08144"));
  ASSERT_TRUE(ui.click_text("Show me", draw));
  ui.frames(2, draw);
  EXPECT_EQ(scope.layout.workspace, find_workspace("decoding"));
  EXPECT_FALSE(ui.drew("1609.08144"));
}

TEST_F(GlossaryWindow, ThePaletteKnowsEveryTermAndEscapeCloses) {
  const auto entries = palette_entries(scope);
  for (const Term& term : glossary())
    EXPECT_TRUE(std::ranges::any_of(entries, [&](const PaletteEntry& entry) {
      return entry.where == "Glossary" && entry.title == term.name;
    })) << term.name;
  ui.key(Key::p, draw, {.ctrl = true});
  ui.frames(2, draw);
  ui.type("perplexity", draw);
  ui.key(Key::enter, draw);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Among how many"));
  ui.key(Key::escape, draw);
  ui.frames(2, draw);
  EXPECT_FALSE(scope.glossary.open);
  EXPECT_FALSE(ui.drew("Among how many"));
}

}  // namespace
}  // namespace attnscope
