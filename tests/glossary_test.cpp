// The glossary: every term is complete, leads to what there is, and is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include "config/config.h"
#include "messages/metrics.h"
#include "shell/dialogs/palette.h"
#include "shell/glossary/glossary.h"
#include "shell/glossary/term_pictures.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "source_literals.h"
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
    const bool is_setting = std::ranges::any_of(config_fields(), [&](const auto& it) { return it.key == term.shown; });
    EXPECT_TRUE(is_setting || find_workspace(term.shown) || show_view(views, term.shown))
        << term.name << ": " << term.shown;
  }
  for (const char* word :
       {"embedding", "token", "query", "key", "value", "attention head", "look-ahead mask", "logit", "softmax",
        "residual connection", "layer norm", "beam search", "teacher forcing", "BLEU", "perplexity"})
    EXPECT_TRUE(names.contains(word)) << word;
}

TEST(Glossary, EveryLabelHasAnEntry) {
  for (const ConfigField& field : config_fields()) EXPECT_TRUE(term_of(field.key)) << field.key;
  for (const Workspace& workspace : workspaces()) {
    EXPECT_TRUE(term_of(workspace.title)) << workspace.title;
    if (!workspace.views) continue;
    for (const WorkspaceView& view : workspace.views()) EXPECT_TRUE(term_of(view.title)) << view.title;
  }
  for (const MetricRow& row : metric_rows) EXPECT_TRUE(term_of(row.plot.title)) << row.plot.title;
  EXPECT_FALSE(term_of("no label at all"));
  EXPECT_EQ(term_of("Beam tree###tree")->name, "beam search");
}

// The titles of plots, and the headings over maps and panels, wherever a source draws one.
TEST(Glossary, EveryTitleHasAnEntry) {
  std::size_t titles = 0;
  for (const SourceFile& file : source_files(ATTNSCOPE_SOURCES "/ui")) {
    for (const SourceLiteral& literal : file.literals) {
      const std::size_t title = literal.before.find(".title = ");
      const bool of_plot = literal.before.ends_with("tr(") && title != std::string::npos &&
                           literal.before.find(',', title) == std::string::npos;
      if (!of_plot && !literal.before.ends_with("bold_text(tr(")) continue;
      ++titles;
      EXPECT_TRUE(term_of(literal.text)) << file.path << ": " << literal.text;
    }
  }
  EXPECT_GT(titles, 30U) << "or none was found";
}

TEST(Glossary, FindsWhatATextSpeaksOf) {
  const auto found = terms_in("The keys of an attention head, compared with a query.");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0]->name, "key");
  EXPECT_EQ(found[1]->name, "attention head");
  EXPECT_EQ(found[2]->name, "attention");
  EXPECT_EQ(found[3]->name, "query");
  EXPECT_TRUE(terms_in("monkeys tokenise nothing").empty());
}

class GlossaryWindow : public testing::Test {
 protected:
  GlossaryWindow() {
    receive(scope, {fixture_run(20)}, fixture_snapshot({}, 1));
    ui.frames(3, draw);
  }

  AppState scope;
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(GlossaryWindow, F1OpensItAndATermShowsWhereItIs) {
  ui.key(Key::f1, draw);
  ui.frames(2, draw);
  ui.type("softmax", draw);
  ui.frames(2, draw);
  EXPECT_EQ(glossary()[static_cast<std::size_t>(scope.glossary.chosen)].name, "softmax") << "before what mentions it";
  ui.key(Key::a, draw, {.ctrl = true});
  ui.type("entropy", draw);
  ui.frames(2, draw);
  EXPECT_EQ(glossary()[static_cast<std::size_t>(scope.glossary.chosen)].name, "entropy") << "before cross-entropy";
  ui.key(Key::a, draw, {.ctrl = true});
  ui.type("beam sear", draw);
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("beam search", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("1609.08144"));
  ASSERT_TRUE(ui.click_text("Show me", draw));
  ui.frames(2, draw);
  EXPECT_EQ(scope.layout.workspace, find_workspace("decoding"));
  EXPECT_FALSE(ui.drew("1609.08144"));
}

// The area of all triangles of the last frame that lie on the screen, in square pixels.
double drawn_area() {
  const ImDrawData& data = *ImGui::GetDrawData();
  double area = 0;
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const ImDrawList& list = *data.CmdLists[i];
    for (int j = 0; j + 2 < list.IdxBuffer.Size; j += 3) {
      const auto corner = [&](int k) { return list.VtxBuffer[list.IdxBuffer[j + k]].pos; };
      const ImVec2 a = corner(0), b = corner(1), c = corner(2);
      const auto inside = [](ImVec2 at) { return at.x >= -8 && at.x <= 1400 && at.y >= -8 && at.y <= 800; };
      EXPECT_TRUE(inside(a) && inside(b) && inside(c)) << a.x << ", " << a.y;
      area += std::abs((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)) / 2;
    }
  }
  return area;
}

TEST_F(GlossaryWindow, TheBiasOfAlibiGrowsWithTheDistance) {
  ui.panel([&] { draw_term_picture("ALiBi", ui.skin); });
  const auto is_drawn = [](double share) {
    const ImDrawData& data = *ImGui::GetDrawData();
    const Color32 color = map_color(ColorMap::viridis, static_cast<float>(share));
    for (int i = 0; i < data.CmdListsCount; ++i)
      if (std::ranges::count(data.CmdLists[i]->VtxBuffer, color, &ImDrawVert::col) > 0) return true;
    return false;
  };
  for (int distance = 0; distance < 8; ++distance) EXPECT_TRUE(is_drawn(1 - distance / 8.0)) << distance;
}

// Each is of a term, and draws something of its own.
TEST_F(GlossaryWindow, TermsHavePictures) {
  const auto area_of = [&](std::string_view name) {
    SCOPED_TRACE(name);
    ui.panel([&] { draw_term_picture(name, ui.skin); });
    return drawn_area();
  };
  const double empty = area_of("no term");
  int pictures = 0;
  for (const Term& term : glossary()) {
    if (!has_picture(term.name)) continue;
    ++pictures;
    EXPECT_GT(area_of(term.name), empty + 300) << term.name;
  }
  // The bars of the shares alone, which sum to 1, take 1 / 0.6 · 96 × 18.5 pixels.
  EXPECT_GT(area_of("softmax"), empty + 2950);
  EXPECT_EQ(pictures, 25);
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
  EXPECT_TRUE(ui.drew("The number of equally likely tokens"));
  ui.key(Key::escape, draw);
  ui.frames(2, draw);
  EXPECT_FALSE(scope.glossary.open);
  EXPECT_FALSE(ui.drew("The number of equally likely tokens"));
}

TEST_F(GlossaryWindow, F1OpensWhatTheMouseIsOver) {
  const auto at = ui.find_text("Held-out split");
  ASSERT_TRUE(at);
  ui.move(*at, draw);
  ui.frames(60, draw);
  EXPECT_TRUE(ui.drew("F1: "));
  ui.key(Key::f1, draw);
  ui.frames(2, draw);
  EXPECT_TRUE(scope.glossary.open);
  EXPECT_EQ(glossary()[static_cast<std::size_t>(scope.glossary.chosen)].name, "held-out data");
}

TEST_F(GlossaryWindow, ASettingsTermShowsTheSetting) {
  open_glossary(scope, "gradient clipping");
  ui.frames(3, draw);
  ASSERT_TRUE(ui.click_text("Show me", draw));
  ui.frames(2, draw);
  EXPECT_FALSE(scope.glossary.open);
  EXPECT_TRUE(scope.layout.setup_open);
}

}  // namespace
}  // namespace attnscope
