// The manual: its Markdown, its links, and that the window shows every page.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "manual/manual.h"
#include "shell/actions.h"
#include "source_literals.h"
#include "ui_harness.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using Kind = MarkdownBlock::Kind;
const std::filesystem::path manual_folder = ATTNSCOPE_SOURCES "/assets/manual";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<ManualPage> all_pages() {
  std::vector<ManualPage> pages;
  for (const auto& entry : std::filesystem::directory_iterator(manual_folder))
    if (entry.path().extension() == ".md")
      pages.push_back(make_page(entry.path().stem().string(), text_of(entry.path())));
  return pages;
}

void add_links(std::set<std::string>& links, const MarkdownLine& line) {
  for (const MarkdownSpan& span : line)
    if (!span.link.empty()) links.insert(span.link);
}

std::set<std::string> links_of(const ManualPage& page) {
  std::set<std::string> links;
  for (const MarkdownBlock& block : page.blocks) {
    add_links(links, block.line);
    for (const auto& row : block.rows)
      for (const MarkdownLine& cell : row) add_links(links, cell);
  }
  return links;
}

TEST(Markdown, BecomesBlocks) {
  const auto blocks = read_markdown(
      "# Title\n\nOne **bold** word, `code` and a [link](page.md#part)\nin two lines.\n\n- first\n- second\n  - "
      "inner\n\n"
      "3. third\n4. fourth\n\n| A | B |\n|---|---|\n| 1 | `2` |\n\n```sh run\necho a\necho b\n```\n");
  ASSERT_EQ(blocks.size(), 9U);
  EXPECT_EQ(blocks[0].kind, Kind::heading);
  EXPECT_EQ(blocks[0].level, 1);
  EXPECT_EQ(plain_text_of(blocks[1].line), "One bold word, code and a link in two lines.");
  EXPECT_TRUE(blocks[1].line[1].bold);
  EXPECT_TRUE(blocks[1].line[3].code);
  EXPECT_EQ(blocks[1].line[5].link, "page.md#part");
  EXPECT_EQ(blocks[3].kind, Kind::list_item);
  EXPECT_EQ(blocks[4].level, 1);
  EXPECT_EQ(blocks[6].marker, "4.");
  ASSERT_EQ(blocks[7].rows.size(), 2U);
  EXPECT_EQ(plain_text_of(blocks[7].rows[1][1]), "2");
  EXPECT_EQ(blocks[8].code, "echo a\necho b\n");
  EXPECT_EQ(blocks[8].language, "sh run");
}

TEST(Markdown, TakesAnyText) {
  EXPECT_THAT(read_markdown(""), testing::IsEmpty());
  for (const char* text : {"|", "```", "- ", "[](", "# ", "> quoted", "<b>html</b>", "![alt](a.png)", "***",
                           "a\xFF"
                           "b"})
    EXPECT_NO_THROW(read_markdown(text)) << text;
}

TEST(Markdown, NamesHeadingsAsLinksDo) {
  EXPECT_EQ(heading_anchor("To train on your own text"), "to-train-on-your-own-text");
  EXPECT_EQ(heading_anchor("Settings (all), and more"), "settings-all-and-more");
}

TEST(Manual, HasShortPagesWithOneTitle) {
  for (const ManualPage& page : all_pages()) {
    EXPECT_LE(std::filesystem::file_size(manual_folder / (page.name + ".md")), 8000U) << page.name;
    EXPECT_EQ(page.blocks.front().level, 1) << page.name;
    EXPECT_EQ(std::ranges::count_if(page.blocks,
                                    [](const auto& block) { return block.level == 1 && block.kind == Kind::heading; }),
              1)
        << page.name;
  }
  EXPECT_LE(std::filesystem::file_size(ATTNSCOPE_SOURCES "/README.md"), 10'000U);
}

TEST(Manual, APageIsNamedByItsFirstHeading) {
  EXPECT_EQ(make_page("train", "Text\n\n# To *train*\n\n## More\n").title(), "To train");
  EXPECT_EQ(make_page("train", "Text").title(), "train");
}

TEST(Manual, LinksLeadToPagesHeadingsAndFiles) {
  const std::vector<ManualPage> pages = all_pages();
  ASSERT_GE(pages.size(), 12U);
  for (std::size_t i = 0; i < pages.size(); ++i)
    for (const std::string& link : links_of(pages[i])) {
      if (link.find("://") != std::string::npos) continue;
      if (link.starts_with("../")) {
        EXPECT_TRUE(std::filesystem::exists(manual_folder / link.substr(0, link.find('#'))))
            << pages[i].name << ": " << link;
        continue;
      }
      ManualView view;
      view.page = i;
      ASSERT_TRUE(follow_link(view, pages, link)) << pages[i].name << ": " << link;
      if (view.anchor.empty()) continue;
      EXPECT_TRUE(std::ranges::any_of(pages[view.page].blocks,
                                      [&](const MarkdownBlock& block) {
                                        return block.kind == Kind::heading &&
                                               heading_anchor(plain_text_of(block.line)) == view.anchor;
                                      }))
          << pages[i].name << ": " << link;
    }
}

// The bold texts of a page. Bold is what can be pressed or read in the window: keys, menus, buttons, tabs, views.
std::set<std::string> names_in(const ManualPage& page) {
  std::set<std::string> names;
  const auto add = [&](const MarkdownLine& line) {
    for (const MarkdownSpan& span : line)
      if (span.bold && !span.code) names.insert(span.text);
  };
  for (const MarkdownBlock& block : page.blocks) {
    if (block.kind == Kind::heading) continue;
    add(block.line);
    for (const auto& row : block.rows)
      for (const MarkdownLine& cell : row) add(cell);
  }
  return names;
}

// A key, a mouse button, or a control that is drawn without text.
bool is_key(const std::string& name) {
  static const std::regex key(
      "((Ctrl|Shift)\\+)*(F[0-9]+|[0-9A-Z]|\\+|\u2212|\u2190|\u2191|\u2192|\u2193|Home|End|Enter|Space|Esc|Tab|"
      "Page Up|Page Down)|Shift|Right-click|\u25BC");
  return std::regex_match(name, key);
}

// All texts in the sources of the window and of the tables that it shows; a text may have parts that are filled in.
class WindowTexts {
 public:
  WindowTexts() {
    for (const char* folder : {"ui", "core"})
      for (const SourceFile& file : source_files(std::filesystem::path(ATTNSCOPE_SOURCES) / folder))
        for (const SourceLiteral& literal : file.literals) add(literal.text.substr(0, literal.text.find("##")));
  }

  bool has(const std::string& name) const {
    return texts_.contains(name) ||
           std::ranges::any_of(patterns_, [&](const std::regex& pattern) { return std::regex_match(name, pattern); });
  }

 private:
  void add(const std::string& text) {
    texts_.insert(text);
    // "Change {} to {}": at least two words are fixed.
    static const std::regex filled("\\{[^}]*\\}"), special("[.*+?()|^$\\[\\]\\\\]"), words("[A-Z][a-z]+ .*[a-z]+.*");
    if (text.size() > 60 || text.find('{') == std::string::npos || !std::regex_match(text, words)) return;
    patterns_.emplace_back(std::regex_replace(std::regex_replace(text, special, "\\$&"), filled, ".+"));
  }

  std::set<std::string> texts_;
  std::vector<std::regex> patterns_;
};

// "File → Open run…" names an action of this menu, "Attention → Model" a view of this workspace. Returns what is wrong.
std::string wrong_path(const std::string& first, const std::string& second) {
  for (const auto& [menu, title] : menus) {
    if (first != title) continue;
    const bool listed = std::ranges::any_of(actions(), [&](const Action& action) {
      return action.place.menu == menu && action.title(AppState()) == second;
    });
    return listed ? "" : "the menu " + first + " has no entry " + second;
  }
  for (const Workspace& workspace : workspaces()) {
    if (first != workspace.title) continue;
    const std::span<const WorkspaceView> views = workspace.views ? workspace.views() : std::span<const WorkspaceView>();
    const bool shown = std::ranges::any_of(views, [&](const WorkspaceView& view) { return second == view.title; });
    return shown ? "" : "the workspace " + first + " has no view " + second;
  }
  return "there is no menu or workspace " + first;
}

std::string wrong_name(const WindowTexts& texts, const std::string& name) {
  if (is_key(name) || texts.has(name)) return "";
  const std::string arrow = " \u2192 ";
  const std::size_t at = name.find(arrow);
  if (at != std::string::npos) return wrong_path(name.substr(0, at), name.substr(at + arrow.size()));
  return "no such text in the window";
}

TEST(Manual, NamesWhatTheWindowShows) {
  const WindowTexts texts;
  int names = 0;
  for (const ManualPage& page : all_pages())
    for (const std::string& name : names_in(page)) {
      EXPECT_EQ(wrong_name(texts, name), "") << page.name << ".md: " << name;
      ++names;
    }
  EXPECT_GE(names, 150);
  for (const char* wrong : {"Help \u2192 Manaul", "Hepl \u2192 Manual", "Attention \u2192 Inside no head", "Reset all"})
    EXPECT_NE(wrong_name(texts, wrong), "") << wrong;
}

TEST(Manual, PicturesExist) {
  static const std::regex picture("!\\[[^\\]]*\\]\\(([^)]*)\\)");
  std::vector<std::filesystem::path> files = {ATTNSCOPE_SOURCES "/README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(manual_folder)) files.push_back(entry.path());
  int pictures = 0;
  for (const std::filesystem::path& file : files) {
    const std::string text = text_of(file);
    for (std::sregex_iterator it(text.begin(), text.end(), picture), end; it != end; ++it, ++pictures)
      EXPECT_TRUE(std::filesystem::exists(file.parent_path() / (*it)[1].str())) << file << ": " << (*it)[1];
  }
  EXPECT_GE(pictures, 10);
}

TEST(Manual, IndexLeadsToEveryPage) {
  std::set<std::string> linked;
  for (const std::string& link : links_of(make_page("index", text_of(manual_folder / "index.md")))) linked.insert(link);
  for (const ManualPage& page : all_pages())
    EXPECT_TRUE(page.name == "index" || linked.contains(page.name + ".md")) << page.name;
}

TEST(Manual, WindowShowsAPageAndFollowsItsLinks) {
  UiHarness ui;
  std::vector<ManualPage> pages{make_page("index", "# Contents\n\nRead [the second page](second.md#part-two).\n"),
                                make_page("second", "# Second\n\n## Part two\n\n```sh\nattnscope train\n```\n")};
  ManualView view;
  view.open = true;
  const auto draw = [&] { draw_manual(view, pages, ui.skin); };
  ui.frame(draw);
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("Contents"));
  ASSERT_TRUE(ui.click_text("second", draw));
  ui.frame(draw);
  EXPECT_EQ(view.page, 1U);
  const auto is_marked = [&](const char* title) {
    return ui.filled(*ui.find_text(title), ImGui::GetColorU32(ImGuiCol_Header));
  };
  EXPECT_TRUE(is_marked("Second"));
  EXPECT_FALSE(is_marked("Contents"));
  EXPECT_TRUE(ui.drew("attnscope train"));
  EXPECT_FALSE(follow_link(view, pages, "missing.md"));
  EXPECT_EQ(view.page, 1U);
}

}  // namespace
}  // namespace attnscope
